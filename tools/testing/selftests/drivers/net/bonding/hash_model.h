/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transmit hash policies, written a second time from their documented
 * formulas: what frames are compared with.
 */
#ifndef _HASH_MODEL_H
#define _HASH_MODEL_H

#include "hash_corpus.h"

enum hash_policy {
	HASH_LAYER2,
	HASH_LAYER34,
	HASH_LAYER23,
	HASH_ENCAP23,
	HASH_ENCAP34,
	HASH_VLAN_SRCMAC,
	HASH_POLICIES
};

extern const char * const hash_policy_names[HASH_POLICIES];

/* The policy of that name, as in xmit_hash_policy; ends the program if none. */
enum hash_policy hash_policy_of(const char *name);

/* How a frame reaches the bond: bits */
#define HASH_VLAN_DEVICES	1	/* through the VLAN device it names */
#define HASH_XDP		2	/* as an XDP buffer: only bytes */

/**
 * hash_model() - the hash of a frame
 * @policy: enum hash_policy
 * @frame: the frame
 * @how: HASH_VLAN_DEVICES or HASH_XDP, or 0
 */
__u32 hash_model(enum hash_policy policy, const struct hash_frame *frame,
		 unsigned int how);

/**
 * struct hash_flow - what a policy knows of a frame
 * @data: the frame
 * @len: its length
 * @linear: bytes in its linear part
 * @proto: ethertype of the header at @off, host order
 * @off: where the next header starts
 * @upper: protocol number above IP
 * @addr: both addresses, exclusive or of all their words
 * @word: ports, or type, code and identifier of an ICMP message
 * @fragment: part of a packet
 * @headers: headers walked
 * @tagged: the outermost tag is beside the frame, not in it
 * @outer: ethertype of the frame, as the stack has it; host order
 */
struct hash_flow {
	const __u8 *data;
	unsigned int len;
	unsigned int linear;
	unsigned int proto;
	unsigned int off;
	unsigned int upper;
	__u32 addr;
	__u32 word;
	int fragment;
	int headers;
	int tagged;
	unsigned int outer;
};

/**
 * hash_model_dissect() - what the encap policies see of a frame
 * @flow: with the frame filled in; receives the rest
 *
 * Return: 0, or -1 when only layer 2 counts.
 */
int hash_model_dissect(struct hash_flow *flow);

#endif /* _HASH_MODEL_H */
