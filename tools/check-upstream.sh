#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run the kernel's own bonding selftests, unmodified, on our module: the engine
# of `make check-upstream`.
#
# Usage: check-upstream.sh [-k KERNEL] [--module M] [--quick] [SCRIPT...]
#   -k KERNEL    6.1 (default), 6.12, 7.3 or all: the kernel that they run on;
#                the scripts are always those of 7.3
#   --module M   ours (default) or intree
#   --quick      leave out those that take minutes
#   --write      with --module intree: write down what came out, in the list
#                that ours is compared with
#   SCRIPT       names of the scripts below (default: all of them)
#
# The scripts come from Debian's linux-source at run time (see
# check-upstream/source.sh) and are never part of this project, nor read.
#
# Every case that the distribution's module passes in the same guest has to be
# passed: check-upstream/expected-KERNEL.txt says which. One that it fails says
# something of the guest or of the kernel's age; it counts as skipped. Cases
# that ask for modes that this build does not have are in later.txt, and counted
# as skipped, too. Closes with "N passed, N failed, N skipped".
# Exit status: 0 if nothing failed and something passed.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/vm/lib.sh"

here=$vm_top/tools/check-upstream
selftests=tools/testing/selftests
# Scripts, below the selftests' directory.
quick=(
	drivers/net/bonding/bond-arp-interval-causes-panic.sh
	drivers/net/bonding/bond-break-lacpdu-tx.sh
	drivers/net/bonding/bond-eth-type-change.sh
	drivers/net/bonding/bond-lladdr-target.sh
	drivers/net/bonding/bond_ipsec_offload.sh
	drivers/net/bonding/bond_lacp_prio.sh
	drivers/net/bonding/bond_stacked_header_parse.sh
	drivers/net/bonding/bond_vlan_real_dev.sh
	drivers/net/bonding/dev_addr_lists.sh
	drivers/net/bonding/mode-1-recovery-updelay.sh
	drivers/net/bonding/mode-2-recovery-updelay.sh
	drivers/net/bonding/netcons_over_bonding.sh
	drivers/net/team/non_ether_header_ops.sh
	net/rtnetlink.sh
	net/vlan_hw_filter.sh
)
slow=(
	drivers/net/bonding/bond_lacp_strict.sh
	drivers/net/bonding/bond_macvlan_ipvlan.sh
	drivers/net/bonding/bond_options.sh
	drivers/net/bonding/bond_passive_lacp.sh
)
# of these only the cases whose name has "bond" in it
bond_only=(net/rtnetlink.sh)
# seconds of this machine's time: three times what a quiet one needs, at least;
# all the quick ones have one guest
quick_limit=2700 slow_limit=5400

kernels=6.1 module=ours tier=all write='' only=()
passed=0 failed=0 skipped=0

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k) kernels=${2:?}; shift ;;
		--module) module=${2:?}; shift ;;
		--quick) tier=quick ;;
		--write) write=y ;;
		-h | --help) vm_usage 0 ;;
		-*) vm_usage 123 ;;
		*) only+=("$1") ;;
		esac
		shift
	done
	[ "$kernels" != all ] || kernels=$VM_KERNELS
	[ -z "$write" ] || [ "$module" = intree ] ||
		vm_die "--write needs --module intree"
}

# build_netdevsim KERNEL SOURCE DIR - the module that Debian leaves out, as
# DIR/netdevsim/netdevsim.ko
build_netdevsim() {
	local rel root

	root=$("$vm_dir/root.sh" --path "$1")
	rel=$("$vm_dir/root.sh" --release "$1")
	cp -r "$2/drivers/net/netdevsim" "$3/"
	vm_as_root "$vm_dir/chroot.sh" "$root" "$3" "$(id -u):$(id -g)" \
		"make -s -C /usr/src/linux-headers-$rel M=/src/netdevsim \
		CONFIG_NETDEVSIM=m modules" >"$3.log" 2>&1 || {
		tail -n 20 "$3.log" >&2
		vm_say "$1: netdevsim does not build; its tests will fail"
	}
}

# stage KERNEL - set dir to what the guest gets as /src
stage() {
	local tests source sum

	tests=$("$here/source.sh" 7.3)
	source=$("$here/source.sh" "$1")
	dir=$vm_build/check-upstream/$1/src
	sum="$tests $source $("$vm_dir/root.sh" --release "$1")"
	if [ "$(cat "$dir.sum" 2>/dev/null || true)" != "$sum" ]; then
		rm -rf "$dir"
		mkdir -p "$dir/$selftests"
		cp -r "$tests/$selftests/." "$dir/$selftests/"
		build_netdevsim "$1" "$source" "$dir"
		echo "$sum" >"$dir.sum"
	fi
	cp "$here/guest.sh" "$dir/"
	if [ "$module" = ours ]; then
		"$vm_dir/build.sh" "$1" modules >"$dir.build.log" 2>&1 ||
			{ tail -n 30 "$dir.build.log" >&2; exit 1; }
		cp "$vm_build/$1/bonding.ko" "$dir/"
	fi
}

# cases_of DIR - "RESULT CASE" of every case that the log in DIR tells of, and
# of the script as a whole
cases_of() {
	local status=none

	[ ! -e "$1/status" ] || status=$(cat "$1/status")
	tr -d '\r' <"$1/log" 2>/dev/null | sed -En \
		-e 's/^TEST: +(.*[^ ]) +\[ *OK *\]$/pass \1/p' \
		-e 's/^TEST: +(.*[^ ]) +\[ *(FAIL) *\]$/fail \1/p' \
		-e 's/^TEST: +(.*[^ ]) +\[ *(SKIP|XFAIL) *\]$/skip \1/p' \
		-e 's/^PASS: (.*[^ ]) *$/pass \1/p' \
		-e 's/^FAIL: (.*[^ ]) *$/fail \1/p' \
		-e 's/^SKIP: (.*[^ ]) *$/skip \1/p' \
		-e 's/^ok [0-9]+ (- )?(.*) # SKIP.*/skip \2/p;t' \
		-e 's/^ok [0-9]+ (- )?(.*)/pass \2/p' \
		-e 's/^not ok [0-9]+ (- )?(.*)/fail \2/p' || true
	case $status in
	0) echo "pass exit status" ;;
	4) echo "skip exit status" ;;
	*) echo "fail exit status" ;;
	esac
}

# expected KERNEL SCRIPT CASE - what the distribution's module made of it
expected() {
	awk -F ' [|] ' -v what="$2: $3" '
		substr($1, 6) == what { print substr($1, 1, 4); exit }' \
		"$here/expected-$1.txt"
}

# all_later SCRIPT - has it nothing that this build could pass?
all_later() {
	grep -qxF "script: $1" "$here/later.txt"
}

# is_later SCRIPT CASE - does it ask for what comes later?
is_later() {
	local pattern

	! all_later "$1" || return 0
	while read -r pattern; do
		[[ ! "$1: $2" =~ ^$pattern$ ]] || return 0
	done < <(sed -n 's/^match: //p' "$here/later.txt")
	return 1
}

# judge KERNEL SCRIPT RESULT CASE - print and count one case
judge() {
	local name base

	name="$1 $(basename "$2" .sh): $4"
	base=$(expected "$1" "$(basename "$2")" "$4")
	if is_later "$(basename "$2")" "$4" && [ "$module" = ours ]; then
		if [ "$3" = pass ] && [ "$4" != "exit status" ]; then
			echo "not ok $name: passes now, take it out of later.txt"
			failed=$((failed + 1))
		else
			echo "ok $name # SKIP needs what comes later"
			skipped=$((skipped + 1))
		fi
	elif [ "$3" = pass ]; then
		echo "ok $name"
		passed=$((passed + 1))
	elif [ "$3" = "$base" ] || { [ "$3" = skip ] && [ "$base" = fail ]; }
	then
		echo "ok $name # SKIP the in-tree module has: $base"
		skipped=$((skipped + 1))
	else
		echo "not ok $name: $3, the in-tree module has: ${base:-nothing}"
		failed=$((failed + 1))
	fi
}

# missing KERNEL SCRIPT FILE - cases that the list has and the run (FILE) lacks
missing() {
	local name

	name=$(basename "$2")
	sed -n "s/^pass $name: \(.*\)/\1/p" "$here/expected-$1.txt" |
		sed 's/ | .*//' | while read -r item; do
		grep -qxF "pass $item" "$3" || grep -qxF "fail $item" "$3" ||
			grep -qxF "skip $item" "$3" ||
			echo "fail $item"
	done
}

# run_guest KERNEL LIMIT SCRIPT... - in one guest; what it leaves is in $out
run_guest() {
	local kernel=$1 limit=$2 items=() script rc=0

	shift 2
	for script in "$@"; do
		[[ " ${bond_only[*]} " != *" $script "* ]] || script+=:bond
		items+=("$script")
	done
	"$vm_dir/run.sh" -k "$kernel" -t "$limit" --icount -m 1536 \
		--module "$module" --src "$dir" -o "$out" \
		-- "./guest.sh ${items[*]}" >"$out/run.log" 2>&1 || rc=$?
	[ "$rc" -ne 0 ] || return 0
	echo "# $kernel: the guest ended with status $rc"
	tail -n 20 "$out/run.log" | sed 's/^/#   /'
}

# tell KERNEL SCRIPT - what came out of a script that has been run
tell() {
	local name result item

	name=$(basename "$2" .sh)
	mkdir -p "$out/$name"
	cases_of "$out/$name" >"$out/$name/cases"
	if [ -n "$write" ]; then
		sed "s/^\(....\) /\1 $name.sh: /" "$out/$name/cases" |
			tee "$out/$name/found"
		write_down "$1" "$out/$name/found"
		return
	fi
	missing "$1" "$2" "$out/$name/cases" >"$out/$name/missing"
	cat "$out/$name/missing" >>"$out/$name/cases"
	while read -r result item; do
		judge "$1" "$2" "$result" "$item"
	done <"$out/$name/cases"
}

# next_of SCRIPT... - set left to what comes after the last that was begun
next_of() {
	left=("$@")
	while [ "${#left[@]}" -gt 0 ] &&
		[ -d "$out/$(basename "${left[0]}" .sh)" ]; do
		left=("${left[@]:1}")
	done
}

# run_scripts KERNEL LIMIT SCRIPT... - one guest for all of them; if one brings
# it down, the rest goes on in another
run_scripts() {
	local kernel=$1 limit=$2 left=() script begin=$SECONDS

	shift 2
	for script in "$@"; do
		if [ "$module" = ours ] && all_later "$(basename "$script")"
		then
			echo "ok $kernel $(basename "$script") # SKIP needs" \
				"what comes later"
			skipped=$((skipped + 1))
		else
			left+=("$script")
			rm -rf "${out:?}/$(basename "$script" .sh)"
		fi
	done
	mkdir -p "$out"
	while [ "${#left[@]}" -gt 0 ]; do
		set -- "${left[@]}"
		run_guest "$kernel" "$limit" "$@"
		next_of "$@"
		# without any it did not boot
		[ "${#left[@]}" -lt $# ] || left=()
		for script in "${@:1:$# - ${#left[@]}}"; do
			tell "$kernel" "$script"
		done
	done
	echo "# $kernel: $((SECONDS - begin)) s"
}

# write_down KERNEL FILE - put what a script gave into the list, in place of what
# it had of it. What an entry says after " | " stays with it.
write_down() {
	local list=$here/expected-$1.txt

	touch "$list"
	awk '
		{ case_of = substr($0, 6); sub(/ [|] .*/, "", case_of)
		  script = case_of; sub(/: .*/, "", script) }
		FNR == NR && /^(pass|fail|skip) / { ran[script] = 1
			new[++n] = substr($0, 1, 4) " " case_of; next }
		FNR == NR { next }
		/^#/ || NF == 0 { print; next }
		!(script in ran) { old[++m] = $0; next }
		/ [|] / { why = $0; sub(/.* [|] /, "", why)
			  because[substr($0, 1, 4) " " case_of] = why }
		END {
			for (i = 1; i <= m; i++)
				print old[i] | "LC_ALL=C sort -k 2"
			for (i = 1; i <= n; i++)
				print new[i] (new[i] in because ? \
					" | " because[new[i]] : "") | \
					"LC_ALL=C sort -k 2"
		}' "$2" "$list" >"$list.new"
	mv "$list.new" "$list"
}

# wanted SCRIPT - was it asked for?
wanted() {
	[ "${#only[@]}" -eq 0 ] ||
		[[ " ${only[*]} " == *" $(basename "$1") "* ]]
}

run_kernel() {
	local script now=() out=$vm_build/check-upstream/$1/$module

	vm_check_kernel "$1"
	"$vm_dir/root.sh" "$1"
	stage "$1"
	for script in "${quick[@]}"; do
		! wanted "$script" || now+=("$script")
	done
	[ "${#now[@]}" -eq 0 ] || run_scripts "$1" "$quick_limit" "${now[@]}"
	[ "$tier" = all ] || return 0
	for script in "${slow[@]}"; do
		! wanted "$script" || run_scripts "$1" "$slow_limit" "$script"
	done
}

main() {
	local kernel dir

	parse "$@"
	for kernel in $kernels; do
		run_kernel "$kernel"
	done
	[ -z "$write" ] || return 0
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# on one line: nothing is read of this file after main, should it change
main "$@"; exit
