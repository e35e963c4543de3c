#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Do the objects of the module use each other's symbols only as layers.txt allows?

Usage: layers.py TABLE DIRECTORY    DIRECTORY holds bond_*.o
       layers.py --includes TABLE DIRECTORY    check #include lines instead

Prints a line for each problem, exit status 1 if there was one. An object that
is in no group, and an exception that nothing needs, are problems, too.
"""
import glob
import os
import re
import subprocess
import sys


class Table:
    """layers.txt, read."""

    def __init__(self, path):
        self.group = {}
        self.allow = {}
        self.rank = {}
        self.header = {}
        self.excepted = {}
        with open(path, encoding="utf-8") as f:
            for line in f:
                words = line.split("|")[0].split()
                if not words or words[0].startswith("#"):
                    continue
                getattr(self, "_" + words[0])(words[1:])
                if words[0] == "except" and not line.partition("|")[2].strip():
                    raise ValueError("exception without a reason: " + line)

    def _group(self, words):
        for name in words[1:]:
            self.group[name] = words[0]

    def _allow(self, words):
        self.allow[words[0]] = set(words[1:])

    def _rank(self, words):
        self.rank[words[0]] = int(words[1])

    def _header(self, words):
        self.header[words[0]] = int(words[1])

    def _except(self, words):
        for symbol in words[1:]:
            self.excepted[(words[0], symbol)] = False

    def may_use(self, user, owner, symbol):
        if self.group[owner] in self.allow.get(self.group[user], ()):
            return True
        if (user, symbol) in self.excepted:
            self.excepted[(user, symbol)] = True
            return True
        return False


def symbols(path):
    """(defined, undefined) global symbols of an object."""
    defined, undefined = set(), set()
    text = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            undefined.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, undefined


def objects_of(directory):
    """{object: (defined, undefined)}; what is compiled but not linked is not
    part of the module."""
    out = {}
    for path in sorted(glob.glob(os.path.join(directory, "bond_*.o"))):
        name = os.path.basename(path)[:-2]
        if name != "bond_abi_offsets":
            out[name] = symbols(path)
    return out


def check_symbols(table, directory):
    objects = objects_of(directory)
    if not objects:
        yield "%s: no objects" % directory
    for name in objects:
        if name not in table.group:
            yield "%s: in no group of the table" % name
    known = {n: o for n, o in objects.items() if n in table.group}
    owner = {s: n for n, (defined, _) in known.items() for s in defined}
    for name, (_, undefined) in known.items():
        for symbol in sorted(undefined):
            other = owner.get(symbol)
            if other and not table.may_use(name, other, symbol):
                yield "%s (%s) uses %s of %s (%s)" % (
                    name, table.group[name], symbol, other,
                    table.group[other])
    for (name, symbol), used in table.excepted.items():
        if not used:
            yield "exception not needed: %s %s" % (name, symbol)


def check_includes(table, directory):
    files = sorted(glob.glob(os.path.join(directory, "bond_*.c"))
                   + glob.glob(os.path.join(directory, "include", "*.h")))
    for path in files:
        name = os.path.basename(path)
        if name.endswith(".h"):
            rank = table.header.get(name)
        elif name == "bond_abi_offsets.c":
            continue
        else:
            rank = table.rank.get(table.group.get(name[:-2]))
        if rank is None:
            yield "%s: not in the table" % name
            continue
        with open(path, encoding="utf-8") as f:
            for header in re.findall(r'^#include "(\w+\.h)"', f.read(), re.M):
                if header not in table.header:
                    yield "%s: includes %s, not in the table" % (name, header)
                elif table.header[header] > rank:
                    yield "%s: includes %s of a higher layer" % (name, header)


def main():
    args = sys.argv[1:]
    check = check_symbols
    if args[0] == "--includes":
        check = check_includes
        args = args[1:]
    problems = list(check(Table(args[0]), args[1]))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
