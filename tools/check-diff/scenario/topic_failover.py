# SPDX-License-Identifier: GPL-2.0
"""
What happens when links fail and return: who becomes active, which addresses
the bond and its slaves carry then, where the multicast lists are, what is
announced to the network, and in which order userland hears of it.
"""
import socket
import struct
import time

import nl
from events import Recorder
from linkdump import flags_text, mac_text
from world import (BOND_INDEX, MODES, Out, World, bond_data, read_file,
                   write_file)

BOND = "/sys/class/net/bond0/bonding/"
ETH_P_ALL = 3
PACKET_OUTGOING = 4


def where_lists_are(w):
    """Multicast addresses of the slaves that are not every device's."""
    own = []
    for line in read_file("/proc/net/dev_mcast").splitlines():
        words = line.split()
        if words[1].startswith("v"):
            own.append("%s:%s x%s" % (words[1], words[4], words[2]))
    return sorted(own)


def show(w, out):
    """The state that matters, a line for each device."""
    link = w.nl.get(BOND_INDEX)
    if not isinstance(link, nl.Link):
        out.line("no bond0")
        return
    active = w.active()
    out.line("bond0 %s active=%d flags=%s" % (
        mac_text(link.by_kind[nl.IFLA_ADDRESS]), active,
        flags_text(link.flags)))
    for index in (11, 12, 13):
        link = w.nl.get(index)
        if not isinstance(link, nl.Link):
            continue
        slave = link.info(nl.IFLA_INFO_SLAVE_DATA)
        out.line("%s %s promisc=%d allmulti=%s %s" % (
            link.name, mac_text(link.by_kind[nl.IFLA_ADDRESS]),
            link.number(30), link.number(61),
            " ".join("%d:%s" % (k, slave[k].hex())
                     for k in (1, 2, 3, 9) if k in slave)))
    out.line("lists: %s" % " ".join(where_lists_are(w)))


def peer(n, on):
    def action(w):
        (w.nl.up if on else w.nl.down)(50 + n)
        w.wait("carrier of v%d" % n,
               lambda: bool(w.nl.get(10 + n).flags & 0x10000) == on)
        w.wait_mii(10 + n, 0 if on else 2)
    return action


def sysfs(name, text):
    return lambda w: write_file(BOND + name, text)


STEPS = (
    ("start", lambda w: None),
    ("v1 fails", peer(1, False)),
    ("v1 returns", peer(1, True)),
    ("v2 fails", peer(2, False)),
    ("v3 fails", peer(3, False)),
    ("v1 fails, none left", peer(1, False)),
    ("v3 returns", peer(3, True)),
    ("v2 returns", peer(2, True)),
    ("v1 returns, all up", peer(1, True)),
    ("active v2", sysfs("active_slave", "v2")),
    ("active cleared", sysfs("active_slave", "\n")),
    ("primary v3", sysfs("primary", "v3")),
    ("primary fails", peer(3, False)),
    ("primary returns", peer(3, True)),
    ("reselect failure", sysfs("primary_reselect", "failure")),
    ("primary fails again", peer(3, False)),
    ("primary returns again", peer(3, True)),
    ("reselect better", sysfs("primary_reselect", "better")),
    ("primary none", sysfs("primary", "\n")),
    ("prio of v1", lambda w: w.nl.change_slave(
        11, "bond", nl.attr(9, b"\x63\0\0\0"))),
    ("active cleared with prio", sysfs("active_slave", "\n")),
    ("v2 set down", lambda w: (w.nl.down(12), w.wait_mii(12, 2))),
    ("v2 set up", lambda w: (w.nl.up(12), w.wait_mii(12, 0))),
    ("release v1", lambda w: w.nl.master(11, 0)),
    ("v1 comes back", lambda w: (w.nl.down(11), w.enslave(11),
                                 w.wait_mii(11, 0))),
    ("promisc and allmulti", lambda w: w.nl.flags(BOND_INDEX, 0x300, 0x300)),
    ("active v3 while promisc", sysfs("active_slave", "v3")),
    ("promisc off", lambda w: w.nl.flags(BOND_INDEX, 0, 0x300)),
    ("address of the bond", lambda w: w.nl.set(
        BOND_INDEX, nl.attr(nl.IFLA_ADDRESS, b"\x02\xbd\0\0\7\7"))),
    ("active v1", sysfs("active_slave", "v1")),
    ("bond down", lambda w: w.nl.down(BOND_INDEX)),
    ("bond up", lambda w: (w.nl.up(BOND_INDEX), w.wait_mii(11, 0))),
    ("release all", lambda w: [w.nl.master(n, 0) for n in (11, 12, 13)]),
)


def join_group(device):
    """A multicast group joined on device, and the socket that holds it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    index = socket.if_nametoindex(device)
    request = struct.pack("=4s4si", bytes((239, 1, 2, 3)), bytes(4), index)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)
    return sock


def add_address(w, index, address, length=24):
    data = bytes(map(int, address.split(".")))
    w.must(w.nl.request(
        nl.RTM_NEWADDR, nl.NLM_F_CREATE,
        struct.pack("=BBBBi", socket.AF_INET, length, 0, 0, index)
        + nl.attr(2, data) + nl.attr(1, data)), "address")


def run_variants(mode):
    if mode != "active-backup":
        yield "", {}
        return
    for number, name in enumerate(("none", "active", "follow")):
        yield "/fail_over_mac " + name, {"fail_over_mac": number}


def run_failover(directory):
    out = Out(directory, "failover")
    for mode in MODES:
        for name, options in run_variants(mode):
            with World() as w:
                w.bond(mode=mode, miimon=50, **options)
                for n in (1, 2, 3):
                    w.enslave(w.veth(n))
                w.must(w.nl.up(BOND_INDEX), "up")
                w.settle()
                group = join_group("bond0")
                recorder = Recorder(w, out, uevents=False)
                for step, action in STEPS:
                    out.case("%s%s/%s" % (mode, name, step))
                    action(w)
                    recorder.lines(out)
                    show(w, out)
                recorder.close()
                group.close()
    out.close()


# --- what makes a bond choose again ---

def slave_prio(n, prio):
    return lambda w: w.nl.change_slave(
        10 + n, "bond", nl.attr(9, struct.pack("=i", prio)))


def option(**options):
    return lambda w: w.set_bond(**options)


def both(*actions):
    return lambda w: [action(w) for action in actions]


def rename(n, name):
    return lambda w: w.nl.set(10 + n, nl.attr(nl.IFLA_IFNAME, name))


# Each on a new bond of v1, v2 and v3 whose active slave has become v2.
CHOICES = (
    ("nothing", lambda w: None),
    ("primary of no device", sysfs("primary", "v9")),
    ("primary v3", sysfs("primary", "v3")),
    ("primary v2", sysfs("primary", "v2")),
    ("primary v2, then of no device", both(sysfs("primary", "v2"),
                                           sysfs("primary", "v9"))),
    ("primary v2, then none", both(sysfs("primary", "v2"),
                                   sysfs("primary", "\n"))),
    ("primary v2, then none by netlink", both(option(primary=12),
                                              option(primary=0))),
    ("primary v3, then active v2", both(sysfs("primary", "v3"),
                                        sysfs("active_slave", "v2"))),
    ("primary v3, then none", both(sysfs("primary", "v3"),
                                   sysfs("primary", "\n"))),
    ("primary none", sysfs("primary", "\n")),
    ("primary none by netlink", option(primary=0)),
    ("primary by a new name", both(sysfs("primary", "new"),
                                   rename(3, "new"))),
    ("primary renamed away", both(sysfs("primary", "v2"),
                                  rename(2, "new"))),
    ("another renamed", rename(3, "new")),
    ("reselect always", option(primary_reselect=0)),
    ("reselect better", option(primary_reselect=1)),
    ("reselect failure", option(primary_reselect=2)),
    ("prio of v1 as it is", slave_prio(1, 0)),
    ("prio of v2 as it is", slave_prio(2, 0)),
    ("prio of v1 up", slave_prio(1, 5)),
    ("prio of v2 up", slave_prio(2, 5)),
    ("prio of v2 up and down", both(slave_prio(2, 5), slave_prio(2, 0))),
    ("prio of v2 down", slave_prio(2, -5)),
    ("prio of v3 up", slave_prio(3, 5)),
    ("prio of v1 down", slave_prio(1, -5)),
    ("v1 fails and returns", both(peer(1, False), peer(1, True))),
    ("v3 fails and returns", both(peer(3, False), peer(3, True))),
    ("v1 of higher prio returns", both(peer(1, False), slave_prio(1, 5),
                                       peer(1, True))),
    ("active chosen again", sysfs("active_slave", "v2")),
    ("active cleared", sysfs("active_slave", "\n")),
    ("fourth slave", lambda w: w.enslave(w.veth(4))),
    ("v3 is released", lambda w: w.nl.master(13, 0)),
    ("v1 is released", lambda w: w.nl.master(11, 0)),
    ("active is released", lambda w: w.nl.master(12, 0)),
    ("miimon", option(miimon=70)),
    ("all_slaves_active", option(all_slaves_active=1)),
    ("min_links", option(min_links=1)),
    ("bond down and up", lambda w: (w.nl.down(BOND_INDEX),
                                    w.nl.up(BOND_INDEX),
                                    w.wait_mii(12, 0))),
    ("v1 down and up", lambda w: (w.nl.down(11), w.wait_mii(11, 2),
                                  w.nl.up(11), w.wait_mii(11, 0))),
)


def run_reselect(directory):
    """Which slave is active after each of the choices."""
    out = Out(directory, "reselect")
    for number, name in enumerate(("always", "better", "failure")):
        out.case("primary_reselect %s" % name)
        for choice, action in CHOICES:
            with World() as w:
                w.bond(mode="active-backup", miimon=50,
                       primary_reselect=number)
                for n in (1, 2, 3):
                    w.enslave(w.veth(n))
                w.must(w.nl.up(BOND_INDEX), "up")
                w.settle()
                for n in (1, 2, 3):
                    w.wait_mii(10 + n, 0)
                w.set_bond(active_slave=12)
                action(w)
                time.sleep(0.2)
                out.line("%s: %d" % (choice, w.active()))
    out.close()


# --- what the network hears ---

class Wire:
    """Frames that arrive at a veth peer, since the last look."""

    def __init__(self, device):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(ETH_P_ALL))
        self.sock.bind((device, ETH_P_ALL))
        self.sock.setblocking(False)

    def read(self):
        out = []
        while True:
            try:
                data, where = self.sock.recvfrom(2048)
            except (BlockingIOError, OSError):
                return out
            if where[2] != PACKET_OUTGOING:
                out.append(data)


def kind_of(frame):
    """"garp", "igmp" or None for a frame."""
    ethertype = struct.unpack_from("!H", frame, 12)[0]
    if ethertype == 0x0806 and frame[28:32] == frame[38:42]:
        return "garp from %s" % mac_text(frame[22:28])
    if ethertype == 0x0800 and frame[23] == 2:
        return "igmp"
    return None


def heard(wires, seconds):
    """{peer: {kind: count}} of a stretch of time; IGMP only as present."""
    time.sleep(seconds)
    out = []
    for name, wire in sorted(wires.items()):
        count = {}
        for frame in wire.read():
            kind = kind_of(frame)
            if kind == "igmp":
                count[kind] = "some"
            elif kind:
                count[kind] = count.get(kind, 0) + 1
        for kind, number in sorted(count.items()):
            out.append("%s: %s %s" % (name, number, kind))
    return out


ANNOUNCE = (
    dict(miimon=50),
    dict(miimon=50, num_peer_notif=0),
    dict(miimon=50, num_peer_notif=4),
    dict(miimon=50, num_peer_notif=3, peer_notif_delay=200),
    dict(miimon=50, resend_igmp=0),
    dict(miimon=50, resend_igmp=3),
    dict(miimon=50, fail_over_mac=1),
    dict(miimon=50, fail_over_mac=2, num_peer_notif=2),
)


def run_announce(directory):
    out = Out(directory, "announce")
    for mode in MODES:
        for options in ANNOUNCE:
            label = " ".join("%s=%s" % o for o in options.items())
            with World() as w:
                w.bond(mode=mode)
                w.must(w.nl.change(BOND_INDEX, "bond", bond_data(**options)),
                       label)
                for n in (1, 2):
                    w.enslave(w.veth(n))
                w.must(w.nl.up(BOND_INDEX), "up")
                add_address(w, BOND_INDEX, "10.0.0.1")
                group = join_group("bond0")
                w.settle()
                wires = {"p%d" % n: Wire("p%d" % n) for n in (1, 2)}
                heard(wires, 1.5)
                for step, action in (("v1 fails", peer(1, False)),
                                     ("v1 returns", peer(1, True)),
                                     ("v2 fails", peer(2, False))):
                    out.case("%s/%s/%s" % (mode, label, step))
                    action(w)
                    out.lines(heard(wires, 1.5))
                group.close()
    out.close()
