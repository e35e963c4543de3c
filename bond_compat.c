// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the compat layer that needs memory of its own: texts of refusals
 * for kernels whose extack is a pointer to a constant.
 *
 * A text is read when the request has been answered, shortly after RTNL was
 * released; a ring that is much longer than the number of requests that can be
 * under way keeps it unchanged until then.  Called from anywhere, no lock.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include "bond_compat.h"

#ifndef BOND_HAVE_EXTACK_FMT
#define BOND_EXTACK_RING	64

static char bond_extack_ring[BOND_EXTACK_RING][BOND_EXTACK_LEN];
static atomic_t bond_extack_next;

char *bond_extack_buf(void)
{
	unsigned int n = atomic_inc_return(&bond_extack_next);

	return bond_extack_ring[n % BOND_EXTACK_RING];
}
#endif /* BOND_HAVE_EXTACK_FMT */

#ifdef BOND_HAVE_PRE_CHANGEADDR_NETIF
MODULE_IMPORT_NS("NETDEV_INTERNAL");
#endif /* BOND_HAVE_PRE_CHANGEADDR_NETIF */
