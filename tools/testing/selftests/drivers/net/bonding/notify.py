#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What the rest of the kernel, user space and the network hear of a bond. The
# first is seen by events/bond_events.ko, the second by rtnetlink, the third at
# the other ends of the slaves.

import os
import socket
import struct
import subprocess
import tempfile
import time

from bond_lib import (IFLA_IFNAME, RTM_NEWLINK, Check, Fail, Rtnl, attr, attrs,
                      ktap_main, number, sysfs_write)
from enslave_lib import Refuser, mac, make, need, net_read

RR, AB, XOR, BROADCAST = 0, 1, 2, 3
IFLA_BOND_MODE, IFLA_BOND_MIIMON, IFLA_BOND_ACTIVE_SLAVE = 1, 3, 2
IFLA_VLAN_ID, VETH_INFO_PEER, IFLA_EVENT = 1, 1, 44
ETH_P_ALL, ETH_P_IP, ETH_P_ARP, ETH_P_IPV6 = 3, 0x0800, 0x0806, 0x86dd
RTMGRP_LINK = 1
# IFLA_EVENT
FAILOVER, PEERS, IGMP = 3, 4, 5


def u8(value):
    return struct.pack("=B", value)


class Event:
    """A line of /proc/bond_events."""

    def __init__(self, line):
        words = line.split()
        self.when = int(words[0])
        self.name, self.dev = words[1:3]
        self.data = dict(zip(words[3::2], words[4::2]))

    def __repr__(self):
        return f"{self.when} {self.name} {self.dev} {self.data}"


class World:
    """A bond eb0, up, with an address; slaves es0 es1 whose other ends ep0 ep1
    are up."""

    def __init__(self):
        self.net = Rtnl()
        self.check = Check()
        self.refuser = Refuser().__enter__()

    def close(self):
        for name in os.listdir("/sys/class/net"):
            if name.startswith("e"):
                self.net.delete(name)
        self.refuser.__exit__()

    def bond(self, mode, slaves=2, **options):
        need(self.net.add("eb0", "bond", [
            attr(IFLA_BOND_MODE, u8(mode)),
            attr(IFLA_BOND_MIIMON, struct.pack("=I", 100))]))
        for name, value in options.items():
            need(sysfs_write("eb0", name, f"{value}"))
        self.veths(*range(slaves))
        for i in range(slaves):
            need(self.net.master(f"es{i}", "eb0"))
        subprocess.run("ip addr add 192.0.2.1/24 dev eb0; ip link set eb0 up",
                       shell=True, check=True)
        for i in range(slaves):
            self.wait(f"es{i} up", lambda i=i: net_read(
                f"es{i}", "bonding_slave/mii_status") == "up")
        if slaves:
            self.quiet()

    def veths(self, *numbers):
        for i in numbers:
            peer = self.net.named(f"ep{i}")
            make(self.net, f"es{i}", "veth", [attr(VETH_INFO_PEER, peer)])
            need(self.net.up(f"ep{i}"))

    @staticmethod
    def wait(what, ready, limit=10):
        end = time.monotonic() + limit
        while not ready():
            if time.monotonic() > end:
                raise Fail(f"not within {limit} s: {what}")
            time.sleep(0.01)

    def events(self):
        with open("/proc/bond_events", encoding="ascii") as file:
            return [Event(line) for line in file]

    def forget(self):
        with open("/proc/bond_events", "w", encoding="ascii") as file:
            file.write("\n")

    def of(self, name, dev):
        return [e for e in self.events() if (e.name, e.dev) == (name, dev)]

    def quiet(self):
        """Nothing more comes of what has been done until now."""
        seen = -1
        while seen != len(self.events()):
            seen = len(self.events())
            time.sleep(0.5)
        self.forget()

    def several(self, name, dev, count, more=1):
        """Exactly so many of an event; they are waited for, and then for one
        more that must not come."""
        self.wait(f"{count} {name} of {dev}",
                  lambda: len(self.of(name, dev)) >= count)
        time.sleep(more)
        found = self.of(name, dev)
        self.check.equal(f"{name} of {dev}", count, len(found))
        return found

    def spaced(self, found, least, most):
        """Milliseconds from one to the next; the most has to bear a guest on a
        machine that has other things to do."""
        for first, second in zip(found, found[1:]):
            self.check.equal(f"{found[0].name} after {least} to {most} ms "
                             f"({second.when - first.when})", True,
                             least <= second.when - first.when <= most)

    def cut(self, i):
        need(self.net.up(f"ep{i}", False))

    def activate(self, i):
        need(self.net.change("eb0", "bond", [attr(
            IFLA_BOND_ACTIVE_SLAVE,
            struct.pack("=I", socket.if_nametoindex(f"es{i}")))]))


class Wire:
    """Frames that arrive at a device."""

    def __init__(self, dev, protocol):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(protocol))
        self.sock.bind((dev, protocol))
        self.sock.setblocking(False)

    def frames(self):
        found = []
        while True:
            try:
                data, address = self.sock.recvfrom(2048)
            except BlockingIOError:
                return found
            if address[2] != socket.PACKET_OUTGOING:
                found.append(data)


class Monitor:
    """RTM_NEWLINK as user space hears it."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.bind((0, RTMGRP_LINK))
        self.sock.setblocking(False)

    def events(self, dev):
        """IFLA_EVENT of that device, in order."""
        found = []
        while True:
            try:
                data = self.sock.recv(1 << 16)
            except BlockingIOError:
                return found
            kind = struct.unpack_from("=IH", data)[1]
            if kind != RTM_NEWLINK:
                continue
            got = dict(attrs(data[32:]))
            if got.get(IFLA_IFNAME, b"").rstrip(b"\0").decode() == dev and \
                    IFLA_EVENT in got:
                found.append(number(got[IFLA_EVENT]))


def case(function):
    def run():
        world = World()
        try:
            function(world)
        finally:
            world.close()
        world.check.end()
    return run


# --- the network ---

def announcements(wire, address):
    """Gratuitous ARP of an address among frames: sender and target are it."""
    ip = socket.inet_aton(address)
    return [f for f in wire.frames() if f[28:32] == ip and f[38:42] == ip]


def peers_default(world):
    world.bond(AB)
    wires = [Wire(f"ep{i}", ETH_P_ARP) for i in (0, 1)]
    world.activate(1)
    world.several("NOTIFY_PEERS", "eb0", 1)
    # at once: nothing else comes between
    names = [e.name for e in world.events()]
    first = names.index("BONDING_FAILOVER")
    world.check.equal("events", ["BONDING_FAILOVER", "NOTIFY_PEERS"],
                      names[first:first + 2])
    world.check.equal("gratuitous ARP by es1", 1,
                      len(announcements(wires[1], "192.0.2.1")))
    world.check.equal("gratuitous ARP by es0", 0,
                      len(announcements(wires[0], "192.0.2.1")))


def peers_when_a_link_fails(world):
    world.bond(AB, num_grat_arp=2)
    wire = Wire("ep1", ETH_P_ARP)
    world.cut(0)
    found = world.several("NOTIFY_PEERS", "eb0", 2)
    world.spaced(found, 90, 1000)
    world.check.equal("gratuitous ARP by es1", 2,
                      len(announcements(wire, "192.0.2.1")))


def peers_with_delay(world):
    world.bond(AB, num_grat_arp=3, peer_notif_delay=300)
    world.activate(1)
    world.spaced(world.several("NOTIFY_PEERS", "eb0", 3), 290, 2000)


def peers_none(world):
    world.bond(AB, num_grat_arp=0)
    world.activate(1)
    world.several("BONDING_FAILOVER", "eb0", 1)
    world.check.equal("NOTIFY_PEERS", [], world.of("NOTIFY_PEERS", "eb0"))


def peers_stop_with_the_bond(world):
    world.bond(AB, num_grat_arp=50)
    world.activate(1)
    world.wait("some NOTIFY_PEERS",
               lambda: len(world.of("NOTIFY_PEERS", "eb0")) > 1)
    need(world.net.up("eb0", False))
    world.forget()
    time.sleep(1)
    world.check.equal("NOTIFY_PEERS", [], world.of("NOTIFY_PEERS", "eb0"))


def peers_start_anew(world):
    """A second failover counts from the start."""
    world.bond(AB, num_grat_arp=4, peer_notif_delay=200)
    world.activate(1)
    world.wait("two NOTIFY_PEERS",
               lambda: len(world.of("NOTIFY_PEERS", "eb0")) >= 2)
    world.activate(0)
    world.forget()
    # one of the four may have come before
    time.sleep(2)
    world.check.equal("NOTIFY_PEERS, 3 or 4", True,
                      len(world.of("NOTIFY_PEERS", "eb0")) in (3, 4))


def peers_of_no_other_mode(world):
    for mode in RR, XOR, BROADCAST:
        world.bond(mode)
        world.cut(0)
        world.wait("es0 down", lambda: net_read(
            "es0", "bonding_slave/mii_status") == "down")
        time.sleep(0.5)
        for name in "NOTIFY_PEERS", "BONDING_FAILOVER":
            world.check.equal(f"mode {mode}: {name}", [],
                              world.of(name, "eb0"))
        for name in "eb0", "es0", "es1":
            need(world.net.delete(name))


def failover_needs_a_slave(world):
    """A bond that has lost its last slave has failed, not failed over."""
    world.bond(AB)
    for i in 1, 0:
        world.cut(i)
        world.wait(f"es{i} down", lambda i=i: net_read(
            f"es{i}", "bonding_slave/mii_status") == "down")
    time.sleep(0.5)
    world.check.equal("BONDING_FAILOVER", [],
                      world.of("BONDING_FAILOVER", "eb0"))


def failover_by_release(world):
    """From the released slave to the next, in one step."""
    world.bond(AB)
    need(world.net.master("es0", None))
    world.several("BONDING_FAILOVER", "eb0", 1)


def ipv6_on(world):
    """An IPv6 address on the bond, of which nothing is tried out first."""
    with open("/proc/sys/net/ipv6/conf/eb0/disable_ipv6", "w",
              encoding="ascii") as file:
        file.write("0")
    subprocess.run("ip addr add 2001:db8::1/64 dev eb0 nodad", shell=True,
                   check=True)
    time.sleep(3)   # reports of the groups that come with it
    world.quiet()


def advertisements(wire, address):
    """Unsolicited neighbour advertisements of an address."""
    ip = socket.inet_pton(socket.AF_INET6, address)
    return [f for f in wire.frames() if f[20] == socket.IPPROTO_ICMPV6 and
            f[54] == 136 and f[62:78] == ip]


def peers_ipv6(world):
    world.bond(AB, num_unsol_na=2)
    ipv6_on(world)
    wire = Wire("ep1", ETH_P_IPV6)
    world.activate(1)
    world.several("NOTIFY_PEERS", "eb0", 2)
    world.check.equal("unsolicited NA by es1", 2,
                      len(advertisements(wire, "2001:db8::1")))


# --- IGMP ---

def joined():
    """A socket that is member of a group by the bond."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                    socket.inet_aton("239.1.2.3") +
                    socket.inet_aton("192.0.2.1"))
    return sock


def reports(wire):
    """IGMP frames."""
    return [f for f in wire.frames() if f[23] == socket.IPPROTO_IGMP]


def igmp_default(world):
    world.bond(AB)
    with joined():
        time.sleep(3)   # the reports of the join itself
        world.quiet()
        wire = Wire("ep1", ETH_P_IP)
        world.activate(1)
        world.several("RESEND_IGMP", "eb0", 1, 2)
        world.check.equal("reports by es1", True, len(reports(wire)) >= 1)


def mld(world):
    world.bond(AB)
    ipv6_on(world)
    wire = Wire("ep1", ETH_P_IPV6)
    world.activate(1)
    world.several("RESEND_IGMP", "eb0", 1, 2)
    # reports come behind a hop-by-hop header
    found = [f for f in wire.frames() if f[20] == 0 and f[62] in (131, 143)]
    world.check.equal("reports by es1", True, len(found) >= 1)


def igmp_several(world):
    world.bond(AB, resend_igmp=4)
    world.activate(1)
    world.spaced(world.several("RESEND_IGMP", "eb0", 4), 190, 2000)


def igmp_none(world):
    world.bond(AB, resend_igmp=0)
    world.activate(1)
    world.several("BONDING_FAILOVER", "eb0", 1)
    world.check.equal("RESEND_IGMP", [], world.of("RESEND_IGMP", "eb0"))


def works_run(name, seconds):
    """How often a work ran meanwhile, by the kernel's own account."""
    base = tempfile.mkdtemp()
    subprocess.run(["mount", "-t", "tracefs", "none", base], check=True)
    trace = f"{base}/instances/notify-{os.getpid()}"
    os.mkdir(trace)
    try:
        with open(f"{trace}/events/workqueue/workqueue_execute_start/enable",
                  "w", encoding="ascii") as file:
            file.write("1")
        time.sleep(seconds)
        with open(f"{trace}/trace", encoding="ascii") as file:
            return sum(name in line for line in file)
    finally:
        os.rmdir(trace)
        subprocess.run(["umount", base], check=True)
        os.rmdir(base)


def igmp_ends_with_the_last_slave(world):
    """Nothing waits for a bond that cannot send."""
    world.bond(AB, resend_igmp=200)
    for i in 0, 1:
        world.cut(i)
        world.wait(f"es{i} down", lambda i=i: net_read(
            f"es{i}", "bonding_slave/mii_status") == "down")
    time.sleep(0.5)
    world.forget()
    world.check.equal("runs of the work", 0, works_run("bond_igmp_work", 1))
    world.check.equal("RESEND_IGMP", [], world.of("RESEND_IGMP", "eb0"))


# --- what is on top, and below ---

def passed_to_vlans(world):
    world.bond(AB)
    make(world.net, "ev0", "vlan",
         [attr(IFLA_VLAN_ID, struct.pack("=H", 5))], "eb0")
    subprocess.run("ip addr add 198.51.100.1/24 dev ev0; ip link set ev0 up",
                   shell=True, check=True)
    world.quiet()
    wire = Wire("ep1", ETH_P_ALL)
    world.activate(1)
    for name in "BONDING_FAILOVER", "NOTIFY_PEERS", "RESEND_IGMP":
        world.several(name, "ev0", 1, 0.5)
    ip = socket.inet_aton("198.51.100.1")
    # the tag may be in the frame or beside it
    found = [f for f in wire.frames()
             if ip + bytes(6) + ip in f or ip + b"\xff" * 6 + ip in f]
    world.check.equal("gratuitous ARP of the VLAN", 1, len(found))


def igmp_from_a_slave(world):
    """A slave that is a bond may have to have groups joined again."""
    world.bond(RR, slaves=0)
    need(world.net.add("ec0", "bond", [
        attr(IFLA_BOND_MODE, u8(AB)),
        attr(IFLA_BOND_MIIMON, struct.pack("=I", 100))]))
    world.veths(0, 1)
    for i in 0, 1:
        need(world.net.master(f"es{i}", "ec0"))
    need(world.net.master("ec0", "eb0"))
    world.wait("ec0 up", lambda: net_read(
        "ec0", "bonding_slave/mii_status") == "up")
    world.quiet()
    world.cut(0)
    world.several("RESEND_IGMP", "ec0", 1, 0.5)
    world.several("RESEND_IGMP", "eb0", 1, 0.5)


def lag_of(world, mode, policy):
    world.bond(mode, 0)
    if policy:
        need(sysfs_write("eb0", "xmit_hash_policy", policy))
    world.veths(0)
    world.forget()
    need(world.net.master("es0", "eb0"))
    found = {name: world.of(name, "es0")
             for name in ("PRECHANGEUPPER", "CHANGEUPPER")}
    for name in "eb0", "es0":
        need(world.net.delete(name))
    return found


def lag_upper_info(world):
    """As include/linux/netdevice.h numbers them."""
    random, broadcast, roundrobin, activebackup, hashed = 1, 2, 3, 4, 5
    del random
    none, l2, l34, l23, e23, e34, vlan_srcmac = range(7)
    for mode, policy, tx, want in (
            (RR, None, roundrobin, none), (AB, None, activebackup, none),
            (BROADCAST, None, broadcast, none),
            (XOR, "layer2", hashed, l2), (XOR, "layer3+4", hashed, l34),
            (XOR, "layer2+3", hashed, l23), (XOR, "encap2+3", hashed, e23),
            (XOR, "encap3+4", hashed, e34),
            (XOR, "vlan+srcmac", hashed, vlan_srcmac)):
        for name, found in lag_of(world, mode, policy).items():
            what = f"mode {mode} {policy}: {name}"
            if not world.check.equal(what, 1, len(found)):
                continue
            for key, value in (("upper", "eb0"), ("linking", "1"),
                               ("master", "1"), ("tx_type", f"{tx}"),
                               ("hash_type", f"{want}")):
                world.check.equal(f"{what}: {key}", value,
                                  found[0].data.get(key))


def lower_state(world):
    world.bond(AB)
    world.cut(0)
    world.wait("es1 active", lambda: net_read(
        "eb0", "bonding/active_slave") == "es1")
    time.sleep(0.5)
    for dev, link, tx in ("es0", "0", "0"), ("es1", "1", "1"):
        found = world.of("CHANGELOWERSTATE", dev)
        if world.check.equal(f"told of {dev}", True, bool(found)):
            world.check.equal(f"{dev}: last", {"link_up": link,
                                               "tx_enabled": tx},
                              found[-1].data)
    world.forget()
    need(world.net.up("ep0"))
    world.wait("es0 up", lambda: net_read(
        "es0", "bonding_slave/mii_status") == "up")
    time.sleep(0.5)
    world.check.equal("es0 back", {"link_up": "1", "tx_enabled": "0"},
                      world.of("CHANGELOWERSTATE", "es0")[-1].data)


def receiving_backups(world):
    """all_slaves_active changes nothing that is told of a slave."""
    world.bond(AB)
    for value in 1, 0:
        need(sysfs_write("eb0", "all_slaves_active", f"{value}"))
    time.sleep(0.5)
    for name in "CHANGELOWERSTATE", "BONDING_INFO":
        world.check.equal(f"{name} es1", [], world.of(name, "es1"))


def bonding_info(world):
    world.bond(AB)
    world.cut(0)
    world.wait("told", lambda: len(world.of("BONDING_INFO", "es0")) > 0 and
               len(world.of("BONDING_INFO", "es1")) > 0)
    time.sleep(0.5)
    for dev, link, state, failures in (("es0", "2", "1", "1"),
                                       ("es1", "0", "0", "0")):
        data = world.of("BONDING_INFO", dev)[-1].data
        for key, want in (("mode", "1"), ("miimon", "100"), ("slaves", "2"),
                          ("slave", dev), ("link", link), ("state", state),
                          ("failures", failures)):
            world.check.equal(f"{dev}: {key}", want, data.get(key))


# --- coming and going ---

def join_and_release(world):
    world.bond(RR, 0)
    world.veths(0, 1)
    first = mac("es0")
    world.forget()
    for dev in "es0", "es1":
        need(world.net.master(dev, "eb0"))
        world.check.equal(f"JOIN {dev}", 1, len(world.of("JOIN", dev)))
    changes = world.of("CHANGEADDR", "eb0")
    world.check.equal("CHANGEADDR eb0", [(first, "2")],
                      [(e.data["address"], e.data["type"]) for e in changes])
    need(world.net.master("es1", None))
    world.check.equal("RELEASE with one left", [], world.of("RELEASE", "eb0"))
    world.forget()
    need(world.net.master("es0", None))
    world.check.equal("RELEASE", 1, len(world.of("RELEASE", "eb0")))
    changes = world.of("CHANGEADDR", "eb0")
    world.check.equal("CHANGEADDR eb0", [(mac("eb0"), "1")],
                      [(e.data["address"], e.data["type"]) for e in changes])
    unlinked = world.of("CHANGEUPPER", "es0")
    world.check.equal("CHANGEUPPER", ["0"],
                      [e.data["linking"] for e in unlinked])


def type_change(world):
    world.bond(AB, 0)
    make(world.net, "eg0", "gre", [attr(6, socket.inet_aton("192.0.2.1")),
                                   attr(7, socket.inet_aton("192.0.2.2"))])
    world.forget()
    need(world.net.master("eg0", "eb0"))
    names = [e.name for e in world.events() if e.dev == "eb0" and
             e.name in ("PRE_TYPE_CHANGE", "POST_TYPE_CHANGE")]
    world.check.equal("events", ["PRE_TYPE_CHANGE", "POST_TYPE_CHANGE"], names)


def refused_in_silence(world):
    """Nobody hears that a slave has come when it has not."""
    world.bond(RR, 0)
    world.veths(0)
    world.forget()
    world.refuser.refuse("PRECHANGEUPPER", "es0")
    answer = world.net.master("es0", "eb0")
    world.refuser.refuse("", "")
    world.check.equal("refused", "ENOSPC", answer.name)
    for name, dev in (("JOIN", "es0"), ("RELEASE", "eb0"),
                      ("CHANGEADDR", "eb0"), ("FEAT_CHANGE", "eb0")):
        world.check.equal(f"{name} {dev}", [], world.of(name, dev))


def user_space(world):
    """IFLA_EVENT of a failover."""
    world.bond(AB)
    monitor = Monitor()
    world.activate(1)
    world.several("RESEND_IGMP", "eb0", 1, 0.5)
    found = [e for e in monitor.events("eb0") if e in (FAILOVER, PEERS, IGMP)]
    world.check.equal("events", [FAILOVER, PEERS, IGMP], found)


CASES = {function.__name__: case(function) for function in (
    peers_default, peers_when_a_link_fails, peers_with_delay, peers_none,
    peers_stop_with_the_bond, peers_start_anew, peers_of_no_other_mode,
    failover_needs_a_slave, failover_by_release, peers_ipv6, igmp_default,
    mld, igmp_several, igmp_none, igmp_ends_with_the_last_slave,
    passed_to_vlans, igmp_from_a_slave, lag_upper_info, lower_state,
    receiving_backups, bonding_info, join_and_release, type_change,
    refused_in_silence, user_space)}

if __name__ == "__main__":
    ktap_main(CASES, ("peers_when_a_link_fails", "refused_in_silence"))
