# SPDX-License-Identifier: GPL-2.0
"""
A place to try things in: a fresh network namespace with its own /sys, devices
with fixed names, indexes and addresses, and the text files that a topic writes.

A topic makes one World per case (or group of cases), so that nothing one case
leaves behind reaches the next one.
"""
import ctypes
import functools
import os
import shutil
import struct
import subprocess
import time

import nl
from linkdump import BOND_NAMES

CLONE_NEWNS = 0x20000
CLONE_NEWNET = 0x40000000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2

BOND_INDEX = 100
SLAVE_INDEX = 10    # slave n has 10 + n, its veth peer 50 + n
PEER_INDEX = 50

# Modes of this build. Add 4, 5, 6 when they exist.
MODES = {"balance-rr": 0, "active-backup": 1, "balance-xor": 2,
         "broadcast": 3}
BOND_ATTRS = {name.lower(): number for number, name in BOND_NAMES.items()}
BOND_U8 = {1, 6, 12, 13, 14, 16, 17, 21, 22, 27, 29, 30, 32, 33, 34}
BOND_U16 = {24, 25}
BOND_U32 = {2, 3, 4, 5, 7, 9, 10, 11, 15, 18, 19, 20, 28}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result):
    if result:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _mount(source, target, fstype, flags=0):
    _check(_libc.mount(source.encode(), target.encode(),
                       fstype.encode() if fstype else None, flags, None))


def private_mounts():
    """Once per process, before the first World."""
    _check(_libc.unshare(CLONE_NEWNS))
    _mount("none", "/", None, MS_REC | MS_PRIVATE)


def mac(number):
    """The address given to device number."""
    return bytes((0x02, 0xbd, 0, 0, 0, number))


def write_file(path, text):
    """Write in one write(2). The errno, 0 when it was taken."""
    data = text if isinstance(text, bytes) else text.encode()
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as e:
        return e.errno
    try:
        os.write(fd, data)
    except OSError as e:
        return e.errno
    finally:
        os.close(fd)
    return 0


def read_file(path):
    """The text of a file, or "<ERRNO>"."""
    try:
        with open(path, "rb", buffering=0) as f:
            return f.read().decode(errors="replace")
    except OSError as e:
        return "<%s>" % nl.error_name(e.errno)


@functools.cache
def program(name):
    """Its path: looked for once, which takes long on a shared root."""
    return shutil.which(name) or name


def run(*argv):
    """Run a program; what it printed, and its exit status if it failed."""
    done = subprocess.run((program(argv[0]),) + argv[1:], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    text = done.stdout
    if done.returncode:
        text += "<exit %d>\n" % done.returncode
    return text


def bond_attr(number, value):
    """One IFLA_BOND_* attribute of the size that belongs to it."""
    if isinstance(value, bytes):
        return nl.attr(number, value)
    if number in BOND_U8:
        return nl.attr(number, struct.pack("=B", value))
    if number in BOND_U16:
        return nl.attr(number, struct.pack("=H", value))
    return nl.attr(number, struct.pack("=I", value))


def ip4_targets(*texts):
    """The contents of IFLA_BOND_ARP_IP_TARGET."""
    return b"".join(nl.attr(i, bytes(map(int, t.split("."))))
                    for i, t in enumerate(texts))


def bond_data(**options):
    """IFLA_INFO_DATA from option names (mode by name), in the given order."""
    out = []
    for name, value in options.items():
        if name == "mode" and isinstance(value, str):
            value = MODES[value]
        out.append(bond_attr(BOND_ATTRS[name], value))
    return b"".join(out)


class Out:
    """The text file of one topic: cases, and the lines of each."""

    def __init__(self, directory, topic):
        self.file = open(os.path.join(directory, topic + ".txt"), "w",
                         encoding="utf-8")
        self.topic = topic
        self.name = ""

    def case(self, name):
        self.file.write("== %s\n" % name)
        self.name = name

    def line(self, text=""):
        self.file.write("\t%s\n" % text)

    def lines(self, lines):
        for line in lines:
            self.line(line)

    def text(self, text):
        self.lines(text.splitlines())

    def close(self):
        self.file.close()


class World:
    """A fresh network namespace, entered by the calling process."""

    def __init__(self, ipv6=False):
        _check(_libc.unshare(CLONE_NEWNET))
        _libc.umount2(b"/sys", MNT_DETACH)
        _mount("sysfs", "/sys", "sysfs")
        if not ipv6:
            write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")
            write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1")
        self.nl = nl.Rtnl()
        self.names = {}

    def close(self):
        self.nl.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def must(self, answer, what):
        """For steps that prepare a case: they have to work everywhere."""
        if not answer:
            raise RuntimeError("%s: %s %s" % (what, answer, answer.text))
        return answer

    # --- devices ---

    def dummy(self, n, up=False):
        """d<n>, index 10 + n. Its index."""
        index = SLAVE_INDEX + n
        name = "d%d" % n
        self.must(self.nl.add(name, "dummy", index=index,
                              attrs=nl.attr(nl.IFLA_ADDRESS, mac(n))), name)
        if up:
            self.must(self.nl.up(index), name)
        return index

    def veth(self, n, peer_up=True):
        """v<n> with the peer p<n>. The index of v<n>."""
        index, peer = SLAVE_INDEX + n, PEER_INDEX + n
        name = "v%d" % n
        data = nl.attr(1, struct.pack("=BxHiII", 0, 0, peer, 0, 0)
                       + nl.attr(nl.IFLA_IFNAME, "p%d" % n)
                       + nl.attr(nl.IFLA_ADDRESS, mac(0x80 + n)))
        self.must(self.nl.add(name, "veth", data, index,
                              nl.attr(nl.IFLA_ADDRESS, mac(n))), name)
        if peer_up:
            self.must(self.nl.up(peer), name)
        return index

    def bond(self, name="bond0", index=BOND_INDEX, **options):
        self.must(self.nl.add(name, "bond", bond_data(**options), index),
                  name)
        return index

    def enslave(self, slave, bond=BOND_INDEX):
        self.must(self.nl.master(slave, bond), "enslave %d" % slave)

    def set_bond(self, bond=BOND_INDEX, **options):
        self.must(self.nl.change(bond, "bond", bond_data(**options)),
                  "options %s" % " ".join(options))

    # --- waiting ---

    def wait(self, what, condition, out=None, seconds=20):
        """
        Wait until condition() holds. A line "TIMEOUT what" otherwise, which
        compare.py counts as a failure on either side.
        """
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                if out:
                    out.line("TIMEOUT %s" % what)
                else:
                    raise RuntimeError("TIMEOUT %s" % what)
                return False
            time.sleep(0.01)
        return True

    @staticmethod
    def _follows(link):
        """Do the operational state and RUNNING say what the carrier is?"""
        if not link.flags & nl.IFF_UP:
            return True
        carrier = bool(link.flags & 0x10000)
        if bool(link.flags & 0x40) != carrier:
            return False
        state = link.by_kind[nl.IFLA_OPERSTATE][0]
        if link.info_kind() in ("bond", "veth", "vlan", "macvlan"):
            return state == 6 if carrier else state in (2, 3)
        return True

    def settle(self, out=None):
        """Wait until link watch has seen the carrier of every device."""
        self.wait("link watch", lambda: all(
            self._follows(link) for link in self.nl.links()), out)

    def mii(self, slave):
        """The MII status of a slave: 0 up, 1 fail, 2 down, 3 back."""
        data = self.nl.get(slave).info(nl.IFLA_INFO_SLAVE_DATA).get(2)
        return data[0] if data else None

    def wait_mii(self, slave, state, out=None):
        self.wait("MII status %d of slave %d" % (state, slave),
                  lambda: self.mii(slave) == state, out)

    def active(self, bond=BOND_INDEX):
        """Index of the active slave, 0 when there is none."""
        data = self.nl.get(bond).info(nl.IFLA_INFO_DATA).get(2)
        return struct.unpack("=I", data)[0] if data else 0
