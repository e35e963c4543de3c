/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame on its way out, whatever it is stored in.
 *
 * Layer 0.
 */
#ifndef _BOND_PKT_H
#define _BOND_PKT_H

#include <linux/types.h>

struct sk_buff;
struct xdp_buff;

/**
 * struct bond_pkt - a frame on its way out, whatever it is stored in
 * @word: address of the socket buffer, or that of the XDP buffer plus
 *	BOND_PKT_XDP
 *
 * Passed by value.  One word, because a pair of pointers is a 16-byte value to
 * the compiler, and each function that passes it on aligns its stack for that.
 */
struct bond_pkt {
	unsigned long word;
};

#define BOND_PKT_XDP	1UL

/**
 * bond_pkt_of_skb() - a socket buffer as a frame
 * @skb: the socket buffer
 */
static inline struct bond_pkt bond_pkt_of_skb(struct sk_buff *skb)
{
	return (struct bond_pkt){ .word = (unsigned long)skb };
}

/**
 * bond_pkt_of_xdp() - an XDP buffer as a frame
 * @xdp: the XDP buffer
 */
static inline struct bond_pkt bond_pkt_of_xdp(const struct xdp_buff *xdp)
{
	return (struct bond_pkt){ .word = (unsigned long)xdp | BOND_PKT_XDP };
}

/**
 * bond_pkt_is_xdp() - which of the two is it?
 * @pkt: the frame
 */
static inline bool bond_pkt_is_xdp(struct bond_pkt pkt)
{
	return pkt.word & BOND_PKT_XDP;
}

/**
 * bond_pkt_skb() - the socket buffer of a frame that is one
 * @pkt: the frame, not an XDP buffer
 */
static inline struct sk_buff *bond_pkt_skb(struct bond_pkt pkt)
{
	return (struct sk_buff *)pkt.word;
}

/**
 * bond_pkt_xdp() - the XDP buffer of a frame that is one
 * @pkt: the frame, an XDP buffer
 */
static inline const struct xdp_buff *bond_pkt_xdp(struct bond_pkt pkt)
{
	return (const struct xdp_buff *)(pkt.word - BOND_PKT_XDP);
}

#endif /* _BOND_PKT_H */
