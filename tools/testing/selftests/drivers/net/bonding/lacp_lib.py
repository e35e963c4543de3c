# SPDX-License-Identifier: GPL-2.0
#
# What the tests of 802.3ad in Python share: LACPDUs and markers as bytes, and a
# partner that a test has to speak for, at the other end of a slave's veth.

import os
import re
import socket
import struct
import subprocess
import time

from bond_lib import RTM_GETSTATS, Answer, Fail, Rtnl, attrs, ifindex

ETH_P_SLOW = 0x8809
GROUP = bytes.fromhex("0180c2000002")
ACTIVITY, SHORT, AGGREGATION, SYNC = 1, 2, 4, 8
COLLECTING, DISTRIBUTING, DEFAULTED, EXPIRED = 16, 32, 64, 128
WORKS = SYNC | COLLECTING | DISTRIBUTING
BOND = "b0"
MARKER, RESPONSE = 1, 2
# counters, by their numbers
RX, TX, UNKNOWN, ILLEGAL = 0, 1, 2, 3
MARKER_RX, MARKER_TX, RESP_RX, RESP_TX, MARKER_UNKNOWN = 4, 5, 6, 7, 8


class Party:
    """One end, as an information TLV tells of it."""

    def __init__(self, system="02:00:00:00:0b:01", prio=100, key=7,
                 port_prio=10, port=1, state=ACTIVITY | AGGREGATION):
        self.system = bytes.fromhex(system.replace(":", ""))
        self.prio = prio
        self.key = key
        self.port_prio = port_prio
        self.port = port
        self.state = state

    @classmethod
    def parse(cls, data):
        self = cls()
        (self.prio, self.system, self.key, self.port_prio, self.port,
         self.state) = struct.unpack("!H6sHHHB", data[:15])
        return self

    def pack(self):
        return struct.pack("!H6sHHHB3x", self.prio, self.system, self.key,
                           self.port_prio, self.port, self.state)

    def __repr__(self):
        return (f"{self.prio}/{self.system.hex(':')} key {self.key} port "
                f"{self.port_prio}/{self.port} state {self.state:#x}")


def lacpdu(actor, partner, version=1):
    """The 110 bytes behind the Ethernet header."""
    return (bytes([1, version, 1, 20]) + actor.pack() + bytes([2, 20]) +
            partner.pack() + bytes([3, 16]) + bytes(64 + 2))


def marker(kind=MARKER, port=1, system=b"\2\0\0\0\x0b\1", transaction=1):
    return (struct.pack("!BBBBH6sI2x", 2, 1, kind, 16, port, system,
                        transaction) + bytes(92))


class Pdu:
    """What the bond has sent."""

    def __init__(self, frame, when):
        self.when = when
        self.source = frame[6:12]
        self.body = frame[14:]
        self.subtype = self.body[0]
        self.kind = self.body[2]
        if self.subtype == 1:
            self.actor = Party.parse(self.body[4:])
            self.partner = Party.parse(self.body[24:])

    def state_has(self, bits):
        return self.actor.state & bits == bits


class Partner:
    """The other end of one link: what it is, and what it has heard."""

    def __init__(self, dev, **what):
        self.dev = dev
        self.me = Party(**what)
        self.bond = Party("00:00:00:00:00:00", 0, 0, 0, 0, 0)
        self.heard = []
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(ETH_P_SLOW))
        self.sock.bind((dev, ETH_P_SLOW))

    def close(self):
        self.sock.close()

    def forgive(self):
        """A device that was down leaves an error for who sends next."""
        self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def send_raw(self, body, dst=GROUP, proto=ETH_P_SLOW):
        src = bytes.fromhex("02000000ee01")
        self.sock.send(dst + src + struct.pack("!H", proto) + body)

    def send(self, state=None, known=None):
        """An LACPDU; it says that we know the bond as we have heard it."""
        if state is not None:
            self.me.state = state
        self.send_raw(lacpdu(self.me, known or self.bond))

    def poll(self, seconds=0.0):
        """Take in what has come; the list of it."""
        new = []
        end = time.monotonic() + seconds
        while True:
            self.sock.settimeout(max(end - time.monotonic(), 0.001))
            try:
                frame = self.sock.recv(2048)
            except socket.timeout:
                return new
            pdu = Pdu(frame, time.monotonic())
            self.heard.append(pdu)
            new.append(pdu)
            if pdu.subtype == 1:
                self.bond = pdu.actor

    def expect(self, what, seconds, true):
        """Wait for an LACPDU that is as it should be."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for pdu in self.poll(0.05):
                if pdu.subtype == 1 and true(pdu):
                    return pdu
        last = self.heard[-1].actor if self.heard else None
        raise Fail(f"{self.dev}: no LACPDU in {seconds} s: {what} "
                   f"(the last one said {last!r})")

    def converge(self, extra=0, wait=15):
        """Speak until the bond's port distributes.

        An LACPDU a second, at first without Synchronization, as the standard
        has it; extra are more bits of our state.
        """
        base = ACTIVITY | AGGREGATION | extra
        end = time.monotonic() + wait
        state = base
        while time.monotonic() < end:
            self.send(state)
            self.poll(0.3)
            if self.bond.state & SYNC:
                state = base | WORKS
            if self.bond.state & WORKS == WORKS:
                self.send(base | WORKS)
                self.poll(0.1)
                return
        raise Fail(f"{self.dev}: the bond does not distribute, it says "
                   f"{self.bond!r}")


# --- the bond under test ---

def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Fail(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def slave_read(slave, file):
    with open(f"/sys/class/net/{slave}/bonding_slave/{file}",
              encoding="ascii") as text:
        return text.read().strip()


def bond_read(file):
    with open(f"/sys/class/net/{BOND}/bonding/{file}",
              encoding="ascii") as text:
        return text.read().strip()


def bond_write(file, text):
    with open(f"/sys/class/net/{BOND}/bonding/{file}", "w",
              encoding="ascii") as out:
        out.write(text)


def actor_state(slave):
    state = slave_read(slave, "ad_actor_oper_port_state")
    return 0 if state == "N/A" else int(state)


def has(slave, bits):
    return actor_state(slave) & bits == bits


def lacks(slave, bits):
    return not actor_state(slave) & bits


def partner_state(slave):
    state = slave_read(slave, "ad_partner_oper_port_state")
    return 0 if state == "N/A" else int(state)


def reason(slave, want):
    """What keeps a port from sending; in-tree drivers have no word for it."""
    if os.path.exists(f"/sys/class/net/{slave}/bonding_slave/lacp_reason"):
        wait_until(f"{slave}: {want}", 2,
                   lambda: slave_read(slave, "lacp_reason") == want)


def carrier():
    with open(f"/sys/class/net/{BOND}/carrier", encoding="ascii") as text:
        return text.read().strip() == "1"


def proc_slave(slave):
    """{key: [values]} of a slave's block in procfs."""
    with open(f"/proc/self/net/bonding/{BOND}", encoding="ascii") as text:
        blocks = text.read().split("\n\nSlave Interface: ")
    for block in blocks[1:]:
        lines = block.split("\n")
        if lines[0] == slave:
            out = {}
            for line in lines[1:]:
                key, _, value = line.strip().partition(": ")
                out.setdefault(key, []).append(value)
            return out
    raise Fail(f"no {slave} in procfs")


def wait_until(what, seconds, true):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise Fail(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def stays(what, seconds, true):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not true():
            raise Fail(f"did not stay so for {seconds} s: {what}")
        time.sleep(0.05)


def xstats(dev, slave=False):
    """The nine counters of a bond, or of a slave, by their numbers."""
    which = 3 if slave else 2   # IFLA_STATS_LINK_XSTATS_SLAVE, _XSTATS
    body = struct.pack("=BxHII", 0, 0, ifindex(dev), 1 << (which - 1))
    reply = Rtnl().get(RTM_GETSTATS, body)
    if isinstance(reply, Answer):
        raise Fail(f"statistics of {dev}: {reply!r}")
    nest = dict(attrs(reply[12:]))[which]
    nest = dict(attrs(nest))[2]         # LINK_XSTATS_TYPE_BOND
    nest = dict(attrs(nest))[1]         # BOND_XSTATS_3AD
    return {kind: struct.unpack("=Q", data)[0] for kind, data in attrs(nest)
            if len(data) == 8}


class World:
    """A bond over veths whose other ends speak only if a test lets them."""

    def __init__(self, count, *options, **what):
        self.count = count
        self.partners = []
        ip("link", "add", BOND, "type", "bond", "mode", "802.3ad", "miimon",
           "100", *options)
        for i in range(count):
            ip("link", "add", f"s{i}", "type", "veth", "peer", "name", f"p{i}")
            ip("link", "set", f"p{i}", "up")
            ip("link", "set", f"s{i}", "master", BOND)
            self.partners.append(Partner(f"p{i}", port=i + 1, **what))
        ip("link", "set", BOND, "up")
        for i in range(count):
            wait_until(f"s{i} up", 10, lambda i=i: slave_read(
                f"s{i}", "mii_status") == "up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for partner in self.partners:
            partner.close()
        for dev in [BOND] + [f"s{i}" for i in range(self.count)]:
            subprocess.run(["ip", "link", "del", dev], capture_output=True,
                           check=False)

    def __getitem__(self, i):
        return self.partners[i]

    def converge(self, extra=0):
        for partner in self.partners:
            partner.converge(extra)
        for i in range(self.count):
            wait_until(f"s{i} active", 5, lambda i=i: slave_read(
                f"s{i}", "state") == "active")


def log_lines(pattern):
    """Lines of the kernel log that match."""
    out = subprocess.run(["dmesg"], capture_output=True, text=True,
                         check=False).stdout
    return [x for x in out.split("\n") if re.search(pattern, x)]


def tcpdump_of(dev, proto):
    """A socket that sees what reaches a device's own listeners."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(proto))
    sock.bind((dev, proto))
    sock.setblocking(False)
    return sock


def drain(sock):
    frames = []
    while True:
        try:
            frames.append(os.read(sock.fileno(), 2048))
        except BlockingIOError:
            return frames
