// SPDX-License-Identifier: GPL-2.0
/*
 * The link type of a bond: that of its slaves.
 *
 * A bond is born an Ethernet device.  Its first slave may make it another, with
 * another kind of address and of link-layer header.  Those headers are made and
 * read by the slave's own code, always called with the slave's device: it may
 * look into its private data.
 *
 * Types change under RTNL while the bond has no slaves; header functions run
 * under RCU or in the packet path.
 */
#include <linux/if_arp.h>
#include <net/neighbour.h>

#include "bond_enslave.h"

/* --- headers --- */

static int bond_header_create(struct sk_buff *skb, struct net_device *dev,
			      unsigned short type, const void *daddr,
			      const void *saddr, unsigned int len)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;
	int ret = -ENETDOWN;

	rcu_read_lock();
	slave = rcu_dereference(bond->curr_active_slave);
	if (slave)
		ret = dev_hard_header(skb, slave->dev, type, daddr, saddr, len);
	rcu_read_unlock();
	return ret;
}

/*
 * The device that frames are of, below bonds on bonds.  The functions of a bond
 * below would be told the skb's device only, and ask that one for ever.
 */
static const struct net_device *
bond_header_dev(const struct net_device *dev)
{
	const struct bonding *bond;
	const struct slave *slave;

	do {
		bond = netdev_priv(dev);
		slave = rcu_dereference(bond->curr_active_slave);
		if (!slave)
			return NULL;
		dev = slave->dev;
	} while (bond_dev_is_bond(dev));
	return dev;
}

/* Called by bond_header_parse(), whose arguments depend on the kernel. */
int bond_header_parse_dev(const struct sk_buff *skb,
			  const struct net_device *dev, unsigned char *haddr)
{
	const struct header_ops *ops;
	int ret = 0;

	rcu_read_lock();
	dev = bond_header_dev(dev);
	ops = dev ? dev->header_ops : NULL;
	if (ops && ops->parse)
		ret = bond_compat_header_parse(ops, skb, dev, haddr);
	rcu_read_unlock();
	return ret;
}

static __be16 bond_header_protocol(const struct sk_buff *skb)
{
	const struct net_device *dev;
	const struct header_ops *ops;
	__be16 ret = 0;

	rcu_read_lock();
	dev = bond_header_dev(skb->dev);
	ops = dev ? dev->header_ops : NULL;
	if (ops && ops->parse_protocol)
		ret = ops->parse_protocol(skb);
	rcu_read_unlock();
	return ret;
}

/*
 * Who uses a device tells by the functions that are there what it is like, so
 * the bond has those that the slave has.
 */
static void bond_header_take(struct bonding *bond, const struct net_device *dev)
{
	const struct header_ops *ops = dev->header_ops;

	bond->dev->header_ops = NULL;
	if (!ops)
		return;
	bond->header_ops = (struct header_ops){
		.create = ops->create ? bond_header_create : NULL,
		.parse = ops->parse ? bond_header_parse : NULL,
		.parse_protocol = ops->parse_protocol ?
				  bond_header_protocol : NULL,
	};
	bond->dev->header_ops = &bond->header_ops;
}

/* --- changing it --- */

#define BOND_TYPE_FLAGS \
	(IFF_BROADCAST | IFF_MULTICAST | IFF_POINTOPOINT | IFF_NOARP)

/* Who was asked before somebody refused has to hear that it is over, too. */
int bond_type_ask(struct bonding *bond)
{
	int err;

	err = call_netdevice_notifiers(NETDEV_PRE_TYPE_CHANGE, bond->dev);
	if (!notifier_to_errno(err))
		return 0;
	bond_type_told(bond);
	return -EBUSY;
}

void bond_type_told(struct bonding *bond)
{
	call_netdevice_notifiers(NETDEV_POST_TYPE_CHANGE, bond->dev);
}

/* What the user chose for the bond is kept. */
static void bond_type_ether(struct net_device *bond_dev)
{
	unsigned int flags = bond_dev->flags & ~BOND_TYPE_FLAGS;
	unsigned int queue_len = bond_dev->tx_queue_len;
	unsigned int mtu = bond_dev->mtu;

	bond_ether_setup(bond_dev);
	bond_dev->flags |= flags;
	bond_dev->tx_queue_len = queue_len;
	WRITE_ONCE(bond_dev->mtu, mtu);
}

static void bond_type_other(struct bonding *bond, const struct net_device *dev)
{
	struct net_device *bond_dev = bond->dev;

	bond_header_take(bond, dev);
	bond_dev->type = dev->type;
	bond_dev->addr_len = dev->addr_len;
	bond_dev->hard_header_len = dev->hard_header_len;
	bond_dev->needed_headroom = dev->needed_headroom;
	bond_dev->needed_tailroom = dev->needed_tailroom;
	memcpy(bond_dev->broadcast, dev->broadcast, dev->addr_len);
	bond_dev->flags &= ~BOND_TYPE_FLAGS;
	/* of other kinds a loopback device has none, but the bond is none */
	if (dev->flags & IFF_POINTOPOINT)
		bond_dev->flags |= dev->flags & BOND_TYPE_FLAGS;
	else
		bond_dev->flags |= IFF_BROADCAST | IFF_MULTICAST;
}

void bond_type_take(struct bonding *bond, const struct net_device *dev)
{
	ASSERT_RTNL();
	dev_uc_flush(bond->dev);
	dev_mc_flush(bond->dev);
	if (dev->type == ARPHRD_ETHER)
		bond_type_ether(bond->dev);
	else
		bond_type_other(bond, dev);
}

/* --- neighbours --- */

/* The device below a bond, or below the bond that is its slave. RCU. */
static struct net_device *bond_bottom(struct net_device *dev)
{
	struct bonding *bond;
	struct slave *slave;

	while (dev && bond_dev_is_bond(dev)) {
		bond = netdev_priv(dev);
		slave = list_first_or_null_rcu(&bond->slaves, struct slave,
					       list);
		dev = slave ? slave->dev : NULL;
	}
	return dev;
}

/*
 * A new neighbour on the bond is set up as it would be on the slave.  Slaves
 * come and go after the parameters were made, so the slave is asked each time.
 */
static int bond_neigh_init(struct neighbour *n)
{
	struct neigh_parms parms = { .tbl = n->tbl };
	int ret = 0;

	rcu_read_lock();
	parms.dev = bond_bottom(n->dev);
	if (parms.dev && parms.dev->netdev_ops->ndo_neigh_setup)
		ret = parms.dev->netdev_ops->ndo_neigh_setup(parms.dev, &parms);
	if (!ret && parms.neigh_setup)
		ret = parms.neigh_setup(n);
	rcu_read_unlock();
	return ret;
}

int bond_neigh_setup(struct net_device *dev, struct neigh_parms *parms)
{
	/* upper devices pass theirs on to us, their neighbours are not ours */
	if (parms->dev == dev)
		parms->neigh_setup = bond_neigh_init;
	return 0;
}
