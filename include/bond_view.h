/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame as a piece of memory: what every parser of frames starts from,
 * whether they are in socket buffers or in XDP buffers.
 *
 * Layer 1: reads the frame, keeps nothing.
 */
#ifndef _BOND_VIEW_H
#define _BOND_VIEW_H

#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <net/xdp.h>

#include "bond_pkt.h"

/**
 * struct bond_view - a frame as a piece of memory
 * @skb: the skb that has more of it, or NULL
 * @data: its first byte
 * @len: bytes there are in one piece
 * @net: the network header; not checked, but never before the buffer's start:
 *	an skb keeps it as an unsigned distance from there
 * @proto: what the network header is
 */
struct bond_view {
	const struct sk_buff *skb;
	const u8 *data;
	int len;
	const u8 *net;
	__be16 proto;
};

static __always_inline struct bond_view
bond_view_skb(const struct sk_buff *skb)
{
	return (struct bond_view){
		.skb = skb,
		.data = skb->data,
		.len = skb_headlen(skb),
		.net = skb_network_header(skb),
		.proto = skb->protocol,
	};
}

static __always_inline struct bond_view
bond_view_xdp(const struct xdp_buff *xdp)
{
	const struct ethhdr *eth = xdp->data;
	int len = xdp->data_end - xdp->data;

	return (struct bond_view){
		.data = xdp->data,
		.len = len,
		.net = xdp->data + ETH_HLEN,
		.proto = likely(len >= ETH_HLEN) ? eth->h_proto : 0,
	};
}

/**
 * bond_view() - look at a frame
 * @pkt: the frame
 *
 * Context: any.
 * Return: the view; its proto is 0 when the frame is shorter than its header.
 */
static __always_inline struct bond_view bond_view(struct bond_pkt pkt)
{
	if (unlikely(bond_pkt_is_xdp(pkt)))
		return bond_view_xdp(bond_pkt_xdp(pkt));
	return bond_view_skb(bond_pkt_skb(pkt));
}

/* Where the network header is, from the frame's first byte. */
static inline int bond_view_net_off(const struct bond_view *view)
{
	return view->net - view->data;
}

/**
 * bond_view_pull() - a part of a frame in one piece
 * @view: the frame
 * @off: where the part starts, from the frame's first byte
 * @len: its length
 * @buf: as many bytes of memory, for a part that is in several pieces
 *
 * Context: any.
 * Return: the part, or NULL when the frame ends before.
 */
static inline const void *bond_view_pull(const struct bond_view *view, int off,
					 int len, void *buf)
{
	return __skb_header_pointer(view->skb, off, len, view->data, view->len,
				    buf);
}

/**
 * bond_pkt_len() - bytes of a frame, as far as they are known
 * @pkt: the frame
 *
 * Context: any.
 */
static __always_inline unsigned int bond_pkt_len(struct bond_pkt pkt)
{
	const struct xdp_buff *xdp;

	if (likely(!bond_pkt_is_xdp(pkt)))
		return bond_pkt_skb(pkt)->len;
	xdp = bond_pkt_xdp(pkt);
	return xdp->data_end - xdp->data;
}

#endif /* _BOND_VIEW_H */
