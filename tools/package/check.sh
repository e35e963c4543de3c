#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Install and remove the module with `make install` and with Debian's dkms: the
# engine of `make check-package`.
#
# Usage: check.sh [-k KERNEL]   6.1 (default), 6.12, 7.3 or all
#
# It is compiled, installed and removed in a copy of the guest's root that is
# thrown away (install.sh), so that the compiler runs natively.  What was in
# /lib/modules after each step is then loaded in a guest (guest.sh).
# Closes with "N passed, N failed, N skipped"; logs are in build/package.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

kernels=6.1 passed=0 failed=0

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k) kernels=${2:?}; shift ;;
		-h | --help) vm_usage 0 ;;
		*) vm_usage 123 ;;
		esac
		shift
	done
	[ "$kernels" != all ] || kernels=$VM_KERNELS
}

# step KERNEL NAME COMMAND... - show and count what it says of its cases; one
# that does not end well fails
step() {
	local kernel=$1 name=$2 line rc=0 bad=0 good=0

	shift 2
	"$@" >"$dir/$name.log" 2>&1 || rc=$?
	while read -r line; do
		case $line in
		"ok "*) good=$((good + 1)); echo "ok $kernel ${line#ok }" ;;
		"not ok "*)
			bad=$((bad + 1))
			echo "not ok $kernel ${line#not ok }" ;;
		"# "*) echo "$line" ;;
		esac
	done <"$dir/$name.log"
	if [ "$bad" -eq 0 ] && { [ "$rc" -ne 0 ] || [ "$good" -eq 0 ]; }; then
		bad=1
		tail -n 20 "$dir/$name.log" | sed 's/^/# /'
		echo "not ok $kernel $name ended with status $rc"
	fi
	passed=$((passed + good)) failed=$((failed + bad))
	[ "$bad" -eq 0 ]
}

# install_in_root KERNEL RELEASE - install.sh in the throw-away root, which gets
# dkms first where it is not part of the root
install_in_root() {
	local src=$dir/src

	# shellcheck disable=SC2154 # vm_top is set in lib.sh
	recipe_sources "$1" >"$src/sources.list"
	cp /etc/resolv.conf "$src/" 2>/dev/null || true
	vm_as_root "$vm_dir/chroot.sh" --scratch \
		"$("$vm_dir/root.sh" --path "$1")" "$src" 0:0 \
		"tools/package/install.sh $2 $(id -u):$(id -g)"
}

run_kernel() {
	local rel

	vm_check_kernel "$1"
	"$vm_dir/root.sh" "$1"
	rel=$("$vm_dir/root.sh" --release "$1")
	dir=$vm_build/package/$1
	rm -rf "$dir"
	mkdir -p "$dir"
	# what the checks have built is built, and make install takes it: it
	# has to be seen at the place where it was built, and that is /src
	"$vm_dir/build.sh" "$1" modules >"$dir/build.log" 2>&1 ||
		{ tail -n 30 "$dir/build.log"; exit 1; }
	cp -a "$vm_build/$1" "$dir/src"
	step "$1" install install_in_root "$1" "$rel" || return 0
	step "$1" guest "$vm_dir/run.sh" -k "$1" -t 900 --src "$dir/src" -- \
		tools/package/guest.sh || true
}

main() {
	local kernel dir

	parse "$@"
	"$vm_dir/deps.sh"
	# shellcheck source=tools/vm/recipe.sh
	. "$vm_dir/recipe.sh"
	for kernel in $kernels; do
		run_kernel "$kernel"
	done
	echo "$passed passed, $failed failed, 0 skipped"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

main "$@"
