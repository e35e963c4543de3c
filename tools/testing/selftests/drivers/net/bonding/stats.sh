#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A bond's counters: they are the sum of what its slaves have counted while they
# were slaves, they outlive the slaves, and they never go backwards.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	sent
	received
	bytes
	history_of_a_slave
	kept_after_release
	back_again
	nested
	dropped
	same_everywhere
	counter_of_32_bits
	counter_of_32_bits_far
	counter_of_64_bits
	counter_reset
	never_backwards"
bond_beyond="counter_of_32_bits_far"
bond_limit=120

# stat_is DEV COUNTER WANT
stat_is() {
	check_eq "$2 of $1" "$3" "$(dev_stat "$1" "$2")"
}

stat_reaches() {
	[ "$(dev_stat "$1" "$2")" -ge "$3" ]
}

# from_peer COUNT INDEX - frames to the bond
from_peer() {
	on_peer "$bond_dir/send_frames" -i "p$2" -n "$1" \
		-d "$(<"/sys/class/net/b0/address")"
}

sent() {
	bond_make balance-rr 2
	frames 1000 -f 4
	stat_is b0 tx_packets 1000
	check_eq "sum of slaves" 1000 \
		$(($(dev_stat s0 tx_packets) + $(dev_stat s1 tx_packets)))
}

received() {
	bond_make balance-rr 2
	from_peer 300 0
	from_peer 200 1
	wait_for 2000 "500 received" stat_reaches b0 rx_packets 500
	stat_is b0 rx_packets 500
	stat_is s0 rx_packets 300
	stat_is s1 rx_packets 200
}

bytes() {
	bond_make active-backup 2
	frames 100 -s 1000
	stat_is b0 tx_packets 100
	stat_is b0 tx_bytes 100000
}

# What a device did before it became a slave is not the bond's.
history_of_a_slave() {
	veth_make 0
	ip link set s0 up
	wait_for 5000 carrier carrier_is s0 1
	frames 500 -i s0
	stat_is s0 tx_packets 500
	ip link set s0 down
	ip link add b0 type bond mode balance-rr miimon 100
	ip link set s0 master b0
	ip link set b0 up
	stat_is b0 tx_packets 0
	wait_for 5000 "s0 up" slave_link_is s0 up
	frames 10
	stat_is b0 tx_packets 10
}

kept_after_release() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make balance-rr 2
	frames 1000
	ip link set s0 nomaster
	stat_is b0 tx_packets 1000
	frames 100
	stat_is b0 tx_packets 1100
	# what the device does now is its own business
	ip link set s0 up
	wait_for 5000 carrier carrier_is s0 1
	frames 50 -i s0
	stat_is b0 tx_packets 1100
	ip link set s1 nomaster
	stat_is b0 tx_packets 1100
	ip link del s1
	stat_is b0 tx_packets 1100
}

back_again() {
	local i

	bond_make balance-rr 1
	for i in 1 2 3; do
		frames 100
		stat_is b0 tx_packets $((i * 100))
		ip link set s0 nomaster
		stat_is b0 tx_packets $((i * 100))
		ip link set s0 up
		wait_for 5000 carrier carrier_is s0 1
		frames 7 -i s0
		ip link set s0 down
		ip link set s0 master b0
		wait_for 5000 "s0 up" slave_link_is s0 up
		stat_is b0 tx_packets $((i * 100))
	done
}

nested() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make balance-rr 2
	ip link set b0 down
	ip -batch - <<-COMMANDS
		link add b1 type bond mode active-backup miimon 100
		link set b0 master b1
		link set b1 up
	COMMANDS
	wait_for 5000 "b0 up" slave_link_is b0 up
	frames 400 -i b1
	stat_is b1 tx_packets 400
	stat_is b0 tx_packets 400
	ip link set s0 nomaster
	stat_is b1 tx_packets 400
	stat_is b0 tx_packets 400
	frames 100 -i b1
	stat_is b1 tx_packets 500
	stat_is b0 tx_packets 500
}

# Frames that the bond itself threw away. Without a monitor it keeps its carrier,
# so that frames still come to it.
dropped() {
	bond_make balance-rr 1 miimon 0
	peer_down 0
	wait_for 5000 "s0 without carrier" carrier_is s0 0
	frames 25 -k
	stat_is b0 tx_dropped 25
	stat_is b0 tx_packets 0
}

same_everywhere() {
	local words

	bond_make balance-xor 2
	frames 123 -f 8
	stat_is b0 tx_packets 123
	read -r -a words < <(sed -n 's/^ *b0: *//p' /proc/net/dev)
	check_eq "/proc/net/dev" 123 "${words[9]}"
	check_eq netlink 123 "$(ip -s -o link show dev b0 |
		sed 's/.*TX: [^\\]*\\ *[0-9]* *\([0-9]*\).*/\1/')"
}

bond_at_end() {
	rmmod bond_counters 2>/dev/null || :
}

# counters_make - the bond b0 with the slave c0, whose counters we set
counters_make() {
	local ko=$bond_dir/counters/bond_counters.ko

	[ -e "$ko" ] || skip "run make modules in $bond_dir first"
	allow_kmsg taint
	bond_at_end
	insmod "$ko"
	ip -batch - <<-COMMANDS
		link add b0 type bond mode balance-rr miimon 100
		link set c0 master b0
		link set b0 up
	COMMANDS
}

# c0_counts VALUE - and the bond has $2 altogether
c0_counts() {
	echo "$1" >/sys/module/bond_counters/parameters/tx_packets
	echo "$1" >/sys/module/bond_counters/parameters/rx_bytes
	stat_is c0 tx_packets "$1"
	stat_is b0 tx_packets "$2"
	stat_is b0 rx_bytes "$2"
}

# A counter that starts again from 0 at 2^32 has gone on.
counter_of_32_bits() {
	counters_make
	c0_counts 2000000000 2000000000
	c0_counts 4000000000 4000000000
	c0_counts 4294967290 4294967290
	c0_counts 10 4294967306
	c0_counts 2000000000 6294967296
	c0_counts 4000000000 8294967296
	c0_counts 1000 8589935592
	ip link set c0 nomaster
	stat_is b0 tx_packets 8589935592
	rmmod bond_counters
	stat_is b0 tx_packets 8589935592
}

# However long nobody has looked.
counter_of_32_bits_far() {
	counters_make
	c0_counts 4200000000 4200000000
	c0_counts 10 4294967306
	c0_counts 4200000000 8494967296
	rmmod bond_counters
}

counter_of_64_bits() {
	counters_make
	c0_counts 4294967306 4294967306
	c0_counts 1000000000000000 1000000000000000
	# this one cannot have wrapped
	c0_counts 999999999999000 1000000000000000
	c0_counts 999999999999500 1000000000000500
	rmmod bond_counters
}

# A driver that starts to count anew takes nothing away.
counter_reset() {
	counters_make
	c0_counts 1000 1000
	c0_counts 0 1000
	c0_counts 10 1010
	c0_counts 5 1010
	c0_counts 6 1011
	rmmod bond_counters
}

# no_less BEFORE... -- AFTER...
no_less() {
	local before=() i=0

	while [ "$1" != -- ]; do
		before+=("$1")
		shift
	done
	shift
	for ((i = 0; i < ${#before[@]}; i++)); do
		[ "${before[i]}" -le "$1" ] ||
			fail "counter $i went from ${before[i]} to $1"
		shift
	done
}

# b0_counters - the 16 numbers of /proc/net/dev, without a fork, into $counters
b0_counters() {
	local line

	while read -r line; do
		case $line in
		b0:*) read -r -a counters <<<"${line#b0:}" ;;
		esac
	done </proc/net/dev
}

# Slaves go and come under traffic, while several readers look: for five
# seconds, or on a busy machine until enough has happened.
never_backwards() {
	local before=() counters=() reads=0 end

	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make balance-rr 3
	frames 100000000 -f 8 -T 100000 -k -r 5000 &
	(while :; do b0_counters; done) &
	(
		while :; do
			echo -s2 >/sys/class/net/b0/bonding/slaves
			nap 0.02
			echo +s2 >/sys/class/net/b0/bonding/slaves
			nap 0.1
		done
	) &
	b0_counters
	before=("${counters[@]}")
	now_ms
	end=$((now + 5000))
	while [ "$now" -lt "$end" ] || [ "$reads" -lt 50 ] ||
		[ "${counters[9]}" -lt 1000 ]; do
		b0_counters
		no_less "${before[@]}" -- "${counters[@]}"
		before=("${counters[@]}")
		reads=$((reads + 1))
		now_ms
	done
}

bond_run "$@"
