// SPDX-License-Identifier: GPL-2.0
/*
 * Builds and publishes the slave arrays that the packet path reads.
 *
 * Owns bond->usable and bond->all.  Written under RTNL by bond_apply() and by
 * release, read under RCU.  An array is never changed after it was published:
 * a reader that took its count must find the step and the slaves that go with
 * it.
 */
#include <linux/math64.h>
#include <linux/slab.h>

#include "bond_slaves.h"

typedef bool (*bond_slave_filter)(const struct bonding *bond,
				  const struct slave *slave);

static bool bond_filter_usable(const struct bonding *bond,
			       const struct slave *slave)
{
	if (bond->ops->slave_usable)
		return bond->ops->slave_usable(bond, slave);
	return bond_slave_can_tx(slave);
}

static bool bond_filter_up(const struct bonding *bond,
			   const struct slave *slave)
{
	return bond_slave_is_up(slave);
}

/*
 * The slaves that pass, without @leaving; NULL when there are none.  A dead
 * slave that stays published because there is no memory would go on losing
 * frames, so these few bytes are waited for.
 */
static struct bond_slave_array *
bond_array_build(const struct bonding *bond, bond_slave_filter filter,
		 const struct slave *leaving)
{
	struct bond_slave_array *array;
	struct slave *slave;
	u32 n = 0;

	if (!bond->slave_cnt)
		return NULL;
	array = kzalloc(struct_size(array, slave, bond->slave_cnt),
			GFP_KERNEL | __GFP_NOFAIL);
	array->count = bond->slave_cnt;
	bond_for_each_slave(bond, slave)
		if (slave != leaving && filter(bond, slave))
			array->slave[n++] = slave;
	array->count = n;
	if (!n) {
		kfree(array);
		return NULL;
	}
	array->step = div_u64(U64_MAX, n) + 1;
	return array;
}

static bool bond_array_equal(const struct bond_slave_array *a,
			     const struct bond_slave_array *b)
{
	if (!a || !b)
		return a == b;
	return a->count == b->count &&
	       !memcmp(a->slave, b->slave, array_size(a->count,
						      sizeof(a->slave[0])));
}

static bool bond_array_publish(struct bond_slave_array __rcu **place,
			       struct bond_slave_array *next)
{
	struct bond_slave_array *old = rtnl_dereference(*place);

	if (bond_array_equal(old, next)) {
		kfree(next);
		return false;
	}
	rcu_assign_pointer(*place, next);
	if (old)
		kfree_rcu(old, rcu);
	return true;
}

static bool bond_slaves_rebuild(struct bonding *bond,
				const struct slave *leaving)
{
	bool changed;

	ASSERT_RTNL();
	changed = bond_array_publish(&bond->usable,
				     bond_array_build(bond, bond_filter_usable,
						      leaving));
	if (changed && bond->ops->usable_changed)
		bond->ops->usable_changed(bond);
	changed |= bond_array_publish(&bond->all,
				      bond_array_build(bond, bond_filter_up,
						       leaving));
	return changed;
}

bool bond_slaves_publish(struct bonding *bond)
{
	return bond_slaves_rebuild(bond, NULL);
}

void bond_slaves_retire(struct bonding *bond, const struct slave *slave)
{
	bond_slaves_rebuild(bond, slave);
}

void bond_slaves_free(struct bonding *bond)
{
	bond_array_publish(&bond->usable, NULL);
	bond_array_publish(&bond->all, NULL);
}
