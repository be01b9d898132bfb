// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages of the companion's family to records: one loop over the tables. */
#include <errno.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "priv.h"

static bool fits(const struct eadm_field *field, const struct nlattr *attr)
{
	size_t len = eadm_attr_len(attr);

	switch (field->type) {
	case EADM_SPEC_TYPE_U32:
	case EADM_SPEC_TYPE_S32:
		return len == 4;
	case EADM_SPEC_TYPE_UINT:
		return len == 4 || len == 8;
	case EADM_SPEC_TYPE_U64:
		return len == 8;
	case EADM_SPEC_TYPE_STRING:
		return eadm_attr_string(attr) != NULL;
	default:
		return true;
	}
}

/*
 * The record points into the message. An attribute without a field is kept as
 * an extra: a newer kernel tells more than this library knows.
 */
int eadm_decode(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		const struct eadm_object *object, bool hw,
		struct eadm_record *rec)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
	const struct eadm_field *field;
	const struct nlattr *attr;
	unsigned int type;
	int ret;

	eadm_record_reset(rec, object, reply->chunk.time);
	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		type = eadm_attr_type(attr);
		if (type > object->max_attr || !type) {
			struct eadm_extra extra = {
				.attr = type,
				.data = eadm_attr_data(attr),
				.len = eadm_attr_len(attr),
			};

			ret = eadm_record_add_extra(rec, &extra);
			if (ret)
				return ret;
			continue;
		}
		if (object->by_attr[type] < 0)
			continue;
		field = &object->fields[object->by_attr[type]];
		if (field->hw && !hw)
			continue;
		if (!fits(field, attr))
			return eadm_reply_bad(reply, attr,
					      "%s: %s has %zu bytes",
					      object->name, field->name,
					      eadm_attr_len(attr));
		eadm_record_point(rec, type, eadm_attr_data(attr),
				  eadm_attr_len(attr));
	}
	if (ret < 0)
		return eadm_reply_bad(reply, attrs.pos,
				      "%s: an attribute leaves the message",
				      object->name);
	if (!eadm_record_attr_has(rec, 1) || !eadm_record_attr_has(rec, 2))
		return eadm_reply_bad(reply, nlh, "%s: a row without a device",
				      object->name);
	return 0;
}
