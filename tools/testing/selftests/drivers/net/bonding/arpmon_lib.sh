# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the ARP/NS monitor share: networks behind the slaves, bonds
# that monitor them, probes as they come in, and frames made by hand. Sourced
# after bond_lib.sh.
#
# Bond number N (0 unless said otherwise) is bN with the address 10.0.N.1 and
# fd00:N::1; its target is 10.0.N.2 and fd00:N::2.

# arp_interval; all time limits are multiples of it
iv=$((500 * ${BOND_TIME_FACTOR:-1}))
# what a verdict may be late: scheduling, and the polling of this script
# shellcheck disable=SC2034 # the tests read it
late=$((1500 * ${BOND_TIME_FACTOR:-1}))

# said when a probe goes out before the bond's address is there
arp_kmsg='no route to (arp_ip_target|ns_ip6_target)'

# --- networks ---

# peers_strict - the peers answer for an address only on the device that has it,
# and lose only those that they are told to lose
peers_strict() {
	on_peer sysctl -qw net.ipv4.conf.all.arp_ignore=1 \
		net.ipv4.conf.all.promote_secondaries=1
}

# lan_make INDEX... - a bridge `lan` that connects these slaves' peers
lan_make() {
	local i

	{
		echo "link add lan type bridge mcast_snooping 0"
		echo "link set lan up"
		for i; do
			echo "link set p$i master lan"
		done
	} | ip -n "$BOND_PEER" -batch -
}

# lan_cut INDEX... / lan_join INDEX... - that link leads nowhere now, and back;
# its carrier stays
lan_cut() {
	local i

	for i; do
		ip -n "$BOND_PEER" link set "p$i" nomaster
	done
}

lan_join() {
	local i

	for i; do
		ip -n "$BOND_PEER" link set "p$i" master lan
	done
}

# target_add DEV ADDRESS... / target_del DEV ADDRESS... - who answers, and where
target_add() {
	local dev=$1 addr

	shift
	for addr; do
		echo "addr add $addr dev $dev $(nodad "$addr")"
	done | ip -n "$BOND_PEER" -batch -
}

target_del() {
	local dev=$1 addr

	shift
	for addr; do
		echo "addr del $addr dev $dev"
	done | ip -n "$BOND_PEER" -batch -
}

# nodad ADDRESS - print "nodad" for an IPv6 address
nodad() {
	case $1 in *:*) echo nodad ;; esac
}

# --- bonds ---

ipv6_is_on() {
	local off=1

	read -r off 2>/dev/null \
		</proc/sys/net/ipv6/conf/default/disable_ipv6 || :
	[ "$off" = 0 ]
}

# arp_bond_new NUMBER MODE SLAVE... [-- IP-LINK-BOND-OPTION...] - its slaves are
# there already; it has its address before it comes up, so that even the first
# probe has a source
arp_bond_new() {
	local n=$1 mode=$2 slaves=()

	shift 2
	allow_kmsg "$arp_kmsg"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		slaves+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	{
		echo "link add b$n type bond mode $mode arp_interval $iv $*"
		printf "link set %s master b$n\n" "${slaves[@]}"
		echo "addr add 10.0.$n.1/24 dev b$n"
		if ipv6_is_on; then
			echo "addr add fd00:$n::1/64 dev b$n nodad"
		fi
		echo "link set b$n up"
	} | ip -batch -
}

# arp_bond MODE COUNT [IP-LINK-BOND-OPTION...] - b0 with slaves s0 s1 ... on one
# LAN with the target 10.0.0.2
arp_bond() {
	local mode=$1 count=$2 index

	shift 2
	mapfile -t index < <(seq 0 $((count - 1)))
	veth_make "${index[@]}"
	peers_strict
	lan_make "${index[@]}"
	target_add lan 10.0.0.2/24
	arp_bond_new 0 "$mode" "${index[@]/#/s}" -- "$@"
}

# links_are WORD... - mii_status of s0 s1 ...
links_are() {
	local i=0 word

	for word; do
		slave_link_is "s$i" "$word" || return 1
		i=$((i + 1))
	done
}

# settle - let a few answers come
settle() {
	nap "$((2 * iv / 1000)).$(printf %03d $((2 * iv % 1000)))"
}

failures() {
	slave_get "$1" link_failure_count
}

# --- probes ---

# hear MS DEV... - what comes in on the peers' devices in that time, one frame a
# line (device, milliseconds, digits), into the file $heard
hear() {
	heard=$BOND_TMP/heard
	# shellcheck disable=SC2154 # bond_lib.sh sets it
	[ -x "$bond_dir/arp_wire" ] || skip "run make in $bond_dir first"
	on_peer "$bond_dir/arp_wire" listen "$@" >"$heard"
}

# heard_count REGEX [DEV] - frames among them that match
heard_count() {
	grep -cE "^${2-[a-z0-9.]+} [0-9]+ $1" "$heard" || :
}

# --- frames ---

hex_mac() {
	echo "${1//:/}"
}

hex_ip() {
	# shellcheck disable=SC2086 # split at the dots
	printf '%02x%02x%02x%02x' ${1//./ }
}

# arp DST OP SHA SPA THA TPA [TAGS] - MAC addresses and VLAN tags as digits; the
# sender's MAC address is the frame's, too
arp() {
	echo "$1$3${7-}0806000108000604000$2$3$(hex_ip "$4")$5$(hex_ip "$6")"
}
