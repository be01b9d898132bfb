// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages of the companion's family to records: one loop over the tables. */
#include <errno.h>
#include <linux/genetlink.h>

#include "decode.h"
#include "model/attr.h"

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

struct decoder {
	struct eadm_reply *reply;
	const struct eadm_object *object;
	bool hw;
	struct eadm_record *rec;
};

/*
 * Attributes of a message or of a family's nest, whose first one has the slot
 * behind @base. One without a field is kept as an extra: a newer kernel reports
 * more than this library knows.
 */
static int take_attr(const struct decoder *d, const struct nlattr *attr,
		     unsigned int base, unsigned int max)
{
	const struct eadm_object *object = d->object;
	unsigned int type = eadm_attr_type(attr);
	const struct eadm_field *field;
	int place;

	if (type > max || !type) {
		struct eadm_extra extra = {
			.attr = type,
			.data = eadm_attr_data(attr),
			.len = eadm_attr_len(attr),
		};

		return eadm_record_add_extra(d->rec, &extra);
	}
	place = object->by_slot[base + type];
	if (place < 0)
		return 0;
	field = &object->fields[place];
	if (field->hw && !d->hw)
		return 0;
	if (!fits(field, attr))
		return eadm_reply_bad(d->reply, attr, "%s: %s has %zu bytes",
				      object->name, field->name,
				      eadm_attr_len(attr));
	eadm_record_point(d->rec, field->slot, eadm_attr_data(attr),
			  eadm_attr_len(attr));
	return 0;
}

static int take_set(const struct decoder *d, const struct nlattr *nest,
		    const struct eadm_spec_set *set)
{
	struct eadm_attrs attrs = eadm_attr_nested(nest);
	const struct nlattr *attr;
	int ret;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		ret = take_attr(d, attr, set->base, set->max_attr);
		if (ret)
			return ret;
	}
	if (ret < 0)
		return eadm_reply_bad(d->reply, attrs.pos,
				      "%s: an attribute leaves its nest",
				      d->object->name);
	return 0;
}

/* The record points into the message. */
int eadm_decode(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		const struct eadm_object *object, bool hw,
		struct eadm_record *rec)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
	struct decoder d = { reply, object, hw, rec };
	const struct eadm_spec_set *set;
	const struct nlattr *attr;
	int ret;

	eadm_record_reset(rec, object, reply->chunk.time);
	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		set = eadm_spec_set_of(object, eadm_attr_type(attr));
		if (set)
			ret = take_set(&d, attr, set);
		else
			ret = take_attr(&d, attr, 0, object->max_attr);
		if (ret)
			return ret;
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
