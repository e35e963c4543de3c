#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
#
# 802.3ad against a partner that a script speaks for: each machine's states and
# transitions (IEEE Std 802.1AX-2014, 6.4), keys and selection, and where frames
# go.  (Two bonds back to back: lacp.sh; what no partner should send:
# lacp_hostile.py.)

import os
import random
import signal
import socket
import struct
import subprocess
import time

from bond_lib import Fail, Rtnl, attr, ktap_main
from lacp_lib import (ACTIVITY, AGGREGATION, COLLECTING, DEFAULTED,
                      DISTRIBUTING, EXPIRED, RX, SHORT, SYNC, TX, WORKS, Party,
                      World, actor_state, bond_read, bond_write, carrier,
                      drain, has, ip, lacks, partner_state, proc_slave,
                      reason, slave_read, stays, tcpdump_of, wait_until,
                      xstats)

ON = ACTIVITY | AGGREGATION


def ports():
    return int(bond_read("ad_num_ports"))


def port_prio(slave, prio):
    """Older ip does not know the option."""
    answer = Rtnl().slave_change(slave, [attr(10, struct.pack("=H", prio))])
    if answer.code:
        raise Fail(f"actor_port_prio of {slave}: {answer!r}")


# --- Receive machine ---

def rx_expired_defaulted():
    """Silence: EXPIRED for three seconds, then DEFAULTED."""
    with World(1):
        wait_until("EXPIRED", 3, lambda: has("s0", EXPIRED))
        wait_until("DEFAULTED", 8,
                   lambda: has("s0", DEFAULTED) and lacks("s0", EXPIRED))
        got = proc_slave("s0")["system mac address"][1]
        if got != "00:00:00:00:00:00":
            raise Fail(f"the default partner is {got}")


def rx_current():
    """An LACPDU: CURRENT, and the partner is as it says."""
    with World(1, system="02:00:00:00:0b:11", prio=4321, key=77,
               port_prio=12) as world:
        world[0].me.port = 345
        world[0].send(ON)
        wait_until("CURRENT", 3, lambda: lacks("s0", DEFAULTED | EXPIRED))
        proc = proc_slave("s0")
        got = [proc[k][-1] for k in (
            "system priority", "system mac address", "oper key",
            "port priority", "port number", "port state")]
        want = ["4321", "02:00:00:00:0b:11", "77", "12", "345", str(ON)]
        if got != want:
            raise Fail(f"the partner is {got}, not {want}")


def rx_current_expires():
    """CURRENT, EXPIRED after the short timeout, then DEFAULTED, CURRENT."""
    with World(1, "lacp_rate", "fast") as world:
        world.converge()
        start = time.monotonic()
        wait_until("EXPIRED", 8, lambda: has("s0", EXPIRED))
        took = time.monotonic() - start
        if took < 2:
            raise Fail(f"expired after {took:.1f} s")
        if not partner_state("s0") & SHORT or partner_state("s0") & SYNC:
            raise Fail(f"partner state {partner_state('s0'):#x}")
        wait_until("not distributing", 2, lambda: lacks("s0", DISTRIBUTING))
        wait_until("DEFAULTED", 8, lambda: has("s0", DEFAULTED))
        world.converge()


def rx_long_timeout_holds():
    """lacp_rate slow: a partner may be silent for much longer."""
    with World(1) as world:
        world.converge()
        stays("CURRENT", 8, lambda: has("s0", WORKS))


def rx_expired_revived():
    """An LACPDU in EXPIRED: no new wait, the same aggregator."""
    with World(1, "lacp_rate", "fast") as world:
        world.converge()
        wait_until("EXPIRED", 8, lambda: has("s0", EXPIRED))
        reason("s0", "expired")
        world[0].poll()
        start = time.monotonic()
        world[0].send(ON | WORKS)
        wait_until("distributing", 4, lambda: has("s0", WORKS))
        if time.monotonic() - start > 1.9:
            raise Fail("it has waited as for a new partner")


def rx_port_disabled():
    """Without a link: PORT_DISABLED, with one again: EXPIRED."""
    with World(1) as world:
        world.converge()
        ip("link", "set", "p0", "down")
        wait_until("s0 down", 5,
                   lambda: slave_read("s0", "mii_status") == "down")
        wait_until("not in sync", 2, lambda: not partner_state("s0") & SYNC)
        wait_until("not distributing", 2, lambda: lacks("s0", DISTRIBUTING))
        ip("link", "set", "p0", "up")
        wait_until("EXPIRED", 5, lambda: has("s0", EXPIRED))
        world[0].forgive()
        world[0].converge()


def rx_port_moved():
    """The partner's port comes up elsewhere: the old port forgets it."""
    with World(2) as world:
        world.converge()
        ip("link", "set", "p0", "down")
        wait_until("s0 down", 5,
                   lambda: slave_read("s0", "mii_status") == "down")
        world[1].me.port = world[0].me.port
        world[1].send(ON)
        wait_until("s0 has no partner", 3, lambda: proc_slave("s0")[
            "system mac address"][1] == "00:00:00:00:00:00")


def rx_partner_wrong_about_us():
    """Synchronization counts only from who knows whom he talks to."""
    with World(1) as world:
        world.converge()
        world[0].send(ON | WORKS, known=Party("02:00:00:00:99:99"))
        wait_until("not distributing", 3, lambda: lacks("s0", DISTRIBUTING))
        world[0].poll(0.2)
        world[0].send(ON | WORKS)
        wait_until("distributing", 3, lambda: has("s0", DISTRIBUTING))


# --- Periodic Transmission machine ---

def count_for(partner, seconds):
    partner.poll()
    return len([x for x in partner.poll(seconds) if x.subtype == 1])


def periodic_fast():
    """A partner with a short timeout gets an LACPDU a second."""
    with World(1) as world:
        world.converge(SHORT)
        n = count_for(world[0], 6)
        if not 5 <= n <= 8:
            raise Fail(f"{n} LACPDUs in 6 s")


def periodic_slow():
    """One with a long timeout none for 30 seconds, then one."""
    with World(1) as world:
        world.converge()
        world[0].poll(3)    # news of the last changes
        n = count_for(world[0], 20)
        if n:
            raise Fail(f"{n} LACPDUs in 20 s")
        world[0].expect("the periodic one", 15, lambda pdu: True)


def periodic_slow_to_fast():
    """A partner that asks for a short timeout is answered at once."""
    with World(1) as world:
        world.converge()
        world[0].poll(3)
        world[0].send(ON | SHORT | WORKS)
        world[0].expect("an answer", 2, lambda pdu: True)
        n = count_for(world[0], 4)
        if n < 3:
            raise Fail(f"{n} LACPDUs in 4 s")


def periodic_none():
    """Both passive: silence.  Partner active: answers."""
    with World(1, "lacp_active", "off") as world:
        world[0].poll(4)    # what in-tree drivers say of an unknown partner
        world[0].send(ACTIVITY | AGGREGATION)
        world[0].expect("an answer, passive", 3,
                        lambda pdu: not pdu.actor.state & ACTIVITY)
        world[0].send(AGGREGATION)
        world[0].poll(2)
        n = count_for(world[0], 4)
        if n:
            raise Fail(f"{n} LACPDUs between passive ends")


# --- Mux machine ---

def mux_coupled():
    """DETACHED, WAITING, ATTACHED, COLLECTING_DISTRIBUTING and back."""
    with World(1) as world:
        partner = world[0]
        partner.send(ON)
        partner.expect("it has heard us", 3,
                       lambda pdu: pdu.partner.port == 1 and
                       pdu.partner.key == 7)
        start = time.monotonic()
        partner.expect("ATTACHED", 6, lambda pdu: pdu.state_has(SYNC))
        took = time.monotonic() - start
        if not 1 <= took <= 5:
            raise Fail(f"waited {took:.1f} s, not 2")
        if actor_state("s0") & (COLLECTING | DISTRIBUTING):
            raise Fail("works without a partner in sync")
        reason("s0", "partner_not_in_sync")
        partner.send(ON | SYNC)
        partner.expect("COLLECTING_DISTRIBUTING", 3,
                       lambda pdu: pdu.state_has(WORKS))
        wait_until("active", 3, lambda: slave_read("s0", "state") == "active")
        partner.send(ON)
        partner.expect("ATTACHED", 3, lambda pdu: pdu.state_has(SYNC) and
                       not pdu.actor.state & (COLLECTING | DISTRIBUTING))
        wait_until("backup", 3, lambda: slave_read("s0", "state") == "backup")


def mux_independent():
    """ATTACHED, COLLECTING, DISTRIBUTING, each for a reason of its own."""
    with World(1, "coupled_control", "off") as world:
        partner = world[0]
        partner.send(ON)
        partner.expect("ATTACHED", 8, lambda pdu: pdu.state_has(SYNC))
        partner.send(ON | SYNC)
        partner.expect("COLLECTING", 3, lambda pdu: pdu.state_has(
            SYNC | COLLECTING) and not pdu.actor.state & DISTRIBUTING)
        stays("COLLECTING", 2, lambda: lacks("s0", DISTRIBUTING))
        if slave_read("s0", "state") != "backup":
            raise Fail("sends while the partner does not collect")
        reason("s0", "partner_not_collecting")
        partner.send(ON | SYNC | COLLECTING)
        partner.expect("DISTRIBUTING", 3, lambda pdu: pdu.state_has(WORKS))
        partner.send(ON | SYNC)
        partner.expect("COLLECTING", 3, lambda pdu: pdu.state_has(
            SYNC | COLLECTING) and not pdu.actor.state & DISTRIBUTING)
        partner.send(ON)
        partner.expect("ATTACHED", 3, lambda pdu: pdu.state_has(SYNC) and
                       not pdu.actor.state & (COLLECTING | DISTRIBUTING))


def mux_new_partner():
    """Another partner: DETACHED, and all from the start."""
    with World(1) as world:
        world.converge()
        world[0].me = Party("02:00:00:00:0b:99", key=9)
        world[0].send(ON)
        world[0].expect("DETACHED", 3, lambda pdu: not pdu.actor.state & SYNC)
        wait_until("backup", 3, lambda: slave_read("s0", "state") == "backup")
        world.converge()
        if bond_read("ad_partner_mac") != "02:00:00:00:0b:99":
            raise Fail("the partner is still the old one")


def hog_start():
    """Somebody who has RTNL most of the time."""
    names = [f"hog{i}" for i in range(100)]
    lines = [f"link add {x} type dummy" for x in names]
    lines += [f"link del {x}" for x in names]
    script = "while :; do ip -batch - <<<\"$0\"; done"
    return subprocess.Popen(["bash", "-c", script, "\n".join(lines)],
                            start_new_session=True)


def hog_stop(hog):
    os.killpg(hog.pid, signal.SIGTERM)
    hog.wait()
    time.sleep(0.1)     # the last ip may be in the kernel
    for i in range(100):
        subprocess.run(["ip", "link", "del", f"hog{i}"], check=False,
                       capture_output=True)


def frames_by(world, out, port):
    """64 flows; how many leave by that port?"""
    sock = tcpdump_of(world[port].dev, 0x88b5)
    for i in range(64):
        out.send(b"\2\0\0\0\xbb\1\2\0\0\0\xaa" + bytes([i]) +
                 b"\x88\xb5" + bytes(50))
    time.sleep(0.1)
    got = len(drain(sock))
    sock.close()
    return got


def mux_stops_at_once():
    """A port that has stopped distributing sends no frame more."""
    with World(2) as world:
        world.converge()
        out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        out.bind(("b0", 0))
        if not frames_by(world, out, 1):
            raise Fail("no frame leaves by s1")
        hog = hog_start()
        try:
            for _ in range(10):
                world[1].converge(wait=30)
                wait_until("s1 active", 10, lambda: slave_read(
                    "s1", "state") == "active")
                world[1].send(ON)
                wait_until("it has heard", 5,
                           lambda: lacks("s1", DISTRIBUTING))
                got = frames_by(world, out, 1)
                if got:
                    raise Fail(f"{got} frames by s1")
        finally:
            hog_stop(hog)
        out.close()


# --- Selection ---

def select_one_aggregator():
    """Ports with the same ends belong together."""
    with World(3) as world:
        world.converge()
        ids = {slave_read(f"s{i}", "ad_aggregator_id") for i in range(3)}
        if len(ids) != 1 or ports() != 3:
            raise Fail(f"aggregators {ids}, {ports()} ports")


def different(change, why):
    """A second port that differs: an aggregator of its own, on standby."""
    with World(2) as world:
        change(world[1].me)
        world[0].converge()
        for _ in range(6):
            world[1].send(world[1].me.state)
            world[0].send()
            world[1].poll(0.5)
        ids = {slave_read(f"s{i}", "ad_aggregator_id") for i in range(2)}
        if len(ids) != 2 or ports() != 1:
            raise Fail(f"aggregators {ids}, {ports()} ports")
        if not lacks("s1", WORKS) or slave_read("s1", "state") != "backup":
            raise Fail(f"s1 works: {actor_state('s1'):#x}")
        if not has("s0", WORKS):
            raise Fail(f"s0 does not: {actor_state('s0'):#x}")
        reason("s1", why)
        reason("s0", "aggregated")


def select_other_key():
    different(lambda me: setattr(me, "key", 8), "key_mismatch")


def select_other_system():
    different(lambda me: setattr(me, "system", b"\2\0\0\0\x0b\2"),
              "other_partner")


def select_other_priority():
    different(lambda me: setattr(me, "prio", 99), "other_partner")


def select_individual():
    different(lambda me: setattr(me, "state", ACTIVITY), "individual")


def select_partner_beats_none():
    """A port whose partner answers takes over from one that has none."""
    with World(2) as world:
        wait_until("s0 serves", 8,
                   lambda: slave_read("s0", "state") == "active")
        world[1].converge()
        wait_until("s1 serves", 5,
                   lambda: slave_read("s1", "state") == "active")
        wait_until("s0 does not", 5,
                   lambda: slave_read("s0", "state") == "backup")
        if not carrier():
            raise Fail("no carrier")


def two_groups(policy, first, second):
    """s0 s1 with one partner, s2 with another; which of them works?"""
    with World(3) as world:
        world[2].me = Party("02:00:00:00:0b:77", key=3, port=9)
        ip("link", "set", "b0", "down")
        bond_write("ad_select", policy)
        ip("link", "set", "b0", "up")
        if policy == "actor_port_prio":
            port_prio("s2", 1000)
        for _ in range(4):
            for i in second + first:
                world[i].send(ON)
                world[i].poll(0.1)
        for _ in range(8):
            for i in first + second:
                world[i].send(ON | WORKS)
                world[i].poll(0.2)
        for i in first:
            if not has(f"s{i}", WORKS):
                raise Fail(f"s{i} does not work: {actor_state(f's{i}'):#x}")
        for i in second:
            if not lacks(f"s{i}", WORKS):
                raise Fail(f"s{i} works: {actor_state(f's{i}'):#x}")


def select_count():
    two_groups("count", [0, 1], [2])


def select_bandwidth():
    two_groups("bandwidth", [0, 1], [2])


def select_actor_port_prio():
    two_groups("actor_port_prio", [2], [0, 1])


# --- Transmit machine ---

def tx_limit():
    """Never more than three LACPDUs in a second, however much changes."""
    with World(1) as world:
        partner = world[0]
        partner.converge(SHORT)
        end = time.monotonic() + 6
        partner.heard.clear()
        while time.monotonic() < end:
            partner.send(random.choice([ON, ON | WORKS, ON | WORKS | SHORT]))
            partner.poll(0.02)
        times = [x.when for x in partner.heard]
        if len(times) < 4:
            raise Fail(f"only {len(times)} answers")
        for i, when in enumerate(times[3:]):
            if when - times[i] < 0.8:
                raise Fail(f"four LACPDUs in {when - times[i]:.2f} s")


def tx_source_address():
    """LACPDUs come from the port's own address."""
    with World(2) as world:
        world[1].send(ON)
        pdu = world[1].expect("any", 5, lambda pdu: True)
        want = slave_read("s1", "perm_hwaddr")
        if pdu.source.hex(":") != want:
            raise Fail(f"source {pdu.source.hex(':')}, not {want}")


def tx_option_changed():
    """A new priority is told at once."""
    with World(1) as world:
        world.converge()
        world[0].poll(3)
        bond_write("ad_actor_sys_prio", "123")
        world[0].expect("system priority", 3,
                        lambda pdu: pdu.actor.prio == 123)
        port_prio("s0", 77)
        world[0].expect("port priority", 3,
                        lambda pdu: pdu.actor.port_prio == 77)


def tx_release():
    """A slave that leaves says so."""
    with World(2) as world:
        world.converge()
        ip("link", "set", "s1", "nomaster")
        world[1].expect("not to be aggregated", 2,
                        lambda pdu: not pdu.actor.state & AGGREGATION)


# --- Churn Detection machines ---

def churn():
    """A partner that is never in sync is found to churn after a minute."""
    with World(1) as world:
        for i in range(70):
            world[0].send(ON)
            world[0].poll(1)
            proc = proc_slave("s0")
            if proc["Partner Churn State"] == ["churned"]:
                break
        else:
            raise Fail("not churned in 70 s")
        if i < 40:
            raise Fail(f"churned after {i} s")
        if proc["Partner Churned Count"] != ["1"]:
            raise Fail(f"count {proc['Partner Churned Count']}")
        reason("s0", "churned")
        world.converge()
        wait_until("none", 5, lambda: proc_slave("s0")[
            "Partner Churn State"] == ["none"])


# --- where frames go ---

def lacpdu_not_passed_up():
    """The bond's listeners do not see LACPDUs."""
    with World(1) as world:
        world.converge()
        sock = tcpdump_of("b0", 0x8809)
        for _ in range(5):
            world[0].send(ON | WORKS)
        time.sleep(0.5)
        got = drain(sock)
        sock.close()
        if got:
            raise Fail(f"{len(got)} LACPDUs on the bond")


ARP = (bytes.fromhex("ffffffffffff02000000aa010806") +
       bytes.fromhex("0001080006040001") + bytes(20))
IPV4 = bytes.fromhex("02000000bb0102000000aa010800") + b"\x45" + bytes(40)


def broadcast_neighbor():
    """ARP goes out by every port, other frames by one."""
    with World(2) as world:
        world.converge()
        answer = Rtnl().change("b0", "bond", [attr(33, b"\1")])
        if answer.code:
            raise Fail(f"broadcast_neighbor: {answer!r}")
        out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        out.bind(("b0", 0))
        for frame, proto, want in ((ARP, 0x0806, [1, 1]),
                                   (IPV4, 0x0800, [1])):
            socks = [tcpdump_of(f"p{i}", proto) for i in range(2)]
            out.send(frame)
            time.sleep(0.3)
            # more may come: announcements of the kernel's own
            got = [len([x for x in drain(sock) if x[6:12] == frame[6:12]])
                   for sock in socks]
            for sock in socks:
                sock.close()
            if sorted(n for n in got if n) != want:
                raise Fail(f"{proto:#x}: {got}")
        out.close()


def xstats_sum():
    """The bond's counters are the sum of its slaves', past ones too."""
    with World(2) as world:
        world.converge()
        total = xstats("b0")
        if total[RX] < 4 or total[TX] < 4:
            raise Fail(f"counters {total}")
        ip("link", "set", "s1", "nomaster")
        after = xstats("b0")
        if after[RX] < total[RX]:
            raise Fail("the bond has forgotten what s1 received")


CASES = {f.__name__: f for f in (
    rx_expired_defaulted, rx_current, rx_current_expires,
    rx_long_timeout_holds, rx_expired_revived, rx_port_disabled,
    rx_port_moved, rx_partner_wrong_about_us,
    periodic_fast, periodic_slow, periodic_slow_to_fast, periodic_none,
    mux_coupled, mux_independent, mux_new_partner, mux_stops_at_once,
    select_one_aggregator, select_other_key, select_other_system,
    select_other_priority, select_individual, select_partner_beats_none,
    select_count, select_bandwidth, select_actor_port_prio,
    tx_limit, tx_source_address, tx_option_changed, tx_release, churn,
    lacpdu_not_passed_up,
    broadcast_neighbor, xstats_sum)}

BEYOND = ["broadcast_neighbor"]
if os.uname().release.startswith("6.1."):
    BEYOND += ["select_actor_port_prio", "mux_independent"]

ktap_main(CASES, BEYOND)
