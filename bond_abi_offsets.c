// SPDX-License-Identifier: GPL-2.0
/*
 * Where other modules of the target kernel look into a bond and its slaves.
 *
 * Modules like ib_core were compiled with the kernel's own bonding header and
 * read netdev_priv() of a bond and rx_handler_data of a slave by offset.  This
 * file is compiled, never linked: Kbuild turns the numbers that the compiler
 * writes into bond_abi_offsets.h, and bond.h ties our structures to them.
 */
#define COMPILE_OFFSETS
#include <linux/kbuild.h>
#include <net/bonding.h>

int main(void);

int main(void)
{
	DEFINE(BOND_ABI_DEV, offsetof(struct bonding, dev));
	DEFINE(BOND_ABI_CURR_ACTIVE_SLAVE,
	       offsetof(struct bonding, curr_active_slave));
	DEFINE(BOND_ABI_PARAMS_MODE, offsetof(struct bonding, params.mode));
	DEFINE(BOND_ABI_SLAVE_DEV, offsetof(struct slave, dev));
	DEFINE(BOND_ABI_SLAVE_BOND, offsetof(struct slave, bond));
	DEFINE(BOND_ABI_SLAVE_LINK, offsetof(struct slave, link));
	DEFINE(BOND_ABI_SLAVE_LINK_NEW_STATE,
	       offsetof(struct slave, link_new_state));
	return 0;
}
