// SPDX-License-Identifier: GPL-2.0
/*
 * XDP frames on their way out: which slave sends what a program answers with
 * XDP_TX, and what is redirected to the bond.
 *
 * Packet path: BH off, no lock, nothing allocated but the copies of broadcast.
 * Called by the core, from the poll of whoever received the frames.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <net/xdp.h>

#include "bond_core.h"

#define BOND_XDP_BULK	16	/* frames at a time; as many as a devmap has */

/* --- both ways out --- */

/* Nobody else has the frame: its memory is written to. */
static noinline void bond_xdp_sign(const struct bonding *bond,
				   const struct slave *slave,
				   const struct xdp_buff *xdp)
{
	struct ethhdr *eth = xdp->data;

	if (bond_has_cap(bond, BOND_CAP_OWN_MACS) &&
	    slave != rcu_access_pointer(bond->curr_active_slave) &&
	    xdp->data + ETH_HLEN <= xdp->data_end)
		ether_addr_copy(eth->h_source, slave->dev->dev_addr);
}

/*
 * The slave that sends a frame, which has that slave's address as its source
 * then, in modes where slaves have addresses of their own.
 */
static __always_inline struct slave *
bond_xdp_signed(const struct bonding *bond, const struct xdp_buff *xdp,
		struct slave *slave)
{
	if (unlikely(READ_ONCE(bond->tx_special) & BOND_TX_MODE) && slave)
		bond_xdp_sign(bond, slave, xdp);
	return slave;
}

static __always_inline struct slave *
bond_xdp_pick(const struct bonding *bond, const struct xdp_buff *xdp)
{
	struct slave *slave = bond_pick(bond, bond_pkt_of_xdp(xdp));

	return bond_xdp_signed(bond, xdp, slave);
}

/* --- XDP_TX --- */

/* The bond on top, if it has a program: then that is the one that runs. */
static struct net_device *bond_xdp_upper(struct net_device *dev)
{
	const struct bonding *bond;
	struct net_device *upper;

	if (!netif_is_bond_slave(dev))
		return NULL;
	upper = netdev_master_upper_dev_get_rcu(dev);
	if (!upper || !bond_dev_is_bond(upper))
		return NULL;
	bond = netdev_priv(upper);
	return READ_ONCE(bond->xdp_prog) ? upper : NULL;
}

static __always_inline struct net_device *
bond_xdp_tx_by(struct net_device *dev, struct slave *slave)
{
	if (unlikely(!slave))
		return dev;
	bond_xdp_count(slave, BOND_XDP_TX, 1);
	return slave->dev;
}

/*
 * The program may be that of a bond further up, which then has its say first;
 * or of the slave itself, which means its own device.
 */
static noinline struct net_device *
bond_xdp_tx_careful(struct net_device *dev, const struct xdp_buff *xdp)
{
	const struct bonding *bond = netdev_priv(dev);
	struct net_device *upper;

	if (!READ_ONCE(bond->xdp_prog))
		return NULL;
	while ((upper = bond_xdp_upper(dev)))
		dev = upper;
	bond = netdev_priv(dev);
	if (!(READ_ONCE(dev->flags) & IFF_UP))
		return dev;
	return bond_xdp_tx_by(dev, bond_xdp_pick(bond, xdp));
}

/* All that is not the shortest way. */
static noinline struct net_device *
bond_xdp_tx_pick(struct net_device *dev, const struct xdp_buff *xdp,
		 bond_pick_fn *pick)
{
	const struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	if (unlikely(!pick))
		return bond_xdp_tx_careful(dev, xdp);
	slave = INDIRECT_CALL_2(pick, bond_rr_pick, bond_hash_pick, bond,
				bond_pkt_of_xdp(xdp));
	return bond_xdp_tx_by(dev, bond_xdp_signed(bond, xdp, slave));
}

/**
 * bond_xdp_get_xmit_slave() - who sends a frame that a program on a slave
 *	answers with XDP_TX?
 * @dev: the bond
 * @xdp: the frame
 *
 * The core redirects the frame to the device that we name, unless it came from
 * there.  That may be the bond: where there is not one slave that could be
 * named, bond_xdp_xmit() gets the frame, which knows to send it by all of them,
 * or to count it as lost; and the core drops what is redirected to a bond that
 * is down.
 *
 * Context: BH off.
 * Return: a slave's device; the bond's when there is no such slave; NULL when
 * the program is not ours, so that the frame leaves as if there were no bond.
 */
struct net_device *bond_xdp_get_xmit_slave(struct net_device *dev,
					   struct xdp_buff *xdp)
{
	const struct bonding *bond = netdev_priv(dev);
	bond_pick_fn *pick = READ_ONCE(bond->xdp_pick);

	if (likely(pick == bond_ab_pick))
		return bond_xdp_tx_by(dev, bond_active_rcu(bond));
	return bond_xdp_tx_pick(dev, xdp, pick);
}

/* --- redirected to the bond --- */

/*
 * Frames that the slave does not take stay the caller's, at the end of @frames.
 * The caller's flush comes with the last bulk of a poll only, and that may hold
 * no frame for this slave: so each bulk is flushed.
 */
static int bond_xdp_hand_off(const struct slave *slave,
			     struct xdp_frame **frames, int n)
{
	struct net_device *dev = slave->dev;
	const struct net_device_ops *ops = dev->netdev_ops;
	int sent = -EOPNOTSUPP;

	if (likely(ops->ndo_xdp_xmit))
		sent = ops->ndo_xdp_xmit(dev, n, frames, XDP_XMIT_FLUSH);
	if (likely(sent == n)) {
		bond_xdp_count(slave, BOND_XDP_REDIRECT, n);
		return sent;
	}
	if (sent < 0)
		bond_xdp_count(slave, BOND_XDP_ERROR, 1);
	else
		bond_xdp_count(slave, BOND_XDP_REDIRECT, sent);
	bond_xdp_count(slave, BOND_XDP_DROP, n - max(sent, 0));
	return sent;
}

static int bond_xdp_no_slave(const struct bonding *bond, int n)
{
	while (n--) {
		bond_drop_count(bond, BOND_DROP_XDP_NO_SLAVE);
		dev_core_stats_tx_dropped_inc(bond->dev);
	}
	return -ENETDOWN;
}

/**
 * struct bond_xdp_groups - a bulk, by slave
 * @cnt: number of groups
 * @of: the group of each frame
 * @size: frames in each group
 * @slave: the slave of each group; NULL when none can send
 */
struct bond_xdp_groups {
	unsigned int cnt;
	u8 of[BOND_XDP_BULK];
	u8 size[BOND_XDP_BULK];
	struct slave *slave[BOND_XDP_BULK];
};

static void bond_xdp_group_add(struct bond_xdp_groups *groups, int i,
			       struct slave *slave)
{
	unsigned int g;

	for (g = 0; g < groups->cnt; g++)
		if (groups->slave[g] == slave)
			break;
	if (g == groups->cnt) {
		groups->slave[g] = slave;
		groups->size[g] = 0;
		groups->cnt++;
	}
	groups->of[i] = g;
	groups->size[g]++;
}

/* The parser looks at what is between data and data_end only. */
static void bond_xdp_group(const struct bonding *bond,
			   struct xdp_frame **frames, int n,
			   struct bond_xdp_groups *groups)
{
	struct xdp_buff xdp;
	int i;

	groups->cnt = 0;
	for (i = 0; i < n; i++) {
		xdp.data = frames[i]->data;
		xdp.data_end = frames[i]->data + frames[i]->len;
		bond_xdp_group_add(groups, i, bond_xdp_pick(bond, &xdp));
	}
}

static int bond_xdp_group_send(const struct bonding *bond,
			       const struct slave *slave,
			       struct xdp_frame **frames, int n)
{
	if (unlikely(!slave))
		return bond_xdp_no_slave(bond, n);
	return bond_xdp_hand_off(slave, frames, n);
}

/* Frames of one group keep their order. */
static void bond_xdp_sort(const struct bond_xdp_groups *groups,
			  struct xdp_frame **frames, int n,
			  struct xdp_frame **sorted)
{
	u8 at[BOND_XDP_BULK];
	unsigned int g;
	u8 pos = 0;
	int i;

	for (g = 0; g < groups->cnt; g++) {
		at[g] = pos;
		pos += groups->size[g];
	}
	for (i = 0; i < n; i++)
		sorted[at[groups->of[i]]++] = frames[i];
}

/* Each by the slave that the mode picks for it. */
static int bond_xdp_send_picked(const struct bonding *bond,
				struct xdp_frame **frames, int n)
{
	struct xdp_frame *sorted[BOND_XDP_BULK];
	struct bond_xdp_groups groups;
	int err = 0, left = n, pos = 0;
	unsigned int g;

	bond_xdp_group(bond, frames, n, &groups);
	if (groups.cnt == 1)
		return bond_xdp_group_send(bond, groups.slave[0], frames, n);
	bond_xdp_sort(&groups, frames, n, sorted);
	for (g = 0; g < groups.cnt; g++) {
		int end = pos + groups.size[g];
		int sent;

		sent = bond_xdp_group_send(bond, groups.slave[g], sorted + pos,
					   groups.size[g]);
		if (unlikely(sent < 0)) {
			err = sent;
			sent = 0;
		}
		/* all of them are in sorted[] now: there is room at the end */
		for (pos += sent; pos < end; pos++)
			frames[--left] = sorted[pos];
	}
	return left ?: err;
}

/* --- broadcast --- */

/* The pieces of a frame, each in pages of its own. */
static bool bond_xdp_copy_frags(struct xdp_frame *frame,
				struct xdp_frame *copy)
{
	const struct skb_shared_info *from;
	struct skb_shared_info *to;
	struct page *page;
	unsigned int size;
	int i;

	from = xdp_get_shared_info_from_frame(frame);
	to = xdp_get_shared_info_from_frame(copy);
	*to = *from;
	for (i = 0; i < from->nr_frags; i++) {
		size = skb_frag_size(&from->frags[i]);
		page = dev_alloc_pages(get_order(size));
		if (!page) {
			to->nr_frags = i;
			return false;
		}
		memcpy(page_address(page), skb_frag_address(&from->frags[i]),
		       size);
		bond_compat_frag_fill(&to->frags[i], page, size);
	}
	return true;
}

/* In a page of its own, which any slave's driver knows how to free. */
static struct xdp_frame *bond_xdp_copy(struct xdp_frame *frame)
{
	size_t head = sizeof(*frame) + frame->headroom;
	struct xdp_frame *copy;
	struct page *page;

	if (head + frame->len > SKB_WITH_OVERHEAD(PAGE_SIZE))
		return NULL;
	page = dev_alloc_page();
	if (!page)
		return NULL;
	copy = page_address(page);
	*copy = *frame;
	copy->data = (void *)copy + head;
	copy->frame_sz = PAGE_SIZE;
	bond_compat_xdp_frame_set_page(copy);
	memcpy(copy->data - frame->metasize, frame->data - frame->metasize,
	       frame->metasize + frame->len);
	if (likely(!xdp_frame_has_frags(frame)) ||
	    bond_xdp_copy_frags(frame, copy))
		return copy;
	xdp_return_frame(copy);
	return NULL;
}

static int bond_xdp_copies_make(const struct bonding *bond,
				struct xdp_frame **frames, int n,
				struct xdp_frame **copies)
{
	int made = 0;
	int i;

	for (i = 0; i < n; i++) {
		copies[made] = bond_xdp_copy(frames[i]);
		if (likely(copies[made])) {
			made++;
			continue;
		}
		bond_drop_count(bond, BOND_DROP_CLONE);
		dev_core_stats_tx_dropped_inc(bond->dev);
	}
	return made;
}

/* Copies that are not taken are ours to free. */
static int bond_xdp_send_copies(const struct bonding *bond,
				const struct slave *slave,
				struct xdp_frame **frames, int n)
{
	struct xdp_frame *copies[BOND_XDP_BULK];
	int sent = 0;
	int made, i;

	made = bond_xdp_copies_make(bond, frames, n, copies);
	if (likely(made))
		sent = max(bond_xdp_hand_off(slave, copies, made), 0);
	for (i = sent; i < made; i++)
		xdp_return_frame(copies[i]);
	return sent;
}

/*
 * Each by all slaves; the last one gets the frames themselves.  As many as the
 * best slave took count as sent: of these, what the last one did not take is
 * not the caller's any more.
 */
static int bond_xdp_send_all(const struct bonding *bond,
			     struct xdp_frame **frames, int n)
{
	const struct bond_slave_array *array = bond_usable(bond);
	int best = 0;
	int sent, i;
	u32 last;

	if (unlikely(!array))
		return bond_xdp_no_slave(bond, n);
	last = array->count - 1;
	for (i = 0; i < last; i++)
		best = max(best, bond_xdp_send_copies(bond, array->slave[i],
						      frames, n));
	sent = bond_xdp_hand_off(array->slave[last], frames, n);
	if (likely(sent >= best) || !best)
		return sent;
	for (i = max(sent, 0); i < best; i++)
		xdp_return_frame_rx_napi(frames[i]);
	return best;
}

static int bond_xdp_send(const struct bonding *bond, struct xdp_frame **frames,
			 int n)
{
	if (bond_has_cap(bond, BOND_CAP_ALL_TX))
		return bond_xdp_send_all(bond, frames, n);
	return bond_xdp_send_picked(bond, frames, n);
}

/**
 * bond_xdp_xmit() - send frames that were redirected to the bond
 * @dev: the bond
 * @n: number of frames
 * @frames: the frames; in another order afterwards
 * @flags: XDP_XMIT_FLUSH or 0, no difference
 *
 * Each slave gets its frames of a bulk in one call, in their order.
 *
 * Context: BH off.
 * Return: how many were sent, which are the first ones in @frames; the others
 * remain the caller's.  A negative errno when none was, and something is wrong:
 * -ENETDOWN when no slave is able to send, or what a slave's driver says.
 */
int bond_xdp_xmit(struct net_device *dev, int n, struct xdp_frame **frames,
		  u32 flags)
{
	const struct bonding *bond = netdev_priv(dev);
	int done = 0;
	int bulk, sent;

	if (unlikely(flags & ~XDP_XMIT_FLAGS_MASK))
		return -EINVAL;
	do {
		bulk = min(n - done, BOND_XDP_BULK);
		sent = bond_xdp_send(bond, frames + done, bulk);
		if (unlikely(sent < 0))
			return done ?: sent;
		done += sent;
	} while (done < n && sent == bulk);
	return done;
}
