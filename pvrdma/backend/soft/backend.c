// SPDX-License-Identifier: GPL-2.0-or-later
/* The backend's interface: ports, and turns of all QPs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soft.h"

static struct soft *soft_of(struct backend *backend)
{
	return (struct soft *)(void *)backend;
}

static int port_open(struct backend *backend, const struct backend_client *client,
		     void *ctx, struct backend_port **opened)
{
	struct soft_port *port = calloc(1, sizeof(*port));

	if (!port)
		return -ENOMEM;
	port->soft = soft_of(backend);
	port->number = port->soft->n_ports++;
	port->client = client;
	port->ctx = ctx;
	/* QPN 1 is the GSI QP; 0 is not a valid key. */
	if (table_init(&port->qps, 2, SOFT_MAX_QP) || table_init(&port->mrs, 1, SOFT_MAX_MR)) {
		table_exit(&port->qps);
		free(port);
		return -ENOMEM;
	}
	TAILQ_INSERT_TAIL(&port->soft->ports, port, link);
	*opened = (struct backend_port *)(void *)port;
	return 0;
}

static void gid_del(struct backend_port *backend_port, uint32_t index)
{
	struct soft_port *port = soft_port(backend_port);
	union ibv_gid gid;

	if (index >= SOFT_MAX_GIDS || !port->gids[index].used)
		return;
	gid = port->gids[index].gid;
	port->gids[index].used = false;
	/* The GID may exist at two indices, with two types. */
	if (!soft_has_gid(port, &gid))
		soft_links_gid(port, &gid, false);
}

static int gid_add(struct backend_port *backend_port, uint32_t index,
		   const union ibv_gid *gid, enum ibv_gid_type type)
{
	struct soft_port *port = soft_port(backend_port), *other;

	if (index >= SOFT_MAX_GIDS)
		return -EINVAL;
	other = soft_find_port(port->soft, gid);
	if (other ? other != port : soft_find_link(port->soft, gid) != NULL)
		return -EADDRINUSE;
	gid_del(backend_port, index);
	port->gids[index] = (struct soft_gid){ .used = true, .gid = *gid, .type = type };
	soft_links_gid(port, gid, true);
	return 0;
}

static void port_close(struct backend_port *backend_port)
{
	struct soft_port *port = soft_port(backend_port);
	unsigned int i;

	for (i = 0; i < SOFT_MAX_GIDS; i++)
		gid_del(backend_port, i);
	TAILQ_REMOVE(&port->soft->ports, port, link);
	table_exit(&port->qps);
	table_exit(&port->mrs);
	free(port);
}

static void port_query(struct backend_port *backend_port, struct ibv_port_attr *attr)
{
	(void)backend_port;
	*attr = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.max_msg_sz = SOFT_MAX_MESSAGE,
		.active_width = 1,
		.active_speed = 32,
	};
}

static int pd_create(struct backend_port *port, struct backend_pd **created)
{
	struct backend_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return -ENOMEM;
	pd->port = soft_port(port);
	*created = pd;
	return 0;
}

static void pd_destroy(struct backend_pd *pd)
{
	free(pd);
}

/* Completions go directly to the client. */
static int cq_create(struct backend_port *port, uint32_t cqe, struct backend_cq **created)
{
	struct backend_cq *cq = calloc(1, sizeof(*cq));

	(void)cqe;
	if (!cq)
		return -ENOMEM;
	cq->port = soft_port(port);
	*created = cq;
	return 0;
}

static void cq_destroy(struct backend_cq *cq)
{
	free(cq);
}

static void limits(struct backend *backend, struct ibv_device_attr *attr)
{
	(void)backend;
	*attr = (struct ibv_device_attr){
		.device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS,
		.max_mr_size = 1ull << 30,
		.max_qp = SOFT_MAX_QP,
		.max_qp_wr = SOFT_MAX_WR,
		.max_sge = SOFT_MAX_SGE,
		.max_cq = SOFT_MAX_CQ,
		.max_cqe = 1 << 16,
		.max_mr = SOFT_MAX_MR,
		.max_pd = SOFT_MAX_PD,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_srq = SOFT_MAX_SRQ,
		.max_srq_wr = SOFT_MAX_WR,
		.max_srq_sge = SOFT_MAX_SGE,
		.max_ah = 1 << 16,
		.local_ca_ack_delay = 15,
	};
}

static uint64_t run(struct backend *backend, uint64_t now)
{
	struct soft *soft = soft_of(backend);
	struct soft_qp *qp, *next;
	uint64_t wake, link_wake;

	soft->now = now;
	soft->bytes = SOFT_RUN_BYTES;
	soft->requests = SOFT_RUN_REQUESTS;
	link_wake = soft_links_run(soft);
	for (qp = TAILQ_FIRST(&soft->waiting); qp; qp = next) {
		next = TAILQ_NEXT(qp, link);
		if (qp->wake <= now)
			soft_qp_schedule(qp);
	}
	while ((qp = TAILQ_FIRST(&soft->runnable)) && soft->bytes > 0 && soft->requests) {
		TAILQ_REMOVE(&soft->runnable, qp, link);
		qp->queue = SOFT_IDLE;
		soft->requests--;
		if (soft_qp_step(qp))
			soft_qp_schedule(qp);
	}
	soft_links_flush(soft);
	wake = soft_links_wake(soft);
	if (!TAILQ_EMPTY(&soft->runnable))
		return now;
	if (link_wake < wake)
		wake = link_wake;
	TAILQ_FOREACH(qp, &soft->waiting, link)
		if (qp->wake < wake)
			wake = qp->wake;
	return wake;
}

static int soft_fd(const struct backend *backend)
{
	return soft_links_fd((const struct soft *)(const void *)backend);
}

static void close_soft(struct backend *backend)
{
	soft_links_close(soft_of(backend));
	free(soft_of(backend));
}

static const struct backend_ops ops = {
	.name = "soft",
	.close = close_soft,
	.fd = soft_fd,
	.run = run,
	.limits = limits,
	.port_open = port_open,
	.port_close = port_close,
	.port_query = port_query,
	.gid_add = gid_add,
	.gid_del = gid_del,
	.pd_create = pd_create,
	.pd_destroy = pd_destroy,
	.mr_create = soft_mr_create,
	.mr_destroy = soft_mr_destroy,
	.cq_create = cq_create,
	.cq_destroy = cq_destroy,
	.srq_create = soft_srq_create,
	.srq_limit = soft_srq_limit,
	.srq_query = soft_srq_query,
	.srq_recv = soft_srq_recv,
	.srq_destroy = soft_srq_destroy,
	.qp_create = soft_qp_create,
	.qp_modify = soft_qp_modify,
	.qp_query = soft_qp_query,
	.qp_send = soft_qp_send,
	.qp_recv = soft_qp_recv,
	.qp_destroy = soft_qp_destroy,
	.qp_stats = soft_qp_stats,
};

int backend_soft_open(const struct backend_soft_config *config, struct backend **opened)
{
	struct soft *soft = calloc(1, sizeof(*soft));
	int err;

	if (!soft)
		return -ENOMEM;
	soft->backend.ops = &ops;
	TAILQ_INIT(&soft->ports);
	TAILQ_INIT(&soft->runnable);
	TAILQ_INIT(&soft->waiting);
	err = soft_links_open(soft, config);
	if (err) {
		free(soft);
		return err;
	}
	*opened = &soft->backend;
	return 0;
}
