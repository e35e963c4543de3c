// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for bonding.ko with which selftest.sh tries the runner: it tells
 * itself from the distribution's module by its version, and goes wrong in the
 * way that its parameter "act" says. Owns nothing; all happens while it loads.
 */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

static char *act = "";
module_param(act, charp, 0);
MODULE_PARM_DESC(act, "warn, bug, oops, spin, rtnl or count");

/* Not static: the name has to be in the backtrace that the runner shows. */
noinline void selftest_spin(void);
noinline void selftest_spin(void)
{
	unsigned long flags;

	local_irq_save(flags);
	for (;;)
		cpu_relax();
	local_irq_restore(flags);
}

/* Twice the same lock in one task: it sleeps for ever, the rest lives on. */
noinline void selftest_rtnl(void);
noinline void selftest_rtnl(void)
{
	rtnl_lock();
	rtnl_lock();
	/* or the second is a jump, and this function not in the backtrace */
	barrier();
}

/* How long 10,000 turns of a loop take, by the clock that tests measure by. */
static void selftest_count(void)
{
	u64 start = ktime_get_ns();
	int i;

	for (i = 0; i < 10000; i++)
		barrier();
	pr_info("selftest: count %llu\n", ktime_get_ns() - start);
}

static int __init selftest_init(void)
{
	if (!strcmp(act, "warn"))
		WARN(1, "selftest");
	else if (!strcmp(act, "bug"))
		BUG();
	else if (!strcmp(act, "oops"))
		WRITE_ONCE(*(volatile int *)8, 1);
	else if (!strcmp(act, "spin"))
		selftest_spin();
	else if (!strcmp(act, "rtnl"))
		selftest_rtnl();
	else if (!strcmp(act, "count"))
		selftest_count();
	return 0;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_DESCRIPTION("Tries the runner of tools/vm");
MODULE_ALIAS_RTNL_LINK("bond");
MODULE_VERSION("selftest");
MODULE_LICENSE("GPL");
