// SPDX-License-Identifier: GPL-2.0
/*
 * balance-xor: the transmit hash policy places each flow on a usable slave.
 *
 * No state of its own: placement is bond_place.c's.
 */
#include "bond_slaves.h"

const struct bond_mode_ops bond_mode_xor = {
	.name		= "balance-xor",
	.proc_name	= "load balancing (xor)",
	.id		= BOND_MODE_XOR,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_HASH,
	.caps		= BOND_CAP_HASH | BOND_CAP_ARPMON | BOND_CAP_ONE_MAC,
	.pick		= bond_hash_pick,
};
