/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections without a connection manager: addresses are exchanged over TCP. */
#ifndef TEST_TCP_H
#define TEST_TCP_H

#include "endpoint.h"

int tcp_start(struct test *test);
int tcp_closed(struct link *link);
int tcp_ended(struct link *link);
void tcp_release(struct link *link);
void tcp_peer(struct link *link, struct path *path);

int tcp_begin(struct client *c, uint32_t size, uint32_t depth);
void tcp_end(struct client *c);
int tcp_listen(struct server *s);
int tcp_events_fd(const struct server *s);
void tcp_on_event(struct server *s);
void tcp_on_peer(struct server *s, struct link *link);
int tcp_wait_ms(struct server *s);
void tcp_close(struct server *s);

#endif /* TEST_TCP_H */
