#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-tlb and balance-alb: learning packets, which show switches where
# addresses are.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lb_lib.sh
. "$bond_dir/lb_lib.sh"

bond_tests="
	each_slave_its_own
	every_lp_interval
	none_by_a_dead_slave
	in_vlans
	in_stacked_vlans
	macvlan_tlb
	macvlan_alb
	above_a_bridge
	after_failover"
bond_beyond="
	in_stacked_vlans
	macvlan_alb
	above_a_bridge"

modes="balance-tlb balance-alb"

# each_mode FUNCTION - for a bond of each mode with two slaves
each_mode() {
	for mode in $modes; do
		note "--- $mode"
		bond_make "$mode" 2
		wait_for 5000 "s0 active" active_is s0
		"$1"
		ip -batch - <<-END
			link del b0
			link del s0
			link del s1
		END
	done
}

# learned INDEX ADDRESS [TAGS] - learning packets of that address by that slave;
# tags and address as frames have them
learned() {
	local addr

	addr=$(hex_mac "$2")
	heard_count "p$1" "$addr$addr${3-}9000"
}

# is_learned INDEX ADDRESS [TAGS]
is_learned() {
	[ "$(learned "$@")" -gt 0 ]
}

# hear_for SECONDS
hear_for() {
	hear_start p0 p1
	nap "$1"
	hear_stop
}

each_slave_its_own() {
	each_mode each_slave_its_own_one
}

each_slave_its_own_one() {
	hear_for 2.5
	check_range "s0's by s0" 1 4 "$(learned 0 "$(mac s0)")"
	check_range "s1's by s1" 1 4 "$(learned 1 "$(mac s1)")"
	check_eq "s0's by s1" 0 "$(learned 1 "$(mac s0)")"
	check_eq "s1's by s0" 0 "$(learned 0 "$(mac s1)")"
	check_eq "shorter than a frame may be" 0 \
		"$(awk '/9000/ && length($3) < 120' "$heard" | wc -l)"
}

every_lp_interval() {
	each_mode every_lp_interval_one
}

every_lp_interval_one() {
	bond_set lp_interval 3
	hear_for 9.5
	check_range "in 9.5 s" 2 4 "$(learned 0 "$(mac s0)")"
	bond_set lp_interval 1
	hear_for 4.5
	check_range "in 4.5 s" 3 6 "$(learned 0 "$(mac s0)")"
	bond_set lp_interval 2147483647
	nap 1.2
	hear_for 2.5
	check_eq "with an interval of years" 0 "$(learned 0 "$(mac s0)")"
}

none_by_a_dead_slave() {
	each_mode none_by_a_dead_slave_one
}

none_by_a_dead_slave_one() {
	hear_start p0
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	nap 2.5
	hear_stop
	is_learned 0 "$(mac s0)" || fail "nothing by s0"
	check_eq "s1's by s0" 0 "$(learned 0 "$(mac s1)")"
}

in_vlans() {
	each_mode in_vlans_one
}

in_vlans_one() {
	ip -batch - <<-END
		link add link b0 name v5 type vlan id 5
		link set v5 up
		link add link b0 name v9 type vlan id 9
		link set v9 up
	END
	hear_for 2.5
	is_learned 0 "$(mac s0)" || fail "s0's without a tag"
	is_learned 0 "$(mac s0)" 81000005 || fail "s0's in VLAN 5"
	is_learned 0 "$(mac s0)" 81000009 || fail "s0's in VLAN 9"
	is_learned 1 "$(mac s1)" 81000005 || fail "s1's in VLAN 5"
	is_learned 1 "$(mac s1)" 81000009 || fail "s1's in VLAN 9"
}

in_stacked_vlans() {
	each_mode in_stacked_vlans_one
}

in_stacked_vlans_one() {
	ip -batch - <<-END
		link add link b0 name v5 type vlan proto 802.1ad id 5
		link set v5 up
		link add link v5 name v56 type vlan id 6
		link set v56 up
	END
	hear_for 2.5
	is_learned 1 "$(mac s1)" 88a80005 || fail "s1's in VLAN 5"
	is_learned 1 "$(mac s1)" 88a8000581000006 || fail "s1's in 6 of 5"
}

# The addresses of macvlans are where the active slave is.
macvlan() {
	modes=$1
	each_mode macvlan_one
}

macvlan_one() {
	ip -batch - <<-END
		link add link b0 name mv type macvlan mode bridge
		link set mv address 02:00:00:00:00:77
		link set mv up
	END
	hear_for 2.5
	is_learned 0 02:00:00:00:00:77 || fail "the macvlan's by s0"
	check_eq "the macvlan's by s1" 0 "$(learned 1 02:00:00:00:00:77)"
	# and go with it
	hear_start p1
	bond_set active_slave s1
	wait_for 3000 "the macvlan's by s1" is_learned 1 02:00:00:00:00:77
	hear_stop
}

macvlan_tlb() { macvlan balance-tlb; }
macvlan_alb() { macvlan balance-alb; }

above_a_bridge() {
	each_mode above_a_bridge_one
}

above_a_bridge_one() {
	ip -batch - <<-END
		link add br0 address 02:00:00:00:00:99 type bridge
		link set br0 up
		link set b0 master br0
		link add link br0 name v7 type vlan id 7
		link set v7 up
	END
	wait_for 5000 "bridge up" carrier_is br0 1
	hear_for 2.5
	is_learned 0 02:00:00:00:00:99 || fail "the bridge's by s0"
	is_learned 0 02:00:00:00:00:99 81000007 || fail "it in VLAN 7"
	is_learned 1 "$(mac s1)" 81000007 || fail "s1's in VLAN 7"
	check_eq "the bridge's by s1" 0 "$(learned 1 02:00:00:00:00:99)"
	ip link del v7
	ip link del br0
}

# Who comes to be active says so, whatever the interval.
after_failover() {
	each_mode after_failover_one
}

after_failover_one() {
	bond_set lp_interval 100000
	nap 1.2
	hear_start p0 p1
	bond_set active_slave s1
	wait_for 3000 "s1 says so" is_learned 1 "$(mac b0)"
	wait_for 3000 "s0 says what it has now" is_learned 0 "$(mac s0)"
	hear_stop
	check_eq "b0's by s0" 0 "$(learned 0 "$(mac b0)")"
}

bond_run "$@"
