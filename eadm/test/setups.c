// SPDX-License-Identifier: GPL-2.0-or-later
/* The methods of setting up connections. */
#include "cm.h"
#include "tcp.h"

const struct setup setup_cm = {
	.name = "rdma_cm",
	.key = "rdma_cm",
	.start = cm_start,
	.stop = cm_stop,
	.ended = cm_ended,
	.release = cm_release,
	.begin = cm_begin,
	.end = cm_end,
	.listen = cm_listen,
	.events_fd = cm_events_fd,
	.on_event = cm_on_event,
	.close = cm_close,
};

const struct setup setup_tcp = {
	.name = "TCP",
	.key = "tcp",
	.start = tcp_start,
	.ended = tcp_ended,
	.release = tcp_release,
	.begin = tcp_begin,
	.end = tcp_end,
	.listen = tcp_listen,
	.events_fd = tcp_events_fd,
	.on_event = tcp_on_event,
	.on_peer = tcp_on_peer,
	.wait_ms = tcp_wait_ms,
	.close = tcp_close,
};
