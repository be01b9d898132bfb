// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets drivers count more CPUs than a guest can have: writing a number to
 * /sys/module/manycpus/parameters/online makes it that of CPUs online, and 0 makes it the
 * real one again. The set of CPUs stays as it is. The guest must not stop or start CPUs
 * meanwhile, or do anything else for which all CPUs have to meet.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

static void set_number(unsigned int number)
{
	atomic_set(&__num_online_cpus, number ?: cpumask_weight(cpu_online_mask));
}

static int online_set(const char *val, const struct kernel_param *kp)
{
	unsigned int number;
	int ret = kstrtouint(val, 0, &number);

	if (!ret)
		set_number(number);
	return ret;
}

static const struct kernel_param_ops online_ops = { .set = online_set };
module_param_cb(online, &online_ops, NULL, 0200);
MODULE_PARM_DESC(online, "Number of CPUs online, 0: the real one");

static int __init manycpus_init(void)
{
	return 0;
}
module_init(manycpus_init);

static void __exit manycpus_exit(void)
{
	set_number(0);
}
module_exit(manycpus_exit);

MODULE_DESCRIPTION("Test: more CPUs online than there are");
MODULE_LICENSE("GPL");
