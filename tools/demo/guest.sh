#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of the demonstration that runs in the guest, as root: a bond over
# three veth pairs whose peers sit in a namespace of their own. Writes
# samples.tsv and marks.gp for the picture to /out.
set -euo pipefail

cd "$(dirname "$0")/../.."
tests=tools/testing/selftests/drivers/net/bonding
frames=$tests/send_frames
out=/out
peer=bond-demo-peer
slaves=(s0 s1 s2)

title() {
	printf '\n=== %s\n' "$*"
}

show() {
	printf '$ %s\n' "$*"
	"$@"
}

cleanup() {
	kill "${sampler:-}" 2>/dev/null || :
	ip link del bond0 2>/dev/null || :
	ip netns del "$peer" 2>/dev/null || :
}
trap cleanup EXIT

received() {
	local i

	for i in 0 1 2; do
		ip netns exec "$peer" \
			cat "/sys/class/net/p$i/statistics/rx_packets"
	done
}

# make_bond MODE [OPTION...]
make_bond() {
	local i

	cleanup
	ip netns add "$peer"
	ip netns exec "$peer" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	ip link add bond0 type bond mode "$@" miimon 100
	for i in 0 1 2; do
		ip link add "s$i" type veth peer name "p$i" netns "$peer"
		ip -n "$peer" link set "p$i" up
		ip link set "s$i" master bond0
	done
	ip link set bond0 up
	for ((i = 0; i < 100; i++)); do
		[ "$(cat /sys/class/net/bond0/carrier)" = 1 ] && return
		read -rt 0.1 <> <(:) || :
	done
	echo "bond0 has no carrier" >&2
	return 1
}

# send_and_count COUNT - frames that each slave's peer received
send_and_count() {
	local before after i

	mapfile -t before < <(received)
	"$frames" -i bond0 -n "$1" -f 64 >/dev/null
	mapfile -t after < <(received)
	for i in 0 1 2; do
		printf '   s%d %6d' "$i" $((after[i] - before[i]))
	done
	printf '\n'
}

mode_traffic() {
	title "3000 frames of 64 flows, mode $*"
	make_bond "$@"
	send_and_count 3000
}

# The peers form a bond, too, and the two agree by LACP.
lacp_traffic() {
	local i

	title "3000 frames of 64 flows, mode 802.3ad $*, a bond at the other end"
	make_bond 802.3ad lacp_rate fast "$@"
	ip -n "$peer" link add peer0 type bond mode 802.3ad miimon 100 \
		lacp_rate fast
	for i in 0 1 2; do
		ip -n "$peer" link set "p$i" down
		ip -n "$peer" link set "p$i" master peer0
	done
	ip -n "$peer" link set peer0 up
	for ((i = 0; i < 100; i++)); do
		[ "$(cat /sys/class/net/s?/bonding_slave/state |
			grep -cx active)" -lt 3 ] || break
		read -rt 0.1 <> <(:) || :
	done
	send_and_count 3000
	echo "   (LACPDUs included)"
}

# since_boot - seconds, as the samples have them
since_boot() {
	cut -d ' ' -f 1 /proc/uptime
}

# mark NAME START - note the moment for the picture
mark() {
	echo "$1 = $(since_boot) - $2" >>"$out/marks.gp"
}

# shares - what each slave carried from cut to back, by the samples that lie
# between them as a whole
shares() {
	sed 's/ = / /; s/ - / /' "$out/marks.gp" | awk '
		FNR == NR { at[$1] = $2 - $3; next }
		begin >= at["cut"] && $1 <= at["back"] {
			for (i = 2; i <= 4; i++)
				sum[i] += $i * ($1 - begin) }
		{ begin = $1 }
		END { t = sum[2] + sum[3] + sum[4]
			if (t)
				printf "   while s1 was down: " \
					"s0 %.1f %%, s1 %.1f %%, s2 %.1f %%\n",
					100 * sum[2] / t, 100 * sum[3] / t,
					100 * sum[4] / t }' - "$out/samples.tsv"
}

failover() {
	local before after sent t0 lost=0 i

	title "A slave's link is cut under traffic, and restored (balance-rr)"
	make_bond balance-rr
	mapfile -t before < <(received)
	t0=$(since_boot)
	: >"$out/marks.gp"
	python3 tools/demo/sample.py "$out/samples.tsv" "$peer" "$t0" &
	sampler=$!
	"$frames" -i bond0 -n 1000000 -r 6000 -T 9000 -f 64 -k \
		>"$out/sent" &
	sent=$!
	sleep 3
	echo "   after 3 s the peer of s1 goes down"
	ip -n "$peer" link set p1 down
	mark cut "$t0"
	sleep 3
	mark back "$t0"
	echo "   after 6 s it comes up again"
	ip -n "$peer" link set p1 up
	wait "$sent" || :
	kill "$sampler"
	wait "$sampler" || :
	sampler=
	mapfile -t after < <(received)
	for i in 0 1 2; do
		printf '   s%d %6d frames\n' "$i" $((after[i] - before[i]))
		lost=$((lost - after[i] + before[i]))
	done
	lost=$((lost + $(awk '{ print $2 }' "$out/sent")))
	echo "   sent: $(cat "$out/sent"); lost on the way: $lost"
	shares
}

# A veth device takes XDP frames when it has a program itself: the peers get one.
xdp() {
	local tool=$tests/xdp_tool before after i

	title "An XDP program on the bond sends back what comes in by s0"
	[ -x "$tool" ] || { echo "   left out: xdp_tool was not built"; return; }
	make_bond balance-xor xmit_hash_policy layer3+4
	for i in 0 1 2; do
		ip netns exec "$peer" "$tool" attach -d "p$i" -p pass >/dev/null
	done
	"$tool" attach -d bond0 -p tx >/dev/null
	show ip link show bond0
	mapfile -t before < <(received)
	ip netns exec "$peer" "$frames" -i p0 -n 3000 -f 64 -c 0 -r 5000 \
		>/dev/null
	mapfile -t after < <(received)
	for i in 0 1 2; do
		printf '   p%d got back %6d\n' "$i" $((after[i] - before[i]))
	done
	show ethtool -S bond0
}

title "Which module"
modprobe bonding max_bonds=0
show modinfo -F filename bonding
show cat /sys/module/bonding/version

mode_traffic balance-rr
mode_traffic active-backup
mode_traffic balance-xor xmit_hash_policy layer3+4
mode_traffic broadcast
lacp_traffic xmit_hash_policy layer3+4
mode_traffic balance-tlb xmit_hash_policy layer3+4
mode_traffic balance-alb

title "What a user sees"
make_bond active-backup primary_reselect always
show ip -d link show bond0
show cat /proc/net/bonding/bond0
printf '$ grep . /sys/class/net/bond0/bonding/...\n'
for f in mode slaves active_slave mii_status miimon primary_reselect; do
	printf '%-18s %s\n' "$f" "$(cat "/sys/class/net/bond0/bonding/$f")"
done
for s in "${slaves[@]}"; do
	printf '%-18s %s\n' "$s" \
		"$(cat "/sys/class/net/$s/bonding_slave/state")"
done

title "The active slave's link is cut (active-backup)"
echo "   active before: $(cat /sys/class/net/bond0/bonding/active_slave)"
ip -n "$peer" link set p0 down
for ((i = 0; i < 100; i++)); do
	[ "$(cat /sys/class/net/bond0/bonding/active_slave)" = s0 ] || break
done
echo "   active after:  $(cat /sys/class/net/bond0/bonding/active_slave)"

failover
xdp
title "Done"
