// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Determines which rules could not be applied, and why: if there are no findings, the
 * reader must be able to see what was examined. A rule about objects that the device
 * does not support, or does not currently have, is not a gap.
 */
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "grow.h"
#include "rules.h"
#include "source/query.h"

static const struct {
	const char *name;	/* part of the interface, never changes */
	const char *why, *remedy;
} lacks[DIAG_LACKS] = {
	[DIAG_LACK_COMPANION] = { "companion",
		EADM_COMPANION_ABSENT,
		"modprobe eadm" },
	[DIAG_LACK_STOCK] = { "stock-driver",
		"the driver provides no queues, commands or failures",
		"'eadm probe start' records calls and connections of any driver" },
	[DIAG_LACK_DRIVER] = { "driver",
		"the driver is not the one that comes with eadm and does not support the companion module",
		"load the driver that comes with eadm (modinfo shows its origin)" },
	[DIAG_LACK_SILENT] = { "companion-silent",
		EADM_COMPANION_SILENT,
		"dmesg | grep eadm; reload eadm.ko" },
	[DIAG_LACK_RIGHT] = { "right",
		"access to the adapter's own contexts requires CAP_SYS_RAWIO",
		"run eadm as root" },
	[DIAG_LACK_LOCKDOWN] = { "lockdown",
		"the kernel is locked down: the adapter's own contexts cannot be read",
		"boot without lockdown" },
	[DIAG_LACK_ASKED] = { "not-asked",
		"the adapter's own contexts were not read",
		"run eadm diagnose as root, without --no-hw" },
	[DIAG_LACK_ADAPTER] = { "adapter",
		"the adapter does not respond to commands",
		"eadm trace" },
	[DIAG_LACK_NODE] = { "char-device",
		"queue contents cannot be read",
		"check the mode and group of /dev/eadm; reload eadm.ko" },
	[DIAG_LACK_PIDNS] = { "pid-namespace",
		"processes outside this PID namespace are not visible",
		"run eadm in the PID namespace of the host" },
	[DIAG_LACK_CAPTURE] = { "capture",
		"the capture lacks data",
		"eadm diagnose --save as root" },
	[DIAG_LACK_SNAPSHOT] = { "snapshot",
		"they compare two snapshots",
		"eadm record -n 2" },
};

const char *eadm_diag_lack_name(enum diag_lack lack)
{
	return lacks[lack].name;
}

const char *eadm_diag_lack_why(enum diag_lack lack)
{
	return lacks[lack].why;
}

const char *eadm_diag_lack_remedy(enum diag_lack lack)
{
	return lacks[lack].remedy;
}

/*
 * Returns true if the reason is a fault: all other reasons also occur on a healthy
 * machine, such as a stock driver or a user without privileges.
 */
bool eadm_diag_lack_is_fault(enum diag_lack lack)
{
	return lack == DIAG_LACK_SILENT || lack == DIAG_LACK_ADAPTER ||
	       lack == DIAG_LACK_NODE;
}

/* Returns true if it can be determined whether the device has rows of a kind. */
static bool is_seen(const struct diag_inputs *in, enum diag_kind kind)
{
	switch (kind) {
	case DIAG_CMDQ:
	case DIAG_CMD:
	case DIAG_EQ:
	case DIAG_CTX:
	case DIAG_FAILURE:
		return !in->lack[DIAG_STATE];
	default:
		return true;
	}
}

/*
 * Returns true if a row of the device has a field that the rule can use instead of the
 * driver's state.
 */
static bool has_instead(const struct diag_snapshot *m,
			const struct eadm_rule *rule, uint64_t dev)
{
	const struct diag_rows *rows = &m->rows[rule->kind];
	const signed char *f;
	size_t i;

	for (f = rule->instead; f && *f >= 0; f++) {
		for (i = 0; i < rows->n; i++) {
			if (rows->row[i].dev == dev &&
			    diag_has(&rows->row[i], *f))
				return true;
		}
	}
	return false;
}

/*
 * Returns the reason why the rule cannot be applied to the device, and sets *@why to
 * the library's explanation.
 */
static enum diag_lack lack_of(const struct diag_snapshot *m, bool two,
			      const struct diag_inputs *in,
			      const struct eadm_rule *rule, const char **why)
{
	unsigned int i;

	*why = NULL;
	if (rule->program && !eadm_diag_is_program(m, in->dev))
		return DIAG_LACK_NONE;
	if (is_seen(in, rule->kind) && !eadm_diag_of(m, rule->kind, in->dev).n)
		return DIAG_LACK_NONE;
	for (i = 0; i < DIAG_INPUTS; i++) {
		if (!(rule->needs & DIAG_NEEDS(i)) || !in->lack[i] ||
		    (i == DIAG_STATE && has_instead(m, rule, in->dev)))
			continue;
		*why = in->why[i];
		return in->lack[i];
	}
	return rule->two && !two ? DIAG_LACK_SNAPSHOT : DIAG_LACK_NONE;
}

static int add_gap(struct diag_gaps *gaps, const struct diag_inputs *in,
		   enum diag_lack lack, const char *why)
{
	struct diag_gap *gap;
	size_t i;

	for (i = 0; i < gaps->n; i++) {
		gap = &gaps->gap[i];
		if (gap->in == in && gap->lack == lack) {
			gap->rules++;
			return 0;
		}
	}
	if (!grow(gaps->gap, gaps->n, gaps->max))
		return -ENOMEM;
	gaps->gap[gaps->n++] = (struct diag_gap){
		.in = in, .lack = lack, .why = why, .rules = 1,
	};
	return 0;
}

/* @two: an earlier snapshot exists. Returns 0 or -ENOMEM. */
int eadm_diag_gaps_find(struct diag_gaps *gaps, const struct diag_snapshot *m,
			bool two, unsigned int groups,
			const struct diag_inputs *in)
{
	const struct eadm_rule *rule = NULL;
	enum diag_lack lack;
	const char *why;
	int ret = 0;

	while (!ret && (rule = eadm_rule_next(rule))) {
		if (!(eadm_rule_groups(rule) & groups))
			continue;
		lack = lack_of(m, two, in, rule, &why);
		if (lack && lack != DIAG_LACK_FAMILY)
			ret = add_gap(gaps, in, lack, why);
	}
	return ret;
}

void eadm_diag_gaps_free(struct diag_gaps *gaps)
{
	free(gaps->gap);
	memset(gaps, 0, sizeof(*gaps));
}
