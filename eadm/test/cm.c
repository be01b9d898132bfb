// SPDX-License-Identifier: GPL-2.0-or-later
/* Connections through rdma_cm, for client and server. */
#include "cm.h"

#include <errno.h>
#include <string.h>

LATE_OPENER(cm, CM_FUNCTIONS, "librdmacm.so.1", "suggested",
	    "test connections between two machines");

int cm_start(struct test *test)
{
	const char *missing = cm_open();

	if (missing)
		return fail(test->cli, STATUS_UNSUPPORTED, missing,
			    "not installed (package librdmacm1)");
	test->channel = cm.rdma_create_event_channel();
	if (!test->channel)
		return fail(test->cli, STATUS_UNSUPPORTED, "librdmacm", "%s",
			    strerror(errno));
	return STATUS_OK;
}

void cm_stop(struct test *test)
{
	if (test->channel)
		cm.rdma_destroy_event_channel(test->channel);
}

int cm_make(struct link *link, struct rdma_cm_id *id, uint32_t size,
	    uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
		/* Reserve one more request for a write or read. */
		.cap = { .max_send_wr = depth + 1, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	link->id = id;
	link->size = size;
	link->max_message = size;
	link->shared = size;
	link->can_read = true;
	link->can_write = true;
	/*
	 * Without completion queues in @attr, librdmacm creates them, each with a
	 * channel.
	 */
	if (cm.rdma_create_qp(id, NULL, &attr))
		return link_fail(link, "creating the queue pair failed: %s", strerror(errno));
	link->pd = id->pd;
	link->qp = id->qp;
	link->send_cq = id->send_cq;
	link->recv_cq = id->recv_cq;
	/*
	 * Adapters that run over TCP require remote access for the target of a read,
	 * because the peer writes its data.
	 */
	return link_make(link, depth, IBV_ACCESS_LOCAL_WRITE |
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

void cm_release(struct link *link)
{
	if (link->qp)
		cm.rdma_destroy_qp(link->id);
	link->qp = NULL;
	link_release(link);
	if (link->id)
		cm.rdma_destroy_id(link->id);
	link->id = NULL;
}

/* When the peer disconnects, there is an event but no completion. */
int cm_ended(struct link *link)
{
	struct rdma_cm_event *event;
	int ret;

	if (cm.rdma_get_cm_event(link->id->channel, &event))
		return link_fail(link, "waiting for events failed: %s", strerror(errno));
	ret = link_fail(link, "the connection ended (%s)",
			cm.rdma_event_str(event->event));
	cm.rdma_ack_cm_event(event);
	return ret;
}

/* The path is known as soon as the addresses are resolved. */
void cm_path(struct path *path, struct rdma_cm_id *id)
{
	const struct rdma_addr *addr = &id->route.addr;

	*path = (struct path){ .known = true, .type = "RC" };
	snprintf(path->device, sizeof(path->device), "%s",
		 id->verbs->device->name);
	address_text(&addr->src_storage, path->local, sizeof(path->local));
	address_text(&addr->dst_storage, path->peer, sizeof(path->peer));
	gid_text(&addr->addr.ibaddr.sgid, path->local_gid,
		 sizeof(path->local_gid));
	gid_text(&addr->addr.ibaddr.dgid, path->peer_gid,
		 sizeof(path->peer_gid));
}
