// SPDX-License-Identifier: GPL-2.0
/*
 * bond_hash() against the model, frame by frame, in every shape that a frame
 * can have, and against nonsense.
 *
 * Each buffer is allocated as long as its frame, so that the address sanitizer
 * sees every byte read too far; each is compared afterwards, so that none is
 * ever written to.
 *
 * Usage: hash_unit SEED FRAMES
 */
#include <stdio.h>
#include <stdlib.h>

#include "bond_hash.h"
#include "bond_slaves.h"
#include "hash_model.h"

#define HEADROOM	64

static struct net net;
static struct net_device dev = { .nd_net = &net };
static struct bonding bond = { .dev = &dev };

static u64 seed;
static unsigned int frames;
static unsigned int cases;
static bool failed;

/* --- KTAP --- */

static void result(const char *name, bool ok)
{
	printf("%sok %u %s\n", ok ? "" : "not ", ++cases, name);
	failed |= !ok;
}

static bool complain(const char *what, const struct hash_frame *frame,
		     unsigned int policy, u32 want, u32 got)
{
	printf("# %s, seed %llu frame %u (%s) %s: want %08x got %08x\n", what,
	       (unsigned long long)seed, frame->seq, frame->kind,
	       hash_policy_names[policy], want, got);
	return false;
}

/* --- frames in memory --- */

static void *dup_bytes(const void *from, unsigned int len)
{
	void *to = malloc(len ?: 1);

	if (!to)
		abort();
	memcpy(to, from, len);
	return to;
}

static unsigned int frame_type(const struct hash_frame *frame)
{
	return frame->data[12] << 8 | frame->data[13];
}

/* Where packet sockets have the network header: behind the frame's own tags */
static unsigned int frame_net_off(const struct hash_frame *frame)
{
	unsigned int type = frame->proto ?: frame_type(frame), off = ETH_HLEN;
	unsigned int tags;

	for (tags = 0; eth_type_vlan(htons(type)); tags++) {
		if (off + 4 > frame->len || tags == 7)
			return ETH_HLEN;
		type = frame->data[off + 2] << 8 | frame->data[off + 3];
		off += 4;
	}
	return type ? off : ETH_HLEN;
}

static void skb_make(struct sk_buff *skb, const struct hash_frame *frame,
		     unsigned int linear)
{
	memset(skb, 0, sizeof(*skb));
	skb->head = malloc(HEADROOM + linear);
	if (!skb->head)
		abort();
	memset(skb->head, 0xa5, HEADROOM);
	skb->data = skb->head + HEADROOM;
	memcpy(skb->data, frame->data, linear);
	skb->len = frame->len;
	skb->data_len = frame->len - linear;
	skb->more = dup_bytes(frame->data + linear, skb->data_len);
	skb->network_header = HEADROOM + frame_net_off(frame);
	skb->protocol = htons(frame->proto ?: frame_type(frame));
	if (frame->vlan) {
		skb->vlan_present = 1;
		skb->vlan_proto = htons(hash_vlans[frame->vlan - 1].proto);
		skb->vlan_tci = hash_vlan_tci(&hash_vlans[frame->vlan - 1]);
	}
}

static bool skb_unchanged(const struct sk_buff *skb,
			  const struct hash_frame *frame)
{
	unsigned int linear = skb_headlen(skb);

	return !memcmp(skb->data, frame->data, linear) &&
	       !memcmp(skb->more, frame->data + linear, skb->data_len);
}

static void skb_free(struct sk_buff *skb)
{
	free(skb->head);
	free(skb->more);
}

/* --- against the model --- */

/* The stack writes the tag into MPLS frames; skbs here do not have that. */
static bool frame_is_usable(const struct hash_frame *frame)
{
	unsigned int type = frame->proto ?: frame_type(frame);

	return !frame->vlan || (type != ETH_P_MPLS_UC && type != ETH_P_MPLS_MC);
}

static bool check_skb(struct hash_frame *frame, unsigned int linear,
		      const char *what)
{
	struct sk_buff skb, before;
	bool ok = true;
	u32 want, got;
	unsigned int policy;

	frame->linear = linear;
	skb_make(&skb, frame, linear);
	before = skb;
	for (policy = 0; policy < HASH_POLICIES && ok; policy++) {
		bond.params.xmit_hash_policy = policy;
		want = hash_model(policy, frame, HASH_VLAN_DEVICES);
		got = bond_hash(&bond, bond_pkt_of_skb(&skb));
		if (want != got)
			ok = complain(what, frame, policy, want, got);
	}
	if (memcmp(&before, &skb, sizeof(skb)) || !skb_unchanged(&skb, frame))
		ok = complain("skb changed", frame, 0, 0, 0);
	skb_free(&skb);
	return ok;
}

static bool check_xdp(struct hash_frame *frame)
{
	void *data = dup_bytes(frame->data, frame->len);
	struct xdp_buff xdp = {
		.data = data,
		.data_end = (u8 *)data + frame->len,
	};
	unsigned int policy;
	bool ok = true;
	u32 want, got;

	for (policy = 0; policy < HASH_POLICIES && ok; policy++) {
		bond.params.xmit_hash_policy = policy;
		want = hash_model(policy, frame, HASH_XDP);
		got = bond_hash(&bond, bond_pkt_of_xdp(&xdp));
		if (want != got)
			ok = complain("xdp", frame, policy, want, got);
	}
	if (memcmp(data, frame->data, frame->len))
		ok = complain("xdp changed", frame, 0, 0, 0);
	free(data);
	return ok;
}

static void test_model(void)
{
	static struct hash_frame frame;
	bool whole = true, split = true, xdp = true;
	unsigned int i, linear;

	for (i = 0; i < frames; i++) {
		hash_frame_make(&frame, seed, i);
		xdp = check_xdp(&frame) && xdp;
		if (!frame_is_usable(&frame))
			continue;
		linear = frame.linear ?: 1 + i * 7919 % frame.len;
		whole = check_skb(&frame, frame.len, "whole") && whole;
		split = check_skb(&frame, linear, "split") && split;
	}
	result("skbs in one piece hash as documented", whole);
	result("skbs in two pieces hash as documented", split);
	result("XDP buffers hash as documented", xdp);
}

/* --- the short path --- */

static bool frame_is_plain(const struct hash_frame *frame)
{
	const u8 *ip = frame->data + ETH_HLEN;
	u8 upper;

	if (frame->proto && frame->proto != frame_type(frame))
		return false;
	switch (frame_type(frame)) {
	case ETH_P_IP:
		upper = ip[9];
		if (frame->len < 38 || ip[0] != 0x45 || ip[6] & 0x3f || ip[7])
			return false;
		break;
	case ETH_P_IPV6:
		upper = ip[6];
		if (frame->len < 58)
			return false;
		break;
	default:
		return false;
	}
	return upper == IPPROTO_TCP || upper == IPPROTO_UDP;
}

static void test_short(void)
{
	unsigned int i, plain = 0, tagged = 0;
	static struct hash_frame frame;
	struct sk_buff skb;

	bond.params.xmit_hash_policy = HASH_ENCAP34;
	unit_dissected = 0;
	for (i = 0; i < frames; i++) {
		hash_frame_make(&frame, seed, i);
		if (!frame_is_plain(&frame))
			continue;
		plain++;
		tagged += frame.vlan;
		skb_make(&skb, &frame, frame.len);
		bond_hash(&bond, bond_pkt_of_skb(&skb));
		skb_free(&skb);
	}
	printf("# %u plain frames of %u\n", plain, frames);
	result("plain TCP and UDP need no dissector",
	       plain > frames / 10 && tagged && !unit_dissected);
}

/* A plain frame with a tag put in, its network header where a bridge has it */
static void test_tagged(void)
{
	static struct hash_frame frame, inner;
	unsigned int i, tagged = 0;
	struct sk_buff skb;
	bool ok = true;
	u32 hash;

	bond.params.xmit_hash_policy = HASH_ENCAP34;
	unit_dissected = 0;
	for (i = 0; i < frames; i++) {
		hash_frame_make(&inner, seed, i);
		if (!frame_is_plain(&inner) || inner.len + 4 > HASH_FRAME_MAX)
			continue;
		tagged++;
		frame = inner;
		frame.len += 4;
		frame.vlan = 0;
		frame.proto = 0;
		memcpy(frame.data + 12, i & 1 ? "\x81\x00\x01\x23" :
			"\x88\xa8\xf0\x01", 4);
		memcpy(frame.data + 16, inner.data + 12, inner.len - 12);
		skb_make(&skb, &frame, frame.len);
		skb.network_header = HEADROOM + ETH_HLEN;
		hash = bond_hash(&bond, bond_pkt_of_skb(&skb));
		skb_free(&skb);
		inner.vlan = 0;
		if (hash != hash_model(HASH_ENCAP34, &inner, 0))
			ok = complain("tagged", &inner, HASH_ENCAP34, 0, hash);
	}
	result("one VLAN tag inside needs no dissector",
	       ok && tagged && !unit_dissected);
}

/* A BPF program may see flows where nobody else does. */
static void test_bpf(void)
{
	static struct hash_frame frame;
	unsigned int i, asked = 0, plain = 0;
	struct sk_buff skb;

	for (i = 0; i < 1000; i++) {
		hash_frame_make(&frame, seed, i);
		if (!frame_is_plain(&frame))
			continue;
		net.bpf.run_array[0] = plain & 1 ? &net : NULL;
		init_net.bpf.run_array[0] = plain & 1 ? NULL : &net;
		bond.params.xmit_hash_policy = plain & 2 ? HASH_ENCAP23 :
							   HASH_ENCAP34;
		plain++;
		unit_dissected = 0;
		skb_make(&skb, &frame, frame.len);
		bond_hash(&bond, bond_pkt_of_skb(&skb));
		skb_free(&skb);
		asked += unit_dissected == 1;
	}
	net.bpf.run_array[0] = NULL;
	init_net.bpf.run_array[0] = NULL;
	result("a BPF flow dissector is asked about plain frames",
	       plain && asked == plain);
}

static void test_l4_hash(void)
{
	static struct hash_frame frame;
	unsigned int policy;
	struct sk_buff skb;
	bool ok = true;
	u32 want, got;

	hash_frame_make(&frame, seed, 0);
	skb_make(&skb, &frame, frame.len);
	skb.hash = 0xdeadbeef;
	unit_dissected = 0;
	for (policy = 0; policy < HASH_POLICIES; policy++) {
		bond.params.xmit_hash_policy = policy;
		skb.l4_hash = 1;
		want = policy == HASH_ENCAP34 ? skb.hash :
			hash_model(policy, &frame, HASH_VLAN_DEVICES);
		got = bond_hash(&bond, bond_pkt_of_skb(&skb));
		ok &= want == got;
		skb.l4_hash = 0;
		want = hash_model(policy, &frame, HASH_VLAN_DEVICES);
		got = bond_hash(&bond, bond_pkt_of_skb(&skb));
		ok &= want == got;
	}
	skb_free(&skb);
	result("only encap3+4 takes an l4 skb hash", ok);
}

/* --- nonsense --- */

/*
 * Headers anywhere and any protocol: nothing may be read beyond the frame, and
 * how the frame is cut must not matter.
 */
static bool check_nonsense(const struct hash_frame *frame, u32 noise)
{
	u16 net = HEADROOM + noise / 8 % (frame->len + 80);
	__be16 proto = noise & 0x10000 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	unsigned int policy;
	struct sk_buff skb;
	u32 hash[2];
	int cut;

	if (noise % 8 == 0)
		net = 0xffff;
	if (noise % 8 == 1)
		net = noise / 8 % HEADROOM;
	if (!(noise & 0x60000))
		proto = noise >> 20;
	for (policy = 0; policy < HASH_POLICIES; policy++) {
		bond.params.xmit_hash_policy = policy;
		for (cut = 0; cut < 2; cut++) {
			skb_make(&skb, frame, cut ? noise % (frame->len + 1) :
						    frame->len);
			skb.network_header = net;
			skb.protocol = proto;
			hash[cut] = bond_hash(&bond, bond_pkt_of_skb(&skb));
			skb_free(&skb);
		}
		/* the dissector wants FCoE in one piece, and all headers
		 * behind the frame's start
		 */
		if (proto == htons(ETH_P_FCOE) || net < HEADROOM)
			continue;
		if (hash[0] != hash[1])
			return complain("cut", frame, policy, hash[0], hash[1]);
	}
	return true;
}

static void test_nonsense(void)
{
	static struct hash_frame frame;
	bool ok = true;
	u32 noise = 1;
	unsigned int i;

	for (i = 0; i < frames; i++) {
		hash_frame_make(&frame, ~seed, i);
		noise = noise * 1664525 + 1013904223;
		if (frame.len > 256)
			frame.len = 256;
		if (i % 8 == 0)
			frame.len = noise % 24;
		frame.vlan = 0;
		ok = check_nonsense(&frame, noise ^ noise >> 16) && ok;
	}
	result("frames that make no sense are not read beyond their end", ok);
}

static void test_lag_type(void)
{
	static const enum netdev_lag_hash want[] = {
		NETDEV_LAG_HASH_L2, NETDEV_LAG_HASH_L34, NETDEV_LAG_HASH_L23,
		NETDEV_LAG_HASH_E23, NETDEV_LAG_HASH_E34,
		NETDEV_LAG_HASH_VLAN_SRCMAC, NETDEV_LAG_HASH_UNKNOWN,
	};
	bool ok = true;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		ok &= bond_hash_lag_type(i) == want[i];
	result("policies have the names of net/lag.h",
	       ok && bond_hash_lag_type(~0u) == NETDEV_LAG_HASH_UNKNOWN);
}

/* --- placement --- */

static bool remainder_is(u32 n, u32 count, u64 step)
{
	return bond_remainder(n, count, step) == n % count;
}

static bool check_remainder(u32 count)
{
	const u64 step = U64_MAX / count + 1;
	u32 noise = count, i;

	for (i = 0; i < 20000; i++) {
		noise = noise * 1664525 + 1013904223;
		if (!remainder_is(noise, count, step) ||
		    !remainder_is(noise / count * count, count, step) ||
		    !remainder_is(noise / count * count - 1, count, step) ||
		    !remainder_is(i, count, step) ||
		    !remainder_is(~i, count, step))
			return false;
	}
	return remainder_is(~0u / count * count, count, step) &&
	       remainder_is(~0u / count * count - 1, count, step);
}

static void test_remainder(void)
{
	static const u32 large[] = {
		4095, 4096, 4097, 65535, 65536, 65537, 0x7fffffff, 0x80000000,
		0x80000001, 0xfffffffe, 0xffffffff,
	};
	bool ok = true;
	u32 i;

	for (i = 1; i <= 300 && ok; i++)
		ok = check_remainder(i);
	for (i = 0; i < ARRAY_SIZE(large) && ok; i++)
		ok = check_remainder(large[i]);
	result("remainders without a division are exact", ok);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s SEED FRAMES\n", argv[0]);
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	frames = strtoul(argv[2], NULL, 0);
	printf("KTAP version 1\n1..10\n");
	test_model();
	test_short();
	test_tagged();
	test_bpf();
	test_l4_hash();
	test_nonsense();
	test_lag_type();
	test_remainder();
	return failed;
}
