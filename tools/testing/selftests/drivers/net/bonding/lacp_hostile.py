#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
#
# 802.3ad: the marker responder, and frames that no partner should send:
# malformed, truncated, looped back, forwarded, too many.
# (Those that one should: lacp_partner.py.)

import random
import time

from bond_lib import Fail, ktap_main
from lacp_lib import (ACTIVITY, AGGREGATION, DEFAULTED, EXPIRED, ILLEGAL,
                      MARKER_RX, RESPONSE, RX, UNKNOWN, WORKS, Party, World,
                      has, lacks, lacpdu, marker, stays, wait_until, xstats)

ON = ACTIVITY | AGGREGATION


# --- Marker responder ---

def marker_answered():
    """A marker comes back as a response, else unchanged."""
    with World(1) as world:
        request = marker(transaction=0x12345678)
        world[0].poll()
        world[0].send_raw(request)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for pdu in world[0].poll(0.1):
                if pdu.subtype != 2:
                    continue
                if pdu.body[:110] != request[:2] + bytes(
                        [RESPONSE]) + request[3:]:
                    raise Fail(f"response {pdu.body.hex()}")
                return
        raise Fail("no response")


def marker_counted():
    """Responses and unknown markers are counted, not answered."""
    with World(1) as world:
        before = xstats("s0", slave=True)
        world[0].poll()
        world[0].send_raw(marker(RESPONSE))
        world[0].send_raw(marker(9))
        world[0].send_raw(marker())
        wait_until("counted", 3, lambda: xstats("s0", slave=True)[
            MARKER_RX] > before[MARKER_RX])
        after = xstats("s0", slave=True)
        got = [after[i] - before[i] for i in range(MARKER_RX, 9)]
        if got != [1, 0, 1, 1, 1]:
            raise Fail(f"markers counted: {got}")
        answers = [x for x in world[0].poll(0.5) if x.subtype == 2]
        if len(answers) != 1:
            raise Fail(f"{len(answers)} answers")


def marker_flood():
    """A flood of markers is not answered with a flood."""
    with World(1) as world:
        world.converge()
        world[0].poll()
        start = time.monotonic()
        for i in range(3000):
            world[0].send_raw(marker(transaction=i))
        spent = time.monotonic() - start
        answers = [x for x in world[0].poll(1) if x.subtype == 2]
        limit = 10 * (spent + 3)
        if not 1 <= len(answers) <= limit:
            raise Fail(f"{len(answers)} answers in {spent:.1f} s")
        if not has("s0", WORKS):
            raise Fail("the port has stopped working")


# --- what no partner should send ---

def untouched(world, frames, count=None):
    """The port takes no notice; count: which counters go up by how much."""
    world.converge()
    before = xstats("s0", slave=True)
    for args in frames:
        world[0].send_raw(*args)
    world[0].send(ON | WORKS)
    wait_until("the last one is in", 3, lambda: xstats("s0", slave=True)[
        RX] > before[RX])
    stays("it works", 1, lambda: has("s0", WORKS))
    after = xstats("s0", slave=True)
    for what, want in (count or {}).items():
        got = after[what] - before[what]
        if got != want:
            raise Fail(f"counter {what}: {got}, not {want}")


def hostile():
    return lacpdu(Party("02:00:00:00:66:66", state=ON), Party())


def bad_truncated():
    """LACPDUs that end too early are illegal."""
    with World(1) as world:
        untouched(world, [(hostile()[:n],) for n in (2, 20, 60, 109)],
                  {ILLEGAL: 4})


def bad_tlv():
    """LACPDUs with other TLVs than the standard's are illegal."""
    frames = []
    for at, value in ((2, 2), (3, 19), (22, 1), (23, 0)):
        pdu = bytearray(hostile())
        pdu[at] = value
        frames.append((bytes(pdu),))
    with World(1) as world:
        untouched(world, frames, {ILLEGAL: 4})


def bad_subtype():
    """Slow protocols that are not ours are counted and left alone."""
    frames = [(bytes([kind]) + bytes(109),) for kind in (3, 10, 0, 11, 255)]
    with World(1) as world:
        untouched(world, frames, {UNKNOWN: 2, ILLEGAL: 3})


def bad_looped():
    """An LACPDU of our own that comes back is not a partner."""
    with World(1) as world:
        world.converge()
        mine = Party.parse(world[0].heard[-1].actor.pack())
        untouched(world, [(lacpdu(mine, mine),)])


def bad_forwarded():
    """Only what is sent to the link is of the link."""
    with World(1) as world:
        mac = bytes.fromhex(open("/sys/class/net/b0/address",
                                 encoding="ascii").read().strip()
                            .replace(":", ""))
        untouched(world, [(hostile(), mac), (hostile(), b"\xff" * 6)])


def bad_noise():
    """Whatever comes: the driver stays alive, and speaks afterwards."""
    rng = random.Random(7)
    with World(1) as world:
        world.converge()
        for _ in range(2000):
            kind = rng.randrange(4)
            if kind == 0:
                body = bytes([1, 1]) + rng.randbytes(108)
            elif kind == 1:
                body = bytearray(hostile())
                for _ in range(rng.randrange(1, 6)):
                    body[rng.randrange(len(body))] = rng.randrange(256)
            elif kind == 2:
                body = bytes([2, 1]) + rng.randbytes(108)
            else:
                body = rng.randbytes(rng.randrange(1, 200))
            world[0].send_raw(bytes(body))
        world.converge()


def bad_flood():
    """A flood of LACPDUs that contradict each other."""
    with World(2) as world:
        world.converge()
        start = time.monotonic()
        for i in range(3000):
            world[0].me.key = 7 + i % 5
            world[0].send(ON | (WORKS if i & 1 else 0))
        spent = time.monotonic() - start
        n = len([x for x in world[0].poll(1) if x.subtype == 1])
        if n > 3 * (spent + 2) + 3:
            raise Fail(f"{n} LACPDUs in {spent:.1f} s")
        world[0].me.key = 7
        world.converge()


def version_two():
    """Later versions keep what the first one has where it is."""
    with World(1) as world:
        world[0].poll(0.2)
        world[0].send_raw(lacpdu(world[0].me, world[0].bond, 2))
        wait_until("CURRENT", 3, lambda: lacks("s0", DEFAULTED | EXPIRED))


CASES = {f.__name__: f for f in (
    marker_answered, marker_counted, marker_flood,
    bad_truncated, bad_tlv, bad_subtype, bad_looped, bad_forwarded, bad_noise,
    bad_flood, version_two)}

BEYOND = ("marker_flood", "bad_tlv", "bad_subtype")

ktap_main(CASES, BEYOND)
