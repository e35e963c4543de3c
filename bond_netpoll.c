// SPDX-License-Identifier: GPL-2.0
/*
 * netpoll on a bond: consoles that log by UDP, kgdb over Ethernet.
 *
 * A bond that has netpoll gives each of its slaves one of its own (slave->np).
 * Set and cleared under RTNL by the netpoll core (setup, cleanup) and by the
 * enslave path; read under RCU by the packet path, which looks at it only while
 * BOND_TX_NETPOLL is set.
 */
#include <linux/netpoll.h>
#include <linux/slab.h>

#include "bond_core.h"

static int bond_netpoll_slave_enable(struct slave *slave)
{
	struct netpoll *np;
	int err;

	np = kzalloc(sizeof(*np), GFP_KERNEL);
	if (!np)
		return -ENOMEM;
	err = __netpoll_setup(np, slave->dev);
	if (err) {
		kfree(np);
		return err;
	}
	WRITE_ONCE(slave->np, np);
	return 0;
}

static void bond_netpoll_slave_disable(struct slave *slave)
{
	struct netpoll *np = slave->np;

	if (!np)
		return;
	WRITE_ONCE(slave->np, NULL);
	/* waits for those who still send by it */
	__netpoll_free(np);
}

int bond_netpoll_slave_add(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	if (!rtnl_dereference(bond->dev->npinfo))
		return 0;
	if (bond_netpoll_slave_enable(slave))
		return -EBUSY;
	bond_xmit_special_update(bond);
	return 0;
}

void bond_netpoll_slave_del(struct slave *slave)
{
	bond_netpoll_slave_disable(slave);
	bond_xmit_special_update(slave->bond);
}

int bond_netpoll_enable(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		err = bond_netpoll_slave_enable(slave);
		if (err)
			goto err_disable;
	}
	bond_xmit_special_update(bond);
	return 0;

err_disable:
	bond_for_each_slave(bond, slave)
		bond_netpoll_slave_disable(slave);
	return err;
}

void bond_netpoll_cleanup(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		bond_netpoll_slave_disable(slave);
	bond_xmit_special_update(bond);
}

void bond_netpoll_poll(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	rcu_read_lock();
	bond_for_each_slave_rcu(bond, slave)
		if (bond_dev_is_up(slave->dev))
			netpoll_poll_dev(slave->dev);
	rcu_read_unlock();
}

netdev_tx_t bond_netpoll_send(struct slave *slave, struct sk_buff *skb)
{
	return netpoll_send_skb(READ_ONCE(slave->np), skb);
}
