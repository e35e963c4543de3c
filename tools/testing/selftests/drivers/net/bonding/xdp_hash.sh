#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A frame leaves by the same slave, whether the stack sends it or XDP redirects
# it to the bond: 10,000 frames of a mixed lot for each transmit hash policy,
# VLAN tags in the frame among them; and it is the slave that the formula names.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=xdp_lib.sh
. "$(dirname "$0")/xdp_lib.sh"
# shellcheck source=lacp_lib.sh
. "$(dirname "$0")/lacp_lib.sh"

bond_limit=250
bond_tests="
	layer2
	layer2_3
	layer3_4
	encap2_3
	encap3_4
	vlan_srcmac
	mode_8023ad
"
bond_beyond="mode_8023ad"

frames=10000

# hash_pairs N MODE - b0 with N slaves whose peers are here, too, and the pair xin
# xout, where frames come in that are redirected
hash_pairs() {
	local i

	{
		echo "link add b0 type bond mode $2 miimon 100"
		for ((i = 0; i < $1; i++)); do
			echo "link add s$i type veth peer name p$i"
			echo "link set p$i up"
			echo "link set s$i master b0"
		done
		echo "link add xin type veth peer name xout"
		echo "link set xin up"
		echo "link set xout up"
		echo "link set b0 up"
	} | ip -batch -
	for ((i = 0; i < $1; i++)); do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
}

# policy POLICY [MODE] - in 802.3ad all ports serve though nobody answers
policy() {
	local tagged mode=${2-balance-xor}

	[ -x "$bond_dir/xdp_hash" ] ||
		skip "run make in $bond_dir first, with clang, bpftool, libbpf-dev"
	hash_pairs 3 "$mode"
	if [ "$mode" = 802.3ad ]; then
		bond_set lacp_fallback all
		wait_for 5000 "s2 serves" slave_is s2 active
	fi
	bond_set xmit_hash_policy "$1"
	xdp attach -d xin -p redirect -t b0
	"$bond_dir/xdp_hash" -i b0 -x xout -P p0,p1,p2 -p "$1" -s 11 \
		-c "$frames" >"$BOND_TMP/said" ||
		fail "astray: $(head -n 20 "$BOND_TMP/said")"
	note "$(<"$BOND_TMP/said")"
	tagged=$(sed -n 's/^10000 frames, \([0-9]*\) tagged$/\1/p' \
		"$BOND_TMP/said")
	check_range "tagged frames" 100 5000 "${tagged:-0}"
}

layer2() { policy layer2; }
layer2_3() { policy layer2+3; }
layer3_4() { policy layer3+4; }
encap2_3() { policy encap2+3; }
encap3_4() { policy encap3+4; }
vlan_srcmac() { policy vlan+srcmac; }
mode_8023ad() { policy layer3+4 802.3ad; }

bond_run "$@"
