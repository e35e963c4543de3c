#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest, as root: upstream's selftests, one after the other, as they
# are. The output of each goes to /out/NAME/log, its exit status to
# /out/NAME/status, the seconds that it took to /out/NAME/seconds.
#
# Usage: guest.sh SCRIPT[:WORD]...
#   SCRIPT  below tools/testing/selftests; the guest's /src holds that tree and
#           netdevsim, see check-upstream.sh
#   WORD    run only the functions kci_test_* that have it in their name
#
# The guest's clock stands still while it works and leaps while it waits for
# this machine (run.sh --icount). So that no leap falls into a test, whatever a
# test executes is brought into memory first, and its output stays there.
set -u

programs=(arping awk basename bash bridge cat chmod cp cut date dirname ethtool
	false find getopt grep head hostname id ip ip6tables iperf3 iptables jq
	kill ln ls mkdir mktemp modprobe mount mv nft nstat pgrep ping ping6
	pkill printf ps python3 readlink rm rmmod sed seq sh sleep socat sort ss
	stat sysctl tail tc tcpdump tee timeout touch tr true umount uname uniq
	unshare wc which xargs)
modules=(8021q bonding bridge dummy ipvlan macvlan veth vxlan vrf sch_ingress
	sch_netem cls_flower cls_matchall act_gact act_mirred esp4 esp6
	esp4_offload esp6_offload xfrm_user netconsole psample macsec ip_gre)

# keep FILE... - into the tmpfs that lies over the guest's root
keep() {
	[ $# -eq 0 ] || chown -h root:root "$@"
}

# libraries_of FILE... - and what they are links to
libraries_of() {
	ldd "$@" 2>/dev/null | grep -o '/[^ ]*' | sed 's/:$//' | sort -u |
		xargs -r readlink -f
}

warm_up() {
	local files name

	mapfile -t files < <(for name in "${programs[@]}"; do
		readlink -f "$(type -P "$name")"
	done | sort -u)
	keep "${files[@]}"
	mapfile -t files < <(libraries_of "${files[@]}" | sort -u)
	keep "${files[@]}"
	mapfile -t files < <(find / /usr/bin /usr/sbin \
		/usr/lib/x86_64-linux-gnu /usr/lib64 -maxdepth 1 -type l
		find /etc /usr/share/iproute2 /usr/lib/iproute2 \
			"/lib/modules/$(uname -r)" -maxdepth 1 -type f \
			2>/dev/null)
	keep "${files[@]}"
	modprobe -a "${modules[@]}" 2>/dev/null
	ip link delete bond0 2>/dev/null
	find /src/tools -type f -print0 | xargs -0 chown root:root
}

# netdevsim is not where modprobe looks; tell it
offer_netdevsim() {
	local module=/src/netdevsim/netdevsim.ko

	[ -e "$module" ] || return 0
	keep "$module"
	echo "install netdevsim /sbin/insmod $module" \
		>/etc/modprobe.d/netdevsim.conf
	echo "remove netdevsim /sbin/rmmod netdevsim" \
		>>/etc/modprobe.d/netdevsim.conf
}

# run SCRIPT WORD
run() {
	local script cases='' out begin=$SECONDS

	script=$(basename "$1")
	out=/out/$(basename "$1" .sh)
	cd "/src/tools/testing/selftests/$(dirname "$1")" || exit
	[ -z "$2" ] ||
		cases=$(grep -oE "^kci_test_[a-z0-9_]*$2[a-z0-9_]*" "$script" |
			sort -u | tr '\n' ' ')
	bash "./$script" ${cases:+-t "$cases"} </dev/null >/run/log 2>&1
	echo $? >/run/status
	dmesg -c >"$out/dmesg"
	echo $((SECONDS - begin)) >"$out/seconds"
	cp /run/log /run/status "$out/"
}

warm_up
offer_netdevsim
for item in "$@"; do
	mkdir -p "/out/$(basename "${item%%:*}" .sh)"
	word=${item#*:}
	[ "$word" != "$item" ] || word=''
	run "${item%%:*}" "$word"
done
