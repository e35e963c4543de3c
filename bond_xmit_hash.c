// SPDX-License-Identifier: GPL-2.0
/*
 * The transmit hash policies: from a frame to a 32-bit number.
 *
 * Called for each frame by whoever places frames on slaves, under RCU with BH
 * off.  Reads the frame and the bond's policy, writes nothing, holds nothing.
 *
 * A frame is looked at as a view: one piece of memory, an skb's linear part or
 * an XDP buffer, and where the network header is in it.  What a policy wants to
 * know of it is a flow: addresses and ports.  Whatever a frame is stored in,
 * both are made by the same code: straight ahead for plain TCP and UDP, else
 * header by header, and for encap policies by the kernel's flow dissector.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/flow_dissector.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "bond_hash.h"
#include "bond_view.h"

#define BOND_IPV4_PLAIN		0x45	/* version 4, no options */
#define BOND_PORTS_LEN		sizeof(__be32)

/**
 * struct bond_flow - what a policy may look at beyond the Ethernet header
 * @addr: addresses, source first, right behind each other; not aligned
 * @words: their length in 32-bit words, 0 for none
 * @ports: both ports as they are in the frame, or what stands for them
 */
struct bond_flow {
	const u8 *addr;
	unsigned int words;
	u32 ports;
};

/* Memory for headers that are not in one piece */
union bond_flow_buf {
	struct iphdr ip4;
	struct ipv6hdr ip6;
	struct flow_keys keys;
};

/* --- the Ethernet header --- */

static __always_inline u32 bond_eth_hash(const struct ethhdr *eth)
{
	return eth->h_dest[ETH_ALEN - 1] ^ eth->h_source[ETH_ALEN - 1] ^
	       be16_to_cpu(eth->h_proto);
}

static __always_inline u32 bond_mac_hash(const u8 *mac)
{
	u32 vendor = get_unaligned_be32(mac) >> 8;
	u32 device = get_unaligned_be32(mac + 2) & 0xffffff;

	return vendor ^ device;
}

/*
 * The tag beside the frame, with its priority: the in-tree driver has always
 * used it whole.  One inside is the traffic's own, and does not count.
 */
static __always_inline u32 bond_skb_vlan_tag(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? skb_vlan_tag_get(skb) : 0;
}

/* Beside an XDP frame there is nothing: its own tag is the same frame's. */
static u32 bond_view_vlan_tag(const struct bond_view *view)
{
	const struct vlan_hdr *vlan;
	struct vlan_hdr buf;

	if (view->skb)
		return bond_skb_vlan_tag(view->skb);
	if (!eth_type_vlan(view->proto))
		return 0;
	vlan = bond_view_pull(view, ETH_HLEN, sizeof(buf), &buf);
	return vlan ? be16_to_cpu(vlan->h_vlan_TCI) : 0;
}

/* --- flows --- */

static __always_inline bool bond_proto_is_ip(__be16 proto)
{
	return proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6);
}

static __always_inline bool bond_proto_plain(u8 proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP;
}

/*
 * TCP or UDP in one piece, nothing between the headers: what all policies that
 * look at IP see alike.
 */
static __always_inline bool bond_flow_short(const struct bond_view *view,
					    struct bond_flow *flow)
{
	const struct ipv6hdr *ip6 = (const void *)view->net;
	const struct iphdr *ip4 = (const void *)view->net;
	const u8 *end = view->data + view->len;

	if (likely(view->proto == htons(ETH_P_IP))) {
		if (unlikely((const u8 *)(ip4 + 1) + BOND_PORTS_LEN > end ||
			     *view->net != BOND_IPV4_PLAIN ||
			     ip_is_fragment(ip4) ||
			     !bond_proto_plain(ip4->protocol)))
			return false;
		flow->addr = (const u8 *)&ip4->saddr;
		flow->words = 2;
		flow->ports = get_unaligned((const u32 *)(ip4 + 1));
		return true;
	}
	if (view->proto == htons(ETH_P_IPV6)) {
		if (unlikely((const u8 *)(ip6 + 1) + BOND_PORTS_LEN > end ||
			     !bond_proto_plain(ip6->nexthdr)))
			return false;
		flow->addr = (const u8 *)&ip6->saddr;
		flow->words = 8;
		flow->ports = get_unaligned((const u32 *)(ip6 + 1));
		return true;
	}
	return false;
}

/* XOR of the addresses' words */
static __always_inline u32 bond_flow_addr_xor(const struct bond_flow *flow)
{
	const u32 *word = (const u32 *)flow->addr;
	const u64 *pair = (const u64 *)flow->addr;
	u64 sum;

	if (flow->words == 2)
		return get_unaligned(word) ^ get_unaligned(word + 1);
	if (flow->words != 8)
		return flow->words ? get_unaligned(word) : 0;
	sum = get_unaligned(pair) ^ get_unaligned(pair + 1) ^
	      get_unaligned(pair + 2) ^ get_unaligned(pair + 3);
	return (u32)sum ^ (u32)(sum >> 32);
}

static __always_inline bool bond_policy_in(u32 policy, u32 set)
{
	return set >> policy & 1;
}

#define BOND_POLICIES_PORTS	(BIT(BOND_XMIT_POLICY_LAYER34) | \
				 BIT(BOND_XMIT_POLICY_ENCAP34))
#define BOND_POLICIES_ENCAP	(BIT(BOND_XMIT_POLICY_ENCAP23) | \
				 BIT(BOND_XMIT_POLICY_ENCAP34))

/**
 * bond_flow_hash() - from a flow to the number
 * @flow: the flow
 * @policy: BOND_XMIT_POLICY_*
 * @eth: the frame's Ethernet header
 *
 * The legacy formula: exclusive or, folded.  With ports the lowest bit goes,
 * since clients prefer even ones.
 */
static __always_inline u32 bond_flow_hash(const struct bond_flow *flow,
					  u32 policy, const struct ethhdr *eth)
{
	bool ports = bond_policy_in(policy, BOND_POLICIES_PORTS);
	u32 hash = bond_flow_addr_xor(flow);

	hash ^= ports ? flow->ports : bond_eth_hash(eth);
	hash ^= hash >> 16;
	hash ^= hash >> 8;
	return hash >> ports;
}

/* --- plain policies, header by header --- */

/* Protocols without ports, and ports beyond the frame's end, count as zero. */
static void bond_flow_ports(const struct bond_view *view, int thoff, u8 proto,
			    struct bond_flow *flow)
{
	int off = proto_ports_offset(proto);
	const void *ports;
	u32 buf;

	if (off < 0)
		return;
	ports = bond_view_pull(view, thoff + off, sizeof(buf), &buf);
	if (ports)
		flow->ports = get_unaligned((const u32 *)ports);
}

/**
 * bond_flow_ip() - read one IP header and the ports behind it
 * @view: the frame
 * @off: offset of the header
 * @flow: receives addresses and ports
 * @buf: memory that @flow may point into
 * @thoff: receives the offset of what follows
 *
 * Return: the protocol above, IPPROTO_RAW when that is not readable (a
 * fragment), or -1 when there is no IP header.
 */
static int bond_flow_ip(const struct bond_view *view, int off,
			struct bond_flow *flow, union bond_flow_buf *buf,
			int *thoff)
{
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;
	u8 proto;

	flow->ports = 0;
	if (view->proto == htons(ETH_P_IP)) {
		ip4 = bond_view_pull(view, off, sizeof(*ip4), &buf->ip4);
		if (!ip4)
			return -1;
		flow->addr = (const u8 *)&ip4->saddr;
		flow->words = 2;
		if (ip_is_fragment(ip4))
			return IPPROTO_RAW;
		*thoff = off + ip4->ihl * 4;
		proto = ip4->protocol;
	} else if (view->proto == htons(ETH_P_IPV6)) {
		ip6 = bond_view_pull(view, off, sizeof(*ip6), &buf->ip6);
		if (!ip6)
			return -1;
		flow->addr = (const u8 *)&ip6->saddr;
		flow->words = 8;
		*thoff = off + sizeof(*ip6);
		proto = ip6->nexthdr;
	} else {
		return -1;
	}
	bond_flow_ports(view, *thoff, proto, flow);
	return proto;
}

static u32 bond_icmp_word(const struct flow_dissector_key_icmp *icmp)
{
	u32 word;

	BUILD_BUG_ON(sizeof(word) != sizeof(*icmp));
	memcpy(&word, icmp, sizeof(word));
	return word;
}

static bool bond_icmp_is_error(int proto, u8 type)
{
	return proto == IPPROTO_ICMP ? icmp_is_err(type) :
				       icmpv6_is_err(type);
}

/* An ICMP error belongs to the flow that it is about. */
static bool bond_flow_plain(const struct bond_view *view,
			    struct bond_flow *flow, union bond_flow_buf *buf)
{
	struct flow_dissector_key_icmp icmp = {};
	int thoff = 0;
	int proto;

	proto = bond_flow_ip(view, bond_view_net_off(view), flow, buf, &thoff);
	if (proto != IPPROTO_ICMP && proto != IPPROTO_ICMPV6)
		return proto >= 0;
	skb_flow_get_icmp_tci(view->skb, &icmp, view->data, thoff, view->len);
	if (bond_icmp_is_error(proto, icmp.type))
		return bond_flow_ip(view, thoff + sizeof(struct icmphdr), flow,
				    buf, &thoff) >= 0;
	if (icmp.id)
		flow->ports = bond_icmp_word(&icmp);
	return true;
}

/* --- encap policies: the flow dissector --- */

#define BOND_KEY_BIT(key)	BIT(FLOW_DISSECTOR_KEY_##key)
#define BOND_KEY_AT(key, field)	\
	[FLOW_DISSECTOR_KEY_##key] = offsetof(struct flow_keys, field)

static struct flow_dissector bond_dissector __read_mostly = {
	.used_keys = BOND_KEY_BIT(CONTROL) | BOND_KEY_BIT(BASIC) |
		     BOND_KEY_BIT(IPV4_ADDRS) | BOND_KEY_BIT(IPV6_ADDRS) |
		     BOND_KEY_BIT(TIPC) | BOND_KEY_BIT(PORTS) |
		     BOND_KEY_BIT(ICMP),
	.offset = {
		BOND_KEY_AT(CONTROL, control),
		BOND_KEY_AT(BASIC, basic),
		BOND_KEY_AT(IPV4_ADDRS, addrs.v4addrs),
		BOND_KEY_AT(IPV6_ADDRS, addrs.v6addrs),
		BOND_KEY_AT(TIPC, addrs.tipckey),
		BOND_KEY_AT(PORTS, ports),
		BOND_KEY_AT(ICMP, icmp),
	},
};

/* Does a BPF program see to dissection?  Then only it knows what is plain. */
static __always_inline bool bond_dissector_is_bpf(const struct bonding *bond)
{
	const int type = NETNS_BPF_FLOW_DISSECTOR;

	return rcu_access_pointer(init_net.bpf.run_array[type]) ||
	       rcu_access_pointer(dev_net(bond->dev)->bpf.run_array[type]);
}

static bool bond_flow_encap(const struct bonding *bond,
			    const struct bond_view *view,
			    struct bond_flow *flow, union bond_flow_buf *buf)
{
	struct flow_keys *keys = &buf->keys;

	memset(keys, 0, sizeof(*keys));
	if (!__skb_flow_dissect(dev_net(bond->dev), view->skb, &bond_dissector,
				keys, view->data, view->proto,
				bond_view_net_off(view), view->len, 0))
		return false;
	flow->addr = (const u8 *)&keys->addrs;
	flow->words = 0;
	if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS)
		flow->words = 2;
	else if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS)
		flow->words = 8;
	else if (keys->control.addr_type == FLOW_DISSECTOR_KEY_TIPC)
		flow->words = 1;
	flow->ports = keys->icmp.id ? bond_icmp_word(&keys->icmp) :
				      (__force u32)keys->ports.ports;
	return true;
}

/* The short path, behind one VLAN tag: bridges and XDP have it in the frame. */
static bool bond_flow_tagged(const struct bond_view *view,
			     struct bond_flow *flow)
{
	const struct vlan_hdr *vlan = (const void *)view->net;
	struct bond_view inner = *view;

	inner.net += sizeof(*vlan);
	if (!eth_type_vlan(view->proto) || inner.net > view->data + view->len)
		return false;
	inner.proto = vlan->h_vlan_encapsulated_proto;
	return bond_flow_short(&inner, flow);
}

/* --- all policies --- */

/* For frames that the short path does not know: everything from the start */
static noinline u32 bond_hash_long(const struct bonding *bond,
				   struct bond_pkt pkt, u32 policy)
{
	const struct bond_view view = bond_view(pkt);
	const struct ethhdr *eth;
	union bond_flow_buf buf;
	struct ethhdr eth_buf;
	struct bond_flow flow;
	bool found;

	eth = bond_view_pull(&view, 0, sizeof(*eth), &eth_buf);
	if (!eth)
		return 0;
	if (policy == BOND_XMIT_POLICY_LAYER2)
		return bond_eth_hash(eth);
	if (policy == BOND_XMIT_POLICY_VLAN_SRCMAC)
		return bond_mac_hash(eth->h_source) ^ bond_view_vlan_tag(&view);
	if (!bond_policy_in(policy, BOND_POLICIES_ENCAP))
		found = bond_flow_plain(&view, &flow, &buf);
	else if (!bond_dissector_is_bpf(bond) &&
		 bond_flow_tagged(&view, &flow))
		found = true;
	else
		found = bond_flow_encap(bond, &view, &flow, &buf);
	if (!found)
		return bond_eth_hash(eth);
	return bond_flow_hash(&flow, policy, eth);
}

/* Inlined once for each policy that looks at IP, with @policy a constant */
static __always_inline u32 bond_hash_ip(const struct bonding *bond,
					struct bond_pkt pkt, u32 policy)
{
	const bool encap = bond_policy_in(policy, BOND_POLICIES_ENCAP);
	const struct bond_view view = bond_view(pkt);
	const struct ethhdr *eth = (const void *)view.data;
	struct bond_flow flow;

	if (unlikely(view.len < ETH_HLEN) ||
	    unlikely(encap && bond_dissector_is_bpf(bond)))
		return bond_hash_long(bond, pkt, policy);
	if (likely(bond_flow_short(&view, &flow)))
		return bond_flow_hash(&flow, policy, eth);
	if (!encap && !bond_proto_is_ip(view.proto))
		return bond_eth_hash(eth);
	return bond_hash_long(bond, pkt, policy);
}

static __always_inline u32 bond_hash_mac(const struct bonding *bond,
					 struct bond_pkt pkt, u32 policy)
{
	const struct bond_view view = bond_view(pkt);
	const struct ethhdr *eth = (const void *)view.data;

	if (unlikely(view.len < ETH_HLEN))
		return bond_hash_long(bond, pkt, policy);
	if (policy == BOND_XMIT_POLICY_LAYER2)
		return bond_eth_hash(eth);
	if (bond_pkt_is_xdp(pkt))
		return bond_hash_long(bond, pkt, policy);
	return bond_mac_hash(eth->h_source) ^ bond_skb_vlan_tag(view.skb);
}

u32 bond_hash(const struct bonding *bond, struct bond_pkt pkt)
{
	u32 policy = READ_ONCE(bond->params.xmit_hash_policy);

	switch (policy) {
	case BOND_XMIT_POLICY_LAYER2:
		return bond_hash_mac(bond, pkt, BOND_XMIT_POLICY_LAYER2);
	case BOND_XMIT_POLICY_LAYER34:
		return bond_hash_ip(bond, pkt, BOND_XMIT_POLICY_LAYER34);
	case BOND_XMIT_POLICY_LAYER23:
		return bond_hash_ip(bond, pkt, BOND_XMIT_POLICY_LAYER23);
	case BOND_XMIT_POLICY_ENCAP23:
		return bond_hash_ip(bond, pkt, BOND_XMIT_POLICY_ENCAP23);
	case BOND_XMIT_POLICY_ENCAP34:
		if (!bond_pkt_is_xdp(pkt) && bond_pkt_skb(pkt)->l4_hash)
			return bond_pkt_skb(pkt)->hash;
		return bond_hash_ip(bond, pkt, BOND_XMIT_POLICY_ENCAP34);
	case BOND_XMIT_POLICY_VLAN_SRCMAC:
		return bond_hash_mac(bond, pkt, BOND_XMIT_POLICY_VLAN_SRCMAC);
	}
	return bond_hash_long(bond, pkt, policy);
}

enum netdev_lag_hash bond_hash_lag_type(u32 policy)
{
	static const u8 types[] = {
		[BOND_XMIT_POLICY_LAYER2] = NETDEV_LAG_HASH_L2,
		[BOND_XMIT_POLICY_LAYER34] = NETDEV_LAG_HASH_L34,
		[BOND_XMIT_POLICY_LAYER23] = NETDEV_LAG_HASH_L23,
		[BOND_XMIT_POLICY_ENCAP23] = NETDEV_LAG_HASH_E23,
		[BOND_XMIT_POLICY_ENCAP34] = NETDEV_LAG_HASH_E34,
		[BOND_XMIT_POLICY_VLAN_SRCMAC] = NETDEV_LAG_HASH_VLAN_SRCMAC,
	};

	if (policy >= ARRAY_SIZE(types))
		return NETDEV_LAG_HASH_UNKNOWN;
	return types[policy];
}
