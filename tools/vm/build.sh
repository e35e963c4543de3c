#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build the module, and whatever else the project has, for one of the kernels:
# in that kernel's guest root (see root.sh), in a copy of the sources of its own
# in build/KERNEL, so that kernels do not disturb each other. Only files that
# differ are copied, so make does only what is needed.
#
# Usage: build.sh KERNEL [--flavour rt|cloud] [MAKE-ARG...]
#            make KDIR=... MAKE-ARG... in the copy, for example W=1 C=2
#        build.sh KERNEL [--flavour rt|cloud] --sh 'COMMAND'
#            any bash command in the copy; $KDIR and $KREL are set
#        build.sh KERNEL --sync
#            only bring the copy up to date
#   --flavour  build against that flavour's headers instead, in a copy of its
#              own, build/KERNEL-FLAVOUR
#
# The copy belongs to the user who calls. Exit status: the command's.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# list_sources - what the copy has to hold, relative to the top. Ignored files
# and build products stay out of it.
list_sources() {
	local products=('*.[aos]' '*.ko' '*.mod' '*.mod.c' '.*.cmd'
		Module.symvers modules.order generated .tmp_versions)
	local args=() product

	if [ -e "$vm_top/.git" ] && command -v git >/dev/null; then
		for product in "${products[@]}"; do
			args+=(-x "$product")
		done
		git -C "$vm_top" -c safe.directory='*' ls-files -co \
			--exclude-standard --deduplicate -x /build "${args[@]}"
	else
		for product in "${products[@]}"; do
			args+=(-o -name "$product")
		done
		(cd "$vm_top" &&
			find . \( -path ./build -o -path ./.git "${args[@]}" \) \
				-prune -o ! -type d -printf '%P\n')
	fi | sort
}

# sync_copy DIR - bring the copy up to date. A file that differs is unlinked
# and made anew: who has the old one open (a guest's shell) keeps it; and it
# gets today's date, so that make cannot take an object for newer.
sync_copy() {
	local dir=$1 list=$1.files file

	mkdir -p "$dir"
	list_sources >"$list.new"
	while read -r file; do
		if [ ! -e "$vm_top/$file" ]; then
			rm -f "$dir/$file"
		elif ! cmp -s "$vm_top/$file" "$dir/$file" ||
			{ [ -x "$vm_top/$file" ] && [ ! -x "$dir/$file" ]; }
		then
			mkdir -p "$dir/$(dirname "$file")"
			cp -P --remove-destination --preserve=mode \
				"$vm_top/$file" "$dir/$file"
		fi
	done <"$list.new"
	if [ -e "$list" ]; then
		comm -23 "$list" "$list.new" | while read -r file; do
			rm -f "$dir/$file"
		done
	fi
	mv "$list.new" "$list"
}

# quote ARG... - as one line that a shell reads back as these words
quote() {
	printf '%q ' "$@"
}

main() {
	local flavour='' root rel dir command

	case ${1-} in
	-h | --help) vm_usage 0 ;;
	'') vm_usage ;;
	esac
	vm_check_kernel "$1"
	kernel=$1
	shift
	if [ "${1-}" = --flavour ]; then
		flavour=${2:?} dir=$vm_build/$kernel-$flavour
		shift 2
	else
		dir=$vm_build/$kernel
	fi

	mkdir -p "$vm_build"
	exec 7>"$dir.lock"
	flock 7
	sync_copy "$dir"
	[ "${1-}" != --sync ] || return 0

	"$vm_dir/root.sh" "$kernel"
	exec 8>"$("$vm_dir/root.sh" --lock "$kernel")"
	flock -s 8
	root=$("$vm_dir/root.sh" --path "$kernel")
	rel=$("$vm_dir/root.sh" --release "$kernel")
	[ -z "$flavour" ] || rel=${rel%-amd64}-$flavour-amd64
	if [ "${1-}" = --sh ]; then
		command=${2:?}
	else
		command="make -j$(nproc) KDIR=\$KDIR $(quote "$@")"
	fi
	vm_as_root "$vm_dir/chroot.sh" "$root" "$dir" "$(id -u):$(id -g)" \
		"export KREL=$rel KDIR=/usr/src/linux-headers-$rel; $command"
}

# on one line: nothing is read of this file after main, should it change
main "$@"; exit
