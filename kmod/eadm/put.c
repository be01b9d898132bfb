// SPDX-License-Identifier: GPL-2.0-only
/* Conversion of snapshots to netlink attributes. */
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"

/*
 * Attributes are written directly into the free space after a message, and committed once the whole
 * row has been written: a row has dozens of attributes, and the function calls with which nla_put()
 * moves the end of the message and clears padding for each attribute would be most of the cost of a
 * row.
 */
struct room {
	u8 *pos;
	u8 *end;
};

/* Returns the attribute without its payload, or NULL if there is no room for it. */
static __always_inline struct nlattr *put_header(struct room *room, u16 type, u16 len)
{
	struct nlattr *attr = (struct nlattr *)room->pos;

	if (nla_total_size(len) > room->end - room->pos)
		return NULL;
	attr->nla_type = type;
	attr->nla_len = nla_attr_size(len);
	room->pos += nla_total_size(len);
	return attr;
}

static __always_inline int put(struct room *room, u16 type, const void *val, u16 len)
{
	struct nlattr *attr = put_header(room, type, len);

	if (!attr)
		return -EMSGSIZE;
	memcpy(nla_data(attr), val, len);
	if (nla_padlen(len))
		memset(nla_data(attr) + len, 0, nla_padlen(len));
	return 0;
}

static int put_string(struct room *room, u16 type, const char *text)
{
	return put(room, type, text, strlen(text) + 1);
}

static int put_field(struct room *room, const struct eadm_field *field, void *snap)
{
	void *val = snap + field->off;
	u32 low;

	switch (field->type) {
	case EADM_TYPE_U32:
	case EADM_TYPE_S32:
		return put(room, field->attr, val, sizeof(u32));
	case EADM_TYPE_UINT:
		low = *(u64 *)val;
		if (low == *(u64 *)val)
			return put(room, field->attr, &low, sizeof(u32));
		fallthrough;
	case EADM_TYPE_U64:
		return put(room, field->attr, val, sizeof(u64));
	case EADM_TYPE_STRING:
		((char *)val)[field->len - 1] = '\0';
		return put_string(room, field->attr, val);
	case EADM_TYPE_BINARY:
		return put(room, field->attr, val,
			   min(*(u16 *)(snap + field->len_off), field->len));
	}
	return -EINVAL;
}

static int put_fields(struct room *room, const struct eadm_field *field, u16 n, void *snap,
		      unsigned int rights, u64 only)
{
	const struct eadm_field *end = field + n;
	int ret;

	for (; field < end; field++) {
		if (!*(u8 *)(snap + field->has) || !(rights & BIT(field->perm)))
			continue;
		if (only && !(only & BIT_ULL(field->attr)))
			continue;
		ret = put_field(room, field, snap);
		if (ret)
			return ret;
	}
	return 0;
}

/* Readers without rights to any of the fields do not receive an empty nest. */
static int put_set(struct room *room, const struct eadm_set *set, void *own,
		   unsigned int rights)
{
	struct nlattr *nest = put_header(room, set->nest | NLA_F_NESTED, 0);

	if (!nest || put_fields(room, set->fields, set->n_fields, own, rights, 0))
		return -EMSGSIZE;
	nest->nla_len = room->pos - (u8 *)nest;
	if (nest->nla_len == NLA_HDRLEN)
		room->pos = (u8 *)nest;
	return 0;
}

/* The family's fields are stored after the snapshot of the common fields. */
static void *own_of(u8 type, void *snap)
{
	return snap + ALIGN(eadm_objects[type].snap_size, sizeof(u64));
}

/**
 * eadm_snap_room() - size of a snapshot for devices of any family
 * @type: EADM_OBJ_*
 *
 * Return: size in bytes.
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
 * @snap: memory of eadm_snap_room() bytes; its first part may contain the owner already
 * @req: the part of the request for the driver
 *
 * Context: may sleep.
 * Return: the driver's result.
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
 * @rights: BIT(EADM_PERM_*) of the reader; fields that require other rights are left out
 * @only: BIT_ULL() of the requested attributes, including the key, or 0 for all attributes,
 *	including those of the family
 *
 * Return: 0, or -EMSGSIZE if the message is full.
 */
int eadm_put_snap(struct sk_buff *skb, const struct eadm_dev *edev, u8 type, void *snap,
		  unsigned int rights, u64 only)
{
	const struct eadm_object *obj = &eadm_objects[type];
	const struct ib_device *ibdev = edev->dd->ibdev;
	const struct eadm_set *set = edev->sets[type];
	struct room room = {
		.pos = skb_tail_pointer(skb),
		.end = skb_tail_pointer(skb) + skb_tailroom(skb),
	};

	if (put(&room, EADM_A_COMMON_DEV_INDEX, &ibdev->index, sizeof(u32)) ||
	    put_string(&room, EADM_A_COMMON_DEV_NAME, ibdev->name) ||
	    put_string(&room, EADM_A_COMMON_FAMILY, edev->dd->ops->family) ||
	    put_fields(&room, obj->fields, obj->n_fields, snap, rights, only) ||
	    (set && !only && put_set(&room, set, own_of(type, snap), rights)))
		return -EMSGSIZE;
	skb_put(skb, room.pos - skb_tail_pointer(skb));
	return 0;
}
