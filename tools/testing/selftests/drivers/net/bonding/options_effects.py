#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
#
# What single options do beyond storing a number: to other options, to the
# active slave, with names, lists and slaves.

import socket

from bond_lib import attr, attrs, ifindex, ktap_main
from bond_world import BOND, SLAVES, in_world, ip4, ip6, u8, u16, u32
from options_table import AB, AD, ALB, INT_MAX, MODES, TLB


def mode_forces(world, check):
    """A mode takes what it cannot work with out of its way."""
    for mode in world.has:
        world.make(AB)
        world.need(world.write("arp_interval", "200"))
        world.need(world.write("arp_validate", "all"))
        world.need(world.set(attr(1, u8(mode))))
        needs_mii = mode in (AD, TLB, ALB)
        name = MODES[mode]
        check.equal(f"{name} miimon", 100 if needs_mii else 0, world.get(3))
        check.equal(f"{name} arp_interval", 0 if needs_mii else 200,
                    world.get(7))
        check.equal(f"{name} arp_validate", 0, world.get(9))
        if needs_mii:
            world.make(0, data=[attr(3, u32(70))])
            world.need(world.set(attr(1, u8(mode))))
            check.equal(f"{name} keeps miimon", 70, world.get(3))
    if ALB in world.has:
        world.make(TLB, data=[attr(27, u8(0))])
        check.equal("tlb_dynamic_lb in tlb", 0, world.get(27))
        world.need(world.set(attr(1, u8(ALB))))
        check.equal("tlb_dynamic_lb in alb", 1, world.get(27))


def monitors_exclude(world, check):
    """miimon and arp_interval: setting one takes the other away."""
    def state():
        return world.get(3), world.get(7), world.get(9)

    for set_one in (lambda kind, value: world.set(attr(kind, u32(value))),
                    lambda kind, value: world.write(
                        {3: "miimon", 7: "arp_interval",
                         9: "arp_validate"}[kind], str(value))):
        world.make(AB)
        check.equal("arp_interval", "0", set_one(7, 200).name)
        check.equal("arp_validate", "0", set_one(9, 3).name)
        check.equal("miimon 0", "0", set_one(3, 0).name)
        check.equal("miimon 0 leaves ARP", (0, 200, 3), state())
        check.equal("miimon", "0", set_one(3, 100).name)
        check.equal("miimon ends ARP", (100, 0, 0), state())
        check.equal("arp_interval 0", "0", set_one(7, 0).name)
        check.equal("arp_interval 0 leaves miimon", (100, 0, 0), state())
        check.equal("arp_validate", "0", set_one(9, 2).name)
        check.equal("arp_validate leaves miimon", (100, 0, 2), state())
        check.equal("arp_interval", "0", set_one(7, 200).name)
        check.equal("arp_interval ends miimon", (0, 200, 2), state())
        world.make(AB)
        check.equal("arp_validate", "0", set_one(9, 3).name)
        check.equal("miimon", "0", set_one(3, 100).name)
        check.equal("miimon without ARP to end", (100, 0, 3), state())


def monitors_one_request(world, check):
    """Both monitors in one request contradict each other."""
    for data, want in [((3, 100, 7, 100), "EINVAL"), ((3, 0, 7, 100), "0"),
                       ((3, 100, 7, 0), "0"), ((3, 100, 9, 1), "EINVAL"),
                       ((3, 100, 9, 0), "0"), ((7, 100, 9, 1), "0"),
                       ((7, 100, 3, 100), "EINVAL")]:
        world.make(AB)
        answer = world.set(attr(data[0], u32(data[1])),
                           attr(data[2], u32(data[3])))
        check.equal(str(data), want, answer.name)


def delays_kept(world, check):
    """Delays are times: another miimon leaves them as they were set."""
    world.make(AB, data=[attr(3, u32(100)), attr(4, u32(300)),
                         attr(5, u32(200)), attr(28, u32(400))])
    for miimon in (50, 0, 7, 100):
        world.need(world.set(attr(3, u32(miimon))))
        check.equal(f"delays with miimon {miimon}", (300, 200, 400),
                    (world.get(4), world.get(5), world.get(28)))


def active_slave(world, check):
    """By name and by index, and what cannot become active."""
    zero, one = (ifindex(name) for name in SLAVES)
    for mode in world.has:
        world.make(mode, True, 2)
        if mode not in (AB, TLB, ALB):
            check.equal(f"in {MODES[mode]}", ("EACCES", "EACCES"),
                        (world.write("active_slave", SLAVES[1]).name,
                         world.set(attr(2, u32(one))).name))
            continue
        for text, want, now in [
                (SLAVES[1], "0", 1), (SLAVES[1], "0", 1),
                (f" {SLAVES[0]} \n", "0", 0), ("ms2", "EINVAL", 0),
                ("lo", "EINVAL", 0), (BOND, "EINVAL", 0),
                ("nonsense", "ENODEV", 0), ("n" * 40, "ENODEV", 0),
                (SLAVES[1], "0", 1)]:
            check.equal(f"{text!r} in {MODES[mode]}", want,
                        world.write("active_slave", text).name)
            check.equal(f"active after {text!r}", SLAVES[now],
                        world.read("active_slave"))
        for value, want, now in [
                (zero, "0", zero), (one, "0", one), (99999, "ENODEV", one),
                (ifindex("ms2"), "EINVAL", one), (0, "0", zero)]:
            check.equal(f"{value} in {MODES[mode]}", want,
                        world.set(attr(2, u32(value))).name)
            check.equal(f"active after {value}", now, world.get(2))
        check.equal("clear", "0", world.write("active_slave", "\n").name)


def active_slave_down(world, check):
    """A slave whose link is down cannot become active."""
    world.make(AB, True, 2, [attr(3, u32(10))])
    world.need(world.write("active_slave", SLAVES[1]))
    world.need(world.net.up(SLAVES[0], False))
    check.equal("a slave that is down", "EINVAL",
                world.write("active_slave", SLAVES[0]).name)
    check.equal("the active one again", "0",
                world.write("active_slave", SLAVES[1]).name)
    check.equal("it", SLAVES[1], world.read("active_slave"))


def primary(world, check):
    """Kept by name for a slave to come; an unknown index clears."""
    zero, one = (ifindex(name) for name in SLAVES)
    world.make(0, True, 2)
    check.equal("in balance-rr", ("EACCES", "EACCES"),
                (world.write("primary", SLAVES[1]).name,
                 world.set(attr(11, u32(one))).name))
    world.make(AB, True, 1)
    check.equal("to come", "0", world.write("primary", SLAVES[1]).name)
    check.equal("shown", ("", None), (world.read("primary"), world.get(11)))
    world.need(world.net.master(SLAVES[1], BOND))
    check.equal("has come", (SLAVES[1], one),
                (world.read("primary"), world.get(11)))
    check.equal("is active", one, world.get(2))
    for value, shown in [(zero, zero), (99999, None), (one, one), (0, None)]:
        check.equal(f"index {value}", "0",
                    world.set(attr(11, u32(value))).name)
        check.equal(f"shown after {value}", shown, world.get(11))
    for text, shown in [(f"{SLAVES[0]}\n", SLAVES[0]), ("\n", ""),
                        (SLAVES[1], SLAVES[1]), ("nonsense", "")]:
        check.equal(f"{text!r}", "0", world.write("primary", text).name)
        check.equal(f"shown after {text!r}", shown, world.read("primary"))
    world.need(world.write("primary", "\n"))
    world.need(world.write("active_slave", SLAVES[0]))
    world.need(world.write("primary_reselect", "failure"))
    world.need(world.write("primary", SLAVES[1]))
    check.equal("once against primary_reselect", one, world.get(2))


def primary_too_long(world, check):
    """A name that no device can have is not cut down to one that some has."""
    world.make(AB)
    check.equal("16 characters", "EINVAL",
                world.write("primary", "n" * 16).name)


def queue_id(world, check):
    """One queue one slave, and no more queues than there are."""
    zero, one = SLAVES
    world.make(AB, True, 2)
    for text, want, shown in [
            (f"{zero}:1\n", "0", "1 0"), (f"{zero}:1", "0", "1 0"),
            (f"{one}:1", "EPERM", "1 0"), (f"{one}:16", "0", "1 16"),
            (f"{one}:17", "EPERM", "1 16"), (f"{one}:65535", "EPERM", "1 16"),
            (f"{one}:-1", "EPERM", "1 16"), (f"{one}:", "EPERM", "1 16"),
            (one, "EPERM", "1 16"), (f"{one}:x", "EPERM", "1 16"),
            ("ms2:2", "EPERM", "1 16"), ("nonsense:2", "EPERM", "1 16"),
            (":2", "EPERM", "1 16"), (f"{zero}:0", "0", "0 16"),
            (f"{one}: 0", "0", "0 0")]:
        check.equal(f"{text!r}", want, world.write("queue_id", text).name)
        want = " ".join(f"{s}:{q}" for s, q in zip(SLAVES, shown.split()))
        check.equal(f"after {text!r}", want, world.read("queue_id"))
    for value, want in [(3, "0"), (16, "0"), (17, "EPERM"), (0, "0")]:
        before = world.get_slave(zero, 5)
        check.equal(f"netlink {value}", want,
                    world.net.slave_change(zero, [attr(5, u16(value))]).name)
        check.equal(f"after netlink {value}", before if want != "0" else value,
                    world.get_slave(zero, 5))
    world.need(world.net.slave_change(zero, [attr(5, u16(5))]))
    check.equal("netlink, taken", "EPERM",
                world.net.slave_change(one, [attr(5, u16(5))]).name)


def queue_id_strict(world, check):
    """Numbers do not wrap around, and no rubbish follows them."""
    world.make(AB, True, 2)
    for text in (f"{SLAVES[0]}:65537", f"{SLAVES[0]}:5x",
                 f"{SLAVES[0]}:0x4"):
        check.equal(f"{text!r}", "EPERM", world.write("queue_id", text).name)


def prio(world, check):
    """Of a slave, in modes with an active slave; higher takes over."""
    one = SLAVES[1]
    for mode in world.has:
        world.make(mode, True, 2)
        want = "0" if mode in (AB, TLB, ALB) else "EACCES"
        for value in (10, -10, INT_MAX):
            answer = world.net.slave_change(one, [attr(9, u32(value))])
            check.equal(f"{value} in {MODES[mode]}", want, answer.name)
            check.equal(f"{value} then", value & 0xffffffff if want == "0"
                        else 0, world.get_slave(one, 9))
        want = "0" if mode == AD else "EACCES"
        answer = world.net.slave_change(one, [attr(10, u16(7))])
        check.equal(f"actor_port_prio in {MODES[mode]}", want, answer.name)
    world.make(AB, True, 2)
    first = world.get(2)
    check.equal("first active", ifindex(SLAVES[0]), first)
    world.need(world.net.slave_change(one, [attr(9, u32(10))]))
    check.equal("active after", ifindex(one), world.get(2))


def slaves_file(world, check):
    """+NAME and -NAME."""
    zero = SLAVES[0]
    for mode in world.has:
        world.make(mode)
        for text, want, shown in [
                (f"+{zero}\n", "0", zero), (f"+{zero}", "EBUSY", zero),
                (f"-{zero} ", "0", ""), (f"-{zero}", "EINVAL", ""),
                (f" +{zero}", "0", zero), (f"-{zero}\n", "0", ""),
                ("+nonsense", "ENODEV", ""), ("-nonsense", "ENODEV", ""),
                ("+" + "n" * 40, "ENODEV", ""), (zero, "EPERM", ""),
                (f"*{zero}", "EPERM", ""), ("+", "EPERM", ""),
                ("\n", "EPERM", ""), (f"- {zero}", "EPERM", ""),
                (f"+{BOND}", "EPERM", "")]:
            check.equal(f"{text!r}", want, world.write("slaves", text).name)
            check.equal(f"after {text!r}", shown, world.read("slaves"))


def arp_ip_target(world, check):
    """+ADDRESS and -ADDRESS in sysfs, a whole list in netlink."""
    for mode in world.has:
        world.make(mode)
        for text, want, shown in [
                ("+10.0.0.1\n", "0", "10.0.0.1"),
                ("+10.0.0.2", "0", "10.0.0.1 10.0.0.2"),
                ("+10.0.0.3 ", "0", "10.0.0.1 10.0.0.2 10.0.0.3"),
                ("+10.0.0.2", "EINVAL", "10.0.0.1 10.0.0.2 10.0.0.3"),
                ("-10.0.0.1", "0", "10.0.0.2 10.0.0.3"),
                ("-10.0.0.1", "EINVAL", "10.0.0.2 10.0.0.3"),
                ("-0.0.0.0", "EINVAL", "10.0.0.2 10.0.0.3"),
                ("+0.0.0.0", "EINVAL", "10.0.0.2 10.0.0.3"),
                ("+255.255.255.255", "EINVAL", "10.0.0.2 10.0.0.3"),
                ("10.0.0.9", "EPERM", "10.0.0.2 10.0.0.3"),
                ("+10.0.0", "EPERM", "10.0.0.2 10.0.0.3"),
                ("+", "EPERM", "10.0.0.2 10.0.0.3"),
                ("\n", "EPERM", "10.0.0.2 10.0.0.3"),
                ("+ 10.0.0.9", "EPERM", "10.0.0.2 10.0.0.3"),
                ("+10.0.0.256", "EPERM", "10.0.0.2 10.0.0.3")]:
            check.equal(f"{text!r}", want,
                        world.write("arp_ip_target", text).name)
            check.equal(f"after {text!r}", shown, world.read("arp_ip_target"))
    many = [f"10.1.0.{i}" for i in range(16)]
    check.equal("16", "0", world.set(ip4(*many)).name)
    check.equal("17th", "EINVAL",
                world.write("arp_ip_target", "+10.2.0.1").name)
    check.equal("a list", "0", world.set(ip4("10.3.0.1", "10.3.0.2")).name)
    check.equal("it", "10.3.0.1 10.3.0.2", world.read("arp_ip_target"))
    nest = dict(world.net.info(BOND))[8]
    check.equal("as netlink tells it",
                [(0, socket.inet_aton("10.3.0.1")),
                 (1, socket.inet_aton("10.3.0.2"))], attrs(nest))
    check.equal("none", "0", world.set(ip4()).name)
    check.equal("no nest for none", None, world.get(8))


def targets_refused(world, check):
    """A list with a mistake anywhere leaves the old one whole."""
    world.make(AB, data=[ip4("10.0.0.1", "10.0.0.2"), ip6("2001:db8::1")])
    before = world.dump()
    for data in (ip4("10.9.0.1", "10.9.0.1"), ip4("10.9.0.1", "0.0.0.0"),
                 ip4(*(f"10.9.0.{i}" for i in range(17))),
                 attr(8, [attr(0, b"\1\2")]),
                 ip6("2001:db8::2", "2001:db8::2"), ip6("2001:db8::2", "::1"),
                 ip6("::"), ip6("ff02::1"), attr(31, [attr(0, b"\1\2")]),
                 ip6(*(f"2001:db8::{i:x}" for i in range(17)))):
        check.equal(f"{data.hex()}", "EINVAL", world.set(data).name)
        check.equal(f"{data.hex()}: what it changed", before, world.dump())


def target_rubbish(world, check):
    """No rubbish follows an address."""
    world.make(AB)
    check.equal("1x", "EPERM",
                world.write("arp_ip_target", "+10.0.0.1x").name)


def ns_ip6_target(world, check):
    """A list of IPv6 targets, by netlink only."""
    many = [f"2001:db8::{i:x}" for i in range(1, 17)]
    for mode in world.has:
        world.make(mode)
        for group in (["2001:db8::1"], ["2001:db8::1", "2001:db8:1::1"],
                      ["fe80::1"], many, []):
            check.equal(f"{group} in {MODES[mode]}", "0",
                        world.set(ip6(*group)).name)
            nest = dict(world.net.info(BOND)).get(31, b"")
            check.equal("as netlink tells them", group,
                        [socket.inet_ntop(socket.AF_INET6, data)
                         for _, data in attrs(nest)])


def ad_actor_system(world, check):
    """A MAC address, or zeros for that of the bond; in 802.3ad only."""
    good, group = b"\2\0\0\0\0\1", b"\1\0\0\0\0\1"
    for mode in world.has:
        if mode != AD:
            world.make(mode)
            check.equal(f"in {MODES[mode]}", ("EACCES", "EACCES"),
                        (world.set(attr(26, good)).name,
                         world.write("ad_actor_system",
                                     "02:00:00:00:00:01").name))
            check.equal("its file", "", world.read("ad_actor_system"))
            continue
        world.make(mode)
        for data, want in [(good, "0"), (group, "EINVAL"),
                           (good[:5], "EINVAL"), (good + b"\0", "ERANGE"),
                           (bytes(6), "0")]:
            check.equal(data.hex(), want, world.set(attr(26, data)).name)
        for text, want in [("02:00:00:00:00:01\n", "0"), ("\n", "EINVAL"),
                           ("01:00:00:00:00:01", "EINVAL"),
                           ("02:00:00:00:00", "EINVAL"), ("x", "EINVAL")]:
            check.equal(repr(text), want,
                        world.write("ad_actor_system", text).name)
        check.equal("it", "02:00:00:00:00:01", world.read("ad_actor_system"))


def use_carrier_off(world, check):
    """The old way of looking at links: accepted, and not gone."""
    for channel in (lambda: world.set(attr(6, u8(0))),
                    lambda: world.write("use_carrier", "0"),
                    lambda: world.write("use_carrier", "off")):
        world.make(0)
        check.equal("use_carrier 0", "0", channel().name)
        check.equal("use_carrier then", ("1", 1),
                    (world.read("use_carrier"), world.get(6)))


def number_overflow(world, check):
    """A number that is too long for the machine is too large."""
    world.make(0)
    for text in ("18446744073709551616", "18446744073709551617",
                 "184467440737095516160"):
        for option in ("mode", "miimon", "resend_igmp", "xmit_hash_policy"):
            check.equal(f"{option} {text}", "EINVAL",
                        world.write(option, text).name)


def ad_select_port_prio(world, check):
    """The newest policy, on every kernel."""
    world.make(0)
    check.equal("by number", "0", world.set(attr(22, u8(3))).name)
    check.equal("by name", "0", world.write("ad_select",
                                            "actor_port_prio").name)
    check.equal("it", "actor_port_prio 3", world.read("ad_select"))


BEYOND = [delays_kept, primary_too_long, queue_id_strict, targets_refused,
          target_rubbish, use_carrier_off, number_overflow,
          ad_select_port_prio]
CASES = [mode_forces, monitors_exclude, monitors_one_request, active_slave,
         active_slave_down, primary, queue_id, prio, slaves_file,
         arp_ip_target, ns_ip6_target, ad_actor_system] + BEYOND

if __name__ == "__main__":
    ktap_main({case.__name__: in_world(case) for case in CASES},
              [case.__name__ for case in BEYOND])
