/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules of a diagnosis: each consists of data and a small function.
 *
 * The function is called for each object of the rule's kind that exists now. If it
 * finds a fault, it describes the object in a sentence with figures, and adds the values
 * as evidence.
 */
#ifndef EADM_RULES_H
#define EADM_RULES_H

#include <errno.h>

#include "index.h"
#include "model.h"
#include "base/ctx.h"

#define SECOND 1000000000ULL

struct judge;

struct eadm_rule {
	const char *name;	/* part of the interface, never changes */
	const char *check;	/* name in "eadm check"; NULL: the same */
	unsigned int groups;	/* enum eadm_rule_group; 0: STATE */
	enum eadm_severity severity;
	enum diag_kind kind;
	bool two;		/* compares two snapshots */
	bool stuck;		/* reports objects that did not change between snapshots */
	bool last;		/* no later rule matters for this device */
	bool program;		/* only for adapters emulated by programs */
	unsigned int needs;	/* inputs besides rows: DIAG_NEEDS() of each */
	/*
	 * Fields of the rule's rows, terminated by -1: if a row has one of them, the
	 * driver's state is not needed.
	 */
	const signed char *instead;
	const char *help;
	/*
	 * "{dev}" and "{id}" are replaced with the names of the device and the object.
	 */
	const char *cause, *next;
	/* Legitimate situations that look similar, and why they are not reported. */
	const char *alike;
	/* @then: NULL if the object did not exist before. */
	void (*look)(struct judge *j, const struct diag_row *now,
		     const struct diag_row *then);
};

/* Shorthands for the rules' data. */
#define STATE	DIAG_NEEDS(DIAG_STATE)
#define HW	DIAG_NEEDS(DIAG_HW)
#define RINGS	DIAG_NEEDS(DIAG_RINGS)
#define OWNERS	DIAG_NEEDS(DIAG_OWNERS)

extern const struct eadm_rule eadm_rules_dev[], eadm_rules_cmdq[],
	eadm_rules_eq[], eadm_rules_cq[], eadm_rules_notify[], eadm_rules_qp[],
	eadm_rules_owner[], eadm_rules_failure[], eadm_rules_setup[],
	eadm_rules_port[], eadm_rules_given_up[], eadm_rules_link[], eadm_rules_probe[],
	eadm_rules_side[], eadm_rules_limits[], eadm_rules_verbs[],
	eadm_rules_function[], eadm_rules_net[], eadm_rules_tcp[],
	eadm_rules_smc[], eadm_rules_user[], eadm_rules_ports[];

/* Bits of enum eadm_rule_group, at least one. */
unsigned int eadm_rule_groups(const struct eadm_rule *rule);

/* ---- data that could not be examined: gaps.c ----------------------------- */

struct diag_gap {
	const struct diag_inputs *in;
	enum diag_lack lack;
	const char *why;	/* the library's own explanation, or NULL */
	const char *text;	/* the gap as a complete sentence */
	unsigned int rules;
};

struct diag_gaps {
	struct diag_gap *gap;
	size_t n, max;
};

const char *eadm_diag_lack_name(enum diag_lack lack);
const char *eadm_diag_lack_why(enum diag_lack lack);
const char *eadm_diag_lack_remedy(enum diag_lack lack);
bool eadm_diag_lack_is_fault(enum diag_lack lack);
int eadm_diag_gaps_find(struct diag_gaps *gaps, const struct diag_snapshot *m,
			bool two, unsigned int groups,
			const struct diag_inputs *in);
void eadm_diag_gaps_free(struct diag_gaps *gaps);

/* ---- data that a rule can access ------------------------------------------- */

const struct diag_snapshot *eadm_judge_now(const struct judge *j);
const struct diag_snapshot *eadm_judge_then(const struct judge *j);
/*
 * Returns the row of the same object in the earlier snapshot, or NULL: a different object
 * may have had its number. @now: may be NULL.
 */
const struct diag_row *eadm_judge_earlier(const struct judge *j, enum diag_kind kind,
					  const struct diag_row *now);

/*
 * Number of snapshots dropped between the two, and number of those in which a QP was
 * idle.
 */
unsigned int eadm_judge_between(const struct judge *j);
unsigned int eadm_judge_idled(const struct judge *j,
			      const struct diag_row *row);
/* A longer interval may reveal a fault: see eadm_diagnosis_in_doubt(). */
void eadm_judge_doubt(struct judge *j);

/* Faults counted earlier than this are ignored. */
#define LATELY_NS	(30 * SECOND)

/*
 * Returns true if a fault counter grew between the snapshots or shortly before. @ago is
 * set to the time since then, 0 if unknown.
 */
static inline bool diag_lately(const struct diag_row *now,
			       const struct diag_row *then, unsigned int field,
			       unsigned int age, uint64_t *ago)
{
	*ago = diag_u64(now, age);
	return diag_growth(now, then, field) ||
	       (diag_u64(now, field) && diag_has(now, age) &&
		*ago < LATELY_NS);
}

/* Returns true if any QP of this CQ has completed anything on either queue. */
bool eadm_cq_qps_move(struct judge *j, const struct diag_row *cq);

/* ---- verdicts ------------------------------------------------------------------ */

void eadm_accuse(struct judge *j, const struct diag_row *row, const char *fmt,
		 ...) EADM_PRINTF(3, 4);
/*
 * For rules about the setup; ignored unless such rules are applied. Report that a check
 * passed, or that it is not possible, and a remedy in the latter case.
 */
void eadm_pass(struct judge *j, const struct diag_row *row, const char *fmt,
	       ...) EADM_PRINTF(3, 4);
void eadm_unseen(struct judge *j, const struct diag_row *row,
		 const char *remedy, const char *fmt, ...) EADM_PRINTF(4, 5);
/*
 * Report that @what of a device cannot be checked although its driver should show it.
 * Returns false if this does not apply to the device.
 */
bool eadm_judge_hidden(struct judge *j, const struct diag_row *dev,
		       const char *what);
/* Returns the family of a device's driver, or NULL if unknown. */
const struct eadm_family *eadm_judge_family(struct judge *j,
					    const struct diag_row *dev);
/*
 * Returns true if each port of a device is an InfiniBand port, which needs no network
 * interface, but a subnet manager; false if unknown.
 */
bool eadm_judge_is_infiniband(struct judge *j, const struct diag_row *dev);
/*
 * Returns true if a QP uses the port; the RDMA core's own QPs and those of IPoIB, which
 * each port has, do not count.
 */
bool eadm_judge_uses_port(struct judge *j, const struct diag_row *port);
/*
 * To be called after a report that a port is down: state the cause and the next step.
 * @netdev: its network interface; "" if it has none or if it is unknown
 */
void eadm_judge_port_down(struct judge *j, const char *netdev, bool infiniband);
/* Record that the source lacks the data that the rule examines. */
void eadm_judge_unknown(struct judge *j);
/*
 * Add a note about the machine, at most once per row, for up to two rows. @what: a
 * string constant.
 */
void eadm_judge_remark(struct judge *j, const char *what, const char *fmt, ...)
	EADM_PRINTF(3, 4);
/*
 * To be called after a report if its severity or texts differ from those of the rule.
 */
void eadm_judge_severity(struct judge *j, enum eadm_severity severity);
void eadm_judge_cause(struct judge *j, const char *cause);
void eadm_judge_next(struct judge *j, const char *next);

/*
 * To be called after a report: state why memory could not be registered @times times
 * since the earlier snapshot. The reason is the process's limit, the kernel or the
 * adapter.
 */
void eadm_judge_registration(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then, uint64_t times);

/* Returns a sentence that explains a cause, or NULL if the cause is unknown. */
const char *eadm_cause_text(uint64_t cause);

/* Check whether the state of the process explains why a queue is not served. */
void eadm_judge_consumer(struct judge *j, uint64_t pid);

/*
 * For consequences of another fault: if @cause was reported (by @rule, or NULL: by any
 * rule), or is itself a consequence, list @row there and return true. The sentence
 * describes the effect of the fault on @row.
 */
bool eadm_follows(struct judge *j, const char *rule, enum diag_kind kind,
		  const struct diag_row *cause, const struct diag_row *row,
		  const char *fmt, ...) EADM_PRINTF(6, 7);

/*
 * Report the object and return true if the counters in a list terminated by -1 grew by
 * at least @least in total. @one and @many are the singular and plural of the counted
 * items.
 */
bool eadm_accuse_growth(struct judge *j, const struct diag_row *now,
			const struct diag_row *then, const signed char *fields,
			uint64_t least, const char *one, const char *many);

void eadm_cite(struct judge *j, enum diag_kind kind, const struct diag_row *row,
	       unsigned int field);
void eadm_cite_growth(struct judge *j, enum diag_kind kind,
		      const struct diag_row *now, const struct diag_row *then,
		      unsigned int field);

/* Adds the family-specific states of an object to the evidence. */
void eadm_cite_family(struct judge *j, enum diag_kind kind,
		      const struct diag_row *row);

/* Adds the fields in a list terminated by -1 to the evidence. */
void eadm_cite_all(struct judge *j, enum diag_kind kind,
		   const struct diag_row *row, const signed char *fields);

/* "3.2 s", for use in a sentence. */
const char *eadm_age_text(uint64_t ns, char *buf, size_t size);
/* Texts that name a QP and its process, and the QP's peer. */
const char *eadm_qp_text(const struct diag_row *qp, char *buf, size_t size);
const char *eadm_peer_text(const struct diag_row *qp, char *buf, size_t size);

static inline const char *diag_interval(const struct diag_row *now,
					const struct diag_row *then, char *buf,
					size_t size)
{
	return eadm_age_text(now->time - then->time, buf, size);
}

#endif /* EADM_RULES_H */
