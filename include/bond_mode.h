/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a mode is: one table of hooks.
 *
 * Layer 0.  Everybody asks the table, nobody asks the mode's number; a mode is
 * named only in its own file and in bond_modes.c.
 */
#ifndef _BOND_MODE_H
#define _BOND_MODE_H

#include <linux/indirect_call_wrapper.h>

#include "bond.h"

struct nlattr;
struct seq_file;

/* What a mode can do, or asks of its surroundings: bond_mode_ops.caps */
#define BOND_CAP_PRIMARY	BIT(0)	/* one active slave; primary is valid */
#define BOND_CAP_HASH		BIT(1)	/* places flows by xmit_hash_policy */
#define BOND_CAP_ARPMON		BIT(2)	/* ARP/NS monitor allowed */
#define BOND_CAP_NEEDS_MII	BIT(3)	/* miimon must not be 0 */
#define BOND_CAP_SPEED		BIT(4)	/* a link needs a speed to be up */
#define BOND_CAP_ONE_MAC	BIT(5)	/* all slaves carry the bond's MAC */
#define BOND_CAP_FOM		BIT(6)	/* honours fail_over_mac */
#define BOND_CAP_RR		BIT(7)	/* honours packets_per_slave */
#define BOND_CAP_LACP		BIT(8)	/* speaks LACP: ad_ and lacp_ options */
#define BOND_CAP_TLB		BIT(9)	/* tlb_dynamic_lb, lp_interval */
#define BOND_CAP_QUEUE_ID	BIT(10)	/* honours slaves' queue_id */
#define BOND_CAP_IGMP		BIT(11)	/* rejoins IGMP groups on failover */
#define BOND_CAP_ETHER_ONLY	BIT(12)	/* slaves must be Ethernet */
#define BOND_CAP_ALL_TX		BIT(13)	/* every slave sends every frame */
#define BOND_CAP_UNLINKED_MCAST	BIT(14)	/* address lists: active only */
#define BOND_CAP_XFRM		BIT(15)	/* IPsec offload through the bond */
#define BOND_CAP_ARP_ACTIVE	BIT(16)	/* ARP probes: active slave only */
#define BOND_CAP_OWN_MACS	BIT(17)	/* the active one: bond's MAC */
#define BOND_CAP_OWN_XMIT	BIT(18)	/* xmit is called for each skb */
#define BOND_CAP_RX_UNICAST	BIT(19)	/* inactive slaves receive unicast */

/**
 * struct bond_ad_port - what is shown of a slave that speaks LACP
 * @aggregator: number of the aggregator that it belongs to
 * @actor_state: its own LACP state, LACP_STATE_*
 * @partner_state: that of its partner
 */
struct bond_ad_port {
	u16 aggregator;
	u8 actor_state;
	u8 partner_state;
};

/**
 * struct bond_mode_ops - one mode
 *
 * Hooks marked (optional) may be NULL; bond_modes_check() refuses to load the
 * module when another one is.  "RTNL" means that the caller holds it.
 *
 * @name: as options name it, e.g. "balance-rr"
 * @proc_name: as /proc/net/bonding names it
 * @id: BOND_MODE_*
 * @lag_tx_type: as told to users of net/lag.h
 * @caps: BOND_CAP_*
 *
 * @init: (optional) allocate mode_pcpu and mode_priv; RTNL; 0 or -ENOMEM
 * @exit: (optional) free them; RTNL, no reader left
 * @start: (optional) the bond comes up; RTNL
 * @stop: (optional) the bond goes down, cancel own works; RTNL
 *
 * @slave_add: (optional) a slave is being added and already in bond->slaves;
 *	sets it active or backup; RTNL; 0 or an errno, nothing must be left
 *	behind then.  Default: active.
 * @slave_del: (optional) a slave leaves, still in bond->slaves; RTNL
 * @usable_changed: (optional) another bond->usable has just been published;
 *	RTNL.  Readers may still have the one before, but no new ones will.
 * @slave_usable: (optional) does it belong in bond->usable?  RTNL.
 *	Default: bond_slave_can_tx().
 *
 * @link_changed: (optional) slave->link is no longer @old; RTNL.  Default:
 *	nothing; the caller marks ACTIVE, ARRAY and CARRIER in any case.
 * @speed_changed: (optional) speed or duplex of a slave changed; RTNL
 * @mac_changed: (optional) the MAC of the bond changed, or that of a slave that
 *	has one of its own; RTNL
 * @active_changed: (optional) curr_active_slave went from @old to @new, either
 *	may be NULL; RTNL
 * @active_ready: (optional) the same, after MAC addresses have followed; frames
 *	may be sent; RTNL
 * @params_adopt: (optional) the mode is being chosen: change in the parameters
 *	to be what it asks for; RTNL or module load
 * @params_changed: (optional) options were set; look at bond->params; RTNL
 * @apply: (optional) take over what the mode has found outside RTNL, and give
 *	slaves the state that follows from it and from all that has changed;
 *	bond_apply() calls it for BOND_DIRTY_MODE before anything else; RTNL
 * @carrier: (optional) 1 or 0, what the carrier should be; RTNL.  Default:
 *	on when any slave is up.
 *
 * @pick: the slave for a frame, or NULL, see bond_pick_fn
 * @pick_now: (optional) the form of @pick that is quickest with the options as
 *	they are; asked again after each change of them; RTNL
 * @xmit: (optional) send the frame in the mode's own way, takes the skb; RCU
 *	and BH off; called when pick says NULL, with BOND_CAP_OWN_XMIT for every
 *	frame.  Default: such a frame is dropped.
 * @rx: (optional) look at a frame that a slave received; RCU; true when the
 *	frame was consumed
 *
 * @proc_show: (optional) the mode's block of /proc/net/bonding; RTNL or RCU
 * @proc_show_slave: (optional) the same for one slave
 * @debug_show: (optional) what rlb_hash_table in debugfs shows; RTNL
 * @ad_info: (optional) describe the active aggregator; RTNL or RCU; false when
 *	there is none
 * @ad_port: (optional) describe a slave's LACP port; RTNL or RCU; false when it
 *	belongs to no aggregator
 * @port_reason: (optional) one word on what keeps a slave's LACP port from
 *	sending; RTNL or RCU; NULL for none
 * @fill_info: (optional) add the mode's read-only netlink attributes; RTNL;
 *	0 or -EMSGSIZE
 * @fill_slave_info: (optional) the same for one slave
 * @info_size: (optional) bytes that fill_info may add
 * @slave_info_size: (optional) bytes that fill_slave_info may add
 * @fill_xstats: (optional) add the mode's own statistics, of the bond or of
 *	@slave when that is not NULL; RTNL; 0 or -EMSGSIZE
 * @xstats_size: (optional) bytes that fill_xstats may add
 */
struct bond_mode_ops {
	const char *name;
	const char *proc_name;
	u8 id;
	enum netdev_lag_tx_type lag_tx_type;
	u32 caps;

	int (*init)(struct bonding *bond);
	void (*exit)(struct bonding *bond);
	void (*start)(struct bonding *bond);
	void (*stop)(struct bonding *bond);

	int (*slave_add)(struct bonding *bond, struct slave *slave,
			 struct netlink_ext_ack *extack);
	void (*slave_del)(struct bonding *bond, struct slave *slave);
	void (*usable_changed)(struct bonding *bond);
	bool (*slave_usable)(const struct bonding *bond,
			     const struct slave *slave);

	void (*link_changed)(struct bonding *bond, struct slave *slave, u8 old);
	void (*speed_changed)(struct bonding *bond, struct slave *slave);
	void (*mac_changed)(struct bonding *bond);
	void (*active_changed)(struct bonding *bond, struct slave *old,
			       struct slave *new);
	void (*active_ready)(struct bonding *bond, struct slave *old,
			     struct slave *new);
	void (*params_adopt)(struct bond_params *next);
	void (*params_changed)(struct bonding *bond);
	void (*apply)(struct bonding *bond);
	int (*carrier)(const struct bonding *bond);

	bond_pick_fn *pick;
	bond_pick_fn *(*pick_now)(const struct bonding *bond);
	netdev_tx_t (*xmit)(struct bonding *bond, struct sk_buff *skb);
	bool (*rx)(struct bonding *bond, struct slave *slave,
		   struct sk_buff *skb);

	void (*proc_show)(struct seq_file *seq, const struct bonding *bond);
	void (*proc_show_slave)(struct seq_file *seq,
				const struct slave *slave);
	void (*debug_show)(struct seq_file *seq, const struct bonding *bond);
	bool (*ad_info)(const struct bonding *bond, struct ad_info *info);
	bool (*ad_port)(const struct slave *slave, struct bond_ad_port *port);
	const char *(*port_reason)(const struct slave *slave);
	int (*fill_info)(struct sk_buff *skb, const struct bonding *bond);
	int (*fill_slave_info)(struct sk_buff *skb, const struct slave *slave);
	size_t (*info_size)(const struct bonding *bond);
	size_t (*slave_info_size)(const struct slave *slave);
	int (*fill_xstats)(struct sk_buff *skb, const struct bonding *bond,
			   const struct slave *slave);
	size_t (*xstats_size)(const struct bonding *bond);
};

extern const struct bond_mode_ops bond_mode_rr;
extern const struct bond_mode_ops bond_mode_ab;
extern const struct bond_mode_ops bond_mode_xor;
extern const struct bond_mode_ops bond_mode_broadcast;
extern const struct bond_mode_ops bond_mode_8023ad;
extern const struct bond_mode_ops bond_mode_tlb;
extern const struct bond_mode_ops bond_mode_alb;

/**
 * bond_mode_by_id() - the table of a mode
 * @id: BOND_MODE_*
 *
 * Return: the table, or NULL when this build has no such mode.
 */
const struct bond_mode_ops *bond_mode_by_id(unsigned int id);

/**
 * bond_modes_check() - are all tables complete?
 *
 * Context: module load.
 * Return: 0, or -EINVAL after naming the table and the hook in the log.
 */
int bond_modes_check(void);

static inline bool bond_has_cap(const struct bonding *bond, u32 cap)
{
	return READ_ONCE(bond->ops)->caps & cap;
}

/**
 * bond_pick_update() - the options have changed, or the mode has
 * @bond: the bond
 *
 * Context: RTNL, or a bond that is being set up.
 */
void bond_pick_update(struct bonding *bond);

/* The picks worth a direct call; any other one is called indirectly. */
bond_pick_fn bond_ab_pick;
bond_pick_fn bond_rr_pick;
bond_pick_fn bond_hash_pick;

/**
 * bond_pick_by() - the slave that a frame leaves by
 * @pick: bond->pick
 * @bond: the bond
 * @pkt: the frame
 *
 * Context: RCU and BH off.
 * Return: as bond_pick().
 */
static __always_inline struct slave *bond_pick_by(bond_pick_fn *pick,
						  const struct bonding *bond,
						  struct bond_pkt pkt)
{
	/* a call would cost more than what that one does */
	if (likely(pick == bond_ab_pick))
		return bond_active_rcu(bond);
	return INDIRECT_CALL_2(pick, bond_rr_pick, bond_hash_pick, bond, pkt);
}

/**
 * bond_pick() - the slave that a frame leaves by
 * @bond: the bond
 * @pkt: the frame
 *
 * The one way to choose, for skbs, for XDP and for ndo_get_xmit_slave.
 *
 * Context: RCU and BH off.
 * Return: the slave, or NULL when none can send or when the mode sends each
 * frame by all of them.
 */
static inline struct slave *bond_pick(const struct bonding *bond,
				      struct bond_pkt pkt)
{
	return bond_pick_by(READ_ONCE(bond->pick), bond, pkt);
}

#endif /* _BOND_MODE_H */
