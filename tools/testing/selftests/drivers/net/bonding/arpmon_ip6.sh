#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The monitor with IPv6 targets: neighbour solicitations as probes, neighbour
# discovery as a sign of life, and the multicast addresses that backup slaves
# need to overhear it.

# shellcheck source-path=SCRIPTDIR source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source-path=SCRIPTDIR source=arpmon_lib.sh
. "$(dirname "$0")/arpmon_lib.sh"

bond_limit=120
bond_tests="
	only_active_asks
	failover
	search
	balance
	both_families
	all_targets
	in_vlan
	in_stacked_vlan
	no_route
	no_route_on_backup
	ipv6_disabled
	link_local_target
	other_device
	sixteen_targets
	multicast_on_backups
	multicast_moves
	multicast_of_new_targets
	multicast_ends"
bond_beyond="
	all_targets
	in_stacked_vlan
	no_route_on_backup
	ipv6_disabled
	multicast_moves
	multicast_ends"

# A solicitation for fd00::2, behind the addresses of the frame
ask_mac='3333ff000002[0-9a-f]{12}'
ask_ip="86dd6[0-9a-f]{7}00203aff"
from_us=fd000000000000000000000000000001
group=ff0200000000000000000001ff000002
target=fd000000000000000000000000000002
asked="$ask_mac$ask_ip$from_us${group}8700[0-9a-f]{4}00000000$target"

peers_ip6() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	on_peer sh -c 'for f in all default; do
		echo 0 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done'
}

# ns_bond MODE COUNT OPTION... - as arp_bond, with the target fd00:0::2
ns_bond() {
	local mode=$1 count=$2 index

	shift 2
	ipv6_set 0
	peers_ip6
	mapfile -t index < <(seq 0 $((count - 1)))
	veth_make "${index[@]}"
	lan_make "${index[@]}"
	target_add lan fd00::2/64
	arp_bond_new 0 "$mode" "${index[@]/#/s}" -- "$@"
	check_target "$@"
}

# check_target OPTION... - was it taken? (an old ip does not know the option)
check_target() {
	case " $* " in
	*" ns_ip6_target "*) ;;
	*) return 0 ;;
	esac
	[ -n "$(link_attr b0 ns_ip6_target)" ] || fail "no ns_ip6_target"
}

only_active_asks() {
	local mac n

	ns_bond active-backup 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	hear $((8 * iv)) p0 p1 p2
	read -r mac </sys/class/net/b0/address
	mac=$(hex_mac "$mac")
	# with the option that tells the target our MAC address
	n=$(heard_count "${asked}0101$mac" p0)
	check_range "solicitations by s0 in 8 intervals" 6 9 "$n"
	check_eq "solicitations by s1" 0 "$(heard_count "$asked" p1)"
	check_eq "solicitations by s2" 0 "$(heard_count "$asked" p2)"
	links_are up up up || fail "a link is not up"
	check_eq "failures" "0 0 0" "$(failures s0) $(failures s1) $(failures s2)"
}

failover() {
	ns_bond active-backup 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 0
	wait_for $((3 * iv + late)) "s1 active" active_is s1
	links_are down up up || fail "only s0 should be down"
	holds_for $((5 * iv)) "s1 active" active_is s1
	lan_join 0
	wait_for $((2 * iv + late)) "s0 up" links_are up up up
	active_is s1 || fail "s1 should have stayed active"
}

search() {
	ns_bond active-backup 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	lan_cut 0 1 2
	wait_for $((8 * iv + late)) "no active slave" active_is ""
	holds_for $((4 * iv)) "no active slave" active_is ""
	lan_join 2
	wait_for $((5 * iv + late)) "s2 active" active_is s2
	lan_join 0 1
	wait_for $((3 * iv + late)) "all up" links_are up up up
}

balance() {
	local i

	ns_bond balance-xor 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((3 * iv + late)) "all up" links_are up up up
	hear $((6 * iv)) p0 p1 p2
	for i in 0 1 2; do
		check_range "solicitations by s$i" 4 7 \
			"$(heard_count "$asked" "p$i")"
	done
	lan_cut 1
	wait_for $((3 * iv + late)) "s1 down" links_are up down up
	holds_for $((4 * iv)) "only s1 down" links_are up down up
	lan_join 1
	wait_for $((2 * iv + late)) "s1 up" links_are up up up
}

# One of the two families is enough.
both_families() {
	ns_bond active-backup 2 ns_ip6_target fd00::2 arp_ip_target 10.0.0.2 \
		arp_validate all
	target_add lan 10.0.0.2/24
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	target_del lan fd00::2/64
	holds_for $((5 * iv)) "both up" links_are up up
	target_add lan fd00::2/64
	settle
	target_del lan 10.0.0.2/24
	holds_for $((5 * iv)) "both up" links_are up up
	target_del lan fd00::2/64
	wait_for $((9 * iv + late)) "no active slave" active_is ""
}

all_targets() {
	ns_bond active-backup 1 ns_ip6_target fd00::2,fd00::3 \
		arp_ip_target 10.0.0.2 arp_validate all arp_all_targets all
	target_add lan fd00::3/64 10.0.0.2/24
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	holds_for $((4 * iv)) "s0 active" active_is s0
	target_del lan fd00::3/64
	wait_for $((3 * iv + late)) "no active slave" active_is ""
	target_add lan fd00::3/64
	wait_for $((2 * iv + late)) "s0 active" active_is s0
	target_del lan 10.0.0.2/24
	wait_for $((3 * iv + late)) "no active slave" active_is ""
}

# --- the way ---

# vlan_both PARENT PEER-PARENT NAME ID PROTOCOL - NAME here, NAME-there there
vlan_both() {
	ip link add link "$1" name "$3" type vlan id "$4" protocol "$5"
	ip link set "$3" up
	ip -n "$BOND_PEER" link add link "$2" name "$3-there" type vlan \
		id "$4" protocol "$5"
	ip -n "$BOND_PEER" link set "$3-there" up
}

in_vlan() {
	ns_bond active-backup 1 ns_ip6_target fd07::2 arp_validate all
	vlan_both b0 lan v 7 802.1Q
	ip addr add fd07::1/64 dev v nodad
	target_add v-there fd07::2/64
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	hear $((4 * iv)) p0
	check_range "tagged solicitations" 2 5 "$(heard_count \
		"${ask_mac}81000007${ask_ip}fd07")"
	check_eq "others" 0 "$(heard_count "$ask_mac$ask_ip")"
	holds_for $((4 * iv)) "s0 active" active_is s0
	ip -n "$BOND_PEER" link set v-there down
	wait_for $((3 * iv + late)) "no active slave" active_is ""
}

in_stacked_vlan() {
	ns_bond active-backup 1 ns_ip6_target fd07::2 arp_validate all
	vlan_both b0 lan v 7 802.1ad
	vlan_both v v-there w 8 802.1Q
	ip addr add fd07::1/64 dev w nodad
	target_add w-there fd07::2/64
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	settle
	hear $((4 * iv)) p0
	check_range "solicitations with both tags" 2 5 "$(heard_count \
		"${ask_mac}88a8000781000008${ask_ip}fd07")"
	holds_for $((4 * iv)) "s0 active" active_is s0
}

# no_route_bond COUNT - without an address in the target's network
no_route_bond() {
	local index

	mapfile -t index < <(seq 0 $(($1 - 1)))
	peers_ip6
	veth_make "${index[@]}"
	lan_make "${index[@]}"
	target_add lan fd00::2/64
	allow_kmsg "$arp_kmsg"
	{
		echo "link add b0 type bond mode active-backup arp_interval" \
			"$iv ns_ip6_target fd00::2 arp_validate all"
		printf 'link set s%d master b0\n' "${index[@]}"
		echo "link set b0 up"
	} | ip -batch -
}

no_route() {
	ipv6_set 0
	no_route_bond 1
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	check_range "solicitations from nobody" 2 5 "$(heard_count \
		"${ask_mac}86dd6[0-9a-f]{7}00183aff0{32}${group}8700")"
	holds_for $((4 * iv)) "s0 active" active_is s0
	target_del lan fd00::2/64
	wait_for $((3 * iv + late)) "no active slave" active_is ""
}

no_route_on_backup() {
	ipv6_set 0
	no_route_bond 2
	wait_for $((3 * iv + late)) "both up" links_are up up
	holds_for $((8 * iv)) "both up" links_are up up
}

# Probes need no IPv6 on the slaves, and none on the bond.
ipv6_disabled() {
	no_route_bond 2
	wait_for $((3 * iv + late)) "both up" links_are up up
	holds_for $((8 * iv)) "both up" links_are up up
	hear $((4 * iv)) p0
	check_range "solicitations from nobody" 2 5 "$(heard_count \
		"${ask_mac}86dd6[0-9a-f]{7}00183aff0{32}${group}8700")"
}

# fe80:: is on every link; meant is the bond's.
link_local_target() {
	local n

	ns_bond balance-rr 1 ns_ip6_target fe80::2 arp_validate all
	ip addr add fe80::1/64 dev b0 nodad
	target_add lan fe80::2/64
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	n=$(heard_count "${ask_mac}86dd6.{7}00203afffe80.{60}8700")
	check_range "solicitations" 2 5 "$n"
	holds_for $((4 * iv)) "s0 up" links_are up
}

other_device() {
	ns_bond balance-rr 1 ns_ip6_target fd07::2,fd00::2 arp_validate all
	ip link add d0 type dummy
	ip addr add fd07::1/64 dev d0 nodad
	ip link set d0 up
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	check_eq "solicitations for fd07::2" 0 "$(heard_count \
		"$ask_mac$ask_ip.{64}8700.{12}fd07")"
	check_range "solicitations for fd00::2" 2 5 "$(heard_count "$asked")"
}

sixteen_targets() {
	local list i

	list=$(printf 'fd00::%x,' $(seq 2 17))
	ns_bond balance-rr 1 ns_ip6_target "${list%,}"
	wait_for $((3 * iv + late)) "s0 up" links_are up
	hear $((4 * iv)) p0
	for i in $(seq 2 17); do
		check_range "solicitations for fd00::$i" 2 5 "$(heard_count \
			"3333ff0000$(printf %02x "$i").{12}$ask_ip")"
	done
}

# --- multicast ---

# listens SLAVE ADDRESS... - its device accepts frames to 33:33:ff:ADDRESS
listens() {
	local slave=$1 addr

	shift
	for addr; do
		grep -q "33:33:ff:$addr" <(ip maddr show dev "$slave") ||
			return 1
	done
}

# listening WANTED... - yes or no for s0 s1 ...: is 33:33:ff:00:00:02 accepted?
listening() {
	local i=0 want

	for want; do
		if listens "s$i" 00:00:02; then
			[ "$want" = yes ] || fail "s$i should not listen"
		else
			[ "$want" = no ] || fail "s$i should listen"
		fi
		i=$((i + 1))
	done
}

multicast_on_backups() {
	ns_bond active-backup 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	listening no yes yes
	bond_set arp_validate none
	listening no no no
	bond_set arp_validate filter
	listening no yes yes
	ip link set s2 nomaster
	listening no yes no
	ip link del b0
	listening no no no
}

multicast_moves() {
	ns_bond active-backup 3 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	listening no yes yes
	echo s1 >/sys/class/net/b0/bonding/active_slave
	wait_for "$late" "s1 active" active_is s1
	listening yes no yes
	ip link set s2 nomaster
	listening yes no no
	ip link set s2 master b0
	listening yes no yes
	ip link del b0
	listening no no no
}

multicast_of_new_targets() {
	ns_bond active-backup 2 ns_ip6_target fd00::2 arp_validate all
	target_add lan fd00::3/64 fd00::4/64
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	ip link set b0 type bond ns_ip6_target fd00::3,fd00::4
	listening no no
	listens s1 00:00:03 00:00:04 || fail "s1 should listen for both"
	ip link set b0 type bond ns_ip6_target fd00::4,fd00::2
	listening no yes
	listens s1 00:00:04 || fail "s1 should listen for fd00::4"
	! listens s1 00:00:03 || fail "s1 should not listen for fd00::3"
}

# Without the monitor there is nothing to overhear.
multicast_ends() {
	ns_bond active-backup 2 ns_ip6_target fd00::2 arp_validate all
	wait_for $((4 * iv + late)) "s0 active" active_is s0
	listening no yes
	ip link set b0 down
	listening no no
	ip link set b0 up
	listening no yes
	bond_set arp_interval 0
	listening no no
	bond_set arp_interval "$iv"
	listening no yes
	ip link set b0 down
	ip link del b0
	listening no no
}

bond_run "$@"
