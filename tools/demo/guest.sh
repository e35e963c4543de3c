#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of the demonstration that runs in the guest, as root: a bond over
# three veth pairs whose peers sit in a namespace of their own. Writes
# samples.tsv and marks.gp for the picture to /out.
set -euo pipefail

cd "$(dirname "$0")/../.."
frames=tools/testing/selftests/drivers/net/bonding/send_frames
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

failover() {
	local before after sent t0 lost=0 i

	title "A slave's link is cut under traffic, and restored (balance-rr)"
	make_bond balance-rr
	mapfile -t before < <(received)
	python3 tools/demo/sample.py "$out/samples.tsv" "$peer" &
	sampler=$!
	"$frames" -i bond0 -n 1000000 -r 6000 -T 9000 -f 64 -k \
		>"$out/sent" &
	sent=$!
	t0=$(date +%s%N)
	sleep 3
	echo "cut = $((($(date +%s%N) - t0) / 10000000))/100.0" \
		>"$out/marks.gp"
	echo "   after 3 s the peer of s1 goes down"
	ip -n "$peer" link set p1 down
	sleep 3
	echo "back = $((($(date +%s%N) - t0) / 10000000))/100.0" \
		>>"$out/marks.gp"
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
	awk '$1 > 3.5 && $1 < 5.5 { n++; a += $2; b += $3; c += $4 }
	     END { t = a + b + c; printf "   while s1 was down: " \
		"s0 %.1f %%, s1 %.1f %%, s2 %.1f %%\n",
		100 * a / t, 100 * b / t, 100 * c / t }' "$out/samples.tsv"
}

title "Which module"
modprobe bonding max_bonds=0
show modinfo -F filename bonding
show cat /sys/module/bonding/version

mode_traffic balance-rr
mode_traffic active-backup
mode_traffic balance-xor xmit_hash_policy layer3+4
mode_traffic broadcast

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
title "Done"
