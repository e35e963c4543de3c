#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Offload features of a bond follow from its slaves', and those of the slaves
# from what is off on the bond.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	from_the_slaves
	slave_changes
	one_slave_is_enough
	user_choice_stays
	tso_limits
	lro_off_on_the_bond
	lro_off_when_enslaved
	lro_back_when_released
	vlan_features"
bond_beyond="lro_back_when_released"

# feature DEV NAME - on or off
feature() {
	ethtool -k "$1" | awk -v name="$2:" '$1 == name { print $2 }'
}

feature_is() {
	[ "$(feature "$1" "$2")" = "$3" ]
}

from_the_slaves() {
	local name

	need ethtool
	ip link add b0 type bond mode balance-rr miimon 100
	veth_make 0
	for name in tx-checksum-ip-generic rx-vlan-offload tx-vlan-offload \
		rx-vlan-filter generic-receive-offload; do
		check_eq "$name, no slaves" on "$(feature b0 "$name")"
	done
	for name in tx-scatter-gather tx-tcp-segmentation highdma; do
		check_eq "$name, no slaves" off "$(feature b0 "$name")"
		check_eq "$name of s0" on "$(feature s0 "$name")"
	done
	ip link set s0 master b0
	for name in tx-scatter-gather tx-tcp-segmentation highdma \
		tx-checksum-ip-generic; do
		check_eq "$name, with s0" on "$(feature b0 "$name")"
	done
	ip link set s0 nomaster
	check_eq "tx-scatter-gather" off "$(feature b0 tx-scatter-gather)"
}

slave_changes() {
	need ethtool
	bond_make balance-rr 1
	check_eq "before" on "$(feature b0 tx-scatter-gather)"
	ethtool -K s0 sg off
	check_eq "after" off "$(feature b0 tx-scatter-gather)"
	ethtool -K s0 sg on
	check_eq "again" on "$(feature b0 tx-scatter-gather)"
}

one_slave_is_enough() {
	need ethtool
	bond_make active-backup 2
	ethtool -K s0 sg off
	check_eq "s1 has it" on "$(feature b0 tx-scatter-gather)"
	ethtool -K s1 sg off
	check_eq "none has it" off "$(feature b0 tx-scatter-gather)"
}

user_choice_stays() {
	need ethtool
	bond_make balance-rr 1
	ethtool -K b0 tso off
	check_eq "off" off "$(feature b0 tx-tcp-segmentation)"
	veth_make 1
	ip link set s1 master b0
	check_eq "off with one more slave" off \
		"$(feature b0 tx-tcp-segmentation)"
	ethtool -K b0 tso on
	check_eq "on" on "$(feature b0 tx-tcp-segmentation)"
}

tso_limits() {
	local max0 max1 least

	bond_make balance-rr 1
	max0=$(link_attr s0 tso_max_size) || skip "ip does not tell limits"
	check_eq "tso_max_size" "$max0" "$(link_attr b0 tso_max_size)"
	ip link add d0 type dummy
	max1=$(link_attr d0 tso_max_size)
	[ "$max0" != "$max1" ] || skip "all devices have one limit"
	ip link set d0 master b0
	least=$((max0 < max1 ? max0 : max1))
	check_eq "tso_max_size" "$least" "$(link_attr b0 tso_max_size)"
	check_eq "tso_max_segs" "$(link_attr s0 tso_max_segs)" \
		"$(link_attr b0 tso_max_segs)"
}

# Bonds are devices with LRO that are always at hand: c0 is a slave with LRO.
lro_off_on_the_bond() {
	need ethtool
	ip link add b0 type bond mode balance-rr miimon 100
	ip link add c0 type bond
	check_eq "c0 to start with" on "$(feature c0 large-receive-offload)"
	ip link set c0 master b0
	check_eq "c0 as a slave" on "$(feature c0 large-receive-offload)"
	ethtool -K b0 lro off
	check_eq "b0 switched off" off "$(feature b0 large-receive-offload)"
	check_eq "c0 then" off "$(feature c0 large-receive-offload)"
	# it must not go on below a bond that has it off
	ethtool -K c0 lro on || :
	check_eq "c0 switched on" off "$(feature c0 large-receive-offload)"
}

lro_off_when_enslaved() {
	need ethtool
	ip link add b0 type bond mode balance-rr miimon 100
	ip link add c0 type bond
	ethtool -K b0 lro off
	ip link set c0 master b0
	check_eq "c0 as a slave" off "$(feature c0 large-receive-offload)"
}

lro_back_when_released() {
	lro_off_when_enslaved
	ip link set c0 nomaster
	check_eq "c0 when it has left" on "$(feature c0 large-receive-offload)"
}

vlan_features() {
	need ethtool
	bond_make balance-rr 1
	ip link add link b0 name v0 type vlan id 5
	check_eq "sg of VLAN" on "$(feature v0 tx-scatter-gather)"
	check_eq "csum of VLAN" on "$(feature v0 tx-checksum-ip-generic)"
	ethtool -K s0 sg off
	check_eq "sg of VLAN" off "$(feature v0 tx-scatter-gather)"
}

bond_run "$@"
