// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connections of the connection manager, as the probe shall tell them apart:
 *
 *	cmscenes listen ADDRESS PORT accept|reject|late
 *	cmscenes connect ADDRESS PORT
 *
 * A listener prints "ready". The client prints the event that it ended with, and
 * once connected "ready"; both wait for end of input then.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_MS 3000

static void fail(const char *what)
{
	fprintf(stderr, "cmscenes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

static struct rdma_addrinfo *address(char **argv, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags,
				       .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *found;

	if (rdma_getaddrinfo(argv[0], argv[1], &hints, &found))
		fail("address");
	return found;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (rdma_create_qp(id, NULL, &attr))
		fail("rdma_create_qp");
}

/* What comes next, or end of input: NULL. */
static struct rdma_cm_event *next(struct rdma_event_channel *channel)
{
	struct pollfd fds[] = { { .fd = channel->fd, .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };
	struct rdma_cm_event *event;

	if (poll(fds, 2, -1) < 0)
		fail("poll");
	if (!(fds[0].revents & POLLIN))
		return NULL;
	if (rdma_get_cm_event(channel, &event))
		fail("rdma_get_cm_event");
	return event;
}

static void serve(struct rdma_event_channel *channel, const char *how)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1 };
	/* Late, unless the input ends before. */
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	while ((event = next(channel))) {
		id = event->id;
		switch (event->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			if (!strcmp(how, "reject")) {
				rdma_reject(id, NULL, 0);
				break;
			}
			if (!strcmp(how, "late"))
				poll(&input, 1, LATE_MS);
			make_qp(id);
			if (rdma_accept(id, &param))
				fail("rdma_accept");
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(id);
			break;
		default:
			break;
		}
		rdma_ack_cm_event(event);
	}
}

static void run_listener(char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo *at = address(argv, RAI_PASSIVE | RAI_NUMERICHOST);
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, at->ai_src_addr) || rdma_listen(id, 4))
		fail("listen");
	ready();
	serve(channel, argv[2]);
}

static void run_client(char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 7 };
	struct rdma_addrinfo *to = address(argv, RAI_NUMERICHOST);
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, to->ai_dst_addr, 2000))
		fail("resolve");
	while ((event = next(channel))) {
		type = event->event;
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_ADDR_RESOLVED) {
			if (rdma_resolve_route(id, 2000))
				fail("rdma_resolve_route");
		} else if (type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			make_qp(id);
			if (rdma_connect(id, &param))
				fail("rdma_connect");
		} else if (type == RDMA_CM_EVENT_ESTABLISHED) {
			ready();
		} else {
			printf("%s\n", rdma_event_str(type));
			fflush(stdout);
			return;
		}
	}
	rdma_disconnect(id);
	event = next(channel);
	if (event)
		rdma_ack_cm_event(event);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "listen"))
		run_listener(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "connect"))
		run_client(argv + 2);
	else
		return 2;
	return 0;
}
