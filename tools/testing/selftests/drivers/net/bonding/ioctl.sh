#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ioctls of old times, by their numbers of today and by the private ones of
# before: what they answer, what they do, and how they refuse.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	info
	slave_info
	enslave_release
	enslave_refusals
	change_active
	change_active_refusals
	hwaddr
	nobody
	mii_registers
	unknown_numbers
	other_namespace"

# asks WANT COMMAND... - by both numbers
asks() {
	local want=$1

	shift
	check_eq "$*" "$want" "$("$bond_dir/ioctl" "$@")"
	check_eq "old $*" "$want" "$("$bond_dir/ioctl" -o "$@")"
}

# does WANT COMMAND... - by the number of today; does_old by the other one
does() {
	local want=$1

	shift
	check_eq "$*" "$want" "$("$bond_dir/ioctl" "$@")"
}

does_old() {
	local want=$1

	shift
	does "$want" -o "$@"
}

tool() {
	[ -x "$bond_dir/ioctl" ] || skip "run make in $bond_dir first"
}

mac_of() {
	echo "$(<"/sys/class/net/$1/address")"
}

info() {
	tool
	ip link add b0 type bond mode balance-xor miimon 250
	asks "mode 2 slaves 0 miimon 250" info b0
	veth_make 0 1
	ip link set s0 master b0
	asks "mode 2 slaves 1 miimon 250" info b0
	ip link set s1 master b0
	asks "mode 2 slaves 2 miimon 250" info b0
	asks EFAULT nowhere b0
	asks EOPNOTSUPP info s0
	asks ENODEV info nope
}

slave_info() {
	tool
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make active-backup 2
	asks "s0 link 0 state 0 failures 0" slave b0 0
	asks "s1 link 0 state 1 failures 0" slave b0 1
	asks ENODEV slave b0 2
	asks ENODEV slave b0 -1
	peer_down 0
	wait_for 5000 "s0 down" slave_link_is s0 down
	asks "s0 link 2 state 1 failures 1" slave b0 0
	asks "s1 link 0 state 0 failures 0" slave b0 1
	ip link set s0 nomaster
	asks "s1 link 0 state 0 failures 0" slave b0 0
	asks ENODEV slave b0 1
}

enslave_release() {
	tool
	allow_kmsg 'permanent (HWaddr|MAC)'
	ip link add b0 type bond mode balance-rr miimon 100
	veth_make 0 1
	does ok enslave b0 s0
	does_old ok enslave b0 s1
	check_eq slaves "s0 s1" "$(bond_get slaves)"
	does_old ok release b0 s0
	check_eq slaves s1 "$(bond_get slaves)"
	does ok release b0 s1
	check_eq slaves "" "$(bond_get slaves)"
	[ ! -e /sys/class/net/s0/master ] || fail "s0 has a master"
	does EINVAL release b0 s1
	does_old EINVAL release b0 s1
}

enslave_refusals() {
	tool
	allow_kmsg 'Error: '
	bond_make active-backup 1
	veth_make 1
	asks EBUSY enslave b0 s0
	asks ENODEV enslave b0 nope
	asks ENODEV enslave b0 ""
	asks ENODEV enslave b0 abcdefghijklmnop
	asks EPERM enslave b0 b0
	asks EOPNOTSUPP enslave s1 s0
	ip link set s1 up
	asks EPERM enslave b0 s1
	asks ENODEV release b0 nope
	check_eq slaves s0 "$(bond_get slaves)"
}

change_active() {
	tool
	bond_make active-backup 2
	wait_for 2000 "s0 active" active_is s0
	does ok active b0 s1
	active_is s1 || fail "active is $(bond_get active_slave)"
	does ok active b0 s1
	does_old ok active b0 s0
	active_is s0 || fail "active is $(bond_get active_slave)"
}

change_active_refusals() {
	tool
	allow_kmsg 'option active_slave' 'not bonding slave' 'Could not set'
	bond_make active-backup 2
	veth_make 2
	wait_for 2000 "s0 active" active_is s0
	asks EINVAL active b0 s2
	asks ENODEV active b0 nope
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	asks EINVAL active b0 s1
	active_is s0 || fail "active is $(bond_get active_slave)"
	ip link add b1 type bond mode balance-rr
	ip link set s2 master b1
	asks EACCES active b1 s2
}

# The bond takes the address, slaves keep theirs.
hwaddr() {
	local mac

	tool
	bond_make active-backup 2
	veth_make 2
	mac=$(mac_of b0)
	does ok hwaddr b0 s2
	check_eq "address of b0" "$(mac_of s2)" "$(mac_of b0)"
	check_eq "address of s0" "$mac" "$(mac_of s0)"
	check_eq "assign type" 2 "$(<"/sys/class/net/b0/addr_assign_type")"
	does_old ok hwaddr b0 s0
	check_eq "address of b0" "$mac" "$(mac_of b0)"
	asks ENODEV hwaddr b0 nope
}

nobody() {
	local command

	tool
	bond_make active-backup 2
	veth_make 2
	asks "mode 1 slaves 2 miimon 100" -u info b0
	asks "s0 link 0 state 0 failures 0" -u slave b0 0
	for command in "enslave b0 s2" "release b0 s0" "active b0 s1" \
		"hwaddr b0 s2" "enslave b0 nope"; do
		# shellcheck disable=SC2086 # three words
		asks EPERM -u $command
	done
	does EPERM -u reg b0 0 1
	check_eq slaves "s0 s1" "$(bond_get slaves)"
	active_is s0 || fail "active is $(bond_get active_slave)"
}

mii_registers() {
	local reg

	tool
	bond_make active-backup 1
	wait_for 5000 "carrier" carrier_is b0 1
	does "phy 0 value 4" phy b0 0 1
	does "phy 0 value 4" reg b0 0 1
	does "phy 0 value 4" phy b0 5 1
	does "phy 5 value 4" reg b0 5 1
	for reg in 0 2 5; do
		does "phy 0 untouched" phy b0 0 "$reg"
		does "phy 0 untouched" reg b0 0 "$reg"
	done
	peer_down 0
	wait_for 5000 "no carrier" carrier_is b0 0
	does "phy 0 value 0" phy b0 0 1
	does "phy 0 value 0" reg b0 0 1
	# a bond's registers are read-only
	does EOPNOTSUPP raw b0 0x8949
}

# All of the private range that has no meaning.
unknown_numbers() {
	local number

	tool
	ip link add b0 type bond
	for number in 0x89f3 0x89f4 0x89fa 0x89fe 0x89ff; do
		does EOPNOTSUPP raw b0 "$number"
	done
}

# A name means a device of the bond's own namespace.
other_namespace() {
	tool
	ip link add b0 type bond
	veth_make 0
	asks ENODEV enslave b0 p0
	check_eq slaves "" "$(bond_get slaves)"
}

bond_run "$@"
