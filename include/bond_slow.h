/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slow protocols' frames: LACPDUs and markers as they go over the wire.
 *
 * Clauses without a name are those of IEEE Std 802.1AX-2014.
 *
 * Layer 2: for 802.3ad only.
 */
#ifndef _BOND_SLOW_H
#define _BOND_SLOW_H

#include <linux/if_ether.h>
#include <linux/types.h>

#define BOND_SLOW_LACP		1	/* subtypes of ETH_P_SLOW, 57A.4 of */
#define BOND_SLOW_MARKER	2	/* IEEE Std 802.3 */
#define BOND_LACP_VERSION	1
#define BOND_LACP_TLV_ACTOR	1
#define BOND_LACP_TLV_PARTNER	2
#define BOND_LACP_TLV_COLLECTOR	3
#define BOND_MARKER_TLV_INFO	1
#define BOND_MARKER_TLV_RESPONSE	2

/**
 * struct bond_lacp_tlv - Actor_Information and Partner_Information, 6.4.2.3
 * @type: BOND_LACP_TLV_*
 * @len: of all of it
 * @sys_prio: System_Priority
 * @system: System
 * @key: Key
 * @port_prio: Port_Priority
 * @port: Port
 * @state: State, LACP_STATE_*
 * @reserved: 0
 */
struct bond_lacp_tlv {
	u8 type;
	u8 len;
	__be16 sys_prio;
	u8 system[ETH_ALEN];
	__be16 key;
	__be16 port_prio;
	__be16 port;
	u8 state;
	u8 reserved[3];
} __packed;

/**
 * struct bond_lacpdu - a version 1 LACPDU behind its Ethernet header, 6.4.2.3
 * @subtype: BOND_SLOW_LACP
 * @version: BOND_LACP_VERSION
 * @actor: of who sends it
 * @partner: what that one knows of who receives it
 * @collector_type: BOND_LACP_TLV_COLLECTOR
 * @collector_len: 16
 * @max_delay: CollectorMaxDelay
 * @rest: reserved, terminator, reserved
 */
struct bond_lacpdu {
	u8 subtype;
	u8 version;
	struct bond_lacp_tlv actor;
	struct bond_lacp_tlv partner;
	u8 collector_type;
	u8 collector_len;
	__be16 max_delay;
	u8 rest[64];
} __packed;

/**
 * struct bond_marker - a marker PDU behind its Ethernet header, 6.5.3.3
 * @subtype: BOND_SLOW_MARKER
 * @version: 1
 * @type: BOND_MARKER_TLV_*
 * @len: 16
 * @port: Requester_Port
 * @system: Requester_System
 * @transaction: Requester_Transaction_ID
 * @rest: pad, terminator, reserved
 */
struct bond_marker {
	u8 subtype;
	u8 version;
	u8 type;
	u8 len;
	__be16 port;
	u8 system[ETH_ALEN];
	__be32 transaction;
	u8 rest[94];
} __packed;

#define BOND_SLOW_LEN	110

/* Where slow protocols' frames are sent: 01:80:c2:00:00:02 */
extern const u8 bond_lacp_group[ETH_ALEN];

static_assert(sizeof(struct bond_lacpdu) == BOND_SLOW_LEN);
static_assert(sizeof(struct bond_marker) == BOND_SLOW_LEN);

#endif /* _BOND_SLOW_H */
