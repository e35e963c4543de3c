// SPDX-License-Identifier: GPL-2.0
/*
 * What user space cannot see of XDP: how often a program is held, and how often
 * the key is on that has XDP_TX ask a bond for a slave.
 *
 * Parameters: key, read it; refs, write a file descriptor of a program, then
 * read how often the program is held apart from that.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/module.h>
#include <net/xdp.h>

static long long peek_refs = -1;

static int peek_key_get(char *buf, const struct kernel_param *param)
{
	struct static_key *key = &bpf_master_redirect_enabled_key.key;

	return sysfs_emit(buf, "%d\n", static_key_count(key));
}

static const struct kernel_param_ops peek_key_ops = {
	.get = peek_key_get,
};
module_param_cb(key, &peek_key_ops, NULL, 0444);

static int peek_refs_set(const char *val, const struct kernel_param *param)
{
	struct bpf_prog *prog;
	int fd, err;

	err = kstrtoint(val, 0, &fd);
	if (err)
		return err;
	prog = bpf_prog_get_type_dev(fd, BPF_PROG_TYPE_XDP, true);
	if (IS_ERR(prog))
		return PTR_ERR(prog);
	/* the descriptor's and ours do not count */
	peek_refs = atomic64_read(&prog->aux->refcnt) - 2;
	bpf_prog_put(prog);
	return 0;
}

static int peek_refs_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%lld\n", peek_refs);
}

static const struct kernel_param_ops peek_refs_ops = {
	.set = peek_refs_set,
	.get = peek_refs_get,
};
module_param_cb(refs, &peek_refs_ops, NULL, 0644);

static int __init peek_init(void)
{
	return 0;
}

static void __exit peek_exit(void)
{
}

module_init(peek_init);
module_exit(peek_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("References of XDP programs, and the master redirect key");
