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
    """
    Listens in the current namespace from the moment it is made.

    Written down for an action are: the events that notifications name, in
    their order; what each link looks like afterwards, as far as that is new;
    uevents, in their order. How many notifications without a name there were
    on the way, and in which order, is in the file <topic>.raw, for people: it
    is not compared.
    """

    def __init__(self, world, out, uevents=True):
        self.world = world
        self.links = nl.Listener([nl.Listener.RTNLGRP_LINK])
        self.uevents = nl.Listener(uevents=True) if uevents else None
        self.known = {link.index: facts(link) for link in world.nl.links()}
        self.raw = open(out.file.name[:-4] + ".raw", "a", encoding="utf-8")

    def close(self):
        self.links.close()
        self.raw.close()
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
        return [(kind, nl.Link(kind, payload)) for kind, payload in got]

    def _news(self, before, link):
        """What is new of a link since before, as text."""
        now = facts(link)
        if before is None:
            return "appears"
        return ", ".join("%s: %s" % (key, now.get(key, "absent"))
                         for key in sorted(set(before) | set(now))
                         if before.get(key) != now.get(key)) or "as before"

    def _write_raw(self, case, got):
        seen = dict(self.known)
        self.raw.write("== %s\n" % case)
        for _, link in got:
            text = "gone" if link.deleted else self._news(
                seen.get(link.index), link)
            seen[link.index] = facts(link)
            self.raw.write("\t%s event=%s %s\n" % (
                link.name, link.number(44), text))

    def _write_links(self, out, got):
        last = {}
        for _, link in got:
            event = link.number(44)
            if event is not None:
                out.line("event %s: %s" % (
                    link.name, EVENT_NAMES.get(event, event)))
            last[link.index] = link
        for index, link in sorted(last.items()):
            if link.deleted:
                out.line("link %s is gone" % link.name)
                self.known.pop(index, None)
                continue
            out.line("link %s: %s" % (
                link.name, self._news(self.known.get(index), link)))
            self.known[index] = facts(link)

    def lines(self, out):
        """Write what was heard since the last call, when it has gone quiet."""
        self.world.settle(out)
        # the far ends of the slaves are no affair of a bond
        got = [(kind, link) for kind, link in self._collect()
               if not PEER_INDEX <= link.index < PEER_INDEX + 10]
        self._write_raw(out.name, got)
        self._write_links(out, got)
        if not self.uevents:
            return
        for event in self.uevents.read():
            if event.get("SUBSYSTEM") in ("queues", "module", "drivers"):
                continue
            path = event.get("DEVPATH", "").rsplit("/", 1)[-1]
            out.line("uevent %s %s %s %s" % (
                event.get("ACTION"), event.get("SUBSYSTEM"), path,
                event.get("DEVTYPE", "-")))
