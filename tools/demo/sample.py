#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sample what the peers of the slaves receive, ten times a second.

Usage: sample.py FILE NETNS START

Writes "seconds rate0 rate1 rate2" lines until it is terminated; seconds count
from START, which is since the boot.
"""
import ctypes
import os
import sys
import time

CLONE_NEWNET = 0x40000000
PEERS = ("p0", "p1", "p2")


def enter(netns):
    """Join a named network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{netns}", encoding="ascii") as ns:
        if libc.setns(ns.fileno(), CLONE_NEWNET):
            sys.exit(os.strerror(ctypes.get_errno()))


def since_boot():
    """Seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def read():
    """Frames received by each peer so far."""
    counts = {}
    with open("/proc/self/net/dev", encoding="ascii") as dev:
        for line in dev:
            name, sep, rest = line.partition(":")
            if sep and name.strip() in PEERS:
                counts[name.strip()] = int(rest.split()[1])
    return [counts.get(p, 0) for p in PEERS]


def main():
    """Sample until killed."""
    path, netns, start = sys.argv[1:4]
    enter(netns)
    last = since_boot()
    before = read()
    with open(path, "w", encoding="ascii", buffering=1) as out:
        while True:
            time.sleep(0.1)
            now, after = since_boot(), read()
            rates = [(a - b) / (now - last) for a, b in zip(after, before)]
            print(f"{now - float(start):.3f}",
                  *(f"{r:.1f}" for r in rates), file=out)
            last, before = now, after


if __name__ == "__main__":
    main()
