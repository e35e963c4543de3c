# SPDX-License-Identifier: GPL-2.0
"""
What userland hears while something happens: link notifications, written as
what is new since the last one of the same link, and uevents.
"""
import time

import nl
from linkdump import EVENT_NAMES, link_lines
from world import PEER_INDEX

QUIET = 0.3     # seconds without an event after which an action is over


def facts(link):
    """
    {attribute: value} of a link, for comparing with an earlier one. When link
    watch comes to see what became of a slave's carrier is not ours to say.
    """
    out = {}
    for line in link_lines(link, counts=False):
        key, value = line.split(" = ", 1)
        out[key] = value
    out.pop("EVENT (4)", None)
    if link.info_kind() != "bond":
        out.pop("OPERSTATE (1)", None)
        out["flags"] = out["flags"].replace("RUNNING,", "")
    return out


class Recorder:
    """Listens in the current namespace from the moment it is made."""

    def __init__(self, world, uevents=True):
        self.world = world
        self.links = nl.Listener([nl.Listener.RTNLGRP_LINK])
        self.uevents = nl.Listener(uevents=True) if uevents else None
        self.known = {link.index: facts(link) for link in world.nl.links()}

    def close(self):
        self.links.close()
        if self.uevents:
            self.uevents.close()

    def _collect(self):
        got = []
        last = time.monotonic()
        end = last + 20
        while time.monotonic() < min(last + QUIET, end):
            new = self.links.read()
            if new:
                last = time.monotonic()
            got += new
            time.sleep(0.01)
        return got

    def _link_line(self, kind, payload):
        link = nl.Link(kind, payload)
        if link.index >= PEER_INDEX and link.index < PEER_INDEX + 10:
            return None     # the far ends of the slaves, no affair of a bond
        if link.deleted:
            self.known.pop(link.index, None)
            return "gone %s" % link.name
        now = facts(link)
        before = self.known.get(link.index)
        self.known[link.index] = now
        words = ["link %s" % link.name]
        event = link.number(44)
        if event is not None:
            words.append("event=%s" % EVENT_NAMES.get(event, event))
        if before is None:
            words.append("appears")
            return ", ".join(words)
        for key in sorted(set(before) | set(now)):
            if before.get(key) != now.get(key):
                words.append("%s: %s" % (key, now.get(key, "absent")))
        return ", ".join(words)

    def lines(self, out):
        """Write what was heard since the last call, when it has gone quiet."""
        self.world.settle(out)
        for kind, payload in self._collect():
            line = self._link_line(kind, payload)
            if line:
                out.line(line)
        if not self.uevents:
            return
        for event in self.uevents.read():
            if event.get("SUBSYSTEM") in ("queues", "module", "drivers"):
                continue
            path = event.get("DEVPATH", "").rsplit("/", 1)[-1]
            out.line("uevent %s %s %s %s" % (
                event.get("ACTION"), event.get("SUBSYSTEM"), path,
                event.get("DEVTYPE", "-")))
