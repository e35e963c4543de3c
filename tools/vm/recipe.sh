# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What is in a guest's root, and how it is made. Sourced by root.sh only, which
# takes a checksum of this file: any change here makes every root anew, so keep
# what does not belong to a root's contents out of it.

# recipe_suite KERNEL - the Debian release that the guest's root is made of
recipe_suite() {
	case $1 in
	6.1) echo bookworm ;;
	*) echo trixie ;;
	esac
}

# recipe_sources KERNEL - apt sources of that root
recipe_sources() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	local suite main sec

	suite=$(recipe_suite "$1")
	main="deb [signed-by=$key] $(vm_apt_uri debian)"
	sec="deb [signed-by=$key] $(vm_apt_uri debian-security)"
	printf '%s main\n' "$main $suite" "$main $suite-updates" \
		"$main $suite-backports" "$sec $suite-security"
}

# recipe_packages KERNEL - packages besides the kernel image itself
recipe_packages() {
	local bpo

	bpo=$(recipe_suite "$1")-backports
	# to build: the module, test modules, C tests, XDP programs
	printf '%s\n' gcc make libc6-dev libmnl-dev sparse pahole clang llvm \
		libelf-dev zlib1g-dev xz-utils
	# to run and to test
	printf '%s\n' busybox-static ethtool iputils-arping iputils-ping \
		iperf3 jq kmod libcap2-bin libteam-utils netsniff-ng nftables \
		openvswitch-switch procps python3 python3-scapy socat strace \
		tcpdump xdp-tools
	case $1 in
	6.1)
		printf '%s\n' linux-headers-amd64 bpftool dkms ifenslave "iproute2/$bpo" \
			"libbpf-dev/$bpo" "libbpf1/$bpo" ;;
	6.12)
		printf '%s\n' linux-headers-amd64 bpftool iproute2 \
			libbpf-dev ;;
	7.3)
		printf '%s\n' "linux-headers-amd64/$bpo" "bpftool/$bpo" \
			iproute2 libbpf-dev ;;
	esac
}

# recipe_release ROOT - the plain flavour's kernel release
recipe_release() {
	local dir

	for dir in "$1"/usr/src/linux-headers-*-amd64; do
		case $dir in
		*-rt-amd64 | *-cloud-amd64) ;;
		*) echo "${dir##*/linux-headers-}" ;;
		esac
	done
}

# recipe_unpack ROOT PACKAGE... - unpack those packages that exist and are not
# installed: installing them would bring an initramfs that nobody boots, and
# with some headers two more kernels
recipe_unpack() {
	local root=$1 tmp pkg

	shift
	tmp=$(mktemp -d "$root/tmp/unpack.XXXXXX")
	for pkg; do
		if apt-cache show "$pkg" >/dev/null 2>&1 &&
			! chroot "$root" dpkg -s "$pkg" >/dev/null 2>&1; then
			(cd "$tmp" && apt-get -q download "$pkg")
		fi
	done
	for pkg in "$tmp"/*.deb; do
		dpkg-deb --fsys-tarfile "$pkg" |
			tar -x -C "$root" --keep-directory-symlink \
				--exclude './usr/share/*'
	done
	rm -rf "$tmp"
}

# recipe_kernel ROOT - runs as mmdebstrap's hook, with its apt configuration:
# the image, and the headers of the other flavours. Modules for hardware that
# no guest has, and no test touches, go: that is most of them.
recipe_kernel() {
	local root=$1 rel dir drop base

	rel=$(recipe_release "$root")
	base=${rel%-amd64}
	export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
	recipe_unpack "$root" linux-{image,binary,modules}-"$rel" \
		linux-headers-"$base"-{rt-amd64,cloud-amd64,common-rt} \
		linux-base-"$base"-{rt,cloud}-amd64
	dir=$root/lib/modules/$rel
	for drop in sound drivers/accel drivers/ata drivers/bluetooth \
		drivers/gpu drivers/hid drivers/hwmon drivers/iio drivers/input \
		drivers/isdn drivers/leds drivers/media drivers/message \
		drivers/mmc drivers/mtd drivers/net/can drivers/net/usb \
		drivers/net/wireless drivers/nfc drivers/nvme drivers/parport \
		drivers/pcmcia drivers/platform drivers/power drivers/scsi \
		drivers/soundwire drivers/staging drivers/thunderbolt \
		drivers/usb drivers/video fs/btrfs fs/ceph fs/gfs2 fs/ocfs2 \
		fs/smb fs/xfs net/bluetooth net/wireless net/mac80211; do
		rm -rf "$dir/kernel/$drop"
	done
	mkdir -p "$dir/updates" "$root/src" "$root/out"
	chroot "$root" depmod "$rel"
}

# recipe_build KERNEL ROOT - make the root in the directory ROOT, which must not
# exist yet. Chatty. Called by root.sh as root.
recipe_build() {
	local drop=()
	local list path hook

	for path in doc man locale info lintian bug; do
		drop+=("--dpkgopt=path-exclude=/usr/share/$path/*")
	done
	list=$(recipe_packages "$1" | tr -s '\n\t ' , | sed 's/,$//')
	# shellcheck disable=SC2154 # vm_dir is set in lib.sh
	hook="bash $(printf %q "$vm_dir/root.sh") --kernel-hook \"\$1\""
	# INITRD: where the headers depend on the image, make no initramfs
	recipe_sources "$1" |
		vm_as_root env INITRD=No mmdebstrap --mode=root --variant=minbase --format=directory \
			"${drop[@]}" --dpkgopt=force-unsafe-io \
			--aptopt='Acquire::Languages "none"' \
			--aptopt='APT::Install-Recommends "false"' \
			--include="$list" \
			--customize-hook="$hook" \
			"$(recipe_suite "$1")" "$2" -
}
