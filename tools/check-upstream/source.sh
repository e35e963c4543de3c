#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Get those parts of a kernel's source that the checks run or build, and
# nothing else: upstream's selftests of bonding and what they call, netdevsim
# (which Debian does not build), and checkpatch.pl.
#
# Usage: source.sh KERNEL    prints the directory they are in
#
# They come out of Debian's linux-source package of the version that the
# guest's root has, from the apt sources that the root was made from, and are
# kept in ${XDG_CACHE_HOME:-~/.cache}/bonding-vm/source-KERNEL-VERSION.
# Nothing of them may ever be committed.
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"
# shellcheck source=tools/vm/recipe.sh
. "$vm_dir/recipe.sh"

# What is taken, as patterns of tar(1) below the top directory.
parts=(
	scripts/checkpatch.pl scripts/spelling.txt
	scripts/const_structs.checkpatch
	drivers/net/netdevsim
	tools/testing/selftests/drivers/net/bonding
	tools/testing/selftests/drivers/net/lib
	tools/testing/selftests/drivers/net/netdevsim
	tools/testing/selftests/drivers/net/team
	tools/testing/selftests/kselftest
	tools/testing/selftests/net/lib
	tools/testing/selftests/net/lib.sh
	tools/testing/selftests/net/forwarding
	tools/testing/selftests/net/rtnetlink.sh
	tools/testing/selftests/net/vlan_hw_filter.sh
)

# kernel_version KERNEL - the version of the kernel's packages in its root
kernel_version() {
	local rel

	rel=$("$vm_dir/root.sh" --release "$1")
	# shellcheck disable=SC2016 # a format of dpkg-query
	dpkg-query --admindir="$("$vm_dir/root.sh" --path "$1")/var/lib/dpkg" \
		-W -f '${Version}' "linux-headers-$rel"
}

# download KERNEL VERSION DIR - leave the package as DIR/*.deb, of that version
# if the archive still has it, else the newest
download() {
	local name=linux-source-$1 apt

	recipe_sources "$1" >"$3/sources.list"
	mkdir -p "$3/lists/partial" "$3/cache/archives/partial"
	apt=(apt-get -q -o "Dir::Etc::SourceList=$3/sources.list"
		-o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$3/lists" -o "Dir::Cache=$3/cache"
		-o APT::Architecture=amd64 -o Acquire::Languages=none
		-o APT::Sandbox::User=root)
	cd "$3"
	"${apt[@]}" update || return
	"${apt[@]}" download "$name=$2" ||
		"${apt[@]}" download "$name/$(recipe_suite "$1")-backports" ||
		"${apt[@]}" download "$name"
}

# unpack DEB DIR - the parts that we want, in DIR
unpack() {
	local wanted=() part

	for part in "${parts[@]}"; do
		wanted+=("*/$part" "*/$part/*")
	done
	# parts that this kernel does not have yet are no error
	dpkg-deb --fsys-tarfile "$1" |
		tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
		xz -dc -T0 |
		tar -x -C "$2" --strip-components=1 --wildcards \
			--no-wildcards-match-slash "${wanted[@]}" \
			2>"$2.log" || true
	[ -e "$2/scripts/checkpatch.pl" ]
}

main() {
	local version target tmp old

	[ $# -eq 1 ] || vm_usage 123
	vm_check_kernel "$1"
	"$vm_dir/root.sh" "$1"
	version=$(kernel_version "$1")
	target=$vm_cache/source-$1-$version
	exec 7>"$vm_cache/source-$1.lock"
	flock 7
	if [ "$(cat "$target/.parts" 2>/dev/null)" != "${parts[*]}" ]; then
		vm_say "$1: getting linux-source $version (once; 150 MB)"
		tmp=$(mktemp -d "$vm_cache/source.XXXXXX")
		# shellcheck disable=SC2064 # expand now
		trap "rm -rf '$tmp'" EXIT
		mkdir "$tmp/tree"
		if ! (download "$1" "$version" "$tmp") >"$tmp/log" 2>&1; then
			tail -n 20 "$tmp/log" >&2
			vm_die "could not download linux-source-$1"
		fi
		unpack "$tmp"/*.deb "$tmp/tree" ||
			vm_die "linux-source-$1 is not as expected"
		echo "${parts[*]}" >"$tmp/tree/.parts"
		chmod -R go+rX "$tmp/tree"
		for old in "$vm_cache/source-$1"-*; do
			rm -rf "$old"
		done
		mv "$tmp/tree" "$target"
	fi
	echo "$target"
}

main "$@"
