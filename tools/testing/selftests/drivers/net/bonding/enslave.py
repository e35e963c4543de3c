#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Who may become a slave, and what is left behind when it does not work out:
# nothing. refuse_*: each check, with its errno. text: each with its sentence.
# undo_*: each step that can fail is made to fail, and everything that can be
# seen of the bond, of the device and of a slave that was there before is the
# same as before. restore: a slave that leaves is what it was.

import errno
import os
import struct
import subprocess

from bond_lib import (IFF_UP, RTM_NEWLINK, Answer, Check, Rtnl, Skip,
                      attr, ifindex, ktap_main, sysfs_write)
from enslave_lib import (ARPHRD_CAN, ARPHRD_INFINIBAND, IFF_TAP,
                         PACKET_MR_ALLMULTI, PACKET_MR_MULTICAST,
                         PACKET_MR_PROMISC, PACKET_MR_UNICAST, Membership,
                         Refuser, Tun, lists, mac, make, need, net_read,
                         rx_mode_settled, same, set_mtu, set_namespace, settle,
                         state)

RR, AB, XOR = 0, 1, 2
FOM_NONE, FOM_ACTIVE, FOM_FOLLOW = 0, 1, 2
IFLA_BOND_MODE, IFLA_BOND_MIIMON, IFLA_BOND_FOM = 1, 3, 13
IFLA_VLAN_ID, IFLA_VRF_TABLE = 1, 1
IFLA_GRE_LOCAL, IFLA_GRE_REMOTE = 6, 7
IFLA_NET_NS_FD = 28


def u8(value):
    return struct.pack("=B", value)


class World:
    """A bond eb0 and devices es0, es1 ... that are no slaves yet."""

    def __init__(self):
        self.net = Rtnl()
        self.check = Check()
        self.texts = []
        self.toys = []

    def close(self):
        for toy in self.toys:
            toy.close()
        for name in os.listdir("/sys/class/net"):
            if name.startswith("e"):
                self.net.delete(name)

    def bond(self, mode=RR, fom=None, name="eb0"):
        data = [attr(IFLA_BOND_MODE, u8(mode))]
        if fom is not None:
            data.append(attr(IFLA_BOND_FOM, u8(fom)))
        need(self.net.add(name, "bond", data))

    def dummies(self, *names):
        for name in names:
            make(self.net, name, "dummy")

    def gre(self, *names):
        for i, name in enumerate(names):
            make(self.net, name, "gre",
                 [attr(IFLA_GRE_LOCAL, bytes((192, 0, 2, 1))),
                  attr(IFLA_GRE_REMOTE, bytes((192, 0, 2, 2 + i)))])

    def tun(self, *args):
        self.toys.append(Tun(*args))

    def vlan(self, name, link):
        make(self.net, name, "vlan", [attr(IFLA_VLAN_ID, struct.pack("=H", 5))],
             link)

    def enslave(self, dev, bond="eb0"):
        return self.net.master(dev, bond)

    def refused(self, what, code, dev, word, bond="eb0"):
        """It must not become a slave, and nothing may change by trying."""
        before = {name: state(self.net, name) for name in {dev, bond}}
        answer = self.enslave(dev, bond)
        self.check.equal(what, Answer(code).name, answer.name)
        self.texts.append((what, dev, word, answer.text))
        for name, old in before.items():
            same(self.check, f"{what}, {name}", old, state(self.net, name))

    def taken(self, what, dev, bond="eb0"):
        answer = self.enslave(dev, bond)
        self.check.equal(f"{what} {answer.text}", "0", answer.name)


def case(function):
    def run():
        world = World()
        try:
            function(world)
        finally:
            world.close()
        world.check.end()
    return run


# --- refusals ---

def refuse_can(world):
    world.bond()
    world.tun("es0", IFF_TAP, ARPHRD_CAN)
    world.refused("CAN device", errno.EPERM, "es0", "CAN")


def into_our_namespace(dev):
    """Fetch a device that only the first namespace has."""
    if subprocess.run(["modprobe", dev], check=False).returncode:
        raise Skip(f"no module {dev}")
    ours = os.open("/proc/self/ns/net", os.O_RDONLY)
    first = os.open("/proc/1/ns/net", os.O_RDONLY)
    set_namespace(first)
    try:
        net = Rtnl()
        need(net.do(RTM_NEWLINK, 0, net.named(dev) +
                    attr(IFLA_NET_NS_FD, struct.pack("=I", ours))))
    finally:
        set_namespace(ours)
        os.close(first)
        os.close(ours)


def refuse_master(world):
    world.bond()
    into_our_namespace("eql")
    world.refused("master", errno.EPERM, "eql", "master")


def refuse_busy(world):
    world.bond()
    world.dummies("es0", "es1")
    make(world.net, "em0", "macvlan", None, "es0")
    world.refused("macvlan on top", errno.EBUSY, "es0", "receives")
    # it is busy before it is up
    need(world.net.up("es0"))
    world.refused("macvlan on top, up", errno.EBUSY, "es0", "receives")
    world.taken("es1", "es1")
    world.check.equal("already a slave", "EBUSY",
                      sysfs_write("eb0", "slaves", "+es1").name)


def refuse_self(world):
    world.bond()
    world.refused("itself", errno.EPERM, "eb0", "own")
    need(world.net.up("eb0"))
    world.refused("itself, up", errno.EPERM, "eb0", "own")


def refuse_vlan_challenged(world):
    world.bond(AB, FOM_ACTIVE)
    world.vlan("ev0", "eb0")
    world.refused("VLANs on the bond", errno.EPERM, "lo", "VLAN")
    need(world.net.delete("ev0"))
    world.taken("no VLANs on the bond", "lo")
    vlan = world.net.add("ev0", "vlan",
                         [attr(IFLA_VLAN_ID, struct.pack("=H", 5))],
                         [attr(5, struct.pack("=I", ifindex("eb0")))])
    world.check.equal("VLAN on the bond", "EOPNOTSUPP", vlan.name)


def refuse_up(world):
    world.bond()
    world.dummies("es0")
    need(world.net.up("es0"))
    world.refused("up", errno.EPERM, "es0", "up")


def refuse_other_type(world):
    world.bond(AB)
    world.dummies("es0")
    world.gre("eg0")
    world.taken("es0", "es0")
    world.refused("gre after dummy", errno.EINVAL, "eg0", "type")
    world.bond(AB, name="eb1")
    world.taken("eg0", "eg0", "eb1")
    world.dummies("es1")
    world.refused("dummy after gre", errno.EINVAL, "es1", "type", "eb1")


def refuse_type_change(world):
    world.bond(AB)
    world.gre("eg0")
    world.vlan("ev0", "eb0")
    world.refused("VLAN on the bond", errno.EBUSY, "eg0", "type")
    need(world.net.delete("ev0"))
    make(world.net, "er0", "bridge")
    need(world.net.master("eb0", "er0"))
    world.refused("bond in a bridge", errno.EBUSY, "eg0", "type")


def refuse_infiniband(world):
    for mode in RR, XOR:
        world.bond(mode, name=f"eb{mode}")
        world.tun(f"es{mode}", IFF_TAP, ARPHRD_INFINIBAND)
        world.refused(f"InfiniBand in mode {mode}", errno.EOPNOTSUPP,
                      f"es{mode}", "InfiniBand", f"eb{mode}")


def refuse_fixed_mac(world):
    world.gre("eg0", "eg1")
    world.dummies("es0", "es1")
    make(world.net, "ei0", "ipvlan", None, "es1")
    for mode in RR, XOR:
        world.bond(mode, name=f"ec{mode}")
        for dev in "eg0", "ei0":
            world.refused(f"{dev} in mode {mode}", errno.EOPNOTSUPP, dev,
                          "MAC", f"ec{mode}")
    world.bond(AB)
    world.taken("es0", "es0")
    world.refused("fail_over_mac=none", errno.EOPNOTSUPP, "ei0",
                  "fail_over_mac")


def fixed_mac_first(world):
    for fom in FOM_NONE, FOM_FOLLOW:
        world.bond(AB, fom)
        world.gre("eg0", "eg1")
        for dev in "eg0", "eg1":
            world.taken(dev, dev)
        world.check.equal("fail_over_mac", "active 1",
                          net_read("eb0", "bonding/fail_over_mac"))
        for name in "eb0", "eg0", "eg1":
            need(world.net.delete(name))


def refuse_upper(world):
    world.bond()
    world.bond(name="eb1")
    world.dummies("es0")
    world.taken("eb1 below eb0", "eb1")
    world.refused("eb0 below eb1", errno.EBUSY, "eb0", "top", "eb1")
    make(world.net, "er0", "vrf", [attr(IFLA_VRF_TABLE,
                                        struct.pack("=I", 99))])
    need(world.net.master("es0", "er0"))
    need(world.net.up("es0", False))
    before = state(world.net, "es0")
    world.check.equal("in a VRF", "EBUSY",
                      sysfs_write("eb0", "slaves", "+es0").name)
    same(world.check, "in a VRF", before, state(world.net, "es0"))


def refuse_too_deep(world):
    world.dummies("es0")
    world.bond(name="eb0")
    world.taken("es0", "es0")
    for depth in range(1, 20):
        world.bond(name=f"eb{depth}")
        settle(world.net, f"eb{depth}")
        before = {name: state(world.net, name)
                  for name in (f"eb{depth}", f"eb{depth - 1}")}
        answer = world.enslave(f"eb{depth - 1}", f"eb{depth}")
        if answer.code:
            break
    world.check.equal(f"bond {depth} levels up", "EMLINK", answer.name)
    for name, old in before.items():
        same(world.check, name, old, state(world.net, name))


def text(world):
    """Every refusal names the slave and says why."""
    for function in (refuse_can, refuse_busy, refuse_self,
                     refuse_vlan_challenged, refuse_up, refuse_other_type,
                     refuse_type_change, refuse_infiniband, refuse_fixed_mac,
                     refuse_upper):
        function(world)
        world.close()
        world.toys = []
    world.check = Check()
    for what, dev, word, got in world.texts:
        start = f"bonding: slave {dev}: "
        world.check.equal(f"{what}: start of {got!r}", start,
                          got[:len(start)])
        world.check.equal(f"{what}: {word!r} in {got!r}", True, word in got)


# --- a step that fails ---

def members(world, dev):
    """Whatever a bond may have to hand down to a slave."""
    member = Membership(dev)
    member.join(PACKET_MR_UNICAST, "02:00:00:00:00:99")
    member.join(PACKET_MR_MULTICAST, "01:00:5e:00:00:99")
    member.join(PACKET_MR_PROMISC)
    member.join(PACKET_MR_ALLMULTI)
    world.toys.append(member)


def prepared(world, mode, fom, later):
    """A bond that is up, with VLAN, addresses and an MTU of its own; with a
    slave already, or without."""
    world.bond(mode, fom)
    need(set_mtu(world.net, "eb0", 1400))
    world.dummies("es0", "es1")
    for name in "es0", "es1":
        settle(world.net, name)
    need(world.net.up("eb0"))
    world.vlan("ev0", "eb0")
    members(world, "eb0")
    if later:
        world.taken("es1", "es1")


def undone(world, refuser, what, event, dev, code=errno.ENOSPC,
           want=errno.ENOSPC, slave="es0"):
    """The step fails and leaves nothing; without the refusal it works, and the
    slave that leaves is as it came."""
    names = [name for name in os.listdir("/sys/class/net")
             if name.startswith("e")]
    before = {name: state(world.net, name) for name in names}
    refuser.refuse(event, dev, code)
    answer = world.enslave(slave)
    hits = refuser.hits()
    refuser.refuse("", "")
    world.check.equal(f"{what}: refused", True, hits > 0)
    world.check.equal(f"{what}: errno", Answer(want).name, answer.name)
    world.texts.append((what, slave, "", answer.text))
    for name in names:
        same(world.check, f"{what}, {name}", before[name],
             state(world.net, name))
    world.taken(f"{what}: then", slave)


def undo(event, dev, kinds):
    """A case: that event of that device fails, for all kinds of bonds."""
    def function(world):
        with Refuser() as refuser:
            for mode, fom in kinds:
                for later in (False, True):
                    if later and dev == "eb0":
                        continue
                    what = (f"mode {mode} fail_over_mac {fom} "
                            f"{'second' if later else 'first'}")
                    prepared(world, mode, fom, later)
                    undone(world, refuser, what, event, dev)
                    world.close()
                    world.toys = []
    return function


ALL = ((RR, None), (AB, FOM_NONE), (AB, FOM_ACTIVE), (AB, FOM_FOLLOW))
SOME = ((RR, None), (AB, FOM_FOLLOW))


def undo_type(world):
    with Refuser() as refuser:
        world.bond(AB)
        need(world.net.up("eb0"))
        members(world, "eb0")
        world.gre("eg0")
        settle(world.net, "eg0")
        undone(world, refuser, "type", "PRE_TYPE_CHANGE", "eb0",
               want=errno.EBUSY, slave="eg0")


def undo_late_with_new_type(world):
    """The type is changed only when all went well."""
    for event in "PRE_UP", "CHANGEUPPER":
        with Refuser() as refuser:
            world.bond(AB)
            need(world.net.up("eb0"))
            members(world, "eb0")
            world.gre("eg0")
            settle(world.net, "eg0")
            undone(world, refuser, event, event, "eg0", slave="eg0")
        world.close()
        world.toys = []


def undo_sysfs(world):
    """The slave's directory cannot be made: its name is taken."""
    with Refuser() as refuser:
        for mode, fom in (RR, None), (AB, FOM_NONE):
            for later in (False, True):
                prepared(world, mode, fom, later)
                refuser.set("take", "es0")
                what = f"mode {mode} {'second' if later else 'first'}"
                before = {name: state(world.net, name)
                          for name in ("es0", "es1", "eb0", "ev0")}
                answer = world.enslave("es0")
                world.check.equal(f"{what}: errno", "EEXIST", answer.name)
                for name, old in before.items():
                    same(world.check, f"{what}, {name}", old,
                         state(world.net, name))
                refuser.set("take", "")
                world.taken(f"{what}: then", "es0")
                world.close()
                world.toys = []


# --- leaving ---

def restore(world):
    for mode, fom in ALL:
        prepared(world, mode, fom, True)
        before = state(world.net, "es0")
        world.taken("es0", "es0")
        need(world.net.master("es0", None))
        rx_mode_settled(world.net, "es0", 0)
        what = f"mode {mode} fail_over_mac {fom}"
        same(world.check, what, before, state(world.net, "es0"))
        world.close()
        world.toys = []


def restore_mac_and_mtu(world):
    """What of it any driver does."""
    for mode, fom in ALL:
        prepared(world, mode, fom, True)
        before = mac("es0"), net_read("es0", "mtu"), net_read("es0", "flags")
        held = lists(world.net, "es0")
        world.taken("es0", "es0")
        world.check.equal("MTU", "1400", net_read("es0", "mtu"))
        need(world.net.master("es0", None))
        rx_mode_settled(world.net, "es0", 0)
        what = f"mode {mode} fail_over_mac {fom}"
        world.check.equal(what, before, (mac("es0"), net_read("es0", "mtu"),
                                         net_read("es0", "flags")))
        world.check.equal(f"{what}: addresses", held,
                          lists(world.net, "es0"))
        world.close()
        world.toys = []


def flags_of_a_slave(world):
    """SLAVE and UP while it is one."""
    world.bond()
    world.dummies("es0")
    world.taken("es0", "es0")
    flags = int(net_read("es0", "flags"), 16)
    world.check.equal("flags", IFF_UP | 0x800, flags & (IFF_UP | 0x800))
    world.check.equal("directory", True,
                      os.path.isdir("/sys/class/net/es0/bonding_slave"))
    need(world.net.master("es0", None))
    flags = int(net_read("es0", "flags"), 16)
    world.check.equal("flags", 0, flags & (IFF_UP | 0x800))
    world.check.equal("directory", False,
                      os.path.isdir("/sys/class/net/es0/bonding_slave"))


CASES = {function.__name__: case(function) for function in (
    refuse_can, refuse_master, refuse_busy, refuse_self,
    refuse_vlan_challenged, refuse_up, refuse_other_type, refuse_type_change,
    refuse_infiniband, refuse_fixed_mac, fixed_mac_first, refuse_upper,
    refuse_too_deep, text, undo_type, undo_late_with_new_type, undo_sysfs,
    restore, restore_mac_and_mtu, flags_of_a_slave)}
CASES.update({
    "undo_bond_mac": case(undo("PRE_CHANGEADDR", "eb0", SOME)),
    "undo_mtu_asked": case(undo("PRECHANGEMTU", "es0", SOME)),
    "undo_mtu_done": case(undo("CHANGEMTU", "es0", SOME)),
    "undo_mac": case(undo("PRE_CHANGEADDR", "es0",
                          ((RR, None), (AB, FOM_NONE)))),
    "undo_open": case(undo("PRE_UP", "es0", SOME)),
    "undo_link_asked": case(undo("PRECHANGEUPPER", "es0", SOME)),
    "undo_link_done": case(undo("CHANGEUPPER", "es0", ALL)),
})

# The in-tree driver refuses for the same reasons, but leaves things behind: a
# link type, an address, whatever the step before has done.
BEYOND = ("refuse_type_change", "refuse_infiniband", "refuse_fixed_mac",
          "refuse_upper", "refuse_too_deep", "text", "undo_type",
          "undo_late_with_new_type", "undo_sysfs", "restore",
          "undo_mtu_asked", "undo_mtu_done", "undo_mac", "undo_open",
          "undo_link_asked", "undo_link_done")

if __name__ == "__main__":
    ktap_main(CASES, BEYOND)
