// SPDX-License-Identifier: GPL-2.0
/*
 * Builds and publishes the slave arrays that the packet path reads.
 *
 * Owns bond->usable and bond->all.  Built under RTNL by bond_apply() and by
 * release, read under RCU.  Published under bond->array_lock, since a slave may
 * have to be dropped by who cannot take RTNL.  An array is never changed after
 * it was published: a reader that took its count must find the step and the
 * slaves that go with it.
 */
#include <linux/math64.h>
#include <linux/slab.h>

#include "bond_slaves.h"

typedef bool (*bond_slave_filter)(const struct bonding *bond,
				  const struct slave *slave);

bool bond_slave_usable(const struct bonding *bond,
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

static struct bond_slave_array *bond_array_alloc(u32 count, gfp_t flags)
{
	struct bond_slave_array *array;

	array = kzalloc(struct_size(array, slave, count), flags);
	if (array)
		array->count = count;
	return array;
}

/* The first @n places are taken; NULL when that is none. */
static struct bond_slave_array *
bond_array_finish(struct bond_slave_array *array, u32 n)
{
	if (!n) {
		kfree(array);
		return NULL;
	}
	array->count = n;
	array->step = div_u64(U64_MAX, n) + 1;
	return array;
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
	array = bond_array_alloc(bond->slave_cnt, GFP_KERNEL | __GFP_NOFAIL);
	bond_for_each_slave(bond, slave)
		if (slave != leaving && filter(bond, slave))
			array->slave[n++] = slave;
	return bond_array_finish(array, n);
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

static struct bond_slave_array *
bond_array_held(const struct bonding *bond,
		struct bond_slave_array __rcu *place)
{
	return rcu_dereference_protected(place,
					 lockdep_is_held(&bond->array_lock));
}

static bool bond_array_publish(struct bonding *bond,
			       struct bond_slave_array __rcu **place,
			       struct bond_slave_array *next)
{
	struct bond_slave_array *old = bond_array_held(bond, *place);

	if (bond_array_equal(old, next)) {
		kfree(next);
		return false;
	}
	rcu_assign_pointer(*place, next);
	if (old)
		kfree_rcu(old, rcu);
	return true;
}

/*
 * Who was asked for before a drop has to be asked again: bond_slaves_drop()
 * must not be undone by an array that was under way meanwhile.
 */
static bool bond_usable_rebuild(struct bonding *bond,
				const struct slave *leaving)
{
	struct bond_slave_array *next;
	bool changed;
	u32 drops;

	for (;;) {
		/* before what the hook looks at, see bond_slaves_drop() */
		drops = smp_load_acquire(&bond->array_drops);
		next = bond_array_build(bond, bond_slave_usable, leaving);
		spin_lock_bh(&bond->array_lock);
		if (drops == bond->array_drops)
			break;
		spin_unlock_bh(&bond->array_lock);
		kfree(next);
	}
	changed = bond_array_publish(bond, &bond->usable, next);
	spin_unlock_bh(&bond->array_lock);
	return changed;
}

static bool bond_all_rebuild(struct bonding *bond, const struct slave *leaving)
{
	struct bond_slave_array *next;
	bool changed;

	next = bond_array_build(bond, bond_filter_up, leaving);
	spin_lock_bh(&bond->array_lock);
	changed = bond_array_publish(bond, &bond->all, next);
	spin_unlock_bh(&bond->array_lock);
	return changed;
}

static bool bond_slaves_rebuild(struct bonding *bond,
				const struct slave *leaving)
{
	bool changed;

	ASSERT_RTNL();
	changed = bond_usable_rebuild(bond, leaving);
	if (changed && bond->ops->usable_changed)
		bond->ops->usable_changed(bond);
	changed |= bond_all_rebuild(bond, leaving);
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

static u32 bond_array_copy_but(struct bond_slave_array *to,
			       const struct bond_slave_array *from,
			       const struct slave *slave)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < from->count; i++)
		if (from->slave[i] != slave)
			to->slave[n++] = from->slave[i];
	return n;
}

static void bond_usable_drop(struct bonding *bond, const struct slave *slave)
{
	struct bond_slave_array *old = bond_array_held(bond, bond->usable);
	struct bond_slave_array *next;
	u32 n;

	if (!old)
		return;
	next = bond_array_alloc(old->count, GFP_ATOMIC | __GFP_NOWARN);
	if (!next)
		return;
	n = bond_array_copy_but(next, old, slave);
	bond_array_publish(bond, &bond->usable, bond_array_finish(next, n));
}

void bond_slaves_drop(struct bonding *bond, const struct slave *slave)
{
	spin_lock_bh(&bond->array_lock);
	/* after what the hook looks at, see bond_usable_rebuild() */
	smp_store_release(&bond->array_drops, bond->array_drops + 1);
	bond_usable_drop(bond, slave);
	spin_unlock_bh(&bond->array_lock);
}

void bond_slaves_free(struct bonding *bond)
{
	spin_lock_bh(&bond->array_lock);
	bond_array_publish(bond, &bond->usable, NULL);
	bond_array_publish(bond, &bond->all, NULL);
	spin_unlock_bh(&bond->array_lock);
}
