// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a slave, and the marks that a change of it leaves behind.
 *
 * Owns slave->link, slave->abi_bits and bond->dirty.  State changes under RTNL;
 * marks are atomic, so that those who cannot take RTNL may leave one, too.
 * Called by modes, monitors and the enslave path; bond_apply() works the marks
 * off.
 */
#include "bond_slaves.h"

void bond_mark(struct bonding *bond, enum bond_dirty what)
{
	set_bit(what, &bond->dirty);
}

void bond_apply_later(struct bonding *bond)
{
	queue_delayed_work(bond->wq, &bond->apply_work, 0);
}

/* What a backup slave may receive is nobody else's affair. */
static void bond_slave_set_bits(struct slave *slave, u8 bits)
{
	u8 changed = slave->abi_bits ^ bits;

	WRITE_ONCE(slave->abi_bits, bits);
	if (!(changed & BOND_SLAVE_BACKUP))
		return;
	slave->info_dirty = 1;
	bond_mark(slave->bond, BOND_DIRTY_ARRAY);
	bond_mark(slave->bond, BOND_DIRTY_LOWER);
	bond_mark(slave->bond, BOND_DIRTY_INFO);
}

void bond_slave_set_active(struct slave *slave)
{
	ASSERT_RTNL();
	bond_slave_set_bits(slave, 0);
}

static u8 bond_slave_inactive_bit(const struct slave *slave)
{
	return slave->bond->params.all_slaves_active ? 0 : BOND_SLAVE_INACTIVE;
}

void bond_slave_set_backup(struct slave *slave)
{
	ASSERT_RTNL();
	bond_slave_set_bits(slave, BOND_SLAVE_BACKUP |
				   bond_slave_inactive_bit(slave));
}

void bond_slave_set_standby(struct slave *slave)
{
	ASSERT_RTNL();
	bond_slave_set_bits(slave, bond_slave_inactive_bit(slave));
}

void bond_slave_set_receiving(struct slave *slave)
{
	ASSERT_RTNL();
	bond_slave_set_bits(slave, BOND_SLAVE_BACKUP);
}

void bond_slave_set_link(struct slave *slave, u8 link)
{
	ASSERT_RTNL();
	if (slave->link == link)
		return;
	WRITE_ONCE(slave->link, link);
	if (link == BOND_LINK_UP)
		slave->last_link_up = jiffies;
	if (link == BOND_LINK_DOWN && slave->link_failure_count != U32_MAX)
		slave->link_failure_count++;
	slave->info_dirty = 1;
	bond_mark(slave->bond, BOND_DIRTY_ACTIVE);
	bond_mark(slave->bond, BOND_DIRTY_ARRAY);
	bond_mark(slave->bond, BOND_DIRTY_CARRIER);
	bond_mark(slave->bond, BOND_DIRTY_LOWER);
	bond_mark(slave->bond, BOND_DIRTY_INFO);
}
