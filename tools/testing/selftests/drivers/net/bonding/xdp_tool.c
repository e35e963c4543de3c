// SPDX-License-Identifier: GPL-2.0
/*
 * XDP programs on devices: attach, replace, detach, look, and run.
 *
 * See usage(). Programs are those of xdp_progs.bpf.c, by name. What the kernel
 * says of a failure goes to stderr; exit status 1 then, 2 for wrong use.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>

#include "xdp_progs.skel.h"

#define TARGETS_MAX	16
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define FRAME_MAX	1500

/**
 * struct options - what the command line asks for
 * @dev: interface index
 * @prog: name of a program
 * @flags: XDP_FLAGS_*
 * @expected: id of the program that is to be replaced, 0 for none, -1: any
 * @id: a program
 * @target: where redirected frames go
 * @targets: how many
 * @count: frames to run
 * @batch: frames of a poll
 * @flows: different frames
 * @size: bytes of a frame
 */
struct options {
	int dev;
	const char *prog;
	__u32 flags;
	int expected;
	__u32 id;
	int target[TARGETS_MAX];
	int targets;
	unsigned int count;
	unsigned int batch;
	unsigned int flows;
	unsigned int size;
};

static const char usage_text[] =
"Usage: xdp_tool attach -d DEV -p PROGRAM [-t DEV,...] [-g] [-n] [-r ID]\n"
"           prints the program's id; -t: devices it redirects to\n"
"           -g: generic, not native; -n: only if there is none\n"
"           -r: only in place of that program, 0 for none\n"
"       xdp_tool detach -d DEV [-g] [-r ID]\n"
"       xdp_tool query -d DEV       native and generic program, 0 for none\n"
"       xdp_tool features -d DEV    what the device offers, in hex\n"
"       xdp_tool hits -i ID         frames that the program has seen\n"
"       xdp_tool refs -i ID         who holds it, by bond_xdp_peek\n"
"       xdp_tool run -d DEV -p PROGRAM|-i ID [-t DEV,...] [-c COUNT] [-b N]\n"
"                    [-f FLOWS] [-s SIZE]\n"
"           run frames through it as if DEV had received them, and send them\n"
"           where it says; N frames a poll\n";

static void usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

static void fail(const char *what)
{
	fprintf(stderr, "xdp_tool: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int ifindex_of(const char *name)
{
	int ifindex = if_nametoindex(name);

	if (!ifindex)
		fail(name);
	return ifindex;
}

static void targets_set(struct options *opt, char *list)
{
	char *name;

	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (opt->targets == TARGETS_MAX)
			usage();
		opt->target[opt->targets++] = ifindex_of(name);
	}
}

static void option_set(struct options *opt, int letter)
{
	switch (letter) {
	case 'b':
		opt->batch = strtoul(optarg, NULL, 0);
		break;
	case 'c':
		opt->count = strtoul(optarg, NULL, 0);
		break;
	case 'd':
		opt->dev = ifindex_of(optarg);
		break;
	case 'f':
		opt->flows = strtoul(optarg, NULL, 0);
		break;
	case 'g':
		opt->flags = (opt->flags & ~XDP_FLAGS_DRV_MODE) |
			     XDP_FLAGS_SKB_MODE;
		break;
	case 'i':
		opt->id = strtoul(optarg, NULL, 0);
		break;
	case 'n':
		opt->flags |= XDP_FLAGS_UPDATE_IF_NOEXIST;
		break;
	case 'p':
		opt->prog = optarg;
		break;
	case 'r':
		opt->expected = strtol(optarg, NULL, 0);
		break;
	case 's':
		opt->size = strtoul(optarg, NULL, 0);
		break;
	case 't':
		targets_set(opt, optarg);
		break;
	default:
		usage();
	}
}

/* --- programs --- */

static int fd_of_id(__u32 id)
{
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		fail("no such program");
	return fd;
}

static __u32 id_of_fd(int fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("program");
	return info.id;
}

static void maps_fill(struct xdp_progs *skel, const struct options *opt)
{
	struct bpf_cpumap_val cpu = { .qsize = 2048 };
	__u32 key = 0;
	int i;

	for (i = 0; i < opt->targets; i++)
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.devs), &i,
					&opt->target[i], 0))
			fail("devmap");
	if (strcmp(opt->prog, "to_cpu"))
		return;
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.cpus), &key, &cpu, 0))
		fail("cpumap");
}

static int program_load(const struct options *opt)
{
	struct bpf_program *prog, *other;
	struct xdp_progs *skel;

	skel = xdp_progs__open();
	if (!skel)
		fail("open");
	prog = bpf_object__find_program_by_name(skel->obj, opt->prog ?: "");
	if (!prog)
		usage();
	bpf_object__for_each_program(other, skel->obj)
		bpf_program__set_autoload(other, other == prog);
	if (xdp_progs__load(skel))
		fail("load");
	maps_fill(skel, opt);
	return bpf_program__fd(prog);
}

/* The hits[] of a program that somebody else has loaded. */
static int hits_map(int prog)
{
	struct bpf_map_info map = {};
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info), map_len, ids[8], i;
	int fd;

	info.nr_map_ids = 8;
	info.map_ids = (unsigned long)ids;
	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		fail("program");
	for (i = 0; i < info.nr_map_ids && i < 8; i++) {
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd < 0)
			fail("map");
		map_len = sizeof(map);
		if (bpf_obj_get_info_by_fd(fd, &map, &map_len))
			fail("map");
		if (strstr(map.name, ".bss"))
			return fd;
		close(fd);
	}
	errx(1, "no map with hits");
}

/* --- what can be asked for --- */

static int attach(const struct options *opt, int fd)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, how);
	__u32 flags = opt->flags;
	int ret;

	if (opt->expected >= 0)
		flags |= XDP_FLAGS_REPLACE;
	if (opt->expected > 0)
		how.old_prog_fd = fd_of_id(opt->expected);
	if (fd < 0)
		ret = bpf_xdp_detach(opt->dev, flags, &how);
	else
		ret = bpf_xdp_attach(opt->dev, fd, flags, &how);
	if (ret) {
		errno = -ret;
		fail(fd < 0 ? "detach" : "attach");
	}
	return 0;
}

static int do_attach(const struct options *opt)
{
	int fd = program_load(opt);

	attach(opt, fd);
	printf("%u\n", id_of_fd(fd));
	return 0;
}

static int do_detach(const struct options *opt)
{
	return attach(opt, -1);
}

static int do_query(const struct options *opt)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, how);

	if (bpf_xdp_query(opt->dev, 0, &how))
		fail("query");
	printf("%u %u\n", how.drv_prog_id, how.skb_prog_id);
	return 0;
}

static int do_features(const struct options *opt)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, how);

	if (bpf_xdp_query(opt->dev, 0, &how))
		fail("query");
	printf("%#llx\n", (unsigned long long)how.feature_flags);
	return 0;
}

static int do_hits(const struct options *opt)
{
	int fd = hits_map(fd_of_id(opt->id));
	__u64 hits[2];
	__u32 key = 0;

	if (bpf_map_lookup_elem(fd, &key, hits))
		fail("hits");
	printf("%llu %llu\n", (unsigned long long)hits[0],
	       (unsigned long long)hits[1]);
	return 0;
}

static int do_refs(const struct options *opt)
{
	static const char path[] =
		"/sys/module/bond_xdp_peek/parameters/refs";
	FILE *file = fopen(path, "r+");
	long long refs;

	if (!file)
		fail(path);
	if (fprintf(file, "%d\n", fd_of_id(opt->id)) < 0 || fflush(file))
		fail("refs");
	rewind(file);
	if (fscanf(file, "%lld", &refs) != 1)
		fail("refs");
	printf("%lld\n", refs);
	return 0;
}

/* UDP over IPv4; flows differ in addresses and ports. */
static void frame_make(__u8 *data, const struct options *opt, __u32 flow)
{
	__u8 head[] = {
		2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 2, 0, 8, 0,
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0,
		10, 0, 0, 1, 10, 0, 1, 1, 0x10, 0, 0x20, 0, 0, 0, 0, 0,
	};

	memset(data, 0, opt->size);
	memcpy(data, head, sizeof(head));
	data[5] = flow;
	data[16] = (opt->size - ETH_HLEN) >> 8;
	data[17] = opt->size - ETH_HLEN;
	data[29] = flow;
	data[34] += flow >> 8;
	data[35] = flow << 1;
}

static int do_run(const struct options *opt)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct xdp_md ctx = { .ingress_ifindex = opt->dev };
	int fd = opt->id ? fd_of_id(opt->id) : program_load(opt);
	__u8 data[FRAME_MAX];
	unsigned int flow;

	ctx.data_end = opt->size;
	run.data_in = data;
	run.data_size_in = opt->size;
	run.ctx_in = &ctx;
	run.ctx_size_in = sizeof(ctx);
	run.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	run.batch_size = opt->batch;
	run.repeat = opt->count / opt->flows;
	for (flow = 0; flow < opt->flows; flow++) {
		frame_make(data, opt, flow);
		if (bpf_prog_test_run_opts(fd, &run))
			fail("run");
	}
	printf("%u\n", run.duration);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const struct options *opt);
} commands[] = {
	{ "attach", do_attach },
	{ "detach", do_detach },
	{ "query", do_query },
	{ "features", do_features },
	{ "hits", do_hits },
	{ "refs", do_refs },
	{ "run", do_run },
};

int main(int argc, char **argv)
{
	struct options opt = {
		.flags = XDP_FLAGS_DRV_MODE,
		.expected = -1,
		.count = 1,
		.batch = 64,
		.flows = 1,
		.size = 64,
	};
	unsigned int i;
	int letter;

	if (argc < 2)
		usage();
	while ((letter = getopt(argc - 1, argv + 1,
				"b:c:d:f:gi:np:r:s:t:")) >= 0)
		option_set(&opt, letter);
	if (opt.size < 42 || opt.size > FRAME_MAX || !opt.flows || !opt.batch)
		usage();
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(&opt);
	usage();
}
