# SPDX-License-Identifier: GPL-2.0
"""
Runs in a guest, as root, with one bonding module loaded: tries everything and
writes what it saw as text files.

Usage: main.py [--part N/M] DIRECTORY [TOPIC...]
  --part   the Nth of M guests that share the topics

Each topic is a process of its own; one that fails leaves "<topic>.failed" with
its last words. Exit status: 0 when all topics ran to their end.
"""
import importlib
import os
import shutil
import sys
import time
import traceback

# Topic: module, function. Those that need the initial namespace come last.
TOPICS = {
    "state": ("topic_state", "run_topic"),
    "options-sysfs": ("topic_options", "run_sysfs"),
    "options-netlink": ("topic_options", "run_netlink"),
    "options-create": ("topic_options", "run_create"),
    "options-together": ("topic_options", "run_together"),
    "options-slave": ("topic_options", "run_slave"),
    "events": ("topic_events", "run_events"),
    "ip-monitor": ("topic_events", "run_monitor"),
    "failover": ("topic_failover", "run_failover"),
    "reselect": ("topic_failover", "run_reselect"),
    "announce": ("topic_failover", "run_announce"),
    "ipv6": ("topic_ipv6", "run_topic"),
    "enslave": ("topic_enslave", "run_enslave"),
    "masters": ("topic_enslave", "run_masters"),
    "propagate": ("topic_enslave", "run_propagate"),
    "limits": ("topic_enslave", "run_limits"),
    "ioctl": ("topic_tools", "run_ioctl"),
    "ethtool": ("topic_tools", "run_ethtool"),
    "features": ("topic_tools", "run_features"),
    "frames": ("topic_frames", "run_frames"),
    "modinfo": ("topic_tools", "run_modinfo"),
    "parameters": ("topic_tools", "run_parameters"),
}
# About the seconds that a topic takes of a processor, where it is many.
WORK = {"state": 100, "options-sysfs": 60, "frames": 60, "parameters": 60,
        "enslave": 60, "features": 30, "options-netlink": 20,
        "options-create": 20, "options-together": 20, "events": 20,
        "failover": 20, "ip-monitor": 20, "reselect": 40, "ioctl": 10,
        "limits": 10, "ethtool": 10, "announce": 10}
INITIAL_NAMESPACE = ("modinfo", "parameters")


def child(topic, directory):
    """The body of a topic's process; returns its exit status."""
    module, function = TOPICS[topic]
    try:
        if topic not in INITIAL_NAMESPACE:
            importlib.import_module("world").private_mounts()
        getattr(importlib.import_module(module), function)(directory)
        return 0
    except BaseException:
        text = traceback.format_exc()
        sys.stderr.write(text)
        with open(os.path.join(directory, topic + ".failed"), "w",
                  encoding="utf-8") as f:
            f.write(text)
        return 1


def run_topic(topic, directory):
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        os._exit(child(topic, directory))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print("%s: %s, %.1f s" % (topic, "failed" if status else "done",
                              time.monotonic() - start), flush=True)
    return status


def part_of(topics, number, count):
    """The topics of one of count guests that have about as much to do."""
    parts = [[] for _ in range(count)]
    for topic in sorted(topics, key=lambda t: -WORK.get(t, 1)):
        min(parts, key=lambda p: sum(WORK.get(t, 1) for t in p)).append(topic)
    return [t for t in TOPICS if t in parts[number - 1]]


def main():
    args = sys.argv[1:]
    part = (1, 1)
    if args[0] == "--part":
        part = tuple(map(int, args[1].split("/")))
        args = args[2:]
    target = args[0]
    topics = part_of(args[1:] or list(TOPICS), *part)
    # Written in memory first: many small writes are slow on a shared folder.
    directory = "/run/check-diff"
    os.makedirs(directory, exist_ok=True)
    os.chdir("/")
    # no sit0, gre0 and so on in every new namespace once a topic has used them
    with open("/proc/sys/net/core/fb_tunnels_only_for_init_net", "w",
              encoding="ascii") as f:
        f.write("1")
    status = 0
    for topic in topics:
        status |= run_topic(topic, directory)
        for name in sorted(os.listdir(directory)):
            shutil.move(os.path.join(directory, name),
                        os.path.join(target, name))
    return 1 if status else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
