#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whose MAC address is it? The bond's from its first slave, the slaves' from the
# bond, fail_over_mac, and what a slave has when it leaves. MTU, which goes the
# same way.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	first_slave_donates
	user_address_stays
	random_when_empty
	all_slaves_follow
	refused_by_one_slave
	zero_address_refused
	fom_active
	fom_active_set_ignored
	fom_follow
	fom_follow_same_address
	fom_not_with_slaves
	restored_in_every_mode
	warns_of_address_in_use
	mtu_of_all_slaves
	mtu_refused_by_one_slave"
bond_beyond="
	mtu_refused_by_one_slave"
# 6.1 leaves two slaves with one address
case $(uname -r) in 6.1.*) bond_beyond+=" fom_follow_same_address" ;; esac

# mac DEV - its address; mac_type DEV - where that came from: 0 permanent, 1
# random, 2 stolen, 3 set
mac() {
	echo "$(<"/sys/class/net/$1/address")"
}

mac_type() {
	echo "$(<"/sys/class/net/$1/addr_assign_type")"
}

mtu() {
	echo "$(<"/sys/class/net/$1/mtu")"
}

first_slave_donates() {
	local own other

	ip link add b0 type bond mode balance-rr miimon 100
	check_eq "b0's type when new" 1 "$(mac_type b0)"
	veth_make 0 1
	own=$(mac s0) other=$(mac s1)
	[ "$own" != "$other" ] || fail "two devices with one address"
	ip link set s0 master b0
	check_eq "b0's" "$own" "$(mac b0)"
	check_eq "b0's type" 2 "$(mac_type b0)"
	ip link set s1 master b0
	check_eq "b0's" "$own" "$(mac b0)"
	check_eq "s1's" "$own" "$(mac s1)"
	check_eq "s1's permanent one" "$other" \
		"$(slave_proc s1 'Permanent HW addr')"
	check_eq "s0's permanent one" "$own" "$(slave_get s0 perm_hwaddr)"
}

user_address_stays() {
	ip link add b0 type bond mode balance-rr miimon 100
	ip link set b0 address 02:11:22:33:44:55
	veth_make 0
	ip link set s0 master b0
	check_eq "b0's" 02:11:22:33:44:55 "$(mac b0)"
	check_eq "b0's type" 3 "$(mac_type b0)"
	check_eq "s0's" 02:11:22:33:44:55 "$(mac s0)"
}

random_when_empty() {
	local own0 own1

	bond_make active-backup 1
	own0=$(mac b0)
	ip link set s0 nomaster
	check_eq "b0's type" 1 "$(mac_type b0)"
	[ "$(mac b0)" != "$own0" ] || fail "b0 kept s0's address"
	veth_make 1
	own1=$(mac s1)
	ip link set s1 master b0
	check_eq "b0's" "$own1" "$(mac b0)"
	check_eq "b0's type" 2 "$(mac_type b0)"
}

all_slaves_follow() {
	local mode dev

	for mode in balance-rr active-backup balance-xor broadcast; do
		bond_make "$mode" 2
		ip link set b0 address 02:11:22:33:44:66
		for dev in b0 s0 s1; do
			check_eq "$mode: $dev's" 02:11:22:33:44:66 "$(mac "$dev")"
		done
		check_eq "$mode: b0's type" 3 "$(mac_type b0)"
		ip link del b0
		ip link del s0
		ip link del s1
	done
}

# A macvlan device cannot have the address of another one.
refused_by_one_slave() {
	local before

	allow_kmsg 'MAC'
	bond_make balance-rr 1
	ip -batch - <<-END
		link add d0 type dummy
		link set d0 up
		link add m0 link d0 type macvlan
		link add m1 link d0 address 02:11:22:33:44:77 type macvlan
		link set m1 up
		link set m0 master b0
	END
	before="$(mac b0) $(mac s0) $(mac m0) $(mac_type b0)"
	before+=" $(mac_type s0) $(mac_type m0)"
	must_fail ip link set b0 address 02:11:22:33:44:77
	check_eq "addresses and types of b0, s0, m0" "$before" \
		"$(mac b0) $(mac s0) $(mac m0) $(mac_type b0) $(
			mac_type s0) $(mac_type m0)"
	ip link set b0 address 02:11:22:33:44:78
	check_eq "m0's" 02:11:22:33:44:78 "$(mac m0)"
}

zero_address_refused() {
	local before

	bond_make balance-rr 1
	before=$(mac b0)
	must_fail ip link set b0 address 00:00:00:00:00:00
	must_fail ip link set b0 address 01:00:5e:00:00:01
	check_eq "b0's and s0's" "$before $before" "$(mac b0) $(mac s0)"
}

fom_active() {
	local own0 own1

	veth_make 0 1
	own0=$(mac s0) own1=$(mac s1)
	ip link add b0 type bond mode active-backup miimon 100 \
		fail_over_mac active
	ip -batch - <<-END
		link set s0 master b0
		link set s1 master b0
		link set b0 up
	END
	wait_for 5000 "s0 active" active_is s0
	check_eq "b0, s0, s1" "$own0 $own0 $own1" "$(mac b0) $(mac s0) $(mac s1)"
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	check_eq "b0, s0, s1" "$own1 $own0 $own1" "$(mac b0) $(mac s0) $(mac s1)"
	ip link set s1 nomaster
	peer_up 0
	wait_for 5000 "s0 active" active_is s0
	check_eq "b0, s0, s1" "$own0 $own0 $own1" "$(mac b0) $(mac s0) $(mac s1)"
}

fom_active_set_ignored() {
	local fom own

	for fom in active follow; do
		bond_make active-backup 1 fail_over_mac "$fom"
		own=$(mac s0)
		ip link set b0 address 02:11:22:33:44:88
		check_eq "$fom: b0, s0" "$own $own" "$(mac b0) $(mac s0)"
		ip link del b0
		ip link del s0
	done
}

fom_follow() {
	local own0 own1

	veth_make 0 1
	own0=$(mac s0) own1=$(mac s1)
	ip link add b0 type bond mode active-backup miimon 100 \
		fail_over_mac follow
	ip -batch - <<-END
		link set s0 master b0
		link set s1 master b0
		link set b0 up
	END
	wait_for 5000 "s0 active" active_is s0
	check_eq "b0, s0, s1" "$own0 $own0 $own1" "$(mac b0) $(mac s0) $(mac s1)"
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	check_eq "b0, s0, s1" "$own0 $own1 $own0" "$(mac b0) $(mac s0) $(mac s1)"
	ip link set s0 nomaster
	check_eq "s0's when it has left" "$own0" "$(mac s0)"
	ip link set s1 nomaster
	check_eq "s1's when it has left" "$own1" "$(mac s1)"
	# s0's address was the bond's
	allow_kmsg 'permanent HWaddr'
}

fom_follow_same_address() {
	local own

	veth_make 0 1
	own=$(mac s0)
	ip link set s1 address "$own"
	ip link add b0 type bond mode active-backup miimon 100 \
		fail_over_mac follow
	ip -batch - <<-END
		link set s0 master b0
		link set s1 master b0
		link set b0 up
	END
	wait_for 5000 "s0 active" active_is s0
	check_eq "b0, s0" "$own $own" "$(mac b0) $(mac s0)"
	[ "$(mac s1)" != "$own" ] || fail "s1 has the bond's address, too"
	ip link set s1 nomaster
	check_eq "s1's when it has left" "$own" "$(mac s1)"
	allow_kmsg 'permanent HWaddr'
}

fom_not_with_slaves() {
	allow_kmsg 'has slaves'
	bond_make active-backup 1
	must_fail ip link set b0 type bond fail_over_mac follow
	check_eq "fail_over_mac" "none 0" "$(bond_get fail_over_mac)"
}

restored_in_every_mode() {
	local mode own0 own1

	allow_kmsg 'permanent HWaddr'
	for mode in balance-rr active-backup balance-xor broadcast; do
		veth_make 0 1
		own0=$(mac s0) own1=$(mac s1)
		ip link add b0 type bond mode "$mode" miimon 100
		ip -batch - <<-END
			link set s0 master b0
			link set s1 master b0
			link set b0 address 02:11:22:33:44:99
		END
		check_eq "$mode: s0" 02:11:22:33:44:99 "$(mac s0)"
		ip link del b0
		check_eq "$mode: s0, s1" "$own0 $own1" "$(mac s0) $(mac s1)"
		ip link del s0
		ip link del s1
	done
}

warns_of_address_in_use() {
	local mark="mac.sh-$$-$RANDOM"

	allow_kmsg 'permanent HWaddr'
	bond_make balance-rr 2
	echo "<6>$mark" >/dev/kmsg
	ip link set s1 nomaster
	! dmesg | sed "1,/$mark/d" | grep 'permanent HWaddr' ||
		fail "s1's address is not in use"
	ip link set s1 master b0
	ip link set s0 nomaster
	dmesg | sed "1,/$mark/d" | grep 's0.*permanent HWaddr' ||
		fail "no warning that s0's address is still the bond's"
}

mtu_of_all_slaves() {
	veth_make 2
	bond_make balance-rr 2
	ip link set b0 mtu 1400
	check_eq "s0 s1" "1400 1400" "$(mtu s0) $(mtu s1)"
	ip link set s2 master b0
	check_eq "s2" 1400 "$(mtu s2)"
	ip link set s2 nomaster
	check_eq "s2 when it has left" 1500 "$(mtu s2)"
	# nobody stops a slave's own from being changed
	ip link set s1 mtu 1300
	ip link set b0 mtu 1450
	check_eq "s0 s1" "1450 1450" "$(mtu s0) $(mtu s1)"
	ip link del b0
	check_eq "s0 s1 when they have left" "1500 1500" "$(mtu s0) $(mtu s1)"
}

# A VLAN device cannot have a larger MTU than the one below it.
mtu_refused_by_one_slave() {
	allow_kmsg 'MTU' 'mtu'
	bond_make balance-rr 1
	ip -batch - <<-END
		link add d0 type dummy
		link set d0 up
		link add v0 link d0 type vlan id 5
		link set v0 master b0
		link set s0 mtu 1300
	END
	must_fail ip link set b0 mtu 2000
	check_eq "b0 s0 v0" "1500 1300 1500" "$(mtu b0) $(mtu s0) $(mtu v0)"
	ip link set b0 mtu 1200
	check_eq "b0 s0 v0" "1200 1200 1200" "$(mtu b0) $(mtu s0) $(mtu v0)"
}

bond_run "$@"
