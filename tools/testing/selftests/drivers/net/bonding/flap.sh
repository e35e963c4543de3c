#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm: 200 link flaps under traffic from all CPUs, while options are
# written, slaves come and go, and /proc, sysfs and netlink are read. Nothing
# may get stuck, be lost for good, or make the kernel complain; when the storm
# is over the bond is as good as new.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_limit=120
bond_tests="
	storm_balance_rr
	storm_active_backup
	storm_balance_xor
	storm_broadcast
	bonds_come_and_go
	carrier_and_unregister"

# until_over NAME COMMAND... - again and again until the storm is over; how
# often it succeeded into a file of that name
until_over() {
	local name=$1 n=0

	shift
	while [ ! -e "$BOND_TMP/over" ]; do
		! "$@" || n=$((n + 1))
		nap 0.01
	done
	echo "$n" >"$BOND_TMP/count.$name"
}

# options NAME=VALUE... that may be written at any time
options_common="miimon=10 miimon=20 updelay=20 updelay=0 downdelay=40 downdelay=0
	resend_igmp=0 resend_igmp=2 num_grat_arp=0 num_grat_arp=3
	all_slaves_active=1 all_slaves_active=0 min_links=1 min_links=0"

# write_options LIST - one after the other; some are refused, as they may be
write_options() {
	local option ok=1

	for option in $1; do
		! echo "${option#*=}" 2>/dev/null \
			>"/sys/class/net/b0/bonding/${option%%=*}" || ok=0
		nap 0.002
	done
	return "$ok"
}

slave_goes_and_comes() {
	ip link set "$1" nomaster && ip link set "$1" master b0
}

read_all() {
	local file text

	for file in /proc/net/bonding/b0 /sys/class/net/b0/bonding/* \
		/sys/class/net/s*/bonding_slave/* \
		/sys/class/net/b0/statistics/*; do
		{ read -r -d '' text <"$file"; } 2>/dev/null || :
	done
	ip -d link show >/dev/null || :
	: "$text"
}

# flaps N - of s0 s1 s2, one to three at a time, some shorter than a poll
flaps() {
	local i which pause

	for ((i = 0; i < $1; i++)); do
		which=$((RANDOM % 7 + 1))
		pause=$((RANDOM % 30))
		flap_to peer_down "$which"
		nap "0.0$((pause / 10))$((pause % 10))"
		flap_to peer_up "$which"
		nap "0.0$((RANDOM % 3))"
	done
}

# flap_to peer_up|peer_down MASK
flap_to() {
	local i

	for i in 0 1 2; do
		(($2 >> i & 1)) || continue
		"$1" "$i"
	done
}

# calm - what still has to be true when the storm is over
calm() {
	local i want=$1

	peer_up 0 1 2 3
	[ -e /sys/class/net/s3/bonding_slave ] || ip link set s3 master b0
	for i in 0 1 2 3; do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
	wait_for 2000 "carrier" carrier_is b0 1
	count_start
	frames 1200 -f 40
	count_read
	check_eq "frames that arrived after the storm (${got[*]})" "$want" \
		"$got_sum"
}

# storm MODE FRAMES [NAME=VALUE...] - with options of the mode; FRAMES arrive of
# 1200 afterwards
storm() {
	local mode=$1 want=$2 cpu name

	shift 2
	allow_kmsg 'permanent (HWaddr|MAC)' '^b0: ' 'bonding: '
	bond_make "$mode" 4 miimon 20
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		until_over "sent$cpu" frames 1000 -f 100 -k -c "$cpu" \
			-r 5000 >/dev/null &
	done
	until_over options write_options "$options_common $*" &
	until_over slaves slave_goes_and_comes s3 2>/dev/null &
	until_over reads read_all &
	flaps 200
	: >"$BOND_TMP/over"
	wait
	for name in options slaves reads sent0; do
		note "$name: $(<"$BOND_TMP/count.$name")"
		check_range "times of $name" 2 1000000 \
			"$(<"$BOND_TMP/count.$name")"
	done
	bond_set miimon 100
	bond_set updelay 0
	bond_set downdelay 0
	calm "$want"
}

storm_balance_rr() {
	storm balance-rr 1200 packets_per_slave=0 packets_per_slave=7 \
		packets_per_slave=1 packets_per_slave=65535
}

storm_active_backup() {
	storm active-backup 1200 primary=s1 active_slave=s0 active_slave=s2 \
		primary_reselect=failure primary_reselect=better \
		primary_reselect=always primary= active_slave=s1 active_slave=
}

storm_balance_xor() {
	storm balance-xor 1200 xmit_hash_policy=layer3+4 \
		xmit_hash_policy=encap2+3 xmit_hash_policy=vlan+srcmac \
		xmit_hash_policy=layer2+3 xmit_hash_policy=layer2
}

storm_broadcast() {
	storm broadcast 4800
}

# Made, used and deleted while its slaves' links change.
bonds_come_and_go() {
	local mode round

	allow_kmsg 'permanent (HWaddr|MAC)'
	veth_make 0 1 2
	until_over flaps flaps 1 &
	for round in {1..6}; do
		for mode in balance-rr active-backup balance-xor broadcast; do
			printf '%s\n' "link add b0 type bond mode $mode miimon 10" \
				"link set s0 master b0" \
				"link set s1 master b0" \
				"link set s2 master b0" \
				"link set b0 up" | ip -batch -
			frames 100000 -f 100 -k -T 100 >/dev/null 2>&1 &
			nap 0.05
			ip link del b0
			wait $! || :
		done
	done
	: >"$BOND_TMP/over"
	wait
	note "round $round, flaps: $(<"$BOND_TMP/count.flaps")"
}

# The peer of a slave is deleted, and the slave with it, as its link goes.
carrier_and_unregister() {
	local round

	allow_kmsg 'permanent (HWaddr|MAC)'
	ip link add b0 type bond mode active-backup miimon 10 downdelay 20
	ip link set b0 up
	for round in {1..15}; do
		veth_make 0 1
		printf 'link set s%d master b0\n' 0 1 | ip -batch -
		frames 1000000 -f 100 -k -T 200 >/dev/null 2>&1 &
		nap "0.0$((RANDOM % 6))"
		peer_down 0
		ip -n "$BOND_PEER" link del p0
		ip link del s1
		wait $! || :
		check_eq "slaves" "" "$(bond_get slaves)"
	done
	note "round $round"
}

bond_run "$@"
