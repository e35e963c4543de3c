// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel functions that bond_xmit_hash.c calls, for user space.
 *
 * The dissector is the model's own: this proves that the driver gives it the
 * right frame and reads its answer rightly, and that the short path says the
 * same without it.  What the kernel's dissector makes of a frame is proven in a
 * guest (hash_policies.sh).
 */
#include "hash_model.h"

struct net init_net;
unsigned long unit_dissected;

/*
 * What is beyond the first piece is copied out of both.  As in the kernel, an
 * offset may lie before the frame, in the headroom.
 */
void *__skb_header_pointer(const struct sk_buff *skb, int offset, int len,
			   const void *data, int hlen, void *buffer)
{
	u8 *to = buffer;
	int i;

	if (hlen - offset >= len)
		return (void *)((const u8 *)data + offset);
	if (!skb || offset + len > (int)skb->len)
		return NULL;
	for (i = 0; i < len; i++)
		to[i] = offset + i < hlen ? ((const u8 *)data)[offset + i] :
					    skb->more[offset + i - hlen];
	return buffer;
}

bool icmp_is_err(int type)
{
	return type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH ||
	       type == ICMP_REDIRECT || type == ICMP_TIME_EXCEEDED ||
	       type == ICMP_PARAMETERPROB;
}

bool icmpv6_is_err(int type)
{
	return type == ICMPV6_DEST_UNREACH || type == ICMPV6_PKT_TOOBIG ||
	       type == ICMPV6_TIME_EXCEED || type == ICMPV6_PARAMPROB;
}

int proto_ports_offset(int proto)
{
	switch (proto) {
	case IPPROTO_AH:
		return 4;
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_DCCP:
	case IPPROTO_ESP:
	case IPPROTO_SCTP:
	case IPPROTO_UDPLITE:
		return 0;
	}
	return -1;
}

static bool icmp_has_id(u8 type)
{
	return type == ICMP_ECHO || type == ICMP_ECHOREPLY ||
	       type == ICMP_TIMESTAMP || type == ICMP_TIMESTAMPREPLY ||
	       type == ICMPV6_ECHO_REQUEST || type == ICMPV6_ECHO_REPLY;
}

void skb_flow_get_icmp_tci(const struct sk_buff *skb,
			   struct flow_dissector_key_icmp *key_icmp,
			   const void *data, int thoff, int hlen)
{
	const u8 *icmp;
	u8 buf[8];

	icmp = __skb_header_pointer(skb, thoff, sizeof(buf), data, hlen, buf);
	if (!icmp)
		return;
	key_icmp->type = icmp[0];
	key_icmp->code = icmp[1];
	key_icmp->id = 0;
	if (icmp_has_id(icmp[0]))
		key_icmp->id = (icmp[4] << 8 | icmp[5]) ?: 1;
}

/* The model wants the frame in one piece. */
static void model_frame(struct hash_flow *flow, const struct sk_buff *skb,
			const void *data, int hlen)
{
	static u8 whole[HASH_FRAME_MAX];

	flow->linear = hlen;
	flow->data = data;
	flow->len = hlen;
	if (!skb)
		return;
	memcpy(whole, data, hlen);
	memcpy(whole + hlen, skb->more, skb->data_len);
	flow->data = whole;
	flow->len = skb->len;
}

/* The model only has the sum of an address pair: any that has it will do. */
static void keys_addresses(struct flow_keys *keys, const struct hash_flow *flow)
{
	const u32 other = 0x5a7e1c93;

	if (flow->proto == ETH_P_TIPC) {
		keys->control.addr_type = FLOW_DISSECTOR_KEY_TIPC;
		keys->addrs.tipckey.key = flow->addr;
	} else if (flow->proto == ETH_P_IPV6) {
		keys->control.addr_type = FLOW_DISSECTOR_KEY_IPV6_ADDRS;
		keys->addrs.v6addrs.src.s6_addr32[1] = other;
		keys->addrs.v6addrs.dst.s6_addr32[3] = other ^ flow->addr;
	} else if (flow->addr) {
		keys->control.addr_type = FLOW_DISSECTOR_KEY_IPV4_ADDRS;
		keys->addrs.v4addrs.src = other ^ flow->addr;
		keys->addrs.v4addrs.dst = other;
	}
}

bool __skb_flow_dissect(const struct net *net, const struct sk_buff *skb,
			struct flow_dissector *flow_dissector,
			void *target_container, const void *data, __be16 proto,
			int nhoff, int hlen, unsigned int flags)
{
	struct flow_keys *keys = target_container;
	struct hash_flow flow = { 0 };

	unit_dissected++;
	model_frame(&flow, skb, data, hlen);
	flow.off = nhoff;
	flow.proto = ntohs(proto);
	flow.tagged = skb && skb->vlan_present;
	flow.outer = skb ? ntohs(skb->protocol) : flow.proto;
	if (nhoff < 0 || hash_model_dissect(&flow))
		return false;
	keys_addresses(keys, &flow);
	keys->basic.ip_proto = flow.upper;
	keys->ports.ports = flow.word;
	if ((flow.upper == IPPROTO_ICMP || flow.upper == IPPROTO_ICMPV6) &&
	    !flow.fragment)
		skb_flow_get_icmp_tci(skb, &keys->icmp, data, flow.off, hlen);
	return true;
}
