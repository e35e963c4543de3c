# SPDX-License-Identifier: GPL-2.0
"""
Links as text: every attribute with its name, size and value, sorted by number,
so that two dumps can be compared line by line. Used by the topics on netlink.

What cannot be equal in two boots is masked here: addresses that no topic gave,
statistics, and the address-family blocks, which are not the driver's.
"""
import struct

import nl

# Addresses given by world.py start like this; others are random.
MAC_PREFIX = b"\x02\xbd"

LINK_NAMES = {
    1: "ADDRESS", 2: "BROADCAST", 3: "IFNAME", 4: "MTU", 5: "LINK",
    6: "QDISC", 7: "STATS", 10: "MASTER", 13: "TXQLEN", 14: "MAP",
    16: "OPERSTATE", 17: "LINKMODE", 18: "LINKINFO", 20: "IFALIAS",
    23: "STATS64", 26: "AF_SPEC", 27: "GROUP", 30: "PROMISCUITY",
    31: "NUM_TX_QUEUES", 32: "NUM_RX_QUEUES", 33: "CARRIER",
    35: "CARRIER_CHANGES", 37: "LINK_NETNSID", 39: "PROTO_DOWN",
    40: "GSO_MAX_SEGS", 41: "GSO_MAX_SIZE", 43: "XDP", 44: "EVENT",
    47: "CARRIER_UP_COUNT", 48: "CARRIER_DOWN_COUNT", 50: "MIN_MTU",
    51: "MAX_MTU", 54: "PERM_ADDRESS", 58: "GRO_MAX_SIZE",
    59: "TSO_MAX_SIZE", 60: "TSO_MAX_SEGS", 61: "ALLMULTI",
    63: "GSO_IPV4_MAX_SIZE", 64: "GRO_IPV4_MAX_SIZE",
}

BOND_NAMES = {
    1: "MODE", 2: "ACTIVE_SLAVE", 3: "MIIMON", 4: "UPDELAY", 5: "DOWNDELAY",
    6: "USE_CARRIER", 7: "ARP_INTERVAL", 8: "ARP_IP_TARGET",
    9: "ARP_VALIDATE", 10: "ARP_ALL_TARGETS", 11: "PRIMARY",
    12: "PRIMARY_RESELECT", 13: "FAIL_OVER_MAC", 14: "XMIT_HASH_POLICY",
    15: "RESEND_IGMP", 16: "NUM_PEER_NOTIF", 17: "ALL_SLAVES_ACTIVE",
    18: "MIN_LINKS", 19: "LP_INTERVAL", 20: "PACKETS_PER_SLAVE",
    21: "AD_LACP_RATE", 22: "AD_SELECT", 23: "AD_INFO",
    24: "AD_ACTOR_SYS_PRIO", 25: "AD_USER_PORT_KEY", 26: "AD_ACTOR_SYSTEM",
    27: "TLB_DYNAMIC_LB", 28: "PEER_NOTIF_DELAY", 29: "AD_LACP_ACTIVE",
    30: "MISSED_MAX", 31: "NS_IP6_TARGET", 32: "COUPLED_CONTROL",
    33: "BROADCAST_NEIGH", 34: "LACP_STRICT",
}

SLAVE_NAMES = {
    1: "STATE", 2: "MII_STATUS", 3: "LINK_FAILURE_COUNT", 4: "PERM_HWADDR",
    5: "QUEUE_ID", 6: "AD_AGGREGATOR_ID", 7: "AD_ACTOR_OPER_PORT_STATE",
    8: "AD_PARTNER_OPER_PORT_STATE", 9: "PRIO", 10: "ACTOR_PORT_PRIO",
    11: "AD_CHURN_ACTOR_STATE", 12: "AD_CHURN_PARTNER_STATE",
}

EVENT_NAMES = {
    0: "none", 1: "reboot", 2: "feature change", 3: "bonding failover",
    4: "notify peers", 5: "resend igmp", 6: "change info data",
}

FLAG_NAMES = ("UP BROADCAST DEBUG LOOPBACK POINTOPOINT NOTRAILERS RUNNING "
              "NOARP PROMISC ALLMULTI MASTER SLAVE MULTICAST PORTSEL "
              "AUTOMEDIA DYNAMIC LOWER_UP DORMANT ECHO").split()

MASKED = {7, 23, 26}
# Counted by the core of carrier changes: compared in the topic "failover".
COUNTS = {35, 47, 48}


def mac_text(data):
    """A link-layer address, masked unless it is one that a topic gave."""
    if len(data) != 6:
        return data.hex() if not any(data) else "<%d bytes>" % len(data)
    if data[:2] == MAC_PREFIX or not any(data) or data[0] & 1:
        return ":".join("%02x" % b for b in data)
    return "<random>"


def flags_text(flags):
    names = [n for i, n in enumerate(FLAG_NAMES) if flags & (1 << i)]
    return ",".join(names)


def number_text(data):
    code = {1: "=B", 2: "=H", 4: "=I", 8: "=Q"}.get(len(data))
    return str(struct.unpack(code, data)[0]) if code else data.hex()


def _nested(data, value=bytes.hex):
    return "[%s]" % " ".join("%d:%s" % (k, value(v))
                             for k, v in nl.parse_attrs(data))


def bond_value(number, data):
    if number in (8, 31):
        return _nested(data)
    if number == 23:
        return _nested(data, lambda v: mac_text(v) if len(v) == 6
                       else number_text(v))
    if number == 26:
        return mac_text(data)
    return number_text(data)


def slave_value(number, data):
    return mac_text(data) if number == 4 else number_text(data)


def info_lines(name, names, value, attrs):
    return ["%s.%s (%d) = %s" % (name, names.get(k, str(k)), len(v),
                                 value(k, v))
            for k, v in sorted(attrs)]


def _linkinfo_lines(data):
    info = dict(nl.parse_attrs(data))
    lines = []
    for number, name in ((1, "KIND"), (4, "SLAVE_KIND")):
        if number in info:
            lines.append("%s = %s" % (name, info[number][:-1].decode()))
    if info.get(1) == b"bond\0" and 2 in info:
        lines += info_lines("DATA", BOND_NAMES, bond_value,
                            nl.parse_attrs(info[2]))
    if info.get(4) == b"bond\0" and 5 in info:
        lines += info_lines("SLAVE", SLAVE_NAMES, slave_value,
                            nl.parse_attrs(info[5]))
    return lines


def _attr_line(kind, data):
    name = LINK_NAMES.get(kind, str(kind))
    if kind in MASKED:
        return "%s = <masked>" % name
    if kind in (1, 2, 54):
        value = mac_text(data)
    elif kind in (3, 6, 20):
        value = data[:-1].decode(errors="replace")
    elif kind == 44:
        number = struct.unpack("=I", data)[0]
        value = EVENT_NAMES.get(number, str(number))
    elif kind == 43:
        value = _nested(data)
    else:
        value = number_text(data)
    return "%s (%d) = %s" % (name, len(data), value)


def link_lines(link, counts=False):
    """A link in full."""
    lines = ["index = %d" % link.index, "type = %d" % link.type,
             "flags = %s" % flags_text(link.flags)]
    for kind, data in sorted(link.attrs):
        if kind in COUNTS and not counts:
            continue
        # link watch comes to a device that is down whenever it likes
        if kind == nl.IFLA_OPERSTATE and not link.flags & nl.IFF_UP:
            continue
        if kind == nl.IFLA_LINKINFO:
            lines += _linkinfo_lines(data)
        else:
            lines.append(_attr_line(kind, data))
    return lines
