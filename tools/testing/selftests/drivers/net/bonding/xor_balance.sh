#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-xor: the slaves that flows are spread over follow the state of the
# links; a flow stays on its slave, and no frame goes to a dead one.
# (Which slave a frame hashes to is hash_policies.sh's matter.)

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	flow_stays
	spread_over_all
	no_frame_to_dead
	dead_one_after_another
	change_faster_than_miimon
	slave_comes_and_goes
	slave_set_down
	none_usable
	updelay_holds
	policy_changed_under_traffic
	cut_under_traffic"
bond_beyond="
	change_faster_than_miimon"

flows=240

# spread LIVE DEAD - 240 flows, 5 frames of each: every one arrives, each live
# slave has its fair share of the flows (240 consecutive source addresses and
# MACs are spread evenly by layer2), dead ones have none
spread() {
	local i share

	count_start
	frames $((flows * 5)) -f "$flows"
	count_read
	note "live $1: got ${got[*]}"
	check_eq "frames that arrived" $((flows * 5)) "$got_sum"
	share=$((flows * 5 / $(wc -w <<<"$1")))
	for i in $1; do
		check_range "frames on s$i" $((share / 2)) $((share * 2)) \
			"${got[i]}"
	done
	for i in $2; do
		check_eq "frames on s$i, which is dead" 0 "${got[i]}"
	done
}

link_becomes() {
	wait_for "${3-5000}" "s$1 $2" slave_link_is "s$1" "$2"
}

flow_stays() {
	local i used=0

	bond_make balance-xor 4
	count_start
	frames 500
	count_read
	for i in 0 1 2 3; do
		[ "${got[i]}" -eq 0 ] || used=$((used + 1))
	done
	check_eq "slaves used by one flow (${got[*]})" 1 "$used"
	check_eq "frames that arrived" 500 "$got_sum"
}

spread_over_all() {
	bond_make balance-xor 4
	spread "0 1 2 3" ""
}

no_frame_to_dead() {
	bond_make balance-xor 3
	peer_down 1
	link_becomes 1 down
	spread "0 2" "1"
	peer_up 1
	link_becomes 1 up
	spread "0 1 2" ""
}

dead_one_after_another() {
	bond_make balance-xor 4
	peer_down 0
	link_becomes 0 down
	spread "1 2 3" "0"
	peer_down 3
	link_becomes 3 down
	spread "1 2" "0 3"
	peer_down 1
	link_becomes 1 down
	spread "2" "0 1 3"
	peer_up 0
	link_becomes 0 up
	spread "0 2" "1 3"
}

change_faster_than_miimon() {
	bond_make balance-xor 3 miimon 10000
	peer_down 0
	link_becomes 0 down 1500
	spread "1 2" "0"
	peer_up 0
	link_becomes 0 up 1500
	spread "0 1 2" ""
}

slave_comes_and_goes() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make balance-xor 2
	spread "0 1" ""
	veth_make 2
	ip link set s2 master b0
	link_becomes 2 up
	spread "0 1 2" ""
	ip link set s0 nomaster
	spread "1 2" "0"
	ip link set s0 master b0
	link_becomes 0 up
	spread "0 1 2" ""
}

slave_set_down() {
	bond_make balance-xor 3
	ip link set s1 down
	link_becomes 1 down
	spread "0 2" "1"
	ip link set s1 up
	link_becomes 1 up
	spread "0 1 2" ""
}

none_usable() {
	bond_make balance-xor 2
	peer_down 0 1
	link_becomes 0 down
	link_becomes 1 down
	wait_for 1000 "carrier off" carrier_is b0 0
	count_start
	frames 50 -k
	count_read
	check_eq "frames that arrived" 0 "$got_sum"
	peer_up 1
	link_becomes 1 up
	spread "1" "0"
}

updelay_holds() {
	bond_make balance-xor 2 miimon 100 updelay 2000
	peer_down 1
	link_becomes 1 down
	peer_up 1
	link_becomes 1 "going back" 1500
	spread "0" "1"
	link_becomes 1 up 4000
	spread "0 1" ""
}

policy_changed_under_traffic() {
	local policy sent

	bond_make balance-xor 3
	count_start
	sender_start -r 2000 -f 100
	for policy in layer3+4 layer2+3 encap2+3 encap3+4 vlan+srcmac layer2; do
		bond_set xmit_hash_policy "$policy"
		nap 0.1
	done
	flow_on 0 100
	sender_stop
	count_read
	check_eq "frames that arrived" "$sent" "$got_sum"
}

# Frames are lost between the cut and the moment it is noticed, no later.
cut_under_traffic() {
	local sent lost

	bond_make balance-xor 2
	count_start
	sender_start -f 100
	flow_on 0 100
	peer_down 0
	link_becomes 0 down
	flow_on 1 200
	sender_stop
	count_read
	lost=$((sent - got_sum))
	note "sent $sent, got ${got[*]}, lost $lost"
	# half the frames of a polling interval, and as much again twice
	check_range "frames lost" 0 150 "$lost"
}

bond_run "$@"
