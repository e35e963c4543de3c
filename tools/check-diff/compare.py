#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Compare what two modules showed (see scenario/main.py).

Usage: compare.py [options] LEFT RIGHT
  --expected FILE   explained differences, repeatable
  --kernel NAME     the kernel that was run
  --promises        the right side is the module under test: the files
                    *.promises.txt of it have to be empty
  --partial         not all topics were run: unused explanations are no error

A case is a block that starts with "== name". It passes when its lines are the
same, or when every difference is explained; it is skipped when both sides say
"SKIP reason". A line that starts with TIMEOUT fails it.

A file of explained differences holds blocks, separated by blank lines:
  why: one sentence
  kernels: 6.1 6.12            (left out: all)
  match: REGULAR EXPRESSION    (one or more)
An expression has to match the whole text "topic/case: left => right", where a
missing line is written as "(nothing)". One that matches nothing is stale, and a
failure.

Output is KTAP, a test for each topic, and "N passed, N failed, N skipped".
Exit status: 0, or 1 when something failed.
"""
import argparse
import difflib
import glob
import os
import re
import sys

SHOWN = 12          # differences printed for one case
LONG = 300          # characters printed of a line
NOTHING = "(nothing)"


class Explanation:
    """One expression of the list, and whether it was ever needed."""

    def __init__(self, where, why, text):
        self.where = where
        self.why = why
        self.text = text
        self.pattern = re.compile(text)
        self.used = 0

    def matches(self, difference):
        if not self.pattern.fullmatch(difference):
            return False
        self.used += 1
        return True


def read_block(path, number, lines, kernel):
    """The explanations of one block, [] when it is for other kernels."""
    where = "%s:%d" % (os.path.basename(path), number)
    fields = [line.split(":", 1) for line in lines]
    if any(len(f) != 2 for f in fields):
        raise ValueError("%s: no colon" % where)
    why = [v.strip() for k, v in fields if k == "why"]
    match = [v.strip() for k, v in fields if k == "match"]
    kernels = [v.split() for k, v in fields if k == "kernels"]
    known = {"why", "match", "kernels"}
    if len(why) != 1 or not match or {k for k, _ in fields} - known:
        raise ValueError("%s: needs one why and at least one match" % where)
    if kernels and kernel not in kernels[0]:
        return []
    return [Explanation(where, why[0], m) for m in match]


def read_expected(paths, kernel):
    out = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            block, start = [], 0
            for number, line in enumerate(f.read().split("\n") + [""], 1):
                if line.startswith("#"):
                    continue
                if line.strip():
                    start = start if block else number
                    block.append(line)
                elif block:
                    out += read_block(path, start, block, kernel)
                    block = []
    return out


def read_cases(path):
    """{case: lines} of a topic file."""
    cases, lines = {}, None
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f.read().split("\n"):
            if line.startswith("== "):
                lines = cases.setdefault(line[3:], [])
            elif lines is not None and line:
                lines.append(line[1:])
    return cases


def key_of(line):
    """What a line is about: the text before its colon, or its first word."""
    found = re.match(r"\s*([^=]*?):( |$)", line) or \
        re.match(r"\s*([^ =]*)", line)
    return found.group(1)


def pairs(olds, news):
    """Lines that stand in each other's place, those about the same together."""
    if len(olds) == len(news) == 1:
        return [(olds[0], news[0])]
    out = []
    matcher = difflib.SequenceMatcher(None, [key_of(x) for x in olds],
                                      [key_of(x) for x in news],
                                      autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            out += [p for p in zip(olds[a:b], news[c:d]) if p[0] != p[1]]
        else:
            out += [(x, None) for x in olds[a:b]]
            out += [(None, x) for x in news[c:d]]
    return out


def differences(left, right):
    """[(left line, right line)], with None for a missing one."""
    if left == right:
        return []
    if len(left) == len(right) and len(left) > 2000:
        return [(a, b) for a, b in zip(left, right) if a != b]
    out = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            out += pairs(left[a:b], right[c:d])
    return out


def cut(old, new):
    """Both lines, what is long about them cut to where they differ."""
    old, new = (NOTHING if t is None else t for t in (old, new))
    if max(len(old), len(new)) <= LONG:
        return old, new
    at = max(0, len(os.path.commonprefix([old, new])) - LONG // 4)
    return tuple("%s%s%s" % ("[...]" if at else "", t[at:at + LONG],
                             "[...]" if t[at + LONG:] else "")
                 for t in (old, new))


class Comparison:
    """Counts, and prints as it goes."""

    def __init__(self, expected):
        self.expected = expected
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.explained = 0

    def is_explained(self, text):
        for explanation in self.expected:
            if explanation.matches(text):
                self.explained += 1
                return True
        return False

    def result(self, name, problems, skipped=False):
        """One case. Returns True unless it failed."""
        if problems:
            print("    not ok %s" % name)
            for text in problems[:SHOWN]:
                print("      # %s" % text)
            if len(problems) > SHOWN:
                print("      # ... and %d more" % (len(problems) - SHOWN))
            self.counts["failed"] += 1
            return False
        self.counts["skipped" if skipped else "passed"] += 1
        return True

    def case(self, topic, name, left, right):
        label = "%s/%s" % (topic, name)
        if left is None or right is None:
            side = "second" if right is None else "first"
            return self.result(label, ["the %s side has no such case" % side])
        problems = [line for line in left + right
                    if line.startswith("TIMEOUT")]
        for old, new in differences(left, right):
            text = "%s: %s => %s" % (
                label, NOTHING if old is None else old,
                NOTHING if new is None else new)
            if not self.is_explained(text):
                problems.append("%s\n      #   => %s" % cut(old, new))
        skipped = left == right and any(x.startswith("SKIP") for x in left)
        return self.result(label, problems, skipped)

    def promise(self, topic, name, lines):
        """Lines of the module under test that should not be there."""
        problems = [line for line in lines if not self.is_explained(
            "%s/%s: %s => %s" % (topic, name, NOTHING, line))]
        return self.result("%s/%s" % (topic, name), problems)

    def topic(self, number, topic, left, right):
        good = True
        names = list(left) + [n for n in right if n not in left]
        for name in names:
            good &= self.case(topic, name, left.get(name), right.get(name))
        print("%s %d %s (%d cases)" % ("ok" if good else "not ok", number,
                                       topic, len(names)), flush=True)

    def stale(self, number):
        good = True
        for explanation in self.expected:
            if not explanation.used:
                good = self.result("%s %s" % (
                    explanation.where, explanation.text),
                    ["this explanation matches no difference any more"])
        print("%s %d explanations (%d differences explained)" % (
            "ok" if good else "not ok", number, self.explained))


def topics_of(directory):
    names = (os.path.basename(p)[:-4]
             for p in glob.glob(os.path.join(directory, "*.txt")))
    return {n for n in names if not n.endswith(".promises")}


def read_side(directory, topic):
    path = os.path.join(directory, topic + ".txt")
    return read_cases(path) if os.path.exists(path) else {}


def check_promises(comparison, directory, number):
    for path in sorted(glob.glob(os.path.join(directory, "*.promises.txt"))):
        topic = os.path.basename(path)[:-4]
        good = True
        for name, lines in read_cases(path).items():
            good &= comparison.promise(topic, name, lines)
        print("%s %d %s" % ("ok" if good else "not ok", number, topic))
        number += 1
    return number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--expected", action="append", default=[])
    parser.add_argument("--kernel", default="")
    parser.add_argument("--promises", action="store_true")
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("left")
    parser.add_argument("right")
    args = parser.parse_args()

    comparison = Comparison(read_expected(args.expected, args.kernel))
    print("KTAP version 1")
    number = 1
    topics = sorted(topics_of(args.left) | topics_of(args.right))
    if not topics:
        comparison.result("topics", ["neither side has any"])
    for topic in topics:
        comparison.topic(number, topic, read_side(args.left, topic),
                         read_side(args.right, topic))
        number += 1
    for side in (args.left, args.right):
        for path in glob.glob(os.path.join(side, "*.failed")):
            comparison.result(path, ["the topic did not run to its end"])
    if args.promises:
        number = check_promises(comparison, args.right, number)
    if not args.partial:
        comparison.stale(number)
    print("1..%d" % number)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped"
          % comparison.counts)
    return 1 if comparison.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
