# SPDX-License-Identifier: GPL-2.0
"""
IPv6 on a bond: who gets a link-local address, what is joined on which slave,
with and without targets of the NS monitor, across failovers.
"""
import time

import nl
from topic_failover import peer, where_lists_are
from topic_state import NS_TARGETS
from world import BOND_INDEX, MODES, Out, World, read_file, write_file

BOND = "/sys/class/net/bond0/bonding/"


def sysfs(name, text):
    return lambda w: write_file(BOND + name, text)


STEPS = (
    ("two slaves", lambda w: None),
    ("third slave", lambda w: w.enslave(w.veth(3))),
    ("first fails", peer(1, False)),
    ("first returns", peer(1, True)),
    ("NS targets", lambda w: w.set_bond(arp_interval=1000000,
                                        ns_ip6_target=NS_TARGETS)),
    ("validate all", lambda w: w.set_bond(arp_validate=3)),
    ("third is primary", sysfs("primary", "v3")),
    ("fourth slave", lambda w: w.enslave(w.veth(4))),
    ("two of the targets", lambda w: w.set_bond(
        ns_ip6_target=NS_TARGETS[:40])),
    ("validate none", lambda w: w.set_bond(arp_validate=0)),
    ("validate backup", lambda w: w.set_bond(arp_validate=2)),
    ("release third", lambda w: w.nl.master(13, 0)),
    ("miimon again", lambda w: w.set_bond(miimon=50)),
    ("down", lambda w: w.nl.down(BOND_INDEX)),
    ("up", lambda w: w.nl.up(BOND_INDEX)),
    ("release all", lambda w: [w.nl.master(n, 0) for n in (11, 12, 14)]),
)


def show(w, out):
    for line in sorted(read_file("/proc/net/if_inet6").splitlines()):
        words = line.split()
        if not words[5].startswith(("lo", "p")):
            out.line("address %s %s" % (words[5], " ".join(words[:5:4])))
    for line in sorted(read_file("/proc/net/igmp6").splitlines()):
        words = line.split()
        if not words[1].startswith(("lo", "p")):
            out.line("joined %s %s x%s" % (words[1], words[2], words[3]))
    out.lines("list " + text for text in where_lists_are(w))


def run_topic(directory):
    out = Out(directory, "ipv6")
    for mode in MODES:
        with World(ipv6=True) as w:
            w.bond(mode=mode, miimon=50)
            for n in (1, 2):
                w.enslave(w.veth(n))
            w.must(w.nl.up(BOND_INDEX), "up")
            for name, action in STEPS:
                out.case("%s/%s" % (mode, name))
                answer = action(w)
                if isinstance(answer, nl.Answer):
                    out.line(str(answer))
                w.settle(out)
                time.sleep(3)
                show(w, out)
    out.close()
