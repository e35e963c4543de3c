#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demonstration behind `make demo`: install what is missing, build the
# module for a kernel, boot a guest with that kernel, show there what a bond
# does, and draw the throughput of each slave across a failure.
#
# Usage: run.sh [KERNEL]
#   KERNEL  6.1 (default), 6.12 or 7.3
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
vm=$top/tools/vm
kernel=${1:-6.1}
out=$top/build/demo

step() {
	printf '\n==> %s\n' "$*"
}

step "packages that this machine lacks"
"$vm/deps.sh" gnuplot-nox

step "guest with kernel $kernel (a few minutes the first time)"
"$vm/root.sh" "$kernel"

step "module and helpers"
"$vm/build.sh" "$kernel" W=1
"$vm/build.sh" "$kernel" --sh \
	'make -C tools/testing/selftests/drivers/net/bonding all'

step "boot"
rm -rf "$out"
mkdir -p "$out"
"$vm/run.sh" -k "$kernel" -t 300 --module ours -o "$out" -- \
	bash tools/demo/guest.sh

step "picture"
gnuplot -e "dir='$out'; kernel='$kernel'" "$top/tools/demo/failover.gp"
echo "$out/failover.svg"
