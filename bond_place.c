// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: from the hash of a frame to the slave that it leaves by.
 *
 * The pick of every mode that spreads flows.  No state of its own: it indexes
 * the array that bond_slaves.c publishes.  Under RCU with BH off, no lock.
 */
#include "bond_hash.h"
#include "bond_slaves.h"

struct slave *bond_hash_pick(const struct bonding *bond,
			     struct bond_pkt pkt)
{
	return bond_slave_at(bond_usable(bond), bond_hash(bond, pkt));
}
