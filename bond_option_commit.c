// SPDX-License-Identifier: GPL-2.0
/*
 * Making a checked transaction true: first what can fail, then the parameters,
 * then what has to follow from them, in a fixed order.
 *
 * Called by the surfaces through bond_change_commit(), under RTNL.  Writes
 * bond->params, bond->ops and the options of slaves; the packet path reads them
 * at the same time.
 */
#include "bond_option_set.h"

/* --- mode --- */

/* What a mode allocated. */
struct bond_mode_data {
	void __percpu *pcpu;
	void *priv;
};

/* Put other data in place; what was there goes to @data. */
static void bond_mode_data_swap(struct bonding *bond,
				struct bond_mode_data *data)
{
	swap(bond->mode_pcpu, data->pcpu);
	swap(bond->mode_priv, data->priv);
}

/*
 * Both modes keep their data at the same place.  No packet looks at it
 * meanwhile: the bond is down and has no slaves, and a pick without slaves ends
 * before.  Readers of files do, so the new mode's is not there before the last
 * one that still asks the old mode has gone.
 */
static int bond_mode_exchange(struct bonding *bond,
			      const struct bond_mode_ops *ops)
{
	struct bond_mode_data other = { };
	int err = 0;

	bond_mode_data_swap(bond, &other);
	if (ops->init)
		err = ops->init(bond);
	bond_mode_data_swap(bond, &other);
	if (err)
		return err;
	if (bond->ops->exit)
		bond->ops->exit(bond);
	WRITE_ONCE(bond->ops, ops);
	synchronize_net();
	bond_mode_data_swap(bond, &other);
	return 0;
}

static int bond_commit_mode(const struct bond_change *change)
{
	struct bonding *bond = change->bond;
	int err;

	if (change->ops == bond->ops)
		return 0;
	if (bond->mode_ready) {
		err = bond_mode_exchange(bond, change->ops);
		if (err)
			return err;
	}
	WRITE_ONCE(bond->ops, change->ops);
	return 0;
}

/* --- parameters --- */

static void bond_commit_params(struct bonding *bond,
			       const struct bond_params *next)
{
	struct bond_params *params = &bond->params;
	const struct bond_option *opt;
	unsigned int i;

	for (i = 0; i < BOND_OPT_MAX; i++) {
		opt = bond_option_get(i);
		if (opt->type == BOND_OPT_T_NUMBER)
			bond_option_store(opt, params,
					  bond_option_number(opt, next));
	}
	for (i = 0; i < BOND_MAX_TARGETS; i++) {
		WRITE_ONCE(params->arp_ip_target[i], next->arp_ip_target[i]);
		params->ns_ip6_target[i] = next->ns_ip6_target[i];
	}
	strscpy(params->primary, next->primary, sizeof(params->primary));
	ether_addr_copy(params->ad_actor_system, next->ad_actor_system);
}

static void bond_commit_slave(const struct bond_change *change)
{
	struct slave *slave = change->slave;

	slave->prio = change->slave_next.prio;
	slave->actor_port_prio = change->slave_next.actor_port_prio;
	WRITE_ONCE(slave->queue_id, change->slave_next.queue_id);
	bond_xmit_special_update(slave->bond);
}

/* --- what follows --- */

static void bond_commit_primary(struct bonding *bond)
{
	bond_primary_resolve(bond);
	bond->force_primary = bond_primary_rtnl(bond);
	bond_mark(bond, BOND_DIRTY_ACTIVE);
}

static void bond_commit_active(struct bonding *bond, struct slave *slave)
{
	bond_active_change(bond, slave);
	if (!slave)
		bond_mark(bond, BOND_DIRTY_ACTIVE);
}

static void bond_commit_rx_flags(struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (bond_slave_is_backup(slave))
			bond_slave_set_backup(slave);
	/* a mode may have slaves that receive without being active */
	bond_mark(bond, BOND_DIRTY_MODE);
}

static void bond_commit_effects(struct bonding *bond,
				const struct bond_change *change)
{
	u32 effects = change->effects;

	if (effects & BOND_EFFECT_MODE)
		bond_features_update(bond);
	if (effects & BOND_EFFECT_MONITOR)
		bond_monitors_start(bond);
	if (effects & BOND_EFFECT_PRIMARY)
		bond_commit_primary(bond);
	if (effects & BOND_EFFECT_SELECT)
		bond_mark(bond, BOND_DIRTY_ACTIVE);
	if (effects & BOND_EFFECT_ACTIVE)
		bond_commit_active(bond, change->active);
	if (effects & BOND_EFFECT_RXFLAGS)
		bond_commit_rx_flags(bond);
	if (effects & BOND_EFFECT_CARRIER)
		bond_mark(bond, BOND_DIRTY_CARRIER);
	if (effects & BOND_EFFECT_PARAMS && bond->ops->params_changed)
		bond->ops->params_changed(bond);
	bond_apply(bond);
}

static int bond_commit_device(const struct bond_change *change)
{
	struct net_device *dev = change->bond->dev;

	if (change->effects & BOND_EFFECT_ENSLAVE)
		return bond_enslave(dev, change->dev, change->extack);
	if (change->effects & BOND_EFFECT_RELEASE)
		return bond_release(dev, change->dev);
	return 0;
}

int bond_change_commit(struct bond_change *change)
{
	struct bonding *bond = change->bond;
	int err;

	ASSERT_RTNL();
	err = bond_commit_mode(change);
	if (err)
		return err;
	bond_commit_params(bond, &change->next);
	bond_pick_update(bond);
	if (change->slave)
		bond_commit_slave(change);
	/* A bond that is not registered yet has nothing that could follow. */
	if (!bond->mode_ready)
		return 0;
	bond_commit_effects(bond, change);
	return bond_commit_device(change);
}
