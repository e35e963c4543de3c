#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that run nothing of the driver: the engine of `make check-static`.
#
# Usage: run.sh [-k KERNEL] [--self-test] [CHECK...]
#   -k KERNEL    build for this one: 6.1, 6.12, 7.3 or all (default)
#   --self-test  show that every check can fail: plant something for each of
#                them in a copy of the project, and see whether it is found
#   CHECK        names as printed, without the kernel (default: all of them)
#
# Closes with "N passed, N failed, N skipped". Exit status: 0 if none failed.
# Logs of builds are in build/static.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

here=$vm_top/tools/static
logs=$vm_build/static
kernels=$VM_KERNELS only=() self_test=''
passed=0 failed=0 skipped=0
# checks of source.py, and those that need no build
text_checks=(modes versions compat functions files heads python)

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k) kernels=${2:?}; shift ;;
		--self-test) self_test=y ;;
		-h | --help) vm_usage 0 ;;
		-*) vm_usage 123 ;;
		*) only+=("$1") ;;
		esac
		shift
	done
	[ "$kernels" != all ] || kernels=$VM_KERNELS
}

# wanted CHECK - was it asked for?
wanted() {
	[ "${#only[@]}" -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]]
}

# check NAME WHAT COMMAND... - the command prints what is wrong, and fails then;
# or says why there is nothing to find here, and returns 4
check() {
	local name=$1 what=$2 text rc=0

	shift 2
	text=$("$@" 2>&1) || rc=$?
	if [ "$rc" -eq 0 ]; then
		echo "ok $name: $what"
		passed=$((passed + 1))
		return
	fi
	if [ "$rc" -eq 4 ]; then
		echo "ok $name: $what # SKIP $text"
		skipped=$((skipped + 1))
		return
	fi
	echo "not ok $name: $what"
	printf '%s\n' "${text:-exit status $rc}" | awk 'NR <= 100 { print "  # " $0 }'
	failed=$((failed + 1))
}

# list_files - all files of the project, relative to its top
list_files() {
	cd "$vm_top"
	if [ -e .git ] && command -v git >/dev/null; then
		git -c safe.directory='*' ls-files -co --exclude-standard \
			--deduplicate
	else
		find . -path ./build -prune -o -type f -printf '%P\n'
	fi | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done | sort
}

# --- sources ---

source_check() {
	list_files | "$here/source.py" "$1" "$vm_top"
}

check_shell() {
	local files

	mapfile -t files < <(source_check list-scripts)
	[ "${#files[@]}" -ge 5 ] || { echo "found no scripts"; return 1; }
	cd "$vm_top"
	shellcheck -x "${files[@]}"
}

# drop_excepted FILE - read checkpatch's lines, pass on those that no line
# of FILE ("PATH TYPE | REASON") excepts; say which of these were not needed
drop_excepted() {
	awk -v list="$1" '
		BEGIN {
			while ((getline line < list) > 0) {
				if (line ~ /^#/ || line !~ /\| *[^ ]/)
					continue
				split(line, word, /[ \t]+/)
				except[word[1] " " word[2]] = 1
			}
		}
		match($0, /(ERROR|WARNING|CHECK):[A-Z0-9_]+:/) {
			type = substr($0, RSTART, RLENGTH - 1)
			sub(/.*:/, "", type)
			key = substr($0, 1, index($0, ":") - 1) " " type
			if (key in except) {
				used[key] = 1
				next
			}
		}
		{ print }
		END {
			for (key in except)
				if (!(key in used))
					print "exception not needed: " key
		}'
}

check_checkpatch() {
	local source files log=$logs/checkpatch.log

	source=$("$vm_top/tools/check-upstream/source.sh" 6.1)
	mapfile -t files < <(list_files | grep -E '\.[ch]$')
	[ "${#files[@]}" -ge 10 ] || { echo "found no sources"; return 1; }
	cd "$vm_top"
	perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse \
		--show-types --no-summary --max-line-length=80 \
		-f "${files[@]}" >"$log" 2>&1 || true
	drop_excepted "$here/checkpatch.txt" <"$log" >"$log.left"
	cat "$log.left"
	[ ! -s "$log.left" ]
}

# check_unit - no static check, but quick, and it needs no guest either
check_unit() {
	make -s -C "$vm_top/tools/testing/unit" BUILD="$logs/unit" check \
		>"$logs/unit.log" 2>&1 || {
		grep -E '^not ok|error|ERROR' "$logs/unit.log" ||
			tail -n 20 "$logs/unit.log"
		return 1
	}
	grep -q '^ok' "$logs/unit.log"
}

# --- builds ---

# build KERNEL LOG ARG... - from scratch, in a copy of its own
build() {
	local kernel=$1 log=$2

	shift 2
	BONDING_BUILD=$logs "$vm_dir/build.sh" "$kernel" clean >/dev/null 2>&1 ||
		true
	BONDING_BUILD=$logs "$vm_dir/build.sh" "$kernel" "$@" >"$log" 2>&1
}

# complaints LOG WORD - what the compiler or sparse said; fails if it said
# anything, or if fewer than 20 lines show that it has run at all
complaints() {
	local ran

	if grep -E '(warning|error|note):|WARNING|ERROR|\*\*\*' "$1" |
		grep -v 'warning: the compiler differs from'; then
		return 1
	fi
	ran=$(grep -c "^  $2 " "$1" || true)
	[ "$ran" -ge 20 ] || { echo "only $ran files were looked at"; return 1; }
}

check_w1() {
	local log=$logs/w1-$1.log

	build "$1" "$log" W=1 || { tail -n 30 "$log"; return 1; }
	complaints "$log" CC
}

check_sparse() {
	local log=$logs/sparse-$1.log

	# KBUILD_CHECKSRC: Debian's 7.3 headers lack the script that finds
	# sparse to be good enough
	if ! build "$1" "$log" C=2 KBUILD_CHECKSRC=2; then
		if grep -q 'error: got __typeof_unqual__$' "$log"; then
			echo "sparse is too old for the headers of this kernel"
			return 4
		fi
		tail -n 30 "$log"
		return 1
	fi
	complaints "$log" CHECK
}

# check_layers KERNEL - by the objects that the builds before have left
check_layers() {
	[ -e "$logs/$1/bonding.ko" ] ||
		build "$1" "$logs/layers-$1.log" ||
		{ tail -n 30 "$logs/layers-$1.log"; return 1; }
	"$here/layers.py" "$here/layers.txt" "$logs/$1"
}

run_checks() {
	local name kernel

	mkdir -p "$logs"
	for name in "${text_checks[@]}"; do
		wanted "$name" || continue
		check "$name" "$(rule_of "$name")" source_check "$name"
	done
	! wanted includes || check includes "No header of a higher layer." \
		"$here/layers.py" --includes "$here/layers.txt" "$vm_top"
	! wanted shell || check shell "shellcheck is content." check_shell
	! wanted checkpatch ||
		check checkpatch "checkpatch --strict is." check_checkpatch
	! wanted unit || check unit "Unit tests pass." check_unit
	for kernel in $kernels; do
		vm_check_kernel "$kernel"
		! wanted w1 || check "w1-$kernel" \
			"W=1 builds without a warning." check_w1 "$kernel"
		! wanted layers || check "layers-$kernel" \
			"Objects use only what layers.txt allows." \
			check_layers "$kernel"
		! wanted sparse || check "sparse-$kernel" \
			"sparse is content." check_sparse "$kernel"
	done
}

# rule_of CHECK - the sentence that source.py has for it
rule_of() {
	sed -n "/^def check_$1(/{n;s/ *\"\"\"\(.*\)\"\"\"/\1/p}" \
		"$here/source.py"
}

# --- self-test ---

# plant DIR - something for every check to find
plant() {
	cat >>"$1/bond_rr.c" <<-'END'
	#include "bond_core.h"
	int bond_planted_w1(void) { return 0; }
	int bond_planted_sparse(void __user *p);
	int bond_planted_sparse(void __user *p) { return *(int *)p; }
	void bond_planted_layers(struct bonding *bond);
	void bond_planted_layers(struct bonding *bond) { bond_apply(bond); }
	END
	{
		cat <<-'END'
	bool bond_planted_modes(struct bonding *bond);
	bool bond_planted_modes(struct bonding *bond)
	{
		return bond->params.mode == BOND_MODE_XOR;
	}
	#if defined(BOND_HAVE_PLANTED) && LINUX_VERSION_CODE > 1
	#endif
	void bond_planted_long(void);
	void bond_planted_long(void)
	{
		END
		printf '\tbarrier();%.0s\n' {1..70}
		echo '}'
	} >>"$1/bond_link.c"
	sed -i 's/h_dest\[ETH_ALEN - 1\]/h_dest[0]/' "$1/bond_xmit_hash.c"
	printf '/* planted */%.0s\n' {1..700} >>"$1/include/bond_hash.h"
	echo 'int planted;' >"$1/tools/planted.c"
	echo 'def planted(:' >"$1/tools/planted.py"
	# shellcheck disable=SC2016 # is to be planted as it is
	printf '#!/bin/sh\necho $planted\n' >"$1/tools/planted.sh"
}

# What each check has to say of it, as extended regular expressions.
found_by=(
	"modes|bond_link.c:.*BOND_MODE_XOR"
	"versions|bond_link.c:.*LINUX_VERSION"
	"compat|bond_link.c:.*BOND_HAVE_PLANTED"
	"functions|bond_link.c: bond_planted_long\(\) has 7"
	"files|include/bond_hash.h: 7.* lines|include/bond_hash.h: 8.* lines"
	"heads|tools/planted.c: does not start"
	"python|tools/planted.py:1: "
	"includes|bond_rr.c: includes bond_core.h"
	"shell|SC2086"
	"checkpatch|tools/planted.c:1: WARNING:SPDX_LICENSE_TAG"
	"unit|not ok .* hash as documented"
	"w1-6.1|no previous prototype for .bond_planted_w1"
	"sparse-6.1|bond_rr.c:.*address space"
	"layers-6.1|bond_rr \(mode\) uses bond_apply"
)

# section CHECK OUTPUT - the lines that a check has printed when it failed
section() {
	awk -v name="not ok $1:" '
		/^(not )?ok / { on = index($0, name) == 1 }
		on' "$2"
}

run_self_test() {
	local dir out row name pattern

	dir=$(mktemp -d "${TMPDIR:-/tmp}/static.XXXXXX")
	# shellcheck disable=SC2064 # expand now
	trap "rm -rf '$dir'" EXIT
	out=$dir/output
	list_files | tar -C "$vm_top" -c -T - | { mkdir "$dir/tree" &&
		tar -x -C "$dir/tree"; }
	plant "$dir/tree"
	mkdir -p "$logs"
	env -u BONDING_BUILD "$dir/tree/tools/static/run.sh" -k 6.1 \
		>"$out" 2>&1 || true
	cp "$out" "$logs/self-test.log"
	for row in "${found_by[@]}"; do
		name=${row%%|*} pattern=${row#*|}
		if section "$name" "$out" | grep -qE "$pattern"; then
			echo "ok self-test $name finds what was planted"
			passed=$((passed + 1))
		else
			echo "not ok self-test $name: did not say '$pattern'"
			section "$name" "$out" | sed 's/^/  # /'
			failed=$((failed + 1))
		fi
	done
}

parse "$@"
"$vm_dir/deps.sh" python3 perl shellcheck
if [ -n "$self_test" ]; then
	run_self_test
else
	run_checks
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
