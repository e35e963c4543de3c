#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ARP monitor: who asks, how, and how often; when links fail and return by
# it, in active-backup and where all slaves send. What counts as a sign of life
# is arpmon_validate.sh's, IPv6 arpmon_ip6.sh's.

# shellcheck source-path=SCRIPTDIR source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source-path=SCRIPTDIR source=arpmon_lib.sh
. "$(dirname "$0")/arpmon_lib.sh"

bond_limit=120
bond_tests="
	ab_only_active_asks
	ab_failover
	ab_failover_spares_others
	ab_search
	ab_grace
	ab_backup_fails
	ab_carrier_loss_at_once
	missed_max
	missed_max_of_one_from_the_start
	all_targets_any
	all_targets_all
	all_targets_late
	all_targets_unvalidated
	rr_each_slave_asks
	rr_link_lost
	xor_link_lost
	broadcast_link_lost
	balance_all_lost
	new_slave_on_dead_link
	sixteen_targets
	target_in_vlan
	target_in_stacked_vlan
	target_behind_bridge
	target_behind_router
	no_route
	other_device
	own_address
	no_targets
	target_changed
	not_while_down
	up_again
	turned_off
	interval_raised
	interval_lowered
	pace_of_changes"
bond_beyond="
	ab_failover_spares_others
	ab_carrier_loss_at_once
	missed_max_of_one_from_the_start
	all_targets_unvalidated
	balance_all_lost
	target_in_stacked_vlan
	no_targets
	up_again
	interval_lowered
	pace_of_changes"

# A request for 10.0.0.2 from 10.0.0.1, behind the MAC addresses
request='ffffffffffff[0-9a-f]{12}08060001080006040001'
asked_as_us="${request}[0-9a-f]{12}0a000001[0-9a-f]{12}0a000002"

# --- active-backup ---

ab_only_active_asks() {
	local mac n

	arp_bond active-backup 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	hear $((8 * iv)) p0 p1 p2
	read -r mac </sys/class/net/b0/address
	mac=$(hex_mac "$mac")
	n=$(heard_count "ffffffffffff${mac}08060001080006040001${mac}0a000001\
0000000000000a000002" p0)
	check_range "requests by s0 in 8 intervals" 6 9 "$n"
	# the bridge passes them on to the other ports, out of which they go
	check_eq "requests by s1" 0 "$(heard_count "$request" p1)"
	check_eq "requests by s2" 0 "$(heard_count "$request" p2)"
	links_are up up up || fail "a link is not up"
	check_eq "failures" "0 0 0" "$(failures s0) $(failures s1) $(failures s2)"
}

ab_failover() {
	arp_bond active-backup 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 0
	wait_for $((3 * iv + late)) "s1 active" active_is s1
	links_are down up up || fail "only s0 should be down"
	check_eq "failures of s0" 1 "$(failures s0)"
	count_start
	frames 100 -d 02:00:00:00:01:00
	count_read
	[ "${got[1]}" -ge 100 ] || fail "frames on s1: ${got[1]}"
	holds_for $((5 * iv)) "s1 active" active_is s1
	lan_join 0
	wait_for $((2 * iv + late)) "s0 up" links_are up up up
	holds_for $((3 * iv)) "s1 active" active_is s1
	lan_cut 1
	wait_for $((3 * iv + late)) "s0 active" active_is s0
	links_are up down up || fail "only s1 should be down"
	holds_for $((5 * iv)) "s0 active" active_is s0
	check_eq "failures" "1 1" "$(failures s0) $(failures s1)"
}

# Those who overhear depend on who asks; that another one does must not be held
# against them.
ab_failover_spares_others() {
	arp_bond active-backup 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 0
	wait_for $((3 * iv + late)) "s1 active" active_is s1
	holds_for $((6 * iv)) "s2 up" slave_link_is s2 up
	echo s2 >/sys/class/net/b0/bonding/active_slave
	holds_for $((6 * iv)) "s1 up" slave_link_is s1 up
	bond_set arp_missed_max 1
	echo s1 >/sys/class/net/b0/bonding/active_slave
	holds_for $((6 * iv)) "s2 up" slave_link_is s2 up
}

# With all links lost the slaves ask in turn, one an interval; the one that
# finds a target takes over.
ab_search() {
	local n=() i

	arp_bond active-backup 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 0 1 2
	wait_for $((8 * iv + late)) "no active slave" active_is ""
	wait_for "$late" "no carrier" carrier_is b0 0
	hear $((12 * iv)) p0 p1 p2
	for i in 0 1 2; do
		n[i]=$(heard_count "$request" "p$i")
		check_range "requests by s$i in 12 intervals" 3 5 "${n[i]}"
	done
	check_range "requests in 12 intervals" 10 13 $((n[0] + n[1] + n[2]))
	lan_join 2
	wait_for $((5 * iv + late)) "s2 active" active_is s2
	wait_for "$late" "carrier" carrier_is b0 1
	slave_link_is s2 up || fail "s2 is not up"
	holds_for $((4 * iv)) "s2 active" active_is s2
	lan_join 0 1
	wait_for $((3 * iv + late)) "all up" links_are up up up
	active_is s2 || fail "s2 should have stayed active"
}

# A slave that becomes active is not judged before it has asked: two intervals
# pass without a verdict even when one missed answer is enough.
ab_grace() {
	local now start

	arp_bond active-backup 2 arp_ip_target 10.0.0.2 arp_validate all \
		arp_missed_max 1
	wait_for $((5 * iv + late)) "both up" links_are up up
	settle
	on_peer ip link set lan down
	wait_for $((3 * iv + late)) "s1 active" active_is s1
	now_ms
	start=$now
	wait_for $((4 * iv + late)) "no active slave" active_is ""
	now_ms
	check_range "ms that s1 was active" $((2 * iv)) $((3 * iv + late)) \
		$((now - start))
}

ab_backup_fails() {
	arp_bond active-backup 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 2
	wait_for $((4 * iv + late)) "s2 down" links_are up up down
	check_eq "failures of s2" 1 "$(failures s2)"
	active_is s0 || fail "s0 should have stayed active"
	lan_join 2
	wait_for $((2 * iv + late)) "s2 up" links_are up up up
	check_eq "failures of s0" 0 "$(failures s0)"
}

# No answer can be waited for that a dead device could bring.
ab_carrier_loss_at_once() {
	iv=$((8 * iv))
	arp_bond active-backup 2 arp_ip_target 10.0.0.2
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	peer_down 0
	wait_for "$late" "s1 active" active_is s1
	links_are down up || fail "only s0 should be down"
	# back it is only trusted when it has been heard
	peer_up 0
	wait_for $((2 * iv + late)) "s0 up" links_are up up
	check_eq "failures of s0" 1 "$(failures s0)"
}

# --- missed_max ---

# b1 and b2 lose their target at the same time
missed_max() {
	local now start n

	veth_make 1 2
	peers_strict
	target_add p1 10.0.1.2/24
	target_add p2 10.0.2.2/24
	arp_bond_new 1 balance-rr s1 -- arp_ip_target 10.0.1.2 arp_missed_max 1
	arp_bond_new 2 balance-rr s2 -- arp_ip_target 10.0.2.2 arp_missed_max 8
	settle
	for n in 1 2; do
		wait_for $((3 * iv + late)) "s$n up" slave_link_is "s$n" up
	done
	now_ms
	start=$now
	target_del p1 10.0.1.2/24
	target_del p2 10.0.2.2/24
	wait_for $((2 * iv + late)) "s1 down" slave_link_is s1 down
	slave_link_is s2 up || fail "s2 should have waited"
	wait_for $((9 * iv + late)) "s2 down" slave_link_is s2 down
	now_ms
	check_range "ms until s2 was down" $((7 * iv)) $((10 * iv + late)) \
		$((now - start))
	allow_kmsg 'arp_missed_max'
	bond_set arp_missed_max 255 b1
	must_fail bash -c 'echo 0 >/sys/class/net/b1/bonding/arp_missed_max'
	must_fail bash -c 'echo 256 >/sys/class/net/b1/bonding/arp_missed_max'
}

# The part of an interval in which a slave or the monitor starts is not an
# interval that was missed.
missed_max_of_one_from_the_start() {
	local i

	veth_make 1
	peers_strict
	target_add p1 10.0.1.2/24
	arp_bond_new 1 balance-rr s1 -- \
		arp_ip_target 10.0.1.2 arp_missed_max 1 arp_validate all
	holds_for $((4 * iv)) "s1 up" slave_link_is s1 up
	for i in 1 2 3; do
		ip link set s1 nomaster
		nap "0.$((i * 2))"
		ip link set s1 master b1
		holds_for $((3 * iv)) "s1 up" slave_link_is s1 up
	done
}

# --- all_targets ---

all_targets_any() {
	arp_bond active-backup 2 arp_validate all \
		arp_ip_target 10.0.0.2,10.0.0.3 arp_all_targets any
	target_add lan 10.0.0.3/24
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	target_del lan 10.0.0.3/24
	holds_for $((6 * iv)) "s0 active" active_is s0
	check_eq "failures of s0" 0 "$(failures s0)"
}

all_targets_all() {
	veth_make 0
	peers_strict
	target_add p0 10.0.0.2/24 10.0.0.3/24
	arp_bond_new 0 active-backup s0 -- arp_validate all \
		arp_ip_target 10.0.0.2,10.0.0.3 arp_all_targets all
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	settle
	holds_for $((4 * iv)) "s0 active" active_is s0
	target_del p0 10.0.0.3/24
	wait_for $((3 * iv + late)) "no active slave" active_is ""
	holds_for $((4 * iv)) "no active slave" active_is ""
	target_add p0 10.0.0.3/24
	wait_for $((2 * iv + late)) "s0 active" active_is s0
}

# Without validation nobody knows who answered: any frame has to do.
all_targets_unvalidated() {
	veth_make 0
	peers_strict
	target_add p0 10.0.0.2/24
	arp_bond_new 0 active-backup s0 -- arp_validate none \
		arp_ip_target 10.0.0.2,10.0.0.3 arp_all_targets all
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	holds_for $((8 * iv)) "s0 active" active_is s0
}

# Setting it counts from now on.
all_targets_late() {
	veth_make 0
	peers_strict
	target_add p0 10.0.0.2/24
	arp_bond_new 0 active-backup s0 -- arp_validate all \
		arp_ip_target 10.0.0.2,10.0.0.3
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	holds_for $((5 * iv)) "s0 active" active_is s0
	bond_set arp_all_targets all
	wait_for $((3 * iv + late)) "no active slave" active_is ""
	bond_set arp_all_targets any
	wait_for $((2 * iv + late)) "s0 active" active_is s0
}

# --- where all slaves send ---

rr_each_slave_asks() {
	local i

	arp_bond balance-rr 3 arp_ip_target 10.0.0.2 arp_validate all \
		arp_all_targets all
	wait_for $((3 * iv + late)) "all up" links_are up up up
	hear $((6 * iv)) p0 p1 p2
	for i in 0 1 2; do
		check_range "requests by s$i in 6 intervals" 4 7 \
			"$(heard_count "$asked_as_us" "p$i")"
	done
	links_are up up up || fail "a link is not up"
}

# one_link_lost MODE - of three, and back
one_link_lost() {
	arp_bond "$1" 3 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((3 * iv + late)) "all up" links_are up up up
	settle
	lan_cut 1
	wait_for $((3 * iv + late)) "s1 down" links_are up down up
	count_start
	frames 90 -f 30 -d 02:00:00:00:01:00
	count_read
	# probes and what the bridge floods come on top
	[ "${got[0]}" -ge 30 ] || fail "frames on s0: ${got[*]}"
	[ "${got[2]}" -ge 30 ] || fail "frames on s2: ${got[*]}"
	check_range "frames on s1" 0 15 "${got[1]}"
	holds_for $((4 * iv)) "only s1 down" links_are up down up
	lan_join 1
	wait_for $((2 * iv + late)) "s1 up" links_are up up up
}

rr_link_lost() {
	one_link_lost balance-rr
}

xor_link_lost() {
	one_link_lost balance-xor
}

broadcast_link_lost() {
	one_link_lost broadcast
}

balance_all_lost() {
	arp_bond balance-xor 2 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((3 * iv + late)) "both up" links_are up up
	on_peer ip link set lan down
	wait_for $((3 * iv + late)) "both down" links_are down down
	wait_for "$late" "no carrier" carrier_is b0 0
	holds_for $((4 * iv)) "both down" links_are down down
	on_peer ip link set lan up
	wait_for $((2 * iv + late)) "both up" links_are up up
	wait_for "$late" "carrier" carrier_is b0 1
}

new_slave_on_dead_link() {
	arp_bond balance-rr 1 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((3 * iv + late)) "s0 up" links_are up
	veth_make 1
	ip link set s1 master b0
	wait_for $((4 * iv + late)) "s1 down" links_are up down
	lan_join 1
	wait_for $((2 * iv + late)) "s1 up" links_are up up
}

# --- the way to a target ---

sixteen_targets() {
	local list i

	list=$(seq -s, -f '10.0.0.%g' 2 17)
	arp_bond balance-rr 1 arp_ip_target "$list"
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	for i in $(seq 2 17); do
		check_range "requests for 10.0.0.$i" 2 5 "$(heard_count \
			"${request}[0-9a-f]{20}0{12}$(hex_ip "10.0.0.$i")")"
	done
	allow_kmsg 'ARP target table' arp_ip_target
	must_fail bash -c \
		'echo +10.0.0.18 >/sys/class/net/b0/bonding/arp_ip_target'
}

# vlan_make PARENT NAME ID [PROTOCOL] - one end here; vlan_peer: the other
vlan_make() {
	ip link add link "$1" name "$2" type vlan id "$3" protocol "${4-802.1Q}"
	ip link set "$2" up
}

vlan_peer() {
	ip -n "$BOND_PEER" link add link "$1" name "$2" type vlan id "$3" \
		protocol "${4-802.1Q}"
	ip -n "$BOND_PEER" link set "$2" up
}

target_in_vlan() {
	veth_make 0
	peers_strict
	vlan_peer p0 v0 7
	target_add v0 10.7.0.2/24
	arp_bond_new 0 active-backup s0 -- \
		arp_ip_target 10.7.0.2 arp_validate all
	vlan_make b0 b0.7 7
	ip addr add 10.7.0.1/24 dev b0.7
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	settle
	hear $((4 * iv)) p0
	check_range "tagged requests" 2 5 "$(heard_count \
		"f{12}[0-9a-f]{12}810000070806.{28}0a0700010{12}0a070002")"
	check_eq "others" 0 "$(heard_count "f{12}[0-9a-f]{12}0806")"
	holds_for $((4 * iv)) "s0 active" active_is s0
	ip -n "$BOND_PEER" link set v0 down
	wait_for $((3 * iv + late)) "s0 not active" active_is ""
	ip -n "$BOND_PEER" link set v0 up
	wait_for $((2 * iv + late)) "s0 active" active_is s0
}

target_in_stacked_vlan() {
	veth_make 0
	peers_strict
	vlan_peer p0 v0 7 802.1ad
	vlan_peer v0 w0 8
	target_add w0 10.7.0.2/24
	arp_bond_new 0 active-backup s0 -- \
		arp_ip_target 10.7.0.2 arp_validate all
	vlan_make b0 b0.7 7 802.1ad
	vlan_make b0.7 b0.7.8 8
	ip addr add 10.7.0.1/24 dev b0.7.8
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	settle
	hear $((4 * iv)) p0
	check_range "requests with both tags" 2 5 "$(heard_count \
		"f{12}[0-9a-f]{12}88a80007810000080806.{28}0a0700010{12}0a070002")"
	check_eq "others" 0 "$(heard_count "f{12}[0-9a-f]{12}0806")"
	holds_for $((4 * iv)) "s0 active" active_is s0
}

target_behind_bridge() {
	veth_make 0
	peers_strict
	target_add p0 10.7.0.2/24
	arp_bond_new 0 active-backup s0 -- \
		arp_ip_target 10.7.0.2 arp_validate all
	ip link add brx type bridge
	ip link set b0 master brx
	ip addr add 10.7.0.1/24 dev brx
	ip link set brx up
	wait_for $((4 * iv + late)) "s0 up" slave_link_is s0 up
	settle
	hear $((4 * iv)) p0
	check_range "requests with the bridge's address" 2 5 "$(heard_count \
		"${request}[0-9a-f]{12}0a0700010{12}0a070002")"
	holds_for $((4 * iv)) "s0 active" active_is s0
}

# It is asked for directly; a router that answers for it is as good.
target_behind_router() {
	arp_bond balance-rr 1 arp_ip_target 10.7.0.2
	ip route add 10.7.0.0/24 via 10.0.0.2
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((3 * iv)) p0
	check_range "requests for 10.7.0.2" 1 4 "$(heard_count \
		"${request}[0-9a-f]{20}0{12}0a070002")"
}

no_route() {
	veth_make 0
	peers_strict
	target_add p0 10.7.0.2/24
	allow_kmsg "$arp_kmsg"
	# not even an address
	ip link add b0 type bond mode active-backup arp_interval "$iv" \
		arp_ip_target 10.7.0.2 arp_validate all
	ip link set s0 master b0
	ip link set b0 up
	wait_for $((3 * iv + late)) "s0 up" slave_link_is s0 up
	hear $((4 * iv)) p0
	check_range "requests from nobody" 2 5 "$(heard_count \
		"${request}[0-9a-f]{12}0{8}0{12}0a070002")"
	holds_for $((4 * iv)) "s0 active" active_is s0
	target_del p0 10.7.0.2/24
	wait_for $((3 * iv + late)) "no active slave" active_is ""
}

# What is reached without the bond says nothing of it.
other_device() {
	ip link add d0 type dummy
	ip addr add 10.7.0.1/24 dev d0
	ip link set d0 up
	arp_bond balance-rr 1 arp_ip_target 10.7.0.2,10.0.0.2 arp_validate all
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	check_eq "requests for 10.7.0.2" 0 "$(heard_count \
		"${request}[0-9a-f]{32}0a070002")"
	check_range "requests for 10.0.0.2" 2 5 "$(heard_count "$asked_as_us")"
	bond_set_target -10.0.0.2
	hear $((2 * iv)) p0
	check_eq "requests at all" 0 "$(heard_count "$request")"
	wait_for $((4 * iv + late)) "s0 down" links_are down
}

own_address() {
	arp_bond balance-rr 1 arp_ip_target 10.0.0.1,10.0.0.2 arp_validate all
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((3 * iv)) p0
	check_eq "requests for 10.0.0.1" 0 "$(heard_count \
		"${request}[0-9a-f]{32}0a000001")"
	check_range "requests for 10.0.0.2" 1 4 "$(heard_count "$asked_as_us")"
}

# --- options that change ---

# While there is nobody to ask, the carrier has to do.
no_targets() {
	veth_make 0 1
	peers_strict
	arp_bond_new 0 active-backup s0 s1
	holds_for $((5 * iv)) "both up" links_are up up
	peer_down 0
	wait_for "$late" "s0 down" links_are down up
	active_is s1 || fail "s1 should be active"
	peer_up 0
	wait_for $((4 * iv + late)) "s0 up" links_are up up
	check_eq "failures of s1" 0 "$(failures s1)"
}

target_changed() {
	arp_bond active-backup 2 arp_ip_target 10.0.0.2 arp_validate all
	target_add lan 10.0.0.3/24
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	bond_set_target +10.0.0.3
	hear $((3 * iv)) p0
	check_range "requests for 10.0.0.3" 1 4 "$(heard_count \
		"${request}[0-9a-f]{20}0{12}0a000003")"
	target_del lan 10.0.0.2/24
	bond_set_target -10.0.0.2
	target_add lan 10.0.0.4/24
	holds_for $((5 * iv)) "s0 active" active_is s0
	hear $((3 * iv)) p0
	check_eq "requests for 10.0.0.2" 0 "$(heard_count "$asked_as_us")"
	check_eq "failures of s0" 0 "$(failures s0)"
}

bond_set_target() {
	echo "$1" >/sys/class/net/b0/bonding/arp_ip_target
}

not_while_down() {
	arp_bond active-backup 2 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	ip link set b0 down
	hear $((3 * iv)) p0 p1
	check_eq "requests" 0 "$(heard_count "$request")"
	ip link set b0 up
	hear $((3 * iv)) p0 p1
	check_range "requests" 1 4 "$(heard_count "$request")"
	wait_for $((3 * iv + late)) "both up" links_are up up
}

# The silence of a bond that was down is not held against its slaves.
up_again() {
	arp_bond active-backup 2 arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	ip link set b0 down
	settle
	settle
	ip link set b0 up
	holds_for $((6 * iv)) "both up" links_are up up
	check_eq "failures" "0 0" "$(failures s0) $(failures s1)"
}

turned_off() {
	arp_bond balance-rr 1 arp_ip_target 10.0.0.2
	wait_for $((3 * iv + late)) "s0 up" links_are up
	bond_set arp_interval 0
	on_peer ip link set lan down
	hear $((3 * iv)) p0
	check_eq "requests" 0 "$(heard_count "$request")"
	holds_for $((4 * iv)) "s0 up" links_are up
	bond_set arp_interval "$iv"
	wait_for $((4 * iv + late)) "s0 down" links_are down
	# the MII monitor turns it off, too
	bond_set miimon 100
	check_eq "arp_interval" 0 "$(bond_get arp_interval)"
	wait_for $((4 * iv + late)) "s0 up" links_are up
}

interval_raised() {
	arp_bond balance-rr 1 arp_ip_target 10.0.0.2
	wait_for $((3 * iv + late)) "s0 up" links_are up
	bond_set arp_interval 2147483647
	hear $((3 * iv)) p0
	check_range "requests" 0 1 "$(heard_count "$request")"
	links_are up || fail "s0 is not up"
}

# It is not waited until the old one is over.
interval_lowered() {
	iv=60000
	arp_bond balance-rr 1 arp_ip_target 10.0.0.2
	bond_set arp_interval 100
	hear 2000 p0
	check_range "requests in 20 intervals" 10 22 "$(heard_count "$request")"
}

# Writing options is no way to make a bond flood its network.
pace_of_changes() {
	local i sum

	arp_bond active-backup 1 arp_ip_target 10.0.0.2
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	hear $((6 * iv)) p0 &
	for i in $(seq 20); do
		bond_set arp_validate all
		bond_set arp_validate none
		ip link set b0 down
		ip link set b0 up
	done
	wait
	heard=$BOND_TMP/heard
	sum=$(heard_count "$request")
	check_range "requests in 6 intervals" 3 8 "$sum"
}

bond_run "$@"
