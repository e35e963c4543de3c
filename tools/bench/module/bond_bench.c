// SPDX-License-Identifier: GPL-2.0
/*
 * Sends prepared frames through a network device, as fast as one CPU can, and
 * says how long a frame took.  With a guest's clock that advances one
 * nanosecond an instruction that is the number of instructions.
 *
 * /proc/bond_bench takes one line and then shows its result:
 *
 *	DEVICE HOW KIND FLOWS FRAMES [l4hash]
 *
 * HOW is start_xmit (the device's own function) or queue_xmit (by
 * dev_queue_xmit(), qdisc layer included); KIND is udp4, tcp4, udp6, vxlan4 or
 * vlan4.  Each frame is sent with a reference more than is needed, so that the
 * device at the end of the way, which should be a dummy, frees nothing.
 *
 * Owns its frames; one run at a time, under bench_lock.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/net_namespace.h>

#define BENCH_CHUNK	1000
#define BENCH_FLOWS	4096
#define BENCH_LEN	128

struct bench_run {
	struct net_device *dev;
	struct sk_buff **skb;
	unsigned int flows;
	unsigned long frames;
	bool queue;
	bool l4hash;
	char kind[16];
};

static DEFINE_MUTEX(bench_lock);	/* one run, and its result */
static u64 bench_ns, bench_min, bench_frames, bench_refused;

/* --- frames --- */

static void bench_put_udp(struct sk_buff *skb, u16 sport, u16 dport, u16 len)
{
	struct udphdr *udp = skb_put_zero(skb, sizeof(*udp));

	udp->source = htons(sport);
	udp->dest = htons(dport);
	udp->len = htons(len);
}

static void bench_put_ip4(struct sk_buff *skb, u8 proto, u32 flow, u16 len)
{
	struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = proto;
	ip->tot_len = htons(len);
	ip->saddr = htonl(0x0a000001 + (flow >> 4));
	ip->daddr = htonl(0x0a010001 + (flow & 15));
}

static void bench_put_ip6(struct sk_buff *skb, u8 proto, u32 flow, u16 len)
{
	struct ipv6hdr *ip = skb_put_zero(skb, sizeof(*ip));

	ip->version = 6;
	ip->hop_limit = 64;
	ip->nexthdr = proto;
	ip->payload_len = htons(len);
	ip->saddr.s6_addr32[0] = htonl(0xfd000000);
	ip->daddr.s6_addr32[0] = htonl(0xfd000000);
	ip->saddr.s6_addr32[3] = htonl(1 + (flow >> 4));
	ip->daddr.s6_addr32[3] = htonl(0x10001 + (flow & 15));
}

static void bench_put_eth(struct sk_buff *skb, u32 flow, u16 proto)
{
	struct ethhdr *eth = skb_put_zero(skb, sizeof(*eth));

	eth->h_dest[0] = 2;
	eth->h_dest[5] = flow & 15;
	eth->h_source[0] = 2;
	eth->h_source[5] = flow >> 4;
	eth->h_proto = htons(proto);
}

static void bench_put_l4(struct sk_buff *skb, const char *kind, u32 flow)
{
	u16 sport = 10000 + flow * 7;

	if (!strncmp(kind, "tcp", 3)) {
		__be16 *tcp = skb_put_zero(skb, 20);

		tcp[0] = htons(sport);
		tcp[1] = htons(80);
		tcp[6] = htons(0x5010);
		return;
	}
	bench_put_udp(skb, sport, 80, 64);
}

static void bench_put_vxlan(struct sk_buff *skb, u32 flow)
{
	bench_put_udp(skb, 50000, 4789, 80);
	skb_put_zero(skb, 8);
	bench_put_eth(skb, flow, ETH_P_IP);
	bench_put_ip4(skb, IPPROTO_UDP, flow, 64);
	bench_put_udp(skb, 10000 + flow * 7, 80, 44);
}

static void bench_fill(struct sk_buff *skb, const char *kind, u32 flow)
{
	bool ip6 = strchr(kind, '6');
	u8 proto = strncmp(kind, "tcp", 3) ? IPPROTO_UDP : IPPROTO_TCP;
	u16 ether = ip6 ? ETH_P_IPV6 : ETH_P_IP;

	skb_reset_mac_header(skb);
	if (!strncmp(kind, "vlan", 4)) {
		bench_put_eth(skb, flow, ETH_P_8021Q);
		put_unaligned_be32((100 << 16) | ether, skb_put(skb, 4));
	} else {
		bench_put_eth(skb, flow, ether);
	}
	skb_set_network_header(skb, skb->len);
	if (ip6)
		bench_put_ip6(skb, proto, flow, 64);
	else
		bench_put_ip4(skb, proto, flow, 84);
	skb_set_transport_header(skb, skb->len);
	if (!strncmp(kind, "vxlan", 5))
		bench_put_vxlan(skb, flow);
	else
		bench_put_l4(skb, kind, flow);
	skb->protocol = htons(strncmp(kind, "vlan", 4) ? ether : ETH_P_8021Q);
}

static struct sk_buff *bench_skb(const struct bench_run *run, u32 flow)
{
	struct sk_buff *skb = alloc_skb(256 + BENCH_LEN, GFP_KERNEL);

	if (!skb)
		return NULL;
	skb_reserve(skb, 128);
	bench_fill(skb, run->kind, flow);
	if (skb->len < BENCH_LEN)
		skb_put_zero(skb, BENCH_LEN - skb->len);
	skb->dev = run->dev;
	if (run->l4hash)
		__skb_set_sw_hash(skb, flow * 2654435761U, true);
	return skb;
}

static void bench_free(struct bench_run *run)
{
	unsigned int i;

	for (i = 0; i < run->flows; i++)
		kfree_skb(run->skb[i]);
	kvfree(run->skb);
}

static int bench_alloc(struct bench_run *run)
{
	unsigned int i;

	run->skb = kvcalloc(run->flows, sizeof(*run->skb), GFP_KERNEL);
	if (!run->skb)
		return -ENOMEM;
	for (i = 0; i < run->flows; i++) {
		run->skb[i] = bench_skb(run, i);
		if (!run->skb[i]) {
			bench_free(run);
			return -ENOMEM;
		}
	}
	return 0;
}

/* --- the loop --- */

static u64 bench_chunk(const struct bench_run *run, unsigned int *pos)
{
	netdev_tx_t (*xmit)(struct sk_buff *skb, struct net_device *dev) =
		run->dev->netdev_ops->ndo_start_xmit;
	unsigned int at = *pos;
	struct sk_buff *skb;
	u64 start;
	int i, rc;

	start = ktime_get_ns();
	for (i = 0; i < BENCH_CHUNK; i++) {
		skb = run->skb[at];
		if (++at == run->flows)
			at = 0;
		skb_get(skb);
		skb->dev = run->dev;
		skb_set_queue_mapping(skb, 0);
		rc = run->queue ? dev_queue_xmit(skb) : xmit(skb, run->dev);
		if (rc)
			bench_refused++;
	}
	*pos = at;
	return ktime_get_ns() - start;
}

static void bench_loop(const struct bench_run *run)
{
	unsigned int pos = 0;
	unsigned long sent;
	u64 ns;

	bench_ns = 0;
	bench_min = U64_MAX;
	bench_refused = 0;
	for (sent = 0; sent < run->frames; sent += BENCH_CHUNK) {
		local_bh_disable();
		rcu_read_lock();
		ns = bench_chunk(run, &pos);
		rcu_read_unlock();
		local_bh_enable();
		bench_ns += ns;
		bench_min = min(bench_min, ns);
		cond_resched();
	}
	bench_frames = sent;
}

static int bench_go(struct bench_run *run)
{
	int err = bench_alloc(run);

	if (err)
		return err;
	bench_loop(run);
	bench_free(run);
	return 0;
}

/* --- /proc/bond_bench --- */

static int bench_parse(char *line, struct bench_run *run, char *name)
{
	char how[16], hash[16] = "";
	int n;

	n = sscanf(line, "%15s %15s %15s %u %lu %15s", name, how, run->kind,
		   &run->flows, &run->frames, hash);
	if (n < 5 || !run->flows || run->flows > BENCH_FLOWS)
		return -EINVAL;
	run->queue = !strcmp(how, "queue_xmit");
	if (!run->queue && strcmp(how, "start_xmit"))
		return -EINVAL;
	run->l4hash = !strcmp(hash, "l4hash");
	return 0;
}

static ssize_t bench_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	struct bench_run run = { };
	char name[IFNAMSIZ];
	char *line;
	int err;

	if (len >= PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	err = bench_parse(line, &run, name);
	kfree(line);
	if (err)
		return err;
	run.dev = dev_get_by_name(current->nsproxy->net_ns, name);
	if (!run.dev)
		return -ENODEV;
	mutex_lock(&bench_lock);
	err = bench_go(&run);
	mutex_unlock(&bench_lock);
	dev_put(run.dev);
	return err ?: len;
}

static int bench_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&bench_lock);
	if (bench_frames)
		seq_printf(seq, "frames %llu ns %llu min %llu refused %llu\n",
			   bench_frames, bench_ns, bench_min, bench_refused);
	mutex_unlock(&bench_lock);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct proc_ops bench_proc_ops = {
	.proc_open	= bench_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= bench_write,
};

static int __init bench_init(void)
{
	return proc_create("bond_bench", 0600, NULL, &bench_proc_ops) ?
	       0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("bond_bench", NULL);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sends prepared frames and measures, for the bonding bench");
