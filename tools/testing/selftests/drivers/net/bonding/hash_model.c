// SPDX-License-Identifier: GPL-2.0
/*
 * The transmit hash policies, written a second time from their documented
 * formulas, byte by byte and without any shortcut: what frames are compared
 * with.
 *
 * Shares nothing with the driver.  What the encap policies see of a frame is
 * what the kernel's flow dissector sees, so the second half of this file walks
 * tunnels by its rules.
 */
#include <err.h>
#include <string.h>

#include "hash_model.h"

const char * const hash_policy_names[HASH_POLICIES] = {
	[HASH_LAYER2] = "layer2",
	[HASH_LAYER34] = "layer3+4",
	[HASH_LAYER23] = "layer2+3",
	[HASH_ENCAP23] = "encap2+3",
	[HASH_ENCAP34] = "encap3+4",
	[HASH_VLAN_SRCMAC] = "vlan+srcmac",
};

enum hash_policy hash_policy_of(const char *name)
{
	int i;

	for (i = 0; i < HASH_POLICIES; i++)
		if (!strcmp(name, hash_policy_names[i]))
			return i;
	errx(2, "no policy '%s'", name);
}

enum {
	ETH_HEADER = 14,
	P_IP = 0x0800,
	P_VLAN = 0x8100,
	P_IP6 = 0x86dd,
	P_MPLS = 0x8847,
	P_MPLS_MC = 0x8848,
	P_SVLAN = 0x88a8,
};

/* --- reading --- */

static int has(const struct hash_flow *flow, unsigned int off, unsigned int n)
{
	return off + n <= flow->len;
}

static unsigned int be16(const struct hash_flow *flow, unsigned int off)
{
	return flow->data[off] << 8 | flow->data[off + 1];
}

static int is_vlan(unsigned int proto)
{
	return proto == P_VLAN || proto == P_SVLAN;
}

static unsigned int ethertype(const struct hash_frame *frame)
{
	return frame->data[12] << 8 | frame->data[13];
}

/* As it lies there: in the machine's own order, whatever that is */
static __u32 stored32(const struct hash_flow *flow, unsigned int off)
{
	__u32 v;

	memcpy(&v, flow->data + off, sizeof(v));
	return v;
}

/* --- IP --- */

static int read_ip4(struct hash_flow *flow)
{
	unsigned int off = flow->off;

	if (!has(flow, off, 20))
		return -1;
	flow->addr = stored32(flow, off + 12) ^ stored32(flow, off + 16);
	flow->upper = flow->data[off + 9];
	flow->fragment = be16(flow, off + 6) & 0x3fff;
	flow->off += (flow->data[off] & 15) * 4;
	return 0;
}

static int read_ip6(struct hash_flow *flow)
{
	int i;

	if (!has(flow, flow->off, 40))
		return -1;
	flow->addr = 0;
	for (i = 8; i < 40; i += 4)
		flow->addr ^= stored32(flow, flow->off + i);
	flow->upper = flow->data[flow->off + 6];
	flow->fragment = 0;
	flow->off += 40;
	return 0;
}

static int read_ip(struct hash_flow *flow)
{
	if (flow->proto == P_IP)
		return read_ip4(flow);
	if (flow->proto == P_IP6)
		return read_ip6(flow);
	return -1;
}

static void read_ports(struct hash_flow *flow)
{
	unsigned int off = flow->off;

	flow->word = 0;
	switch (flow->upper) {
	case 51:			/* AH: its SPI */
		off += 4;
		/* then as the others */
		__attribute__((fallthrough));
	case 6:				/* TCP */
	case 17:			/* UDP */
	case 33:			/* DCCP */
	case 50:			/* ESP: its SPI */
	case 132:			/* SCTP */
	case 136:			/* UDP-Lite */
		if (has(flow, off, 4))
			flow->word = stored32(flow, off);
	}
}

/* --- ICMP --- */

static int is_icmp(const struct hash_flow *flow)
{
	return (flow->upper == 1 || flow->upper == 58) && !flow->fragment &&
	       has(flow, flow->off, 8);
}

static int is_icmp_error(const struct hash_flow *flow)
{
	unsigned int type = flow->data[flow->off];

	if (flow->upper == 58)
		return type >= 1 && type <= 4;
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

/* type, code and identifier; an identifier of 0 counts as 1 */
static void read_icmp_id(struct hash_flow *flow)
{
	struct {
		__u8 type;
		__u8 code;
		__u16 id;
	} word = { flow->data[flow->off], flow->data[flow->off + 1], 0 };

	switch (word.type) {
	case 0:
	case 8:
	case 13:
	case 14:
	case 128:
	case 129:
		word.id = be16(flow, flow->off + 4) ?: 1;
		memcpy(&flow->word, &word, sizeof(word));
	}
}

/* An error is hashed by the packet that it is about. */
static int read_embedded(struct hash_flow *flow)
{
	flow->off += 8;
	if (read_ip(flow))
		return -1;
	flow->word = 0;
	if (!flow->fragment)
		read_ports(flow);
	return 0;
}

/* --- plain policies --- */

static int walk_plain(struct hash_flow *flow)
{
	if (read_ip(flow))
		return -1;
	if (!flow->fragment)
		read_ports(flow);
	return 0;
}

/* --- encap policies: the rules of the flow dissector --- */

enum step {
	STEP_BAD,		/* not understood: only layer 2 counts */
	STEP_END,		/* nothing more to be seen */
	STEP_UPPER,		/* a protocol above IP follows at flow->off */
	STEP_PROTO,		/* flow->proto follows at flow->off */
};

#define HEADERS_MAX	15
#define NO_UPPER	59

/* The first tag it meets is taken for the one beside the frame, if any. */
static enum step step_vlan(struct hash_flow *flow)
{
	if (flow->tagged) {
		flow->tagged = 0;
		flow->proto = flow->outer;
		return STEP_PROTO;
	}
	if (!has(flow, flow->off, 4))
		return STEP_BAD;
	flow->proto = be16(flow, flow->off + 2);
	flow->off += 4;
	return STEP_PROTO;
}

static enum step step_pppoe(struct hash_flow *flow)
{
	unsigned int ppp;

	if (!has(flow, flow->off, 8) || be16(flow, flow->off) != 0x1100)
		return STEP_BAD;
	ppp = be16(flow, flow->off + 6);
	flow->off += 8;
	switch (ppp) {
	case 0x0021:
		flow->proto = P_IP;
		return STEP_PROTO;
	case 0x0057:
		flow->proto = P_IP6;
		return STEP_PROTO;
	case 0x0281:
		flow->proto = P_MPLS;
		return STEP_PROTO;
	case 0x0283:
		flow->proto = P_MPLS_MC;
		return STEP_PROTO;
	}
	return (ppp & 0x0101) == 1 ? STEP_END : STEP_BAD;
}

static enum step step_batman(struct hash_flow *flow)
{
	if (!has(flow, flow->off, 10 + 14) ||
	    flow->data[flow->off] != 0x40 ||
	    flow->data[flow->off + 1] != 15)
		return STEP_BAD;
	flow->proto = be16(flow, flow->off + 22);
	flow->off += 24;
	return STEP_PROTO;
}

static enum step step_hsr(struct hash_flow *flow)
{
	if (!has(flow, flow->off, 6))
		return STEP_BAD;
	flow->proto = be16(flow, flow->off + 4);
	flow->off += 6;
	return STEP_PROTO;
}

static enum step step_ip(struct hash_flow *flow)
{
	if (flow->proto == P_IP && has(flow, flow->off, 1) &&
	    (flow->data[flow->off] & 15) < 5)
		return STEP_BAD;
	if (read_ip(flow))
		return STEP_BAD;
	return flow->fragment ? STEP_END : STEP_UPPER;
}

static enum step need(const struct hash_flow *flow, unsigned int n)
{
	return has(flow, flow->off, n) ? STEP_END : STEP_BAD;
}

/* The sending node counts as an address (but not of a keepalive probe, where
 * it is a random number: the corpus has none).
 */
static enum step step_tipc(struct hash_flow *flow)
{
	if (!has(flow, flow->off, 16))
		return STEP_BAD;
	flow->addr = stored32(flow, flow->off + 12);
	return STEP_END;
}

/* The one header that has to be in the linear part */
static enum step step_fcoe(struct hash_flow *flow)
{
	return flow->off + 38 <= flow->linear ? STEP_END : STEP_BAD;
}

static enum step step_proto(struct hash_flow *flow)
{
	switch (flow->proto) {
	case P_IP:
	case P_IP6:
		return step_ip(flow);
	case P_VLAN:
	case P_SVLAN:
		return step_vlan(flow);
	case 0x8864:
		return step_pppoe(flow);
	case 0x4305:
		return step_batman(flow);
	case 0x892f:
	case 0x88fb:
		return step_hsr(flow);
	case 0x88ca:
		return step_tipc(flow);
	case 0x8906:
		return step_fcoe(flow);
	case 0x88f7:
		return need(flow, 34);
	case 0x0806:
	case 0x8035:
	case P_MPLS:
	case P_MPLS_MC:
		return STEP_END;
	}
	return STEP_BAD;
}

static enum step step_ppp(struct hash_flow *flow, unsigned int off)
{
	unsigned int ppp;

	if (!has(flow, off, 4))
		return STEP_BAD;
	ppp = be16(flow, off + 2);
	flow->proto = ppp == 0x0021 ? P_IP : ppp == 0x0057 ? P_IP6 : 0x880b;
	flow->off = off + 4;
	return STEP_PROTO;
}

static enum step step_gre(struct hash_flow *flow)
{
	unsigned int off = flow->off + 4;
	unsigned int flags;

	if (!has(flow, flow->off, 4))
		return STEP_BAD;
	flags = be16(flow, flow->off);
	if ((flags & 0x4000) || (flags & 7) > 1)
		return STEP_END;
	flow->proto = be16(flow, flow->off + 2);
	if ((flags & 7) && (flow->proto != 0x880b || !(flags & 0x2000)))
		return STEP_END;
	off += flags & 0x8000 ? 4 : 0;
	if ((flags & 0x2000) && !has(flow, off, 4))
		return STEP_BAD;
	off += (flags & 0x2000 ? 4 : 0) + (flags & 0x1000 ? 4 : 0);
	if (flags & 7)
		return step_ppp(flow, off + (flags & 0x0080 ? 4 : 0));
	flow->off = off;
	if (flow->proto != 0x6558)
		return STEP_PROTO;
	if (!has(flow, off, 14))
		return STEP_BAD;
	flow->proto = be16(flow, off + 12);
	flow->off = off + 14;
	return STEP_PROTO;
}

static enum step step_ext(struct hash_flow *flow)
{
	unsigned int off = flow->off;

	if (!has(flow, off, 2))
		return STEP_BAD;
	flow->upper = flow->data[off];
	flow->off += (flow->data[off + 1] + 1) * 8;
	return STEP_UPPER;
}

static enum step step_fragment(struct hash_flow *flow)
{
	if (!has(flow, flow->off, 8))
		return STEP_BAD;
	flow->upper = flow->data[flow->off];
	flow->fragment = 1;
	flow->off += 8;
	return STEP_END;
}

static enum step step_into(struct hash_flow *flow, unsigned int proto)
{
	flow->proto = proto;
	return STEP_PROTO;
}

static enum step step_upper(struct hash_flow *flow)
{
	switch (flow->upper) {
	case 0:
	case 43:
	case 60:
		return flow->proto == P_IP6 ? step_ext(flow) : STEP_END;
	case 44:
		return flow->proto == P_IP6 ? step_fragment(flow) : STEP_END;
	case 4:
		return step_into(flow, P_IP);
	case 41:
		return step_into(flow, P_IP6);
	case 47:
		return step_gre(flow);
	case 137:
		return step_into(flow, P_MPLS);
	}
	return STEP_END;
}

/* One step, with the ports that it shows, even those of what is to follow */
static enum step step_any(struct hash_flow *flow, enum step step)
{
	if (step == STEP_PROTO)
		return step_proto(flow);
	step = step_upper(flow);
	if (!flow->fragment)
		read_ports(flow);
	return step;
}

int hash_model_dissect(struct hash_flow *flow)
{
	enum step step = STEP_PROTO, next;

	for (; step > STEP_END; step = next) {
		next = step_any(flow, step);
		/* IP and what is right above it count as one */
		if (next <= STEP_END ||
		    (step == STEP_PROTO && next == STEP_UPPER))
			continue;
		if (++flow->headers > HEADERS_MAX) {
			flow->upper = NO_UPPER;
			return 0;
		}
	}
	return step == STEP_BAD ? -1 : 0;
}

/* --- policies --- */

static __u32 fold(__u32 hash)
{
	hash ^= hash >> 16;
	return hash ^ hash >> 8;
}

/* also what the policies that look further fall back to */
static __u32 hash_layer2(const struct hash_frame *frame)
{
	return frame->data[5] ^ frame->data[11] ^ ethertype(frame);
}

/* The whole tag, priority included, not the VLAN id alone */
static __u32 vlan_tag(const struct hash_frame *frame, unsigned int how)
{
	if (how & HASH_XDP)
		return is_vlan(ethertype(frame)) && frame->len >= 18 ?
		       frame->data[14] << 8 | frame->data[15] : 0;
	if ((how & HASH_VLAN_DEVICES) && frame->vlan)
		return hash_vlan_tci(&hash_vlans[frame->vlan - 1]);
	return 0;
}

static __u32 hash_srcmac(const struct hash_frame *frame, unsigned int how)
{
	const __u8 *mac = frame->data + 6;

	return (mac[0] << 16 | mac[1] << 8 | mac[2]) ^
	       (mac[3] << 16 | mac[4] << 8 | mac[5]) ^ vlan_tag(frame, how);
}

/*
 * Where the stack believes the network header to be: packet sockets put it
 * behind the frame's own tags.
 */
static unsigned int network_offset(const struct hash_flow *flow)
{
	unsigned int proto = flow->outer, off = ETH_HEADER, tags;

	for (tags = 0; is_vlan(proto); tags++) {
		if (!has(flow, off, 4) || tags == 7)
			return ETH_HEADER;
		proto = be16(flow, off + 2);
		off += 4;
	}
	return proto ? off : ETH_HEADER;
}

static void flow_start(struct hash_flow *flow, const struct hash_frame *frame,
		       unsigned int how)
{
	memset(flow, 0, sizeof(*flow));
	flow->data = frame->data;
	flow->len = frame->len;
	flow->linear = frame->linear ?: frame->len;
	flow->tagged = (how & HASH_VLAN_DEVICES) && frame->vlan;
	flow->outer = frame->proto ?: ethertype(frame);
	flow->off = network_offset(flow);
	flow->proto = flow->outer;
}

static void flow_start_xdp(struct hash_flow *flow,
			   const struct hash_frame *frame)
{
	flow_start(flow, frame, 0);
	flow->linear = frame->len;
	flow->proto = ethertype(frame);
	flow->off = ETH_HEADER;
}

/*
 * Devices offer next to nothing for MPLS, so the stack itself writes the VLAN
 * tag into such a frame before the bond has it.
 */
static int has_written_tag(const struct hash_frame *frame, unsigned int how)
{
	unsigned int proto = frame->proto ?: ethertype(frame);

	return (how & HASH_VLAN_DEVICES) && frame->vlan &&
	       (proto == P_MPLS || proto == P_MPLS_MC);
}

static void write_tag(struct hash_frame *to, const struct hash_frame *from)
{
	const struct hash_vlan *tag = &hash_vlans[from->vlan - 1];

	*to = *from;
	to->len += 4;
	to->vlan = 0;
	to->proto = 0;
	to->data[12] = tag->proto >> 8;
	to->data[13] = tag->proto;
	to->data[14] = hash_vlan_tci(tag) >> 8;
	to->data[15] = hash_vlan_tci(tag);
	memcpy(to->data + 16, from->data + 12, from->len - 12);
}

static __u32 hash_flow(enum hash_policy policy, struct hash_flow *flow,
		       const struct hash_frame *frame)
{
	int encap = policy == HASH_ENCAP23 || policy == HASH_ENCAP34;

	if (encap ? hash_model_dissect(flow) : walk_plain(flow))
		return hash_layer2(frame);
	if (is_icmp(flow)) {
		if (!is_icmp_error(flow))
			read_icmp_id(flow);
		else if (!encap && read_embedded(flow))
			return hash_layer2(frame);
	}
	if (policy == HASH_LAYER34 || policy == HASH_ENCAP34)
		return fold(flow->word ^ flow->addr) >> 1;
	return fold(hash_layer2(frame) ^ flow->addr);
}

__u32 hash_model(enum hash_policy policy, const struct hash_frame *frame,
		 unsigned int how)
{
	static struct hash_frame written;
	struct hash_flow flow;

	if (how & HASH_XDP) {
		flow_start_xdp(&flow, frame);
	} else if (has_written_tag(frame, how)) {
		write_tag(&written, frame);
		frame = &written;
		flow_start(&flow, frame, 0);
		flow.off = ETH_HEADER + 4;
	} else {
		flow_start(&flow, frame, how);
	}
	if (policy == HASH_LAYER2)
		return hash_layer2(frame);
	if (policy == HASH_VLAN_SRCMAC)
		return hash_srcmac(frame, how);
	return hash_flow(policy, &flow, frame);
}
