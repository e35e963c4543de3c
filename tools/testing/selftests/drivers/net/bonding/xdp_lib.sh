# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # bond_lib.sh has set these
#
# What the XDP tests share; to be read after bond_lib.sh. Programs are those of
# xdp_progs.bpf.c, by name.

# The modes of a bond; see has_mode.
# shellcheck disable=SC2034 # scripts read it
xdp_modes=(balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb
	balance-alb)

# xdp COMMAND... - xdp_tool
xdp() {
	[ -x "$bond_dir/xdp_tool" ] ||
		skip "run make in $bond_dir first, with clang, bpftool, libbpf-dev"
	"$bond_dir/xdp_tool" "$@"
}

# has_mode MODE - does this build have it?
has_mode() {
	ip link add bmode type bond mode "$1" miimon 100 2>/dev/null || return 1
	ip link del bmode
}

# peers_xdp COUNT - the first COUNT peers take XDP frames, which a veth device
# does when it has a program itself
peers_xdp() {
	local i

	for ((i = 0; i < $1; i++)); do
		peer_xdp "p$i"
	done
}

# peer_xdp DEV - the same for one device of the peers' namespace
peer_xdp() {
	[ -x "$bond_dir/xdp_tool" ] ||
		skip "run make in $bond_dir first, with clang, bpftool, libbpf-dev"
	on_peer "$bond_dir/xdp_tool" attach -d "$1" -p pass_frags >/dev/null
}

# peer_no_xdp DEV
peer_no_xdp() {
	on_peer "$bond_dir/xdp_tool" detach -d "$1"
}

# xdp_bond MODE COUNT [OPTION...] - bond_make, with peers that take XDP frames
xdp_bond() {
	bond_make "$@"
	peers_xdp "$2"
}

# in_make - a pair in0 (here, up) and pin (the peers' namespace, up): where
# frames come in that are redirected to the bond
in_make() {
	ip link add in0 type veth peer name pin netns "$BOND_PEER"
	ip link set in0 up
	ip -n "$BOND_PEER" link set pin up
	wait_for 5000 "in0 with carrier" carrier_is in0 1
}

# from_peer INDEX COUNT [SEND_FRAMES-OPTION...] - frames to slave sINDEX, at a
# pace that a veth's ring of 256 frames can take
from_peer() {
	local dev=p$1 count=$2

	shift 2
	[ -x "$bond_dir/send_frames" ] || skip "run make in $bond_dir first"
	on_peer "$bond_dir/send_frames" -i "$dev" -n "$count" -c 0 \
		-r 5000 "$@"
}

# hits_are ID COUNT - has the program seen so many frames?
hits_are() {
	local frames bytes

	read -r frames bytes < <(xdp hits -i "$1")
	note "program $1: $frames frames, $bytes bytes"
	[ "$frames" = "$2" ]
}

# got_are COUNT... - have the peers received so many frames since count_start?
got_are() {
	count_read
	[ "${got[*]}" = "$*" ]
}

# wait_got COUNT... - until they have, and then no more
wait_got() {
	busywait 5000 got_are "$@" ||
		fail "frames at the peers: expected '$*', got '${got[*]}'"
	nap 0.1
	got_are "$@" || fail "frames at the peers: expected '$*', got '${got[*]}'"
}

# counter NAME [BOND] - a line of ethtool -S
counter() {
	ethtool -S "${2-b0}" | sed -n "s/^ *$1: //p"
}

# counter_is NAME VALUE [BOND]
counter_is() {
	check_eq "$1" "$2" "$(counter "$1" "${3-b0}")"
}
