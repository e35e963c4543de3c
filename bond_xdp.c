// SPDX-License-Identifier: GPL-2.0
/*
 * The XDP program of a bond: every slave runs it natively.
 *
 * Owns bond->xdp_prog, the programs that slaves' drivers have from us, and what
 * the bond says it offers of XDP.  RTNL; called by the core when a user
 * attaches or detaches, by enslave and release, and by the notifier.
 *
 * Who holds the program: the core for the bond's device, the bond, which got a
 * reference with ndo_bpf(), and every slave's driver, which gets one the same
 * way.  A driver gives its own back when it gets another program, or none.
 */
#include <linux/bpf.h>
#include <linux/filter.h>

#include "bond_core.h"

const char *bond_xdp_obstacle(struct net_device *dev)
{
	const struct net_device_ops *ops = dev->netdev_ops;

	if (!ops->ndo_bpf || !ops->ndo_xdp_xmit)
		return "no native XDP";
	if (dev_xdp_prog_count(dev))
		return "has its own XDP program";
	return NULL;
}

/* --- slaves --- */

/* The driver takes a reference over when it takes the program. */
static int bond_xdp_give(struct net_device *dev, struct bpf_prog *prog,
			 struct netlink_ext_ack *extack)
{
	struct netdev_bpf bpf = {
		.command = XDP_SETUP_PROG,
		.prog = prog,
		.extack = extack,
	};
	int err;

	if (prog)
		bpf_prog_inc(prog);
	err = bond_compat_xdp_propagate(dev, &bpf);
	if (err && prog)
		bpf_prog_put(prog);
	return err;
}

int bond_xdp_slave_add(struct slave *slave, struct netlink_ext_ack *extack)
{
	struct bpf_prog *prog = slave->bond->xdp_prog;

	ASSERT_RTNL();
	return prog ? bond_xdp_give(slave->dev, prog, extack) : 0;
}

void bond_xdp_slave_del(struct slave *slave)
{
	int err;

	ASSERT_RTNL();
	if (!slave->bond->xdp_prog)
		return;
	err = bond_xdp_give(slave->dev, NULL, NULL);
	if (err)
		bond_slave_warn(slave->bond, slave->dev,
				"XDP program cannot be removed (%d)\n", err);
}

/* --- all slaves --- */

static int bond_xdp_check(const struct bonding *bond,
			  struct netlink_ext_ack *extack)
{
	const struct slave *slave;
	const char *why;

	bond_for_each_slave(bond, slave) {
		why = bond_xdp_obstacle(slave->dev);
		if (!why)
			continue;
		bond_extack(extack, "slave %s: %s", slave->dev->name, why);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The slaves before @end get the program back that they had. */
static void bond_xdp_undo(struct bonding *bond, const struct slave *end)
{
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		if (slave == end)
			return;
		err = bond_xdp_give(slave->dev, bond->xdp_prog, NULL);
		if (err)
			bond_slave_warn(bond, slave->dev,
					"former XDP program is lost (%d)\n",
					err);
	}
}

static int bond_xdp_give_all(struct bonding *bond, struct bpf_prog *prog,
			     struct netlink_ext_ack *extack)
{
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		err = bond_xdp_give(slave->dev, prog, extack);
		if (!err)
			continue;
		if (extack && !extack->_msg)
			bond_extack(extack, "slave %s: refused (%d)",
				    slave->dev->name, err);
		bond_xdp_undo(bond, slave);
		return err;
	}
	return 0;
}

/* --- the bond --- */

void bond_xdp_pick_update(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	ASSERT_RTNL();
	if (bond_dev_is_bond(dev))
		WRITE_ONCE(bond->xdp_pick,
			   bond->xdp_prog && netif_running(dev) &&
			   !(dev->flags & IFF_SLAVE) ? bond->pick : NULL);
}

/*
 * The key has XDP_TX ask us for a slave.  It is on before the first slave runs
 * the program, and off when the last one has stopped: once for each bond that
 * has a program, whichever it is.
 */
static int bond_xdp_set(struct bonding *bond, struct bpf_prog *prog,
			struct netlink_ext_ack *extack)
{
	struct bpf_prog *old = bond->xdp_prog;
	int err;

	err = prog ? bond_xdp_check(bond, extack) : 0;
	if (err)
		return err;
	if (prog && !old)
		static_branch_inc(&bpf_master_redirect_enabled_key);
	err = bond_xdp_give_all(bond, prog, extack);
	if (!err) {
		WRITE_ONCE(bond->xdp_prog, prog);
		bond_xdp_pick_update(bond->dev);
	}
	if (!bond->xdp_prog && (prog || old))
		static_branch_dec(&bpf_master_redirect_enabled_key);
	if (!err && old)
		bpf_prog_put(old);
	return err;
}

int bond_bpf(struct net_device *dev, struct netdev_bpf *bpf)
{
	ASSERT_RTNL();
	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	return bond_xdp_set(netdev_priv(dev), bpf->prog, bpf->extack);
}

void bond_xdp_features_update(struct bonding *bond)
{
	u32 features = BOND_XDP_FEATURES;
	const struct slave *slave;

	ASSERT_RTNL();
	bond_for_each_slave(bond, slave)
		features &= bond_compat_xdp_features(slave->dev);
	bond_compat_xdp_features_set(bond->dev,
				     bond_has_slaves(bond) ? features : 0);
}
