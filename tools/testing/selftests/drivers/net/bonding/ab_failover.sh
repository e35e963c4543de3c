#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# active-backup: who is the active slave, when that changes, and what it costs.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	traffic_on_active_only
	carrier_loss
	slave_set_down
	slave_released
	loss_within_a_poll
	loss_without_waiting_for_a_poll
	change_faster_than_miimon
	all_links_lost
	downdelay_holds
	updelay_holds
	updelay_ignored_without_active
	primary_always
	primary_failure
	primary_better
	primary_enslaved_takes_over
	primary_not_enslaved_yet
	primary_cleared
	prio_picks_backup
	prio_below_primary
	active_slave_sysfs
	active_slave_netlink
	active_slave_refused
	all_slaves_active"
bond_beyond="
	loss_without_waiting_for_a_poll
	change_faster_than_miimon"

# only_on INDEX - frames that are sent now go to that slave, all of them
only_on() {
	count_start
	frames 100 -f 10
	count_read
	check_eq "frames on s$1 of 100 (all: ${got[*]})" 100 "${got[$1]}"
	check_eq "frames that arrived" 100 "$got_sum"
}

# becomes_active SLAVE [MS]
becomes_active() {
	wait_for "${2-5000}" "$1 active" active_is "$1"
}

# stays_active SLAVE MS
stays_active() {
	holds_for "$2" "$1 active" active_is "$1"
}

traffic_on_active_only() {
	bond_make active-backup 3
	becomes_active s0
	only_on 0
	check_eq "state of s0" active "$(slave_get s0 state)"
	check_eq "state of s1" backup "$(slave_get s1 state)"
	check_eq "/proc" s0 "$(bond_proc 'Currently Active Slave')"
	check_eq "netlink" s0 "$(link_attr b0 active_slave)"
}

carrier_loss() {
	bond_make active-backup 3
	peer_down 0
	becomes_active s1
	only_on 1
	check_eq "state of s0" backup "$(slave_get s0 state)"
	check_eq "state of s1" active "$(slave_get s1 state)"
	check_eq "/proc" s1 "$(bond_proc 'Currently Active Slave')"
	peer_up 0
	wait_for 5000 "s0 up" slave_link_is s0 up
	# no primary: the one that works stays
	stays_active s1 300
	peer_down 1
	becomes_active s0
	only_on 0
}

slave_set_down() {
	bond_make active-backup 2
	ip link set s0 down
	becomes_active s1
	only_on 1
}

slave_released() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make active-backup 2
	ip link set s0 nomaster
	becomes_active s1 1000
	only_on 1
	ip link set s1 nomaster
	active_is "" || fail "active: $(bond_get active_slave)"
}

# loss_of_failover LIMIT - 1000 frames a second, the active slave's link is cut
# under them: not more than LIMIT of them are lost
loss_of_failover() {
	local sent lost

	becomes_active s0
	count_start
	sender_start
	flow_on 0 200
	peer_down 0
	becomes_active s1
	flow_on 1 200
	sender_stop
	count_read
	lost=$((sent - got_sum))
	note "sent $sent, got ${got[*]}, lost $lost"
	check_range "frames lost, at one a millisecond" 0 "$1" "$lost"
}

# A polling interval and as much again, for a machine that is busy.
loss_within_a_poll() {
	bond_make active-backup 2 miimon 100
	loss_of_failover 250
}

# What remains is the way from the driver's carrier change to ours.
loss_without_waiting_for_a_poll() {
	bond_make active-backup 2 miimon 1500
	loss_of_failover 25
}

change_faster_than_miimon() {
	bond_make active-backup 2 miimon 10000
	peer_down 0
	becomes_active s1 1000
	only_on 1
	# and back: the link that returned is there when the other one goes
	peer_up 0
	wait_for 1000 "s0 up" slave_link_is s0 up
	peer_down 1
	becomes_active s0 1000
	only_on 0
}

all_links_lost() {
	bond_make active-backup 2
	peer_down 0 1
	becomes_active ""
	wait_for 1000 "carrier off" carrier_is b0 0
	check_eq "/proc" None "$(bond_proc 'Currently Active Slave')"
	peer_up 1
	becomes_active s1
	wait_for 1000 "carrier on" carrier_is b0 1
	only_on 1
}

downdelay_holds() {
	bond_make active-backup 2 miimon 100 downdelay 2000
	peer_down 0
	wait_for 1000 "s0 going down" slave_link_is s0 "going down"
	stays_active s0 600
	becomes_active s1 4000
	check_eq "link failures of s0" 1 "$(slave_get s0 link_failure_count)"
}

updelay_holds() {
	bond_make active-backup 2 miimon 100 updelay 2000 primary s0
	becomes_active s0
	peer_down 0
	becomes_active s1
	peer_up 0
	wait_for 1000 "s0 going back" slave_link_is s0 "going back"
	stays_active s1 600
	becomes_active s0 4000
}

updelay_ignored_without_active() {
	bond_make active-backup 2 miimon 100
	bond_set updelay 5000
	peer_down 0 1
	becomes_active ""
	peer_up 1
	becomes_active s1 2000
}

primary_always() {
	bond_make active-backup 3 primary s1
	check_eq "primary" s1 "$(bond_get primary)"
	becomes_active s1
	only_on 1
	peer_down 1
	becomes_active s0
	peer_up 1
	becomes_active s1
	only_on 1
}

primary_failure() {
	bond_make active-backup 3 primary s1 primary_reselect failure
	becomes_active s1
	peer_down 1
	becomes_active s0
	peer_up 1
	wait_for 5000 "s1 up" slave_link_is s1 up
	stays_active s0 500
	# once the active one fails, the primary comes before s2
	peer_down 0
	becomes_active s1
	# "always" is acted on when it is set
	peer_down 1
	becomes_active s2
	peer_up 1
	wait_for 5000 "s1 up" slave_link_is s1 up
	active_is s2 || fail "active: $(bond_get active_slave)"
	bond_set primary_reselect always
	becomes_active s1 1000
}

# better_of SPEED - the primary returns with that speed, beside an active slave
# of 1000 Mbit/s
better_of() {
	tap_down t0
	wait_for 5000 "t0 down" slave_link_is t0 down
	becomes_active t1
	tap_speed t0 "$1"
	tap_up t0
	wait_for 5000 "t0 up" slave_link_is t0 up
	note "t0 is back with $(slave_proc t0 Speed), $(slave_proc t0 Duplex)"
}

primary_better() {
	taps_start t0=1000 t1=1000
	ip link add b0 type bond mode active-backup miimon 100
	ip link set t0 master b0
	ip link set t1 master b0
	ip link set b0 up
	bond_set primary t0
	bond_set primary_reselect better
	wait_for 5000 "t0 up" slave_link_is t0 up
	wait_for 5000 "t1 up" slave_link_is t1 up
	becomes_active t0
	better_of 1000
	stays_active t1 500
	better_of 100
	stays_active t1 500
	better_of 1000/half
	stays_active t1 500
	better_of 10000
	becomes_active t0
}

primary_not_enslaved_yet() {
	bond_make active-backup 2
	echo s2 >/sys/class/net/b0/bonding/primary
	becomes_active s0
	veth_make 2
	ip link set s2 master b0
	becomes_active s2
	check_eq "netlink" s2 "$(link_attr b0 primary)"
	ip link set s2 nomaster
	becomes_active s0
}

# Whatever primary_reselect says.
primary_enslaved_takes_over() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make active-backup 2 primary s1 primary_reselect failure
	becomes_active s1 1000
	ip link set s1 nomaster
	becomes_active s0 1000
	ip link set s1 master b0
	becomes_active s1
	only_on 1
}

primary_cleared() {
	bond_make active-backup 2 primary s1
	becomes_active s1
	echo "" >/sys/class/net/b0/bonding/primary
	check_eq "primary" "" "$(bond_get primary)"
	peer_down 1
	becomes_active s0
	peer_up 1
	wait_for 5000 "s1 up" slave_link_is s1 up
	stays_active s0 300
}

prio_set() {
	ip link set "$1" type bond_slave prio "$2" ||
		skip "ip cannot set prio"
	check_eq "prio of $1" "$2" "$(link_attr "$1" prio)"
}

prio_picks_backup() {
	bond_make active-backup 4
	prio_set s2 10
	# setting it selects anew: the highest is taken
	becomes_active s2 1000
	prio_set s3 5
	prio_set s1 -5
	peer_down 2
	becomes_active s3
	peer_down 3
	becomes_active s0
	peer_down 0
	becomes_active s1
	peer_up 2
	becomes_active s2
}

prio_below_primary() {
	allow_kmsg 'prio'
	bond_make active-backup 3 primary s0
	prio_set s1 1
	prio_set s2 2
	stays_active s0 300
	peer_down 0
	becomes_active s2
	peer_up 0
	becomes_active s0
}

active_slave_sysfs() {
	bond_make active-backup 3
	echo s2 >/sys/class/net/b0/bonding/active_slave
	becomes_active s2 500
	only_on 2
	# empty: choose anew, and there is always one
	echo "" >/sys/class/net/b0/bonding/active_slave
	[ -n "$(bond_get active_slave)" ] || fail "no active slave"
	only_on "$(bond_get active_slave | tr -d s)"
}

active_slave_netlink() {
	bond_make active-backup 3
	ip link set b0 type bond active_slave s1
	becomes_active s1 500
	only_on 1
	ip link set b0 type bond clear_active_slave
	[ -n "$(bond_get active_slave)" ] || fail "no active slave"
}

active_slave_refused() {
	local file=/sys/class/net/b0/bonding/active_slave

	bond_make active-backup 2
	veth_make 2
	allow_kmsg 's[0-9]|lo|nodev|active_slave'
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	must_fail bash -c "echo s1 >$file"
	must_fail bash -c "echo s2 >$file"
	must_fail bash -c "echo lo >$file"
	must_fail bash -c "echo nodev >$file"
	must_fail ip link set b0 type bond active_slave s1
	must_fail ip link set b0 type bond active_slave s2
	active_is s0 || fail "active: $(bond_get active_slave)"
	only_on 0
}

# from_peer INDEX - IPv4 packets that reach the stack out of 50 that the peer of
# that slave sends to the bond's address, into $reached
from_peer() {
	local mac before

	read -r mac </sys/class/net/b0/address
	before=$(ip_received)
	on_peer "$bond_dir/send_frames" -i "p$1" -n 50 -d "$mac"
	reached=$(($(ip_received) - before))
}

all_slaves_active() {
	local reached

	bond_make active-backup 2
	from_peer 0
	check_eq "packets in by the active slave" 50 "$reached"
	from_peer 1
	check_eq "packets in by the backup slave" 0 "$reached"
	bond_set all_slaves_active 1
	from_peer 1
	check_eq "the same with all_slaves_active" 50 "$reached"
	only_on 0
	bond_set all_slaves_active 0
	from_peer 1
	check_eq "and without it again" 0 "$reached"
}

bond_run "$@"
