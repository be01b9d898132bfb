// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of rules and their properties. */
#include "rules.h"

/*
 * In the order of application: a rule whose findings explain those of other rules comes
 * first.
 */
static const struct eadm_rule *const lists[] = {
	eadm_rules_function, eadm_rules_setup, eadm_rules_net,
	eadm_rules_verbs, eadm_rules_limits, eadm_rules_dev, eadm_rules_ports, eadm_rules_link, eadm_rules_port,
	eadm_rules_cmdq, eadm_rules_eq, eadm_rules_cq, eadm_rules_notify,
	eadm_rules_qp, eadm_rules_side, eadm_rules_given_up, eadm_rules_owner, eadm_rules_failure,
	eadm_rules_probe, eadm_rules_tcp, eadm_rules_user, eadm_rules_smc,
};

EADM_API const struct eadm_rule *eadm_rule_next(const struct eadm_rule *rule)
{
	unsigned int i, list = 0;
	uintptr_t begin = 0;

	if (!rule)
		return lists[0];
	if (rule[1].name)
		return rule + 1;
	/*
	 * @rule is the last of its list: find the list, which begins closest before it.
	 */
	for (i = 0; i < EADM_ARRAY_SIZE(lists); i++) {
		if ((uintptr_t)lists[i] > begin && (uintptr_t)lists[i] <= (uintptr_t)rule) {
			begin = (uintptr_t)lists[i];
			list = i;
		}
	}
	return list + 1 < EADM_ARRAY_SIZE(lists) ? lists[list + 1] : NULL;
}

EADM_API const char *eadm_rule_name(const struct eadm_rule *rule)
{
	return rule->name;
}

unsigned int eadm_rule_groups(const struct eadm_rule *rule)
{
	return rule->groups ? rule->groups : EADM_GROUP_STATE;
}

EADM_API const char *eadm_rule_check_name(const struct eadm_rule *rule)
{
	if (!(eadm_rule_groups(rule) & EADM_GROUP_SETUP))
		return NULL;
	return rule->check ? rule->check : rule->name;
}

EADM_API enum eadm_severity eadm_rule_severity(const struct eadm_rule *rule)
{
	return rule->severity;
}

EADM_API const struct eadm_object *
eadm_rule_object(const struct eadm_rule *rule)
{
	return eadm_object_find(eadm_diag_kind_name(rule->kind));
}

EADM_API const char *eadm_rule_help(const struct eadm_rule *rule)
{
	return rule->help;
}

EADM_API const char *eadm_rule_cause(const struct eadm_rule *rule)
{
	return rule->cause;
}

EADM_API const char *eadm_rule_alike(const struct eadm_rule *rule)
{
	return rule->alike;
}

EADM_API bool eadm_rule_needs_two_snapshots(const struct eadm_rule *rule)
{
	return rule->two;
}

EADM_API const char *eadm_severity_name(enum eadm_severity severity)
{
	switch (severity) {
	case EADM_SEVERITY_OK:
		return "ok";
	case EADM_SEVERITY_UNSEEN:
		return "unseen";
	case EADM_SEVERITY_NOTICE:
		return "notice";
	case EADM_SEVERITY_WARNING:
		return "warning";
	case EADM_SEVERITY_CRITICAL:
		return "critical";
	}
	return NULL;
}
