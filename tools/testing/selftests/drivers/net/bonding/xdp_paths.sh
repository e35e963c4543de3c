#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# XDP frames on less common ways: in pieces, to several devices, to another CPU,
# by generic programs, through stacked bonds and VLANs, from programs that are
# not the bond's, and to slaves that do not take them.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=xdp_lib.sh
. "$(dirname "$0")/xdp_lib.sh"

bond_limit=150
bond_tests="
	in_pieces
	in_pieces_broadcast
	flood_from_a_slave
	flood_to_the_bond
	to_another_cpu
	generic_in_every_mode
	bond_on_bond
	bond_on_bond_redirect
	vlan_on_bond
	own_program_of_a_slave
	slave_takes_a_part
	slave_takes_nothing
	broadcast_takes_a_part
	xdp_sockets_on_slaves
	xdp_socket_on_the_bond
"
bond_beyond="
	own_program_of_a_slave
	bond_on_bond
	slave_takes_a_part
	broadcast_takes_a_part
"

sum_is() {
	count_read
	[ "$got_sum" = "$1" ]
}

# feature DEV BIT - of NETDEV_XDP_ACT_*, where devices say so
feature() {
	(($(xdp features -d "$1") & $2))
}

# Frames longer than a page. On 6.1 the core redirects none of them.
in_pieces() {
	local sg=64

	xdp_bond active-backup 2
	ip -n "$BOND_PEER" link set p0 mtu 5000
	ip -n "$BOND_PEER" link set p1 mtu 5000
	xdp attach -d b0 -p tx_frags
	ip link set b0 mtu 5000
	bond_set active_slave s0
	count_start
	from_peer 0 20 -s 4800
	wait_got 20 0
	feature b0 "$sg" || return 0
	bond_set active_slave s1
	count_start
	from_peer 0 20 -s 4800
	wait_got 0 20
}

in_pieces_broadcast() {
	local sg=64

	xdp_bond broadcast 3
	feature b0 "$sg" || skip "the core redirects no such frames"
	ip -n "$BOND_PEER" link set p0 mtu 5000
	ip -n "$BOND_PEER" link set p1 mtu 5000
	ip -n "$BOND_PEER" link set p2 mtu 5000
	xdp attach -d b0 -p tx_frags
	ip link set b0 mtu 5000
	count_start
	from_peer 0 20 -s 4800
	wait_got 20 20 20
	counter_is drop_no_memory 0
}

# The bond is above the device that the frame came from: left out, too.
flood_from_a_slave() {
	local before

	xdp_bond balance-rr 2
	in_make
	peer_xdp pin
	before=$(<"$PEER_SYS/class/net/pin/statistics/rx_packets")
	xdp attach -d b0 -p flood -t b0,in0
	count_start
	from_peer 0 40
	wait_for 5000 "40 frames by in0" flow_reached \
		"$PEER_SYS/class/net/pin/statistics/rx_packets" $((before + 40))
	wait_got 0 0
}

flood_to_the_bond() {
	xdp_bond balance-rr 2
	in_make
	xdp attach -d in0 -p flood -t b0,in0
	count_start
	from_peer in 40
	wait_got 20 20
}

to_another_cpu() {
	local before

	xdp_bond balance-rr 2
	xdp attach -d b0 -p to_cpu
	before=$(dev_stat b0 rx_packets)
	from_peer 0 50
	from_peer 1 50
	wait_for 5000 "100 frames received by b0" flow_reached \
		/sys/class/net/b0/statistics/rx_packets $((before + 100))
}

generic_in_every_mode() {
	local mode prog

	for mode in "${xdp_modes[@]}"; do
		has_mode "$mode" || continue
		bond_make "$mode" 2
		prog=$(xdp attach -d b0 -p pass -g)
		[ -z "$(bond_get active_slave)" ] || bond_set active_slave s0
		from_peer 0 30
		wait_for 5000 "30 frames in $mode" hits_at_least "$prog" 30
		prog=$(xdp attach -d b0 -p tx -g)
		count_start
		from_peer 0 30
		wait_for 5000 "30 frames in $mode" hits_at_least "$prog" 30
		busywait 5000 sum_at_least 30 ||
			fail "$mode: sent back: ${got[*]}"
		printf 'link del %s\n' b0 s0 s1 | ip -batch -
	done
}

hits_at_least() {
	local frames bytes

	read -r frames bytes < <(xdp hits -i "$1")
	note "program $1: $frames frames, $bytes bytes"
	[ "$frames" -ge "$2" ]
}

sum_at_least() {
	count_read
	[ "$got_sum" -ge "$1" ]
}

# stacked - b1, round robin over b0 (s0, s1 behind it) and b2 (s2 behind it)
stacked() {
	allow_kmsg 'permanent HWaddr'
	xdp_bond balance-rr 2
	veth_make 2
	peers_xdp 3
	ip link set b0 down
	ip -batch - <<-COMMANDS
		link add b2 type bond mode active-backup miimon 100
		link set s2 master b2
		link add b1 type bond mode balance-rr miimon 100
		link set b0 master b1
		link set b2 master b1
		link set b1 up
	COMMANDS
	wait_for 10000 "b0 up" slave_link_is b0 up
	wait_for 10000 "b2 up" slave_link_is b2 up
}

# The upper bond has its say first, then the one below it.
bond_on_bond() {
	stacked
	xdp attach -d b1 -p tx
	count_start
	from_peer 0 400
	wait_got 100 100 200
	from_peer 2 400
	wait_got 200 200 400
}

bond_on_bond_redirect() {
	stacked
	in_make
	xdp attach -d in0 -p redirect -t b1
	count_start
	from_peer in 400
	wait_got 100 100 200
}

# A program on the bond sees the tags; one on the VLAN device (a generic one)
# what is behind them.
vlan_on_bond() {
	local native generic before

	xdp_bond balance-rr 1
	ip link add link b0 name v5 type vlan id 5
	ip link set v5 up
	ip -n "$BOND_PEER" link add link p0 name pv5 type vlan id 5
	ip -n "$BOND_PEER" link set pv5 up
	native=$(xdp attach -d b0 -p pass)
	generic=$(xdp attach -d v5 -p pass -g)
	on_peer "$bond_dir/send_frames" -i pv5 -n 25 \
		-d "$(</sys/class/net/b0/address)"
	wait_for 5000 "25 frames on b0" hits_are "$native" 25
	wait_for 5000 "25 frames on v5" hits_are "$generic" 25
	# below a device that has a program, none can be changed
	must_fail xdp attach -d b0 -p tx
	xdp detach -d v5 -g
	before=$(dev_stat v5 rx_packets)
	xdp attach -d b0 -p tx
	count_start
	on_peer "$bond_dir/send_frames" -i pv5 -n 25
	wait_got 25
	check_eq "frames on v5" "$before" "$(dev_stat v5 rx_packets)"
}

# A program that a user gave the slave itself means that slave, also when some
# other bond has a program.
own_program_of_a_slave() {
	xdp_bond balance-rr 2
	ip link add b1 type bond mode active-backup miimon 100
	xdp attach -d b1 -p pass
	xdp attach -d s0 -p tx
	count_start
	from_peer 0 40
	wait_got 40 0
}

# s1's peer takes no frame longer than 500 bytes.
slave_takes_a_part() {
	xdp_bond balance-rr 2
	in_make
	ip -n "$BOND_PEER" link set p1 mtu 500
	count_start
	xdp run -d in0 -p redirect -t b0 -c 640 -s 1000
	wait_got 320 0
	counter_is s0_xdp_redirect 320
	counter_is s1_xdp_redirect 0
	counter_is s1_xdp_drop 320
	xdp run -d in0 -p redirect -t b0 -c 640 -s 400
	wait_got 640 320
	counter_is s1_xdp_redirect 320
	counter_is s1_xdp_drop 320
	counter_is s1_xdp_error 0
}

broadcast_takes_a_part() {
	xdp_bond broadcast 3
	in_make
	count_start
	ip -n "$BOND_PEER" link set p2 mtu 500
	xdp run -d in0 -p redirect -t b0 -c 64 -s 1000
	wait_got 64 64 0
	counter_is s2_xdp_drop 64
	ip -n "$BOND_PEER" link set p2 mtu 1500
	ip -n "$BOND_PEER" link set p0 mtu 500
	xdp run -d in0 -p redirect -t b0 -c 64 -s 1000
	wait_got 64 128 64
	counter_is s0_xdp_drop 64
}

# A peer that does not poll makes its slave refuse all frames. Newer kernels
# know that beforehand, and redirect nothing to the bond.
slave_takes_nothing() {
	xdp_bond balance-rr 2
	in_make
	peer_no_xdp p1
	count_start
	xdp run -d in0 -p redirect -t b0 -c 64
	if feature s0 1; then
		wait_got 0 0
		return
	fi
	wait_got 32 0
	counter_is s1_xdp_drop 32
	check_range "errors" 1 32 "$(counter s1_xdp_error)"
}

# sockets OPTION... - run xdp_sock; what it says is read from $said. The shell
# closes its own end as soon as it sees that a coprocess has ended.
sockets() {
	[ -x "$bond_dir/xdp_sock" ] ||
		skip "run make in $bond_dir first, with clang, bpftool, libbpf-dev"
	coproc SOCK { read -r _ && exec "$bond_dir/xdp_sock" "$@"; }
	exec {said}<&"${SOCK[0]}"
	echo go >&"${SOCK[1]}"
}

# The core hands a frame to a socket that is bound to the device and queue it
# came from: sockets on the slaves, the program on the bond.
xdp_sockets_on_slaves() {
	xdp_bond balance-rr 2
	sockets -d b0 -s s0,s1
	read -r -t 20 -u "$said" line || fail "no answer"
	check_eq "answer" ready "$line"
	from_peer 0 10
	from_peer 1 20
	read -r -t 20 -u "$said" line || fail "not all frames"
	check_eq "received by the sockets" "10 20" "$line"
}

# By a generic program, frames come by the bond.
xdp_socket_on_the_bond() {
	xdp_bond balance-rr 2
	sockets -g -d b0 -s b0
	read -r -t 20 -u "$said" line || fail "no answer"
	check_eq "answer" ready "$line"
	from_peer 0 10
	from_peer 1 20
	read -r -t 20 -u "$said" line || fail "not all frames"
	check_eq "received by the socket" 30 "$line"
}

bond_run "$@"
