// SPDX-License-Identifier: GPL-2.0
/*
 * What a bond offers of its slaves' abilities: offload features, room for
 * headers, limits of segmentation.
 *
 * RTNL.  Worked out again when a slave comes, goes or changes.
 */
#include <linux/if_arp.h>

#include "bond_core.h"

/* What a bond can do whatever its slaves are: the stack helps them out. */
#define BOND_SOFT_FEATURES						\
	(NETIF_F_HW_CSUM | NETIF_F_SG | NETIF_F_FRAGLIST |		\
	 NETIF_F_GSO_SOFTWARE | NETIF_F_GSO_ENCAP_ALL |			\
	 NETIF_F_HIGHDMA | NETIF_F_LRO)

#define BOND_VLAN_FEATURES						\
	(NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_CTAG_FILTER |	\
	 NETIF_F_HW_VLAN_STAG_RX | NETIF_F_HW_VLAN_STAG_FILTER)

void bond_features_init(struct net_device *bond_dev)
{
	bond_dev->hw_features = BOND_SOFT_FEATURES | BOND_VLAN_FEATURES;
	bond_dev->features |= bond_dev->hw_features | BOND_PARTIAL_FEATURES |
			      NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX;
}

/*
 * A feature that one slave is enough for starts as off, one that all slaves
 * must have starts as on.
 */
netdev_features_t bond_fix_features(struct net_device *dev,
				    netdev_features_t features)
{
	struct bonding *bond = netdev_priv(dev);
	netdev_features_t mask = features;
	struct slave *slave;

	features &= ~NETIF_F_ONE_FOR_ALL;
	features |= NETIF_F_ALL_FOR_ALL;
	bond_for_each_slave(bond, slave)
		features = netdev_increment_features(features,
						     slave->dev->features,
						     mask);
	return netdev_add_tso_features(features, mask);
}

/* For a bond whose least room is not that of Ethernet. */
static void bond_headroom_update(struct bonding *bond)
{
	struct net_device *dev = bond->dev;
	unsigned short headroom = 0;
	unsigned short tailroom = 0;
	struct slave *slave;

	bond_for_each_slave(bond, slave) {
		dev->hard_header_len = max(dev->hard_header_len,
					   slave->dev->hard_header_len);
		headroom = max(headroom, slave->dev->needed_headroom);
		tailroom = max(tailroom, slave->dev->needed_tailroom);
	}
	dev->needed_headroom = headroom;
	dev->needed_tailroom = tailroom;
}

void bond_features_update(struct bonding *bond)
{
	bool ether = bond->dev->type == ARPHRD_ETHER;

	ASSERT_RTNL();
	/* a slave whose features follow from the bond's comes back to us */
	if (bond->notifier_busy || bond->dev->reg_state != NETREG_REGISTERED)
		return;
	bond->notifier_busy = true;
	if (!ether)
		bond_headroom_update(bond);
	bond_compat_upper_features(bond->dev, ether);
	bond->notifier_busy = false;
}
