// SPDX-License-Identifier: GPL-2.0
/*
 * Which slave does a frame leave by?  Sends generated frames through a bond and
 * prints it, or works it out from the documented formulas.
 *
 * See usage() for how it is called, hash_corpus.h for the frames, hash_wire.c
 * for how slaves are watched.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hash_model.h"
#include "hash_wire.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct options - what the command line asks for
 * @bond: name of the bond
 * @wire: interface indexes
 * @policy: enum hash_policy
 * @slaves: number of slaves, 0 to print whole hashes
 * @seed: of the corpus
 * @first: first frame
 * @count: number of frames
 * @how: HASH_VLAN_DEVICES or HASH_XDP
 * @digest: print one line instead of one for each frame
 * @peer: address of connections
 */
struct options {
	const char *bond;
	struct hash_wire wire;
	enum hash_policy policy;
	unsigned int slaves;
	__u64 seed;
	unsigned int first;
	unsigned int count;
	unsigned int how;
	int digest;
	const char *peer;
};

static const char usage_text[] =
"Usage: hash_frames send -i BOND -S SLAVE,... [-V VLANDEV,...] [FRAMES]\n"
"           send frames through BOND; a line for each: number, slave, kind\n"
"       hash_frames model -p POLICY -N SLAVES [-V - | -x] [FRAMES]\n"
"           the same lines from the documented formula; -N 0: whole hashes\n"
"           -x: of frames that reach the bond as XDP buffers\n"
"       hash_frames show [-s SEED] [-f FIRST] [-c COUNT]\n"
"           frames in hex\n"
"       hash_frames vlans\n"
"           VLAN devices that -V names in this order: number, TPID, id,\n"
"           priority (egress-qos-map 0:PRIORITY)\n"
"       hash_frames l4hash -i BOND -S SLAVE,... -a ADDRESS [-c COUNT]\n"
"           connect to ADDRESS; a line for each SYN: slave, skb->hash % slaves\n"
"FRAMES: -s SEED (1), -c COUNT (10000), -f FIRST (0), -d: only a digest\n"
"POLICY: a name as in xmit_hash_policy.  Slave '-': left by none.\n";

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

static int ifindexes_of(char *list, int *ifindex, int max)
{
	char *name;
	int n = 0;

	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (n == max)
			errx(1, "more than %d devices", max);
		ifindex[n++] = ifindex_of(name);
	}
	return n;
}

static void vlans_set(struct options *opt, char *list)
{
	opt->how |= HASH_VLAN_DEVICES;
	if (!strcmp(list, "-"))
		return;
	if (ifindexes_of(list, opt->wire.vlan, HASH_VLAN_MAX) != HASH_VLAN_MAX)
		errx(2, "-V wants %d devices", HASH_VLAN_MAX);
}

static void option_set(struct options *opt, int letter)
{
	switch (letter) {
	case 'a':
		opt->peer = optarg;
		break;
	case 'c':
		opt->count = strtoul(optarg, NULL, 0);
		break;
	case 'd':
		opt->digest = 1;
		break;
	case 'f':
		opt->first = strtoul(optarg, NULL, 0);
		break;
	case 'i':
		opt->bond = optarg;
		opt->wire.bond = ifindex_of(optarg);
		break;
	case 'N':
		opt->slaves = strtoul(optarg, NULL, 0);
		break;
	case 'p':
		opt->policy = hash_policy_of(optarg);
		break;
	case 's':
		opt->seed = strtoull(optarg, NULL, 0);
		break;
	case 'S':
		opt->wire.slaves = ifindexes_of(optarg, opt->wire.slave,
						HASH_SLAVES_MAX);
		break;
	case 'x':
		opt->how = HASH_XDP;
		break;
	case 'V':
		vlans_set(opt, optarg);
		break;
	default:
		usage();
	}
}

/* Frames are longer than a page; a small MTU would only show refusals. */
static void check_mtu(const struct options *opt)
{
	struct ifreq req = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", opt->bond);
	if (fd < 0 || ioctl(fd, SIOCGIFMTU, &req))
		err(1, "%s", opt->bond);
	close(fd);
	if (req.ifr_mtu < HASH_FRAME_MAX)
		errx(1, "%s needs an MTU of at least %d", opt->bond,
		     HASH_FRAME_MAX);
}

/* --- reports --- */

static __u64 digest = 0xcbf29ce484222325ull;	/* FNV-1a */
static unsigned int lost;

static void digest_add(__u32 v)
{
	int i;

	for (i = 0; i < 4; i++, v >>= 8)
		digest = (digest ^ (v & 0xff)) * 0x100000001b3ull;
}

static void report(const struct options *opt, const struct hash_frame *frame,
		   long where)
{
	digest_add(where);
	lost += where < 0;
	if (opt->digest)
		return;
	if (where < 0)
		printf("%u - %s\n", frame->seq, frame->kind);
	else
		printf("%u %lu %s\n", frame->seq, where, frame->kind);
}

static void report_end(const struct options *opt)
{
	if (opt->digest)
		printf("%016llx %u frames, %u lost\n",
		       (unsigned long long)digest, opt->count, lost);
}

/* --- what can be asked for --- */

static int do_send(struct options *opt)
{
	static struct hash_frame frame[HASH_BATCH];
	int left_by[HASH_BATCH];
	unsigned int done, n, i;

	if (!opt->wire.bond || !opt->wire.slaves)
		usage();
	check_mtu(opt);
	hash_wire_open(&opt->wire);
	for (done = 0; done < opt->count; done += n) {
		n = opt->count - done;
		if (n > HASH_BATCH)
			n = HASH_BATCH;
		for (i = 0; i < n; i++)
			hash_frame_make(&frame[i], opt->seed,
					opt->first + done + i);
		hash_wire_send(&opt->wire, frame, n, left_by);
		for (i = 0; i < n; i++)
			report(opt, &frame[i], left_by[i]);
	}
	report_end(opt);
	return 0;
}

static int do_model(struct options *opt)
{
	static struct hash_frame frame;
	unsigned int i;
	__u32 hash;

	for (i = 0; i < opt->count; i++) {
		hash_frame_make(&frame, opt->seed, opt->first + i);
		hash = hash_model(opt->policy, &frame, opt->how);
		report(opt, &frame, opt->slaves ? hash % opt->slaves : hash);
	}
	report_end(opt);
	return 0;
}

static int do_show(struct options *opt)
{
	static struct hash_frame frame;
	unsigned int n, i;

	for (n = 0; n < opt->count; n++) {
		hash_frame_make(&frame, opt->seed, opt->first + n);
		printf("%u %s vlan %u proto %04x linear %u len %u\n",
		       frame.seq, frame.kind, frame.vlan, frame.proto,
		       frame.linear, frame.len);
		for (i = 0; i < frame.len; i++)
			printf("%02x%s", frame.data[i],
			       i % 16 == 15 || i + 1 == frame.len ? "\n" : " ");
	}
	return 0;
}

static int do_vlans(struct options *opt)
{
	int i;

	(void)opt;
	for (i = 0; i < HASH_VLAN_MAX; i++)
		printf("%d 0x%04x %u %u\n", i, hash_vlans[i].proto,
		       hash_vlans[i].id, hash_vlans[i].prio);
	return 0;
}

static void connect_one(const struct options *opt, __u32 mark, __u16 port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	to.sin_port = htons(port);
	if (inet_pton(AF_INET, opt->peer, &to.sin_addr) != 1)
		errx(2, "'%s' is no IPv4 address", opt->peer);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
		err(1, "socket");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    errno != EINPROGRESS)
		err(1, "%s", opt->peer);
	close(fd);
}

static int do_l4hash(struct options *opt)
{
	unsigned int i, len;
	int slave;

	if (!opt->wire.bond || !opt->wire.slaves || !opt->peer)
		usage();
	hash_wire_open(&opt->wire);
	hash_wire_tap_hash(&opt->wire);
	for (i = 0; i < opt->count; i++) {
		connect_one(opt, 0x5a000000, 1024 + i % 60000);
		slave = hash_wire_hear(&opt->wire, &len);
		if (slave < 0)
			errx(1, "nothing left by a slave");
		printf("%d %u\n", slave, len - HASH_TAP_BASE);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct options *opt);
} commands[] = {
	{ "send", do_send },
	{ "model", do_model },
	{ "show", do_show },
	{ "vlans", do_vlans },
	{ "l4hash", do_l4hash },
};

int main(int argc, char **argv)
{
	static const char letters[] = "a:c:df:i:N:p:s:S:V:x";
	struct options opt = { .seed = 1, .count = 10000 };
	unsigned int i;
	int letter;

	if (argc < 2)
		usage();
	while ((letter = getopt(argc - 1, argv + 1, letters)) >= 0)
		option_set(&opt, letter);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(&opt);
	usage();
}
