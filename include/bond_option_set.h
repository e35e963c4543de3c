/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the files of the option code: what the rows of the table point to.
 *
 * Layer 4, private to it.
 */
#ifndef _BOND_OPTION_SET_H
#define _BOND_OPTION_SET_H

#include "bond_options.h"

#define BOND_MIIMON_FORCED	100	/* ms, in modes that need it */

/**
 * BOND_PROPOSE() - declare the propose function of a row
 * @name: what it is called after bond_propose_
 *
 * Context: RTNL.  See bond_option.propose.
 */
#define BOND_PROPOSE(name)						\
	int bond_propose_##name(struct bond_change *change,		\
				const struct bond_opt_value *value)

/**
 * bond_change_slave() - a transaction is on options of a slave, too
 * @change: the transaction
 * @slave: the slave
 *
 * Context: RTNL.
 */
void bond_change_slave(struct bond_change *change, struct slave *slave);

BOND_PROPOSE(mode);
BOND_PROPOSE(active_slave);
BOND_PROPOSE(miimon);
BOND_PROPOSE(delay);
BOND_PROPOSE(use_carrier);
BOND_PROPOSE(arp_interval);
BOND_PROPOSE(arp_ip_target);
BOND_PROPOSE(ns_ip6_target);
BOND_PROPOSE(arp_validate);
BOND_PROPOSE(primary);
BOND_PROPOSE(ad_actor_system);
BOND_PROPOSE(slaves);
BOND_PROPOSE(queue_id);
BOND_PROPOSE(prio);
BOND_PROPOSE(actor_port_prio);

#endif /* _BOND_OPTION_SET_H */
