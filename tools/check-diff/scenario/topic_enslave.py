# SPDX-License-Identifier: GPL-2.0
"""
Devices that a bond takes or refuses, by netlink, sysfs and ioctl: the errno,
and what the attempt has left behind. Topics "enslave", "masters", "propagate".
"""
import nl
from ioctls import enslave as ioctl_enslave
from linkdump import link_lines
from topic_state import mask_macs
from world import (BOND_INDEX, MODES, Out, World, bond_attr, read_file, run,
                   write_file)

SLAVES = "/sys/class/net/bond0/bonding/slaves"


def ip(*words):
    """Prepare with ip(8); False when this kernel has no such device."""
    return "<exit" not in run("ip", *words)


def ip_link(name, *words):
    return lambda w: ip("link", "add", "name", name, *words)


def many(*steps):
    return lambda w: all([step(w) is not False for step in steps])


def dummy(w):
    return w.dummy(1)


def dummy_up(w):
    return w.dummy(1, up=True)


def in_bridge(w):
    return ip("link", "add", "br0", "type", "bridge") and \
        w.dummy(1) and ip("link", "set", "d1", "master", "br0")


def in_other_bond(w):
    w.bond("bond1", 101)
    w.enslave(w.dummy(1), 101)


def under_macvlan(w):
    return w.dummy(1) and ip("link", "add", "link", "d1", "name", "mv0",
                             "type", "macvlan")


def under_vlan(w):
    return w.dummy(1) and ip("link", "add", "link", "d1", "name", "vl0",
                             "type", "vlan", "id", "9")


def vlan_on_bond(w):
    return ip("link", "add", "link", "bond0", "name", "bond0.3", "type",
              "vlan", "id", "3")


def loop(w):
    w.bond("bond1", 101)
    w.enslave(BOND_INDEX, 101)


def other_bond_with_slave(w):
    w.bond("bond1", 101)
    w.enslave(w.dummy(3), 101)


def vlan_of_bond(w):
    w.enslave(w.dummy(4))
    return vlan_on_bond(w)


def small_mtu(w):
    w.dummy(1)
    w.nl.set(11, nl.u32(nl.IFLA_MTU, 1000))


def ether_first(w):
    w.enslave(w.dummy(4))
    return gre(w)


def gre(w):
    return ip("link", "add", "g1", "type", "gre", "local", "10.9.0.1",
              "remote", "10.9.0.2")


def gre_first(w):
    if not ip("link", "add", "g2", "type", "gre", "local", "10.9.0.1",
              "remote", "10.9.0.3"):
        return False
    return ip("link", "set", "g2", "master", "bond0") and w.dummy(1)


def tun(w):
    return ip("tuntap", "add", "t1", "mode", "tun")


def tap(w):
    return ip("tuntap", "add", "t1", "mode", "tap")


# (case, what to prepare, the device to enslave)
CANDIDATES = (
    ("nothing of that name", lambda w: None, "nope"),
    ("loopback", lambda w: None, "lo"),
    ("loopback with a VLAN on the bond", vlan_on_bond, "lo"),
    ("itself", lambda w: None, "bond0"),
    ("dummy", dummy, "d1"),
    ("dummy that is up", dummy_up, "d1"),
    ("dummy in a bridge", in_bridge, "d1"),
    ("dummy in another bond", in_other_bond, "d1"),
    ("dummy under macvlan", under_macvlan, "d1"),
    ("dummy under a VLAN", under_vlan, "d1"),
    ("dummy with a smaller MTU", small_mtu, "d1"),
    ("dummy with a VLAN on the bond", many(vlan_on_bond, dummy), "d1"),
    ("empty bond", lambda w: w.bond("bond1", 101), "bond1"),
    ("bond with a slave", other_bond_with_slave, "bond1"),
    ("its own master", loop, "bond1"),
    ("VLAN of the bond", vlan_of_bond, "bond0.3"),
    ("bridge", ip_link("br0", "type", "bridge"), "br0"),
    ("vrf", ip_link("vrf0", "type", "vrf", "table", "9"), "vrf0"),
    ("team", ip_link("tm0", "type", "team"), "tm0"),
    ("macvlan", many(dummy, ip_link("mv0", "link", "d1", "type",
                                    "macvlan")), "mv0"),
    ("ipvlan", many(dummy, ip_link("iv0", "link", "d1", "type", "ipvlan")),
     "iv0"),
    ("vxlan", ip_link("vx0", "type", "vxlan", "id", "7", "dstport", "4789"),
     "vx0"),
    ("ifb", ip_link("ifb9", "type", "ifb"), "ifb9"),
    ("nlmon", ip_link("nm0", "type", "nlmon"), "nm0"),
    ("wireguard", ip_link("wg0", "type", "wireguard"), "wg0"),
    ("sit", ip_link("s1", "type", "sit", "local", "10.9.0.1", "remote",
                    "10.9.0.2"), "s1"),
    ("ipip", ip_link("i1", "type", "ipip", "local", "10.9.0.1", "remote",
                     "10.9.0.2"), "i1"),
    ("gre", gre, "g1"),
    ("gre after Ethernet", ether_first, "g1"),
    ("dummy after gre", gre_first, "d1"),
    ("tun", tun, "t1"),
    ("tap", tap, "t1"),
    ("gre with a VLAN on the bond", many(vlan_on_bond, gre), "g1"),
)


def index_of(w, name):
    for link in w.nl.links():
        if link.name == name:
            return link.index
    return 9999


def by_netlink(w, name):
    return w.nl.master(index_of(w, name), BOND_INDEX).errno


def by_sysfs(w, name):
    return write_file(SLAVES, "+" + name)


def by_ioctl(w, name):
    return ioctl_enslave("bond0", name)


DOORS = (("netlink", by_netlink), ("sysfs", by_sysfs), ("ioctl", by_ioctl))


def snapshot(w):
    """{link: lines} of all links."""
    return {link.name: link_lines(link) for link in w.nl.links()}


def write_changes(out, before, after):
    for name in sorted(set(before) | set(after)):
        if name not in after or name not in before:
            out.line("%s: %s" % (name, "appears" if name in after
                                 else "vanishes"))
            continue
        old, new = before[name], after[name]
        for line in new:
            if line not in old:
                out.line("%s: %s" % (name, line))
        kept = {line.split(" = ")[0] for line in new}
        for line in old:
            if line.split(" = ")[0] not in kept:
                out.line("%s: no %s" % (name, line.split(" = ")[0]))


def without_opening(links):
    """A snapshot without what is left of opening and closing.

    By the stack, and by ipvlan, which has NOARP from its first opening on.
    """
    return {name: [line.replace("RUNNING,", "").replace(",LOWER_UP", "")
                   .replace("NOARP,", "")
                   for line in lines if "QDISC (" not in line]
            for name, lines in links.items()}


def attempt(w, out, case, door, name, refused):
    before = snapshot(w)
    code = door(w, name)
    w.settle(out)
    after = snapshot(w)
    out.line(nl.error_name(code))
    write_changes(out, before, after)
    if code and without_opening(before) != without_opening(after):
        refused.append(case)


def release(w, out, name):
    before = snapshot(w)
    answer = w.nl.master(index_of(w, name), 0)
    w.settle(out)
    out.line("release: %s" % answer)
    write_changes(out, before, snapshot(w))


def run_enslave(directory):
    out = Out(directory, "enslave")
    refused = []
    for mode in MODES:
        for case, prepare, name in CANDIDATES:
            for door_name, door in DOORS:
                label = "%s/%s/%s" % (mode, case, door_name)
                with World() as w:
                    w.bond(mode=mode)
                    out.case(label)
                    if prepare(w) is False:
                        out.line("SKIP not possible on this kernel")
                        continue
                    w.settle()
                    attempt(w, out, label, door, name, refused)
                    if door_name == "netlink" and name != "nope":
                        release(w, out, name)
    out.close()
    promises = Out(directory, "enslave.promises")
    promises.case("enslave: a refused device is left as it was")
    promises.lines(refused)
    promises.close()


# --- bonding_masters ---

MASTERS = ("+bond1", "+bond1", "+bond2\n", "-bond9", "-bond1", "+", "-", "",
           "\n", "bond3", "*bond3", "+bond0", "+lo", "-lo", "+" + "x" * 15,
           "+" + "x" * 16, "+a/b", "+a b", "+.", "+..", "+bonding_masters",
           "+b%d", "+b%d", "+ bond7", "-bond2", "+bond:1", "-" + "x" * 15,
           "+bond4 bond5", "-bond0")


def run_masters(directory):
    out = Out(directory, "masters")
    with World() as w:
        path = nl.sys_path("bonding_masters")
        out.case("new namespace")
        out.line(repr(read_file(path)))
        w.bond()
        for text in MASTERS:
            out.case("write %r" % text)
            out.line(nl.error_name(write_file(path, text)))
            out.line(repr(read_file(path)))
            out.line(" ".join(sorted(link.name for link in w.nl.links())))
        out.case("device named bonding_masters")
        out.line(str(w.nl.add("bonding_masters", "dummy")))
        out.case("rename to bonding_masters")
        w.dummy(1)
        out.line(str(w.nl.set(11, nl.attr(nl.IFLA_IFNAME,
                                          "bonding_masters"))))
    out.close()


# --- MTU, addresses, flags, VLANs between the bond and its slaves ---

def set_link(index, *attrs):
    return lambda w: w.nl.set(index, *attrs)


def mtu(index, value):
    return set_link(index, nl.u32(nl.IFLA_MTU, value))


def address(index, data):
    return set_link(index, nl.attr(nl.IFLA_ADDRESS, data))


def flag(index, bit, on):
    return lambda w: w.nl.flags(index, bit if on else 0, bit)


def add_vlan(w):
    return w.nl.add("bond0.8", "vlan", nl.attr(1, b"\x08\0"), 70,
                    nl.u32(nl.IFLA_LINK, BOND_INDEX))


PROPAGATE = (
    ("mtu 1400", mtu(BOND_INDEX, 1400)),
    ("mtu 68", mtu(BOND_INDEX, 68)),
    ("mtu 67", mtu(BOND_INDEX, 67)),
    ("mtu 65535", mtu(BOND_INDEX, 65535)),
    ("mtu 65536", mtu(BOND_INDEX, 65536)),
    ("mtu 9000", mtu(BOND_INDEX, 9000)),
    ("slave's mtu", mtu(11, 1200)),
    ("address", address(BOND_INDEX, b"\x02\xbd\1\1\1\1")),
    ("multicast address", address(BOND_INDEX, b"\1\0\x5e\0\0\1")),
    ("zero address", address(BOND_INDEX, bytes(6))),
    ("short address", address(BOND_INDEX, bytes(5))),
    ("slave's address", address(12, b"\x02\xbd\1\1\1\2")),
    ("promisc", flag(BOND_INDEX, 0x100, True)),
    ("allmulti", flag(BOND_INDEX, 0x200, True)),
    ("third slave", lambda w: w.enslave(w.veth(3))),
    ("promisc off", flag(BOND_INDEX, 0x100, False)),
    ("allmulti off", flag(BOND_INDEX, 0x200, False)),
    ("slave promisc", flag(11, 0x100, True)),
    ("vlan", add_vlan),
    ("vlan again", add_vlan),
    ("fourth slave", lambda w: w.enslave(w.veth(4))),
    ("release third", lambda w: w.nl.master(13, 0)),
    ("vlan gone", lambda w: w.nl.delete(70)),
    ("noarp", flag(BOND_INDEX, 0x80, True)),
    ("multicast off", flag(BOND_INDEX, 0x1000, False)),
    ("txqlen", set_link(BOND_INDEX, nl.u32(13, 77))),
    ("group", set_link(BOND_INDEX, nl.u32(27, 5))),
    ("alias", set_link(BOND_INDEX, nl.attr(20, "spare"))),
    ("netns move", set_link(BOND_INDEX, nl.u32(19, 1))),
    ("carrier by hand", set_link(BOND_INDEX, nl.u8(nl.IFLA_CARRIER, 0))),
    ("down", lambda w: w.nl.down(BOND_INDEX)),
    ("up", lambda w: w.nl.up(BOND_INDEX)),
    ("release first", lambda w: w.nl.master(11, 0)),
    ("release others", lambda w: [w.nl.master(n, 0) for n in (12, 14)]),
)


def run_propagate(directory):
    out = Out(directory, "propagate")
    for mode in MODES:
        with World() as w:
            w.bond(mode=mode)
            for n in (1, 2):
                w.enslave(w.veth(n))
            w.must(w.nl.up(BOND_INDEX), "up")
            w.settle()
            for name, action in PROPAGATE:
                before = snapshot(w)
                out.case("%s/%s" % (mode, name))
                answer = action(w)
                w.settle(out)
                if isinstance(answer, nl.Answer):
                    out.line(str(answer))
                write_changes(out, before, snapshot(w))
                out.lines(sorted(
                    " ".join(line.split()[1:]) for line in mask_macs(
                        read_file("/proc/net/dev_mcast")).splitlines()))
    out.close()


# --- many slaves: where texts are cut ---

def run_limits(directory):
    out = Out(directory, "limits")
    with World() as w:
        w.bond(mode="active-backup")
        w.must(w.nl.change(BOND_INDEX, "bond", bond_attr(3, 100)), "miimon")
        for n in range(300):
            index = 1000 + n
            w.must(w.nl.add("slave-name-%04d" % n, "dummy", index=index,
                            attrs=nl.attr(nl.IFLA_ADDRESS, bytes(
                                (2, 0xbd, 5, 0, n >> 8, n & 255)))), "dummy")
            w.enslave(index)
        w.must(w.nl.up(BOND_INDEX), "up")
        for name in ("slaves", "queue_id", "active_slave"):
            out.case(name)
            out.line(repr(read_file("/sys/class/net/bond0/bonding/" + name)))
        out.case("procfs")
        out.text(mask_macs(read_file("/proc/net/bonding/bond0")))
        out.case("masters")
        for n in range(300):
            w.bond("a-long-bond%04d" % n, 2000 + n)
        out.line(repr(read_file(nl.sys_path("bonding_masters"))))
    out.close()
