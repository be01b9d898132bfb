// SPDX-License-Identifier: GPL-2.0-or-later
#include "endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define MAX_PSN 0xffffff

static const struct driver_qp *driver_of(const struct endpoint *e)
{
	return e->adapter.ud ? NULL : e->adapter.driver;
}

static bool is_connected(const struct endpoint *e)
{
	return !e->adapter.ud && !e->adapter.driver;
}

/* ---- creation ------------------------------------------------------------------------ */

static int open_device(struct link *link)
{
	struct endpoint *e = link->endpoint;
	struct ibv_device **list = verbs.ibv_get_device_list(NULL);
	int i, error = ENODEV;

	for (i = 0; list && list[i]; i++) {
		if (strcmp(list[i]->name, e->adapter.device) != 0)
			continue;
		e->ctx = verbs.ibv_open_device(list[i]);
		error = errno;
		break;
	}
	if (list)
		verbs.ibv_free_device_list(list);
	if (!e->ctx)
		return link_fail(link, "%s cannot be opened: %s", e->adapter.device,
				 error == ENODEV ? "no provider (see 'eadm check')" :
						   strerror(error));
	return 0;
}

/* A datagram is a single packet; a receive must have room for the route header, too. */
static void use_datagrams(struct link *link)
{
	uint32_t mtu = 128u << link->endpoint->mtu;

	link->datagram = true;
	link->can_read = false;
	if (link->max_message > mtu)
		link->max_message = mtu;
	link->size = link->max_message + sizeof(struct ibv_grh);
}

/* Query the limits of the adapter, and reduce those of the link to them. */
static int query(struct link *link)
{
	struct endpoint *e = link->endpoint;
	const struct driver_qp *driver = driver_of(e);
	struct ibv_port_attr port = { 0 };
	uint32_t max = EXCHANGE_MAX_BYTES;
	int ret;

	ret = verbs.ibv_query_port(e->ctx, e->adapter.port,
				   (struct _compat_ibv_port_attr *)&port);
	if (ret)
		return link_fail(link, "port %u of %s: %s", e->adapter.port,
				 e->adapter.device, strerror(ret));
	if (port.state != IBV_PORT_ACTIVE)
		return link_fail(link, "port %u of %s is not active",
				 e->adapter.port, e->adapter.device);
	e->mtu = port.active_mtu;
	e->lid = port.lid;
	link->can_read = true;
	link->can_write = true;
	ret = driver ? driver->query(e->ctx, &link->can_read, &link->can_write,
				     &max) : 0;
	if (ret)
		return link_fail(link, "%s: %s", e->adapter.device, strerror(ret));
	if (port.max_msg_sz && link->size > port.max_msg_sz)
		link->size = port.max_msg_sz;
	if (link->can_read && link->shared > max)
		link->shared = max;
	link->max_message = link->size;
	if (e->adapter.ud)
		use_datagrams(link);
	/* Do not write without reads: data is checked by reading it back. */
	link->can_write = link->can_write && link->can_read;
	return 0;
}

static int create_cq(struct link *link, struct ibv_cq **cq, int i, uint32_t entries)
{
	struct endpoint *e = link->endpoint;

	e->channels[i] = verbs.ibv_create_comp_channel(e->ctx);
	if (!e->channels[i])
		return link_fail(link, "creating the completion channel failed: %s", strerror(errno));
	*cq = verbs.ibv_create_cq(e->ctx, entries, NULL, e->channels[i], 0);
	if (!*cq)
		return link_fail(link, "creating the completion queue failed: %s%s", strerror(errno),
				 errno == EOPNOTSUPP ?
				 " (the driver does not support completion events)" : "");
	return 0;
}

static int create_qp(struct link *link, uint32_t depth)
{
	struct endpoint *e = link->endpoint;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = link->send_cq, .recv_cq = link->recv_cq,
		/* Reserve one more request for a write or read. */
		.cap = { .max_send_wr = depth + 1, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
		.qp_type = IBV_QPT_DRIVER,
		.pd = link->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
			(link->can_read ? IBV_QP_EX_WITH_RDMA_READ : 0) |
			(link->can_write ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
	};
	struct ibv_qp_init_attr standard = {
		.send_cq = link->send_cq, .recv_cq = link->recv_cq,
		.cap = attr.cap, .sq_sig_all = 1,
		.qp_type = e->adapter.ud ? IBV_QPT_UD : IBV_QPT_RC,
	};
	const struct driver_qp *driver = driver_of(e);

	link->qp = driver ? driver->create(e->ctx, &attr) :
			    verbs.ibv_create_qp(link->pd, &standard);
	return link->qp ? 0 : link_fail(link, "creating the queue pair failed: %s", strerror(errno));
}

static int remote_access(const struct link *link)
{
	return (link->can_read ? IBV_ACCESS_REMOTE_READ : 0) |
	       (link->can_write ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int to_init(struct link *link)
{
	struct endpoint *e = link->endpoint;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = e->adapter.port,
		.qkey = e->qkey,
		.qp_access_flags = remote_access(link),
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		   (is_connected(e) ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
	int ret = verbs.ibv_modify_qp(link->qp, &attr, mask);

	return ret ? link_fail(link, "modifying the queue pair to INIT failed: %s", strerror(ret)) : 0;
}

int endpoint_make(struct link *link, uint32_t size, uint32_t shared,
		  uint32_t depth, enum exchange_reason *reason)
{
	struct endpoint *e = link->endpoint;
	const struct driver_qp *driver = driver_of(e);
	const char *missing = driver ? driver->open() : NULL;

	*reason = REFUSED_QP;
	if (missing)
		return link_fail(link, "%s: not installed (package ibverbs-providers)",
				 missing);
	if (getrandom(&e->psn, sizeof(e->psn), 0) != sizeof(e->psn) ||
	    getrandom(&e->qkey, sizeof(e->qkey), 0) != sizeof(e->qkey))
		return link_fail(link, "getting random numbers failed: %s",
				 strerror(errno));
	e->psn &= MAX_PSN;
	/* The highest bit is reserved for privileged keys. */
	e->qkey &= INT32_MAX;
	link->size = size;
	link->shared = shared;
	if (open_device(link) || query(link)) {
		*reason = REFUSED_ADAPTER;
		return -1;
	}
	link->pd = verbs.ibv_alloc_pd(e->ctx);
	if (!link->pd)
		return link_fail(link, "allocating the protection domain failed: %s", strerror(errno));
	if (create_cq(link, &link->send_cq, 0, depth + 1) ||
	    create_cq(link, &link->recv_cq, 1, depth) ||
	    create_qp(link, depth) || to_init(link))
		return -1;
	return link_make(link, depth,
			 IBV_ACCESS_LOCAL_WRITE | remote_access(link));
}

/* ---- connecting ---------------------------------------------------------------------- */

static struct ibv_ah_attr route_to(const struct link *link,
				   const struct exchange *peer)
{
	const struct endpoint *e = link->endpoint;
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = e->adapter.port,
		.dlid = peer->lid,
		.grh = { .sgid_index = e->adapter.gid_index, .hop_limit = 64 },
	};

	memcpy(&attr.grh.dgid, peer->gid, sizeof(peer->gid));
	return attr;
}

static int no_route(struct link *link, const struct exchange *peer, int error)
{
	const struct adapter *a = &link->endpoint->adapter;
	char from[INET6_ADDRSTRLEN] = "", to[INET6_ADDRSTRLEN] = "";
	union ibv_gid gid;

	memcpy(&gid, peer->gid, sizeof(gid));
	gid_text(&a->gid, from, sizeof(from));
	gid_text(&gid, to, sizeof(to));
	link_fail(link, "route resolution failed: from %s, GID %u (%s), to GID %s: %s%s",
		  a->device, a->gid_index, from, to, strerror(error),
		  error == ETIMEDOUT ? " (no neighbour has this address)" : "");
	errno = error;
	return -1;
}

/* Each request names its destination, so the queue pair only has to be moved to RTS. */
static int connect_route(struct link *link, const struct exchange *peer)
{
	struct ibv_ah_attr route = route_to(link, peer);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int ret;

	ret = verbs.ibv_modify_qp(link->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!ret)
		ret = verbs.ibv_modify_qp(link->qp, &attr,
					  IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (ret) {
		link_fail(link, "modifying the queue pair to RTS failed: %s", strerror(ret));
		errno = ret;
		return -1;
	}
	link->ah = verbs.ibv_create_ah(link->pd, &route);
	link->peer_qpn = peer->qpn;
	link->peer_qkey = peer->qkey;
	return link->ah ? 0 : no_route(link, peer, errno);
}

static int connect_rc(struct link *link, const struct exchange *peer)
{
	const struct endpoint *e = link->endpoint;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = route_to(link, peer),
		.path_mtu = peer->mtu < e->mtu ? peer->mtu : e->mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	int ret;

	ret = verbs.ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER);
	if (ret)
		return no_route(link, peer, ret);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = e->psn,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	ret = verbs.ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
	if (!ret)
		return 0;
	link_fail(link, "modifying the queue pair to RTS failed: %s", strerror(ret));
	errno = ret;
	return -1;
}

/* Sets errno on failure. */
int endpoint_connect(struct link *link, const struct exchange *peer)
{
	const struct driver_qp *driver = link->endpoint->adapter.driver;

	if (peer->size < link->max_message)
		link->max_message = peer->size;
	link->can_read = link->can_read && peer->can_read;
	link->can_write = link->can_write && peer->can_write;
	link->lost = driver ? driver->lost : peer->roce == 2 ?
		"firewalls must allow UDP port 4791 (RoCE v2) in both directions" :
		"RDMA packets are lost in the network";
	return is_connected(link->endpoint) ? connect_rc(link, peer) :
					      connect_route(link, peer);
}

void endpoint_describe(const struct link *link, struct exchange *message)
{
	const struct endpoint *e = link->endpoint;

	*message = (struct exchange){
		.can_read = link->can_read,
		.can_write = link->can_write,
		.roce = e->adapter.roce,
		.mtu = e->mtu,
		.lid = e->lid,
		.depth = link->depth,
		.qpn = link->qp->qp_num,
		.psn = e->psn,
		.qkey = e->qkey,
		.size = link->max_message,
		.shared = link->shared,
		.rkey = link->mr->rkey,
		.addr = (uintptr_t)link_shared_place(link),
	};
	strcpy(message->type, adapter_type(&e->adapter));
	memcpy(message->gid, &e->adapter.gid, sizeof(message->gid));
}

void endpoint_path(const struct link *link, struct path *path)
{
	const struct adapter *a = &link->endpoint->adapter;

	path->known = true;
	strcpy(path->device, a->device);
	strcpy(path->type, adapter_type(a));
	gid_text(&a->gid, path->local_gid, sizeof(path->local_gid));
}

void endpoint_release(struct link *link)
{
	struct endpoint *e = link->endpoint;
	int i;

	if (link->qp)
		verbs.ibv_destroy_qp(link->qp);
	link->qp = NULL;
	if (link->ah)
		verbs.ibv_destroy_ah(link->ah);
	link_release(link);
	if (link->send_cq)
		verbs.ibv_destroy_cq(link->send_cq);
	if (link->recv_cq)
		verbs.ibv_destroy_cq(link->recv_cq);
	for (i = 0; i < 2; i++) {
		if (e->channels[i])
			verbs.ibv_destroy_comp_channel(e->channels[i]);
	}
	if (link->pd)
		verbs.ibv_dealloc_pd(link->pd);
	if (e->ctx)
		verbs.ibv_close_device(e->ctx);
}
