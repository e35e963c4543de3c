# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the bonding tests share. A test script is
#
#	#!/bin/bash
#	. "$(dirname "$0")/bond_lib.sh"
#	bond_tests="first second"
#	first() { bond_make balance-rr 2; ... check_eq "frames" 10 "$n"; }
#	second() { ... }
#	bond_run "$@"
#
# and is run as root with the module loaded: no argument for all cases, names
# for some, --list to see them. Exit status: 0, 1 (a case failed), 4 (skipped).
#
# Each case runs in a shell of its own, inside a fresh network namespace (so ip,
# /sys/class/net and /proc/net/bonding show only what the case made: the bond
# b0, its slaves s0 s1 ...), with a second namespace that holds the slaves'
# peers p0 p1 ... A case fails at the first command that fails, when it takes
# longer than its limit, and when the kernel logged something unexpected.
#
# Set by a script:
#   bond_tests     names of its cases, which are functions
#   bond_limit     seconds a case may take (default 60)
#   bond_beyond    cases that ask for more than the in-tree driver does
#   bond_at_end    a function to run last of all
# Read from the environment:
#   BOND_VERBOSE       show the output of cases that pass, too
#   BOND_TIME_FACTOR   multiplies bond_limit
#
# For cases: everything below "for cases".

export LC_ALL=C

bond_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bond_script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
bond_limit=60
bond_tests=
bond_beyond=

# shellcheck source=ktap.sh
. "$bond_dir/ktap.sh"
# shellcheck source=bond_traffic.sh
. "$bond_dir/bond_traffic.sh"

# --- the runner ---

# Kernel lines of any level that are never acceptable, and lines of level
# warning or worse that say something of the machine, not of the driver.
bond_kmsg_bad='BUG:|WARNING:|Oops|Call Trace|RIP:|rcu:.*(stall|detected)'
bond_kmsg_bad+='|suspicious RCU|refcount_t|ref_tracker|unreferenced object'
bond_kmsg_bad+='|unregister_netdevice: waiting|blocked for more than'
bond_kmsg_bad+='|UBSAN|KASAN|general protection|lockdep|DEBUG_LOCKS'
bond_kmsg_noise='^hrtimer: interrupt took|^clocksource: |^perf: interrupt took'
bond_kmsg_noise+='|^sched: RT throttling|^TCP: .*: Driver has suspect GRO'
bond_kmsg_noise+='|callbacks suppressed|^workqueue: .* hogged CPU'
bond_kmsg_noise+='|module verification failed'
bond_kmsg_noise+='|loading out-of-tree module taints'

# kmsg_unexpected MARK ALLOW - print kernel lines after MARK that a test must
# not cause; ALLOW is a file of regular expressions of expected warnings
kmsg_unexpected() {
	dmesg -r | awk -v mark="$1" -v allow="$2" -v bad="$bond_kmsg_bad" \
		-v noise="$bond_kmsg_noise" '
		BEGIN {
			while ((getline re < allow) > 0)
				if (re != "")
					ok = ok (ok == "" ? "" : "|") re
		}
		{
			if (!match($0, /^<[0-9]+>/))
				next
			level = substr($0, 2, RLENGTH - 2) + 0
			text = substr($0, RLENGTH + 1)
			sub(/^\[[^]]*\] /, "", text)
		}
		index(text, mark) { n = 0; next }
		level > 7 { next }
		ok != "" && text ~ ok { next }
		text ~ bad || (level <= 4 && text !~ noise) { line[n++] = text }
		END { for (i = 0; i < n; i++) print line[i] }'
}

# bond_why_not - print why nothing can be tested here
bond_why_not() {
	local tool

	[ "$(id -u)" -eq 0 ] || { echo "needs root"; return; }
	for tool in awk dmesg ip nsenter timeout; do
		command -v "$tool" >/dev/null || { echo "needs $tool"; return; }
	done
	[ -d /sys/module/bonding ] || { echo "module bonding not loaded"; return; }
	[ -w /dev/kmsg ] || echo "needs /dev/kmsg"
}

# bond_in_list WORD LIST
bond_in_list() {
	case " ${2//[$'\n\t']/ } " in *" $1 "*) return 0 ;; esac
	return 1
}

# bond_module_is_ours - is the loaded module one that is not the kernel's own?
bond_module_is_ours() {
	local taint=''

	read -r taint </sys/module/bonding/taint || :
	case $taint in *O*) return 0 ;; esac
	return 1
}

bond_module_note() {
	local where='in tree' version=''

	! bond_module_is_ours || where='out of tree'
	read -r version 2>/dev/null </sys/module/bonding/version || :
	ktap_note "module: $where, version ${version:--}, kernel $(uname -r)"
}

bond_spaces_add() {
	BOND_NS=bond-$$-$RANDOM
	BOND_PEER=$BOND_NS-peer
	BOND_TMP=$(mktemp -d)
	export BOND_NS BOND_PEER BOND_TMP
	printf 'netns add %s\n' "$BOND_NS" "$BOND_PEER" | ip -batch -
}

bond_spaces_del() {
	[ -n "${BOND_TMP-}" ] || return 0
	printf 'netns del %s\n' "$BOND_NS" "$BOND_PEER" |
		ip -force -batch - 2>/dev/null || :
	rm -rf "$BOND_TMP"
	BOND_TMP=
}

bond_runner_exit() {
	[ -z "${bond_child_pid-}" ] || kill "$bond_child_pid" 2>/dev/null || :
	[ -z "${bond_child_pid-}" ] || wait "$bond_child_pid" || :
	bond_spaces_del
	! declare -F bond_at_end >/dev/null || bond_at_end
}

# bond_child_wait NAME - run the case in its namespace; its exit status
bond_child_wait() {
	local limit=$((bond_limit * ${BOND_TIME_FACTOR:-1})) rc=0

	timeout -k 10 "$limit" ip netns exec "$BOND_NS" \
		bash "$bond_script" --in-ns "$1" \
		>"$BOND_TMP/out" 2>&1 </dev/null &
	bond_child_pid=$!
	wait "$bond_child_pid" || rc=$?
	bond_child_pid=
	case $rc in
	0) return 0 ;;
	124 | 137) echo "took longer than $limit s" >"$BOND_TMP/reason" ;;
	esac
	[ -e "$BOND_TMP/skipped" ] && return 4
	return 1
}

# bond_case NAME - run one case and print its result
bond_case() {
	local name=$1 rc=0 mark why='' bad

	bond_spaces_add
	mark="bond_test: $BOND_NS $name"
	echo "$mark" >/dev/kmsg
	bond_child_wait "$name" || rc=$?
	: >>"$BOND_TMP/allow"
	bad=$(kmsg_unexpected "$mark" "$BOND_TMP/allow")
	[ ! -s "$BOND_TMP/reason" ] || why=$(<"$BOND_TMP/reason")
	if [ -n "$bad" ]; then
		[ "$rc" -eq 1 ] || why="kernel log: ${bad%%$'\n'*}"
		head -n 30 <<<"$bad" | sed 's/^/kernel: /' >>"$BOND_TMP/out"
		rc=1
	fi
	if [ -n "${BOND_VERBOSE-}" ] || [ "$rc" -eq 1 ]; then
		sed 's/^/# /' "$BOND_TMP/out"
	fi
	case $rc in
	0) ktap_pass "$name" ;;
	4) ktap_skip "$name" "${why:-no reason given}" ;;
	*) ktap_fail "$name" "${why:-no reason given}" ;;
	esac
	bond_spaces_del
}

# bond_run ARG... - what the script is called for
bond_run() {
	local tests why name

	case ${1-} in
	--in-ns) bond_child "$2" ;;
	--list) xargs -n 1 <<<"$bond_tests"; exit 0 ;;
	esac
	read -r -a tests <<<"${*:-${bond_tests//[$'\n\t']/ }}"
	for name in "${tests[@]}"; do
		bond_in_list "$name" "$bond_tests" && continue
		echo "$bond_script: no case $name" >&2
		exit 2
	done
	why=$(bond_why_not)
	if [ -n "$why" ]; then
		echo "1..0 # SKIP $why"
		exit 4
	fi
	trap bond_runner_exit EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	ktap_begin "${#tests[@]}"
	bond_module_note
	for name in "${tests[@]}"; do
		! bond_in_list "$name" "$bond_beyond" ||
			ktap_note "beyond the in-tree driver: $name"
		bond_case "$name"
	done
	ktap_end
	exit
}

# --- a case's own shell ---

bond_reason() {
	[ -s "$BOND_TMP/reason" ] || printf '%s\n' "$*" >"$BOND_TMP/reason"
	printf '%s\n' "$*" >&2
}

bond_child_err() {
	bond_reason "line $1: $2"
}

# Taking the devices away by name waits until nobody holds them any more, so a
# reference that is never given back ends in the case's time limit.
bond_child_exit() {
	local rc=$? dev

	trap - ERR EXIT
	set +e
	for dev in $(jobs -p); do
		kill "$dev" 2>/dev/null
	done
	wait
	for dev in /sys/class/net/*/bonding; do
		[ ! -d "$dev" ] || basename "${dev%/bonding}"
	done >"$BOND_TMP/bonds"
	for dev in /sys/class/net/*; do
		[ ! -d "$dev" ] || basename "$dev"
	done | grep -vxF -e lo -e bonding_masters -f "$BOND_TMP/bonds" \
		>"$BOND_TMP/others"
	sed 's/^/link del /' "$BOND_TMP/bonds" "$BOND_TMP/others" |
		ip -force -batch - >/dev/null 2>&1
	exit "$rc"
}

# The peers' sysfs, mounted where this shell can read it without a fork.
bond_child_setup() {
	exec {bond_nap_fd}<> <(:)
	PEER_SYS=$BOND_TMP/peer
	mkdir "$PEER_SYS"
	# shellcheck disable=SC2016 # expanded by the inner shell
	nsenter --net="/run/netns/$BOND_PEER" sh -c '
		mount -t sysfs peer "$1"
		for f in all default; do
			f=/proc/sys/net/ipv6/conf/$f/disable_ipv6
			[ ! -e "$f" ] || echo 1 >"$f"
		done' sh "$PEER_SYS"
	ipv6_set 1
}

bond_child() {
	shopt -s inherit_errexit
	set -Eeuo pipefail
	trap 'bond_child_err "$LINENO" "$BASH_COMMAND"' ERR
	trap bond_child_exit EXIT
	bond_child_setup
	"$1"
	exit 0
}

# --- for cases: saying how it went ---

# fail TEXT... - the case has failed
fail() {
	bond_reason "$*"
	exit 1
}

# skip TEXT... - the case cannot be run here
skip() {
	bond_reason "$*"
	: >"$BOND_TMP/skipped"
	exit 4
}

# note TEXT... - for the reader of a failure
note() {
	printf '%s\n' "$*"
}

# check_eq WHAT WANT GOT
check_eq() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# check_range WHAT LOW HIGH GOT - numbers, both ends allowed
check_range() {
	if [ "$4" -lt "$2" ] || [ "$4" -gt "$3" ]; then
		fail "$1: expected $2..$3, got $4"
	fi
}

# must_fail COMMAND... - it has to fail (its output is kept for the reader)
must_fail() {
	if "$@"; then
		fail "should have failed: $*"
	fi
}

# need TOOL... - skip the case when one is missing
need() {
	local tool

	for tool; do
		command -v "$tool" >/dev/null || skip "needs $tool"
	done
}

# allow_kmsg REGEX... - kernel warnings that this case causes on purpose
allow_kmsg() {
	printf '%s\n' "$@" >>"$BOND_TMP/allow"
}

# --- for cases: time ---

# nap SECONDS - sleep without a fork; only for polling and pacing
nap() {
	read -r -t "$1" -u "$bond_nap_fd" || :
}

# now_ms - milliseconds into $now
now_ms() {
	# shellcheck disable=SC2034 # the caller reads it
	now=$((${EPOCHREALTIME/./} / 1000))
}

# busywait LIMIT_MS COMMAND... - try until it succeeds; status 1 if it does not.
# Adds to $bond_late the milliseconds that this machine kept us from trying, for
# those who measure how long it took.
bond_late=0
busywait() {
	local at=${EPOCHREALTIME/./} end was

	end=$((at + $1 * 1000))
	shift
	until "$@"; do
		[ "$at" -lt "$end" ] || return 1
		nap 0.01
		was=$at
		at=${EPOCHREALTIME/./}
		[ $((at - was)) -lt 50000 ] ||
			bond_late=$((bond_late + (at - was) / 1000 - 10))
	done
}

# wait_for LIMIT_MS WHAT COMMAND... - busywait, or the case fails
wait_for() {
	local limit=$1 what=$2

	shift 2
	busywait "$limit" "$@" || fail "not within $limit ms: $what"
}

# holds_for MS WHAT COMMAND... - it has to be true all that time
holds_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000)) what=$2 ok=y

	shift 2
	while :; do
		"$@" || ok=''
		# what is seen after the end does not count
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 0
		[ -n "$ok" ] || fail "did not stay so: $what"
		nap 0.01
	done
}

# --- for cases: making things ---

# veth_make INDEX... - pairs sI (here) and pI (peer's namespace, up); sI is down
veth_make() {
	local i

	for i; do
		echo "link add s$i type veth peer name p$i netns $BOND_PEER"
	done | ip -batch -
	for i; do
		echo "link set p$i up"
	done | ip -n "$BOND_PEER" -batch -
}

# bond_make MODE COUNT [IP-LINK-BOND-OPTION...] - b0, up, with slaves s0 s1 ...
# that are all usable; miimon 100 unless a monitor is asked for
bond_make() {
	local mode=$1 count=$2 i

	shift 2
	case " $* " in
	*" miimon "* | *" arp_interval "*) ;;
	*) set -- miimon 100 "$@" ;;
	esac
	mapfile -t i < <(seq 0 $((count - 1)))
	veth_make "${i[@]}"
	{
		echo "link add b0 type bond mode $mode $*"
		[ "$count" -eq 0 ] || printf 'link set s%d master b0\n' "${i[@]}"
		echo "link set b0 up"
	} | ip -batch -
	for i in "${i[@]}"; do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
}

# peer_down INDEX... / peer_up INDEX... - cut the link of sI, put it back
peer_down() {
	local i

	for i; do
		echo 0x1002 >"$PEER_SYS/class/net/p$i/flags"
	done
}

peer_up() {
	local i

	for i; do
		echo 0x1003 >"$PEER_SYS/class/net/p$i/flags"
	done
}

# on_peer COMMAND... - run it in the peers' namespace
on_peer() {
	ip netns exec "$BOND_PEER" "$@"
}

# ipv6_set 0|1 - disable_ipv6 of this namespace (1 to start with: no stray
# frames), for devices made from now on and those that exist
ipv6_set() {
	local f

	for f in default all; do
		f=/proc/sys/net/ipv6/conf/$f/disable_ipv6
		[ ! -e "$f" ] || echo "$1" >"$f"
	done
}

# bond_set OPTION VALUE [BOND] - by sysfs, and see that it is so
bond_set() {
	local got

	echo "$2" >"/sys/class/net/${3-b0}/bonding/$1"
	got=$(bond_get "$1" "${3-b0}")
	case " $got " in
	*" $2 "*) ;;
	*) fail "$1: set to '$2', reads '$got'" ;;
	esac
}

# --- for cases: reading ---

# bond_get OPTION [BOND] - the sysfs file's text, e.g. "balance-rr 0"
bond_get() {
	echo "$(<"/sys/class/net/${2-b0}/bonding/$1")"
}

# bond_proc KEY [BOND] - value of "KEY: value" in the bond's (not a slave's)
# part of its /proc/net/bonding file
bond_proc() {
	local line

	while IFS= read -r line; do
		case $line in
		"Slave Interface: "*) return 1 ;;
		"$1: "*) echo "${line#"$1: "}"; return ;;
		esac
	done <"/proc/net/bonding/${2-b0}"
	return 1
}

# slave_proc SLAVE KEY [BOND] - the same, in the part of a slave
slave_proc() {
	local line in=

	while IFS= read -r line; do
		case $in$line in
		"Slave Interface: $1") in=+ ;;
		"+Slave Interface: "*) return 1 ;;
		"+$2: "*) echo "${line#"$2: "}"; return ;;
		esac
	done <"/proc/net/bonding/${3-b0}"
	return 1
}

# link_attr DEV NAME - the word after NAME in "ip -d link show DEV"
link_attr() {
	local words i

	read -r -d '' -a words < <(ip -d -o link show dev "$1") || :
	for ((i = 0; i < ${#words[@]} - 1; i++)); do
		if [ "${words[i]}" = "$2" ]; then
			echo "${words[i + 1]}"
			return
		fi
	done
	return 1
}

# slave_get SLAVE FILE - a file of bonding_slave/, e.g. mii_status, state
slave_get() {
	echo "$(<"/sys/class/net/$1/bonding_slave/$2")"
}

# slave_link_is SLAVE WORD - is its mii_status up, going down, down, going back?
slave_link_is() {
	local status

	read -r status <"/sys/class/net/$1/bonding_slave/mii_status" || return 1
	[ "$status" = "$2" ]
}

# active_is SLAVE [BOND] - is it the active slave? (empty: none is)
active_is() {
	local active=

	read -r active <"/sys/class/net/${2-b0}/bonding/active_slave" || :
	[ "$active" = "$1" ]
}

# carrier_is DEV 0|1
carrier_is() {
	local carrier=

	read -r carrier 2>/dev/null <"/sys/class/net/$1/carrier" || :
	[ "${carrier:-0}" = "$2" ]
}

# dev_stat DEV COUNTER - e.g. dev_stat s0 tx_packets
dev_stat() {
	echo "$(<"/sys/class/net/$1/statistics/$2")"
}
