# SPDX-License-Identifier: GPL-2.0
#
# What the tests of enslavement share: everything that can be seen of a device,
# to compare it before and after; devices of any link type; and the module that
# refuses a step of the driver (events/bond_events.ko).

import array
import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import time

from bond_lib import (IFLA_LINKINFO, NLMSG_ERROR, RTM_NEWLINK, Skip, attr,
                      attrs, ifindex, number)

IFF_PROMISC, IFF_ALLMULTI = 0x100, 0x200
IFLA_MTU, IFLA_LINK, IFLA_OPERSTATE, IFLA_AF_SPEC = 4, 5, 16, 26
IFLA_PROMISCUITY, IFLA_CARRIER, IFLA_CARRIER_CHANGES = 30, 33, 35
IFLA_CARRIER_UP_COUNT, IFLA_CARRIER_DOWN_COUNT = 47, 48
# Change by themselves, or hold times.
VOLATILE = (IFLA_OPERSTATE, IFLA_AF_SPEC, IFLA_CARRIER, IFLA_CARRIER_CHANGES,
            IFLA_CARRIER_UP_COUNT, IFLA_CARRIER_DOWN_COUNT)

RTM_GETNEIGH, NLM_F_DUMP, NLMSG_DONE = 30, 0x300, 3
AF_BRIDGE, NDA_LLADDR = 7, 2
SIOCETHTOOL, ETHTOOL_GFEATURES = 0x8946, 0x3a
SOL_PACKET, PACKET_ADD_MEMBERSHIP = 263, 1
PACKET_MR_MULTICAST, PACKET_MR_PROMISC, PACKET_MR_ALLMULTI = 0, 1, 2
PACKET_MR_UNICAST = 3
TUNSETIFF, TUNSETLINK = 0x400454ca, 0x400454cd
IFF_TUN, IFF_TAP, IFF_NO_PI = 0x1, 0x2, 0x1000
ARPHRD_ETHER, ARPHRD_INFINIBAND, ARPHRD_CAN = 1, 32, 280

MODULE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "events", "bond_events.ko")
PARAMETERS = "/sys/module/bond_events/parameters"


# --- seeing a device ---

def net_read(dev, name):
    with open(f"/sys/class/net/{dev}/{name}", encoding="latin1") as file:
        return file.read().strip()


def mac(dev):
    return net_read(dev, "address")


def flags(dev):
    return int(net_read(dev, "flags"), 16)


def lists(net, dev):
    """Unicast and multicast addresses, with the number of their users."""
    with open("/proc/self/net/dev_mcast", encoding="ascii") as file:
        found = [line.split()[1:] for line in file]
    found = [words[1:] for words in found if words and words[0] == dev]
    net.send(RTM_GETNEIGH, NLM_F_DUMP,
             struct.pack("=BBHiII", AF_BRIDGE, 0, 0, 0, 0, 0))
    while True:
        for kind, _, body in net.messages():
            if kind in (NLMSG_DONE, NLMSG_ERROR):
                return sorted(found)
            if struct.unpack_from("=i", body, 4)[0] == ifindex(dev):
                found.append(["fdb", dict(attrs(body[12:]))
                              .get(NDA_LLADDR, b"").hex()])


def features(dev):
    """Words of the offload features: available, wanted, active, fixed."""
    blocks = 4
    data = array.array("B", struct.pack("=II", ETHTOOL_GFEATURES, blocks) +
                       bytes(16 * blocks))
    ifr = struct.pack("16sQ", dev.encode(), data.buffer_info()[0]) + bytes(16)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCETHTOOL, ifr)
    return data.tobytes().hex()


def state(net, dev):
    """All that can be seen of a device and should not change by itself."""
    seen = {f"attribute {kind}": data.hex() for kind, data in net.link(dev)
            if kind not in VOLATILE and kind != IFLA_LINKINFO}
    seen["info"] = dict(net.link(dev)).get(IFLA_LINKINFO, b"").hex()
    for name in ("flags", "type", "addr_assign_type", "addr_len"):
        seen[name] = net_read(dev, name)
    seen["files"] = sorted(os.listdir(f"/sys/class/net/{dev}"))
    seen["lists"] = lists(net, dev)
    seen["features"] = features(dev)
    options = f"/sys/class/net/{dev}/bonding"
    for name in os.listdir(options) if os.path.isdir(options) else ():
        seen[f"bonding/{name}"] = net_read(dev, f"bonding/{name}")
    return seen


def promiscuity(net, dev):
    return number(dict(net.link(dev))[IFLA_PROMISCUITY])


def rx_mode_settled(net, dev, before):
    """Newer kernels take a device out of promiscuity that it had because of
    its unicast addresses in a work of their own, which does nothing when the
    device has gone down meanwhile; then it is done when it comes up."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        if not any(line.split()[2] == "netif_rx_mode_run" for line in file):
            return
    need(net.up(dev))
    end = time.monotonic() + 5
    while promiscuity(net, dev) != before and time.monotonic() < end:
        time.sleep(0.01)
    need(net.up(dev, False))


def same(check, what, before, after):
    """Nothing of a device has changed."""
    for name in sorted(before.keys() | after.keys()):
        check.equal(f"{what}: {name}", before.get(name), after.get(name))


def set_namespace(file):
    """Go into the network namespace of an open file."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file, 0):
        raise OSError(ctypes.get_errno(), "setns")


# --- making devices ---

def need(answer):
    if answer.code:
        raise OSError(answer.code, f"cannot prepare: {answer!r}")


def make(net, name, kind, data=None, link=None):
    """A device that the test cannot do without; Skip when the kernel has none
    of that kind."""
    extra = ()
    if link:
        extra = [attr(IFLA_LINK, struct.pack("=I", ifindex(link)))]
    made = net.add(name, kind, data, extra)
    if made.code == errno.EOPNOTSUPP:
        raise Skip(f"no device of kind {kind} here")
    need(made)


def settle(net, name):
    """Up and down once, after which a device looks as after any other time."""
    need(net.up(name))
    need(net.up(name, False))


def set_mtu(net, name, mtu):
    return net.do(RTM_NEWLINK, 0, net.named(name) +
                  attr(IFLA_MTU, struct.pack("=I", mtu)))


class Tun:
    """A tun or tap device, gone with the object."""

    def __init__(self, name, kind=IFF_TUN, arp_type=None):
        subprocess.run(["modprobe", "-q", "tun"], check=False)
        try:
            self.file = os.open("/dev/net/tun", os.O_RDWR)
        except OSError as err:
            raise Skip("no /dev/net/tun") from err
        fcntl.ioctl(self.file, TUNSETIFF,
                    struct.pack("16sH22x", name.encode(), kind | IFF_NO_PI))
        if arp_type is not None:
            fcntl.ioctl(self.file, TUNSETLINK, arp_type)

    def close(self):
        os.close(self.file)


class Membership:
    """What a packet socket asks of a device: addresses, promiscuity."""

    def __init__(self, dev):
        self.index = ifindex(dev)
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)

    def join(self, kind, address=""):
        data = bytes.fromhex(address.replace(":", ""))
        self.sock.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack(
            "=iHH8s", self.index, kind, len(data), data))

    def close(self):
        self.sock.close()


# --- refusing a step ---

class Refuser:
    """bond_events.ko, for the duration of a with statement."""

    def __enter__(self):
        if not os.path.isdir(PARAMETERS):
            if not os.path.exists(MODULE):
                raise Skip("run make modules first")
            subprocess.run(["insmod", MODULE], check=True)
        return self

    def __exit__(self, *_):
        self.refuse("", "")
        self.set("take", "")
        subprocess.run(["rmmod", "bond_events"], check=True)

    @staticmethod
    def set(name, value):
        """A parameter; the kernel keeps every byte, and wants one at least."""
        with open(f"{PARAMETERS}/{name}", "w", encoding="ascii") as file:
            file.write(f"{value}" or "-")

    def refuse(self, event, dev, code=errno.ENOSPC, skip=0):
        """From now on, that event of that device is answered with an errno."""
        self.set("event", "")
        for name, value in (("dev", dev), ("error", code), ("skip", skip),
                            ("hits", 0), ("event", event)):
            self.set(name, value)

    @staticmethod
    def hits():
        with open(f"{PARAMETERS}/hits", encoding="ascii") as file:
            return int(file.read())
