# SPDX-License-Identifier: GPL-2.0
"""
Every option in every mode, with the bond up or down, with or without slaves,
set to good, bad, huge and empty values through sysfs and netlink: the errno,
the value afterwards, and whatever else changed along the way.

Each (mode, state, option, channel) is one case and gets a bond of its own.
For the module that is being checked, two promises are recorded beside it that
do not need an oracle (topic "promises"): a refused setting changes nothing,
and a refusal by netlink says why.
"""
import nl
from linkdump import BOND_NAMES, bond_value
from opts import OPTIONS, SLAVE_OPTIONS
from world import (BOND_INDEX, MODES, Out, World, bond_attr, bond_data,
                   ip4_targets, read_file, write_file)

PATH = "/sys/class/net/bond0/bonding/"
# Values that would start a monitor; 4096 digits and so on stay as they are.
STATES = [(up, slaves) for up in (False, True) for slaves in (False, True)]


def state_name(up, slaves):
    return "%s/%s" % ("up" if up else "down",
                      "slaves" if slaves else "no-slaves")


def make_bond(w, mode, up, slaves):
    w.bond(mode=mode)
    if slaves:
        for index in (11, 12):
            w.enslave(index)
    if up:
        w.must(w.nl.up(BOND_INDEX), "up")


def drop_bond(w):
    w.must(w.nl.delete(BOND_INDEX), "delete")


def options_now(w):
    """{attribute: text} of the bond, AD_INFO left out."""
    link = w.nl.get(BOND_INDEX)
    return {k: bond_value(k, v)
            for k, v in link.info(nl.IFLA_INFO_DATA).items() if k != 23}


def changes(before, after):
    """What changed, as text: "MIIMON=100 ARP_INTERVAL=0"."""
    out = []
    for k in sorted(set(before) | set(after)):
        if before.get(k) != after.get(k):
            out.append("%s=%s" % (BOND_NAMES.get(k, k), after.get(k)))
    return " ".join(out) or "-"


class Promises:
    """Refusals that changed something, or that netlink gave no reason for."""

    def __init__(self, out):
        self.out = out
        self.changed = []
        self.silent = []

    def refused(self, label, changed):
        if changed != "-":
            self.changed.append("%s: %s" % (label, changed))

    def answered(self, label, answer):
        if not answer and not answer.text:
            self.silent.append("%s: %s" % (label, answer))

    def write(self, what):
        self.out.case("%s: a refused setting changes nothing" % what)
        self.out.lines(self.changed)
        self.out.case("%s: a refusal by netlink says why" % what)
        self.out.lines(self.silent)


def shown(text):
    """A value as a label of one short line."""
    return repr(text) if len(text) < 40 else "%r*%d" % (text[0], len(text))


def sysfs_case(w, out, opt, case, promises):
    before = options_now(w)
    for text in opt.texts:
        code = write_file(PATH + opt.file, text)
        after = options_now(w)
        diff = changes(before, after)
        value = read_file(PATH + opt.file)
        out.line("%s: %s now %r, %s" % (shown(text), nl.error_name(code),
                                        value, diff))
        if code:
            promises.refused("%s %s" % (case, shown(text)), diff)
        before = after


def netlink_case(w, out, opt, case, promises):
    before = options_now(w)
    for label, raw in opt.raws:
        answer = w.nl.change(BOND_INDEX, "bond", nl.attr(opt.attr, raw))
        after = options_now(w)
        diff = changes(before, after)
        out.line("%s: %s %s" % (label, answer, diff))
        if not answer:
            promises.refused("%s %s" % (case, label), diff)
            promises.answered("%s %s" % (case, label), answer)
        before = after


def run_matrix(directory, topic, options, case_function):
    out = Out(directory, topic)
    promises = Promises(Out(directory, topic + ".promises"))
    for mode in MODES:
        for up, slaves in STATES:
            with World() as w:
                for n in (1, 2, 3):
                    w.dummy(n)
                for opt in options:
                    case = "%s/%s/%s" % (mode, state_name(up, slaves),
                                         opt.name)
                    make_bond(w, mode, up, slaves)
                    out.case(case)
                    case_function(w, out, opt, case, promises)
                    drop_bond(w)
                    w.nl.down(13)
    promises.write(topic)
    promises.out.close()
    out.close()


def run_sysfs(directory):
    run_matrix(directory, "options-sysfs", [o for o in OPTIONS if o.file],
               sysfs_case)


def run_netlink(directory):
    run_matrix(directory, "options-netlink", [o for o in OPTIONS if o.attr],
               netlink_case)


# --- options given at creation, several options at once, slave options ---

def run_create(directory):
    """RTM_NEWLINK that creates with one option: errno, and is it there?"""
    out = Out(directory, "options-create")
    promises = Promises(Out(directory, "options-create.promises"))
    for mode, number in MODES.items():
        with World() as w:
            w.dummy(1)
            for opt in OPTIONS:
                if not opt.attr:
                    continue
                out.case("%s/%s" % (mode, opt.name))
                for label, raw in opt.raws[::2] + opt.raws[-3:]:
                    answer = w.nl.add(
                        "bond0", "bond",
                        bond_attr(1, number) + nl.attr(opt.attr, raw),
                        BOND_INDEX)
                    link = w.nl.get(BOND_INDEX)
                    there = isinstance(link, nl.Link)
                    value = options_now(w).get(opt.attr) if there else None
                    out.line("%s: %s, there=%s, value=%s"
                             % (label, answer, there, value))
                    promises.answered("%s/%s %s" % (mode, opt.name, label),
                                      answer)
                    if not answer and there:
                        promises.refused("%s/%s %s" % (mode, opt.name, label),
                                         "bond0 was left behind")
                    if there:
                        drop_bond(w)
    promises.write("options-create")
    promises.out.close()
    out.close()


# Name, then the request as {option: value}; a bond without anything set.
TOGETHER = (
    ("miimon+delays", dict(miimon=100, updelay=200, downdelay=300)),
    ("delays before miimon", dict(updelay=200, downdelay=300, miimon=100)),
    ("delays without miimon", dict(updelay=200, downdelay=300)),
    ("mode last", dict(miimon=100, mode="active-backup")),
    ("mode and primary", dict(primary=11, mode="active-backup")),
    ("pps and mode rr", dict(packets_per_slave=9, mode="balance-rr")),
    ("pps and mode xor", dict(packets_per_slave=9, mode="balance-xor")),
    ("miimon and arp", dict(miimon=100, arp_interval=100)),
    ("arp and miimon 0", dict(miimon=0, arp_interval=100000)),
    ("validate and miimon", dict(miimon=100, arp_validate=1)),
    ("validate and arp", dict(arp_validate=3, arp_interval=100000)),
    ("good then bad", dict(miimon=100, xmit_hash_policy=99)),
    ("bad then good", dict(fail_over_mac=99, min_links=2)),
    ("mode then bad", dict(mode="broadcast", resend_igmp=256)),
    ("targets then bad", dict(arp_ip_target=ip4_targets("10.0.0.7"),
                              ad_select=77)),
    ("hash and lacp_rate", dict(xmit_hash_policy=1, ad_lacp_rate=1)),
    ("networkd", dict(mode="balance-xor", xmit_hash_policy=1, miimon=1000,
                      updelay=0, downdelay=0, peer_notif_delay=0,
                      fail_over_mac=0, arp_validate=0, arp_all_targets=0,
                      primary_reselect=0, resend_igmp=1, num_peer_notif=1,
                      min_links=0, all_slaves_active=0, lp_interval=1)),
    ("everything ab", dict(mode="active-backup", miimon=50, updelay=100,
                           downdelay=150, peer_notif_delay=200, primary=12,
                           primary_reselect=2, fail_over_mac=1,
                           xmit_hash_policy=2, resend_igmp=3,
                           num_peer_notif=4, all_slaves_active=1, min_links=1,
                           lp_interval=5, ad_select=2, missed_max=9)),
)


def run_together(directory):
    """Requests with several options, on new and on existing bonds."""
    out = Out(directory, "options-together")
    promises = Promises(Out(directory, "options-together.promises"))
    for mode in MODES:
        for name, options in TOGETHER:
            data = bond_data(**options)
            for up, slaves in STATES:
                case = "%s/%s/%s" % (mode, state_name(up, slaves), name)
                with World() as w:
                    for n in (1, 2):
                        w.dummy(n)
                    make_bond(w, mode, up, slaves)
                    before = options_now(w)
                    answer = w.nl.change(BOND_INDEX, "bond", data)
                    diff = changes(before, options_now(w))
                    out.case(case)
                    out.line("%s %s" % (answer, diff))
                    promises.answered(case, answer)
                    if not answer:
                        promises.refused(case, diff)
    promises.write("options-together")
    promises.out.close()
    out.close()


def slave_values(size):
    if size == 6:
        return (b"\x02\xbd\0\0\0\x99",)
    top = 1 << (8 * size)
    return tuple(n.to_bytes(size, "little") for n in
                 (0, 1, 2, 15, 16, 17, 255, 1000, 65535, top // 2,
                  top // 2 - 1, top - 1) if n < top) + (b"", b"\1" * 3)


def run_slave(directory):
    """Options of a slave by netlink, and writes to its sysfs files."""
    out = Out(directory, "options-slave")
    promises = Promises(Out(directory, "options-slave.promises"))
    for mode in MODES:
        with World() as w:
            for n in (1, 2, 3):
                w.dummy(n)
            make_bond(w, mode, True, True)
            for name, number, size in SLAVE_OPTIONS:
                out.case("%s/%s" % (mode, name))
                for raw in slave_values(size):
                    answer = w.nl.change_slave(11, "bond",
                                               nl.attr(number, raw))
                    after = w.nl.get(11).info(nl.IFLA_INFO_SLAVE_DATA)
                    value = after.get(number, b"").hex()
                    out.line("%s: %s now %s active %d" % (
                        raw.hex(), answer, value, w.active()))
                    promises.answered("%s/%s %s" % (mode, name, raw.hex()),
                                      answer)
            out.case("%s/not a slave" % mode)
            answer = w.nl.change_slave(13, "bond", nl.attr(9, b"\1\0\0\0"))
            out.line(str(answer))
            out.case("%s/sysfs" % mode)
            for name in ("state", "mii_status", "queue_id", "perm_hwaddr"):
                code = write_file(nl.sys_path("d1", "bonding_slave", name),
                                  "1")
                out.line("%s: %s" % (name, nl.error_name(code)))
    promises.write("options-slave")
    promises.out.close()
    out.close()
