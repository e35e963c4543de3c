/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The services between the modes and the outside: link state, monitors, the
 * active slave, enslavement, features, events, transmit and receive.
 *
 * Layer 3: calls the modes only through bond->ops.
 */
#ifndef _BOND_CORE_H
#define _BOND_CORE_H

#include "bond_hash.h"
#include "bond_slaves.h"
#include "bond_xmit.h"

/* --- bond_link.c: link state, and the one place where marks are worked off */

/**
 * bond_apply() - work off what bond_mark() noted, in a fixed order
 * @bond: the bond
 *
 * Active slave, arrays, carrier, lower state, notifications: traffic is moved
 * before anybody is told of it.  Returns with no mark left.
 *
 * Context: RTNL, may sleep.
 */
void bond_apply(struct bonding *bond);

/* The work function behind bond_apply_later(). */
void bond_apply_work(struct work_struct *work);

/**
 * bond_link_carrier_event() - a slave's carrier or running state changed
 * @slave: the slave
 *
 * With the MII monitor on, the change is taken over at once (or its updelay or
 * downdelay starts now); in any case the arrays are looked at again.
 *
 * Context: RTNL.
 */
void bond_link_carrier_event(struct slave *slave);

/**
 * bond_link_initial() - the link state of a slave that has just been opened
 * @slave: the slave
 *
 * Context: RTNL, during enslavement.
 */
void bond_link_initial(struct slave *slave);

/**
 * bond_links_pending() - has a slave's link state to change?
 * @bond: the bond
 *
 * Looks and changes nothing, so that the monitor needs RTNL only when there is
 * something to do.
 *
 * Context: RCU or RTNL.
 */
bool bond_links_pending(const struct bonding *bond);

/**
 * bond_links_commit() - bring all link states up to date
 * @bond: the bond
 *
 * Context: RTNL, may sleep; calls bond_apply().
 */
void bond_links_commit(struct bonding *bond);

/**
 * bond_links_next_deadline() - when the next updelay or downdelay ends
 * @bond: the bond
 * @limit: jiffies from now that are soon enough in any case
 *
 * Context: RCU or RTNL.
 * Return: jiffies from now, at least 1, at most @limit.
 */
unsigned long bond_links_next_deadline(const struct bonding *bond,
				       unsigned long limit);

/**
 * bond_link_set() - give a slave's link another state, and tell
 * @bond: the bond
 * @slave: the slave
 * @link: BOND_LINK_*
 *
 * Logs it and calls the mode's hook; the caller works the marks off.
 *
 * Context: RTNL.
 */
void bond_link_set(struct bonding *bond, struct slave *slave, u8 link);

/**
 * bond_slave_read_speed() - ask the device for its speed and duplex
 * @slave: the slave
 *
 * Context: RTNL; legal in a notifier of an ops-locked device.
 * Return: true when one of them changed (the mode's hook has been called).
 */
bool bond_slave_read_speed(struct slave *slave);

/* --- bond_miimon.c, monitors --- */

/**
 * bond_monitors_start() - start or stop the monitors as the options say
 * @bond: the bond
 *
 * Safe to call at any time, does nothing while the bond is down.
 *
 * Context: RTNL.
 */
void bond_monitors_start(struct bonding *bond);

/**
 * bond_monitors_stop() - stop all monitors and wait for them
 * @bond: the bond
 *
 * Context: RTNL (the works never wait for RTNL).
 */
void bond_monitors_stop(struct bonding *bond);

/* Set up the works of a new bond. */
void bond_miimon_init(struct bonding *bond);

/* Have the MII monitor look again after @delay jiffies, if it is on. */
void bond_miimon_kick(struct bonding *bond, unsigned long delay);

/* --- bond_arpmon.c, bond_arp_rx.c: the ARP/NS monitor --- */

/* Set up the work of a new bond. */
void bond_arpmon_init(struct bonding *bond);

/**
 * bond_arpmon_start() - start the ARP/NS monitor if the options ask for it
 * @bond: a bond that is up, whose monitor is stopped
 *
 * Takes over the targets as they are set now.  Slaves get a new start only when
 * the targets have changed, and probes keep their pace.
 *
 * Context: RTNL, may sleep.
 */
void bond_arpmon_start(struct bonding *bond);

/**
 * bond_arpmon_stop() - stop the ARP/NS monitor and wait for it
 * @bond: the bond
 *
 * When the bond is down it does not listen any more, either.
 *
 * Context: RTNL (the work never waits for RTNL).
 */
void bond_arpmon_stop(struct bonding *bond);

/**
 * bond_arpmon_carrier_event() - a slave's carrier or running state changed
 * @slave: the slave
 *
 * A device that cannot send needs no probes to be found dead; one that can has
 * to be heard first.  The caller works the marks off.
 *
 * Context: RTNL.
 */
void bond_arpmon_carrier_event(struct slave *slave);

/**
 * bond_arpmon_rx() - see whether a received frame is a sign of life
 * @bond: the bond
 * @slave: the slave that received it
 * @skb: the frame; only looked at
 *
 * Only worth calling when bond->arp_targets is set.
 *
 * Context: RCU, packet path.
 */
void bond_arpmon_rx(struct bonding *bond, struct slave *slave,
		    const struct sk_buff *skb);

/**
 * bond_arpmon_active_changed() - bond->curr_active_slave has just changed
 * @bond: the bond
 *
 * Who finds the new number finds the new slave, too.
 *
 * Context: RTNL.
 */
static inline void bond_arpmon_active_changed(struct bonding *bond)
{
	/* after the slave: readers take the number first */
	smp_store_release(&bond->arp.active_seq, bond->arp.active_seq + 1);
}

/* --- bond_arp_ns.c: what only IPv6 needs --- */

#if IS_ENABLED(CONFIG_IPV6)
/**
 * bond_ns_joins_update() - have the slaves that should hear the active slave's
 *	neighbour solicitations accept their multicast addresses
 * @bond: the bond
 *
 * To be called when targets, arp_validate or a slave's role have changed.
 *
 * Context: RTNL.
 */
void bond_ns_joins_update(struct bonding *bond);

/* Take these addresses off a slave that leaves.  RTNL. */
void bond_ns_slave_del(struct slave *slave);
#else
static inline void bond_ns_joins_update(struct bonding *bond) { }
static inline void bond_ns_slave_del(struct slave *slave) { }
#endif

/* --- bond_active.c: the active slave --- */

/**
 * bond_active_select() - choose the active slave and change to it
 * @bond: the bond
 *
 * Context: RTNL, may sleep.
 */
void bond_active_select(struct bonding *bond);

/**
 * bond_active_change() - make a slave the active one
 * @bond: the bond
 * @new: the slave, or NULL for none
 *
 * Moves address lists, promiscuity and MAC addresses as the mode and
 * fail_over_mac ask, tells the network and the rest of the kernel.
 *
 * Context: RTNL, may sleep.
 */
void bond_active_change(struct bonding *bond, struct slave *new);

/*
 * The name of a primary was set, a slave came, or was renamed: look again.
 * Whether it takes over at once (force_primary) is up to the caller.  RTNL.
 */
void bond_primary_resolve(struct bonding *bond);

/* --- bond_macs.c: slaves that have MAC addresses of their own --- */

/**
 * bond_macs_follow() - give the active slave the bond's address
 * @bond: the bond
 * @new: the slave
 *
 * The slave that had it gets the address that has become free.  A device that
 * refuses is logged and keeps what it has.
 *
 * Context: RTNL, may sleep.
 */
void bond_macs_follow(struct bonding *bond, struct slave *new);

/**
 * bond_macs_change() - the bond is to have another address
 * @bond: the bond
 * @addr: the address
 *
 * The active slave gets it; a slave that had it already gets that of the active
 * slave.
 *
 * Context: RTNL, may sleep.
 * Return: 0, or a negative errno and nothing has changed.
 */
int bond_macs_change(struct bonding *bond, const u8 *addr);

/**
 * bond_macs_vacant() - an address that belongs to a slave and that none uses
 * @bond: the bond
 * @dev: a device that is about to become a slave or has just been one, may be
 *	NULL: its own address is not vacant
 *
 * Context: RTNL.
 * Return: the address, or NULL when there is none.
 */
const u8 *bond_macs_vacant(const struct bonding *bond,
			   const struct net_device *dev);

/**
 * bond_macs_taken() - does the bond or one of its slaves use an address?
 * @bond: the bond
 * @addr: the address
 *
 * Context: RTNL.
 */
bool bond_macs_taken(const struct bonding *bond, const u8 *addr);

/**
 * bond_macs_yield() - take an address off the slave that uses it
 * @bond: the bond
 * @addr: the address; that of the bond is not taken off
 *
 * A slave that leaves is to get its own address back, which another one has got
 * by a failover meanwhile.
 *
 * Context: RTNL, may sleep.
 */
void bond_macs_yield(struct bonding *bond, const u8 *addr);

/* --- bond_enslave.c --- */

/*
 * The type of slave->kobj, in bond_sysfs_slave.c: its default_groups are the
 * files of `bonding_slave`, its release frees the slave after a grace period.
 */
extern const struct kobj_type bond_slave_ktype;

/**
 * bond_enslave() - add a slave
 * @bond_dev: the bond
 * @slave_dev: the device
 * @extack: receives the reason of a refusal
 *
 * A failure leaves bond and device exactly as they were.
 *
 * Context: RTNL, may sleep.
 * Return: 0 or a negative errno; the checks are in the order that
 * Documentation/bonding.rst lists.
 */
int bond_enslave(struct net_device *bond_dev, struct net_device *slave_dev,
		 struct netlink_ext_ack *extack);

/**
 * bond_release() - remove a slave and give it back its MAC, MTU and flags
 * @bond_dev: the bond
 * @slave_dev: the device
 *
 * Context: RTNL, may sleep.
 * Return: 0, or -EINVAL when @slave_dev is not a slave of @bond_dev.
 */
int bond_release(struct net_device *bond_dev, struct net_device *slave_dev);

/**
 * bond_release_gone() - the same for a device that leaves the network namespace
 * @bond_dev: the bond
 * @slave_dev: the device
 *
 * It is being unregistered, or moved to another namespace: its MTU changes back
 * without notifications.  A bond of other than Ethernet devices is destroyed
 * with its last slave.
 *
 * Context: RTNL, may sleep.
 * Return: as bond_release().
 */
int bond_release_gone(struct net_device *bond_dev,
		      struct net_device *slave_dev);

/* --- bond_features.c --- */

/* Recompute features, headroom, TSO limits from the slaves. RTNL. */
void bond_features_update(struct bonding *bond);
netdev_features_t bond_fix_features(struct net_device *dev,
				    netdev_features_t features);
void bond_features_init(struct net_device *bond_dev);

/* --- bond_type.c --- */

int bond_neigh_setup(struct net_device *dev, struct neigh_parms *parms);

/* --- bond_addr.c --- */

int bond_vlan_rx_add_vid(struct net_device *dev, __be16 proto, u16 vid);
int bond_vlan_rx_kill_vid(struct net_device *dev, __be16 proto, u16 vid);
void bond_change_rx_flags(struct net_device *dev, int change);
void bond_set_rx_mode(struct net_device *dev);
int bond_change_mtu(struct net_device *dev, int mtu);
int bond_set_mac_address(struct net_device *dev, void *addr);

/* Take the bond's address lists off all slaves: it goes down.  RTNL. */
void bond_rx_mode_drop(struct bonding *bond);

/**
 * bond_rx_mode_move() - address lists, promiscuity, allmulti change slaves
 * @bond: the bond
 * @old: slave that had them, may be NULL
 * @new: slave that gets them, may be NULL
 *
 * For modes with BOND_CAP_UNLINKED_MCAST, where only the active slave has
 * them.
 *
 * Context: RTNL.
 */
void bond_rx_mode_move(struct bonding *bond, struct slave *old,
		       struct slave *new);

/* --- bond_notify.c --- */

int bond_notify_register(void);
void bond_notify_unregister(void);

/* Set up the works behind the announcements of a new bond. */
void bond_notify_init(struct bonding *bond);

/* Send NETDEV_NOTIFY_PEERS num_peer_notif times, the first at once. */
void bond_peers_notify(struct bonding *bond);

/* Have IGMP/MLD groups joined again resend_igmp times. */
void bond_igmp_resend(struct bonding *bond);

/* Stop both.  RTNL. */
void bond_notify_stop(struct bonding *bond);

/* Tell NETDEV_BONDING_INFO listeners about a slave, from its work. */
void bond_info_queue(struct slave *slave);
void bond_info_work(struct work_struct *work);

/* Fill the structs of the old ioctls and of NETDEV_BONDING_INFO.  RTNL. */
void bond_fill_ifbond(const struct bonding *bond, struct ifbond *info);
void bond_fill_ifslave(const struct slave *slave, struct ifslave *info);

/* Tell upper devices' drivers what changed of a slave's lower state.  RTNL. */
void bond_lower_state_notify(struct slave *slave);

/* --- bond_xmit.c, bond_rx.c --- */

netdev_tx_t bond_start_xmit(struct sk_buff *skb, struct net_device *dev);
u16 bond_select_queue(struct net_device *dev, struct sk_buff *skb,
		      struct net_device *sb_dev);
struct net_device *bond_get_xmit_slave(struct net_device *dev,
				       struct sk_buff *skb, bool all_slaves);
rx_handler_result_t bond_rx_handler(struct sk_buff **pskb);

/* Work out bond->tx_special again after a queue_id or netpoll change.  RTNL. */
void bond_xmit_special_update(struct bonding *bond);

/* --- bond_xdp.c, bond_xdp_frame.c: XDP --- */

int bond_bpf(struct net_device *dev, struct netdev_bpf *bpf);
int bond_xdp_xmit(struct net_device *dev, int n, struct xdp_frame **frames,
		  u32 flags);
struct net_device *bond_xdp_get_xmit_slave(struct net_device *dev,
					   struct xdp_buff *xdp);

/**
 * bond_xdp_obstacle() - why a device cannot run the XDP program of a bond
 * @dev: a slave's device, or one that is to become one
 *
 * Context: RTNL.
 * Return: NULL when it can, else the reason, for a refusal.
 */
const char *bond_xdp_obstacle(struct net_device *dev);

/**
 * bond_xdp_slave_add() - have a new slave run the bond's XDP program, if any
 * @slave: the slave
 * @extack: receives what its driver says
 *
 * Context: RTNL, may sleep.
 * Return: 0 or the driver's errno, nothing has changed then.
 */
int bond_xdp_slave_add(struct slave *slave, struct netlink_ext_ack *extack);

/* Undo bond_xdp_slave_add().  RTNL, may sleep. */
void bond_xdp_slave_del(struct slave *slave);

/**
 * bond_xdp_pick_update() - say how XDP_TX finds a slave
 * @dev: a device that went up or down, or became a slave or ceased to be one;
 *	anything that is not a bond is left alone
 *
 * Context: RTNL.
 */
void bond_xdp_pick_update(struct net_device *dev);

/**
 * bond_xdp_features_update() - offer of XDP what all slaves offer
 * @bond: the bond
 *
 * Does nothing on kernels whose devices do not say what they offer.
 *
 * Context: RTNL; legal in a notification of NETDEV_XDP_FEAT_CHANGE.
 */
void bond_xdp_features_update(struct bonding *bond);

/* --- bond_stats.c --- */

void bond_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats);

/* Take a slave's counters for its zero, before readers can find it.  RTNL. */
void bond_stats_slave_add(struct slave *slave);

/* Fold what a leaving slave has counted into the bond's totals.  RTNL. */
void bond_stats_slave_del(struct slave *slave);

/* --- bond_netpoll.c --- */

#ifdef CONFIG_NET_POLL_CONTROLLER
/* netpoll for a new slave of a bond that has it; -EBUSY when it cannot. */
int bond_netpoll_slave_add(struct slave *slave);
void bond_netpoll_slave_del(struct slave *slave);
int bond_netpoll_enable(struct net_device *dev);
void bond_netpoll_cleanup(struct net_device *dev);
void bond_netpoll_poll(struct net_device *dev);
#else
static inline int bond_netpoll_slave_add(struct slave *slave) { return 0; }
static inline void bond_netpoll_slave_del(struct slave *slave) { }
#endif

/* --- bond_main.c --- */

/**
 * bond_create() - make a bond in a namespace, as bonding_masters does
 * @net: the namespace
 * @name: its name, or NULL for the next free bond%d
 *
 * Context: takes RTNL.
 * Return: 0, -EEXIST or another negative errno.
 */
int bond_create(struct net *net, const char *name);

/* Set up a bond's net_device (rtnl_link_ops.setup, and bond_create()). */
void bond_setup(struct net_device *dev);

/* The part of bond_setup() that a change back to Ethernet repeats. */
void bond_ether_setup(struct net_device *dev);

#endif /* _BOND_CORE_H */
