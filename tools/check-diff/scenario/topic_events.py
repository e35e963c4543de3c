# SPDX-License-Identifier: GPL-2.0
"""
Netlink notifications and uevents during a list of actions, once decoded here
(topic "events") and once as `ip monitor` prints them (topic "ip-monitor").
"""
import os
import re
import subprocess
import time

import nl
from events import Recorder
from topic_state import mask_macs
from world import (BOND_INDEX, MODES, Out, World, bond_attr, ip4_targets,
                   read_file, write_file)

BOND = "/sys/class/net/bond0/bonding/"


def sysfs(name, text):
    return lambda w: write_file(BOND + name, text)


def option(**options):
    return lambda w: w.set_bond(**options)


# (name, action): each starts where the one before has left off.
ACTIONS = (
    ("up", lambda w: w.nl.up(BOND_INDEX)),
    ("enslave first", lambda w: w.enslave(11)),
    ("enslave second", lambda w: w.enslave(12)),
    ("enslave third by sysfs", sysfs("slaves", "+v3")),
    ("miimon by netlink", option(miimon=50)),
    ("updelay by sysfs", sysfs("updelay", "50")),
    ("updelay off by sysfs", sysfs("updelay", "0")),
    ("several by netlink", option(resend_igmp=2, min_links=1)),
    ("refused by netlink",
     lambda w: w.nl.change(BOND_INDEX, "bond", bond_attr(14, 99))),
    ("refused by sysfs", sysfs("xmit_hash_policy", "nonsense")),
    ("same value by sysfs", sysfs("xmit_hash_policy", "layer2")),
    ("policy by netlink", option(xmit_hash_policy=1)),
    ("policy by sysfs", sysfs("xmit_hash_policy", "layer2+3")),
    ("all_slaves_active", sysfs("all_slaves_active", "1")),
    ("all_slaves_active off", sysfs("all_slaves_active", "0")),
    ("queue_id", sysfs("queue_id", "v2:1")),
    ("first loses carrier", lambda w: w.nl.down(51)),
    ("first gets carrier", lambda w: w.nl.up(51)),
    ("third loses carrier", lambda w: w.nl.down(53)),
    ("third gets carrier", lambda w: w.nl.up(53)),
    ("second is set down", lambda w: w.nl.down(12)),
    ("second is set up", lambda w: w.nl.up(12)),
    ("all lose carrier", lambda w: [w.nl.down(n) for n in (51, 52, 53)]),
    ("second gets carrier", lambda w: w.nl.up(52)),
    ("all get carrier", lambda w: [w.nl.up(n) for n in (51, 53)]),
    ("mtu of the bond", lambda w: w.nl.set(BOND_INDEX,
                                           nl.u32(nl.IFLA_MTU, 1400))),
    ("mtu of a slave", lambda w: w.nl.set(11, nl.u32(nl.IFLA_MTU, 1300))),
    ("address of the bond", lambda w: w.nl.set(
        BOND_INDEX, nl.attr(nl.IFLA_ADDRESS, b"\x02\xbd\0\0\1\1"))),
    ("address of a slave", lambda w: w.nl.set(
        12, nl.attr(nl.IFLA_ADDRESS, b"\x02\xbd\0\0\1\2"))),
    ("promisc", lambda w: w.nl.flags(BOND_INDEX, 0x100, 0x100)),
    ("promisc off", lambda w: w.nl.flags(BOND_INDEX, 0, 0x100)),
    ("allmulti", lambda w: w.nl.flags(BOND_INDEX, 0x200, 0x200)),
    ("allmulti off", lambda w: w.nl.flags(BOND_INDEX, 0, 0x200)),
    ("arp monitor", option(arp_interval=1000000,
                           arp_ip_target=ip4_targets("10.0.0.9"))),
    ("back to miimon", option(miimon=50)),
    ("slave renamed", lambda w: w.nl.set(
        12, nl.attr(nl.IFLA_IFNAME, "v2new"))),
    ("release by netlink", lambda w: w.nl.master(11, 0)),
    ("release by sysfs", sysfs("slaves", "-v3")),
    ("vlan on top", lambda w: w.nl.add(
        "bond0.5", "vlan", nl.attr(1, b"\5\0"), 70,
        nl.u32(nl.IFLA_LINK, BOND_INDEX))),
    ("vlan up", lambda w: w.nl.up(70)),
    ("vlan gone", lambda w: w.nl.delete(70)),
    ("bond down", lambda w: w.nl.down(BOND_INDEX)),
    ("bond up", lambda w: w.nl.up(BOND_INDEX)),
    ("slave's device goes", lambda w: w.nl.delete(12)),
    ("rename", lambda w: (w.nl.down(BOND_INDEX), w.nl.set(
        BOND_INDEX, nl.attr(nl.IFLA_IFNAME, "bond9")))),
    ("up under the new name", lambda w: w.nl.up(BOND_INDEX)),
    ("enslave again", lambda w: (w.nl.down(11), w.enslave(11))),
    ("mode while up", lambda w: w.nl.change(BOND_INDEX, "bond",
                                            bond_attr(1, 3))),
    ("bond deleted with a slave", lambda w: w.nl.delete(BOND_INDEX)),
    ("created by sysfs", lambda w: write_file(nl.sys_path("bonding_masters"),
                                              "+bond5")),
    ("deleted by sysfs", lambda w: write_file(nl.sys_path("bonding_masters"),
                                              "-bond5")),
)
# Actions of modes with an active slave, after "third gets carrier".
AB_ACTIONS = (
    ("active by netlink", option(active_slave=13)),
    ("active cleared", sysfs("active_slave", "\n")),
    ("active by sysfs", sysfs("active_slave", "v2")),
    ("primary by netlink", option(primary=11)),
    ("primary cleared by sysfs", sysfs("primary", "\n")),
    ("slave prio", lambda w: w.nl.change_slave(
        12, "bond", nl.attr(9, b"\x0a\0\0\0"))),
)


def actions(mode):
    for name, action in ACTIONS:
        yield name, action
        if name == "third gets carrier" and mode == "active-backup":
            yield from AB_ACTIONS


def prepare(w):
    for n in (1, 2, 3):
        w.veth(n)
    w.settle()


def run_events(directory):
    out = Out(directory, "events")
    for mode in MODES:
        with World() as w:
            prepare(w)
            recorder = Recorder(w, out)
            out.case("%s/create" % mode)
            w.bond(mode=mode)
            recorder.lines(out)
            for name, action in actions(mode):
                out.case("%s/%s" % (mode, name))
                action(w)
                recorder.lines(out)
            recorder.close()
    out.close()


def run_monitor(directory):
    """The same under `ip -d monitor link`, its lines grouped by action."""
    out = Out(directory, "ip-monitor")
    path = os.path.join(directory, "ip-monitor.raw")
    for mode in MODES:
        with World() as w, open(path, "wb") as raw:
            prepare(w)
            monitor = subprocess.Popen(["ip", "-d", "monitor", "link"],
                                       stdout=raw)
            w.wait("ip monitor", lambda: listens(monitor.pid))
            at = 0
            for name, action in [("create", lambda w: w.bond(mode=mode))] \
                    + list(actions(mode)):
                action(w)
                w.settle()
                at = write_news(out, "%s/%s" % (mode, name), path, at)
            monitor.kill()
            monitor.wait()
    os.unlink(path)
    out.close()


def listens(pid):
    """Has the process joined a group of rtnetlink?"""
    for line in read_file("/proc/net/netlink").splitlines()[1:]:
        words = line.split()
        if words[1] == "0" and words[2] == str(pid) and int(words[3], 16):
            return True
    return False


def last_blocks(text):
    """
    The last block of each link, but of the slaves' peers; and of slaves what
    link watch says masked.
    """
    last = {}
    for block in re.split(r"(?m)^(?=\S)", text):
        found = re.match(r"(Deleted )?(\d+): ([\w.]+)", block)
        if not found or re.match(r"p\d", found.group(3)):
            continue
        if re.match(r"v\d", found.group(3)):
            block = re.sub(r"NO-CARRIER,|(?<=state )\w+", "", block)
        last[int(found.group(2))] = block
    return "".join(last[index] for index in sorted(last))


def write_news(out, case, path, at):
    """The lines that path has got beyond at, when it stops growing."""
    size, quiet = os.path.getsize(path), 0
    while quiet < 20:
        time.sleep(0.02)
        now = os.path.getsize(path)
        quiet = quiet + 1 if now == size else 0
        size = now
    with open(path, "rb") as f:
        f.seek(at)
        text = f.read().decode(errors="replace")
    out.case(case)
    out.text(mask_macs(last_blocks(re.sub(r"[ \t]+\n", "\n", text))))
    return size
