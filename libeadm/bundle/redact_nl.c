// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Netlink messages with pseudonyms in place of identifying values. Messages are
 * rewritten, because lengths change. Attributes that no table describes are left out.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "model/attr.h"
#include "model/record.h"
#include "redact.h"
#include "source/message.h"
#include "source/rdma_wire.h"
#include "source/tee.h"

/* Takes @g. */
static void put_bytes(struct eadm_redactor *r, const struct nlattr *attr,
		      struct eadm_bytes *g, struct eadm_bytes *out)
{
	eadm_bytes_put(g, "", 1);
	if (g->fail || g->len > 4096)
		r->count.dropped++;
	else
		eadm_message_put(out, attr->nla_type, g->p, g->len);
	free(g->p);
}

/* @names: the text is a name. */
static void put_text_attr(struct eadm_redactor *r, const struct nlattr *attr,
			  bool names, struct eadm_bytes *out)
{
	const char *text = eadm_attr_string(attr);
	struct eadm_bytes g = { 0 };

	if (!text) {
		r->count.dropped++;
		return;
	}
	eadm_redact_text(r, text, strlen(text), names, &g);
	put_bytes(r, attr, &g, out);
}

/* Words NAME=VALUE: a value that is not a number may name anything. */
static void put_settings(struct eadm_redactor *r, const struct nlattr *attr,
			 struct eadm_bytes *out)
{
	const char *text = eadm_attr_string(attr);
	struct eadm_bytes g = { 0 };
	size_t name, value;
	char pseudo[32];

	for (; text && *text; text += value) {
		name = strspn(text, " ");
		name += strcspn(text + name, "= ");
		name += text[name] == '=';
		eadm_bytes_put(&g, text, name);
		text += name;
		value = strcspn(text, " ");
		if (strspn(text, "0123456789") == value) {
			eadm_bytes_put(&g, text, value);
		} else {
			eadm_redact_setting(r, text, value, pseudo, sizeof(pseudo));
			eadm_bytes_put(&g, pseudo, strlen(pseudo));
		}
	}
	put_bytes(r, attr, &g, out);
}

/* ---- the companion's family ------------------------------------------------------ */

/*
 * Tables for looking up an object's attributes: those of all families, or those of a
 * nest.
 */
struct fields {
	const struct eadm_object *object;
	unsigned int base, max;
};

static const struct eadm_field *field_of(const struct fields *fields,
					 unsigned int type)
{
	const struct eadm_object *object = fields->object;
	int place = type > fields->max ? -1 :
					 object->by_slot[fields->base + type];

	return place < 0 ? NULL : &object->fields[place];
}

/*
 * Returns true if the owner is a process. Kernel consumers such as "[nvme_rdma]" have no
 * PID.
 */
static bool has_pid(const struct fields *fields, struct eadm_attrs attrs)
{
	const struct eadm_field *field;
	const struct nlattr *attr;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		field = field_of(fields, eadm_attr_type(attr));
		if (field && !strcmp(eadm_field_name(field), "pid"))
			return true;
	}
	return false;
}

static void put_comm(struct eadm_redactor *r, const struct nlattr *attr,
		     bool process, struct eadm_bytes *out)
{
	const char *name = eadm_attr_string(attr);
	char pseudo[32];

	if (!name || eadm_redact_process(r, process || name[0] != '[' ? name :
					 "", pseudo, sizeof(pseudo)))
		r->count.dropped++;
	else if (pseudo[0])
		eadm_message_put(out, attr->nla_type, pseudo, strlen(pseudo) + 1);
	else
		eadm_message_put(out, attr->nla_type, name, strlen(name) + 1);
}

static void put_binary(struct eadm_redactor *r, const struct nlattr *attr,
		       uint8_t form, struct eadm_bytes *out)
{
	unsigned char bytes[32];
	size_t len = eadm_attr_len(attr);

	if (form == EADM_SPEC_FORM_NONE || len > sizeof(bytes)) {
		r->count.dropped++;
		return;
	}
	if (form == EADM_SPEC_FORM_IP)
		eadm_redact_ip(r, eadm_attr_data(attr), bytes, len);
	else
		eadm_redact_hw(r, eadm_attr_data(attr), bytes, len);
	eadm_message_put(out, attr->nla_type, bytes, len);
}

static void put_string(struct eadm_redactor *r, const struct eadm_field *field,
		       const struct nlattr *attr, bool process,
		       struct eadm_bytes *out)
{
	const char *text = eadm_attr_string(attr);

	switch (field->redact) {
	case EADM_SPEC_REDACT_PROCESS:
		put_comm(r, attr, process, out);
		break;
	case EADM_SPEC_REDACT_HOST:
		if (text && eadm_redactor_host(r, text))
			out->fail = true;
		put_text_attr(r, attr, true, out);
		break;
	case EADM_SPEC_REDACT_SETTINGS:
		put_settings(r, attr, out);
		break;
	case EADM_SPEC_REDACT_KEEP:
		if (text)
			eadm_message_put_string(out, attr->nla_type, text);
		break;
	case EADM_SPEC_REDACT_DROP:
		r->count.dropped++;
		break;
	default:
		put_text_attr(r, attr, false, out);
		break;
	}
}

static void put_eadm(struct eadm_redactor *r, const struct fields *fields,
		     struct eadm_attrs attrs, bool request,
		     struct eadm_bytes *out);

/* A nest has at most 64 KiB, like the original. */
static void end_nest(struct eadm_redactor *r, size_t from,
		     struct eadm_bytes *out)
{
	struct nlattr *nla;

	if (out->fail || out->len - from > UINT16_MAX) {
		out->len = from;
		r->count.dropped++;
		return;
	}
	nla = (struct nlattr *)(out->p + from);
	nla->nla_len = out->len - from;
}

static void put_set(struct eadm_redactor *r, const struct eadm_object *object,
		    const struct eadm_spec_set *set, const struct nlattr *attr,
		    struct eadm_bytes *out)
{
	const struct fields fields = { object, set->base, set->max_attr };
	size_t from = out->len;

	eadm_message_put(out, attr->nla_type, NULL, 0);
	put_eadm(r, &fields, eadm_attr_nested(attr), false, out);
	end_nest(r, from, out);
}

static void put_eadm(struct eadm_redactor *r, const struct fields *fields,
		     struct eadm_attrs attrs, bool request,
		     struct eadm_bytes *out)
{
	bool process = has_pid(fields, attrs);
	const struct eadm_spec_set *set;
	const struct eadm_field *field;
	const struct nlattr *attr;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		set = fields->base ? NULL :
		      eadm_spec_set_of(fields->object, eadm_attr_type(attr));
		field = field_of(fields, eadm_attr_type(attr));
		if (set)
			put_set(r, fields->object, set, attr, out);
		else if (request && (!field || !eadm_attr_len(attr)))
			eadm_message_put(out, attr->nla_type, eadm_attr_data(attr),
				 eadm_attr_len(attr));
		else if (!field)
			r->count.dropped++;
		else if (field->kind == EADM_SPEC_KIND_SECRET ||
			 field->kind == EADM_SPEC_KIND_BYTES)
			r->count.secrets++;
		else if (field->type == EADM_SPEC_TYPE_BINARY)
			put_binary(r, attr, field->form, out);
		else if (field->type != EADM_SPEC_TYPE_STRING)
			eadm_message_put(out, attr->nla_type, eadm_attr_data(attr),
				 eadm_attr_len(attr));
		else
			put_string(r, field, attr, process, out);
	}
}

/* ---- RDMA netlink ------------------------------------------------------------------ */

static void put_sockaddr(struct eadm_redactor *r, const struct nlattr *attr,
			 struct eadm_bytes *out)
{
	struct sockaddr_storage ss = { 0 };
	size_t len = eadm_attr_len(attr);
	unsigned char *p = (unsigned char *)&ss;

	if (len > sizeof(ss)) {
		r->count.dropped++;
		return;
	}
	memcpy(&ss, eadm_attr_data(attr), len);
	if (ss.ss_family == AF_INET && len >= 8)
		eadm_redact_ip(r, p + 4, p + 4, 4);
	else if ((ss.ss_family == AF_INET6 || ss.ss_family == AF_IB) &&
		 len >= 24)
		eadm_redact_ip(r, p + 8, p + 8, 16);
	else if (len > 2)
		memset(p + 2, 0, len - 2);
	eadm_message_put(out, attr->nla_type, &ss, len);
}

/* GUIDs are numbers in RDMA netlink, and bytes in other messages. */
static void put_guid(struct eadm_redactor *r, const struct nlattr *attr,
		     struct eadm_bytes *out)
{
	unsigned char bytes[8];
	uint64_t guid;
	int i;

	if (eadm_attr_len(attr) != sizeof(guid)) {
		r->count.dropped++;
		return;
	}
	guid = eadm_load(eadm_attr_data(attr), sizeof(guid));
	for (i = 0; i < 8; i++)
		bytes[i] = guid >> (56 - 8 * i);
	eadm_redact_hw(r, bytes, bytes, sizeof(bytes));
	for (guid = 0, i = 0; i < 8; i++)
		guid = guid << 8 | bytes[i];
	eadm_message_put(out, attr->nla_type, &guid, sizeof(guid));
}

static void put_rdma(struct eadm_redactor *r, struct eadm_attrs attrs,
		     struct eadm_bytes *out);

static void put_nest(struct eadm_redactor *r, const struct nlattr *attr,
		     struct eadm_bytes *out)
{
	size_t from = out->len;

	eadm_message_put(out, attr->nla_type, NULL, 0);
	put_rdma(r, eadm_attr_nested(attr), out);
	end_nest(r, from, out);
}

static void put_rdma(struct eadm_redactor *r, struct eadm_attrs attrs,
		     struct eadm_bytes *out)
{
	const struct nlattr *attr;

	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_rdma_is_nest(eadm_attr_type(attr))) {
			put_nest(r, attr, out);
			continue;
		}
		switch (eadm_attr_type(attr)) {
		case RDMA_NLDEV_ATTR_RES_SRC_ADDR:
		case RDMA_NLDEV_ATTR_RES_DST_ADDR:
			put_sockaddr(r, attr, out);
			break;
		case RDMA_NLDEV_ATTR_NODE_GUID:
		case RDMA_NLDEV_ATTR_SYS_IMAGE_GUID:
			put_guid(r, attr, out);
			break;
		case RDMA_NLDEV_ATTR_RES_LKEY:
		case RDMA_NLDEV_ATTR_RES_RKEY:
		case RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY:
		case RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY:
			r->count.secrets++;
			break;
		case RDMA_NLDEV_ATTR_DEV_NAME:
		case RDMA_NLDEV_ATTR_NDEV_NAME:
		case RDMA_NLDEV_ATTR_RES_KERN_NAME:
			put_text_attr(r, attr, false, out);
			break;
		case RDMA_NLDEV_ATTR_DRIVER:
		case RDMA_NLDEV_ATTR_RES_RAW:
			/* The contents are driver-specific. */
		case RDMA_NLDEV_ATTR_SUBNET_PREFIX:
			r->count.dropped++;
			break;
		default:
			/* Pass numbers and short text, but no raw contexts. */
			if (eadm_attr_type(attr) >= RDMA_NLDEV_ATTR_MAX ||
			    eadm_attr_len(attr) > 64)
				r->count.dropped++;
			else
				eadm_message_put(out, attr->nla_type,
					 eadm_attr_data(attr),
					 eadm_attr_len(attr));
			break;
		}
	}
}

/* ---- messages ---------------------------------------------------------------------- */

/* An error contains the request; keep only the error itself. */
static void put_error(const struct nlmsghdr *nlh, struct eadm_bytes *out)
{
	const struct nlmsgerr *err = NLMSG_DATA(nlh);
	struct nlmsghdr head = *nlh;

	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*err)))
		return;
	head.nlmsg_len = NLMSG_LENGTH(sizeof(*err));
	head.nlmsg_flags = (nlh->nlmsg_flags & ~NLM_F_ACK_TLVS) |
			   NLM_F_CAPPED;
	eadm_bytes_put(out, &head, sizeof(head));
	eadm_bytes_put(out, err, sizeof(*err));
}

static void put_message(struct eadm_redactor *r, uint16_t proto,
			const struct nlmsghdr *nlh, struct eadm_bytes *out)
{
	const unsigned char *body = NLMSG_DATA(nlh);
	size_t body_len = nlh->nlmsg_len - NLMSG_HDRLEN, from = out->len;
	bool request = nlh->nlmsg_flags & NLM_F_REQUEST;
	const struct eadm_object *object = NULL;
	struct nlmsghdr *head;
	struct fields fields;

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		put_error(nlh, out);
		return;
	}
	if (nlh->nlmsg_type < NLMSG_MIN_TYPE ||
	    (proto == NETLINK_GENERIC && nlh->nlmsg_type == GENL_ID_CTRL)) {
		eadm_bytes_put(out, nlh, nlh->nlmsg_len);
		eadm_message_align(out, from);
		return;
	}
	eadm_bytes_put(out, nlh, NLMSG_HDRLEN);
	if (proto == NETLINK_RDMA) {
		put_rdma(r, eadm_attr_msg(nlh, 0), out);
	} else {
		if ((proto == NETLINK_GENERIC || proto == EADM_LOCAL_PROTO) &&
		    body_len >= GENL_HDRLEN)
			object = eadm_object_of_cmd(body[0]);
		if (!object) {
			r->count.dropped++;
			out->len = from;
			return;
		}
		fields = (struct fields){ object, 0, object->max_attr };
		eadm_bytes_put(out, body, GENL_HDRLEN);
		put_eadm(r, &fields, eadm_attr_msg(nlh, GENL_HDRLEN), request,
			 out);
	}
	if (out->fail)
		return;
	head = (struct nlmsghdr *)(out->p + from);
	head->nlmsg_len = out->len - from;
}

/* Redact the messages of a packet. */
void eadm_redact_packet(struct eadm_redactor *r, uint16_t proto,
			const void *data, size_t len, struct eadm_bytes *out)
{
	const unsigned char *p = data;
	const struct nlmsghdr *nlh;
	size_t step;

	while (len >= NLMSG_HDRLEN) {
		nlh = (const void *)p;
		if (nlh->nlmsg_len < NLMSG_HDRLEN || nlh->nlmsg_len > len)
			break;
		put_message(r, proto, nlh, out);
		step = NLMSG_ALIGN(nlh->nlmsg_len);
		if (step > len)
			step = len;
		p += step;
		len -= step;
	}
	if (len >= NLMSG_HDRLEN)
		r->count.dropped++;
}

static void filter_packet(struct eadm_filter *filter, uint16_t proto,
			  const void *data, size_t len, struct eadm_bytes *out)
{
	eadm_redact_packet((struct eadm_redactor *)filter, proto, data, len,
			   out);
}

/*
 * This function is defined here, because captures belong to a layer that must not
 * depend on redactors.
 */
EADM_API int eadm_capture_open(struct eadm_ctx *ctx, const char *path,
			       struct eadm_redactor *redactor,
			       struct eadm_capture **capture)
{
	if (redactor)
		redactor->filter.packet = filter_packet;
	return eadm_tee_open(ctx, path, redactor ? &redactor->filter : NULL,
			     capture);
}
