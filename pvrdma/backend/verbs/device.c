// SPDX-License-Identifier: GPL-2.0-or-later
/* The ibdevice as a whole: opening, events, completions, and loss. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs.h"

#define PAGE UINT64_C(4096)

static int open_context(struct verbs *verbs, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i, err = -ENODEV;

	if (!list)
		return -errno;
	for (i = 0; list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name))
			continue;
		verbs->context = ibv_open_device(list[i]);
		err = verbs->context ? 0 : errno ? -errno : -EIO;
	}
	ibv_free_device_list(list);
	return err;
}

static int check_port(struct verbs *verbs, const char **why)
{
	struct ibv_port_attr attr;

	if (ibv_query_port(verbs->context, verbs->port, &attr)) {
		*why = "the device has no such port";
		return -EINVAL;
	}
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET) {
		*why = "not a RoCE port: guest adapters require Ethernet addresses";
		return -EPROTONOSUPPORT;
	}
	if (verbs->gid >= attr.gid_tbl_len) {
		*why = "the port has no GID with that index";
		return -EINVAL;
	}
	return 0;
}

static int watch(struct verbs *verbs, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return epoll_ctl(verbs->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int prepare(struct verbs *verbs)
{
	int err;

	verbs->channel = ibv_create_comp_channel(verbs->context);
	verbs->epoll = epoll_create1(EPOLL_CLOEXEC);
	verbs->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!verbs->channel || verbs->epoll < 0 || verbs->wake < 0)
		return -errno;
	err = watch(verbs, verbs->channel->fd);
	if (!err)
		err = watch(verbs, verbs->context->async_fd);
	if (!err)
		err = watch(verbs, verbs->wake);
	return err ? err : -ibv_query_device(verbs->context, &verbs->attr);
}

static void close_verbs(struct backend *backend)
{
	struct verbs *verbs = verbs_of(backend);

	if (verbs->channel)
		ibv_destroy_comp_channel(verbs->channel);
	if (verbs->context)
		ibv_close_device(verbs->context);
	if (verbs->epoll >= 0)
		close(verbs->epoll);
	if (verbs->wake >= 0)
		close(verbs->wake);
	if (verbs->soft)
		verbs->soft->ops->close(verbs->soft);
	mapping_room_exit(&verbs->room);
	free(verbs);
}

static int verbs_fd(const struct backend *backend)
{
	return ((const struct verbs *)(const void *)backend)->epoll;
}

static void limits(struct backend *backend, struct ibv_device_attr *attr)
{
	const struct verbs *verbs = verbs_of(backend);
	uint64_t most = verbs->room.most * PAGE;

	*attr = verbs->attr;
	/* The verbs API of libibverbs has no work requests that register memory. */
	attr->device_cap_flags &= ~IBV_DEVICE_MEM_MGT_EXTENSIONS;
	if (attr->max_mr_size > most)
		attr->max_mr_size = most;
	if (attr->max_mr_size > 1ull << 30)
		attr->max_mr_size = 1ull << 30;
	if (!attr->max_ah)
		attr->max_ah = VERBS_AHS;
}

/* ---- the loop */

static void lost(struct verbs *verbs)
{
	struct verbs_port *port;

	if (verbs->dead)
		return;
	verbs->dead = true;
	LIST_FOREACH(port, &verbs->ports, link)
		verbs_log(port, "the device is gone: all requests fail");
	verbs_qp_flush_all(verbs);
	LIST_FOREACH(port, &verbs->ports, link)
		port->client->event(port->ctx, IBV_EVENT_DEVICE_FATAL, NULL);
}

static void tell_ports(struct verbs *verbs, const struct ibv_async_event *event)
{
	struct verbs_port *port;

	if (event->element.port_num != verbs->port)
		return;
	LIST_FOREACH(port, &verbs->ports, link)
		port->client->event(port->ctx, event->event_type, NULL);
}

static void tell_qp(const struct ibv_async_event *event)
{
	const struct verbs_qp *qp = event->element.qp->qp_context;

	if (!qp->gone)
		qp->port->client->event(qp->port->ctx, event->event_type, qp->client);
}

static void take_event(struct verbs *verbs, const struct ibv_async_event *event)
{
	const struct verbs_srq *srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		verbs_qp_cq_failed(event->element.cq->cq_context);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		tell_qp(event);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq = event->element.srq->srq_context;
		if (!srq->gone)
			srq->pd->port->client->event(srq->pd->port->ctx, event->event_type,
						     srq->client);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		tell_ports(verbs, event);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		lost(verbs);
		break;
	default:
		break;
	}
}

static void take_events(struct verbs *verbs)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(verbs->context, &event)) {
		take_event(verbs, &event);
		ibv_ack_async_event(&event);
	}
	if (errno == EIO || errno == ENODEV)
		lost(verbs);
}

static void take_notifications(struct verbs *verbs)
{
	struct verbs_cq *cq;
	struct ibv_cq *device_cq;
	void *context;

	while (!ibv_get_cq_event(verbs->channel, &device_cq, &context)) {
		cq = context;
		ibv_ack_cq_events(device_cq, 1);
		if (cq->ready)
			continue;
		cq->ready = true;
		TAILQ_INSERT_TAIL(&verbs->ready, cq, link);
	}
}

static void look(struct verbs *verbs)
{
	struct epoll_event events[3];
	struct verbs_port *port;
	uint64_t count;
	int i, n = epoll_wait(verbs->epoll, events, 3, 0);

	for (i = 0; i < n; i++) {
		if (events[i].data.fd == verbs->channel->fd)
			take_notifications(verbs);
		else if (events[i].data.fd == verbs->context->async_fd)
			take_events(verbs);
		else if (read(verbs->wake, &count, sizeof(count)) < 0)
			errno = 0;
	}
	LIST_FOREACH(port, &verbs->ports, link)
		if (port->worker.jobs && worker_reap(&port->worker))
			verbs_work_continue(port);
}

static uint64_t run(struct backend *backend, uint64_t now)
{
	struct verbs *verbs = verbs_of(backend);
	unsigned int most = VERBS_TURN, turn;
	struct verbs_port *port;
	struct verbs_cq *cq;
	uint64_t wake;
	bool more = false;

	verbs->turn++;
	verbs->now = now;
	look(verbs);
	while (most && (cq = TAILQ_FIRST(&verbs->ready))) {
		TAILQ_REMOVE(&verbs->ready, cq, link);
		cq->ready = false;
		turn = most < VERBS_CQ_TURN ? most : VERBS_CQ_TURN;
		most -= turn;
		if (!verbs_cq_drain(cq, &turn))
			continue;
		cq->ready = true;
		TAILQ_INSERT_TAIL(&verbs->ready, cq, link);
	}
	LIST_FOREACH(port, &verbs->ports, link)
		more |= verbs_mr_run(port);
	wake = verbs->soft->ops->run(verbs->soft, now);
	return more || !TAILQ_EMPTY(&verbs->ready) ? now : wake;
}

static const struct backend_ops ops = {
	.name = "verbs",
	.close = close_verbs,
	.fd = verbs_fd,
	.run = run,
	.limits = limits,
	.port_open = verbs_port_open,
	.port_close = verbs_port_close,
	.port_query = verbs_port_query,
	.gid_add = verbs_gid_add,
	.gid_del = verbs_gid_del,
	.pd_create = verbs_pd_create,
	.pd_destroy = verbs_pd_destroy,
	.mr_create = verbs_mr_create,
	.mr_destroy = verbs_mr_destroy,
	.cq_create = verbs_cq_create,
	.cq_destroy = verbs_cq_destroy,
	.srq_create = verbs_srq_create,
	.srq_limit = verbs_srq_limit,
	.srq_query = verbs_srq_query,
	.srq_recv = verbs_srq_recv,
	.srq_destroy = verbs_srq_destroy,
	.qp_create = verbs_qp_create,
	.qp_modify = verbs_qp_modify,
	.qp_query = verbs_qp_query,
	.qp_send = verbs_qp_send,
	.qp_recv = verbs_qp_recv,
	.qp_destroy = verbs_qp_destroy,
};

int backend_verbs_open(const struct backend_verbs_config *config, struct backend **opened,
		       const char **why)
{
	struct verbs *verbs = calloc(1, sizeof(*verbs));
	int err;

	*why = NULL;
	if (!verbs)
		return -ENOMEM;
	verbs->backend.ops = &ops;
	verbs->port = config->port;
	verbs->gid = config->gid;
	verbs->epoll = verbs->wake = -1;
	LIST_INIT(&verbs->ports);
	TAILQ_INIT(&verbs->ready);
	mapping_room_init(&verbs->room);
	err = open_context(verbs, config->device);
	if (!err)
		err = check_port(verbs, why);
	if (!err)
		err = prepare(verbs);
	if (!err)
		err = backend_soft_open(NULL, &verbs->soft);
	if (err) {
		close_verbs(&verbs->backend);
		return err;
	}
	*opened = &verbs->backend;
	return 0;
}
