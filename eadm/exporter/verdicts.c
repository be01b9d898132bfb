// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the verdicts of a diagnosis of the device. A diagnosis examines every queue,
 * so it does not run at each scrape; scrapes in between repeat the last result, with
 * its age.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

void verdicts_reset(struct verdicts *verdicts)
{
	eadm_diagnosis_free(verdicts->diagnosis);
	free(verdicts->rules);
	*verdicts = (struct verdicts){ 0 };
}

static int begin(struct verdicts *verdicts)
{
	const struct eadm_rule *rule = NULL;

	if (verdicts->diagnosis)
		return 0;
	while ((rule = eadm_rule_next(rule)))
		verdicts->n_rules++;
	verdicts->diagnosis = eadm_diagnosis_new();
	verdicts->rules = calloc(verdicts->n_rules, sizeof(*verdicts->rules));
	if (verdicts->diagnosis && verdicts->rules)
		return 0;
	verdicts_reset(verdicts);
	return -ENOMEM;
}

static void count(struct verdicts *verdicts)
{
	struct eadm_verdict verdict = { .size = sizeof(verdict) };
	const struct eadm_rule *rule;
	unsigned int i;
	size_t n;

	memset(verdicts->severity, 0, sizeof(verdicts->severity));
	memset(verdicts->rules, 0, verdicts->n_rules * sizeof(*verdicts->rules));
	for (i = 0; eadm_diagnosis_verdict(verdicts->diagnosis, i, &verdict) > 0;
	     i++) {
		verdicts->severity[verdict.severity]++;
		for (n = 0, rule = eadm_rule_next(NULL); rule != verdict.rule;
		     n++)
			rule = eadm_rule_next(rule);
		verdicts->rules[n]++;
	}
}

/* Does not read the adapters' contexts, which require a command for each queue. */
static int diagnose(struct eadm_ctx *ctx, const char *device,
		    struct verdicts *verdicts)
{
	struct eadm_sample_opts opts = { .size = sizeof(opts),
					 .device = device };
	int ret = begin(verdicts);

	if (!ret)
		ret = eadm_diagnosis_sample(verdicts->diagnosis, ctx, &opts);
	if (!ret)
		ret = eadm_diagnosis_evaluate(verdicts->diagnosis);
	if (ret < 0)
		return ret;
	count(verdicts);
	eadm_diagnosis_trim(verdicts->diagnosis);
	verdicts->when = monotonic_ns();
	return 0;
}

static uint32_t labels_of(struct samples *samples, const char *device,
			  const char *rule, enum eadm_severity severity)
{
	uint32_t labels = samples_labels(samples);

	samples_label(samples, "device", device);
	if (rule)
		samples_label(samples, "rule", rule);
	samples_label(samples, "severity", eadm_severity_name(severity));
	return labels;
}

/*
 * The absence of findings is only meaningful if the number of unapplied rules is known.
 */
static void collect_gaps(const struct verdicts *verdicts,
			 const struct model *model, struct samples *samples)
{
	struct eadm_gap gap = { .size = sizeof(gap) };
	uint32_t labels;
	unsigned int i;

	for (i = 0; eadm_diagnosis_gap(verdicts->diagnosis, i, &gap) > 0;
	     i++) {
		labels = samples_labels(samples);
		samples_label(samples, "device", gap.device);
		samples_label(samples, "reason", gap.reason);
		samples_add(samples, model->own[OWN_UNAPPLIED], labels,
			    gap.count);
	}
}

int verdicts_collect(struct eadm_ctx *ctx, const struct model *model,
		     const char *device, uint64_t interval,
		     struct verdicts *verdicts, struct samples *samples)
{
	const struct eadm_rule *rule = NULL;
	uint64_t now = monotonic_ns();
	uint32_t labels;
	size_t i;
	int ret;

	if (!verdicts->when || now - verdicts->when >= interval) {
		ret = diagnose(ctx, device, verdicts);
		if (ret)
			return ret;
		now = monotonic_ns();
	}
	for (i = 0; i < SEVERITIES; i++) {
		labels = labels_of(samples, device, NULL, i);
		samples_add(samples, model->own[OWN_VERDICTS], labels,
			    verdicts->severity[i]);
	}
	for (i = 0; (rule = eadm_rule_next(rule)); i++) {
		if (!verdicts->rules[i])
			continue;
		labels = labels_of(samples, device, eadm_rule_name(rule),
				   eadm_rule_severity(rule));
		samples_add(samples, model->own[OWN_FINDINGS], labels,
			    verdicts->rules[i]);
	}
	collect_gaps(verdicts, model, samples);
	labels = samples_labels(samples);
	samples_label(samples, "device", device);
	samples_add(samples, model->own[OWN_DIAGNOSED], labels,
		    now - verdicts->when);
	return 0;
}
