#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-tlb and balance-alb: the active slave has the bond's MAC address, each
# other one another, and whoever leaves gets his own back.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lb_lib.sh
. "$bond_dir/lb_lib.sh"

bond_tests="
	first_slave_donates
	own_addresses
	user_address
	same_as_the_bond
	same_as_a_slave
	vacant_address_given
	failover_swaps
	chosen_by_user
	active_released
	borrowed_address_returned
	all_released
	fixed_address_refused
	set_with_alb
	set_to_that_of_a_slave
	set_with_tlb"
bond_beyond="
	set_with_tlb"

modes="balance-tlb balance-alb"

# each_mode FUNCTION - for a bond of each mode that has no slaves yet
each_mode() {
	local dev

	allow_kmsg 'permanent (HWaddr|MAC)' 'hw address' 'MAC address'
	for mode in $modes; do
		note "--- $mode"
		ip link add b0 type bond mode "$mode" miimon 100
		ip link set b0 up
		"$1"
		for dev in b0 s0 s1 s2 s3; do
			[ ! -e "/sys/class/net/$dev" ] || ip link del "$dev"
		done
	done
}

# slave_add INDEX [ADDRESS] - make sI, with that address, and enslave it
slave_make() {
	veth_make "$1"
	[ $# -lt 2 ] || ip link set "s$1" address "$2"
}

slave_add() {
	slave_make "$@"
	ip link set "s$1" master b0
	wait_for 5000 "s$1 up" slave_link_is "s$1" up
	wait_for 5000 "an active slave" some_active
}

some_active() {
	! active_is ""
}

refused() {
	must_fail ip link set "$1" master b0
	[ ! -e "/sys/class/net/$1/master" ] || fail "$1 is enslaved"
}

first_slave_donates() {
	each_mode first_slave_donates_one
}

first_slave_donates_one() {
	slave_add 0 02:00:00:00:00:10
	check_eq "b0's" 02:00:00:00:00:10 "$(mac b0)"
	check_eq "s0's" 02:00:00:00:00:10 "$(mac s0)"
}

own_addresses() {
	each_mode own_addresses_one
}

own_addresses_one() {
	slave_add 0 02:00:00:00:00:10
	slave_add 1 02:00:00:00:00:11
	slave_add 2 02:00:00:00:00:12
	check_eq "s1's" 02:00:00:00:00:11 "$(mac s1)"
	check_eq "s2's" 02:00:00:00:00:12 "$(mac s2)"
}

user_address() {
	each_mode user_address_one
}

user_address_one() {
	ip link set b0 address 02:00:00:00:00:cc
	slave_add 0 02:00:00:00:00:10
	slave_add 1 02:00:00:00:00:11
	check_eq "b0's" 02:00:00:00:00:cc "$(mac b0)"
	check_eq "s0's" 02:00:00:00:00:cc "$(mac s0)"
	check_eq "s1's" 02:00:00:00:00:11 "$(mac s1)"
}

same_as_the_bond() {
	each_mode same_as_the_bond_one
}

same_as_the_bond_one() {
	slave_add 0 02:00:00:00:00:10
	slave_make 1 02:00:00:00:00:10
	refused s1
	check_eq "s1's" 02:00:00:00:00:10 "$(mac s1)"
	# with another one it may
	ip link set s1 down
	ip link set s1 address 02:00:00:00:00:11
	ip link set s1 master b0
}

same_as_a_slave() {
	each_mode same_as_a_slave_one
}

same_as_a_slave_one() {
	slave_add 0 02:00:00:00:00:10
	slave_add 1 02:00:00:00:00:11
	slave_make 2 02:00:00:00:00:11
	refused s2
}

vacant_address_given() {
	each_mode vacant_address_given_one
}

vacant_address_given_one() {
	ip link set b0 address 02:00:00:00:00:cc
	slave_add 0 02:00:00:00:00:10
	slave_add 1 02:00:00:00:00:11
	slave_add 2 02:00:00:00:00:cc
	check_eq "s2's" 02:00:00:00:00:10 "$(mac s2)"
	macs_differ s0 s1 s2
	ip link set s2 nomaster
	check_eq "s2's when it has left" 02:00:00:00:00:cc "$(mac s2)"
}

failover_swaps() {
	each_mode failover_swaps_one
}

failover_swaps_one() {
	own_addresses_one
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	check_eq "s1's" 02:00:00:00:00:10 "$(mac s1)"
	check_eq "s0's" 02:00:00:00:00:11 "$(mac s0)"
	check_eq "s2's" 02:00:00:00:00:12 "$(mac s2)"
	check_eq "b0's" 02:00:00:00:00:10 "$(mac b0)"
	peer_up 0
	wait_for 5000 "s0 up" slave_link_is s0 up
	check_eq "s0's when it is back" 02:00:00:00:00:11 "$(mac s0)"
}

chosen_by_user() {
	each_mode chosen_by_user_one
}

chosen_by_user_one() {
	own_addresses_one
	bond_set active_slave s2
	check_eq "s2's" 02:00:00:00:00:10 "$(mac s2)"
	check_eq "s0's" 02:00:00:00:00:12 "$(mac s0)"
	bond_set active_slave s1
	check_eq "s1's" 02:00:00:00:00:10 "$(mac s1)"
	check_eq "s2's" 02:00:00:00:00:11 "$(mac s2)"
	macs_differ s0 s1 s2
}

active_released() {
	each_mode active_released_one
}

active_released_one() {
	own_addresses_one
	bond_set active_slave s1
	ip link set s1 nomaster
	check_eq "s1's" 02:00:00:00:00:11 "$(mac s1)"
	check_eq "b0's" 02:00:00:00:00:10 "$(mac b0)"
	wait_for 5000 "another active slave" some_active
	check_eq "the active slave's" 02:00:00:00:00:10 \
		"$(mac "$(bond_get active_slave)")"
	macs_differ s0 s1 s2
}

# s1 has s0's address for the bond, s0 that of s1, which wants it back.
borrowed_address_returned() {
	each_mode borrowed_address_returned_one
}

borrowed_address_returned_one() {
	own_addresses_one
	bond_set active_slave s1
	bond_set active_slave s2
	# s2 10, s1 12, s0 11
	ip link set s1 nomaster
	check_eq "s1's" 02:00:00:00:00:11 "$(mac s1)"
	check_eq "s2's" 02:00:00:00:00:10 "$(mac s2)"
	macs_differ s0 s1 s2
	slave_add 3 02:00:00:00:00:13
	macs_differ s0 s1 s2 s3
}

all_released() {
	each_mode all_released_one
}

all_released_one() {
	local i

	own_addresses_one
	bond_set active_slave s2
	bond_set active_slave s1
	for i in 2 0 1; do
		ip link set "s$i" nomaster
	done
	for i in 0 1 2; do
		check_eq "s$i's" "02:00:00:00:00:1$i" "$(mac "s$i")"
	done
	[ "$(mac b0)" != 02:00:00:00:00:10 ] || fail "b0 kept s0's address"
}

# GRE devices have an address that cannot be set
fixed_address_refused() {
	each_mode fixed_address_refused_one
}

fixed_address_refused_one() {
	local why

	ip link add s0 type gre remote 192.0.2.1 local 192.0.2.2 ||
		skip "needs gre"
	why=$(ip link set s0 master b0 2>&1) && fail "enslaved"
	note "$why"
	[ ! -e /sys/class/net/s0/master ] || fail "s0 is enslaved"
}

set_one() {
	own_addresses_one
	ip link set b0 address 02:00:00:00:00:aa
	check_eq "b0's" 02:00:00:00:00:aa "$(mac b0)"
	check_eq "s0's" 02:00:00:00:00:aa "$(mac s0)"
	check_eq "s1's" 02:00:00:00:00:11 "$(mac s1)"
	check_eq "s2's" 02:00:00:00:00:12 "$(mac s2)"
}

set_with_alb() {
	modes=balance-alb
	each_mode set_one
}

set_with_tlb() {
	modes=balance-tlb
	each_mode set_one
}

set_to_that_of_a_slave() {
	modes=balance-alb
	each_mode set_to_that_of_a_slave_one
}

set_to_that_of_a_slave_one() {
	own_addresses_one
	ip link set b0 address 02:00:00:00:00:12
	check_eq "b0's" 02:00:00:00:00:12 "$(mac b0)"
	check_eq "s0's" 02:00:00:00:00:12 "$(mac s0)"
	check_eq "s2's" 02:00:00:00:00:10 "$(mac s2)"
}

bond_run "$@"
