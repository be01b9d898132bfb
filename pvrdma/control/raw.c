// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes of queues, and registers, in the format of the companion's char device. */
#include "client.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>

#include "eadm_ioctl.h"
#include "pvrdma_classes.h"

static_assert(EADM_PEER_DATA_MAX + 1024 < EADM_PEER_PACKET_MAX);
static_assert(sizeof(struct eadm_ioc_ring) < EADM_PEER_REQUEST_MAX);

struct asked {
	const struct device *dev;
	struct eadm_ioc_ring ring;
	bool has_ring;
};

static int take_attribute(const struct control *control, const struct nlattr *attr,
			  struct asked *asked)
{
	unsigned int i;

	switch (mnl_attr_get_type(attr)) {
	case EADM_PEER_A_DEVICE:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
			return -EINVAL;
		for (i = 0; i < control->count; i++)
			if (!strcmp(control->devices[i].name, mnl_attr_get_str(attr)))
				asked->dev = &control->devices[i];
		return asked->dev ? 0 : -ENODEV;
	case EADM_PEER_A_STRUCT:
		if (mnl_attr_get_payload_len(attr) != sizeof(asked->ring))
			return -EINVAL;
		memcpy(&asked->ring, mnl_attr_get_payload(attr), sizeof(asked->ring));
		asked->has_ring = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Adds the registers that can be read without side effects. */
static int put_registers(const struct device *dev, struct nlmsghdr *nlh)
{
	static const uint32_t offsets[] = {
		PVRDMA_REG_VERSION, PVRDMA_REG_ERR, PVRDMA_REG_ICR, PVRDMA_REG_IMR,
		PVRDMA_REG_MACL, PVRDMA_REG_MACH,
	};
	struct eadm_ioc_reg regs[ARRAY_SIZE(offsets)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		regs[i] = (struct eadm_ioc_reg){
			.offset = offsets[i], .bits = 32,
			.value = model_register(dev->m, offsets[i]),
		};
	mnl_attr_put(nlh, EADM_PEER_A_DATA, sizeof(regs), regs);
	return 0;
}

static void describe(const struct ring_view *view, struct eadm_ioc_ring *ring)
{
	ring->entry_size = view->stride;
	ring->depth = view->depth;
	ring->index = pvrdma_ring_index(view->kind);
	ring->index_bits = pvrdma_ring_index_bits(view->kind);
	ring->memory = view->user ? EADM_RING_MEMORY_USER : EADM_RING_MEMORY_HOST;
	ring->valid = (view->has_pi ? EADM_RING_SW_PI : 0) |
		      (view->has_ci ? EADM_RING_SW_CI : 0) | (view->user ? EADM_RING_USER : 0);
	ring->sw_pi = view->pi;
	ring->sw_ci = view->ci;
}

static int put_ring(const struct device *dev, struct eadm_ioc_ring *ring, struct nlmsghdr *nlh)
{
	unsigned char data[EADM_PEER_DATA_MAX];
	struct ring_view view;
	uint32_t room;
	int err;

	err = ring->sub ? -ENOENT : ring_find(dev, ring->kind, ring->id, &view);
	if (err)
		return err;
	if (ring->first > view.depth || ring->count > view.depth - ring->first)
		return -ERANGE;
	describe(&view, ring);
	room = (ring->data_len < sizeof(data) ? ring->data_len : sizeof(data)) / view.stride;
	if (ring->count > room)
		ring->count = room;
	ring->data_len = ring->count * view.stride;
	ring_copy(&view, ring->first, ring->count, data);
	mnl_attr_put(nlh, EADM_PEER_A_STRUCT, sizeof(*ring), ring);
	mnl_attr_put(nlh, EADM_PEER_A_DATA, ring->data_len, data);
	return 0;
}

void raw_take(struct client *client, const struct nlmsghdr *nlh)
{
	const struct request *request = &client->request;
	int err = client->full ? 0 : -EPERM;
	struct asked asked = { NULL };
	const struct nlattr *attr;
	struct nlmsghdr *out;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (!err)
			err = take_attribute(client->control, attr, &asked);
	}
	if (!err && (!asked.dev || (request->cmd == EADM_PEER_RING && !asked.has_ring)))
		err = -EINVAL;
	out = reply_begin(client, request->type, 0, request->seq, request->cmd);
	if (!err)
		err = request->cmd == EADM_PEER_REGS ? put_registers(asked.dev, out) :
						       put_ring(asked.dev, &asked.ring, out);
	if (err)
		reply_error(client, nlh, err, err == -EPERM ?
			    "only root and the user of the program may read queues" : NULL);
	else
		reply_end(client, out);
}
