#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Put what DKMS needs to build the module into a directory.
#
# Usage: dkms-sources.sh DIRECTORY
set -eu

dest=${1:?usage: dkms-sources.sh DIRECTORY}
cd "$(dirname "$0")/../.."
version=$(cat VERSION)
grep -qx "PACKAGE_VERSION=\"$version\"" dkms.conf || {
	echo "dkms.conf and VERSION name different versions" >&2
	exit 1
}
rm -rf "$dest"
mkdir -p "$dest/tools"
cp -r Makefile Kbuild VERSION COPYING dkms.conf include ./*.c "$dest/"
cp tools/probe.sh "$dest/tools/"
rm -f "$dest"/*.mod.c
