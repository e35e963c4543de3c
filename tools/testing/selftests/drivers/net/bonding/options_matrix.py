#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
#
# Every option, by netlink and by sysfs, in every mode, with the bond up and
# down, with and without slaves, and with good, bad, huge and empty values: the
# errno must be the documented one, a value that was taken must read back
# everywhere, and a refused one must have changed nothing (matrix_MODE). All
# ways to write a value, for each option (values_OPTION). What netlink tells and
# how it refuses.

import struct

from bond_lib import (IFLA_ADDRESS, IFLA_INFO_SLAVE_DATA,
                      IFLA_NUM_TX_QUEUES, Skip, attr, ifindex, ktap_main,
                      number)
from bond_world import BOND, SLAVES, in_world, u8, u16, u32
from options_table import AB, AD, ALB, MODES, NEW, OPTIONS, TLB, WORDS

SIZES = {1: "=B", 2: "=H", 4: "=I"}


# --- the matrix ---

def texts(opt):
    """Texts for sysfs, each with its number or None when it must fail."""
    for value in opt.good:
        yield f"{value}\n", value
    value = opt.good[-1]
    for text in (f"{value}", f" {value} \n", f"0{value}", f"{value} 9",
                 f"{value}\n99\n"):
        yield text, value
    for word, value in opt.words.items():
        yield f"{word}\n", value
        yield f" {word} x\n", value
        yield f"{word.upper()}x", None
    yield "default\n", opt.default
    for word in WORDS:
        if word not in opt.words and word not in opt.other:
            yield word, None
    for value in opt.bad:
        yield f"{value}\n", None
    for text in ("\n", " ", "-1", "+1", "0x1", "1x", "1.5", "nonsense",
                 "99999999999"):
        yield text, None


def messages(opt):
    """Attributes for netlink, each with its number, an errno name or None."""
    for value in opt.good:
        yield struct.pack(SIZES[opt.size], value), value
    for value in opt.bad:
        if value < 1 << 8 * opt.size:
            yield struct.pack(SIZES[opt.size], value), None
    for size in range(opt.size):
        yield b"\0" * size, "ERANGE"


def expected(opt, mode, up, slaves, value):
    """The errno name that the documented order of checks asks for."""
    if isinstance(value, str):
        return value
    if mode not in opt.modes:
        return "EACCES"
    if opt.free and slaves:
        return "ENOTEMPTY"
    if opt.down and up:
        return "EBUSY"
    if value is None:
        return "EINVAL"
    return opt.refused


def mode_expected(world, opt, value, want):
    """A mode may also be one that this driver does not have."""
    if opt.name == "mode" and want == "0" and value not in world.has:
        return "EOPNOTSUPP"
    return want


def check_taken(world, check, opt, value, where):
    """What was taken must read back by both ways."""
    value = opt.becomes(value)
    check.equal(f"{where}, netlink then", value, world.get(opt.attr))
    names = {n: w for w, n in opt.words.items()}
    for file in opt.files:
        if opt.show == "name":
            want = f"{names[value]} {value}"
        else:
            want = str(value)
        check.equal(f"{where}, {file} then", want, world.read(file))


def attempts(opt):
    """(how it is called, how to do it, value) for all values and ways."""
    for text, value in texts(opt):
        for file in opt.files:
            yield (f"{file} {text!r}",
                   lambda w, f=file, t=text: w.write(f, t), value)
    for data, value in messages(opt):
        # peer_notif_delay's range is checked before the option is reached
        if opt.name == "peer_notif_delay" and value is None:
            value = "ERANGE"
        yield (f"netlink {data.hex()!r}",
               lambda w, d=data: w.set(attr(opt.attr, d)), value)


def short(opt):
    """A few attempts that stand for all: good, bad, huge and empty."""
    good, bad = opt.good[-1], opt.bad[0]
    seen = {}
    for how, do, value in attempts(opt):
        kind = how.split()[0], value if value != good else "good"
        seen.setdefault(kind, (how, do, value))
    file = opt.files[0] if opt.files else None
    wanted = [(file, "good"), ("netlink", "good"), ("netlink", None),
              ("netlink", "ERANGE")]
    out = [seen[kind] for kind in wanted if kind in seen]
    if file:
        for text in (f"{bad}", "99999999999", "\n", "nonsense"):
            out.append((f"{file} {text!r}",
                        lambda w, t=text: w.write(file, t), None))
    return out


def prepare(world, opt, state):
    """A new bond for attempts with an option; its dump."""
    world.make(*state)
    for name, value in opt.first:
        world.need(world.write(name, str(value)))
    return world.dump()


def check_one(world, check, opt, state, attempt, before):
    """One attempt in one state; False when the bond may not be as before."""
    how, do, value = attempt
    mode, up, slaves = state
    where = (f"{how} in {MODES[mode]} {'up' if up else 'down'} "
             f"{slaves} slaves")
    want = expected(opt, mode, up, slaves, value)
    want = mode_expected(world, opt, value, want)
    got = do(world).name
    right = check.equal(where, want, got)
    if got != "0":
        return check.equal(f"{where}: what it changed", before, world.dump())
    if right:
        check_taken(world, check, opt, value, where)
    return False


def restore(world, opt, before):
    """Set the old number; True when this made everything as it was."""
    old = dict(before).get(opt.attr)
    if old is not None:
        world.set(attr(opt.attr, old))
    return before == world.dump()


def check_all(world, check, opt, state, attempts_made, before):
    """Attempts with one option; the dump of the bond they leave, or None."""
    for attempt in attempts_made:
        if before is None:
            before = prepare(world, opt, state)
        if not (check_one(world, check, opt, state, attempt, before) or
                restore(world, opt, before)):
            before = None
    return before


STATES = [(up, slaves) for up in (False, True) for slaves in (0, 2)]


def matrix(mode):
    """All options in one mode."""
    def case(world, check):
        if mode not in world.has:
            raise Skip(f"this driver has no mode {MODES[mode]} yet")
        for state in ((mode, *rest) for rest in STATES):
            before = None
            for opt in OPTIONS:
                if opt.name in NEW:
                    continue
                if opt.first:
                    before = None
                before = check_all(world, check, opt, state, short(opt),
                                   before)
                if opt.first:
                    before = None
    return in_world(case)


def values(rows):
    """All ways to write all values of an option, where it may be set."""
    def case(world, check):
        for opt in rows:
            modes = opt.modes & set(world.has)
            if not modes:
                raise Skip("no mode of this driver has the option yet")
            state = min(modes), False, 0
            check_all(world, check, opt, state, attempts(opt), None)
    return in_world(case)


def new_option(opt):
    """An option that older drivers lack, in all modes and states."""
    def case(world, check):
        for mode in world.has:
            for rest in STATES:
                check_all(world, check, opt, (mode, *rest), attempts(opt),
                          None)
    return in_world(case)


# --- netlink itself ---

def unknown_attributes(world, check):
    """Attributes of somebody else's are left alone, not refused."""
    world.make(0)
    before = world.dump()
    for kind in (0, 35, 50, 51, 60, 200):
        check.equal(f"attribute {kind}", "0",
                    world.set(attr(kind, b"\1\2\3\4")).name)
    check.equal("what they changed", before, world.dump())


DUMP = [1, 3, 4, 5, 28, 6, 7, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 29,
        21, 22, 27, 30, 32]


def dump_presence(world, check):
    """Which attributes there are, in the order that they always had."""
    for mode in world.has:
        world.make(mode)
        kinds = [k for k, _ in world.dump() if k not in (33, 34)]
        private = [24, 25, 26] if mode == AD else []
        check.equal(f"new {MODES[mode]}", DUMP + private, kinds)
        world.make(mode, True, 2)
        kinds = [k for k, _ in world.dump() if k not in (33, 34)]
        active = [2] if mode in (AB, TLB, ALB) else []
        check.equal(f"{MODES[mode]} with slaves",
                    DUMP[:1] + active + DUMP[1:] + private, kinds)
        slave = [k for k, _ in world.net.info(SLAVES[0],
                                              IFLA_INFO_SLAVE_DATA)]
        check.equal(f"slave in {MODES[mode]}", [1, 2, 3, 4, 5, 9], slave[:6])


def dump_new_options(world, check):
    """The newest options are told on every kernel."""
    world.make(0)
    check.equal("lacp_strict, broadcast_neighbor", (0, 0),
                (world.get(34), world.get(33)))


def address_checked(world, check):
    """IFLA_ADDRESS at creation."""
    world.make(0)
    world.net.delete(BOND)
    for data, want in [(b"\2" + bytes(4), "EINVAL"), (bytes(6),
                       "EADDRNOTAVAIL"), (b"\1" + bytes(5), "EADDRNOTAVAIL"),
                       (b"\2\0\0\0\0\1", "0")]:
        check.equal(data.hex(), want,
                    world.net.add(BOND, "bond", None,
                                  [attr(IFLA_ADDRESS, data)]).name)


def queues(world, check):
    """IFLA_NUM_TX_QUEUES, and how many there are without."""
    for extra, want in [([], 16), ([attr(IFLA_NUM_TX_QUEUES, u32(4))], 4)]:
        world.make(0)
        world.net.delete(BOND)
        world.need(world.net.add(BOND, "bond", None, extra))
        got = dict(world.net.link(BOND))[IFLA_NUM_TX_QUEUES]
        check.equal("transmit queues", want, number(got))


def refusals_explained(world, check):
    """A refusal says by extack which option, which value and why."""
    world.make(AB, True, 2)
    other = ifindex("ms2")
    for kind, data, words in [
            (20, u32(7), ["packets_per_slave", "7", "active-backup"]),
            (1, u8(0), ["mode", "0", "slaves"]),
            (4, u32(100), ["updelay", "100", "miimon"]),
            (15, u32(256), ["resend_igmp", "256", "0..255"]),
            (14, u8(77), ["xmit_hash_policy", "77", "0..5"]),
            (2, u32(other), ["active_slave", str(other), "slave"]),
            (2, u32(99999), ["active_slave", "99999", "device"])]:
        text = world.set(attr(kind, data)).text
        for word in words:
            check.equal(f"{word!r} in {text!r}", True, word in text)
    text = world.net.slave_change(SLAVES[0], [attr(5, u16(99))]).text
    for word in ("queue_id", "99", "0..16"):
        check.equal(f"{word!r} in {text!r}", True, word in text)


def cases():
    out = {f"matrix_{name}": matrix(mode) for mode, name in enumerate(MODES)}
    for opt in OPTIONS:
        rows = [o for o in OPTIONS if o.name == opt.name]
        if opt.name in NEW:
            out[f"new_{opt.name}"] = new_option(opt)
        else:
            out[f"values_{opt.name}"] = values(rows)
    for function in (unknown_attributes, dump_presence, address_checked,
                     queues, *BEYOND):
        out[function.__name__] = in_world(function)
    return out


BEYOND = [dump_new_options, refusals_explained]

if __name__ == "__main__":
    ktap_main(cases(), [f"new_{name}" for name in NEW] +
              [f.__name__ for f in BEYOND])
