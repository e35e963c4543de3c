# SPDX-License-Identifier: GPL-2.0
"""
The smaller doors: old ioctls, ethtool, device features, and the module itself
(modinfo, module parameters).
"""
import os
import re

import ioctls
import nl
from linkdump import BOND_NAMES, bond_value, mac_text
from topic_state import mask_macs, unprivileged_case
from world import BOND_INDEX, MODES, Out, World, read_file, run

PRIVATE = ioctls.SIOCDEVPRIVATE


def slaves_now():
    return repr(read_file("/sys/class/net/bond0/bonding/slaves"))


def query(out, name="bond0"):
    out.line("info %s" % (ioctls.bond_info(name),))
    for position in (-1, 0, 1, 2, 3, 1000):
        out.line("slave %s" % (ioctls.slave_info(name, position),))
    for register in (0, 1, 2, 31):
        out.line("mii %d %s" % (register, ioctls.mii(
            name, ioctls.SIOCGMIIREG, register)))
    out.line("phy %s" % (ioctls.mii(name, ioctls.SIOCGMIIPHY),))
    out.line("write %s" % (ioctls.mii(name, ioctls.SIOCSMIIREG),))


def commands(out, numbers):
    """Enslave, hwaddr, active, release by the given four numbers."""
    enslave, release, hwaddr, active = numbers
    for label, number, slave in (
            ("enslave", enslave, "d1"), ("enslave again", enslave, "d1"),
            ("enslave nothing", enslave, "d9"), ("enslave lo", enslave, "lo"),
            ("enslave empty", enslave, ""), ("enslave second", enslave, "d2"),
            ("active", active, "d2"), ("active again", active, "d2"),
            ("active stranger", active, "d3"), ("active none", active, ""),
            ("hwaddr", hwaddr, "d3"), ("hwaddr none", hwaddr, "d9"),
            ("release", release, "d1"), ("release again", release, "d1"),
            ("release stranger", release, "d3"),
            ("release second", release, "d2")):
        code = ioctls.with_slave(number, "bond0", slave)
        out.line("%s: %s %s" % (label, nl.error_name(code), slaves_now()))


def run_ioctl(directory):
    out = Out(directory, "ioctl")
    for mode in MODES:
        for label, numbers in (
                ("new", (0x8990, 0x8991, 0x8992, 0x8995)),
                ("private", (PRIVATE, PRIVATE + 1, PRIVATE + 2,
                             PRIVATE + 13))):
            with World() as w:
                for n in (1, 2, 3):
                    w.dummy(n)
                w.nl.up(w.bond(mode=mode))
                out.case("%s/%s numbers" % (mode, label))
                commands(out, numbers)
                link = w.nl.get(BOND_INDEX)
                out.line("address %s" % mac_text(link.by_kind[1]))
        with World() as w:
            w.bond(mode=mode, miimon=100)
            out.case("%s/queries, empty" % mode)
            query(out)
            for n in (1, 2):
                w.enslave(w.dummy(n))
            w.nl.up(BOND_INDEX)
            w.settle()
            out.case("%s/queries, two slaves" % mode)
            query(out)
            out.line("private %s %s" % (
                ioctls.bond_info("bond0", PRIVATE + 12),
                ioctls.slave_info("bond0", 1, PRIVATE + 11)))
            for number in range(16):
                code, _ = ioctls.call(PRIVATE + number, "bond0", bytes(24))
                out.line("private+%d with zeroes: %s"
                         % (number, nl.error_name(code)))

            def unable():
                query(out)
                commands(out, (0x8990, 0x8991, 0x8992, 0x8995))
            unprivileged_case(out, "%s/unprivileged" % mode, unable)
    out.close()


# --- ethtool ---

ETHTOOL = (("-i",), (), ("-T",), ("-S",), ("-a",), ("-g",), ("-l",), ("-c",),
           ("-P",), ("--show-eee",), ("-n",), ("-x",), ("--show-fec",))


def ethtool(out, *argv):
    out.line("$ ethtool %s" % " ".join(argv))
    out.text(mask_macs(run("ethtool", *argv)))


def run_ethtool(directory):
    out = Out(directory, "ethtool")
    for mode in MODES:
        for case, count in (("no slaves", 0), ("two slaves", 2)):
            with World() as w:
                w.bond(mode=mode, miimon=50)
                for n in range(1, count + 1):
                    w.enslave(w.veth(n))
                w.nl.up(BOND_INDEX)
                w.settle()
                out.case("%s/%s" % (mode, case))
                for words in ETHTOOL:
                    ethtool(out, *words[:1], "bond0")
                ethtool(out, "-s", "bond0", "speed", "100")
                if count:
                    w.nl.down(51)
                    w.wait_mii(11, 2, out)
                    out.case("%s/one of two down" % mode)
                    ethtool(out, "bond0")
                    w.nl.down(BOND_INDEX)
                    out.case("%s/bond down" % mode)
                    ethtool(out, "bond0")
    out.close()


FEATURE_STEPS = (
    ("-K", "v1", "tso", "off"), ("-K", "v1", "tx", "off"),
    ("-K", "v1", "tx", "on"), ("-K", "v1", "tso", "on"),
    ("-K", "v2", "sg", "off"), ("-K", "v2", "sg", "on"),
    ("-K", "bond0", "tso", "off"), ("-K", "bond0", "tso", "on"),
    ("-K", "bond0", "gro", "off"), ("-K", "bond0", "gro", "on"),
    ("-K", "bond0", "lro", "on"), ("-K", "bond0", "rxvlan", "off"),
    ("-K", "bond0", "txvlan", "off"), ("-K", "bond0", "rxvlan", "on"),
    ("-K", "bond0", "txvlan", "on"), ("-K", "bond0", "highdma", "off"),
    ("-K", "bond0", "rx", "off"), ("-K", "bond0", "gso", "off"),
)


def features(name):
    return run("ethtool", "-k", name).splitlines()


def write_new(out, before, after):
    out.lines(line for line in after if line not in before)


def run_features(directory):
    out = Out(directory, "features")
    for mode in MODES:
        with World() as w:
            w.bond(mode=mode)
            w.veth(1)
            w.veth(2)
            w.dummy(3)
            out.case("%s/no slaves" % mode)
            now = features("bond0")
            out.lines(now)
            for name, index in (("veth", 11), ("second veth", 12),
                                ("dummy", 13)):
                w.enslave(index)
                out.case("%s/with %s" % (mode, name))
                before, now = now, features("bond0")
                write_new(out, before, now)
                out.lines(["slave: " + line for line in
                           features({11: "v1", 12: "v2", 13: "d3"}[index])])
            for words in FEATURE_STEPS:
                out.case("%s/%s" % (mode, " ".join(words)))
                text = run("ethtool", *words)
                out.text(text)
                before, now = now, features("bond0")
                write_new(out, before, now)
            for index in (13, 12, 11):
                w.nl.master(index, 0)
                out.case("%s/without %d" % (mode, index))
                before, now = now, features("bond0")
                write_new(out, before, now)
    out.close()


# --- the module ---

def words(name, *values):
    return ["%s=%s" % (name, v) for v in values]


NUMERIC = ("0", "1", "-1", "100", "255", "256", "65535", "65536",
           "2147483647", "2147483648", "abc", "")
PARAMETERS = (
    [""] + words("max_bonds", "0", "1", "3", "-1", "abc")
    + words("tx_queues", "0", "1", "4", "255", "256", "-1")
    + words("num_grat_arp", *NUMERIC) + words("num_unsol_na", *NUMERIC)
    + words("miimon", *NUMERIC)
    + words("updelay", *NUMERIC) + ["miimon=100 updelay=250"]
    + words("downdelay", *NUMERIC) + ["miimon=100 downdelay=250"]
    + ["miimon=100 updelay=-5", "miimon=100 downdelay=-5"]
    + words("use_carrier", "0", "1", "2", "-1")
    + words("mode", "0", "1", "2", "3", "7", "-1", "balance-rr",
            "active-backup", "balance-xor", "broadcast", "nonsense",
            "default", "Balance-RR")
    + words("primary", "d1", "nosuch") + ["mode=1 primary=d1 miimon=100",
                                          "mode=1 primary=nosuch miimon=100",
                                          "mode=1 primary=d1"]
    + words("primary_reselect", "0", "1", "2", "3", "always", "better",
            "failure", "nonsense")
    + ["mode=1 primary_reselect=%s primary=d1" % v
       for v in ("0", "better", "failure", "9", "nonsense")]
    + words("lacp_rate", "0", "fast", "nonsense")
    + words("ad_select", "0", "1", "2", "3", "count", "nonsense")
    + words("min_links", "0", "1", "5", "-1", "2147483648")
    + words("xmit_hash_policy", "0", "1", "5", "6", "layer3+4", "nonsense")
    + ["mode=2 xmit_hash_policy=%s" % v
       for v in ("0", "1", "5", "6", "layer3+4", "vlan+srcmac", "nonsense",
                 "default")]
    + words("arp_interval", *NUMERIC) + ["arp_interval=100 arp_ip_target=%s"
                                         % t for t in (
                                             "10.0.0.1", "10.0.0.1,10.0.0.2",
                                             "0.0.0.0", "255.255.255.255",
                                             "nonsense", "10.0.0.1,nonsense",
                                             "10.0.0.1,10.0.0.1")]
    + ["miimon=100 arp_interval=100 arp_ip_target=10.0.0.1",
       "arp_ip_target=10.0.0.1", "arp_ip_target=%s" % ",".join(
           "10.0.0.%d" % n for n in range(1, 18))]
    + words("arp_validate", "0", "1", "all", "nonsense")
    + ["arp_interval=100 arp_ip_target=10.0.0.1 arp_validate=%s" % v
       for v in ("none", "active", "all", "filter_backup", "3", "7",
                 "nonsense")]
    + ["mode=1 arp_interval=100 arp_ip_target=10.0.0.1 arp_validate=%s" % v
       for v in ("none", "active", "all", "6", "7", "nonsense")]
    + words("arp_all_targets", "0", "1", "any", "all", "nonsense")
    + ["arp_interval=100 arp_ip_target=10.0.0.1 arp_all_targets=%s" % v
       for v in ("any", "all", "1", "2", "nonsense")]
    + words("fail_over_mac", "0", "1", "2", "3", "none", "follow", "nonsense")
    + ["mode=1 fail_over_mac=%s" % v
       for v in ("none", "active", "follow", "2", "3", "nonsense")]
    + words("all_slaves_active", "0", "1", "2", "-1")
    + words("resend_igmp", "0", "1", "255", "256", "-1")
    + words("packets_per_slave", "0", "1", "100", "65535", "65536", "-1")
    + ["mode=1 packets_per_slave=5", "mode=2 packets_per_slave=5"]
    + words("lp_interval", "0", "1", "5", "2147483647", "-1")
    + ["no_such_parameter=1"]
)


def bonds_text(handle):
    """Every bond with its options, as the module parameters made them."""
    lines = []
    for link in handle.links():
        if link.info_kind() != "bond":
            continue
        lines.append("%s queues %s/%s" % (link.name, link.number(31),
                                          link.number(32)))
        for k, v in sorted(link.info(nl.IFLA_INFO_DATA).items()):
            lines.append("  %s=%s" % (BOND_NAMES.get(k, k), bond_value(k, v)))
    return lines


def parameters_now():
    path = "/sys/module/bonding/parameters"
    return ["%s %o %r" % (n, os.stat(os.path.join(path, n)).st_mode & 0o777,
                          read_file(os.path.join(path, n)))
            for n in sorted(os.listdir(path))]


def show_loaded(out, handle):
    out.lines(bonds_text(handle))
    out.lines(parameters_now())
    for name in sorted(os.listdir("/proc/net/bonding")):
        out.text(mask_macs(read_file("/proc/net/bonding/" + name)))


def run_modinfo(directory):
    out = Out(directory, "modinfo")
    text = run("modinfo", "bonding")
    out.case("fields")
    for line in sorted(text.splitlines()):
        key, _, value = line.partition(":")
        if key in ("alias", "license", "name", "vermagic", "retpoline"):
            out.line("%s: %s" % (key, value.strip()))
    out.case("depends")
    out.lines(line for line in text.splitlines() if line.startswith("depends"))
    out.case("parameters")
    found = re.findall(r"^parm: +(\w+):.*\((.*)\)$", text, re.M | re.S)
    if not found:
        out.line("TIMEOUT no parameters found")
    names = re.findall(r"^parm: +(\w+):", text, re.M)
    out.lines(sorted(names))
    out.case("types")
    out.lines(sorted(re.findall(r"\(((?:array of )?[a-z]+)\)$", text, re.M)))
    out.close()


def run_parameters(directory):
    """Loads and unloads the module in the initial namespace."""
    out = Out(directory, "parameters")
    handle = nl.Rtnl()
    handle.add("d1", "dummy")
    for text in PARAMETERS:
        run("modprobe", "-r", "bonding")
        out.case("modprobe bonding %s" % text)
        if os.path.isdir("/sys/module/bonding"):
            out.line("TIMEOUT the module did not unload")
        said = run("modprobe", "bonding", *text.split())
        out.text(re.sub(r"^modprobe: ", "", said))
        if os.path.isdir("/sys/module/bonding"):
            show_loaded(out, handle)
    run("modprobe", "-r", "bonding")
    run("modprobe", "bonding", "max_bonds=0")
    out.close()
