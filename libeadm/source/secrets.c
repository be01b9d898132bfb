// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leaves keys, and raw bytes that can contain keys, out of captures. All else is kept,
 * also attributes that are unknown to this version.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "capture.h"
#include "eadm_nl.h"
#include "message.h"
#include "model/attr.h"
#include "model/record.h"
#include "rdma_wire.h"

/*
 * The object whose attributes are copied, and where its tables begin for them: 0, or at a
 * nest. No object: attributes of RDMA netlink.
 */
struct body {
	const struct eadm_object *object;
	unsigned int base, max;
	bool keep_bytes;
};

/* The contents of the last two depend on the driver. */
static bool is_rdma_secret(unsigned int type)
{
	switch (type) {
	case RDMA_NLDEV_ATTR_RES_LKEY:
	case RDMA_NLDEV_ATTR_RES_RKEY:
	case RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY:
	case RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY:
	case RDMA_NLDEV_ATTR_RES_RAW:
	case RDMA_NLDEV_ATTR_DRIVER:
		return true;
	default:
		return false;
	}
}

/* In a request, an attribute without content only selects a field. */
static bool is_secret(const struct body *body, const struct nlattr *attr)
{
	unsigned int type = eadm_attr_type(attr);
	const struct eadm_object *object = body->object;
	int place;

	if (!object)
		return is_rdma_secret(type);
	if (type > body->max || !eadm_attr_len(attr))
		return false;
	place = object->by_slot[body->base + type];
	return place >= 0 &&
	       (object->fields[place].kind == EADM_SPEC_KIND_SECRET ||
		(object->fields[place].kind == EADM_SPEC_KIND_BYTES &&
		 !body->keep_bytes));
}

/*
 * The bytes of a command that failed are needed to find the cause, and recorders keep
 * those of the first timeout only until they are read. Its key has not become valid.
 */
static bool is_failed_command(const struct eadm_object *object,
			      struct eadm_attrs attrs)
{
	const struct nlattr *attr;

	if (object != &eadm_spec_objects[EADM_SPEC_OBJ_CMD])
		return false;
	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_type(attr) == EADM_A_CMD_STATE &&
		    eadm_attr_len(attr) == 4)
			return eadm_load(eadm_attr_data(attr), 4) >
			       EADM_CMD_STATE_DONE;
	}
	return false;
}

/* Returns true, and the tables for its attributes, if the attribute is a nest. */
static bool is_nest(const struct body *body, const struct nlattr *attr,
		    struct body *nest)
{
	unsigned int type = eadm_attr_type(attr);
	const struct eadm_spec_set *set;

	*nest = *body;
	if (!body->object)
		return eadm_rdma_is_nest(type);
	set = body->base ? NULL : eadm_spec_set_of(body->object, type);
	if (set)
		*nest = (struct body){ body->object, set->base, set->max_attr, false };
	return set;
}

/* Padding can make a nest of almost 64 KiB too long. */
static void end_nest(size_t from, struct eadm_bytes *out)
{
	if (out->fail)
		return;
	if (out->len - from > UINT16_MAX)
		out->len = from;
	else
		((struct nlattr *)(out->p + from))->nla_len = out->len - from;
}

static void copy_attrs(const struct body *body, struct eadm_attrs attrs,
		       struct eadm_bytes *out)
{
	const struct nlattr *attr;
	struct body nest;
	size_t from;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		from = out->len;
		if (is_nest(body, attr, &nest)) {
			eadm_message_put(out, attr->nla_type, NULL, 0);
			copy_attrs(&nest, eadm_attr_nested(attr), out);
			end_nest(from, out);
		} else if (!is_secret(body, attr)) {
			eadm_message_put(out, attr->nla_type, eadm_attr_data(attr),
					 eadm_attr_len(attr));
		}
	}
}

static void copy_message(uint16_t proto, const struct nlmsghdr *nlh,
			 struct eadm_bytes *out)
{
	const struct genlmsghdr *genl = NLMSG_DATA(nlh);
	struct body body = { 0 };
	size_t from = out->len, head = 0;

	if (proto != NETLINK_RDMA && nlh->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN))
		body.object = eadm_object_of_cmd(genl->cmd);
	if (nlh->nlmsg_type < NLMSG_MIN_TYPE ||
	    (proto == NETLINK_GENERIC && nlh->nlmsg_type == GENL_ID_CTRL) ||
	    (proto != NETLINK_RDMA && !body.object)) {
		eadm_bytes_put(out, nlh, nlh->nlmsg_len);
		eadm_message_align(out, from);
		return;
	}
	if (body.object) {
		head = GENL_HDRLEN;
		body.max = body.object->max_attr;
		body.keep_bytes = is_failed_command(body.object,
						    eadm_attr_msg(nlh, head));
	}
	eadm_bytes_put(out, nlh, NLMSG_LENGTH(head));
	copy_attrs(&body, eadm_attr_msg(nlh, head), out);
	eadm_message_end(out, from);
}

static void omit_packet(struct eadm_filter *filter, uint16_t proto,
			const void *data, size_t len, struct eadm_bytes *out)
{
	const unsigned char *p = data;
	const struct nlmsghdr *nlh;
	size_t step;

	(void)filter;
	while (len >= NLMSG_HDRLEN) {
		nlh = (const void *)p;
		if (nlh->nlmsg_len < NLMSG_HDRLEN || nlh->nlmsg_len > len)
			break;
		copy_message(proto, nlh, out);
		step = NLMSG_ALIGN(nlh->nlmsg_len);
		if (step > len)
			step = len;
		p += step;
		len -= step;
	}
}

struct eadm_filter eadm_omit_secrets = { .packet = omit_packet };
