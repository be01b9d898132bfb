// SPDX-License-Identifier: GPL-2.0-or-later
/* The contract's requests for rows: one row, or a dump. */
#include "client.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>

/* Maximum size of a packet of rows, which fits into the buffers of netlink readers. */
#define ROWS_PACKET 16384
/* Maximum number of rows that a request skips before other requests are served. */
#define MAX_PASSED 256
/* Larger than any snapshot including the family's fields. */
#define SNAP_MAX 4096

static void put_done(struct client *client)
{
	struct nlmsghdr *nlh = reply_begin(client, NLMSG_DONE, NLM_F_MULTI, client->request.seq, -1);
	int *error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));

	*error = 0;
	reply_end(client, nlh);
	client->request.active = false;
}

/* ---- the family */

static void answer_family(struct client *client, const struct nlmsghdr *request)
{
	struct nlmsghdr *nlh = reply_begin(client, request->nlmsg_type, 0, request->nlmsg_seq,
					   CTRL_CMD_NEWFAMILY);
	struct nlattr *groups, *group;

	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, EADM_PEER_TYPE);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, EADM_FAMILY_NAME);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	group = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, EADM_MCGRP_EVENTS_NAME);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, EADM_PEER_EVENTS);
	mnl_attr_nest_end(nlh, group);
	mnl_attr_nest_end(nlh, groups);
	reply_end(client, nlh);
}

/* ---- the requested rows */

static uint64_t number_of(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint32_t):
		return mnl_attr_get_u32(attr);
	case sizeof(uint64_t):
		return mnl_attr_get_u64(attr);
	default:
		return 0;
	}
}

/* Sets the range of requested devices. Returns false if there is none. */
static bool choose_device(struct client *client, const struct nlattr *attr)
{
	const struct control *control = client->control;
	struct request *request = &client->request;
	uint64_t index = number_of(attr);
	unsigned int i;

	for (i = request->device; i < request->devices; i++) {
		if (mnl_attr_get_type(attr) == EADM_A_COMMON_DEV_INDEX ?
			    control->devices[i].index == index :
			    !strncmp(control->devices[i].name, mnl_attr_get_payload(attr),
				     mnl_attr_get_payload_len(attr)))
			break;
	}
	if (i == request->devices)
		return false;
	request->device = i;
	request->devices = i + 1;
	return true;
}

static int take_attribute(struct client *client, const struct nlattr *attr)
{
	struct request *request = &client->request;
	const struct eadm_object *object = &eadm_objects[request->object];
	uint16_t type = mnl_attr_get_type(attr);

	if (type == EADM_A_COMMON_DEV_INDEX || type == EADM_A_COMMON_DEV_NAME)
		return choose_device(client, attr) ? 0 : -ENODEV;
	if (type == EADM_A_COMMON_QUERY_HW) {
		request->rows.hw = true;
	} else if (type && type == object->key_attr) {
		request->has_key = true;
		request->key = number_of(attr);
	} else if (type && type == object->from_attr) {
		request->pos = number_of(attr);
	} else if (type && type == object->among_attr) {
		request->rows.among = (uint32_t)number_of(attr);
	} else if (type && type == object->least_attr) {
		request->rows.least = number_of(attr);
	} else if (type && type == object->only_attr) {
		request->only = number_of(attr) | UINT64_C(1) << object->key_attr;
	} else {
		return -EINVAL;
	}
	return 0;
}

static int may_ask(const struct client *client, const char **words)
{
	const struct request *request = &client->request;
	const struct eadm_object *object = &eadm_objects[request->object];

	if (!rows_of[request->object].next) {
		*words = "no such objects on this adapter";
		return -EOPNOTSUPP;
	}
	if (!request->rows.hw)
		return 0;
	if (!object->hw) {
		*words = "the adapter does not provide a context of this object";
		return -EOPNOTSUPP;
	}
	if (object->hw_perm == EADM_PERM_RAWIO && !client->full) {
		*words = "only root and the user of the program may see the adapter's own context";
		return -EPERM;
	}
	return 0;
}

static void take_rows(struct client *client, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct request *request = &client->request;
	const struct nlattr *attr;
	const char *words = NULL;
	int err = 0;

	request->object = eadm_cmd_obj[genl->cmd];
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		err = take_attribute(client, attr);
		if (err)
			break;
	}
	if (err)
		words = err == -ENODEV ? "no such device" : "unknown attribute";
	else
		err = may_ask(client, &words);
	if (!err && !request->dump &&
	    (request->devices - request->device != 1 ||
	     (!request->has_key && !eadm_objects[request->object].by_device))) {
		words = "the request does not specify an object";
		err = -EINVAL;
	}
	if (err) {
		reply_error(client, nlh, err, words);
		return;
	}
	if (request->has_key && !eadm_objects[request->object].by_device)
		request->pos = rows_of[request->object].find ? UINT64_MAX : request->key;
	request->active = true;
}

static void subscribe(struct client *client, const struct nlmsghdr *nlh)
{
	client->subscribed = true;
	client->event_seq = nlh->nlmsg_seq;
	client->event_type = nlh->nlmsg_type;
}

void request_take(struct client *client, const void *data, size_t len)
{
	const struct nlmsghdr *nlh = data;
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	if (!mnl_nlmsg_ok(nlh, (int)len) || nlh->nlmsg_len < MNL_NLMSG_HDRLEN + GENL_HDRLEN ||
	    !(nlh->nlmsg_flags & NLM_F_REQUEST)) {
		reply_error(client, nlh, -EINVAL, "no request");
		return;
	}
	client->request = (struct request){
		.dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
		.type = nlh->nlmsg_type, .seq = nlh->nlmsg_seq, .cmd = genl->cmd,
		.rights = RIGHT(EADM_PERM_NONE) |
			  (client->full ? RIGHT(EADM_PERM_ADMIN) | RIGHT(EADM_PERM_RAWIO) : 0),
		.devices = client->control->count,
	};
	if (nlh->nlmsg_type == GENL_ID_CTRL)
		answer_family(client, nlh);
	else if (genl->cmd == EADM_PEER_FAULT_GET || genl->cmd == EADM_PEER_FAULT_SET)
		knobs_take(client, nlh);
	else if (genl->cmd == EADM_PEER_RING || genl->cmd == EADM_PEER_REGS)
		raw_take(client, nlh);
	else if (genl->cmd == EADM_CMD_EVENT_NTF)
		subscribe(client, nlh);
	else if (!genl->cmd || genl->cmd > EADM_CMD_MAX || genl->cmd == EADM_CMD_CONF_SET)
		reply_error(client, nlh, -EOPNOTSUPP, "unsupported request");
	else
		take_rows(client, nlh);
}

/* ---- rows */

/* Gets the next row of the current device. Returns false if there are no more. */
static bool next_row(struct client *client, void *snap)
{
	struct request *request = &client->request;
	const struct rows *rows = &rows_of[request->object];
	const struct device *dev = &client->control->devices[request->device];

	memset(snap, 0, put_room(request->object));
	if (request->has_key && rows->find && request->pos == UINT64_MAX) {
		request->pos = rows->find(dev, request->key);
		if (request->pos == UINT64_MAX)
			return false;
	} else if (request->has_key && !rows->find && request->pos != request->key) {
		return false;
	}
	return rows->next(dev, &request->rows, &request->pos, snap,
			  put_own(request->object, snap)) &&
	       (!request->has_key || rows->find || request->pos == request->key);
}

static void next_device(struct request *request)
{
	request->device++;
	request->pos = 0;
	if (request->has_key)
		request->pos = rows_of[request->object].find ? UINT64_MAX : request->key;
}

static bool put_one(struct client *client, void *snap)
{
	struct request *request = &client->request;
	struct nlmsghdr *nlh = reply_begin(client, request->type, request->dump ? NLM_F_MULTI : 0,
					   request->seq, request->cmd);

	if (!nlh || !put_row(nlh, reply_room(client, nlh),
			     &client->control->devices[request->device], request->object, snap,
			     request->rights, request->rows.hw, request->only))
		return false;
	reply_end(client, nlh);
	return true;
}

static void answer_one(struct client *client)
{
	struct request *request = &client->request;
	const struct nlmsghdr asked = { .nlmsg_type = request->type, .nlmsg_seq = request->seq };
	_Alignas(8) char snap[SNAP_MAX];

	request->active = false;
	if (eadm_objects[request->object].by_device)
		request->has_key = false;
	if (!next_row(client, snap) || !put_one(client, snap))
		reply_error(client, &asked, -ENOENT, "no such object on this device");
}

/* Positions of rows may be reused between two packets: the generation lets readers retry. */
static uint64_t generation(const struct control *control)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < control->count; i++)
		sum += control->devices[i].m->generation;
	return sum;
}

static void mark_torn(struct client *client)
{
	struct request *request = &client->request;
	uint64_t now = generation(client->control);
	struct nlmsghdr *nlh = (void *)client->out;
	int left = (int)client->out_len;

	/*
	 * Past commands and failures are only appended, so a dump of these is never torn.
	 */
	if (!request->generation)
		request->generation = now + 1;
	if (request->generation == now + 1 || request->object == EADM_OBJ_CMD ||
	    request->object == EADM_OBJ_FAILURE)
		return;
	for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
		nlh->nlmsg_flags |= NLM_F_DUMP_INTR;
}

static void dump_rows(struct client *client)
{
	struct request *request = &client->request;
	_Alignas(8) char snap[SNAP_MAX];
	unsigned int n;

	for (n = 0; n < MAX_PASSED && request->device < request->devices &&
		    client->out_len < ROWS_PACKET; n++) {
		if (!next_row(client, snap)) {
			next_device(request);
			continue;
		}
		if (!put_one(client, snap))
			break;
		if (request->has_key)
			next_device(request);
		else
			request->pos++;
	}
	if (request->device >= request->devices)
		put_done(client);
	mark_torn(client);
}

void request_go_on(struct client *client)
{
	if (client->request.fault)
		knobs_go_on(client);
	else if (client->request.dump)
		dump_rows(client);
	else
		answer_one(client);
}
