#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bonds among other devices: on top of them, below them, bonds of bonds, bonds
# of devices that are not Ethernet; and what goes away or changes its name.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	vlan_on_bond
	vlan_before_slaves
	qinq_on_bond
	macvlan_on_bond
	ipvlan_on_bond
	bridge_on_bond
	carrier_passed_up
	bond_of_bonds
	bond_of_bonds_lists
	link_local_on_inactive
	rename_slave
	rename_primary
	rename_primary_reselect
	rename_bond
	slave_deleted
	slave_moves_to_namespace
	namespace_deleted
	gre_in_active_backup
	gre_back_to_ethernet
	gre_last_slave_deleted
	gre_bond_of_bonds
	module_of_a_kind_unloaded"
bond_beyond=""

# peer_bridge - all peers in a bridge pb with 192.0.2.2/24: whichever slave a
# frame leaves by, it finds its way, and so do the answers
peer_bridge() {
	local i=0

	{
		echo "link add pb type bridge"
		echo "addr add 192.0.2.2/24 dev pb"
		while [ -e "$PEER_SYS/class/net/p$i" ]; do
			echo "link set p$i master pb"
			i=$((i + 1))
		done
		echo "link set pb up"
	} | ip -n "$BOND_PEER" -batch -
}

# answers [ADDRESS] - does the peer answer a ping? Tried until it does.
answers() {
	ping -n -c 1 -W 1 "${1:-192.0.2.2}" >/dev/null
}

# connected WHAT [ADDRESS]
connected() {
	wait_for 10000 "$1: answer from ${2-192.0.2.2}" answers "${2-}"
}

# over_failover WHAT [ADDRESS] - a connection by both slaves in turn
over_failover() {
	connected "$1 by s0" "${2-192.0.2.2}"
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	connected "$1 by s1" "${2-192.0.2.2}"
	peer_up 0
	wait_for 5000 "s0 up" slave_link_is s0 up
}

vlan_on_bond() {
	bond_make active-backup 2
	peer_bridge
	ip -n "$BOND_PEER" -batch - <<-END
		link add link pb name pb.5 type vlan id 5
		addr add 198.51.100.2/24 dev pb.5
		link set pb.5 up
	END
	ip -batch - <<-END
		link add link b0 name b0.5 type vlan id 5
		addr add 198.51.100.1/24 dev b0.5
		link set b0.5 up
	END
	over_failover VLAN 198.51.100.2
	# the slave that comes later gets the VLAN, too
	ip link set s0 nomaster
	ip link set s0 master b0
	wait_for 5000 "s0 up" slave_link_is s0 up
	ip link set s1 nomaster
	wait_for 5000 "s0 active" active_is s0
	connected VLAN 198.51.100.2
	allow_kmsg 'permanent HWaddr'
}

vlan_before_slaves() {
	veth_make 0
	ip -batch - <<-END
		link add b0 type bond mode balance-rr miimon 100
		link set b0 up
		link add link b0 name b0.5 type vlan id 5
		addr add 198.51.100.1/24 dev b0.5
		link set b0.5 up
		link set s0 master b0
	END
	ip -n "$BOND_PEER" -batch - <<-END
		link add link p0 name p0.5 type vlan id 5
		addr add 198.51.100.2/24 dev p0.5
		link set p0.5 up
	END
	connected VLAN 198.51.100.2
	check_eq "address of the VLAN" "$(</sys/class/net/b0/address)" \
		"$(</sys/class/net/b0.5/address)"
}

qinq_on_bond() {
	bond_make balance-rr 1
	ip -n "$BOND_PEER" -batch - <<-END
		link add link p0 name q type vlan proto 802.1ad id 7
		link add link q name q.5 type vlan id 5
		addr add 198.51.100.2/24 dev q.5
		link set q up
		link set q.5 up
	END
	ip -batch - <<-END
		link add link b0 name q type vlan proto 802.1ad id 7
		link add link q name q.5 type vlan id 5
		addr add 198.51.100.1/24 dev q.5
		link set q up
		link set q.5 up
	END
	connected "VLAN in VLAN" 198.51.100.2
}

macvlan_on_bond() {
	bond_make active-backup 2
	peer_bridge
	ip -batch - <<-END
		link add link b0 name m0 type macvlan mode bridge
		addr add 192.0.2.1/24 dev m0
		link set m0 up
	END
	over_failover macvlan
}

ipvlan_on_bond() {
	bond_make active-backup 2
	peer_bridge
	ip -batch - <<-END
		link add link b0 name i0 type ipvlan mode l2
		addr add 192.0.2.1/24 dev i0
		link set i0 up
	END
	over_failover ipvlan
}

bridge_on_bond() {
	bond_make active-backup 2
	peer_bridge
	ip -batch - <<-END
		link add br0 type bridge
		link set b0 master br0
		addr add 192.0.2.1/24 dev br0
		link set br0 up
	END
	over_failover bridge
}

carrier_passed_up() {
	bond_make active-backup 2
	ip -batch - <<-END
		link add link b0 name v0 type vlan id 5
		link add link b0 name m0 type macvlan
		link set v0 up
		link set m0 up
	END
	wait_for 5000 "VLAN up" carrier_is v0 1
	peer_down 0 1
	wait_for 5000 "bond down" carrier_is b0 0
	wait_for 5000 "VLAN down" carrier_is v0 0
	wait_for 5000 "macvlan down" carrier_is m0 0
	peer_up 1
	wait_for 5000 "VLAN up" carrier_is v0 1
	wait_for 5000 "macvlan up" carrier_is m0 1
}

# b0 of c0 (s0 s1) and c1 (s2)
bond_of_bonds() {
	veth_make 0 1 2
	peer_bridge
	ip -batch - <<-END
		link add b0 type bond mode active-backup miimon 100
		link add c0 type bond mode balance-rr miimon 100
		link add c1 type bond mode active-backup miimon 100
		link set s0 master c0
		link set s1 master c0
		link set s2 master c1
		link set c0 master b0
		link set c1 master b0
		addr add 192.0.2.1/24 dev b0
		link set b0 up
	END
	wait_for 5000 "c0 up" slave_link_is c0 up
	wait_for 5000 "c1 up" slave_link_is c1 up
	connected "bond of bonds"
	check_eq "address of s2" "$(</sys/class/net/b0/address)" \
		"$(</sys/class/net/s2/address)"
	peer_down 0 1
	wait_for 5000 "c1 active" active_is c1
	connected "bond of bonds, by the other"
	ip link set b0 mtu 1400
	check_eq "MTU of s0" 1400 "$(</sys/class/net/s0/mtu)"
	ip link set c1 nomaster
	# a bond that was a slave is a bond
	ip link set s2 nomaster
	ip link set s2 master c1
	check_eq "slaves of c1" s2 "$(bond_get slaves c1)"
	ip link set c1 up
	wait_for 5000 "c1 up" slave_link_is s2 up
	allow_kmsg 'permanent HWaddr'
}

# in_lists DEV ADDRESS - in its list of multicast addresses?
in_lists() {
	local words

	while read -r -a words; do
		[ "${words[1]} ${words[4]}" != "$1 $2" ] || return 0
	done </proc/net/dev_mcast
	return 1
}

bond_of_bonds_lists() {
	bond_of_bonds
	ip link set c1 down
	ip link set c1 master b0
	wait_for 5000 "c1 active" active_is c1
	ip maddr add 01:00:5e:01:02:03 dev b0
	in_lists b0 01005e010203 || fail "not on b0"
	in_lists c1 01005e010203 || fail "not on c1"
	in_lists s2 01005e010203 || fail "not on s2"
	! in_lists s0 01005e010203 || fail "on s0"
	ip link set c1 nomaster
	! in_lists c1 01005e010203 || fail "still on c1"
	! in_lists s2 01005e010203 || fail "still on s2"
}

# LLDP and its like belong to the link that they came by, also when that is not
# the active one; other frames of an inactive link reach nobody but those who
# listen there.
link_local_on_inactive() {
	local dev

	need tcpdump
	bond_make active-backup 2
	active_is s0 || fail "active: $(bond_get active_slave)"
	for dev in s1 b0; do
		tcpdump -l -n -i "$dev" -Q in ether host 01:80:c2:00:00:0e or \
			ether src "$(<"$PEER_SYS/class/net/p0/address")" or \
			ether src "$(<"$PEER_SYS/class/net/p1/address")" \
			>"$BOND_TMP/$dev" 2>"$BOND_TMP/err" &
		wait_for 5000 "tcpdump ready" grep -q listening "$BOND_TMP/err"
	done
	frames_of_peer 1 -n 5 -d 01:80:c2:00:00:0e
	frames_of_peer 1 -n 5 -d "$(</sys/class/net/b0/address)"
	wait_for 5000 "10 frames seen on s1" lines_are "$BOND_TMP/s1" 10
	lines_are "$BOND_TMP/b0" 0 || fail "b0 has seen frames of s1"
	frames_of_peer 0 -n 5 -d 01:80:c2:00:00:0e
	frames_of_peer 0 -n 5 -d "$(</sys/class/net/b0/address)"
	wait_for 5000 "10 frames seen on b0" lines_are "$BOND_TMP/b0" 10
}

# frames_of_peer INDEX SEND_FRAMES-OPTION...
frames_of_peer() {
	[ -x "$bond_dir/send_frames" ] || skip "run make in $bond_dir first"
	on_peer "$bond_dir/send_frames" -i "p$1" "${@:2}"
}

lines_are() {
	[ "$(wc -l <"$1")" -eq "$2" ]
}

rename_slave() {
	bond_make active-backup 2
	ip link set s0 down
	ip link set s0 name t0
	ip link set t0 up
	wait_for 5000 "t0 up" slave_link_is t0 up
	check_eq "slaves" "t0 s1" "$(bond_get slaves)"
	[ -e /sys/class/net/b0/lower_t0 ] || fail "no link lower_t0"
	grep -qx 'Slave Interface: t0' /proc/net/bonding/b0 || fail "not in proc"
	ip link set t0 nomaster
	check_eq "slaves" "s1" "$(bond_get slaves)"
	allow_kmsg 'permanent HWaddr'
}

rename_primary() {
	bond_make active-backup 2 primary s1
	wait_for 5000 "s1 active" active_is s1
	ip link set s1 down
	ip link set s1 name t1
	ip link set t1 up
	wait_for 5000 "t1 up" slave_link_is t1 up
	# it is primary no more
	check_eq "proc" "None" "$(bond_proc 'Primary Slave')"
	holds_for 500 "s0 active" active_is s0
	# another one becomes it by its name
	ip link set s0 down
	ip link set s0 name s1
	ip link set s1 up
	wait_for 5000 "s1 up" slave_link_is s1 up
	wait_for 5000 "s1 active" active_is s1
}

# A slave that becomes the primary by its name takes over if primary_reselect
# lets it.
rename_primary_reselect() {
	bond_make active-backup 2 primary_reselect failure
	# reads as empty until there is such a slave
	echo t1 >/sys/class/net/b0/bonding/primary
	wait_for 5000 "s0 active" active_is s0
	ip link set s1 down
	ip link set s1 name t1
	ip link set t1 up
	wait_for 5000 "t1 up" slave_link_is t1 up
	check_eq "proc" "t1 (primary_reselect failure)" \
		"$(bond_proc 'Primary Slave')"
	holds_for 500 "s0 active" active_is s0
}

rename_bond() {
	bond_make active-backup 1
	ip link set b0 down
	ip link set b0 name c0
	[ -e /proc/net/bonding/c0 ] || fail "no /proc/net/bonding/c0"
	[ ! -e /proc/net/bonding/b0 ] || fail "/proc/net/bonding/b0 is left"
	check_eq "slaves" s0 "$(bond_get slaves c0)"
	check_eq "master" c0 "$(basename "$(readlink /sys/class/net/s0/master)")"
}

slave_deleted() {
	local mode before

	allow_kmsg 'permanent HWaddr'
	for mode in balance-rr active-backup balance-xor broadcast; do
		bond_make "$mode" 2
		ip link del s0
		check_eq "$mode: slaves" s1 "$(bond_get slaves)"
		before=$(dev_stat s1 tx_packets)
		frames 20
		check_eq "$mode: frames by s1" 20 \
			$(($(dev_stat s1 tx_packets) - before))
		ip link del b0
		ip link del s1
	done
}

slave_moves_to_namespace() {
	local own

	allow_kmsg 'permanent HWaddr'
	veth_make 0 1
	own=$(</sys/class/net/s1/address)
	ip -batch - <<-END
		link add b0 type bond mode balance-rr miimon 100
		link set b0 mtu 1400
		link set s0 master b0
		link set s1 master b0
	END
	[ "$(</sys/class/net/s1/address)" != "$own" ] || fail "same address"
	ip link set s1 netns "$BOND_PEER"
	check_eq "slaves" s0 "$(bond_get slaves)"
	check_eq "address" "$own" "$(<"$PEER_SYS/class/net/s1/address")"
	check_eq "MTU" 1500 "$(<"$PEER_SYS/class/net/s1/mtu")"
	check_eq "flags" 0x1002 "$(<"$PEER_SYS/class/net/s1/flags")"
}

# What a namespace takes along: a bond that is up, slaves, devices on top.
namespace_deleted() {
	local ns=$BOND_NS-gone

	ip netns add "$ns"
	ip -n "$ns" -batch - <<-END
		link add b0 type bond mode active-backup miimon 50
		link add d0 type dummy
		link add d1 type veth peer name e1
		link add c0 type bond
		link add d2 type dummy
		link set d2 master c0
		link set e1 up
		link set d0 master b0
		link set d1 master b0
		link set c0 master b0
		link add link b0 name b0.5 type vlan id 5
		link add link b0 name m0 type macvlan
		link set b0 up
		link set b0.5 up
		link set m0 up
		addr add 192.0.2.1/24 dev b0
	END
	ip netns del "$ns"
	# the devices go in the background; a new one waits for that
	busywait 20000 gone "$ns" || fail "namespace is still there"
}

gone() {
	! ip netns list | grep -qw "$1" && ip link add x0 type dummy &&
		ip link del x0
}

# A tunnel without a remote end has functions for headers, and so have the bonds
# above: who listens on the upper one asks them about what is sent.
gre_bond_of_bonds() {
	modprobe ip_gre 2>/dev/null || skip "no GRE here"
	allow_kmsg 'does not support setting the MAC' 'fail_over_mac to active'
	ip -batch - <<-END
		link add g0 type gre local 192.0.2.1
		link add b1 type bond mode active-backup miimon 100
		link set g0 master b1
		link add b0 type bond mode active-backup miimon 100
		link set b1 master b0
		addr add 10.8.0.1/24 dev b0
		link set b0 up
	END
	wait_for 5000 "b0 with carrier" carrier_is b0 1
	tcpdump -lni b0 >"$BOND_TMP/b0" 2>"$BOND_TMP/err" &
	wait_for 5000 "tcpdump ready" grep -q listening "$BOND_TMP/err"
	python3 - <<-END
		from socket import AF_PACKET, SOCK_DGRAM, socket
		to = ("b0", 0x0800, 0, 0, bytes([192, 0, 2, 9]))
		socket(AF_PACKET, SOCK_DGRAM).sendto(bytes(20), to)
	END
	wait_for 5000 "a frame seen on b0" grep -q . "$BOND_TMP/b0"
}

# gre_pair - tunnels g0 g1 from here to the peer, by s0 and s1, and there
gre_pair() {
	local i

	modprobe ip_gre 2>/dev/null || skip "no GRE here"
	allow_kmsg 'does not support setting the MAC' 'fail_over_mac to active'
	veth_make 0 1
	for i in 0 1; do
		ip -batch - <<-END
			addr add 10.9.$i.1/24 dev s$i
			link set s$i up
			link add g$i type gre local 10.9.$i.1 remote 10.9.$i.2
		END
		ip -n "$BOND_PEER" -batch - <<-END
			addr add 10.9.$i.2/24 dev p$i
			link add g$i type gre local 10.9.$i.2 remote 10.9.$i.1
		END
	done
}

gre_bond() {
	cat <<-END
		link add b0 type bond mode active-backup miimon 100
		link set g0 master b0
		link set g1 master b0
		addr add $1/24 dev b0
		link set b0 up
	END
}

gre_in_active_backup() {
	gre_pair
	gre_bond 192.0.2.1 | ip -batch -
	gre_bond 192.0.2.2 | ip -n "$BOND_PEER" -batch -
	check_eq "type of the bond" 778 "$(</sys/class/net/b0/type)"
	check_eq "fail_over_mac" "active 1" "$(bond_get fail_over_mac)"
	check_eq "address" "$(</sys/class/net/g0/address)" \
		"$(</sys/class/net/b0/address)"
	connected "by g0"
	ip link set b0 type bond active_slave g1
	ip -n "$BOND_PEER" link set b0 type bond active_slave g1
	check_eq "address" "$(</sys/class/net/g1/address)" \
		"$(</sys/class/net/b0/address)"
	connected "by g1"
	ip link set s0 down
	connected "by g1 alone"
}

gre_back_to_ethernet() {
	gre_pair
	gre_bond 192.0.2.1 | ip -batch -
	ip link set g0 nomaster
	ip link set g1 nomaster
	check_eq "type when empty" 778 "$(</sys/class/net/b0/type)"
	check_eq "MTU of g0" 1476 "$(</sys/class/net/g0/mtu)"
	veth_make 2
	ip link set s2 master b0
	check_eq "type" 1 "$(</sys/class/net/b0/type)"
	check_eq "address" "$(</sys/class/net/s2/address)" \
		"$(</sys/class/net/b0/address)"
	check_eq "flags: up, broadcast, multicast, master" 0x1403 \
		"$(</sys/class/net/b0/flags)"
	ip -n "$BOND_PEER" addr add 192.0.2.2/24 dev p2
	connected "by s2"
}

gre_last_slave_deleted() {
	gre_pair
	gre_bond 192.0.2.1 | ip -batch -
	ip link del g0
	[ -e /sys/class/net/b0 ] || fail "the bond has gone too early"
	ip link del g1
	[ ! -e /sys/class/net/b0 ] || fail "the bond is still there"
	[ ! -e /proc/net/bonding/b0 ] || fail "its file is still there"
}

# Devices of a kind go when its module does, whatever is on top of them.
module_of_a_kind_unloaded() {
	ip link add d0 type dummy
	ip link add d1 type dummy
	ip link add b0 type bond mode active-backup miimon 50
	ip -batch - <<-END
		link set d0 master b0
		link set d1 master b0
		link add link b0 name b0.5 type vlan id 5
		link set b0 up
		link set b0.5 up
	END
	rmmod dummy || skip "dummy cannot be unloaded"
	check_eq "slaves" "" "$(bond_get slaves)"
	wait_for 5000 "carrier off" carrier_is b0 0
	allow_kmsg 'permanent HWaddr'
}

bond_run "$@"
