#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# broadcast: every frame leaves once by each slave that has a link, and by no
# other.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	once_on_each
	one_slave
	one_link_down
	slave_set_down
	largest_and_smallest
	slave_comes_and_goes
	none_usable
	change_faster_than_miimon
	cut_under_traffic
	two_cpus"
bond_beyond="
	change_faster_than_miimon"

# each COUNT LIVE DEAD [SEND_FRAMES-OPTION...]
each() {
	local count=$1 live=$2 dead=$3 i

	shift 3
	count_start
	frames "$count" "$@"
	count_read
	note "live $live: sent $count, got ${got[*]}"
	for i in $live; do
		check_eq "frames on s$i" "$count" "${got[i]}"
	done
	for i in $dead; do
		check_eq "frames on s$i, which is dead" 0 "${got[i]}"
	done
}

link_becomes() {
	wait_for "${3-5000}" "s$1 $2" slave_link_is "s$1" "$2"
}

once_on_each() {
	local type

	bond_make broadcast 3
	for type in udp tcp udp6 icmp icmp6 igmp arp raw; do
		each 100 "0 1 2" "" -t "$type"
	done
	each 3000 "0 1 2" "" -f 50
}

one_slave() {
	bond_make broadcast 1
	each 500 "0" ""
}

# Whichever it is: the last one gets the frame itself, the others copies.
one_link_down() {
	local i

	bond_make broadcast 3
	for i in 0 1 2; do
		peer_down "$i"
		link_becomes "$i" down
		each 500 "$(others "$i")" "$i"
		peer_up "$i"
		link_becomes "$i" up
	done
	peer_down 0 2
	link_becomes 0 down
	link_becomes 2 down
	each 500 "1" "0 2"
}

# others INDEX - the other two of three
others() {
	local i

	for i in 0 1 2; do
		[ "$i" = "$1" ] || echo "$i"
	done
}

slave_set_down() {
	bond_make broadcast 3
	ip link set s2 down
	link_becomes 2 down
	each 500 "0 1" "2"
	ip link set s2 up
	link_becomes 2 up
	each 500 "0 1 2" ""
}

largest_and_smallest() {
	bond_make broadcast 2
	each 200 "0 1" "" -s 64
	each 200 "0 1" "" -s 1514
}

slave_comes_and_goes() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make broadcast 2
	veth_make 2
	ip link set s2 master b0
	link_becomes 2 up
	each 500 "0 1 2" ""
	ip link set s0 nomaster
	each 500 "1 2" "0"
}

none_usable() {
	bond_make broadcast 2
	peer_down 0 1
	link_becomes 0 down
	link_becomes 1 down
	wait_for 1000 "carrier off" carrier_is b0 0
	each 50 "" "0 1" -k
	peer_up 0
	link_becomes 0 up
	wait_for 1000 "carrier on" carrier_is b0 1
	each 50 "0" "1"
}

change_faster_than_miimon() {
	bond_make broadcast 2 miimon 10000
	peer_down 1
	link_becomes 1 down 1500
	each 500 "0" "1"
	peer_up 1
	link_becomes 1 up 1500
	each 500 "0 1" ""
}

# The other slave loses nothing at all.
cut_under_traffic() {
	local sent

	bond_make broadcast 2
	count_start
	sender_start
	flow_on 1 100
	peer_down 1
	link_becomes 1 down
	flow_on 0 200
	peer_up 1
	link_becomes 1 up
	flow_on 1 100
	sender_stop
	count_read
	note "sent $sent, got ${got[*]}"
	check_eq "frames on s0" "$sent" "${got[0]}"
	check_range "frames on s1" 200 $((sent - 200)) "${got[1]}"
}

two_cpus() {
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	bond_make broadcast 3
	count_start
	frames 3000 -c 0 &
	frames 3000 -c 1
	wait $!
	count_read
	check_eq "frames on each slave" "6000 6000 6000" "${got[*]}"
}

bond_run "$@"
