# SPDX-License-Identifier: GPL-2.0
"""
Rtnetlink with nothing but the standard library.

Owns the sockets, the building of requests, and the decoding of answers into
(attribute number, bytes) pairs. Knows no bond: what an attribute means is
decided in linkdump.py. Used by every topic.
"""
import errno
import os
import socket
import struct

NLM_F_REQUEST = 0x1
NLM_F_ACK = 0x4
NLM_F_DUMP = 0x300
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400
NLM_F_CAPPED = 0x100
NLM_F_ACK_TLVS = 0x200

NLMSG_ERROR = 2
NLMSG_DONE = 3

RTM_NEWLINK = 16
RTM_DELLINK = 17
RTM_GETLINK = 18
RTM_SETLINK = 19
RTM_NEWADDR = 20
RTM_DELADDR = 21
RTM_NEWNEIGH = 28
RTM_DELNEIGH = 29

IFLA_ADDRESS = 1
IFLA_IFNAME = 3
IFLA_MTU = 4
IFLA_LINK = 5
IFLA_MASTER = 10
IFLA_OPERSTATE = 16
IFLA_LINKINFO = 18
IFLA_NUM_TX_QUEUES = 31
IFLA_NUM_RX_QUEUES = 32
IFLA_CARRIER = 33
IFLA_EXT_MASK = 29
IFLA_INFO_KIND = 1
IFLA_INFO_DATA = 2
IFLA_INFO_SLAVE_KIND = 4
IFLA_INFO_SLAVE_DATA = 5
NLA_F_NESTED = 0x8000

RTEXT_FILTER_SKIP_STATS = 8

SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
NETLINK_KOBJECT_UEVENT = 15

IFF_UP = 0x1

ERROR_NAMES = dict(errno.errorcode)
ERROR_NAMES[errno.EOPNOTSUPP] = "EOPNOTSUPP"
ERROR_NAMES[524] = "ENOTSUPP"
ERROR_NAMES[513] = "ERESTARTNOINTR"


def error_name(code):
    """'ok' for 0, else the symbolic name of an errno (either sign)."""
    code = abs(code)
    return ERROR_NAMES.get(code, "errno%d" % code) if code else "ok"


def attr(kind, data=b""):
    """One attribute. data: bytes, or a str that is sent NUL-terminated."""
    if isinstance(data, str):
        data = data.encode() + b"\0"
    size = 4 + len(data)
    return struct.pack("=HH", size, kind) + data + b"\0" * (-size % 4)


def nest(kind, *attrs):
    return attr(kind | NLA_F_NESTED, b"".join(attrs))


def u8(kind, value):
    return attr(kind, struct.pack("=B", value))


def u32(kind, value):
    return attr(kind, struct.pack("=I", value))


def parse_attrs(data):
    """[(number, bytes)] of a run of attributes, flags stripped."""
    out = []
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, at)
        if size < 4 or at + size > len(data):
            break
        out.append((kind & 0x3fff, data[at + 4:at + size]))
        at += (size + 3) & ~3
    return out


class Link:
    """One RTM_NEWLINK or RTM_DELLINK, decoded one level deep."""

    def __init__(self, kind, payload):
        self.deleted = kind == RTM_DELLINK
        (self.family, self.type, self.index, self.flags,
         self.change) = struct.unpack_from("=BxHiII", payload)
        self.attrs = parse_attrs(payload[16:])
        self.by_kind = dict(self.attrs)

    @property
    def name(self):
        return self.by_kind.get(IFLA_IFNAME, b"?\0")[:-1].decode()

    def number(self, kind):
        """A u32 attribute, or None."""
        data = self.by_kind.get(kind)
        return struct.unpack("=I", data)[0] if data else None

    def info(self, kind):
        """IFLA_INFO_DATA or IFLA_INFO_SLAVE_DATA as {number: bytes}."""
        info = dict(parse_attrs(self.by_kind.get(IFLA_LINKINFO, b"")))
        return dict(parse_attrs(info.get(kind, b"")))

    def info_kind(self):
        info = dict(parse_attrs(self.by_kind.get(IFLA_LINKINFO, b"")))
        return info.get(IFLA_INFO_KIND, b"\0")[:-1].decode()


class Answer:
    """What the kernel said to a request: errno (0 or positive), text."""

    def __init__(self, code=0, text=None):
        self.errno = code
        self.text = text

    def __bool__(self):
        return self.errno == 0

    def __str__(self):
        return error_name(self.errno)


class Rtnl:
    """A request socket in the network namespace it was made in."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                  socket.NETLINK_ROUTE)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sock.bind((0, 0))
        self.seq = 0

    def close(self):
        self.sock.close()

    def _send(self, kind, flags, payload):
        self.seq += 1
        head = struct.pack("=IHHII", 16 + len(payload), kind,
                           flags | NLM_F_REQUEST, self.seq, 0)
        self.sock.send(head + payload)

    def _messages(self):
        data = self.sock.recv(1 << 18)
        at = 0
        while at + 16 <= len(data):
            size, kind, flags, seq, _ = struct.unpack_from("=IHHII", data, at)
            if seq == self.seq:
                yield kind, flags, data[at + 16:at + size]
            at += (size + 3) & ~3

    @staticmethod
    def _answer(flags, payload):
        code = -struct.unpack_from("=i", payload)[0]
        text = None
        if flags & NLM_F_ACK_TLVS:
            at = 20
            if not flags & NLM_F_CAPPED:
                at = 4 + struct.unpack_from("=I", payload, 4)[0]
            for number, data in parse_attrs(payload[at:]):
                if number == 1:
                    text = data.rstrip(b"\0").decode(errors="replace")
        return Answer(code, text)

    def request(self, kind, flags, payload):
        """Send, wait for the acknowledgement, return the Answer."""
        self._send(kind, flags | NLM_F_ACK, payload)
        while True:
            for got, gflags, data in self._messages():
                if got == NLMSG_ERROR:
                    return self._answer(gflags, data)

    def link(self, kind, flags, attrs, index=0, ifflags=0, change=0):
        head = struct.pack("=BxHiII", 0, 0, index, ifflags, change)
        return self.request(kind, flags, head + b"".join(attrs))

    def get(self, index, stats=False):
        """The Link of an interface index, or an Answer if there is none."""
        mask = b"" if stats else u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
        self._send(RTM_GETLINK, 0, struct.pack("=BxHiII", 0, 0, index, 0, 0)
                   + mask)
        while True:
            for got, gflags, data in self._messages():
                if got == NLMSG_ERROR:
                    return self._answer(gflags, data)
                return Link(got, data)

    def links(self):
        """All links of the namespace, in the kernel's order."""
        out = []
        self._send(RTM_GETLINK, NLM_F_DUMP,
                   struct.pack("=BxHiII", 0, 0, 0, 0, 0))
        while True:
            for got, _, data in self._messages():
                if got == NLMSG_DONE:
                    return out
                if got == NLMSG_ERROR:
                    raise OSError("link dump failed")
                out.append(Link(got, data))

    # --- the requests that topics use ---

    def add(self, name, kind, data=b"", index=0, attrs=b""):
        """Create a link. data: the contents of IFLA_INFO_DATA."""
        info = attr(IFLA_INFO_KIND, kind)
        if data:
            info += nest(IFLA_INFO_DATA, data)
        return self.link(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
                         [attr(IFLA_IFNAME, name), attrs,
                          nest(IFLA_LINKINFO, info)], index)

    def change(self, index, kind, data):
        """Set IFLA_INFO_DATA of a link."""
        return self.link(RTM_NEWLINK, 0,
                         [nest(IFLA_LINKINFO, attr(IFLA_INFO_KIND, kind),
                               nest(IFLA_INFO_DATA, data))], index)

    def change_slave(self, index, kind, data):
        """Set IFLA_INFO_SLAVE_DATA of a link."""
        return self.link(RTM_NEWLINK, 0,
                         [nest(IFLA_LINKINFO,
                               attr(IFLA_INFO_SLAVE_KIND, kind),
                               nest(IFLA_INFO_SLAVE_DATA, data))], index)

    def delete(self, index):
        return self.link(RTM_DELLINK, 0, [], index)

    def flags(self, index, flags, change):
        return self.link(RTM_NEWLINK, 0, [], index, flags, change)

    def up(self, index):
        return self.flags(index, IFF_UP, IFF_UP)

    def down(self, index):
        return self.flags(index, 0, IFF_UP)

    def set(self, index, *attrs):
        return self.link(RTM_NEWLINK, 0, list(attrs), index)

    def master(self, index, master):
        return self.set(index, u32(IFLA_MASTER, master))

    def carrier(self, index, on):
        return self.set(index, u8(IFLA_CARRIER, on))


class Listener:
    """Notifications of some rtnetlink groups, or kernel uevents."""

    RTNLGRP_LINK = 1
    RTNLGRP_NEIGH = 3
    RTNLGRP_IPV4_IFADDR = 5
    RTNLGRP_IPV6_IFADDR = 9

    def __init__(self, groups=(), uevents=False):
        proto = NETLINK_KOBJECT_UEVENT if uevents else socket.NETLINK_ROUTE
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, proto)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.sock.bind((0, 1 if uevents else 0))
        for group in groups:
            self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)
        self.sock.setblocking(False)
        self.uevents = uevents

    def close(self):
        self.sock.close()

    def read(self):
        """Everything that has arrived: [(type, payload)] or [{key: value}]."""
        out = []
        while True:
            try:
                data = self.sock.recv(1 << 18)
            except BlockingIOError:
                return out
            if self.uevents:
                out.append(self._uevent(data))
                continue
            at = 0
            while at + 16 <= len(data):
                size, kind = struct.unpack_from("=IH", data, at)
                out.append((kind, data[at + 16:at + size]))
                at += (size + 3) & ~3

    @staticmethod
    def _uevent(data):
        fields = data.rstrip(b"\0").decode(errors="replace").split("\0")
        return dict(f.split("=", 1) for f in fields[1:] if "=" in f)


def sys_path(*parts):
    return os.path.join("/sys/class/net", *parts)
