# SPDX-License-Identifier: GPL-2.0
"""
The options of a bond as a table: what each is called in sysfs, its netlink
attribute, and the values that the option topics try. Data only.
"""
from world import BOND_U8, BOND_U16, ip4_targets

import nl

INT_MAX = 0x7fffffff
UINT_MAX = 0xffffffff

# Words that every option gets by sysfs, whatever it means.
TEXT_COMMON = (
    "", "\n", " ", "0", "1", "0\n", "00", "1 2", "2", " 1", "-1", "+1", "0x1",
    "1.5", "abc", "255", "256", "65535", "65536", "2147483647", "2147483648",
    "4294967295", "4294967296", "4294967297", "18446744073709551615",
    "99999999999999999999999", "default", "DEFAULT",
    "minval", "maxval", "off", "on", "a" * 300, "1\0", "1\n2\n", "\t1",
    "1abc", "1 abc",
)
TEXT_LONG = "9" * 4096
# Comes last: what the in-tree driver takes, the next value would start from.
TEXT_OVERFLOW = "18446744073709551616"

# Values of number attributes, cut to the attribute's size.
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 100, 255, 256, 1023, 1024, 65535, 65536,
           300000, 300001, INT_MAX, INT_MAX + 1, UINT_MAX)


class Option:
    """name: file in sysfs or None; attr: IFLA_BOND_* or None."""

    def __init__(self, name, attr=None, texts=(), raws=None, file=True):
        self.name = name
        self.attr = attr
        self.file = name if file else None
        self.texts = (TEXT_LONG,) + TEXT_COMMON + tuple(texts) \
            + (TEXT_OVERFLOW,)
        self.raws = raws if raws is not None else self._numbers()

    def size(self):
        if self.attr in BOND_U8:
            return 1
        return 2 if self.attr in BOND_U16 else 4

    def _numbers(self):
        """[(label, bytes)]: every number that fits, and wrong sizes."""
        if self.attr is None:
            return ()
        size = self.size()
        out = [(str(n), n.to_bytes(size, "little"))
               for n in NUMBERS if n < 1 << (8 * size)]
        out.append(("size0", b""))
        out += [("size%d" % n, b"\1" + b"\0" * (n - 1))
                for n in (1, 2, 3, 4, 8) if n != size]
        return tuple(out)


def names(*words):
    """Names as a user would type them, and near misses."""
    out = []
    for word in words:
        out += [word, word + "\n"]
    out += [words[0].upper(), words[0] + "x", words[0][:-1], words[-1] + " 1",
            " " + words[0]]
    return tuple(out)


def target6(last, first=0x20):
    return bytes([first, 1] + [0] * 13 + [last])


def _list(*entries):
    return b"".join(nl.attr(i, e) for i, e in enumerate(entries))


IP4_TEXTS = ("+10.0.0.1", "-10.0.0.1", "+10.0.0.1\n", "+0.0.0.0", "+0.1.2.3",
             "+255.255.255.255", "+10.0.0", "+10.0.0.256", "+", "-", "10.0.0.1",
             "+10.0.0.1 ", "+10.0.0.1x", "+224.0.0.1", "+127.0.0.1", "*1.2.3.4",
             "-10.9.9.9", "+1", "+10.0.0.2,10.0.0.3")
IP4_RAWS = tuple((label, data) for label, data in (
    ("one", ip4_targets("10.0.0.1")),
    ("two", ip4_targets("10.0.0.1", "10.0.0.2")),
    ("double", ip4_targets("10.0.0.1", "10.0.0.1")),
    ("zero", ip4_targets("0.0.0.0")),
    ("broadcast", ip4_targets("255.255.255.255")),
    ("good-then-bad", ip4_targets("10.0.0.3", "255.255.255.255")),
    ("empty", b""),
    ("seventeen", ip4_targets(*("10.1.0.%d" % n for n in range(1, 18)))),
    ("sixteen", ip4_targets(*("10.1.0.%d" % n for n in range(1, 17)))),
    ("short", _list(b"\x0a\0\0")),
    ("long", _list(b"\x0a\0\0\1\0")),
    ("garbage", b"\1\2\3\4\5"),
))
IP6_RAWS = tuple((label, data) for label, data in (
    ("one", _list(target6(1))),
    ("two", _list(target6(1), target6(2))),
    ("double", _list(target6(1), target6(1))),
    ("same-group", _list(target6(1), bytes([0xfd]) + target6(1)[1:])),
    ("any", _list(bytes(16))),
    ("loopback", _list(bytes(15) + b"\1")),
    ("multicast", _list(b"\xff\2" + bytes(13) + b"\1")),
    ("link-local", _list(b"\xfe\x80" + bytes(13) + b"\1")),
    ("good-then-bad", _list(target6(7), bytes(16))),
    ("empty", b""),
    ("seventeen", _list(*(target6(n) for n in range(1, 18)))),
    ("short", _list(bytes(15))),
    ("ipv4", _list(b"\x0a\0\0\1")),
))
DEV_TEXTS = ("d1", "d2", "d1\n", "d2 ", "d9", "other", "lo", "bond0", "d1x",
             "none", "None", "a" * 15, "a" * 16, "d1 d2", "D1")
DEV_RAWS = tuple((str(n), n.to_bytes(4, "little"))
                 for n in (0, 1, 11, 12, 13, 100, 9999, INT_MAX, UINT_MAX)
                 ) + (("size0", b""), ("size2", b"\x0b\0"))
MAC_TEXTS = ("00:00:00:00:00:00", "02:bd:00:00:00:aa", "01:00:5e:00:00:01",
             "ff:ff:ff:ff:ff:ff", "02:bd:00:00:00", "02-bd-00-00-00-aa",
             "02bd000000aa", "02:bd:00:00:00:aa\n", "2:bd:0:0:0:a")
MAC_RAWS = (("zero", bytes(6)), ("good", b"\x02\xbd\0\0\0\xaa"),
            ("multicast", b"\1\0\x5e\0\0\1"), ("broadcast", b"\xff" * 6),
            ("size5", bytes(5)), ("size7", b"\2" + bytes(6)), ("size0", b""))

ARP_VALIDATE = names("none", "active", "backup", "all", "filter",
                     "filter_active", "filter_backup")

OPTIONS = (
    Option("mode", 1, names("balance-rr", "active-backup", "balance-xor",
                            "broadcast")),
    Option("active_slave", 2, DEV_TEXTS, DEV_RAWS),
    Option("miimon", 3),
    Option("updelay", 4),
    Option("downdelay", 5),
    Option("peer_notif_delay", 28, ("300000", "300001")),
    Option("use_carrier", 6),
    Option("arp_interval", 7),
    Option("arp_ip_target", 8, IP4_TEXTS, IP4_RAWS),
    Option("ns_ip6_target", 31, (), IP6_RAWS, file=False),
    Option("arp_validate", 9, ARP_VALIDATE),
    Option("arp_all_targets", 10, names("any", "all")),
    Option("primary", 11, DEV_TEXTS, DEV_RAWS),
    Option("primary_reselect", 12, names("always", "better", "failure")),
    Option("fail_over_mac", 13, names("none", "active", "follow")),
    Option("xmit_hash_policy", 14, names("layer2", "layer3+4", "layer2+3",
                                         "encap2+3", "encap3+4",
                                         "vlan+srcmac")),
    Option("resend_igmp", 15),
    Option("num_grat_arp", 16),
    Option("num_unsol_na", None),
    Option("all_slaves_active", 17),
    Option("min_links", 18),
    Option("lp_interval", 19),
    Option("packets_per_slave", 20),
    Option("lacp_active", 29),
    Option("lacp_rate", 21, names("slow", "fast")),
    Option("ad_select", 22, names("stable", "bandwidth", "count")
           + ("actor_port_prio", "actor_port_prio\n", "stable")),
    Option("ad_actor_sys_prio", 24),
    Option("ad_user_port_key", 25),
    Option("ad_actor_system", 26, MAC_TEXTS, MAC_RAWS),
    Option("tlb_dynamic_lb", 27),
    Option("arp_missed_max", 30),
    Option("coupled_control", 32, file=False),
    Option("broadcast_neighbor", 33, file=False),
    Option("lacp_strict", 34, file=False),
    Option("slaves", None, ("+d1", "-d1", "+d3", "+d3\n", "-d3", "+d9", "-d9",
                            "+lo", "+bond0", "-bond0", "+", "-", "d3", "*d3",
                            "+" + "a" * 16, "+d3 ")),
    Option("queue_id", None, ("d1:0", "d1:1", "d2:1", "d1:15", "d1:16",
                              "d1:17", "d2:2", "d9:1", "d1", "d1:", ":1",
                              "d1:x", "d1:-1", "d1:1 ", "d1 1", "d3:1",
                              "d1:65536", "d1:1:2")),
    # read-only files: every write has to be refused
    Option("mii_status"), Option("ad_aggregator"), Option("ad_num_ports"),
    Option("ad_actor_key"), Option("ad_partner_key"),
    Option("ad_partner_mac"),
)
BY_NAME = {o.name: o for o in OPTIONS}

# Slave options by netlink: IFLA_BOND_SLAVE_*, sizes.
SLAVE_OPTIONS = (("queue_id", 5, 2), ("prio", 9, 4),
                 ("actor_port_prio", 10, 2), ("state", 1, 1),
                 ("mii_status", 2, 1), ("perm_hwaddr", 4, 6),
                 ("link_failure_count", 3, 4))
