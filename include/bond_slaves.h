/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slaves as the packet path sees them: immutable arrays, published by RCU.
 *
 * Layer 1: data and arithmetic.
 */
#ifndef _BOND_SLAVES_H
#define _BOND_SLAVES_H

#include "bond_mode.h"

/**
 * struct bond_slave_array - some slaves of a bond, immutable once published
 * @rcu: frees it
 * @step: 2^64 / count, rounded up: for n % count without a division
 * @count: number of slaves, at least 1: instead of an empty array NULL is
 *	published
 * @slave: the slaves, in the order they were enslaved
 *
 * Count and step must always be read from the same array: a change
 * publishes a new one.
 */
struct bond_slave_array {
	u64 step;
	u32 count;
	struct rcu_head rcu;
	struct slave *slave[] __counted_by(count);
};

/**
 * bond_remainder() - n % count without a division
 * @n: any number
 * @count: not 0
 * @step: 2^64 / count, rounded up (modulo 2^64)
 *
 * @n times @step is n / count in units of 2^64: the quotient overflows, its
 * fraction stays, and @count times that is the remainder.  Exact for all 32-bit
 * numbers (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
 * Written without 128-bit values, which would cost each caller an aligned
 * stack.
 */
static inline u32 bond_remainder(u32 n, u32 count, u64 step)
{
	u64 fraction = n * step;
	u64 low = (u64)(u32)fraction * count;

	return ((fraction >> 32) * count + (low >> 32)) >> 32;
}

/**
 * bond_slave_at() - the slave at a position of an array
 * @array: from rcu_dereference(), may be NULL
 * @n: any number; the position is n % count
 *
 * Context: RCU.
 * Return: the slave, or NULL when the array is empty.
 */
static inline struct slave *bond_slave_at(const struct bond_slave_array *array,
					  u32 n)
{
	if (unlikely(!array))
		return NULL;
	return array->slave[bond_remainder(n, array->count, array->step)];
}

/**
 * bond_usable() - the slaves that may send now
 * @bond: the bond
 *
 * Context: RCU, or BH off (as ndo_start_xmit has it).
 * Return: the array, NULL when no slave may.
 */
static inline const struct bond_slave_array *
bond_usable(const struct bonding *bond)
{
	return rcu_dereference_check(bond->usable, rcu_read_lock_bh_held());
}

/**
 * bond_slave_usable() - does a slave belong in bond->usable?
 * @bond: the bond
 * @slave: one of its slaves
 *
 * Context: RTNL.
 */
bool bond_slave_usable(const struct bonding *bond, const struct slave *slave);

/**
 * bond_slaves_publish() - build both arrays anew and publish them
 * @bond: the bond
 *
 * Does nothing when the slaves in them would be the same.
 *
 * Context: RTNL, may sleep.  Cannot fail.
 * Return: true when a new array was published.
 */
bool bond_slaves_publish(struct bonding *bond);

/**
 * bond_slaves_retire() - publish arrays without one slave, at once
 * @bond: the bond
 * @slave: the slave that leaves
 *
 * For a slave that must not be found by new readers any more though its state
 * would still allow it.
 *
 * Context: RTNL, may sleep.
 */
void bond_slaves_retire(struct bonding *bond, const struct slave *slave);

/**
 * bond_slaves_drop() - take a slave out of the usable ones, at once
 * @bond: the bond
 * @slave: the slave; the mode's slave_usable hook already says no to it
 *
 * For those who cannot take RTNL and must not leave it to bond_apply(), which
 * has to follow all the same: without memory nothing happens here.
 *
 * Context: any but hard interrupts.
 */
void bond_slaves_drop(struct bonding *bond, const struct slave *slave);

/**
 * bond_slaves_free() - drop both arrays of a bond that is going away
 * @bond: the bond
 *
 * Context: RTNL; no slaves left.
 */
void bond_slaves_free(struct bonding *bond);

/* --- state bits (bond_state.c) --- */

/**
 * bond_mark() - note that something has to be worked out again
 * @bond: the bond
 * @what: enum bond_dirty
 *
 * The mark is worked off by the next bond_apply(); who holds RTNL calls that
 * himself, who does not calls bond_apply_later().
 *
 * Context: any.
 */
void bond_mark(struct bonding *bond, enum bond_dirty what);

/**
 * bond_apply_later() - have the marks worked off from the bond's work queue
 * @bond: the bond
 *
 * Context: any.
 */
void bond_apply_later(struct bonding *bond);

/**
 * bond_slave_set_active() - the slave sends and receives
 * @slave: the slave
 *
 * Context: RTNL.  Marks ARRAY, LOWER and INFO when something changed.
 */
void bond_slave_set_active(struct slave *slave);

/**
 * bond_slave_set_backup() - the slave does not send
 * @slave: the slave
 *
 * It does not receive either, unless all_slaves_active is set.
 *
 * Context: RTNL.  Marks ARRAY, LOWER and INFO when something changed.
 */
void bond_slave_set_backup(struct slave *slave);

/**
 * bond_slave_set_receiving() - the slave receives, but does not send
 * @slave: the slave
 *
 * Context: RTNL.  Marks ARRAY, LOWER and INFO when something changed.
 */
void bond_slave_set_receiving(struct slave *slave);

/**
 * bond_slave_set_standby() - the slave sends, but is not the active one
 * @slave: the slave
 *
 * It does not receive what may come by every slave, unless all_slaves_active is
 * set.
 *
 * Context: RTNL.  Marks ARRAY, LOWER and INFO when something changed.
 */
void bond_slave_set_standby(struct slave *slave);

/**
 * bond_slave_set_link() - give a slave's link another state
 * @slave: the slave
 * @link: BOND_LINK_*
 *
 * Counts a failure when the state becomes BOND_LINK_DOWN, remembers when it
 * becomes BOND_LINK_UP, and marks what depends on it.
 *
 * Context: RTNL.
 */
void bond_slave_set_link(struct slave *slave, u8 link);

#endif /* _BOND_SLAVES_H */
