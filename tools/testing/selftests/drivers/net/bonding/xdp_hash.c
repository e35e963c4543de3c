// SPDX-License-Identifier: GPL-2.0
/*
 * Does a frame leave a bond by the same slave, whether the stack sends it or
 * XDP redirects it?
 *
 * Usage: xdp_hash -i BOND -x DEV -P PEER,... -p POLICY [-s SEED] [-c COUNT]
 *
 * Each frame of the corpus (hash_corpus.h) is sent by BOND with a packet
 * socket, and once more by DEV, whose peer redirects what it receives to BOND.
 * The peers of the slaves, in the order of these, note what arrives. Both have
 * to be what the documented formula says (hash_model.h). All devices are in
 * this namespace; the redirecting program is attached by others.
 *
 * Prints "N frames, N tagged"; exit status 1 when a frame went astray.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>

#include "hash_model.h"
#include "xdp_progs.skel.h"

#define PEERS_MAX	16
#define FRAME_LEN	1500	/* an MTU of 1500 lets it pass, tagged or not */
#define WAIT_MS		5000

/**
 * struct wire - the bond under observation
 * @skel: the program that notes
 * @tx: packet socket
 * @bond: interface index of the bond
 * @in: interface index of the device that leads to the redirecting one
 * @peer: interface indexes of the slaves' peers
 * @peers: how many
 */
struct wire {
	struct xdp_progs *skel;
	int tx;
	int bond;
	int in;
	int peer[PEERS_MAX];
	int peers;
};

static const char usage_text[] =
	"Usage: xdp_hash -i BOND -x DEV -P PEER,... -p POLICY [-s SEED]\n"
	"                [-c COUNT]\n";

static void usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

static int ifindex_of(const char *name)
{
	int ifindex = if_nametoindex(name);

	if (!ifindex)
		err(1, "%s", name);
	return ifindex;
}

static void peers_set(struct wire *wire, char *list)
{
	char *name;

	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (wire->peers == PEERS_MAX)
			usage();
		wire->peer[wire->peers++] = ifindex_of(name);
	}
}

static void wire_open(struct wire *wire)
{
	struct bpf_program *prog;
	int i, fd;

	wire->tx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (wire->tx < 0)
		err(1, "packet socket");
	wire->skel = xdp_progs__open();
	if (!wire->skel)
		err(1, "open");
	bpf_object__for_each_program(prog, wire->skel->obj)
		bpf_program__set_autoload(prog, false);
	bpf_program__set_autoload(wire->skel->progs.note, true);
	if (xdp_progs__load(wire->skel))
		err(1, "load");
	fd = bpf_program__fd(wire->skel->progs.note);
	for (i = 0; i < wire->peers; i++)
		if (bpf_xdp_attach(wire->peer[i], fd, XDP_FLAGS_DRV_MODE, NULL))
			err(1, "attach");
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

static unsigned int wire_seen(const struct wire *wire)
{
	return __atomic_load_n(&wire->skel->data_noted->noted,
			       __ATOMIC_ACQUIRE);
}

/* The slave that a frame leaves by, -1 for none. */
static int wire_send(struct wire *wire, int ifindex,
		     const struct hash_frame *frame)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = ifindex,
		.sll_protocol = htons(frame->data[12] << 8 | frame->data[13]),
	};
	unsigned int seen = wire_seen(wire);
	long long end = now_ms() + WAIT_MS;
	int i;

	if (sendto(wire->tx, frame->data, frame->len, 0, (void *)&to,
		   sizeof(to)) < 0)
		err(1, "frame %u (%s)", frame->seq, frame->kind);
	while (wire_seen(wire) == seen) {
		if (now_ms() > end)
			return -1;
		sched_yield();
	}
	for (i = 0; i < wire->peers; i++)
		if (wire->peer[i] == (int)wire->skel->data_noted->noted_by)
			return i;
	return -1;
}

/* As it is on the wire; no layout of an skb, no VLAN device. */
static int frame_plain(struct hash_frame *frame, __u64 seed, unsigned int seq)
{
	hash_frame_make(frame, seed, seq);
	frame->proto = 0;
	frame->linear = 0;
	frame->vlan = 0;
	if (frame->len > FRAME_LEN)
		frame->len = FRAME_LEN;
	return frame->len >= ETH_HLEN;
}

static int frame_is_tagged(const struct hash_frame *frame)
{
	unsigned int proto = frame->data[12] << 8 | frame->data[13];

	return proto == ETH_P_8021Q || proto == ETH_P_8021AD;
}

/*
 * Where a tag may make a difference. vlan+srcmac looks at the one that the
 * stack has beside the frame. And of frames that bring their tag along, a
 * packet socket says that the network header is behind it and that the protocol
 * is the tag's: the flow dissector, which the encap policies use, then takes
 * the IP header for a tag, with the in-tree driver as well.
 */
static int policy_sees_tags(enum hash_policy policy)
{
	return policy == HASH_VLAN_SRCMAC || policy == HASH_ENCAP23 ||
	       policy == HASH_ENCAP34;
}

static int frame_check(struct wire *wire, const struct hash_frame *frame,
		       enum hash_policy policy)
{
	int xdp_want = hash_model(policy, frame, HASH_XDP) % wire->peers;
	int skb_want = hash_model(policy, frame, 0) % wire->peers;
	int skb = wire_send(wire, wire->bond, frame);
	int xdp = wire_send(wire, wire->in, frame);
	int same = skb_want == xdp_want ||
		   (policy_sees_tags(policy) && frame_is_tagged(frame));

	if (skb == skb_want && xdp == xdp_want && same)
		return 0;
	printf("%u %s: by the stack %d (%d), by XDP %d (%d)\n", frame->seq,
	       frame->kind, skb, skb_want, xdp, xdp_want);
	return 1;
}

/**
 * struct options - what the command line asks for
 * @policy: the policy that the bond has
 * @seed: of the corpus
 * @count: frames to send
 */
struct options {
	enum hash_policy policy;
	__u64 seed;
	unsigned int count;
};

static void option_set(struct options *opt, struct wire *wire, int letter)
{
	switch (letter) {
	case 'c':
		opt->count = strtoul(optarg, NULL, 0);
		break;
	case 'i':
		wire->bond = ifindex_of(optarg);
		break;
	case 'p':
		opt->policy = hash_policy_of(optarg);
		break;
	case 'P':
		peers_set(wire, optarg);
		break;
	case 's':
		opt->seed = strtoull(optarg, NULL, 0);
		break;
	case 'x':
		wire->in = ifindex_of(optarg);
		break;
	default:
		usage();
	}
}

int main(int argc, char **argv)
{
	struct options opt = { .policy = HASH_POLICIES, .seed = 1,
			       .count = 10000 };
	unsigned int sent = 0, tagged = 0, astray = 0, seq;
	static struct hash_frame frame;
	struct wire wire = { };
	int letter;

	while ((letter = getopt(argc, argv, "c:i:p:P:s:x:")) >= 0)
		option_set(&opt, &wire, letter);
	if (!wire.bond || !wire.in || !wire.peers ||
	    opt.policy == HASH_POLICIES)
		usage();
	wire_open(&wire);
	for (seq = 0; sent < opt.count && astray < 20; seq++) {
		if (!frame_plain(&frame, opt.seed, seq))
			continue;
		sent++;
		tagged += frame_is_tagged(&frame);
		astray += frame_check(&wire, &frame, opt.policy);
	}
	printf("%u frames, %u tagged\n", sent, tagged);
	return astray > 0;
}
