// SPDX-License-Identifier: GPL-2.0-only
/* From a snapshot to attributes. */
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>

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

static int put_fields(struct sk_buff *skb, const struct eadm_field *field, u16 n, void *snap,
		      unsigned int rights)
{
	const struct eadm_field *end = field + n;
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

/* The family's fields lie behind the snapshot of those that all have. */
static void *own_of(u8 type, void *snap)
{
	return snap + ALIGN(eadm_objects[type].snap_size, sizeof(u64));
}

/**
 * eadm_snap_room() - what a snapshot takes, whatever the device's family
 * @type: EADM_OBJ_*
 *
 * Return: bytes.
 */
size_t eadm_snap_room(u8 type)
{
	const struct eadm_set *set;
	u16 most = 0;

	for (set = eadm_objects[type].sets; set && set->family; set++)
		most = max(most, set->snap_size);
	return ALIGN(eadm_objects[type].snap_size, sizeof(u64)) + most;
}

/**
 * eadm_snap_fill() - let the driver fill a snapshot
 * @edev: the device, entered
 * @type: EADM_OBJ_*
 * @row: the driver's object, referenced
 * @snap: eadm_snap_room() bytes; the first part may hold the owner already
 * @req: for the driver
 *
 * Context: may sleep.
 * Return: what the driver returns.
 */
int eadm_snap_fill(struct eadm_dev *edev, u8 type, void *row, void *snap,
		   const struct eadm_diag_req *req)
{
	const struct eadm_set *set = edev->sets[type];
	void *own = set ? own_of(type, snap) : NULL;

	if (set)
		memset(own, 0, set->snap_size);
	return edev->objs[type]->fill(edev->dd, row, snap, own, req);
}

/**
 * eadm_put_snap() - write the device and the known fields of a snapshot
 * @skb: message under construction
 * @edev: the device, entered
 * @type: EADM_OBJ_*
 * @snap: the snapshot
 * @rights: BIT(EADM_PERM_*) of the reader; fields beyond them are left out
 *
 * Return: 0, or -EMSGSIZE when the message is full.
 */
int eadm_put_snap(struct sk_buff *skb, const struct eadm_dev *edev, u8 type, void *snap,
		  unsigned int rights)
{
	const struct eadm_object *obj = &eadm_objects[type];
	const struct ib_device *ibdev = edev->dd->ibdev;
	const struct eadm_set *set = edev->sets[type];
	struct nlattr *nest;

	if (nla_put_u32(skb, EADM_A_COMMON_DEV_INDEX, ibdev->index) ||
	    nla_put_string(skb, EADM_A_COMMON_DEV_NAME, ibdev->name) ||
	    nla_put_string(skb, EADM_A_COMMON_FAMILY, edev->dd->ops->family) ||
	    put_fields(skb, obj->fields, obj->n_fields, snap, rights))
		return -EMSGSIZE;
	if (!set)
		return 0;
	nest = nla_nest_start(skb, set->nest);
	if (!nest || put_fields(skb, set->fields, set->n_fields, own_of(type, snap), rights))
		return -EMSGSIZE;
	/* A reader without the rights gets no empty nest. */
	if (skb_tail_pointer(skb) > (u8 *)nest + NLA_HDRLEN)
		nla_nest_end(skb, nest);
	else
		nla_nest_cancel(skb, nest);
	return 0;
}
