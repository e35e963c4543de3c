#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Rules about the text of the sources that no ready-made tool knows.

Usage: source.py CHECK TREE < NAMES    names of the files to look at

Prints a line for each problem, exit status 1 if there was one. The checks are
the functions named check_*; their first lines say what they are for. Numbers
that a rule allows to be exceeded are listed, with a reason, in allowed.txt.
"""
import os
import re
import sys

FUNCTION_LINES = 60
FILE_LINES = 640  # "about 600"

MODE = re.compile(r"\bBOND_MODE_[0-9A-Z]+\b")
MODE_TEST = re.compile(
    r"\bmode\s*[!=]=|[!=]=\s*[\w.>-]*\bmode\b|\bops->id\b\s*[!=]="
    r"|switch\s*\([^)]*\b(?:mode|ops->id)\b|[!=]=\s*&bond_mode_"
    r"|str\w*cmp\([^;]*\"(?:balance-|active-backup|broadcast|802\.3ad)")


class Tree:
    """The files of the project."""

    def __init__(self, top, names):
        self.top = top
        self.names = sorted(names)
        self.allowed = self._read_allowed()
        self.needed = set()

    def _read_allowed(self):
        path = os.path.join(self.top, "tools/static/allowed.txt")
        out = set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                words, _, reason = line.partition("|")
                if line.startswith("#") or not words.strip():
                    continue
                if not reason.strip():
                    raise ValueError("no reason: " + line)
                out.add(tuple(words.split()))
        return out

    def is_allowed(self, *what):
        """Is it listed? Whatever is listed has to be needed."""
        self.needed.add(what)
        return what in self.allowed

    def stale(self, check):
        return ["allowed.txt: not needed: %s" % " ".join(a)
                for a in sorted(self.allowed)
                if a[0] == check and a not in self.needed]

    def text(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as f:
            return f.read()

    def c_files(self):
        return [n for n in self.names if n.endswith((".c", ".h"))]

    def driver_files(self):
        """The module itself: top directory and include/."""
        return [n for n in self.c_files()
                if os.path.dirname(n) in ("", "include")]

    def scripts(self):
        """(name, "sh" or "py") of scripts, by name or first line."""
        for name in self.names:
            if name.endswith((".c", ".h", ".rst", ".txt", ".md")):
                continue
            first = ""
            if not os.path.islink(os.path.join(self.top, name)):
                with open(os.path.join(self.top, name), "rb") as f:
                    first = f.readline(80).decode(errors="replace")
            if name.endswith(".py") or "python" in first:
                yield name, "py"
            elif name.endswith(".sh") or re.match(r"#!.*\b(ba|da)?sh\b",
                                                  first):
                yield name, "sh"


def code(text):
    """C text without comments; lines stay where they are."""
    return re.sub(r"/\*.*?\*/|//[^\n]*",
                  lambda m: re.sub(r"[^\n]", "", m.group()), text, flags=re.S)


def lines_with(name, text, pattern):
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield "%s:%d: %s" % (name, number, line.strip())


def check_modes(tree):
    """A mode is known to its own file and to bond_modes.c only."""
    for name in tree.driver_files():
        if name == "bond_modes.c":
            continue
        text = code(tree.text(name))
        found = set(MODE.findall(text))
        own = re.findall(r"^\s*\.id\s*=\s*(BOND_MODE_\w+),", text, re.M)
        if found and (len(own) != 1 or found != set(own)):
            yield from lines_with(name, text, MODE)
        yield from lines_with(name, text, MODE_TEST)


def check_versions(tree):
    """No kernel version is asked for, anywhere."""
    words = re.compile(r"\bLINUX_VERSION" r"_CODE\b|\bKERNEL" r"_VERSION\s*\(")
    for name in tree.c_files():
        yield from lines_with(name, tree.text(name), words)


def check_compat(tree):
    """Kernel differences are in the compat files only, and #if with them."""
    have = re.compile(r"\bBOND_HAVE_")
    condition = re.compile(r"^\s*#\s*(if|elif)")
    for name in tree.driver_files():
        if os.path.basename(name).startswith("bond_compat."):
            continue
        text = code(tree.text(name))
        yield from lines_with(name, text, have)
        if name.endswith(".c"):
            for line in lines_with(name, text, condition):
                if not tree.is_allowed("compat", name,
                                       line.split("#", 1)[1].split()[-1]):
                    yield line
    yield from tree.stale("compat")


def functions(text):
    """(name, number of lines) of the functions of a C file."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            head = " ".join(lines[max(0, start - 6):start])
            names = re.findall(r"(\w+)\s*\(", head.rsplit(";", 1)[-1])
            yield (names[0] if names else "?"), number - start + 1
            start = None


def check_functions(tree):
    """Functions are short."""
    for name in tree.c_files():
        for function, size in functions(tree.text(name)):
            if size > FUNCTION_LINES and not tree.is_allowed(
                    "functions", name, function):
                yield "%s: %s() has %d lines" % (name, function, size)
    yield from tree.stale("functions")


def check_files(tree):
    """Files are short."""
    for name in tree.c_files() + [n for n, _ in tree.scripts()]:
        size = tree.text(name).count("\n")
        if size > FILE_LINES and not tree.is_allowed("files", name):
            yield "%s: %d lines" % (name, size)
    yield from tree.stale("files")


def head_problem(name, text, kind):
    lines = text.splitlines()
    if kind != "c" and lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if not lines or "SPDX-License-Identifier: GPL-2.0" not in lines[0]:
        return "%s: does not start with its licence" % name
    rest = "\n".join(lines[1:])
    block = {"c": r"/\*\n \* \S.+\n", "py": r'("""\n?\S|#\n# \S).+',
             "sh": r"(# shellcheck [^\n]*\n)?#\n(#\n)*# \S.+"}[kind]
    if not re.match(block, rest):
        return "%s: no block at its start that says what it is" % name
    return None


def check_heads(tree):
    """Every source file says first what it is."""
    kinds = [(n, "c") for n in tree.c_files()] + list(tree.scripts())
    for name, kind in kinds:
        problem = head_problem(name, tree.text(name), kind)
        if problem:
            yield problem


def check_python(tree):
    """Python files compile, in 80 columns."""
    for name, kind in tree.scripts():
        if kind != "py":
            continue
        text = tree.text(name)
        try:
            compile(text, name, "exec", dont_inherit=True)
        except SyntaxError as e:
            yield "%s:%s: %s" % (name, e.lineno, e.msg)
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 80 or line != line.rstrip():
                yield "%s:%d: too long, or blanks at its end" % (name, number)


def main():
    check, top = sys.argv[1:]
    tree = Tree(top, sys.stdin.read().split("\n")[:-1])
    if check == "list-scripts":
        print("\n".join(n for n, kind in tree.scripts() if kind == "sh"))
        return 0
    problems = list(globals()["check_" + check](tree))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
