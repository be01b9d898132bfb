// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts messages of the companion's family to records, in a single loop over the
 * tables.
 */
#include <errno.h>
#include <linux/genetlink.h>

#include "decode.h"
#include "model/attr.h"

/* Numbers must have the exact size; a "uint" may also have half that size. */
static inline bool fits(const struct eadm_field *field,
			const struct nlattr *attr)
{
	static const uint8_t sizes[] = {
		[EADM_SPEC_TYPE_U32] = 4, [EADM_SPEC_TYPE_S32] = 4,
		[EADM_SPEC_TYPE_UINT] = 8, [EADM_SPEC_TYPE_U64] = 8,
		[EADM_SPEC_TYPE_BINARY] = 0,
	};
	size_t len = eadm_attr_len(attr), size = sizes[field->type];

	if (size)
		return len == size ||
		       (len == 4 && field->type == EADM_SPEC_TYPE_UINT);
	return field->type != EADM_SPEC_TYPE_STRING || eadm_attr_string(attr);
}

struct decoder {
	struct eadm_reply *reply;
	const struct eadm_object *object;
	bool hw;
	struct eadm_record *rec;
};

/*
 * Returns the index of an attribute's field; -1 if it has none. In a family's nest, the
 * first attribute has slot @base + 1.
 */
static inline int place_of(const struct eadm_object *object,
			   const struct nlattr *attr, unsigned int base,
			   unsigned int max)
{
	unsigned int type = eadm_attr_type(attr);

	return type && type <= max ? object->by_slot[base + type] : -1;
}

/*
 * Returns true if the attribute is a number that can be used unchanged, as nearly all
 * can. Decoding spends most of its time in this function.
 */
static inline bool is_plain(const struct eadm_object *object,
			    const struct nlattr *attr, unsigned int base,
			    unsigned int max)
{
	unsigned int type = eadm_attr_type(attr);

	return type && type <= max &&
	       eadm_attr_len(attr) == object->plain[base + type];
}

static inline int take_field(const struct decoder *d,
			     const struct eadm_object *object,
			     struct eadm_record *rec, const struct nlattr *attr,
			     int place)
{
	const struct eadm_field *field = &object->fields[place];

	if (field->hw && !d->hw)
		return 0;
	if (!fits(field, attr))
		return eadm_reply_bad(d->reply, attr, "%s: %s has %zu %s",
				      object->name, eadm_field_name(field),
				      eadm_attr_len(attr),
				      eadm_plural(eadm_attr_len(attr), "byte", "bytes"));
	eadm_record_point(rec, field->slot, eadm_attr_data(attr),
			  eadm_attr_len(attr));
	return 0;
}

/*
 * Unknown attributes are kept as extras: a newer kernel may report fields that are
 * unknown to this library.
 */
static int take_other(const struct decoder *d, const struct nlattr *attr,
		      unsigned int max)
{
	struct eadm_extra extra = {
		.attr = eadm_attr_type(attr),
		.data = eadm_attr_data(attr),
		.len = eadm_attr_len(attr),
	};

	if (extra.attr && extra.attr <= max)
		return 0;
	return eadm_record_add_extra(d->rec, &extra);
}

static int take_set(const struct decoder *d, const struct nlattr *nest,
		    const struct eadm_spec_set *set)
{
	struct eadm_attrs attrs = eadm_attr_nested(nest);
	const struct nlattr *attr;
	int ret, place;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		if (is_plain(d->object, attr, set->base, set->max_attr)) {
			eadm_record_point(d->rec, set->base + eadm_attr_type(attr),
					  eadm_attr_data(attr),
					  eadm_attr_len(attr));
			continue;
		}
		place = place_of(d->object, attr, set->base, set->max_attr);
		ret = place < 0 ? take_other(d, attr, set->max_attr) :
				  take_field(d, d->object, d->rec, attr, place);
		if (ret)
			return ret;
	}
	if (ret < 0)
		return eadm_reply_bad(d->reply, attrs.pos,
				      "%s: attribute exceeds its nest",
				      d->object->name);
	return 0;
}

/*
 * Handles an attribute that is not a field of its object: a nest, or an unknown attribute.
 */
static int take_rest(const struct decoder *d, const struct nlattr *attr)
{
	const struct eadm_spec_set *set;

	set = eadm_spec_set_of(d->object, eadm_attr_type(attr));
	return set ? take_set(d, attr, set) :
		     take_other(d, attr, d->object->max_attr);
}

/* The record points into the message. */
int eadm_decode(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		const struct eadm_object *object, bool hw,
		struct eadm_record *rec)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
	struct decoder d = { reply, object, hw, rec };
	const struct nlattr *attr;
	int ret, place;

	eadm_record_reset(rec, object, reply->chunk.time);
	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		if (is_plain(object, attr, 0, object->max_attr)) {
			eadm_record_point(rec, eadm_attr_type(attr),
					  eadm_attr_data(attr),
					  eadm_attr_len(attr));
			continue;
		}
		place = place_of(object, attr, 0, object->max_attr);
		ret = place < 0 ? take_rest(&d, attr) :
				  take_field(&d, object, rec, attr, place);
		if (ret)
			return ret;
	}
	if (ret < 0)
		return eadm_reply_bad(reply, attrs.pos,
				      "%s: attribute exceeds the message",
				      object->name);
	if (reply->query.proto != EADM_LOCAL_PROTO &&
	    (!eadm_record_attr_has(rec, 1) || !eadm_record_attr_has(rec, 2)))
		return eadm_reply_bad(reply, nlh, "%s: row without a device",
				      object->name);
	return 0;
}
