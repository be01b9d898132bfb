// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists of QPs in RDMA netlink: numbers, and ranges of numbers. */
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>

#include "eadm_nl.h"
#include "nldev.h"
#include "qp_list.h"

/* Maximum length of the field in spec/eadm.yaml. */
#define MAX_QPNS 2048

int eadm_qp_list_next(struct eadm_attrs *list, struct eadm_qp_range *range)
{
	const struct nlattr *entry, *attr;
	struct eadm_attrs attrs;
	uint64_t first, last, u;
	int ret;

	while ((ret = eadm_attr_next(list, &entry)) > 0) {
		if (eadm_attr_type(entry) != RDMA_NLDEV_ATTR_RES_QP_ENTRY)
			continue;
		first = UINT64_MAX;
		last = 0;
		attrs = eadm_attr_nested(entry);
		while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
			if (!eadm_nldev_number(attr, &u))
				continue;
			if (eadm_attr_type(attr) == RDMA_NLDEV_ATTR_RES_LQPN)
				first = last = u;
			else if (eadm_attr_type(attr) == RDMA_NLDEV_ATTR_MIN_RANGE)
				first = u;
			else if (eadm_attr_type(attr) == RDMA_NLDEV_ATTR_MAX_RANGE)
				last = u;
		}
		if (ret < 0)
			break;
		if (first > last || last > UINT32_MAX)
			continue;
		range->first = first;
		range->last = last;
		return 1;
	}
	return ret < 0 ? -EBADMSG : 0;
}

int eadm_qp_list_put(struct eadm_attrs qps, struct eadm_record *srq)
{
	static const char more[] = " ...";
	char text[MAX_QPNS] = "", word[24];
	struct eadm_qp_range range;
	uint64_t users = 0;
	bool full = false;
	size_t at = 0;
	int ret, len;

	while ((ret = eadm_qp_list_next(&qps, &range)) > 0) {
		users += (uint64_t)range.last - range.first + 1;
		if (range.first == range.last)
			len = snprintf(word, sizeof(word), "%u", range.first);
		else
			len = snprintf(word, sizeof(word), "%u-%u", range.first,
				       range.last);
		full = full || at + 1 + len + sizeof(more) > sizeof(text);
		if (!full)
			at += snprintf(text + at, sizeof(text) - at, "%s%s",
				       at ? " " : "", word);
	}
	if (ret < 0)
		return ret;
	if (full)
		memcpy(text + at, more, sizeof(more));
	eadm_record_put_string(srq, EADM_A_SRQ_QPNS, text);
	if (users <= UINT32_MAX)
		eadm_record_put_u64(srq, EADM_A_SRQ_USERS, users);
	return 0;
}
