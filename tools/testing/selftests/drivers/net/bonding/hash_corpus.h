/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frames that the transmit hash policies are tried on.
 *
 * Frame number SEQ of seed SEED is always the same, on every machine and
 * whatever frames were made before it; so a line of a report is enough to have
 * a frame again.
 */
#ifndef _HASH_CORPUS_H
#define _HASH_CORPUS_H

#include <stddef.h>

#include <linux/types.h>

#define HASH_FRAME_MAX	4608	/* longest frame */
#define HASH_VLAN_MAX	5	/* VLAN devices that frames may leave by */

/**
 * struct hash_frame - a frame, and how it is to be sent
 * @seq: its number
 * @len: its length
 * @proto: what skb->protocol is to be, 0 for what the frame says; host order
 * @linear: bytes in the linear part of the skb, 0 for all of them
 * @vlan: 0, or through which VLAN device on top of the bond (counted from 1):
 *	its tag is then not in the frame but beside it
 * @kind: what it is, for reports
 * @data: the frame from its Ethernet header on
 */
struct hash_frame {
	__u32 seq;
	__u16 len;
	__u16 proto;
	__u16 linear;
	__u8 vlan;
	const char *kind;
	__u8 data[HASH_FRAME_MAX];
};

/**
 * struct hash_vlan - a VLAN device that the corpus asks for
 * @proto: TPID, host order
 * @id: VLAN id
 * @prio: priority in its tags (egress-qos-map 0:prio)
 */
struct hash_vlan {
	__u16 proto;
	__u16 id;
	__u8 prio;
};

/**
 * hash_vlan_tci() - what a VLAN device's tags say
 * @vlan: the device
 */
static inline __u16 hash_vlan_tci(const struct hash_vlan *vlan)
{
	return vlan->prio << 13 | vlan->id;
}

extern const struct hash_vlan hash_vlans[HASH_VLAN_MAX];

/**
 * hash_frame_make() - make a frame
 * @frame: receives it
 * @seed: of the corpus
 * @seq: its number
 */
void hash_frame_make(struct hash_frame *frame, __u64 seed, __u32 seq);

#endif /* _HASH_CORPUS_H */
