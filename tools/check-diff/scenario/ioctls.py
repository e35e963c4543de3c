# SPDX-License-Identifier: GPL-2.0
"""
The old ioctls of a bond, and those of ethtool's that topics need. Every
function returns an errno (0 when it went well) first.
"""
import ctypes
import fcntl
import socket
import struct

SIOCBONDENSLAVE = 0x8990
SIOCBONDRELEASE = 0x8991
SIOCBONDSETHWADDR = 0x8992
SIOCBONDSLAVEINFOQUERY = 0x8993
SIOCBONDINFOQUERY = 0x8994
SIOCBONDCHANGEACTIVE = 0x8995
SIOCDEVPRIVATE = 0x89f0
SIOCGMIIPHY = 0x8947
SIOCGMIIREG = 0x8948
SIOCSMIIREG = 0x8949


def call(number, name, data):
    """An ioctl on a struct ifreq. (errno, the 24 bytes after the name)."""
    request = name.encode().ljust(16, b"\0")[:16] + data.ljust(24, b"\0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            answer = fcntl.ioctl(sock, number, request)
        except OSError as e:
            return e.errno, b""
    return 0, answer[16:]


def with_slave(number, bond, slave):
    return call(number, bond, slave.encode().ljust(16, b"\0")[:16])[0]


def enslave(bond, slave):
    return with_slave(SIOCBONDENSLAVE, bond, slave)


def with_buffer(number, name, buffer):
    """An ioctl whose ifr_data points at a buffer. (errno, the buffer)."""
    memory = ctypes.create_string_buffer(buffer, len(buffer))
    code, _ = call(number, name,
                   struct.pack("=Q", ctypes.addressof(memory)))
    return code, memory.raw


def bond_info(name, number=SIOCBONDINFOQUERY):
    """(errno, mode, slaves, miimon)."""
    code, raw = with_buffer(number, name, bytes(12))
    return (code,) + struct.unpack("=iii", raw)


def slave_info(name, position, number=SIOCBONDSLAVEINFOQUERY):
    """(errno, id, name, link, state, failures)."""
    code, raw = with_buffer(number, name,
                            struct.pack("=i16sbbxxI", position, b"", 0, 0, 0))
    where, slave, link, state, failures = struct.unpack("=i16sbbxxI", raw)
    return (code, where, slave.rstrip(b"\0").decode(), link, state, failures)


def mii(name, number, register=0):
    """(errno, phy, register, value in, value out)."""
    code, raw = call(number, name, struct.pack("=HHHH", 0, register, 0, 0))
    return (code,) + (struct.unpack_from("=HHHH", raw) if raw else ())
