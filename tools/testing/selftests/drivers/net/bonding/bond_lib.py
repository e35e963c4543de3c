# SPDX-License-Identifier: GPL-2.0
#
# What the bonding tests in Python share: a raw rtnetlink socket that returns
# errno and extack text as the kernel sent them, and attributes in the order in
# which the kernel sent them; sysfs; network namespaces; results in KTAP.
# Nothing but Python's own library, so that no library's idea of an option
# stands between a test and the kernel.

import ctypes
import errno
import os
import socket
import struct
import sys
import traceback

RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK = 16, 17, 18
RTM_GETSTATS = 94
NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
NLMSG_ERROR = 2
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSGERR_ATTR_MSG = 1
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
NLA_F_NESTED, NLA_TYPE_MASK = 0x8000, 0x3fff
IFF_UP = 1

IFLA_ADDRESS, IFLA_IFNAME, IFLA_MASTER, IFLA_LINKINFO = 1, 3, 10, 18
IFLA_EXT_MASK, IFLA_NUM_TX_QUEUES, IFLA_NUM_RX_QUEUES = 29, 31, 32
RTEXT_FILTER_SKIP_STATS = 8
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA = 4, 5


def attr(kind, data=b""):
    """One attribute; data is bytes, or a list of attributes to nest."""
    if isinstance(data, list):
        kind |= NLA_F_NESTED
        data = b"".join(data)
    size = len(data) + 4
    return struct.pack("=HH", size, kind) + data + b"\0" * (-size % 4)


def attrs(data):
    """[(type, bytes)] in the order of the message."""
    out = []
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4 or size > len(data):
            raise ValueError("broken attribute")
        out.append((kind & NLA_TYPE_MASK, data[4:size]))
        data = data[(size + 3) & ~3:]
    return out


def number(data):
    """An attribute's bytes as an unsigned number of this machine."""
    return int.from_bytes(data, "little" if struct.pack("=H", 1)[0] else "big")


class Answer:
    """What the kernel said: errno (0 for none), its name, extack text."""

    def __init__(self, code, text=""):
        self.code = code
        self.name = errno.errorcode[code] if code else "0"
        if code == errno.EOPNOTSUPP:
            self.name = "EOPNOTSUPP"    # the same number as ENOTSUP
        self.text = text

    def __repr__(self):
        return f"{self.name} {self.text!r}"


class Rtnl:
    """A socket to ask the kernel with, in the namespace it is made in."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sock.bind((0, 0))
        self.seq = 0

    def send(self, kind, flags, body):
        self.seq += 1
        head = struct.pack("=IHHII", len(body) + 16, kind,
                           flags | NLM_F_REQUEST, self.seq, 0)
        self.sock.send(head + body)

    def messages(self):
        """Messages of one datagram: (type, flags, body)."""
        data = self.sock.recv(1 << 20)
        while len(data) >= 16:
            size, kind, flags, seq, _ = struct.unpack_from("=IHHII", data)
            if seq == self.seq:
                yield kind, flags, data[16:size]
            data = data[(size + 3) & ~3:]

    def answer(self, flags, body):
        code = -struct.unpack_from("=i", body)[0]
        text = ""
        if flags & NLM_F_ACK_TLVS:
            skip = 20
            if not flags & NLM_F_CAPPED:
                skip = 4 + struct.unpack_from("=I", body, 4)[0]
            for kind, data in attrs(body[skip:]):
                if kind == NLMSGERR_ATTR_MSG:
                    text = data.rstrip(b"\0").decode()
        return Answer(code, text)

    def do(self, kind, flags, body):
        """Ask for something; an Answer."""
        self.send(kind, flags | NLM_F_ACK, body)
        while True:
            for got, gflags, gbody in self.messages():
                if got == NLMSG_ERROR:
                    return self.answer(gflags, gbody)

    def get(self, kind, body):
        """Ask for one object: the body of the reply, or an Answer."""
        self.send(kind, 0, body)
        while True:
            for got, gflags, gbody in self.messages():
                if got == NLMSG_ERROR:
                    return self.answer(gflags, gbody)
                return gbody

    # --- links ---

    @staticmethod
    def ifinfo(index=0, flags=0, change=0):
        return struct.pack("=BBHiII", 0, 0, 0, index, flags, change)

    def named(self, name, flags=0, change=0):
        """The start of a message on a device that goes by its name."""
        return (self.ifinfo(0, flags, change) +
                attr(IFLA_IFNAME, name.encode() + b"\0"))

    def add(self, name, kind, data=None, extra=()):
        """Make a device; data is a list of attributes of its kind."""
        info = [attr(IFLA_INFO_KIND, kind.encode() + b"\0")]
        if data is not None:
            info.append(attr(IFLA_INFO_DATA, list(data)))
        body = self.named(name) + b"".join(extra) + attr(IFLA_LINKINFO, info)
        return self.do(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body)

    def change(self, name, kind, data):
        """Set options of a device by its kind's attributes."""
        info = [attr(IFLA_INFO_KIND, kind.encode() + b"\0"),
                attr(IFLA_INFO_DATA, list(data))]
        return self.do(RTM_NEWLINK, 0, self.named(name) +
                       attr(IFLA_LINKINFO, info))

    def slave_change(self, name, data):
        info = [attr(IFLA_INFO_SLAVE_KIND, b"bond\0"),
                attr(IFLA_INFO_SLAVE_DATA, list(data))]
        return self.do(RTM_NEWLINK, 0, self.named(name) +
                       attr(IFLA_LINKINFO, info))

    def delete(self, name):
        return self.do(RTM_DELLINK, 0, self.named(name))

    def up(self, name, on=True):
        return self.do(RTM_NEWLINK, 0, self.named(
            name, IFF_UP if on else 0, IFF_UP))

    def master(self, name, master):
        index = ifindex(master) if master else 0
        return self.do(RTM_NEWLINK, 0, self.named(name) +
                       attr(IFLA_MASTER, struct.pack("=I", index)))

    def link(self, name):
        """All attributes of a device, in order, but for its statistics."""
        mask = struct.pack("=I", RTEXT_FILTER_SKIP_STATS)
        reply = self.get(RTM_GETLINK, self.named(name) +
                         attr(IFLA_EXT_MASK, mask))
        if isinstance(reply, Answer):
            raise OSError(reply.code, repr(reply))
        return attrs(reply[16:])

    def info_bytes(self, name, which=IFLA_INFO_DATA):
        """The attributes of a device's kind (or slave kind), as they came."""
        info = dict(self.link(name)).get(IFLA_LINKINFO, b"")
        return dict(attrs(info)).get(which, b"")

    def info(self, name, which=IFLA_INFO_DATA):
        """The same, taken apart."""
        return attrs(self.info_bytes(name, which))


def ifindex(name):
    return socket.if_nametoindex(name)


# --- sysfs ---

def sysfs(bond, option):
    return f"/sys/class/net/{bond}/bonding/{option}"


def sysfs_read(bond, option):
    with open(sysfs(bond, option), encoding="latin1") as file:
        return file.read()


def sysfs_write(bond, option, text):
    """Write in one call, whatever the text; an Answer."""
    try:
        file = os.open(sysfs(bond, option), os.O_WRONLY)
    except OSError as err:
        return Answer(err.errno, "open")
    try:
        os.write(file, text.encode("latin1"))
    except OSError as err:
        return Answer(err.errno)
    finally:
        os.close(file)
    return Answer(0)


# --- a network namespace of our own ---

CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


def new_namespace():
    """From here on this process sees an empty network, in sysfs, too."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result):
        if result:
            raise OSError(ctypes.get_errno(), "namespace")

    check(libc.unshare(CLONE_NEWNS | CLONE_NEWNET))
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    check(libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None))
    try:
        with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w",
                  encoding="ascii") as file:
            file.write("1")
    except OSError:
        pass    # no IPv6, no stray frames of it


# --- results ---

class Fail(Exception):
    """The case has failed, and why."""


class Skip(Exception):
    """The case cannot be run here, and why."""


class Check:
    """Collects what is wrong, so that one mistake does not hide the next."""

    def __init__(self):
        self.made = 0
        self.wrong = []

    def equal(self, what, want, got):
        self.made += 1
        if want != got:
            if isinstance(want, list) and isinstance(got, list):
                lack = [x for x in want if x not in got]
                more = [x for x in got if x not in want]
                if lack or more:    # else it is order or number
                    want, got = lack, more
            self.wrong.append(f"{what}: wanted {want!r}, got {got!r}"[:300])
            return False
        return True

    def end(self):
        if not self.made:
            raise Fail("nothing was checked")
        for line in self.wrong[:20]:
            print(f"# {line}")
        if self.wrong:
            raise Fail(f"{len(self.wrong)} of {self.made} checks: "
                       f"{self.wrong[0]}")


def tainted():
    """Did the kernel die or warn? Flags D and W."""
    with open("/proc/sys/kernel/tainted", encoding="ascii") as file:
        return int(file.read()) & (1 << 7 | 1 << 9)


def run_case(case):
    """Run one case: its KTAP status, and a remark."""
    before = tainted()
    try:
        case()
        if tainted() & ~before:
            raise Fail("the kernel complained, see its log")
    except Fail as why:
        return "not ok", str(why)
    except Skip as why:
        return "ok", f"SKIP {why}"
    except Exception as why:    # a broken test is a failed test
        traceback.print_exc(file=sys.stderr)
        return "not ok", f"{type(why).__name__}: {why}"
    return "ok", ""


def why_not():
    """What is missing to run at all; an empty text for nothing."""
    if os.geteuid():
        return "not root"
    made = Rtnl().add("bondtry", "bond")
    if made.code == errno.EOPNOTSUPP:
        return "no bonding module"
    if not made.code:
        Rtnl().delete("bondtry")
    return ""


def ktap_main(cases, beyond=()):
    """Run the cases that the command line names, or all; never returns.

    cases is a dictionary of functions by name. beyond has the names of those
    that the in-tree driver is expected to fail.
    """
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(cases))
        sys.exit(0)
    for name in names:
        if name not in cases:
            sys.exit(f"no case {name}")
    why = why_not()
    if why:
        print(f"1..0 # SKIP {why}")
        sys.exit(4)
    new_namespace()
    names = names or list(cases)
    count = {"pass": 0, "fail": 0, "skip": 0}
    print(f"KTAP version 1\n1..{len(names)}", flush=True)
    for number, name in enumerate(names, 1):
        if name in beyond:
            print(f"# beyond the in-tree driver: {name}")
        status, remark = run_case(cases[name])
        kind = ("fail" if status != "ok" else
                "skip" if remark else "pass")
        count[kind] += 1
        remark = remark.replace("\n", " ").replace("#", "")
        print(f"{status} {number} {name}" + (f" # {remark}" if remark else ""),
              flush=True)
    print("# Totals: pass:{pass} fail:{fail} xfail:0 xpass:0 skip:{skip} "
          "error:0".format(**count))
    sys.exit(1 if count["fail"] else 0 if count["pass"] else 4)
