#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compare our module with the distribution's: the engine of `make check-diff`.
#
# Usage: run.sh [-k KERNEL] [--self] [--fresh] [TOPIC...]
#   -k KERNEL  6.1 (default), 6.12, 7.3 or all
#   --self     compare the distribution's module with itself, in two runs: there
#              must be no difference, or the comparison is worth nothing
#   --fresh    do not use what earlier runs have shown of the distribution's
#   --again    only compare again what the last run of ours has left
#   TOPIC      see scenario/main.py (default: all)
#
# One scenario (scenario/main.py) runs in a guest under the one module, then in
# another guest under the other. Guests are of the exact kind (run.sh --icount),
# so that time in them does not depend on what else this machine does. What was
# seen is in build/check-diff/KERNEL/{intree-*,ours}, text files that compare.py
# reads; differences that are meant are explained in expected/*.txt.
#
# All topics take about 20 minutes on two cores, half of them for the
# distribution's module. What that one shows depends on the kernel and the
# scenario only, and is kept. Closes with "N passed, N failed, N skipped".
# Exit status: 0 if nothing failed and something passed.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

here=tools/check-diff
tests=tools/testing/selftests/drivers/net/bonding
kernels=6.1 self='' fresh='' again='' topics=()
passed=0 failed=0 skipped=0
# seconds of this machine's time, for all topics of one guest
limit=5400

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k) kernels=${2:?}; shift ;;
		--self) self=y fresh=y ;;
		--fresh) fresh=y ;;
		--again) again=y ;;
		-h | --help) vm_usage 0 ;;
		-*) vm_usage ;;
		*) topics+=("$1") ;;
		esac
		shift
	done
	[ "$kernels" != all ] || kernels=$VM_KERNELS
}

# scenario_sum KERNEL - what the distribution's results depend on
scenario_sum() {
	{
		"$vm_dir/root.sh" --release "$1"
		cat "$vm_cache/$1/stamp" "$vm_top/$here"/scenario/*.py
		cat "$vm_top/$tests"/hash_*.[ch]
		echo "${topics[*]-}"
	} | sha256sum | cut -c1-16
}

# wants TOPIC - is the topic among those to run?
wants() {
	case " ${topics[*]-} " in
	"  " | *" $1 "*) ;;
	*) return 1 ;;
	esac
}

# prepare KERNEL MODULE - bring the copy in build/KERNEL up to date, compile the
# tool that the topic "frames" needs, and the module when it is ours
prepare() {
	local make="cd $tests && gcc -O2 hash_*.c"

	if wants frames; then
		"$vm_dir/build.sh" "$1" --sh \
			"$make -o \"\$OLDPWD/$here/hash_frames\""
	else
		"$vm_dir/build.sh" "$1" --sync
	fi
	[ "$2" != ours ] || "$vm_dir/build.sh" "$1" -s W=1 KCFLAGS=-Werror
}

# show_part KERNEL MODULE DIR PART - one guest's part of the topics. A guest
# that dies leaves a file that compare.py counts as a failure.
show_part() {
	local dir=$3/part.${4%/*} rc=0 command

	mkdir -p "$dir"
	command="echo 3 >/proc/sys/kernel/printk
		modprobe bonding max_bonds=0 || exit
		export CHECK_DIFF_HASH_FRAMES=/src/$here/hash_frames
		python3 -B $here/scenario/main.py --part $4 /out ${topics[*]-}"
	"$vm_dir/run.sh" -k "$1" --icount --module "$2" -t "$limit" \
		-o "$dir" -- "$command" >&2 || rc=$?
	[ "$rc" -eq 0 ] || echo "exit status $rc" >"$3/guest.${4%/*}.failed"
	find "$dir" '(' -name '*.txt' -o -name '*.raw' -o -name '*.failed' ')' \
		-exec mv -t "$3" '{}' +
}

# show KERNEL MODULE DIR - what the module shows, as files in DIR
show() {
	local new=$3.new part parts pids=()

	parts=$(nproc)
	[ "$parts" -le 2 ] || parts=2
	[ "${#topics[@]}" -ne 1 ] || parts=1
	rm -rf "$new" "$3"
	mkdir -p "$new"
	prepare "$1" "$2"
	vm_say "$1: what the $2 module shows"
	for ((part = 1; part <= parts; part++)); do
		show_part "$1" "$2" "$new" "$part/$parts" &
		pids+=($!)
	done
	wait "${pids[@]}"
	mv "$new" "$3"
}

# oracle KERNEL - set dir to what the distribution's module shows, made if it
# is not there yet
oracle() {
	local base=$vm_build/check-diff/$1

	"$vm_dir/root.sh" "$1"
	dir=$base/intree-$(scenario_sum "$1")
	if [ -z "$fresh" ] && [ -d "$dir" ] &&
		[ -z "$(find "$dir" -name '*.failed')" ]
	then
		return
	fi
	[ "${#topics[@]}" -gt 0 ] || rm -rf "$base"/intree-*
	show "$1" intree "$dir"
}

# compare KERNEL LEFT RIGHT [OPTION...]
compare() {
	local args=(--kernel "$1") file

	if [ -z "$self" ]; then
		args+=(--promises)
		for file in "$vm_top/$here"/expected/*.txt; do
			[ ! -e "$file" ] || args+=(--expected "$file")
		done
	fi
	[ "${#topics[@]}" -eq 0 ] || args+=(--partial)
	"$vm_top/$here/compare.py" "${args[@]}" "$2" "$3" |
		tee "$vm_build/check-diff/$1/report" || true
	add_totals "$(tail -n 1 "$vm_build/check-diff/$1/report")"
}

# add_totals LINE - the last line of compare.py
add_totals() {
	if [[ $1 =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]
	then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		skipped=$((skipped + BASH_REMATCH[3]))
	else
		failed=$((failed + 1))
	fi
}

main() {
	local kernel dir second

	parse "$@"
	"$vm_dir/deps.sh" python3
	for kernel in $kernels; do
		vm_check_kernel "$kernel"
		oracle "$kernel"
		second=$vm_build/check-diff/$kernel/ours
		if [ -n "$self" ]; then
			second=$vm_build/check-diff/$kernel/again
			show "$kernel" intree "$second"
		elif [ -z "$again" ]; then
			show "$kernel" ours "$second"
		fi
		echo "# kernel $kernel"
		compare "$kernel" "$dir" "$second"
	done
	echo "# all kernels of this run"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

main "$@"
