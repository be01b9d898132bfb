// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the cost of recording a command with that of an enabled tracepoint.
 *
 * The tracepoint has to be enabled when the module is loaded
 * (/sys/kernel/tracing/events/erdma_bench). Recording and the tracepoint are measured alternately
 * in the same run; the parameters show the minimum of all rounds, in ps per command.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/clock.h>

#include "eadm_recorder.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define ROUNDS		50
#define COMMANDS	2000

static u64 recorder_ps = U64_MAX;
module_param(recorder_ps, ullong, 0444);
MODULE_PARM_DESC(recorder_ps, "Cost of recording a command and its completion, ps");

static u64 tracepoint_ps = U64_MAX;
module_param(tracepoint_ps, ullong, 0444);
MODULE_PARM_DESC(tracepoint_ps, "Cost of one enabled tracepoint, ps");

static u64 clock_ps = U64_MAX;
module_param(clock_ps, ullong, 0444);
MODULE_PARM_DESC(clock_ps, "Cost of reading the clock, ps");

static u8 request[128];

static u64 per_command(u64 start)
{
	return div_u64((ktime_get_ns() - start) * 1000, COMMANDS);
}

/* The driver reads the clock anyway; this measurement includes the reading. */
static u64 measure_recorder(struct eadm_recorder *r)
{
	u64 response[2] = { 1, 2 };
	u64 start = ktime_get_ns();
	u64 seq;
	int i;

	for (i = 0; i < COMMANDS; i++) {
		seq = eadm_recorder_submit(r, local_clock(), 1, i & 127, 1, false,
					   request, 128);
		eadm_recorder_done(r, seq, local_clock(), 0, 0, response,
				   sizeof(response));
	}
	return per_command(start);
}

static u64 measure_tracepoint(void)
{
	u64 start = ktime_get_ns();
	int i;

	for (i = 0; i < COMMANDS; i++)
		trace_erdma_bench_cmd(i, 1, 0, 0, i);
	return per_command(start);
}

static u64 measure_clock(void)
{
	u64 start = ktime_get_ns(), sum = 0;
	int i;

	for (i = 0; i < COMMANDS; i++)
		sum += local_clock();
	OPTIMIZER_HIDE_VAR(sum);
	return per_command(start);
}

static void run(struct eadm_recorder *r)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		recorder_ps = min(recorder_ps, measure_recorder(r));
		tracepoint_ps = min(tracepoint_ps, measure_tracepoint());
		clock_ps = min(clock_ps, measure_clock());
		cond_resched();
	}
}

static int param_set_run(const char *val, const struct kernel_param *kp)
{
	struct eadm_recorder r;
	int ret;

	if (!trace_erdma_bench_cmd_enabled())
		return -EINVAL;
	ret = eadm_recorder_init(&r);
	if (ret)
		return ret;
	run(&r);
	eadm_recorder_free(&r);
	return 0;
}

static const struct kernel_param_ops run_ops = {
	.set = param_set_run,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "Write any value to start a measurement, with the tracepoint enabled");

static int __init bench_init(void)
{
	return 0;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of the ERDMA flight recorder");
MODULE_LICENSE("GPL");
