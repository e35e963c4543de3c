// SPDX-License-Identifier: GPL-2.0
/*
 * The XDP programs of the tests. Each counts the frames it has seen in hits[0],
 * and their bytes in hits[1], which is all of .bss.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

__u64 hits[2];

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u32);
} devs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u32);
} socks SEC(".maps");

static __always_inline void hit(struct xdp_md *ctx)
{
	__sync_fetch_and_add(&hits[0], 1);
	__sync_fetch_and_add(&hits[1], ctx->data_end - ctx->data);
}

SEC("xdp")
int pass(struct xdp_md *ctx)
{
	hit(ctx);
	return XDP_PASS;
}

SEC("xdp.frags")
int pass_frags(struct xdp_md *ctx)
{
	hit(ctx);
	return XDP_PASS;
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	hit(ctx);
	return XDP_DROP;
}

SEC("xdp")
int tx(struct xdp_md *ctx)
{
	hit(ctx);
	return XDP_TX;
}

/* Takes frames in pieces. */
SEC("xdp.frags")
int tx_frags(struct xdp_md *ctx)
{
	hit(ctx);
	return XDP_TX;
}

SEC("xdp")
int redirect(struct xdp_md *ctx)
{
	hit(ctx);
	return bpf_redirect_map(&devs, 0, XDP_DROP);
}

SEC("xdp.frags")
int redirect_frags(struct xdp_md *ctx)
{
	hit(ctx);
	return bpf_redirect_map(&devs, 0, XDP_DROP);
}

/* To all devices of the map but the one that the frame came from. */
SEC("xdp")
int flood(struct xdp_md *ctx)
{
	hit(ctx);
	return bpf_redirect_map(&devs, 0,
				BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
}

SEC("xdp")
int to_cpu(struct xdp_md *ctx)
{
	hit(ctx);
	return bpf_redirect_map(&cpus, 0, XDP_DROP);
}

/* To the socket of the slave that the frame came by. */
SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	hit(ctx);
	return bpf_redirect_map(&socks, ctx->ingress_ifindex % 64, XDP_PASS);
}

/* For who watches what arrives: by which device, of what is dropped here. */
__u32 noted_by SEC(".data.noted") = 0;
__u32 noted SEC(".data.noted") = 0;

/* Is it for 01:80:c2:00:00:02, as LACPDUs are? Those come by themselves. */
static __always_inline int is_slow(struct xdp_md *ctx)
{
	const __u8 *to = (void *)(long)ctx->data;

	return (void *)(to + ETH_ALEN) <= (void *)(long)ctx->data_end &&
	       to[0] == 0x01 && to[1] == 0x80 && to[2] == 0xc2 &&
	       !to[3] && !to[4] && to[5] == 0x02;
}

SEC("xdp")
int note(struct xdp_md *ctx)
{
	if (is_slow(ctx))
		return XDP_DROP;
	noted_by = ctx->ingress_ifindex;
	__sync_fetch_and_add(&noted, 1);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
