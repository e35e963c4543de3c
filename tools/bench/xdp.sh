#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Instructions an XDP frame, in a guest whose clock counts instructions: live
# frames (BPF_PROG_TEST_RUN) answered with XDP_TX by a program on the bond, or
# redirected to the bond by a program on another device, against the same with
# one of the slaves alone. Slaves are veth pairs whose peers drop what comes;
# polls of 64 frames. One line a row: NAME INSTRUCTIONS, everything included,
# the peers' work, too.
#
# Usage: xdp.sh [SLAVES]
set -euo pipefail

cd "$(dirname "$0")/../.."
slaves=${1:-2}
xdp=tools/testing/selftests/drivers/net/bonding/xdp_tool
count=64000

modprobe bonding max_bonds=0

# measure NAME [XDP_TOOL-OPTION...]
measure() {
	local name=$1

	shift
	# once to warm up
	"$xdp" run "$@" -c 6400 -b 64 >/dev/null
	printf '%-28s %s\n' "$name" "$("$xdp" run "$@" -c "$count" -b 64)"
}

# pairs_add COUNT - sI and pI
pairs_add() {
	local i

	for ((i = 0; i < $1; i++)); do
		ip link add "s$i" type veth peer name "p$i"
		ip link set "p$i" up
		"$xdp" attach -d "p$i" -p drop >/dev/null
	done
}

# bond MODE [OPTION...]
bond() {
	local i

	ip link del bond0 2>/dev/null || :
	ip link add bond0 type bond miimon 100 mode "$@"
	for ((i = 0; i < slaves; i++)); do
		ip link set "s$i" down
		ip link set "s$i" master bond0
	done
	ip link set bond0 up
	sleep 0.5
}

# bond_rows NAME - XDP_TX of frames that s0 received, redirection from in0
bond_rows() {
	local id

	measure "redirect $1" -d in0 -p redirect -t bond0
	id=$("$xdp" attach -d bond0 -p tx) || return 0
	measure "tx $1" -d s0 -i "$id"
	"$xdp" detach -d bond0
	id=$("$xdp" attach -d bond0 -p drop)
	measure "drop $1" -d s0 -i "$id"
	"$xdp" detach -d bond0
}

pairs_add "$slaves"
ip link add in0 type veth peer name pin
ip link set in0 up
ip link set pin up
ip link set s0 up
measure "redirect bare" -d in0 -p redirect -t s0
id=$("$xdp" attach -d s0 -p tx)
measure "tx bare" -d s0 -i "$id"
"$xdp" detach -d s0
id=$("$xdp" attach -d s0 -p drop)
measure "drop bare" -d s0 -i "$id"
"$xdp" detach -d s0
bond active-backup
bond_rows active-backup
bond balance-rr
bond_rows balance-rr
for policy in layer2 layer2+3 layer3+4 encap3+4; do
	bond balance-xor xmit_hash_policy $policy
	bond_rows "xor $policy"
done
bond broadcast
bond_rows broadcast
