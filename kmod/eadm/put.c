// SPDX-License-Identifier: GPL-2.0-only
/* From a snapshot to attributes. */
#include "eadm.h"

static int put_field(struct sk_buff *skb, const struct eadm_field *field, void *snap)
{
	void *val = snap + field->off;

	switch (field->type) {
	case EADM_TYPE_U32:
	case EADM_TYPE_S32:
		return nla_put(skb, field->attr, sizeof(u32), val);
	case EADM_TYPE_U64:
		return nla_put(skb, field->attr, sizeof(u64), val);
	case EADM_TYPE_UINT:
		return nla_put_uint(skb, field->attr, *(u64 *)val);
	case EADM_TYPE_STRING:
		((char *)val)[field->len - 1] = '\0';
		return nla_put_string(skb, field->attr, val);
	case EADM_TYPE_BINARY:
		return nla_put(skb, field->attr,
			       min(*(u16 *)(snap + field->len_off), field->len), val);
	}
	return -EINVAL;
}

/**
 * eadm_put_snap() - write the known fields of a snapshot
 * @skb: message under construction
 * @obj: kind of object
 * @snap: its snapshot struct
 * @rights: BIT(EADM_PERM_*) of the reader; fields beyond them are left out
 *
 * Return: 0, or -EMSGSIZE when the message is full.
 */
int eadm_put_snap(struct sk_buff *skb, const struct eadm_object *obj, void *snap,
		  unsigned int rights)
{
	const struct eadm_field *field = obj->fields;
	const struct eadm_field *end = field + obj->n_fields;
	int ret;

	for (; field < end; field++) {
		if (!*(u8 *)(snap + field->has) || !(rights & BIT(field->perm)))
			continue;
		ret = put_field(skb, field, snap);
		if (ret)
			return ret;
	}
	return 0;
}
