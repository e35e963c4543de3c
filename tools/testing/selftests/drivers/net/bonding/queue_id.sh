#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# queue_id: a frame whose transmit queue is a slave's queue_id leaves by that
# slave while it can send; other frames, and all of them in modes that place
# flows themselves, do not notice.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	steers_active_backup
	steers_balance_rr
	ignored_balance_xor
	dead_slave_is_not_used
	cleared
	set_and_read
	refused"

# steer - flow 1 to queue 2 and flow 2 to queue 3, out of four flows
steer() {
	local flow

	need tc
	modprobe -qa cls_u32 act_skbedit sch_ingress || :
	tc qdisc add dev b0 clsact || skip "no clsact"
	for flow in 1 2; do
		tc filter add dev b0 egress protocol ip prio 1 u32 \
			match ip src "10.0.1.$flow/32" \
			action skbedit queue_mapping $((flow + 1)) ||
			skip "no u32 or skbedit"
	done
}

# share WANT - of 120 frames of four flows
share() {
	count_start
	frames 120 -f 4 -c 0
	count_read
	check_eq "frames on s0 s1 s2" "$1" "${got[*]}"
}

queues() {
	ip link set s1 type bond_slave queue_id 2
	ip link set s2 type bond_slave queue_id 3
	check_eq "queue_id" "s0:0 s1:2 s2:3" "$(bond_get queue_id)"
}

steers_active_backup() {
	bond_make active-backup 3
	steer
	share "120 0 0"
	queues
	share "60 30 30"
}

# The frames that are not steered take turns.
steers_balance_rr() {
	bond_make balance-rr 3
	steer
	share "40 40 40"
	queues
	share "20 50 50"
}

ignored_balance_xor() {
	local before

	bond_make balance-xor 3
	steer
	count_start
	frames 120 -f 4
	count_read
	before="${got[*]}"
	queues
	share "$before"
}

dead_slave_is_not_used() {
	bond_make active-backup 3
	steer
	queues
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	share "90 0 30"
	peer_up 1
	wait_for 5000 "s1 up" slave_link_is s1 up
	share "60 30 30"
}

cleared() {
	bond_make active-backup 3
	steer
	queues
	echo s1:0 >/sys/class/net/b0/bonding/queue_id
	share "90 0 30"
	ip link set s2 type bond_slave queue_id 0
	share "120 0 0"
}

set_and_read() {
	bond_make active-backup 2
	echo s1:5 >/sys/class/net/b0/bonding/queue_id
	check_eq "sysfs of the bond" "s0:0 s1:5" "$(bond_get queue_id)"
	check_eq "sysfs of the slave" 5 "$(slave_get s1 queue_id)"
	check_eq "/proc" 5 "$(slave_proc s1 'Slave queue ID')"
	check_eq "netlink" 5 "$(link_attr s1 queue_id)"
}

refused() {
	local bad

	allow_kmsg 'queue'
	bond_make active-backup 2
	echo s1:5 >/sys/class/net/b0/bonding/queue_id
	for bad in s0:5 s1:17 s2:1 nodev:1 lo:1 s1 s1: s1:x :1 s1:-1 ""; do
		must_fail bash -c "echo $bad >/sys/class/net/b0/bonding/queue_id"
	done
	must_fail ip link set s0 type bond_slave queue_id 5
	must_fail ip link set s0 type bond_slave queue_id 17
	check_eq "queue_id" "s0:0 s1:5" "$(bond_get queue_id)"
}

bond_run "$@"
