/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files around enslave and release share: the enslavement that is
 * under way, and the parts of it that release undoes.
 *
 * Layer 3, private to bond_enslave.c, bond_enslave_checks.c, bond_release.c,
 * bond_type.c and bond_addr.c.
 */
#ifndef _BOND_ENSLAVE_H
#define _BOND_ENSLAVE_H

#include "bond_core.h"

/**
 * struct bond_enslave - one enslavement under way
 * @bond: the bond
 * @dev: the device that is to become a slave
 * @slave: it as a slave, from its allocation on
 * @extack: receives the reason of a refusal
 * @new_type: the bond will take over the link type of @dev
 * @inherit: the bond will take over the MAC address of @dev
 * @fom_active: fail_over_mac will be set to active because @dev keeps its MAC
 *	address
 * @old_fom: fail_over_mac as it was
 */
struct bond_enslave {
	struct bonding *bond;
	struct net_device *dev;
	struct slave *slave;
	struct netlink_ext_ack *extack;
	bool new_type;
	bool inherit;
	bool fom_active;
	u32 old_fom;
};

/**
 * bond_enslave_why() - say why an enslavement fails, unless somebody did
 * @e: the enslavement
 * @fmt: printf format, no newline; there is room for about 45 characters
 */
#define bond_enslave_why(e, fmt, ...)					\
do {									\
	const struct bond_enslave *__e = (e);				\
									\
	if (__e->extack && !__e->extack->_msg)				\
		bond_extack(__e->extack, "slave %s: " fmt,		\
			    __e->dev->name, ##__VA_ARGS__);		\
} while (0)

/**
 * bond_enslave_check() - may the device become a slave of the bond?
 * @e: bond, dev and extack are set; receives new_type, inherit, fom_active
 *
 * Changes nothing of bond and device.
 *
 * Context: RTNL.
 * Return: 0 or the errno of the first check that refuses.
 */
int bond_enslave_check(struct bond_enslave *e);

/**
 * bond_slave_detach() - take a slave out of the bond's work
 * @slave: the slave
 *
 * Traffic goes to the slaves that are left when this returns; readers may still
 * see the slave until a grace period has passed.
 *
 * Context: RTNL, may sleep.
 */
void bond_slave_detach(struct slave *slave);

/**
 * bond_slave_mac_restore() - give a slave its own MAC address back
 * @slave: the slave
 *
 * Context: RTNL, may sleep.
 */
void bond_slave_mac_restore(struct slave *slave);

/* Clear IFF_BONDING of a device that is no slave any more.  RTNL. */
void bond_dev_flag_clear(struct net_device *dev);

/* --- bond_type.c --- */

/**
 * bond_type_ask() - may the bond's link type change?
 * @bond: the bond
 *
 * Context: RTNL.
 * Return: 0, or -EBUSY when an upper device depends on the type.
 */
int bond_type_ask(struct bonding *bond);

/* What listeners did in answer to bond_type_ask() is undone.  RTNL. */
void bond_type_told(struct bonding *bond);

/**
 * bond_type_take() - give the bond the link type of its first slave
 * @bond: the bond
 * @dev: the slave's device
 *
 * Address lists are emptied: their entries are of the old type.  The caller
 * sets the MAC address and calls bond_type_told().
 *
 * Context: RTNL; the bond has no other slave.
 */
void bond_type_take(struct bonding *bond, const struct net_device *dev);

/* --- bond_addr.c --- */

/**
 * bond_rx_mode_give() - give a slave what the bond asks of every slave
 * @bond: the bond
 * @dev: the slave's device
 *
 * Promiscuity, allmulti and address lists; nothing in modes in which only the
 * active slave has them.
 *
 * Context: RTNL.
 * Return: 0 or a negative errno, nothing has changed then.
 */
int bond_rx_mode_give(struct bonding *bond, struct net_device *dev);

/* Undo bond_rx_mode_give().  RTNL. */
void bond_rx_mode_take(struct bonding *bond, struct net_device *dev);

#endif /* _BOND_ENSLAVE_H */
