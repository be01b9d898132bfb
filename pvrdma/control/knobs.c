// SPDX-License-Identifier: GPL-2.0-or-later
/* Showing and setting fault knobs. */
#include "client.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>

struct wanted {
	const char *device, *knob;
	struct fault fault;
	bool has_count;
};

static const char *text_of(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0 ? NULL : mnl_attr_get_str(attr);
}

static bool take_number(const struct nlattr *attr, void *to, size_t size)
{
	if (mnl_attr_get_payload_len(attr) != size)
		return false;
	memcpy(to, mnl_attr_get_payload(attr), size);
	return true;
}

static bool take_attribute(const struct nlattr *attr, struct wanted *wanted)
{
	struct fault *fault = &wanted->fault;

	switch (mnl_attr_get_type(attr)) {
	case EADM_PEER_A_DEVICE:
		wanted->device = text_of(attr);
		return wanted->device;
	case EADM_PEER_A_KNOB:
		wanted->knob = text_of(attr);
		return wanted->knob;
	case EADM_PEER_A_COUNT:
		wanted->has_count = true;
		return take_number(attr, &fault->count, sizeof(fault->count));
	case EADM_PEER_A_PROBABILITY:
		return take_number(attr, &fault->probability, sizeof(fault->probability));
	case EADM_PEER_A_TARGET:
		return take_number(attr, &fault->target, sizeof(fault->target));
	case EADM_PEER_A_ARG:
		return take_number(attr, &fault->arg, sizeof(fault->arg));
	default:
		return false;
	}
}

static int knob_named(const char *name)
{
	int i;

	for (i = 0; i < FAULT_COUNT; i++)
		if (!strcmp(fault_knobs[i].name, name))
			return i;
	return -1;
}

static void set_knob(struct client *client, const struct nlmsghdr *nlh,
		     const struct wanted *wanted)
{
	struct request *request = &client->request;
	int knob = wanted->knob ? knob_named(wanted->knob) : -1;
	int err;

	if (knob < 0 || !wanted->has_count || request->devices - request->device != 1) {
		reply_error(client, nlh, -EINVAL, knob < 0 ? "no such knob" :
			    wanted->has_count ? "a single device is required" : "missing count");
		return;
	}
	err = fault_set(client->control->devices[request->device].m, (enum fault_id)knob,
			&wanted->fault);
	reply_error(client, nlh, err, err == -ENOENT ? "no connected QP" :
		    err ? "value out of range" : NULL);
}

void knobs_take(struct client *client, const struct nlmsghdr *nlh)
{
	struct wanted wanted = { .fault = { .probability = 100, .target = -1 } };
	const struct control *control = client->control;
	struct request *request = &client->request;
	const struct nlattr *attr;

	if (!client->full) {
		reply_error(client, nlh, -EPERM, "only root and the user of the program may set fault knobs");
		return;
	}
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (!take_attribute(attr, &wanted)) {
			reply_error(client, nlh, -EINVAL, "invalid attribute");
			return;
		}
	}
	while (wanted.device && request->device < control->count &&
	       strcmp(control->devices[request->device].name, wanted.device) != 0)
		request->device++;
	if (wanted.device)
		request->devices = request->device + 1;
	if (request->device >= control->count) {
		reply_error(client, nlh, -ENODEV, "no such device");
		return;
	}
	if (request->cmd == EADM_PEER_FAULT_SET) {
		set_knob(client, nlh, &wanted);
		return;
	}
	request->fault = request->active = true;
}

static void put_knob(struct client *client, const struct device *dev, unsigned int knob)
{
	const struct request *request = &client->request;
	struct nlmsghdr *nlh = reply_begin(client, request->type, NLM_F_MULTI, request->seq,
					   request->cmd);
	const struct fault *fault = &dev->m->faults[knob];

	mnl_attr_put_strz(nlh, EADM_PEER_A_DEVICE, dev->name);
	mnl_attr_put_strz(nlh, EADM_PEER_A_KNOB, fault_knobs[knob].name);
	mnl_attr_put(nlh, EADM_PEER_A_COUNT, sizeof(fault->count), &fault->count);
	mnl_attr_put_u32(nlh, EADM_PEER_A_PROBABILITY, fault->probability);
	mnl_attr_put(nlh, EADM_PEER_A_TARGET, sizeof(fault->target), &fault->target);
	mnl_attr_put_u64(nlh, EADM_PEER_A_ARG, fault->arg);
	mnl_attr_put_u64(nlh, EADM_PEER_A_HITS, fault->hits);
	mnl_attr_put_strz(nlh, EADM_PEER_A_ABOUT, fault_knobs[knob].about);
	reply_end(client, nlh);
}

/* Sends one packet per device. */
void knobs_go_on(struct client *client)
{
	struct request *request = &client->request;
	struct nlmsghdr *nlh;
	unsigned int i;
	int *error;

	for (i = 0; i < FAULT_COUNT; i++)
		put_knob(client, &client->control->devices[request->device], i);
	if (++request->device < request->devices)
		return;
	nlh = reply_begin(client, NLMSG_DONE, NLM_F_MULTI, request->seq, -1);
	error = mnl_nlmsg_put_extra_header(nlh, sizeof(*error));
	*error = 0;
	reply_end(client, nlh);
	request->active = false;
}
