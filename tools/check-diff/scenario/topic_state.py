# SPDX-License-Identifier: GPL-2.0
"""
What a bond looks like in many configurations, through every window: procfs,
sysfs, raw netlink attributes and `ip -d -j link`. One file each.
"""
import json
import os
import re

import nl
from linkdump import link_lines
from world import (BOND_INDEX, MODES, Out, World, bond_attr, ip4_targets,
                   read_file, run, write_file)

_MAC = re.compile(r"\b(?!02:bd:)(?!00:00:00:00:00:00)(?!ff:ff)"
                  r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b")
POLICIES = ("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4",
            "vlan+srcmac")
NS_TARGETS = b"".join(nl.attr(i, bytes([0x20, 1] + [0] * 13 + [0x10 + i]))
                      for i in range(3))
FULL_NS = b"".join(nl.attr(i, bytes([0x20, 1] + [0] * 13 + [0x10 + i]))
                   for i in range(16))


def mask_macs(text):
    return _MAC.sub("<random>", text)


# --- configurations: each gets a World and a mode, and leaves bond0 behind ---

def empty_down(w, mode):
    w.bond(mode=mode)


def empty_up(w, mode):
    w.nl.up(w.bond(mode=mode))


def dummies(w, mode):
    w.bond(mode=mode)
    for n in (1, 2):
        w.enslave(w.dummy(n))
    w.nl.up(BOND_INDEX)


def veths(w, mode, count=2, **options):
    w.bond(mode=mode, **options)
    for n in range(1, count + 1):
        w.enslave(w.veth(n))
    w.nl.up(BOND_INDEX)
    w.settle()
    for n in range(1, count + 1):
        w.wait_mii(10 + n, 0)


def bond_down_with_slaves(w, mode):
    veths(w, mode)
    w.nl.down(BOND_INDEX)


def eight_slaves(w, mode):
    veths(w, mode, 8, miimon=100)


def mii_delays(w, mode):
    veths(w, mode, miimon=100, updelay=250, downdelay=320,
          peer_notif_delay=299)


def mii_rescaled(w, mode):
    veths(w, mode, miimon=100, updelay=1000, downdelay=2000)
    w.set_bond(miimon=70)


def mii_then_arp(w, mode):
    veths(w, mode, miimon=100, updelay=200)
    w.set_bond(arp_interval=1000000, arp_ip_target=ip4_targets("10.0.0.9"))


def arp_then_mii(w, mode):
    veths(w, mode, arp_interval=1000000, arp_validate=3,
          arp_ip_target=ip4_targets("10.0.0.9"))
    w.set_bond(miimon=100)


def mii_one_down(w, mode):
    veths(w, mode, miimon=50)
    w.settle()
    w.nl.down(51)
    w.wait_mii(11, 2)


def mii_all_down(w, mode):
    veths(w, mode, miimon=50)
    w.settle()
    for n in (1, 2):
        w.nl.down(50 + n)
        w.wait_mii(10 + n, 2)


def mii_going_down(w, mode):
    veths(w, mode, 3, miimon=50, downdelay=10000000)
    w.settle()
    w.nl.down(52)
    w.wait_mii(12, 1)


def mii_going_back(w, mode):
    veths(w, mode, 3, miimon=50)
    w.set_bond(updelay=10000000)
    w.nl.down(52)
    w.wait_mii(12, 2)
    w.nl.up(52)
    w.wait_mii(12, 3)


def arp_full(w, mode):
    veths(w, mode, arp_interval=1000000, arp_ip_target=ip4_targets(
        *("10.0.0.%d" % n for n in range(1, 17))))
    w.set_bond(arp_all_targets=1, missed_max=7)


def ns_targets(w, mode):
    veths(w, mode, arp_interval=1000000, ns_ip6_target=NS_TARGETS)


def targets_full(w, mode):
    veths(w, mode, arp_interval=1000000, ns_ip6_target=FULL_NS,
          arp_ip_target=ip4_targets(
              *("10.0.0.%d" % n for n in range(1, 17))))


def targets_without_interval(w, mode):
    veths(w, mode, arp_ip_target=ip4_targets("10.1.1.1", "10.1.1.2"))


def other_values(w, mode):
    veths(w, mode, fail_over_mac=1, resend_igmp=7, num_peer_notif=9,
          all_slaves_active=1, min_links=2, lp_interval=33, ad_select=1,
          primary_reselect=1)


def queue_ids(w, mode):
    veths(w, mode, 3)
    write_file("/sys/class/net/bond0/bonding/queue_id", "v1:2\n")
    write_file("/sys/class/net/bond0/bonding/queue_id", "v3:7\n")


def hash_policy(policy):
    def config(w, mode):
        veths(w, mode, xmit_hash_policy=POLICIES.index(policy))
    return config


def renamed(w, mode):
    veths(w, mode, miimon=100)
    w.nl.set(BOND_INDEX, nl.attr(nl.IFLA_IFNAME, "uplink-bond.new"))
    w.nl.set(11, nl.attr(nl.IFLA_IFNAME, "port.one"))


def mtu_and_mac(w, mode):
    veths(w, mode)
    w.nl.set(BOND_INDEX, nl.u32(nl.IFLA_MTU, 9000),
             nl.attr(nl.IFLA_ADDRESS, bytes((2, 0xbd, 9, 9, 9, 9))))


def one_left(w, mode):
    veths(w, mode, 3)
    w.nl.master(11, 0)
    w.nl.master(13, 0)


def all_left(w, mode):
    veths(w, mode)
    for n in (11, 12):
        w.nl.master(n, 0)


def stacked(w, mode):
    veths(w, mode)
    w.bond("bond1", BOND_INDEX + 1, mode=mode)
    w.nl.down(BOND_INDEX)
    w.enslave(BOND_INDEX, BOND_INDEX + 1)
    w.nl.up(BOND_INDEX + 1)


def with_vlan(w, mode):
    veths(w, mode)
    w.must(w.nl.add("bond0.7", "vlan", nl.attr(1, b"\7\0"), 70,
                    nl.u32(nl.IFLA_LINK, BOND_INDEX)), "vlan")
    w.nl.up(70)


def many_queues(w, mode):
    w.must(w.nl.add("bond0", "bond", bond_attr(1, MODES[mode]), BOND_INDEX,
                    nl.u32(nl.IFLA_NUM_TX_QUEUES, 5)
                    + nl.u32(nl.IFLA_NUM_RX_QUEUES, 3)), "bond0")


def primary(w, mode, **options):
    veths(w, mode, 3, miimon=50)
    w.set_bond(primary=12, **options)


def primary_better(w, mode):
    primary(w, mode, primary_reselect=1)


def primary_failure(w, mode):
    primary(w, mode, primary_reselect=2)


def primary_absent(w, mode):
    veths(w, mode)
    write_file("/sys/class/net/bond0/bonding/primary", "v9\n")


def primary_gone(w, mode):
    primary(w, mode)
    w.nl.master(12, 0)


def active_chosen(w, mode):
    veths(w, mode, 3, miimon=50)
    w.set_bond(active_slave=13)


def fom_active(w, mode):
    veths(w, mode, fail_over_mac=1, miimon=50)


def fom_follow(w, mode):
    veths(w, mode, fail_over_mac=2, miimon=50)
    w.set_bond(active_slave=12)


def slave_prio(w, mode):
    veths(w, mode, 3, miimon=50)
    w.nl.change_slave(12, "bond", nl.attr(9, b"\x64\0\0\0"))
    w.nl.change_slave(13, "bond", nl.attr(9, b"\xff\xff\xff\xff"))


COMMON = [empty_down, empty_up, dummies, veths, bond_down_with_slaves,
          eight_slaves, mii_delays, mii_rescaled, mii_then_arp, arp_then_mii,
          mii_one_down, mii_all_down, mii_going_down, mii_going_back,
          arp_full, ns_targets, targets_full, targets_without_interval,
          other_values, queue_ids, renamed, mtu_and_mac, one_left, all_left,
          stacked, with_vlan, many_queues]
FOR_MODE = {
    "balance-rr": {"pps_0": lambda w, m: veths(w, m, packets_per_slave=0),
                   "pps_100": lambda w, m: veths(w, m,
                                                 packets_per_slave=100)},
    "active-backup": {f.__name__: f for f in (
        primary, primary_better, primary_failure, primary_absent,
        primary_gone, active_chosen, fom_active, fom_follow, slave_prio)},
}


def configs():
    """(mode, name, function) of every configuration."""
    for mode in MODES:
        table = {f.__name__: f for f in COMMON}
        table.update({"policy_" + p: hash_policy(p) for p in POLICIES})
        table.update(FOR_MODE.get(mode, {}))
        for name, function in table.items():
            yield mode, name, function


# --- windows ---

def show_dir(out, path):
    """Every file below a sysfs directory: mode bits and contents."""
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        text = mask_macs(read_file(full))
        out.line("%s %o %r" % (name, os.stat(full).st_mode & 0o777, text))


def show_links(out, device):
    """The links between the bond and its slaves."""
    path = nl.sys_path(device)
    for name in sorted(os.listdir(path)):
        if name.startswith(("lower_", "upper_", "slave_", "master")):
            out.line("link %s -> %s" % (
                name, os.path.basename(os.readlink(os.path.join(path, name)))))


def show_sysfs(out, names):
    for name in names:
        for sub in ("bonding", "bonding_slave"):
            path = nl.sys_path(name, sub)
            if os.path.isdir(path):
                out.line("%s/%s:" % (name, sub))
                show_dir(out, path)
        show_links(out, name)
    out.line("bonding_masters %r" % read_file(nl.sys_path("bonding_masters")))


def show_procfs(out):
    path = "/proc/net/bonding"
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        out.line("%s %o" % (name, os.stat(full).st_mode & 0o777))
        out.text(mask_macs(read_file(full)))


def show_ip(out, names):
    text = run("ip", "-d", "-j", "link", "show")
    try:
        links = {link["ifname"]: link for link in json.loads(text)}
    except ValueError:
        out.text(text)
        return
    for name in names:
        link = links[name]
        if "UP" not in link.get("flags", ()):
            link.pop("operstate", None)
        text = json.dumps(link, indent=1, sort_keys=True)
        out.text(mask_macs(text))


def unprivileged(function):
    """Run function in a child that has lost its capabilities."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def unprivileged_case(out, name, function):
    out.case(name)
    out.file.flush()

    def body():
        function()
        out.file.flush()
    if unprivileged(body):
        out.line("TIMEOUT child failed")


def run_topic(directory):
    proc, sysfs, raw, ip = (Out(directory, t)
                            for t in ("procfs", "sysfs", "netlink", "ip-link"))
    for mode, name, function in configs():
        case = "%s/%s" % (mode, name)
        with World() as w:
            function(w, mode)
            w.settle()
            links = [link for link in w.nl.links() if link.name != "lo"
                     and not link.name.startswith("p")
                     or link.name.startswith("port")]
            names = [link.name for link in links]
            for out in (proc, sysfs, raw, ip):
                out.case(case)
            show_procfs(proc)
            show_sysfs(sysfs, names)
            for link in links:
                raw.line("%s:" % link.name)
                raw.lines(link_lines(link))
            show_ip(ip, names)
            if name == "veths":
                unprivileged_case(proc, case + "/unprivileged",
                                  lambda: show_procfs(proc))
                unprivileged_case(sysfs, case + "/unprivileged",
                                  lambda: show_sysfs(sysfs, names))
    for out in (proc, sysfs, raw, ip):
        out.close()
