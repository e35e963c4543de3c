// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: LACPDUs and markers, from bytes to parameters and back, and what is
 * counted of them.
 *
 * Frames come in softirqs, under RCU; what they do to a port is done under
 * bond_lacp.lock.  Frames to send are built under that lock and queued, see
 * bond_lacp_unlock().
 */
#include <linux/if_vlan.h>
#include <linux/pkt_sched.h>

#include "bond_3ad.h"

#define BOND_SLOW_SUBTYPE_MAX	10	/* 57A.4: others are illegal */

const u8 bond_lacp_group[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0, 0, 0x02 };

/* --- out --- */

static struct sk_buff *bond_slow_alloc(const struct bond_lacp_port *port)
{
	const struct slave *slave = port->slave;
	struct net_device *dev = slave->dev;
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_HLEN + BOND_SLOW_LEN +
			dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, bond_lacp_group);
	ether_addr_copy(eth->h_source, slave->perm_hwaddr);
	eth->h_proto = htons(ETH_P_SLOW);
	skb_set_network_header(skb, ETH_HLEN);
	skb->dev = dev;
	skb->protocol = htons(ETH_P_SLOW);
	skb->priority = TC_PRIO_CONTROL;
	return skb;
}

static void bond_lacp_tlv_fill(struct bond_lacp_tlv *tlv, u8 type,
			       const struct bond_lacp_party *party)
{
	tlv->type = type;
	tlv->len = sizeof(*tlv);
	tlv->sys_prio = htons(party->sys_prio);
	ether_addr_copy(tlv->system, party->system);
	tlv->key = htons(party->key);
	tlv->port_prio = htons(party->port_prio);
	tlv->port = htons(party->port);
	tlv->state = party->state;
}

bool bond_lacp_pdu_queue(struct bond_lacp_port *port)
{
	struct sk_buff *skb = bond_slow_alloc(port);
	struct bond_lacpdu *pdu;

	lockdep_assert_held(&port->lacp->lock);
	if (!skb)
		return false;
	pdu = skb_put_zero(skb, sizeof(*pdu));
	pdu->subtype = BOND_SLOW_LACP;
	pdu->version = BOND_LACP_VERSION;
	bond_lacp_tlv_fill(&pdu->actor, BOND_LACP_TLV_ACTOR, &port->actor);
	bond_lacp_tlv_fill(&pdu->partner, BOND_LACP_TLV_PARTNER,
			   &port->partner);
	pdu->collector_type = BOND_LACP_TLV_COLLECTOR;
	pdu->collector_len = offsetof(struct bond_lacpdu, rest) + 12 -
			     offsetof(struct bond_lacpdu, collector_type);
	__skb_queue_tail(&port->lacp->txq, skb);
	bond_lacp_count(port, BOND_3AD_STAT_LACPDU_TX);
	return true;
}

static void bond_marker_respond(struct bond_lacp_port *port,
				const struct bond_marker *request)
{
	struct sk_buff *skb = bond_slow_alloc(port);
	struct bond_marker *pdu;

	if (!skb)
		return;
	pdu = skb_put_data(skb, request, sizeof(*request));
	pdu->type = BOND_MARKER_TLV_RESPONSE;
	__skb_queue_tail(&port->lacp->txq, skb);
	bond_lacp_count(port, BOND_3AD_STAT_MARKER_RESP_TX);
}

/* --- in --- */

void bond_lacp_party_of(const struct bond_lacp_tlv *tlv,
			struct bond_lacp_party *party)
{
	party->sys_prio = ntohs(tlv->sys_prio);
	ether_addr_copy(party->system, tlv->system);
	party->key = ntohs(tlv->key);
	party->port_prio = ntohs(tlv->port_prio);
	party->port = ntohs(tlv->port);
	party->state = tlv->state;
}

/* The version is not looked at: later ones keep all this where it is. */
static bool bond_lacp_pdu_valid(const struct bond_lacpdu *pdu)
{
	return pdu->actor.type == BOND_LACP_TLV_ACTOR &&
	       pdu->actor.len == sizeof(pdu->actor) &&
	       pdu->partner.type == BOND_LACP_TLV_PARTNER &&
	       pdu->partner.len == sizeof(pdu->partner);
}

static void bond_lacp_take(struct bond_lacp_port *port,
			   const struct bond_lacpdu *pdu)
{
	const struct slave *slave = port->slave;

	bond_lacp_count(port, BOND_3AD_STAT_LACPDU_RX);
	if (!bond_lacp_pdu_valid(pdu)) {
		bond_lacp_count(port, BOND_3AD_STAT_LACPDU_ILLEGAL_RX);
		return;
	}
	if (ether_addr_equal(pdu->actor.system, port->actor.system)) {
		if (net_ratelimit())
			bond_slave_info(slave->bond, slave->dev,
					"LACPDU of this bond came back: is there a loop?\n");
		return;
	}
	bond_lacp_pdu_received(port, pdu);
}

/* Who floods us with markers does not get us to flood the link. */
static bool bond_marker_allowed(struct bond_lacp_port *port)
{
	unsigned long now = port->lacp->now;

	if (!port->marker_cnt ||
	    time_after_eq(now, port->marker_since + HZ)) {
		port->marker_since = now;
		port->marker_cnt = 0;
	}
	if (port->marker_cnt >= BOND_MARKER_MAX)
		return false;
	port->marker_cnt++;
	return true;
}

static void bond_marker_take(struct bond_lacp_port *port,
			     const struct bond_marker *pdu)
{
	switch (pdu->type) {
	case BOND_MARKER_TLV_INFO:
		bond_lacp_count(port, BOND_3AD_STAT_MARKER_RX);
		if (port->enabled && bond_marker_allowed(port))
			bond_marker_respond(port, pdu);
		break;
	case BOND_MARKER_TLV_RESPONSE:
		bond_lacp_count(port, BOND_3AD_STAT_MARKER_RESP_RX);
		break;
	default:
		bond_lacp_count(port, BOND_3AD_STAT_MARKER_UNKNOWN_RX);
	}
}

/* What is neither: other slow protocols have somebody else to go to. */
static void bond_slow_other(struct bond_lacp_port *port, u8 subtype)
{
	bond_lacp_count(port, subtype && subtype <= BOND_SLOW_SUBTYPE_MAX ?
				      BOND_3AD_STAT_LACPDU_UNKNOWN_RX :
				      BOND_3AD_STAT_LACPDU_ILLEGAL_RX);
}

union bond_slow {
	u8 subtype;
	struct bond_lacpdu lacp;
	struct bond_marker marker;
};

static bool bond_slow_take(struct bond_lacp_port *port,
			   const struct sk_buff *skb)
{
	const union bond_slow *pdu;
	const u8 *subtype;
	union bond_slow buf;

	subtype = skb_header_pointer(skb, 0, sizeof(*subtype), &buf);
	pdu = skb_header_pointer(skb, 0, sizeof(*pdu), &buf);
	if (!subtype || (*subtype != BOND_SLOW_LACP &&
			 *subtype != BOND_SLOW_MARKER)) {
		bond_slow_other(port, subtype ? *subtype : 0);
		return false;
	}
	if (!pdu)
		bond_lacp_count(port, BOND_3AD_STAT_LACPDU_ILLEGAL_RX);
	else if (*subtype == BOND_SLOW_LACP)
		bond_lacp_take(port, &pdu->lacp);
	else
		bond_marker_take(port, &pdu->marker);
	return true;
}

/*
 * Slow protocols speak of one link.  A frame for another address has been
 * forwarded, and who is allowed to make us forward frames to ourselves must not
 * decide on our links.
 */
static bool bond_slow_is_ours(const struct sk_buff *skb)
{
	return is_link_local_ether_addr(eth_hdr(skb)->h_dest) &&
	       !(skb_vlan_tag_present(skb) && skb_vlan_tag_get_id(skb));
}

static noinline bool bond_lacp_rx_slow(struct bond_lacp *lacp,
				       struct slave *slave,
				       struct sk_buff *skb)
{
	struct bond_lacp_port *port = bond_lacp_port_of(slave);
	bool taken = false;

	if (!lacp || !port || !bond_slow_is_ours(skb))
		return false;
	bond_lacp_lock(lacp);
	if (lacp->running && port->slave)
		taken = bond_slow_take(port, skb);
	bond_lacp_unlock(lacp);
	if (taken)
		consume_skb(skb);
	return taken;
}

bool bond_lacp_rx(struct bonding *bond, struct slave *slave,
		  struct sk_buff *skb)
{
	if (likely(skb->protocol != htons(ETH_P_SLOW)))
		return false;
	return bond_lacp_rx_slow(bond_lacp_of(bond), slave, skb);
}
