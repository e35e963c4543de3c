# SPDX-License-Identifier: GPL-2.0
#
# The options of a bond as users know them: names, netlink attributes, values,
# and in which modes and states they can be set. Written from the documented
# behaviour and checked against the in-tree driver; the driver's own table is
# not read, so that a mistake there is seen.

MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad",
         "balance-tlb", "balance-alb"]
ALL = set(range(7))
RR, AB, AD, TLB, ALB = 0, 1, 4, 5, 6
INT_MAX = 0x7fffffff

NAMES_MODE = dict(zip(MODES, range(7)))
NAMES_VALIDATE = dict(none=0, active=1, backup=2, all=3, filter=4,
                      filter_active=5, filter_backup=6)
NAMES_POLICY = {"layer2": 0, "layer3+4": 1, "layer2+3": 2, "encap2+3": 3,
                "encap3+4": 4, "vlan+srcmac": 5}

# What words may stand for numbers somewhere, and so are refused elsewhere.
WORDS = ["off", "on", "minval", "maxval", "none", "all"]


class Option:
    """One option.

    attr, size: netlink attribute and the bytes of its number
    good: numbers to try that are allowed; bad: numbers that are not
    words: names of numbers; default: what the word "default" means
    modes: where it exists; down, free: only while down, while without slaves
    files: its sysfs files; show: "number" or "name", "" for only in 802.3ad
    first: settings (option, number) to make before
    other: words that are names of numbers which have a test of their own
    refused: errno that its good values get, if any; becomes: what a good value
    is turned into
    """

    def __init__(self, name, attr, size, good, bad, words=None, default=None,
                 modes=None, down=False, free=False, files=None, show="number",
                 first=(), other=(), refused="0",
                 becomes=lambda number: number):
        self.name, self.attr, self.size = name, attr, size
        self.good, self.bad = good, bad
        self.words, self.default = words or {}, default
        self.modes = ALL if modes is None else modes
        self.down, self.free = down, free
        self.files = [name] if files is None else files
        self.show, self.first, self.other = show, first, other
        self.refused, self.becomes = refused, becomes


def named(names, default="", beyond=()):
    """Values of an option that takes the numbers it has names for."""
    good = [n for n in names.values() if n not in beyond]
    return dict(good=good, bad=[max(names.values()) + 1, 254, 255],
                words={w: n for w, n in names.items() if n in good},
                default=names.get(default), show="name")


def ranged(low, high, *some, words=None, default=None):
    """Values of an option that takes a range."""
    return dict(good=[low, high, *some],
                bad=[n for n in (low - 1, high + 1, 0xffffffff)
                     if n >= 0 and not low <= n <= high],
                words=words, default=default)


def interval():
    return ranged(0, INT_MAX, 1, 100, words=dict(off=0, maxval=INT_MAX),
                  default=0)


def switch(default):
    return dict(good=[0, 1], bad=[2, 255], words=dict(off=0, on=1),
                default=default)


def repeat():
    return ranged(0, 255, 1, 7, words=dict(off=0, maxval=255), default=1)


def delay(name, attr, high, default):
    """A delay needs miimon and is rounded down to a multiple of it."""
    kind = dict(words=dict(off=0, maxval=high), default=default)
    return [
        Option(name, attr, 4, first=[("miimon", 0)], refused="EPERM",
               **ranged(0, high, 100, **kind)),
        Option(name, attr, 4, first=[("miimon", 100)],
               becomes=lambda n: n - n % 100,
               **ranged(0, high, 100, 250, 1, **kind)),
    ]


MISSED = ranged(1, 255, 2, words=dict(minval=1, maxval=255), default=2)
NO_ARP = {4, 5, 6}

OPTIONS = [
    Option("mode", 1, 1, free=True, down=True,
           **named(NAMES_MODE, "balance-rr")),
    Option("miimon", 3, 4, **interval()),
    *delay("updelay", 4, INT_MAX, 0),
    *delay("downdelay", 5, INT_MAX, 0),
    *delay("peer_notif_delay", 28, 300000, None),
    Option("use_carrier", 6, 1, [1], [2, 255], dict(on=1), 1,
           other=["off"]),
    Option("arp_interval", 7, 4, modes=ALL - NO_ARP, **interval()),
    Option("arp_validate", 9, 4, modes=ALL - NO_ARP,
           **named(NAMES_VALIDATE, "none")),
    Option("arp_all_targets", 10, 4, **named(dict(any=0, all=1), "any")),
    Option("primary_reselect", 12, 1,
           **named(dict(always=0, better=1, failure=2), "always")),
    Option("fail_over_mac", 13, 1, free=True,
           **named(dict(none=0, active=1, follow=2), "none")),
    Option("xmit_hash_policy", 14, 1, **named(NAMES_POLICY, "layer2")),
    Option("resend_igmp", 15, 4, **repeat()),
    Option("num_peer_notif", 16, 1, files=["num_grat_arp", "num_unsol_na"],
           **repeat()),
    Option("all_slaves_active", 17, 1, **switch(0)),
    Option("min_links", 18, 4, **interval()),
    Option("lp_interval", 19, 4, **ranged(1, INT_MAX, 9, default=1,
                                          words=dict(minval=1,
                                                     maxval=INT_MAX))),
    Option("packets_per_slave", 20, 4, modes={RR},
           **ranged(0, 65535, 1, 8, default=1, words=dict(maxval=65535))),
    Option("lacp_rate", 21, 1, modes={AD}, down=True,
           **named(dict(slow=0, fast=1))),
    Option("lacp_active", 29, 1, modes={AD}, down=True,
           **named(dict(off=0, on=1), "on")),
    Option("ad_select", 22, 1, down=True,
           **named(dict(stable=0, bandwidth=1, count=2, actor_port_prio=3),
                   "stable", beyond=[3])),
    Option("ad_actor_sys_prio", 24, 2, modes={AD}, show="",
           **ranged(1, 65535, 7, default=65535,
                    words=dict(minval=1, maxval=65535))),
    Option("ad_user_port_key", 25, 2, modes={AD}, down=True, show="",
           **ranged(0, 1023, 7, default=0, words=dict(minval=0, maxval=1023))),
    Option("tlb_dynamic_lb", 27, 1, modes={TLB, ALB}, down=True, **switch(1)),
    Option("arp_missed_max", 30, 1, modes=ALL - NO_ARP, **MISSED),
    Option("coupled_control", 32, 1, modes={AD}, down=True, files=[],
           **switch(1)),
    Option("broadcast_neighbor", 33, 1, modes={AD}, files=[], **switch(0)),
    Option("lacp_strict", 34, 1, modes={AD}, files=[], **switch(0)),
]

# Options that older in-tree drivers do not have.
NEW = ["broadcast_neighbor", "lacp_strict"]
