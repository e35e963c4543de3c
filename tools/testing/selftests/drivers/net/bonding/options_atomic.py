#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
#
# A netlink request with several options is one thing: all of them are set or
# none, whatever their order in the message, and what one of them changes counts
# for the check of the next.

import random
import select
import socket
import struct

from bond_lib import (IFLA_IFNAME, IFLA_INFO_SLAVE_DATA, RTM_NEWLINK, Skip,
                      attr, attrs, ifindex, ktap_main)
from bond_world import BOND, SLAVES, in_world, ip4, ip6, u8, u16, u32
from options_table import AB, AD, ALB, MODES, NEW, OPTIONS, RR, TLB

SIZES = {1: "=B", 2: "=H", 4: "=I"}
RTMGRP_LINK = 1


def pack(opt, value):
    return attr(opt.attr, struct.pack(SIZES[opt.size], value))


def other_value(opt, before):
    """An allowed number that the option does not have, None for none."""
    old = dict(before).get(opt.attr)
    for value in opt.good:
        data = struct.pack(SIZES[opt.size], value)
        if data != old:
            return data
    return None


def can_be_set(opt, mode, up, slaves):
    return (mode in opt.modes and not (opt.down and up) and
            not (opt.free and slaves) and opt.refused == "0" and
            opt.name not in ["mode"] + NEW)


def late_errors(mode):
    """Attributes that are refused, each for another reason."""
    yield "range", attr(30, u8(0)), {"EINVAL", "EACCES"}
    yield "mode", attr(20 if mode != RR else 21, u32(1)), {"EACCES"}
    yield "name", attr(14, u8(77)), {"EINVAL"}
    yield "list", ip6("2001:db8::1", "::1"), {"EINVAL"}


def pairs(mode):
    """One option that could be set, one that cannot: nothing is set."""
    def case(world, check):
        if mode not in world.has:
            raise Skip(f"this driver has no mode {MODES[mode]} yet")
        for up, slaves in ((False, 0), (True, 2)):
            world.make(mode, up, slaves, [attr(3, u32(100))])
            before = world.dump()
            for opt in OPTIONS:
                data = other_value(opt, before)
                if not data or not can_be_set(opt, mode, up, slaves):
                    continue
                for why, bad, errors in late_errors(mode):
                    if struct.unpack_from("=HH", bad)[1] == opt.attr:
                        continue
                    what = f"{opt.name} and a bad {why}"
                    answer = world.set(attr(opt.attr, data), bad)
                    check.equal(f"{what}: {answer!r}", True,
                                answer.name in errors | {"EPERM"})
                    if not check.equal(f"{what}: what it changed", before,
                                       world.dump()):
                        world.make(mode, up, slaves, [attr(3, u32(100))])
    return in_world(case)


def many():
    """Good options of a new active-backup bond, in no order."""
    return [attr(1, u8(AB)), attr(3, u32(50)), attr(4, u32(100)),
            attr(5, u32(150)), attr(28, u32(200)), attr(6, u8(1)),
            ip4("10.0.0.1", "10.0.0.2"), attr(10, u32(1)),
            ip6("2001:db8::1"), attr(11, u32(ifindex(SLAVES[1]))),
            attr(12, u8(2)), attr(13, u8(1)), attr(14, u8(3)),
            attr(15, u32(9)), attr(16, u8(7)), attr(17, u8(1)),
            attr(18, u32(2)), attr(19, u32(4)), attr(22, u8(1)),
            attr(30, u8(5))]


def order_does_not_matter(world, check):
    """The same options in another order make the same bond."""
    rng = random.Random(1)
    want = None
    for _ in range(40):
        data = many()
        rng.shuffle(data)
        world.make(RR)
        check.equal("set", "0", world.set(*data).name)
        want = want or world.dump()
        check.equal("the bond", want, world.dump())
        check.equal("delays", (100, 150, 200),
                    (world.get(4), world.get(5), world.get(28)))


def mode_counts_at_once(world, check):
    """Options are checked against the mode that the request asks for."""
    one = ifindex(SLAVES[1])
    world.make(RR)
    check.equal("active-backup with a primary", "0",
                world.set(attr(11, u32(one)), attr(1, u8(AB))).name)
    check.equal("mode", AB, world.get(1))
    check.equal("balance-rr with packets_per_slave", "0",
                world.set(attr(20, u32(5)), attr(1, u8(RR))).name)
    check.equal("packets_per_slave", 5, world.get(20))
    before = world.dump()
    check.equal("active-backup with packets_per_slave", "EACCES",
                world.set(attr(20, u32(6)), attr(1, u8(AB))).name)
    check.equal("what it changed", before, world.dump())


def miimon_counts_at_once(world, check):
    """A delay needs the miimon of its own request, and only that."""
    world.make(AB)
    check.equal("updelay and miimon", "0",
                world.set(attr(4, u32(100)), attr(3, u32(30))).name)
    check.equal("updelay", 90, world.get(4))
    before = world.dump()
    check.equal("updelay without miimon", "EPERM",
                world.set(attr(4, u32(100)), attr(3, u32(0))).name)
    check.equal("what it changed", before, world.dump())


class Events:
    """Devices that RTM_NEWLINK messages tell of, as they come."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.bind((0, RTMGRP_LINK))

    def names(self, seconds=0):
        """Those so far, until for some time none comes."""
        out = []
        while select.select([self.sock], [], [], seconds)[0]:
            data = self.sock.recv(1 << 16)
            while len(data) >= 16:
                size, kind = struct.unpack_from("=IH", data)
                if kind == RTM_NEWLINK:
                    name = dict(attrs(data[32:size]))[IFLA_IFNAME]
                    out.append(name.rstrip(b"\0").decode())
                data = data[(size + 3) & ~3:]
        return out


def refused_creation(world, check):
    """A bond that is refused has never been there."""
    world.net.delete(BOND)
    events = Events()
    for data in ([attr(1, u8(AB)), attr(20, u32(7))],
                 [attr(3, u32(100)), attr(7, u32(100))],
                 [attr(1, u8(99))], [attr(2, u32(ifindex(SLAVES[0])))],
                 [attr(14, u8(1)), ip4("10.0.0.1", "10.0.0.1")]):
        check.equal("refused", False,
                    world.net.add(BOND, "bond", data).name == "0")
        check.equal("is there", False, BOND in dict(
            (name, index) for index, name in socket.if_nameindex()))
    check.equal("events", [], events.names())
    world.need(world.net.add(BOND, "bond", many()))
    check.equal("events of a creation", [BOND], events.names())


def refused_change_is_silent(world, check):
    """Who listens hears of a change, and not of a refusal."""
    world.make(AB, True)
    events = Events()
    events.names(1.5)   # the link watch is a second late
    world.set(attr(15, u32(9)), attr(14, u8(77)))
    check.equal("events of a refusal", [], events.names())
    world.need(world.set(attr(15, u32(9)), attr(14, u8(1))))
    check.equal("events of a change", [BOND], events.names())


def slave_options(world, check):
    """The same for the options of a slave."""
    zero = SLAVES[0]
    for mode in (AB, TLB, ALB):
        if mode not in world.has:
            continue
        world.make(mode, True, 2)
        before = world.net.info(zero, IFLA_INFO_SLAVE_DATA)
        for data, want in [
                ([attr(5, u16(3)), attr(9, u32(4)), attr(10, u16(7))],
                 "EACCES"),
                ([attr(9, u32(4)), attr(5, u16(999))], "EPERM")]:
            check.equal(f"in {MODES[mode]}", want,
                        world.net.slave_change(zero, data).name)
            check.equal("what it changed", before,
                        world.net.info(zero, IFLA_INFO_SLAVE_DATA))
        world.need(world.net.slave_change(zero, [attr(9, u32(4)),
                                                 attr(5, u16(3))]))
        check.equal("both", (4, 3),
                    (world.get_slave(zero, 9), world.get_slave(zero, 5)))


def always_sent(world, check):
    """What network managers send to every bond, whatever its mode."""
    for mode in world.has:
        world.make(RR)
        world.net.delete(BOND)
        data = [attr(17, u8(0)), attr(15, u32(1)), attr(16, u8(1)),
                attr(1, u8(mode)), attr(14, u8(2)), attr(22, u8(0)),
                attr(13, u8(0)), attr(12, u8(0)), attr(19, u32(1)),
                attr(18, u32(0)), attr(10, u32(0)), ip4("10.0.0.1")]
        if mode == AD:
            data += [attr(21, u8(1)), attr(24, u16(9)), attr(25, u16(9))]
        check.equal(MODES[mode], "0",
                    world.net.add(BOND, "bond", data).name)


PLAIN = [order_does_not_matter, refused_change_is_silent, always_sent]
BEYOND = [mode_counts_at_once, miimon_counts_at_once, refused_creation,
          slave_options]


def cases():
    out = {f"pairs_{name}": pairs(mode) for mode, name in enumerate(MODES)}
    beyond = list(out) + [case.__name__ for case in BEYOND]
    out.update({case.__name__: in_world(case) for case in PLAIN + BEYOND})
    return out, beyond


if __name__ == "__main__":
    ktap_main(*cases())
