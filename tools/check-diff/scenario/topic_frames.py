# SPDX-License-Identifier: GPL-2.0
"""
By which slave does a frame leave? For each hash policy and 2, 3, 4, 8 slaves,
the same generated frames are sent through the bond by hash_frames (of the
selftests), which prints a line for each.
"""
import os
import subprocess

import nl
from topic_state import POLICIES
from world import BOND_INDEX, Out, World, program

COUNTS = (2, 3, 4, 8)
MTU = 5000          # some frames are long
FRAMES = int(os.environ.get("CHECK_DIFF_FRAMES", "10000"))
TOOL = os.environ.get("CHECK_DIFF_HASH_FRAMES", "hash_frames")


def run_frames(directory):
    out = Out(directory, "frames")
    for policy_number, policy in enumerate(POLICIES):
        for count in COUNTS:
            with World() as w:
                w.bond(mode="balance-xor", miimon=100,
                       xmit_hash_policy=policy_number)
                slaves = []
                for n in range(1, count + 1):
                    w.enslave(w.dummy(n))
                    slaves.append("d%d" % n)
                w.must(w.nl.set(BOND_INDEX, nl.u32(nl.IFLA_MTU, MTU)), "mtu")
                w.must(w.nl.up(BOND_INDEX), "up")
                w.settle()
                out.case("%s/%d slaves" % (policy, count))
                send(out, slaves, 10 * policy_number + count)
    out.close()


def vlan_devices():
    """Make the VLAN devices that the tool asks for; their names in order."""
    said = subprocess.run([TOOL, "vlans"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    names, commands = [], []
    for line in said.splitlines():
        _, tpid, number, prio = line.split()
        name = "bond0.%s.%s" % (tpid[-4:], number)
        proto = "802.1ad" if tpid.lower().endswith("88a8") else "802.1Q"
        commands += ["link add link bond0 name %s type vlan proto %s id %s "
                     "egress-qos-map 0:%s" % (name, proto, number, prio),
                     "link set %s up" % name]
        names.append(name)
    subprocess.run((program("ip"), "-batch", "-"), check=True, text=True,
                   input="\n".join(commands + [""]))
    return names


def send(out, slaves, seed):
    words = [TOOL, "send", "-i", "bond0", "-S", ",".join(slaves),
             "-s", str(seed), "-c", str(FRAMES)]
    vlans = vlan_devices()
    if vlans:
        words += ["-V", ",".join(vlans)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.splitlines()
    lost = sum(line.split()[1:2] == ["-"] for line in lines)
    if done.returncode or len(lines) < FRAMES or lost:
        out.line("TIMEOUT hash_frames: status %d, %d lines, %d frames lost"
                 % (done.returncode, len(lines), lost))
    out.lines(lines)
