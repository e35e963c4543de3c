#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What ethtool tells of a bond: the texts that udev and monitoring rely on, the
# speed that its slaves make together, drop counters, time stamping.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	driver
	no_slaves
	speed_balance_rr
	speed_active_backup
	speed_balance_xor
	speed_broadcast
	speed_unknown
	speed_changed
	half_duplex
	link_detected
	time_stamping
	time_stamping_all_slaves
	drop_counters
	refusals"
bond_beyond="drop_counters time_stamping_all_slaves"

# settings KEY - value of "KEY: value" in ethtool's plain output
settings() {
	ethtool b0 2>/dev/null | sed -n "s/^[ \t]*$1: //p"
}

# speed_is SPEED DUPLEX
speed_is() {
	check_eq Speed "$1" "$(settings Speed)"
	check_eq Duplex "$2" "$(settings Duplex)"
}

# bond_of MODE TAP... - b0, up, with these as slaves, all up
bond_of() {
	local mode=$1 tap

	shift
	{
		echo "link add b0 type bond mode $mode miimon 100"
		printf 'link set %s master b0\n' "$@"
		echo "link set b0 up"
	} | ip -batch -
	for tap; do
		wait_for 5000 "$tap up" slave_link_is "$tap" up
	done
	wait_for 5000 carrier carrier_is b0 1
}

# udev decides by the driver, ifenslave by the firmware version.
driver() {
	local text

	need ethtool
	ip link add b0 type bond
	text=$(ethtool -i b0)
	check_eq "ethtool -i" "driver: bonding
version: $(uname -r)
firmware-version: 2
expansion-rom-version:
bus-info:" "$(head -n 5 <<<"$text" | sed 's/ $//')"
}

no_slaves() {
	need ethtool
	ip link add b0 type bond
	speed_is 'Unknown!' 'Unknown! (255)'
	ip link set b0 up
	speed_is 'Unknown!' 'Unknown! (255)'
	check_eq "sysfs speed" -1 "$(<"/sys/class/net/b0/speed")"
	check_eq "sysfs duplex" unknown "$(<"/sys/class/net/b0/duplex")"
	check_eq Port Other "$(settings Port)"
}

# The sum of those that can send; what is down does not count.
speed_sum() {
	need ethtool
	allow_kmsg 'permanent (HWaddr|MAC)'
	taps_start t0=1000 t1=100 t2=2500
	bond_of "$1" t0 t1 t2
	speed_is 3600Mb/s Full
	tap_down t0
	wait_for 5000 "t0 down" slave_link_is t0 down
	speed_is 2600Mb/s Full
	ip link set t2 nomaster
	speed_is 100Mb/s Full
	check_eq "sysfs speed" 100 "$(<"/sys/class/net/b0/speed")"
}

speed_balance_rr() { speed_sum balance-rr; }
speed_balance_xor() { speed_sum balance-xor; }

# Only the active slave's.
speed_active_backup() {
	need ethtool
	taps_start t0=1000 t1=100
	bond_of active-backup t0 t1
	wait_for 2000 "t0 active" active_is t0
	speed_is 1000Mb/s Full
	bond_set active_slave t1
	speed_is 100Mb/s Full
}

# Every slave has to send every frame: no faster than the slowest.
speed_broadcast() {
	need ethtool
	taps_start t0=1000 t1=100 t2=2500
	bond_of broadcast t0 t1 t2
	speed_is 100Mb/s Full
	tap_down t1
	wait_for 5000 "t1 down" slave_link_is t1 down
	speed_is 1000Mb/s Full
}

speed_unknown() {
	need ethtool
	taps_start t0=unknown t1=1000
	bond_of balance-rr t0
	check_eq Speed 'Unknown!' "$(settings Speed)"
	ip link set t1 master b0
	wait_for 5000 "t1 up" slave_link_is t1 up
	check_eq Speed 1000Mb/s "$(settings Speed)"
}

# A slave that comes back with another speed.
speed_changed() {
	need ethtool
	taps_start t0=1000 t1=1000
	bond_of balance-rr t0 t1
	speed_is 2000Mb/s Full
	tap_down t0
	wait_for 5000 "t0 down" slave_link_is t0 down
	tap_speed t0 10000
	tap_up t0
	wait_for 5000 "t0 up" slave_link_is t0 up
	speed_is 11000Mb/s Full
}

# The duplex of the first usable slave is the bond's.
half_duplex() {
	need ethtool
	allow_kmsg 'permanent (HWaddr|MAC)'
	taps_start t0=100/half t1=100
	bond_of balance-rr t0 t1
	speed_is 200Mb/s Half
	ip link set t0 nomaster
	speed_is 100Mb/s Full
}

link_detected() {
	need ethtool
	bond_make balance-rr 1
	wait_for 5000 carrier carrier_is b0 1
	check_eq "Link detected" yes "$(settings 'Link detected')"
	peer_down 0
	wait_for 5000 "no carrier" carrier_is b0 0
	check_eq "Link detected" no "$(settings 'Link detected')"
}

# stamps WORD... - the first capabilities that ethtool -T lists
stamps() {
	check_eq "ethtool -T" "$*" "$(ethtool -T b0 |
		awk '/^Capabilities/ { on = 1; next } !/^\t/ { on = 0 }
			on { printf "%s%s", sep, $1; sep = " " }')"
}

# Without an active slave what every bond can do, with one what that can do.
time_stamping() {
	need ethtool
	ip link add b0 type bond mode active-backup miimon 100
	stamps software-receive software-system-clock
	veth_make 0
	ip link set s0 master b0
	ip link set b0 up
	wait_for 5000 "s0 active" active_is s0
	stamps software-transmit software-receive software-system-clock
}

time_stamping_all_slaves() {
	need ethtool
	bond_make balance-xor 2
	stamps software-transmit software-receive software-system-clock
}

# Each frame that goes nowhere, by its reason. Without a monitor the bond keeps
# its carrier, so that frames still come to it.
drop_counters() {
	local text

	need ethtool
	bond_make balance-rr 1 miimon 0
	text=$(ethtool -S b0)
	case $text in
	*"drop_no_slave: 0"*"drop_no_memory: 0"*"drop_rx_inactive: "*) ;;
	*) fail "ethtool -S: $text" ;;
	esac
	peer_down 0
	wait_for 5000 "s0 without carrier" carrier_is s0 0
	frames 7 -k
	text=$(ethtool -S b0)
	case $text in
	*"drop_no_slave: 7"*) ;;
	*) fail "ethtool -S after 7 frames: $text" ;;
	esac
	check_eq tx_dropped 7 "$(dev_stat b0 tx_dropped)"
}

refusals() {
	need ethtool
	bond_make balance-rr 1
	must_fail ethtool -s b0 speed 100 duplex full
	must_fail ethtool -a b0
	must_fail ethtool -g b0
	must_fail ethtool -G b0 rx 100
	must_fail ethtool -p b0 1
}

bond_run "$@"
