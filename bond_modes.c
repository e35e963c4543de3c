// SPDX-License-Identifier: GPL-2.0
/*
 * The list of modes: the one place, next to a mode's own file, that names them.
 *
 * Constant; read by the option setters and at load.
 */
#include "bond_mode.h"

static const struct bond_mode_ops *const bond_modes[] = {
	[BOND_MODE_ROUNDROBIN]		= &bond_mode_rr,
	[BOND_MODE_ACTIVEBACKUP]	= &bond_mode_ab,
	[BOND_MODE_XOR]			= &bond_mode_xor,
	[BOND_MODE_BROADCAST]		= &bond_mode_broadcast,
	[BOND_MODE_8023AD]		= &bond_mode_8023ad,
	[BOND_MODE_TLB]			= &bond_mode_tlb,
	[BOND_MODE_ALB]			= &bond_mode_alb,
};

const struct bond_mode_ops *bond_mode_by_id(unsigned int id)
{
	return id < ARRAY_SIZE(bond_modes) ? bond_modes[id] : NULL;
}

void bond_pick_update(struct bonding *bond)
{
	const struct bond_mode_ops *ops = bond->ops;

	WRITE_ONCE(bond->pick, ops->pick_now ? ops->pick_now(bond) : ops->pick);
	if (bond->xdp_pick)
		WRITE_ONCE(bond->xdp_pick, bond->pick);
	if (ops->caps & BOND_CAP_OWN_XMIT)
		WRITE_ONCE(bond->tx_special, bond->tx_special | BOND_TX_MODE);
	else
		WRITE_ONCE(bond->tx_special, bond->tx_special & ~BOND_TX_MODE);
}

static const char *bond_mode_lacks(const struct bond_mode_ops *ops,
				   unsigned int id)
{
	if (ops->id != id)
		return "id";
	if (!ops->name)
		return "name";
	if (!ops->proc_name)
		return "proc_name";
	if (!ops->pick)
		return "pick";
	if (!ops->init != !ops->exit)
		return "init or exit";
	if (ops->caps & BOND_CAP_OWN_XMIT && !ops->xmit)
		return "xmit";
	return NULL;
}

int bond_modes_check(void)
{
	const char *lack;
	unsigned int id;

	for (id = 0; id < ARRAY_SIZE(bond_modes); id++) {
		if (!bond_modes[id])
			continue;
		lack = bond_mode_lacks(bond_modes[id], id);
		if (!lack)
			continue;
		pr_err("mode %u is incomplete: no %s\n", id, lack);
		return -EINVAL;
	}
	return 0;
}
