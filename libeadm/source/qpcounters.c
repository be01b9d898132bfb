// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counters that cover only some QPs ("rdma statistic qp"), from RDMA netlink. */
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* Maximum length of the field in spec/eadm.yaml. */
#define MAX_QPNS 512

struct set {
	struct eadm_answer *answer;
	const struct eadm_device *dev;
	uint32_t port, id, mode;
	char qpns[MAX_QPNS];
};

static bool get_u32(const struct nlattr *attr, uint32_t *value)
{
	if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
		return false;
	*value = mnl_attr_get_u32(attr);
	return true;
}

static int take_qpn(const struct nlattr *attr, void *data)
{
	struct set *set = data;
	char word[16];
	uint32_t qpn;

	if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_QP_ENTRY)
		return mnl_attr_parse_nested(attr, take_qpn, data);
	if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_LQPN &&
	    get_u32(attr, &qpn)) {
		snprintf(word, sizeof(word), "%u", qpn);
		eadm_local_add_word(set->qpns, sizeof(set->qpns), word,
				    strlen(word));
	}
	return MNL_CB_OK;
}

static int take_identity(const struct nlattr *attr, void *data)
{
	struct set *set = data;

	switch (mnl_attr_get_type(attr)) {
	case RDMA_NLDEV_ATTR_PORT_INDEX:
		get_u32(attr, &set->port);
		break;
	case RDMA_NLDEV_ATTR_STAT_COUNTER_ID:
		get_u32(attr, &set->id);
		break;
	case RDMA_NLDEV_ATTR_STAT_MODE:
		get_u32(attr, &set->mode);
		break;
	case RDMA_NLDEV_ATTR_RES_QP:
		return mnl_attr_parse_nested(attr, take_qpn, data);
	}
	return MNL_CB_OK;
}

/* Put one of the set's counters as a row. */
static void put_counter(const struct set *set, const struct nlattr *entry)
{
	struct eadm_answer *answer = set->answer;
	const struct nlattr *attr;
	const char *name = NULL;
	uint64_t value = 0;
	bool has_value = false;
	size_t at;

	mnl_attr_for_each_nested(attr, entry) {
		if (mnl_attr_get_type(attr) ==
			    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			name = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) ==
			    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE &&
		    mnl_attr_validate(attr, MNL_TYPE_U64) >= 0) {
			value = mnl_attr_get_u64(attr);
			has_value = true;
		}
	}
	if (!name || !has_value)
		return;
	at = eadm_answer_row(answer, set->dev);
	eadm_message_put_u32(&answer->out, EADM_A_QP_COUNTER_PORT, set->port);
	eadm_message_put_u32(&answer->out, EADM_A_QP_COUNTER_COUNTER, set->id);
	eadm_message_put_u32(&answer->out, EADM_A_QP_COUNTER_MODE, set->mode);
	eadm_local_put(answer, EADM_A_QP_COUNTER_QPNS, set->qpns);
	eadm_local_put(answer, EADM_A_QP_COUNTER_NAME, name);
	eadm_local_put_u64(answer, EADM_A_QP_COUNTER_VALUE, value);
	eadm_message_end(&answer->out, at);
}

static int take_set(const struct nlattr *attr, void *data)
{
	struct set *all = data, set = { .answer = all->answer, .dev = all->dev };
	const struct nlattr *nest, *entry;

	if (mnl_attr_get_type(attr) != RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY)
		return MNL_CB_OK;
	mnl_attr_parse_nested(attr, take_identity, &set);
	mnl_attr_for_each_nested(nest, attr) {
		if (mnl_attr_get_type(nest) != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		mnl_attr_for_each_nested(entry, nest)
			put_counter(&set, entry);
	}
	return MNL_CB_OK;
}

static int take_table(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_COUNTER)
		return mnl_attr_parse_nested(attr, take_set, data);
	return MNL_CB_OK;
}

static int take_message(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, 0, take_table, data);
	return MNL_CB_OK;
}

void eadm_local_qp_counters(struct eadm_answer *answer,
			    const struct eadm_query *query)
{
	struct set all = {
		.answer = answer, .dev = eadm_local_device_of(answer, query),
	};
	char buf[MNL_NLMSG_HDRLEN + 64];
	struct nlmsghdr *nlh;

	if (!all.dev)
		return;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					   RDMA_NLDEV_CMD_STAT_GET);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, all.dev->index);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	eadm_ask(NETLINK_RDMA, nlh, take_message, &all);
}
