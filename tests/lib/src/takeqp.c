// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connect a QP that another process, or this one under another user ID, has created:
 *
 *	takeqp accept|connect SERVER_ADDRESS CLIENT_ADDRESS QPN|DEVICE
 *
 * With the name of a device, the QP is this process's, and the process continues as UID 65534.
 * Prints "taken", or the error of the first step that fails.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS	20000
#define PORT		7950
#define OTHER_USER	65534

static struct rdma_event_channel *channel;

static void end(const char *step, int err)
{
	fprintf(stderr, "takeqp: %s: %s\n", step, strerror(err));
	puts(err ? strerror(err) : "taken");
	exit(0);
}

static void must(const char *step, int ret)
{
	if (ret)
		end(step, errno);
}

/* The ID of the next event. */
static struct rdma_cm_id *expect(const char *step, enum rdma_cm_event_type type)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (poll(&fd, 1, LIMIT_MS) <= 0)
		end(step, ETIMEDOUT);
	must(step, rdma_get_cm_event(channel, &event));
	if (event->event != type)
		end(step, event->status < 0 ? -event->status : EPROTO);
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static struct ibv_qp *make_qp(struct ibv_context *ctx)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_qp *qp;

	attr.send_cq = ctx ? ibv_create_cq(ctx, 4, NULL, NULL, 0) : NULL;
	attr.recv_cq = attr.send_cq;
	qp = pd && attr.send_cq ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp)
		end("QP", errno);
	return qp;
}

static uint32_t own_qp(const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	uint32_t qpn;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			ctx = ibv_open_device(list[i]);
	qpn = make_qp(ctx)->qp_num;
	must("user ID", setgroups(0, NULL) || setgid(OTHER_USER) || setuid(OTHER_USER));
	return qpn;
}

static struct rdma_cm_id *resolved(struct sockaddr_in *from, struct sockaddr_in *to)
{
	struct rdma_cm_id *id;

	must("ID", rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	must("address", rdma_resolve_addr(id, (struct sockaddr *)from, (struct sockaddr *)to,
					  LIMIT_MS));
	expect("address", RDMA_CM_EVENT_ADDR_RESOLVED);
	must("route", rdma_resolve_route(id, LIMIT_MS));
	expect("route", RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

int main(int argc, char **argv)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct sockaddr_in server = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct sockaddr_in client = { .sin_family = AF_INET };
	struct rdma_cm_id *listener, *id;
	uint32_t qpn;

	if (argc != 5 || inet_pton(AF_INET, argv[2], &server.sin_addr) != 1 ||
	    inet_pton(AF_INET, argv[3], &client.sin_addr) != 1)
		return 2;
	qpn = strtoul(argv[4], NULL, 0);
	if (!qpn)
		qpn = own_qp(argv[4]);
	channel = rdma_create_event_channel();
	if (!channel)
		end("channel", errno);
	if (!strcmp(argv[1], "connect")) {
		id = resolved(&client, &server);
		param.qp_num = qpn;
		must("connect", rdma_connect(id, &param));
		end("connect", 0);
	}
	must("ID", rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	must("listen", rdma_bind_addr(listener, (struct sockaddr *)&server) ||
	     rdma_listen(listener, 1));
	id = resolved(&client, &server);
	param.qp_num = make_qp(id->verbs)->qp_num;
	must("own connect", rdma_connect(id, &param));
	id = expect("request", RDMA_CM_EVENT_CONNECT_REQUEST);
	param.qp_num = qpn;
	must("accept", rdma_accept(id, &param));
	end("accept", 0);
	return 0;
}
