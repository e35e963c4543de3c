/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How users look at bonds and set them: netlink, sysfs, procfs, ioctls,
 * ethtool, debugfs.
 *
 * Layer 5: translates, never decides.
 */
#ifndef _BOND_SURFACES_H
#define _BOND_SURFACES_H

#include <linux/ethtool.h>

#include "bond_options.h"

/* bond_netlink.c */
extern struct rtnl_link_ops bond_link_ops;

/* bond_sysfs.c */
extern const struct attribute_group bond_sysfs_group;	/* "bonding" */
int bond_sysfs_net_init(struct bond_net *bn);		/* bonding_masters */
void bond_sysfs_net_exit(struct bond_net *bn);

/* Tell users that options were set by another way than netlink.  RTNL. */
void bond_options_notify(struct bonding *bond);

/* Log a refusal for those who get no more than a number back. */
void bond_refusal_log(const struct bonding *bond,
		      const struct netlink_ext_ack *extack);

/* bond_procfs.c; RTNL */
void bond_proc_net_init(struct bond_net *bn);
void bond_proc_net_exit(struct bond_net *bn);
void bond_proc_add(struct bonding *bond);
void bond_proc_del(struct bonding *bond);

/* bond_debugfs.c; RTNL, which exit takes itself */
void bond_debugfs_init(void);
void bond_debugfs_exit(void);
void bond_debugfs_add(struct bonding *bond);
void bond_debugfs_del(struct bonding *bond);
void bond_debugfs_rename(struct bonding *bond);

/* bond_ioctl.c */
int bond_eth_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd);
int bond_siocbond(struct net_device *dev, struct ifreq *ifr, int cmd);
int bond_siocdevprivate(struct net_device *dev, struct ifreq *ifr,
			void __user *data, int cmd);

/* bond_ethtool.c */
extern const struct ethtool_ops bond_ethtool_ops;
int bond_hwtstamp_get(struct net_device *dev,
		      struct bond_hwtstamp_config *config);
int bond_hwtstamp_set(struct net_device *dev,
		      struct bond_hwtstamp_config *config,
		      struct netlink_ext_ack *extack);

/* Names of the drop counters, and what all CPUs have counted.  Any context. */
extern const char bond_drop_names[BOND_DROP_MAX][ETH_GSTRING_LEN];
u64 bond_drop_sum(const struct bonding *bond, enum bond_drop why);

/* Link state in words: "up", "going down", "down", "going back", "unknown". */
const char *bond_link_name(u8 link);

#endif /* _BOND_SURFACES_H */
