/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending frames through a bond and seeing by which slave each one left.
 */
#ifndef _HASH_WIRE_H
#define _HASH_WIRE_H

#include "hash_corpus.h"

#define HASH_BATCH	32	/* frames that are sent at once */
#define HASH_SLAVES_MAX	128

/**
 * struct hash_wire - a bond under observation
 * @tx: raw socket that sends
 * @tap: raw socket that hears what leaves by the slaves
 * @bond: interface index of the bond
 * @vlan: interface indexes of the VLAN devices on it, 0 for none
 * @slave: interface indexes of the slaves, in the order they were enslaved
 * @slaves: number of slaves
 */
struct hash_wire {
	int tx;
	int tap;
	int bond;
	int vlan[HASH_VLAN_MAX];
	int slave[HASH_SLAVES_MAX];
	int slaves;
};

/**
 * hash_wire_open() - open the sockets
 * @wire: with the interface indexes filled in
 *
 * Exits with a message when it fails.
 */
void hash_wire_open(struct hash_wire *wire);

/**
 * hash_wire_send() - send frames and see by which slave each one left
 * @wire: the bond
 * @frame: the frames
 * @count: how many, at most HASH_BATCH
 * @left_by: receives the position of the slave, or -1 for a frame that left by
 *	none
 *
 * Exits with a message when a frame was refused, left twice, or did not leave
 * as it was sent.
 */
void hash_wire_send(struct hash_wire *wire, const struct hash_frame *frame,
		    unsigned int count, int *left_by);

/**
 * hash_wire_tap_hash() - let the tap tell skb->hash
 * @wire: the bond
 *
 * From now on, a frame's length as heard by the tap is HASH_TAP_BASE plus
 * skb->hash modulo the number of slaves.
 */
void hash_wire_tap_hash(struct hash_wire *wire);

#define HASH_TAP_BASE	40	/* shorter than a SYN over IPv4 */

/**
 * hash_wire_hear() - what has left by a slave?
 * @wire: the bond
 * @len: receives the length
 *
 * Return: position of the slave, -1 when nothing more is there.
 */
int hash_wire_hear(struct hash_wire *wire, unsigned int *len);

#endif /* _HASH_WIRE_H */
