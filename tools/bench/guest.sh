#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Instructions a frame, for the rows of the table, in a guest whose clock counts
# instructions: dummy slaves, 64 flows, ndo_start_xmit.  One line a row:
# NAME MIN-OF-1000-FRAMES.
#
# Usage: guest.sh [SLAVES]
set -euo pipefail

cd "$(dirname "$0")/../.."
slaves=${1:-2}
bench=/proc/bond_bench

modprobe dummy numdummies=0
modprobe bonding max_bonds=0
insmod tools/bench/module/bond_bench.ko

# measure NAME DEVICE HOW KIND [l4hash]
measure() {
	local row

	echo "$2 $3 $4 64 20000 ${5:-}" >"$bench"
	row=$(cat "$bench")
	# shellcheck disable=SC2086 # words wanted
	set -- "$1" $row
	[ "${9}" = 0 ] || echo "# $1: ${9} frames refused"
	awk -v name="$1" -v min="$7" 'BEGIN { printf "%-24s %.1f\n", name, min / 1000 }'
}

# bond MODE [OPTION...]
bond() {
	local i

	ip link del bond0 2>/dev/null || :
	ip link add bond0 type bond mode "$@"
	for ((i = 0; i < slaves; i++)); do
		ip link show "d$i" >/dev/null 2>&1 || ip link add "d$i" type dummy
		ip link set "d$i" down
		ip link set "d$i" master bond0
	done
	ip link set bond0 up
}

ip link add d0 type dummy
ip link set d0 up
measure bare-start_xmit d0 start_xmit udp4
measure bare-queue_xmit d0 queue_xmit udp4
ip link set d0 down
bond active-backup
measure active-backup bond0 start_xmit udp4
bond balance-rr
measure balance-rr bond0 start_xmit udp4
for policy in layer2 vlan+srcmac layer2+3 layer3+4 encap2+3 encap3+4; do
	bond balance-xor xmit_hash_policy $policy
	measure "xor-$policy" bond0 start_xmit udp4
done
measure xor-encap3+4-l4hash bond0 start_xmit udp4 l4hash
bond balance-xor xmit_hash_policy layer3+4
measure xor-layer3+4-udp6 bond0 start_xmit udp6
measure xor-layer3+4-vlan bond0 start_xmit vlan4
bond balance-xor xmit_hash_policy encap3+4
measure xor-encap3+4-udp6 bond0 start_xmit udp6
measure xor-encap3+4-vxlan bond0 start_xmit vxlan4
bond broadcast
measure broadcast bond0 start_xmit udp4
# a dummy has no speed: all slaves weigh the same
bond balance-tlb miimon 0
measure tlb bond0 start_xmit udp4
bond balance-tlb miimon 0 xmit_hash_policy layer3+4
measure tlb-layer3+4 bond0 start_xmit udp4
bond balance-tlb miimon 0 tlb_dynamic_lb 0
measure tlb-static bond0 start_xmit udp4
bond balance-alb miimon 0
measure alb bond0 start_xmit udp4
