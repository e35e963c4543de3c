/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bond and its slaves: the two structures that everything else works on,
 * and the state bits that tell the rest of the driver what has to follow.
 *
 * Layer 0: knows nothing of the other files.  Structure fields say which lock
 * guards them; where nothing is said it is RTNL.
 */
#ifndef _BOND_H
#define _BOND_H

#include <linux/etherdevice.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/in6.h>
#include <linux/kobject.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>

#include "bond_abi_offsets.h"
#include "bond_arp.h"
#include "bond_compat.h"
#include "bond_count.h"
#include "bond_pkt.h"

#define BOND_PORT_PRIO_DEFAULT	255	/* actor_port_prio of a new slave */
#define BOND_NO_SPEED		0	/* less than any known speed */

struct bpf_prog;
struct bond_mode_ops;
struct bond_slave_array;
struct bonding;
struct slave;

/*
 * Chooses the slave that a frame leaves by, or NULL; RCU and BH off; no lock,
 * allocation, division or list walk.
 */
typedef struct slave *bond_pick_fn(const struct bonding *bond,
				   struct bond_pkt pkt);

/**
 * struct bond_params - what the options of a bond are set to
 *
 * Written by bond_change_commit() under RTNL with the values of a checked
 * change, read under RTNL, or with READ_ONCE() by the packet path.  Numeric
 * options are u32 and carry the name of the option, so that a row of the option
 * table needs only their offset.  Times are in the unit that the user gave.
 *
 * @mode: BOND_MODE_*; its place is read by other modules (see BOND_ABI_*)
 * @primary: name of the primary slave, empty when there is none
 * @arp_ip_target: IPv4 targets of the ARP monitor, zero-terminated if not full
 * @ns_ip6_target: IPv6 targets, same shape
 * @ad_actor_system: actor system MAC, all zero for "the bond's own"
 */
struct bond_params {
	int mode;
	u32 miimon;
	u32 updelay;
	u32 downdelay;
	u32 peer_notif_delay;
	u32 use_carrier;
	u32 arp_interval;
	u32 arp_validate;
	u32 arp_all_targets;
	u32 arp_missed_max;
	u32 primary_reselect;
	u32 fail_over_mac;
	u32 xmit_hash_policy;
	u32 resend_igmp;
	u32 num_peer_notif;
	u32 all_slaves_active;
	u32 min_links;
	u32 lp_interval;
	u32 packets_per_slave;
	u32 lacp_active;
	u32 lacp_rate;
	u32 lacp_strict;
	u32 ad_select;
	u32 ad_actor_sys_prio;
	u32 ad_user_port_key;
	u32 tlb_dynamic_lb;
	u32 coupled_control;
	u32 broadcast_neighbor;
	u32 lacp_fallback;
	u32 lacp_fallback_timeout;
	char primary[IFNAMSIZ];
	u8 ad_actor_system[ETH_ALEN];
	__be32 arp_ip_target[BOND_MAX_TARGETS];
	struct in6_addr ns_ip6_target[BOND_MAX_TARGETS];
};

/**
 * enum bond_primary_reselect - when a returning primary slave takes over
 * @BOND_RESELECT_ALWAYS: whenever it is up
 * @BOND_RESELECT_BETTER: when it is faster than the active slave, or as fast
 *	and of a better duplex
 * @BOND_RESELECT_FAILURE: when the active slave fails
 */
enum bond_primary_reselect {
	BOND_RESELECT_ALWAYS,
	BOND_RESELECT_BETTER,
	BOND_RESELECT_FAILURE,
};

/**
 * enum bond_fail_over_mac - whose MAC address an active-backup bond uses
 * @BOND_FOM_NONE: all slaves carry the bond's
 * @BOND_FOM_ACTIVE: the bond carries the active slave's
 * @BOND_FOM_FOLLOW: the active slave carries the bond's, the others their own
 */
enum bond_fail_over_mac {
	BOND_FOM_NONE,
	BOND_FOM_ACTIVE,
	BOND_FOM_FOLLOW,
};

/**
 * enum bond_dirty - what of a bond has to be worked out again
 *
 * Set by bond_mark(), worked off in this order by bond_apply().
 *
 * @BOND_DIRTY_MODE: what the mode itself makes of the slaves' state
 * @BOND_DIRTY_ACTIVE: the choice of the active slave
 * @BOND_DIRTY_ARRAY: the published slave arrays
 * @BOND_DIRTY_CARRIER: the carrier of the bond
 * @BOND_DIRTY_LOWER: the lower state that upper devices' users see
 * @BOND_DIRTY_INFO: bonding-info and netlink notification
 * @BOND_DIRTY_PEERS: the network has to learn where the bond's addresses are
 */
enum bond_dirty {
	BOND_DIRTY_MODE,
	BOND_DIRTY_ACTIVE,
	BOND_DIRTY_ARRAY,
	BOND_DIRTY_CARRIER,
	BOND_DIRTY_LOWER,
	BOND_DIRTY_INFO,
	BOND_DIRTY_PEERS,
};

/* Reasons to leave the straight path of bond_start_xmit(): tx_special */
#define BOND_TX_QUEUE_ID	BIT(0)	/* a slave has a queue_id */
#define BOND_TX_NETPOLL		BIT(1)	/* netpoll is set up on the bond */
#define BOND_TX_MODE		BIT(2)	/* the mode sends in its own way */

/**
 * struct bonding - netdev_priv() of a bond
 *
 * The head, up to and including params.mode, has the layout that modules of
 * the target kernel expect (they find the members by offset); the room between
 * the pinned members holds what the packet path reads.
 *
 * @dev: the bond's device (pinned)
 * @curr_active_slave: the active slave, in every mode; RTNL to write, RCU to
 *	read (pinned)
 * @ops: the mode; changes only while the bond is down and has no slaves
 * @pick: chooses the slave of a frame, ops->pick or a form of it that fits the
 *	options of the moment; RTNL to write, READ_ONCE() by the packet path
 * @xdp_prog: the native XDP program of the bond, which all slaves run, or NULL;
 *	RTNL to write, READ_ONCE() by the packet path
 * @xdp_pick: @pick for XDP_TX; NULL unless there is a program, the bond is up,
 *	and not itself a slave; RTNL to write, READ_ONCE() by the packet path
 * @usable: slaves that may send now; @array_lock to write, RCU to read
 * @all: every slave whose link is up; @array_lock to write, RCU to read
 * @mode_pcpu: per-CPU data of the mode
 * @mode_priv: other data of the mode
 * @pcpu: counters
 * @tx_special: BOND_TX_* bits, READ_ONCE() by the packet path
 * @arp_targets: what the ARP/NS monitor listens for, NULL while it is off;
 *	RTNL to write, RCU to read
 * @params: the options; its first member is the mode (pinned)
 * @slaves: struct slave in the order they were enslaved; RTNL to write, RCU to
 *	read
 * @slave_cnt: length of @slaves
 * @primary: the enslaved primary slave or NULL
 * @force_primary: the primary becomes active when it can, whatever
 *	primary_reselect says
 * @dirty: enum bond_dirty bits, atomic
 * @array_lock: guards the writing of @usable and @all
 * @array_drops: counts the slaves that were taken out of @usable at once
 * @wq: one ordered queue for all works of this bond
 * @apply_work: runs bond_apply() for those who cannot take RTNL
 * @mii_work: the MII monitor
 * @arp_work: the ARP/NS monitor
 * @arp: its state
 * @peers_work: gratuitous ARP and unsolicited NA
 * @igmp_work: IGMP/MLD rejoin
 * @peers_left: NETDEV_NOTIFY_PEERS still to send; RTNL
 * @igmp_left: NETDEV_RESEND_IGMP still to send; RTNL
 * @stats_lock: guards @stats and the slaves' stats
 * @stats: totals shown to users, they never go backwards
 * @node: in struct bond_net, RTNL
 * @proc_entry: this bond's file in /proc/net/bonding
 * @debug_dir: this bond's debugfs directory
 * @mode_ready: ops->init() has been called (by ndo_init or a mode change);
 *	before that a mode change only sets @ops
 * @notifier_busy: guards against feature recomputation calling itself
 * @header_ops: for a bond of other than Ethernet devices, see bond_type.c
 */
struct bonding {
	union {
		struct {
			struct net_device *dev;
			struct slave __rcu *curr_active_slave;
			const struct bond_mode_ops *ops;
			bond_pick_fn *pick;
			struct bpf_prog *xdp_prog;
			bond_pick_fn *xdp_pick;
			struct bond_slave_array __rcu *usable;
			struct bond_slave_array __rcu *all;
			void __percpu *mode_pcpu;
			void *mode_priv;
			struct bond_pcpu __percpu *pcpu;
			u32 tx_special;
			struct bond_arp_targets __rcu *arp_targets;
		};
		u8 abi_head[BOND_ABI_PARAMS_MODE];
	};
	struct bond_params params;

	struct list_head slaves;
	unsigned int slave_cnt;
	struct slave __rcu *primary;
	bool force_primary;
	unsigned long dirty;
	spinlock_t array_lock;	/* for writing usable and all */
	u32 array_drops;

	struct workqueue_struct *wq;
	struct delayed_work apply_work;
	struct delayed_work mii_work;
	struct delayed_work arp_work;
	struct bond_arp arp;
	struct delayed_work peers_work;
	struct delayed_work igmp_work;
	u32 peers_left;
	u32 igmp_left;

	spinlock_t stats_lock;	/* guards stats and the slaves' stats */
	struct rtnl_link_stats64 stats;
	struct lock_class_key stats_lock_key;

	struct list_head node;
	struct proc_dir_entry *proc_entry;
	struct dentry *debug_dir;
	bool mode_ready;
	bool notifier_busy;
	struct header_ops header_ops;
};

static_assert(offsetof(struct bonding, dev) == BOND_ABI_DEV);
static_assert(offsetof(struct bonding, curr_active_slave) ==
	      BOND_ABI_CURR_ACTIVE_SLAVE);
static_assert(offsetof(struct bonding, params.mode) == BOND_ABI_PARAMS_MODE);
static_assert(sizeof_field(struct bonding, params.mode) == sizeof(int));

/*
 * The two bits of struct slave that other modules read are bit-fields in their
 * eyes; one byte written with WRITE_ONCE() gives the packet path the same bits
 * without a data race.  A compiler fills bit-fields from the end that the
 * machine's byte order names.
 */
#if defined(__LITTLE_ENDIAN_BITFIELD)
#define BOND_SLAVE_BACKUP	0x01
#define BOND_SLAVE_INACTIVE	0x02
#else
#define BOND_SLAVE_BACKUP	0x80
#define BOND_SLAVE_INACTIVE	0x40
#endif

/**
 * struct slave - one enslaved device; the rx_handler_data of that device
 *
 * @dev: the device (pinned)
 * @bond: its bond (pinned)
 * @list: in bond->slaves
 * @mode_priv: data of the mode
 * @pcpu: counters
 * @queue_id: transmit queue that is steered to this slave, 0 for none
 * @prio: higher wins among slaves that could become active
 * @actor_port_prio: priority of the slave's LACP port; modes that speak LACP
 *	read it in their params_changed hook
 * @link: BOND_LINK_*; RTNL to write, READ_ONCE() elsewhere (pinned)
 * @link_new_state: what others may take for a proposal of the monitor; always
 *	BOND_LINK_NOCHANGE, states are worked out and set in one go (pinned)
 * @abi_bits: BOND_SLAVE_BACKUP and BOND_SLAVE_INACTIVE; RTNL to write (pinned)
 * @lower_link_up: link_up as last told with NETDEV_CHANGELOWERSTATE
 * @lower_tx_enabled: tx_enabled as last told
 * @info_dirty: state has changed since it was last told
 * @deadline: jiffies when updelay or downdelay has passed; monitor and RTNL
 * @link_failure_count: saturating
 * @speed: Mbit/s, SPEED_UNKNOWN when not known; RTNL, READ_ONCE() elsewhere
 * @duplex: DUPLEX_*
 * @last_link_up: jiffies of the last change to BOND_LINK_UP
 * @arp: what the ARP/NS monitor knows of it
 * @perm_hwaddr: MAC address at the time of enslavement
 * @perm_len: its length
 * @orig_mtu: MTU at that time
 * @orig_addr_type: dev->addr_assign_type at that time
 * @undo_mtu: MTU before the change of the bond's MTU that is under way
 * @undo_addr: MAC address before the change of the bond's that is under way
 * @undo_addr_type: its dev->addr_assign_type
 * @stats: the device's counters when they were last added to the bond's
 * @kobj: `bonding_slave` below the device; owns the memory
 * @kobj_live: @kobj has been added
 * @info_work: sends NETDEV_BONDING_INFO
 * @np: netpoll of this slave, RCU
 * @rcu: frees it
 */
struct slave {
	union {
		struct {
			struct net_device *dev;
			struct bonding *bond;
			struct list_head list;
			void *mode_priv;
			struct bond_slave_pcpu __percpu *pcpu;
			u16 queue_id;
			u16 actor_port_prio;
			s32 prio;
		};
		u8 abi_head[BOND_ABI_SLAVE_LINK];
	};
	u8 link;
	u8 link_new_state;
	u8 abi_bits;
	u8 lower_link_up:1,
	   lower_tx_enabled:1,
	   info_dirty:1,
	   kobj_live:1;

	unsigned long deadline;
	u32 link_failure_count;
	u32 speed;
	u8 duplex;
	unsigned long last_link_up;
	struct bond_arp_slave arp;

	u8 perm_hwaddr[MAX_ADDR_LEN];
	u8 perm_len;
	u32 orig_mtu;
	u8 orig_addr_type;
	u8 undo_addr_type;
	u8 undo_addr[MAX_ADDR_LEN];
	u32 undo_mtu;

	struct rtnl_link_stats64 stats;
	struct kobject kobj;
	struct delayed_work info_work;
	struct netpoll *np;
	struct rcu_head rcu;
};

static_assert(offsetof(struct slave, dev) == BOND_ABI_SLAVE_DEV);
static_assert(offsetof(struct slave, bond) == BOND_ABI_SLAVE_BOND);
static_assert(offsetof(struct slave, link) == BOND_ABI_SLAVE_LINK);
static_assert(offsetof(struct slave, link_new_state) ==
	      BOND_ABI_SLAVE_LINK_NEW_STATE);
static_assert(offsetof(struct slave, abi_bits) ==
	      BOND_ABI_SLAVE_LINK_NEW_STATE + 1);

#define BOND_LINK_NOCHANGE	0xff	/* slave->link_new_state */

/**
 * struct bond_net - what the driver keeps per network namespace
 * @net: the namespace
 * @bonds: struct bonding in the order of creation; RTNL
 * @proc_dir: /proc/net/bonding
 * @masters: the class file bonding_masters
 * @masters_live: that file has been made
 */
struct bond_net {
	struct net *net;
	struct list_head bonds;
	struct proc_dir_entry *proc_dir;
	struct class_attribute masters;
	bool masters_live;
};

extern unsigned int bond_net_id;
extern const struct net_device_ops bond_netdev_ops;

/* --- walking slaves --- */

#define bond_for_each_slave(bond, slave) \
	list_for_each_entry(slave, &(bond)->slaves, list)
#define bond_for_each_slave_rcu(bond, slave) \
	list_for_each_entry_rcu(slave, &(bond)->slaves, list)

/**
 * bond_has_slaves() - is anything enslaved?
 * @bond: the bond
 *
 * Context: RTNL for an answer that holds, any for a hint.
 */
static inline bool bond_has_slaves(const struct bonding *bond)
{
	return READ_ONCE(bond->slave_cnt);
}

/**
 * bond_slave_by_dev() - the slave that a device is on this bond
 * @bond: the bond
 * @dev: a device
 *
 * Context: RTNL.
 * Return: the slave, or NULL when @dev is not enslaved to @bond.
 */
static inline struct slave *bond_slave_by_dev(const struct bonding *bond,
					      const struct net_device *dev)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (slave->dev == dev)
			return slave;
	return NULL;
}

/* The slave that a device is, whatever the bond; NULL when it is none. */
static inline struct slave *bond_slave_get_rcu(const struct net_device *dev)
{
	return rcu_dereference(dev->rx_handler_data);
}

static inline struct slave *bond_slave_get_rtnl(const struct net_device *dev)
{
	return rtnl_dereference(dev->rx_handler_data);
}

/**
 * bond_active_rcu() - the active slave, for the packet path
 * @bond: the bond
 *
 * Context: RCU, or BH off.
 * Return: the active slave or NULL.
 */
static inline struct slave *bond_active_rcu(const struct bonding *bond)
{
	return rcu_dereference_check(bond->curr_active_slave,
				     rcu_read_lock_bh_held());
}

/**
 * bond_active_rtnl() - the active slave
 * @bond: the bond
 *
 * Context: RTNL.
 * Return: the active slave or NULL.
 */
static inline struct slave *bond_active_rtnl(const struct bonding *bond)
{
	return rtnl_dereference(bond->curr_active_slave);
}

/**
 * bond_primary_rtnl() - the slave that option primary names
 * @bond: the bond
 *
 * Context: RTNL.
 * Return: the slave, or NULL when it is no slave, or none is named.
 */
static inline struct slave *bond_primary_rtnl(const struct bonding *bond)
{
	return rtnl_dereference(bond->primary);
}

/* --- state of a slave --- */

static inline bool bond_slave_is_backup(const struct slave *slave)
{
	return READ_ONCE(slave->abi_bits) & BOND_SLAVE_BACKUP;
}

static inline bool bond_slave_is_inactive(const struct slave *slave)
{
	return READ_ONCE(slave->abi_bits) & BOND_SLAVE_INACTIVE;
}

/**
 * bond_dev_is_up() - could frames leave by this device?
 * @dev: a slave's device
 *
 * Context: any.
 */
static inline bool bond_dev_is_up(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/**
 * bond_slave_is_up() - device running with carrier and link state UP?
 * @slave: the slave
 *
 * Context: RTNL or RCU.
 */
static inline bool bond_slave_is_up(const struct slave *slave)
{
	return bond_dev_is_up(slave->dev) &&
	       READ_ONCE(slave->link) == BOND_LINK_UP;
}

/**
 * bond_slave_can_tx() - up, and not a backup slave?
 * @slave: the slave
 *
 * Context: RTNL or RCU.
 */
static inline bool bond_slave_can_tx(const struct slave *slave)
{
	return bond_slave_is_up(slave) && !bond_slave_is_backup(slave);
}

/* --- small services --- */

static inline struct bond_net *bond_net_of(const struct net *net)
{
	return net_generic(net, bond_net_id);
}

static inline bool bond_dev_is_bond(const struct net_device *dev)
{
	return dev->netdev_ops == &bond_netdev_ops;
}

/**
 * bond_drop_count() - count a frame that went nowhere
 * @bond: the bond that dropped it
 * @why: the reason
 *
 * Context: any, packet path included.
 */
static inline void bond_drop_count(const struct bonding *bond,
				   enum bond_drop why)
{
	this_cpu_inc(bond->pcpu->drop[why]);
}

/**
 * bond_xdp_count() - count XDP frames of a slave
 * @slave: the slave
 * @what: what became of them
 * @n: how many
 *
 * Context: RCU and BH off.
 */
static inline void bond_xdp_count(const struct slave *slave,
				  enum bond_xdp_count what, u64 n)
{
	this_cpu_add(slave->pcpu->xdp[what], n);
}

#define bond_info(bond, fmt, ...) \
	netdev_info((bond)->dev, fmt, ##__VA_ARGS__)
#define bond_warn(bond, fmt, ...) \
	netdev_warn((bond)->dev, fmt, ##__VA_ARGS__)
#define bond_dbg(bond, fmt, ...) \
	netdev_dbg((bond)->dev, fmt, ##__VA_ARGS__)
#define bond_slave_info(bond, slave_dev, fmt, ...) \
	netdev_info((bond)->dev, "slave %s: " fmt, (slave_dev)->name, \
		    ##__VA_ARGS__)
#define bond_slave_warn(bond, slave_dev, fmt, ...) \
	netdev_warn((bond)->dev, "slave %s: " fmt, (slave_dev)->name, \
		    ##__VA_ARGS__)

#endif /* _BOND_H */
