// SPDX-License-Identifier: GPL-2.0-or-later
/* Conversion of snapshots to attributes, using the companion's tables. */
#include "rows.h"

#include <string.h>

static const struct eadm_set *own_set(unsigned int object)
{
	const struct eadm_set *set = eadm_objects[object].sets;

	for (; set && set->family; set++)
		if (!strcmp(set->family, "pvrdma"))
			return set;
	return NULL;
}

static size_t own_offset(unsigned int object)
{
	return (eadm_objects[object].snap_size + 7u) & ~7u;
}

size_t put_room(unsigned int object)
{
	const struct eadm_set *set = own_set(object);

	return own_offset(object) + (set ? set->snap_size : 0);
}

void *put_own(unsigned int object, void *snap)
{
	return own_set(object) ? (char *)snap + own_offset(object) : NULL;
}

static bool put_field(struct nlmsghdr *nlh, size_t room, const struct eadm_field *field,
		      const char *snap)
{
	const char *value = snap + field->off;
	uint64_t number;
	uint16_t len;

	switch (field->type) {
	case EADM_TYPE_U32:
	case EADM_TYPE_S32:
		return mnl_attr_put_check(nlh, room, field->attr, sizeof(uint32_t), value);
	case EADM_TYPE_UINT:
		memcpy(&number, value, sizeof(number));
		if (number == (uint32_t)number)
			return mnl_attr_put_u32_check(nlh, room, field->attr, (uint32_t)number);
		return mnl_attr_put_u64_check(nlh, room, field->attr, number);
	case EADM_TYPE_U64:
		return mnl_attr_put_check(nlh, room, field->attr, sizeof(uint64_t), value);
	case EADM_TYPE_STRING:
		return mnl_attr_put_strz_check(nlh, room, field->attr, value);
	case EADM_TYPE_BINARY:
		memcpy(&len, snap + field->len_off, sizeof(len));
		return mnl_attr_put_check(nlh, room, field->attr, len, value);
	default:
		return false;
	}
}

static bool put_fields(struct nlmsghdr *nlh, size_t room, const struct eadm_field *fields,
		       unsigned int count, const char *snap, unsigned int rights, bool hw,
		       uint64_t only)
{
	const struct eadm_field *field;

	for (field = fields; field < fields + count; field++) {
		if (!snap[field->has] || !(rights & RIGHT(field->perm)) || (field->hw && !hw) ||
		    (only && !(only & UINT64_C(1) << (field->attr & 63))))
			continue;
		if (!put_field(nlh, room, field, snap))
			return false;
	}
	return true;
}

bool put_row(struct nlmsghdr *nlh, size_t room, const struct device *dev, unsigned int type,
	     void *snap, unsigned int rights, bool hw, uint64_t only)
{
	const struct eadm_object *object = &eadm_objects[type];
	const struct eadm_set *set = own_set(type);
	struct nlattr *nest;

	if (!mnl_attr_put_u32_check(nlh, room, EADM_A_COMMON_DEV_INDEX, dev->index) ||
	    !mnl_attr_put_strz_check(nlh, room, EADM_A_COMMON_DEV_NAME, dev->name) ||
	    !mnl_attr_put_strz_check(nlh, room, EADM_A_COMMON_FAMILY, "pvrdma") ||
	    !put_fields(nlh, room, object->fields, object->n_fields, snap, rights, hw, only))
		return false;
	if (!set || only)
		return true;
	nest = mnl_attr_nest_start_check(nlh, room, set->nest);
	if (!nest || !put_fields(nlh, room, set->fields, set->n_fields, put_own(type, snap),
				 rights, hw, 0))
		return false;
	if ((char *)mnl_nlmsg_get_payload_tail(nlh) == (char *)nest + MNL_ATTR_HDRLEN)
		mnl_attr_nest_cancel(nlh, nest);
	else
		mnl_attr_nest_end(nlh, nest);
	return true;
}
