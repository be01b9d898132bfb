/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: diagnosis. Part of eadm.h, which states the rules for all functions;
 * this header can also be included on its own.
 *
 * A diagnosis reads snapshots from a source and applies rules to them. Some
 * rules judge a single snapshot, such as "the command queue is dead"; other
 * rules need two, because they compare values over time. The procedure is
 * therefore: sample, wait, sample again, evaluate, and read the verdicts. A
 * program that samples periodically, such as an exporter at each scrape,
 * evaluates after each sample.
 *
 * A healthy system has no verdicts, however busy it is.
 */
#ifndef EADM_DIAGNOSE_H
#define EADM_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eadm_note.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;
struct eadm_object;

/**
 * struct eadm_diagnosis - snapshots of a source and the verdicts about them
 */
struct eadm_diagnosis;

/**
 * struct eadm_rule - description of a rule
 */
struct eadm_rule;

/**
 * enum eadm_severity - severity of a verdict
 * @EADM_SEVERITY_OK: nothing is wrong; this and the next value are used only by
 *	rules about the setup
 * @EADM_SEVERITY_UNSEEN: the state that the rule checks should be visible, but
 *	is not
 * @EADM_SEVERITY_NOTICE: useful information; nothing is broken
 * @EADM_SEVERITY_WARNING: something does not work as it should
 * @EADM_SEVERITY_CRITICAL: a device or a connection is out of service
 */
enum eadm_severity {
	EADM_SEVERITY_OK = -2,
	EADM_SEVERITY_UNSEEN = -1,
	EADM_SEVERITY_NOTICE = 0,
	EADM_SEVERITY_WARNING = 1,
	EADM_SEVERITY_CRITICAL = 2,
};

/**
 * eadm_severity_name() - name of a severity, such as "warning"
 * @severity: the severity
 *
 * Return: the name, NULL if the value is not a severity.
 * Since: 0.9
 */
const char *eadm_severity_name(enum eadm_severity severity);

/**
 * eadm_rule_next() - walk all rules
 * @rule: NULL for the first rule, otherwise the previous one
 *
 * Return: the next rule, NULL at the end.
 * Since: 0.9
 */
const struct eadm_rule *eadm_rule_next(const struct eadm_rule *rule);

/**
 * eadm_rule_name() - stable name of a rule, such as "receiver-starved"
 * @rule: the description
 *
 * Since: 0.9
 */
const char *eadm_rule_name(const struct eadm_rule *rule);

/**
 * enum eadm_rule_group - groups of rules, one bit each
 * @EADM_GROUP_STATE: rules about the current state: "eadm diagnose"
 * @EADM_GROUP_SETUP: rules about the setup of the machine: "eadm check". They
 *	also report passed checks as verdicts.
 */
enum eadm_rule_group {
	EADM_GROUP_STATE = 1,
	EADM_GROUP_SETUP = 2,
};

/**
 * eadm_rule_check_name() - name of a rule in "eadm check"
 * @rule: the description
 *
 * Return: a stable name, such as "port", or NULL if the rule does not check the
 *	setup.
 * Since: 0.9
 */
const char *eadm_rule_check_name(const struct eadm_rule *rule);

/**
 * eadm_rule_severity() - severity of a rule's findings
 * @rule: the description
 *
 * Since: 0.9
 */
enum eadm_severity eadm_rule_severity(const struct eadm_rule *rule);

/**
 * eadm_rule_object() - kind of object that a rule judges
 * @rule: the description
 *
 * Since: 0.9
 */
const struct eadm_object *eadm_rule_object(const struct eadm_rule *rule);

/**
 * eadm_rule_help() - description of a rule's findings
 * @rule: the description
 *
 * Since: 0.9
 */
const char *eadm_rule_help(const struct eadm_rule *rule);

/**
 * eadm_rule_cause() - likely cause of a rule's findings
 * @rule: the description
 *
 * Since: 0.9
 */
const char *eadm_rule_cause(const struct eadm_rule *rule);

/**
 * eadm_rule_alike() - similar behaviour that is not a fault
 * @rule: the description
 *
 * Return: a description of healthy behaviour of an adapter or application that
 * looks similar, and the reason why the rule does not report it.
 * Since: 0.9
 */
const char *eadm_rule_alike(const struct eadm_rule *rule);

/**
 * eadm_rule_needs_two_snapshots() - check whether a rule requires two snapshots
 * @rule: the description
 *
 * Since: 0.9
 */
bool eadm_rule_needs_two_snapshots(const struct eadm_rule *rule);

/**
 * eadm_diagnosis_new() - start a diagnosis
 *
 * Return: the diagnosis, or NULL with errno ENOMEM. Free it with
 * eadm_diagnosis_free().
 * Since: 0.9
 */
struct eadm_diagnosis *eadm_diagnosis_new(void);

/**
 * eadm_diagnosis_free() - end a diagnosis
 * @diagnosis: the diagnosis or NULL
 *
 * Since: 0.9
 */
void eadm_diagnosis_free(struct eadm_diagnosis *diagnosis);

/**
 * struct eadm_sample_opts - options for reading a snapshot
 * @size: sizeof(struct eadm_sample_opts), set by the caller
 * @hw: include the adapters' own contexts, which require a command for each
 *	object. If permission to read them is denied, or the adapter does not
 *	respond, the rules use the remaining data.
 * @more: another snapshot will be read before rules are applied. Unless a capture is
 *	being written, read only the data of this snapshot that will be compared with
 *	the next one.
 * @extend: keep the older of the two snapshots for comparison, so that the interval
 *	grows
 * @groups: the rules that will be applied, as bits of enum eadm_rule_group;
 *	they determine the data to read. 0: EADM_GROUP_STATE. With
 *	EADM_GROUP_SETUP alone, a single snapshot is enough, and a missing
 *	device is a verdict, not an error.
 * @device: read only this RDMA device; NULL for all devices
 */
struct eadm_sample_opts {
	size_t size;
	bool hw;
	bool extend;
	bool more;
	unsigned int groups;
	const char *device;
};

/**
 * eadm_diagnosis_sample() - read a snapshot
 * @diagnosis: the diagnosis
 * @ctx: an open context without a dump; the same one in every call
 * @opts: options, or NULL for all devices with @hw
 *
 * The diagnosis keeps two snapshots: this one and the one that it is compared with.
 * After an error of the source, only the previous snapshot is left, and there are no
 * verdicts. In a capture recorded while the clock was set back, a previous snapshot that
 * is not earlier is discarded.
 *
 * Return: 0; -ENODEV for an unknown device or if there is none; -EINVAL or
 * -E2BIG for bad options; other errors of the source.
 * Since: 0.9
 */
int eadm_diagnosis_sample(struct eadm_diagnosis *diagnosis,
			  struct eadm_ctx *ctx,
			  const struct eadm_sample_opts *opts);

/**
 * eadm_diagnosis_evaluate() - apply the rules to the snapshots
 * @diagnosis: the diagnosis; earlier verdicts are discarded
 *
 * Return: the number of verdicts, worst first, or -ENOMEM.
 * Since: 0.9
 */
int eadm_diagnosis_evaluate(struct eadm_diagnosis *diagnosis);

/**
 * eadm_diagnosis_in_doubt() - check whether a longer interval may change
 * verdicts
 * @diagnosis: the diagnosis, evaluated
 *
 * True if an object is reported as stuck because it did not change between the
 * two snapshots. Sample again with &eadm_sample_opts.extend and evaluate.
 *
 * Since: 0.9
 */
bool eadm_diagnosis_in_doubt(const struct eadm_diagnosis *diagnosis);

/**
 * eadm_diagnosis_interval() - time between the two snapshots
 * @diagnosis: the diagnosis
 *
 * Return: nanoseconds; 0 if there is only one snapshot.
 * Since: 0.9
 */
uint64_t eadm_diagnosis_interval(const struct eadm_diagnosis *diagnosis);

/**
 * eadm_diagnosis_trim() - free memory between two samples
 * @diagnosis: the diagnosis; verdicts are discarded
 *
 * Keeps the latest snapshot, with which eadm_diagnosis_sample() compares the next one,
 * and the results of eadm_diagnosis_gap() and eadm_diagnosis_note(). This is for
 * programs that diagnose many devices for a long time: most of the memory is used by
 * the earlier snapshot and the lookup tables of an evaluation. Do not call
 * eadm_diagnosis_evaluate() again before the next sample, because only one snapshot is
 * left.
 *
 * Since: 0.9
 */
void eadm_diagnosis_trim(struct eadm_diagnosis *diagnosis);

/**
 * struct eadm_evidence - a value on which a verdict is based
 * @size: sizeof(struct eadm_evidence), set by the caller
 * @object: name of the kind of object that has the value, such as "qp"
 * @id: value of that object's key field
 * @name: name of the value: the key of a field as in JSON, such as "hw_sq_ci";
 *	with "_growth" appended, the growth of a counter
 * @text: the value as text
 * @is_number: the value is also available in @number
 * @number: the value
 */
struct eadm_evidence {
	size_t size;
	const char *object;
	uint64_t id;
	const char *name;
	const char *text;
	bool is_number;
	uint64_t number;
};

/**
 * struct eadm_verdict - a finding of a rule
 * @size: sizeof(struct eadm_verdict), set by the caller
 * @rule: the rule
 * @severity: severity of the finding
 * @device: name of the device
 * @object: name of the kind of object concerned
 * @has_id: @id holds the value of the object's key field
 * @id: the value
 * @pid: PID of the process that owns the object; 0 if unknown or if there is
 *	none
 * @comm: command name of that process, or the kernel consumer in brackets; ""
 *	if unknown
 * @finding: a sentence about the problem, with numbers
 * @cause: the likely cause, "" if nothing is wrong
 * @next: a command that shows more details, or a remedy; "" if nothing is wrong
 *
 * Strings are valid until the diagnosis is sampled, evaluated or freed.
 */
struct eadm_verdict {
	size_t size;
	const struct eadm_rule *rule;
	enum eadm_severity severity;
	const char *device;
	const char *object;
	bool has_id;
	uint64_t id;
	uint64_t pid;
	const char *comm;
	const char *finding;
	const char *cause;
	const char *next;
};

/**
 * eadm_diagnosis_verdict() - read a verdict
 * @diagnosis: the diagnosis, evaluated
 * @index: from 0
 * @verdict: filled in
 *
 * Return: 1, 0 if there are no more, -EINVAL if @verdict->size is not set.
 * Since: 0.9
 */
int eadm_diagnosis_verdict(const struct eadm_diagnosis *diagnosis,
			   unsigned int index, struct eadm_verdict *verdict);

/**
 * eadm_diagnosis_evidence() - read the evidence of a verdict
 * @diagnosis: the diagnosis, evaluated
 * @verdict: index of the verdict
 * @index: from 0
 * @evidence: filled in; the strings are valid as long as those of a verdict
 *
 * Return: 1, 0 if there are no more, -EINVAL if @evidence->size is not set.
 * Since: 0.9
 */
int eadm_diagnosis_evidence(const struct eadm_diagnosis *diagnosis,
			    unsigned int verdict, unsigned int index,
			    struct eadm_evidence *evidence);

/**
 * struct eadm_consequence - how the cause of a verdict affects another object
 * @size: sizeof(struct eadm_consequence), set by the caller
 * @device: name of the device
 * @object: name of the kind of object, such as "qp"
 * @has_id: @id holds the value of the object's key field
 * @id: the value
 * @pid: PID of the process that owns the object, as in &struct eadm_verdict
 * @comm: command name of the process, as in &struct eadm_verdict
 * @finding: a sentence about the effect on the object
 */
struct eadm_consequence {
	size_t size;
	const char *device;
	const char *object;
	bool has_id;
	uint64_t id;
	uint64_t pid;
	const char *comm;
	const char *finding;
};

/**
 * eadm_diagnosis_consequence() - read a consequence of the cause of a verdict
 * @diagnosis: the diagnosis, evaluated
 * @verdict: index of the verdict
 * @index: from 0
 * @consequence: filled in; the strings are valid as long as those of a verdict
 *
 * No separate verdict is reported about these objects.
 *
 * Return: 1, 0 if there are no more, -EINVAL if @consequence->size is not set.
 * Since: 0.9
 */
int eadm_diagnosis_consequence(const struct eadm_diagnosis *diagnosis,
			       unsigned int verdict, unsigned int index,
			       struct eadm_consequence *consequence);

/**
 * struct eadm_gap - rules that could not be applied to a device
 * @size: sizeof(struct eadm_gap), set by the caller
 * @device: name of the device
 * @reason: stable name of the reason, such as "companion"
 * @count: number of rules
 * @of: total number of rules
 * @why: the reason, as a sentence
 * @remedy: how to resolve the problem
 */
struct eadm_gap {
	size_t size;
	const char *device;
	const char *reason;
	unsigned int count;
	unsigned int of;
	const char *why;
	const char *remedy;
};

/**
 * eadm_diagnosis_gap() - read which rules could not be applied, and why
 * @diagnosis: the diagnosis, evaluated
 * @index: from 0
 * @gap: filled in; the strings are valid as long as those of a verdict
 *
 * The absence of verdicts means that nothing is wrong only if there are no
 * gaps. A rule that is not applicable, such as a rule about event queues for a
 * device without event queues, is not a gap.
 *
 * Return: 1, 0 if there are no more, -EINVAL if @gap->size is not set.
 * Since: 0.9
 */
int eadm_diagnosis_gap(const struct eadm_diagnosis *diagnosis,
		       unsigned int index, struct eadm_gap *gap);

/**
 * eadm_diagnosis_note() - read a note about data that could not be examined
 * @diagnosis: the diagnosis
 * @index: from 0
 * @note: filled in; the strings are valid as long as those of a verdict
 *
 * These include the gaps of eadm_diagnosis_gap(), as sentences.
 *
 * Return: 1, 0 if there are no more, -EINVAL if @note->size is not set.
 * Since: 0.9
 */
int eadm_diagnosis_note(const struct eadm_diagnosis *diagnosis,
			unsigned int index, struct eadm_note *note);

#ifdef __cplusplus
}
#endif

#endif /* EADM_DIAGNOSE_H */
