#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run a command in a guest's root, on this machine: natively, without booting.
# The root is read-only there; SRC is bound to /src, which the command starts
# in, and /tmp is empty. All mounts vanish with the command.
#
# Usage: chroot.sh ROOT SRC UID:GID COMMAND   (as root; COMMAND is bash text)
set -euo pipefail

if [ "${1-}" = --mounted ]; then
	shift
else
	exec unshare --mount "$0" --mounted "$@"
fi
root=$1 src=$2 user=$3 command=$4

mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$src" "$root/src"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
# shellcheck disable=SC2016 # expanded inside
exec env -i HOME=/tmp LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	chroot --userspec="$user" "$root" \
	/bin/bash -c 'cd /src && eval "$1"' bash "$command"
