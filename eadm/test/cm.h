/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * librdmacm and libibverbs, loaded by "eadm test" only: linked, they would slow
 * the start of every command. Their functions keep their names here.
 */
#ifndef TEST_CM_H
#define TEST_CM_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

/* Macros of the header over functions of other names. */
#undef ibv_reg_mr

#define CM_FUNCTIONS(f)							\
	f(rdma_accept) f(rdma_ack_cm_event) f(rdma_bind_addr)		\
	f(rdma_connect) f(rdma_create_event_channel) f(rdma_create_id)	\
	f(rdma_create_qp) f(rdma_destroy_event_channel)			\
	f(rdma_destroy_id) f(rdma_destroy_qp) f(rdma_disconnect)	\
	f(rdma_event_str) f(rdma_get_cm_event) f(rdma_listen)		\
	f(rdma_reject) f(rdma_resolve_addr) f(rdma_resolve_route)	\
	f(ibv_ack_cq_events) f(ibv_dereg_mr) f(ibv_get_cq_event)	\
	f(ibv_reg_mr) f(ibv_wc_status_str)

struct cm {
#define f(name) __typeof__(&name) name;
	CM_FUNCTIONS(f)
#undef f
};

extern struct cm cm;

const char *cm_load(void);

#ifndef CM_NO_NAMES
#define rdma_accept			cm.rdma_accept
#define rdma_ack_cm_event		cm.rdma_ack_cm_event
#define rdma_bind_addr			cm.rdma_bind_addr
#define rdma_connect			cm.rdma_connect
#define rdma_create_event_channel	cm.rdma_create_event_channel
#define rdma_create_id			cm.rdma_create_id
#define rdma_create_qp			cm.rdma_create_qp
#define rdma_destroy_event_channel	cm.rdma_destroy_event_channel
#define rdma_destroy_id			cm.rdma_destroy_id
#define rdma_destroy_qp			cm.rdma_destroy_qp
#define rdma_disconnect			cm.rdma_disconnect
#define rdma_event_str			cm.rdma_event_str
#define rdma_get_cm_event		cm.rdma_get_cm_event
#define rdma_listen			cm.rdma_listen
#define rdma_reject			cm.rdma_reject
#define rdma_resolve_addr		cm.rdma_resolve_addr
#define rdma_resolve_route		cm.rdma_resolve_route
#define ibv_ack_cq_events		cm.ibv_ack_cq_events
#define ibv_dereg_mr			cm.ibv_dereg_mr
#define ibv_get_cq_event		cm.ibv_get_cq_event
#define ibv_reg_mr			cm.ibv_reg_mr
#define ibv_wc_status_str		cm.ibv_wc_status_str
#endif

#endif /* TEST_CM_H */
