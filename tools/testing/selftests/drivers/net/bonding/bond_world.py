# SPDX-License-Identifier: GPL-2.0
#
# A bond and a few dummy devices, and short ways to set, write and read options
# of them by netlink and sysfs. Used by the tests of options.

import errno
import socket
import struct

from bond_lib import (IFLA_INFO_SLAVE_DATA, Check, Rtnl, attr, number,
                      sysfs_read, sysfs_write)
from options_table import ALL

BOND, SLAVES = "mb0", ["ms0", "ms1"]
AD_INFO = 23    # changes by itself
SIZES = {1: "=B", 2: "=H", 4: "=I"}


def u8(value):
    return struct.pack("=B", value)


def u16(value):
    return struct.pack("=H", value)


def u32(value):
    return struct.pack("=I", value & 0xffffffff)


def ip4(*addresses):
    return attr(8, [attr(i, socket.inet_aton(a))
                    for i, a in enumerate(addresses)])


def ip6(*addresses):
    return attr(31, [attr(i, socket.inet_pton(socket.AF_INET6, a))
                     for i, a in enumerate(addresses)])


class World:
    """The devices that a case plays with."""

    def __init__(self):
        self.net = Rtnl()
        for name in SLAVES + ["ms2"]:
            self.need(self.net.add(name, "dummy"))
        self.has = [mode for mode in ALL if self.make(mode)]

    @staticmethod
    def need(answer):
        if answer.code:
            raise OSError(answer.code, f"cannot prepare: {answer!r}")

    def close(self):
        for name in [BOND] + SLAVES + ["ms2"]:
            self.net.delete(name)

    def make(self, mode, up=False, slaves=0, data=()):
        """A new bond; False when the driver lacks the mode."""
        self.net.delete(BOND)
        made = self.net.add(BOND, "bond", [attr(1, u8(mode)), *data])
        if made.code == errno.EOPNOTSUPP:
            return False
        self.need(made)
        for name in SLAVES[:slaves]:
            self.need(self.net.master(name, BOND))
        if up:
            self.need(self.net.up(BOND))
        return True

    def set(self, *data):
        return self.net.change(BOND, "bond", data)

    def write(self, option, text):
        return sysfs_write(BOND, option, text)

    def read(self, option):
        return sysfs_read(BOND, option).rstrip("\n")

    def dump(self):
        return [a for a in self.net.info(BOND) if a[0] != AD_INFO]

    def get(self, kind):
        """A number that netlink tells, None when it does not."""
        return {k: number(d) for k, d in self.net.info(BOND)}.get(kind)

    def get_slave(self, name, kind):
        info = self.net.info(name, IFLA_INFO_SLAVE_DATA)
        return {k: number(d) for k, d in info}.get(kind)


def in_world(function):
    """A case: a function of a new world and of what it checks."""
    def case():
        world = World()
        check = Check()
        try:
            function(world, check)
        finally:
            world.close()
        check.end()
    return case
