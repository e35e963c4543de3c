/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a frame to a 32-bit number: the transmit hash policies.
 *
 * Layer 1: no state of a bond but its policy.
 */
#ifndef _BOND_HASH_H
#define _BOND_HASH_H

#include "bond_mode.h"

/**
 * bond_hash() - hash a frame by a bond's xmit_hash_policy
 * @bond: the bond
 * @pkt: the frame, skb or xdp_buff
 *
 * The result is that of the in-tree driver for the same frame and policy.
 * encap3+4 returns skb->hash unread when skb->l4_hash is set.
 *
 * Context: RCU and BH off; reads the frame, never changes it.
 * Return: the hash.
 */
u32 bond_hash(const struct bonding *bond, struct bond_pkt pkt);

/**
 * bond_hash_lag_type() - the policy in the terms of net/lag.h
 * @policy: BOND_XMIT_POLICY_*
 *
 * Return: NETDEV_LAG_HASH_*, NETDEV_LAG_HASH_UNKNOWN when there is no word.
 */
enum netdev_lag_hash bond_hash_lag_type(u32 policy);

#endif /* _BOND_HASH_H */
