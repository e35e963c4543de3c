#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make the guest's root for a kernel, when it is missing or stale: a Debian
# release with that kernel's image, modules, headers and compiler, the test
# tools, and what QEMU boots (the unpacked kernel and a small initramfs).
#
# Usage: root.sh KERNEL            make it if needed (6.1, 6.12 or 7.3)
#        root.sh --rebuild KERNEL  make it anew, with today's packages
#        root.sh --path KERNEL     print the root's directory
#        root.sh --release KERNEL  print the kernel release in it
#        root.sh --lock KERNEL     print the file to hold a shared lock on
#                                  while the root is in use
#
# It lives in ${XDG_CACHE_HOME:-~/.cache}/bonding-vm/KERNEL:
#   root/         the directory that the guest mounts, modules are built in
#   release       the kernel release (uname -r)
#   hz            the kernel's CONFIG_HZ
#   stamp         checksum of the recipe
#   boot/kernel   ELF with a PVH entry, or the bzImage if the kernel has none
#   boot/initrd   busybox and the modules it takes to mount root/ over 9p
#   boot/stamp    checksum of how these two are made
# A new one is made beside it and renamed when whole.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/vm/recipe.sh
. "$vm_dir/recipe.sh"

# root_stamp KERNEL - checksum of what the root is made from
root_stamp() {
	{
		cat "$vm_dir/recipe.sh"
		recipe_packages "$1"
	} | sha256sum | cut -d' ' -f1
}

# boot_stamp - checksum of how the root's boot files are made
boot_stamp() {
	declare -f make_kernel make_initrd unpack_payload |
		sha256sum | cut -d' ' -f1
}

# has_stamp FILE SUM
has_stamp() {
	[ "$(cat "$1" 2>/dev/null || true)" = "$2" ]
}

root_fresh() {
	has_stamp "$vm_cache/$1/stamp" "$(root_stamp "$1")"
}

boot_fresh() {
	has_stamp "$vm_cache/$1/boot/stamp" "$(boot_stamp)"
}

# unpack_payload BZIMAGE - the compressed kernel inside it, unpacked, to stdout.
# Offsets are those of the x86 boot protocol (setup_sects, payload_offset,
# payload_length); the payload ends in four bytes of unpacked length.
unpack_payload() {
	local sects off len unpack

	sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$1")
	off=$(od -An -tu4 -j $((0x248)) -N4 "$1")
	len=$(od -An -tu4 -j $((0x24c)) -N4 "$1")
	off=$(((sects + 1) * 512 + off))
	case $(od -An -tx1 -j "$off" -N4 "$1" | tr -d ' ') in
	fd377a58) unpack=(xz -dc) ;;
	28b52ffd) unpack=(zstd -qdc) ;;
	1f8b*) unpack=(gzip -dc) ;;
	*) return 1 ;;
	esac
	dd if="$1" bs=1M iflag=skip_bytes,count_bytes status=none \
		skip="$off" count="$((len - 4))" | "${unpack[@]}"
}

# make_kernel ROOT RELEASE FILE - what QEMU boots: the ELF kernel saves the
# guest from unpacking itself, but needs the note that gives its PVH entry
make_kernel() {
	local image='' try

	for try in "$1/boot/vmlinuz-$2" "$1/lib/modules/$2/vmlinuz"; do
		[ ! -e "$try" ] || image=$try
	done
	[ -n "$image" ] || vm_die "no kernel image was installed"
	if unpack_payload "$image" >"$3" &&
		readelf -n "$3" 2>/dev/null | grep 'Xen.*0x00000012' >/dev/null
	then
		return
	fi
	cp "$image" "$3"
}

# make_initrd ROOT RELEASE FILE - busybox, plain modules, and their names in
# loading order
make_initrd() {
	local tree=$3.tree mod

	mkdir -p "$tree"/{bin,lib,dev,proc,sys,ro,rw,srcro,new}
	cp "$1/bin/busybox" "$tree/bin/busybox"
	for mod in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe -d "$1" -S "$2" --show-depends "$mod"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$3.list"
	while read -r mod; do
		case $mod in
		*.ko.xz) xz -dc "$mod" ;;
		*.ko.zst) zstd -qdc "$mod" ;;
		*) cat "$mod" ;;
		esac >"$tree/lib/$(basename "${mod%.ko*}").ko"
		basename "${mod%.ko*}" >>"$tree/lib/order"
	done <"$3.list"
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) >"$3"
	rm -rf "$tree" "$3.list"
}

# show_progress PID LOG WHAT - a line now and then until PID ends
show_progress() {
	local start=$SECONDS next=10 last

	while kill -0 "$1" 2>/dev/null; do
		sleep 1
		[ $((SECONDS - start)) -ge "$next" ] || continue
		next=$((next + 10))
		last=$(grep -oE '^(I: .*|Get:[0-9]+|Unpacking [^ ]+|Setting up [^ ]+)' \
			"$2" | tail -n 1 || true)
		vm_say "$3: $((SECONDS - start)) s: $last"
	done
}

# build_boot DIR - make the boot files of the root in DIR
build_boot() {
	local new=${1:?}/boot.new rel

	rel=$(cat "$1/release")
	rm -rf "$new"
	mkdir "$new"
	make_kernel "$1/root" "$rel" "$new/kernel"
	make_initrd "$1/root" "$rel" "$new/initrd"
	boot_stamp >"$new/stamp"
	rm -rf "${1:?}/boot"
	mv "$new" "$1/boot"
}

# clear_away DIRECTORY... - remove them; one whose making was cut short may still
# have /proc, /sys and devices mounted in it
clear_away() {
	local dir mount

	for dir; do
		while read -r mount; do
			vm_as_root umount "$mount"
		done < <(findmnt -rn -o TARGET | grep -F "$dir/" | sort -r)
		vm_as_root rm -rf "$dir"
	done
}

# build_root KERNEL - make it beside the old one, then put it in place
build_root() {
	local new=$vm_cache/$1.new old=$vm_cache/$1.old log=$vm_cache/$1.log
	local start=$SECONDS rc=0 pid rel

	clear_away "$new" "$old"
	mkdir -p "$new"
	vm_say "$1: making the guest's root in $vm_cache/$1 (once; minutes)"
	(recipe_build "$1" "$new/root") >"$log" 2>&1 </dev/null &
	pid=$!
	show_progress "$pid" "$log" "$1"
	wait "$pid" || rc=$?
	if [ "$rc" -ne 0 ]; then
		tail -n 30 "$log" >&2
		vm_die "$1: could not make the root; whole log: $log"
	fi
	rel=$(recipe_release "$new/root")
	echo "$rel" >"$new/release"
	sed -n 's/^CONFIG_HZ=//p' \
		"$new/root/usr/src/linux-headers-$rel/.config" >"$new/hz"
	build_boot "$new"
	root_stamp "$1" >"$new/stamp"
	[ ! -e "$vm_cache/$1" ] || mv "$vm_cache/$1" "$old"
	mv "$new" "$vm_cache/$1"
	clear_away "$old"
	vm_say "$1: $rel ready after $((SECONDS - start)) s"
}

# ensure KERNEL FORCE - with the lock, as two runs may want the same root
ensure() {
	[ -n "$2" ] || ! root_fresh "$1" || ! boot_fresh "$1" || return 0
	"$vm_dir/deps.sh"
	mkdir -p "$vm_cache"
	exec 8>"$vm_cache/$1.lock"
	flock -n 8 || vm_say "$1: waiting for whoever uses the root"
	flock 8
	if [ -n "$2" ] || ! root_fresh "$1"; then
		build_root "$1"
	elif ! boot_fresh "$1"; then
		build_boot "$vm_cache/$1"
	fi
	exec 8>&-
}

main() {
	local action='' force=''

	case ${1-} in
	--kernel-hook) recipe_kernel "$2"; return ;;
	--rebuild) force=y; shift ;;
	--path | --release | --lock) action=$1; shift ;;
	-h | --help) vm_usage 0 ;;
	esac
	[ $# -eq 1 ] || vm_usage
	vm_check_kernel "$1"
	case $action in
	--path) echo "$vm_cache/$1/root" ;;
	--lock) echo "$vm_cache/$1.lock" ;;
	--release) cat "$vm_cache/$1/release" ;;
	*) ensure "$1" "$force" ;;
	esac
}

# on one line: nothing is read of this file after main, should it change
main "$@"; exit
