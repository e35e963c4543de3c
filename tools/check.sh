#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build everything and run the selftests in guests: the engine of `make check`.
#
# Usage: check.sh [-k KERNEL] [--core|--full] [--module M] [TEST[:CASE]...]
#   -k KERNEL    6.1 (default), 6.12, 7.3 or all
#   --core       only the tests that say most about another kernel
#   --full       all of them (default)
#   --module M   ours (default); intree: the distribution's, which has to fail
#                exactly those cases that ask for more than it does
#   TEST         file names in the tests' directory; TEST:CASE for one case
#
# Says each case as it ends and closes with "N passed, N failed, N skipped".
# Exit status: 0 if something passed and nothing failed.
#
# Two guests at a time, if there are two CPUs, take tests from one list. A test
# that brings its guest down fails, and the rest goes on in another guest.
# Results, logs and the consoles of the guests are in build/check/KERNEL.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/vm/lib.sh"

tests_dir=tools/testing/selftests/drivers/net/bonding
kernels=6.1 list=list module=ours only=()
# seconds: a test, a guest
test_limit=$(sed -n 's/^timeout=//p' "$vm_top/$tests_dir/settings")
guest_limit=3600

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k | --module) [ $# -ge 2 ] || vm_die "$1 needs a value" ;;
		esac
		case $1 in
		-k) kernels=$2; shift ;;
		--core) list=list_core ;;
		--full) list=list ;;
		--module) module=$2; shift ;;
		-h | --help) vm_usage 0 ;;
		-*) vm_usage ;;
		*) only+=("$1") ;;
		esac
		shift
	done
	[ "$kernels" != all ] || kernels=$VM_KERNELS
	case $module in
	ours | intree) ;;
	*) vm_die "--module is ours or intree, not '$module'" ;;
	esac
}

# --- results ---

# report KERNEL TEST CASE pass|fail|skip|beyond [WHY] [DETAILS] - one case has
# ended: say so in one piece, and note it down
report() {
	local line="$1 $2: $3" details=''

	case $4 in
	pass) line="ok $line" ;;
	skip) line="ok $line # SKIP ${5-}" ;;
	beyond) line="ok $line # fails in tree, as it should" ;;
	fail)
		line="not ok $line${5:+ # $5}"
		details=${6-} ;;
	esac
	printf '%s%s\n' "${details:+$details$'\n'}" "$line"
	echo "$4" >>"$vm_build/check/$1/results"
}

count() {
	local kernel

	for kernel in $kernels; do
		cat "$vm_build/check/$kernel/results" 2>/dev/null || true
	done | grep -cx "$1" || true
}

# judge KERNEL TEST CASE pass|fail|skip BEYOND [WHY] [DETAILS] - report, with
# the in-tree module measured by what it can do
judge() {
	local verdict=$4 why=${6-}

	if [ "$module" = intree ] && [ -n "$5" ]; then
		case $verdict in
		fail) verdict=beyond ;;
		pass) verdict=fail why="passes in tree, so it proves nothing" ;;
		esac
	fi
	report "$1" "$2" "$3" "$verdict" "$why" "${7-}"
}

# --- a test's KTAP ---

# The state of the test that a guest is running. Several lines of details may
# come before the line that they belong to.
ktap_reset() {
	ktap_plan='' ktap_seen=0 ktap_bad=0 ktap_skipped='' ktap_details=''
	ktap_beyond=' '
}

# ktap_line KERNEL TEST LINE
ktap_line() {
	local line=$3

	case $line in
	1..0*) ktap_plan=0 ktap_skipped=${line#*SKIP } ;;
	1..[0-9]*) ktap_plan=${line#1..} ;;
	"# beyond the in-tree driver: "*) ktap_beyond+="${line##*: } " ;;
	"ok "* | "not ok "*) ktap_result "$1" "$2" "$line" ;;
	"KTAP version"* | "# Totals:"* | "# module:"*) ;;
	*) ktap_details+=${ktap_details:+$'\n'}"    $line" ;;
	esac
}

ktap_result() {
	local line=$3 verdict=pass beyond='' why='' name

	case $line in
	"not "*) verdict=fail line=${line#not } ;;
	esac
	[ "$verdict" = pass ] || ktap_bad=$((ktap_bad + 1))
	line=${line#ok } line=${line#* }
	name=${line%% # *}
	[ "$name" = "$line" ] || why=${line#* # }
	case $verdict$why in
	passSKIP*) verdict=skip why=${why#SKIP} why=${why# } ;;
	esac
	case $ktap_beyond in
	*" $name "*) beyond=y ;;
	esac
	ktap_seen=$((ktap_seen + 1))
	judge "$1" "$2" "$name" "$verdict" "$beyond" "$why" "$ktap_details"
	ktap_details=''
}

# ktap_end KERNEL TEST STATUS - it has to have kept its plan, and a failure has
# to have been a failed case
ktap_end() {
	local why=''

	if [ "$ktap_plan" = 0 ] && [ "$3" -eq 4 ]; then
		report "$1" "$2" all skip "$ktap_skipped"
		return
	fi
	case $3 in
	0 | 4) ;;
	124 | 137) why="took longer than $test_limit s" ;;
	*) [ "$ktap_bad" -gt 0 ] || why="exit status $3" ;;
	esac
	[ -n "$why" ] || [ "$ktap_seen" = "$ktap_plan" ] ||
		why="planned ${ktap_plan:-nothing}, ran $ktap_seen cases"
	[ -z "$why" ] || report "$1" "$2" all fail "$why" "$ktap_details"
}

# --- guests ---

# In the guest: ask for a test, run it, say how it ended, until there is none.
# The answer to question N is the file /out/job.N.
guest_command() {
	cat <<-EOF
	exec {nap}<> <(:)
	modprobe bonding max_bonds=0 || exit 1
	cd $tests_dir
	for ((n = 1; ; n++)); do
		echo "@want \$n"
		until [ -e /out/job.\$n ]; do
			read -r -t 0.05 -u \$nap || :
		done
		read -r -a job </out/job.\$n || break
		[ \${#job[@]} -gt 0 ] || break
		echo "@begin"
		timeout -k 10 $test_limit ./"\${job[@]}" </dev/null 2>&1
		echo "@end \$?"
	done
	EOF
}

# next_job QUEUE - take the first test from the list, into $job; empty at its
# end
next_job() {
	exec 9>"$1.lock"
	flock 9
	job=$(head -n 1 "$1")
	sed -i 1d "$1"
	exec 9>&-
}

# answer OUT N JOB
answer() {
	echo "$3" >"$1/job.new"
	mv "$1/job.new" "$1/job.$2"
}

# guest KERNEL QUEUE OUT [RUN-OPTION...] - one guest, until the list is empty or
# the guest is gone; its exit status
guest() {
	local kernel=$1 queue=$2 out=$3 line test='' job='' rc=0

	shift 3
	rm -rf "$out"
	mkdir -p "$out"
	exec {from}< <(exec "$vm_dir/run.sh" -k "$kernel" -t "$guest_limit" \
		-o "$out" --module "$module" "$@" -- \
		"$(guest_command)" 2>"$out/run.log")
	guest_pid=$!
	while read -r -t $((test_limit + 120)) -u "$from" line; do
		case $line in
		"@want "*)
			next_job "$queue"
			test=''
			answer "$out" "${line#@want }" "${job/:/ }" ;;
		@begin)
			test=${job%%:*}
			: >"$vm_build/check/$kernel/$test.ktap"
			ktap_reset ;;
		"@end "*)
			ktap_end "$kernel" "$test" "${line#@end }"
			test='' ;;
		*)
			[ -n "$test" ] || continue
			echo "$line" >>"$vm_build/check/$kernel/$test.ktap"
			ktap_line "$kernel" "$test" "$line" ;;
		esac
	done
	kill "$guest_pid" 2>/dev/null || true
	wait "$guest_pid" || rc=$?
	guest_pid=''
	exec {from}<&-
	guest_end "$kernel" "$out" "$test" "$rc"
	return "$rc"
}

# guest_end KERNEL OUT TEST STATUS - what its end says of the test that it was
# in, or, if it was in none, of itself
guest_end() {
	local why

	[ "$4" -ne 0 ] || [ -n "$3" ] || return 0
	case $4 in
	"$VM_EXIT_CRASH") why="the kernel crashed" ;;
	"$VM_EXIT_TIMEOUT") why="the guest's time was up" ;;
	143) why="the guest was silent for too long" ;;
	*) why="the guest ended with status $4" ;;
	esac
	report "$1" "${3:-guest}" all fail "$why" "$(guest_last_words "$2")"
}

guest_last_words() {
	tail -n 60 "$1/run.log" 2>/dev/null | sed 's/^/    /'
	[ ! -e "$1/console.log" ] || echo "    (more in $1/console.log)"
}

# worker KERNEL NUMBER - guests one after another, while there is work. Three
# that never got to ask for a test are enough.
worker() {
	local queue dir=$vm_build/check/$1 n=0 useless=0 opt guest_pid=''

	trap - EXIT
	trap '[ -z "$guest_pid" ] || kill "$guest_pid"; exit 143' TERM
	for queue in tests parallel; do
		opt=()
		[ "$queue" = tests ] || opt=(--multi)
		while [ -s "$dir/$queue" ] && [ "$useless" -lt 3 ]; do
			n=$((n + 1))
			guest "$1" "$dir/$queue" "$dir/guest-$2.$n" \
				"${opt[@]}" || true
			[ -e "$dir/guest-$2.$n/job.1" ] ||
				useless=$((useless + 1))
		done
	done
}

# --- a kernel ---

# build KERNEL - module and tests; a warning is an error
build() {
	local log=$vm_build/check/$1/build.log

	if [ "$module" = ours ]; then
		"$vm_dir/build.sh" "$1" W=1 KCFLAGS=-Werror >"$log" 2>&1 ||
			build_failed "$1" module || return
		! grep -qi 'warning:' "$log" || build_failed "$1" warnings
	fi
	# shellcheck disable=SC2016 # expanded where it is built
	"$vm_dir/build.sh" "$1" --sh \
		'make -C '"$tests_dir"' CFLAGS="-O2 -Wall -Wextra -Werror" \
			all modules KDIR="$KDIR"' >"$log" 2>&1 ||
		build_failed "$1" tests
}

# build_failed KERNEL WHAT - a failure like that of a test
build_failed() {
	local log=$vm_build/check/$1/build.log

	mv "$log" "$log.$2"
	report "$1" build "$2" fail "see $log.$2" \
		"$(tail -n 30 "$log.$2" | sed 's/^/    /')"
	[ "$2" = warnings ]
}

# fill_queues KERNEL - which tests, and in what kind of guest
fill_queues() {
	local dir=$vm_build/check/$1 all parallel test

	all=$(make -s -C "$vm_top/$tests_dir" list)
	parallel=$(make -s -C "$vm_top/$tests_dir" list_parallel)
	[ "${#only[@]}" -gt 0 ] ||
		mapfile -t only < <(make -s -C "$vm_top/$tests_dir" "$list")
	: >"$dir/tests"
	: >"$dir/parallel"
	for test in "${only[@]}"; do
		grep -qxF "${test%%:*}" <<<"$all" ||
			vm_die "no test ${test%%:*} in $tests_dir"
		if grep -qxF "${test%%:*}" <<<"$parallel"; then
			echo "$test" >>"$dir/parallel"
		else
			echo "$test" >>"$dir/tests"
		fi
	done
}

check_kernel() {
	local dir=$vm_build/check/$1 n pids=()

	rm -rf "$dir"
	mkdir -p "$dir"
	: >"$dir/results"
	fill_queues "$1"
	"$vm_dir/root.sh" "$1"
	vm_say "$1: building"
	build "$1" || return 0
	vm_say "$1: testing on $("$vm_dir/root.sh" --release "$1")"
	for ((n = 1; n <= 2 && n <= $(nproc); n++)); do
		worker "$1" "$n" &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		wait "$n" || true
	done
	if [ -s "$dir/tests" ] || [ -s "$dir/parallel" ]; then
		report "$1" "the rest" all fail "no guest could be started"
	fi
}

# shellcheck disable=SC2317 # a trap calls it
cleanup() {
	local pids

	pids=$(jobs -p)
	# shellcheck disable=SC2086 # a list
	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	wait || true
}

main() {
	local kernel passed failed beyond

	parse "$@"
	for kernel in $kernels; do
		vm_check_kernel "$kernel"
	done
	trap cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	"$vm_dir/deps.sh"
	for kernel in $kernels; do
		check_kernel "$kernel"
	done
	passed=$(count pass) failed=$(count fail) beyond=$(count beyond)
	[ "$module" = ours ] ||
		echo "$beyond more are beyond the in-tree driver"
	echo "$passed passed, $failed failed, $(count skip) skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

main "$@"
