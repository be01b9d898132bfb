/* SPDX-License-Identifier: GPL-2.0-or-later */
/* librdmacm and, through it, libibverbs, for "eadm test". */
#ifndef TEST_CM_H
#define TEST_CM_H

#include <rdma/rdma_cma.h>

#include "../late.h"

/* The header defines macros that call functions with other names. */
#undef ibv_reg_mr

#define CM_FUNCTIONS(f)							\
	f(rdma_accept) f(rdma_ack_cm_event) f(rdma_bind_addr)		\
	f(rdma_connect) f(rdma_create_event_channel) f(rdma_create_id)	\
	f(rdma_create_qp) f(rdma_destroy_event_channel)			\
	f(rdma_destroy_id) f(rdma_destroy_qp) f(rdma_disconnect)	\
	f(rdma_event_str) f(rdma_get_cm_event) f(rdma_listen)		\
	f(rdma_reject) f(rdma_resolve_addr) f(rdma_resolve_route)	\
	f(ibv_ack_cq_events) f(ibv_dereg_mr) f(ibv_free_device_list)	\
	f(ibv_get_cq_event) f(ibv_get_device_list) f(ibv_reg_mr)	\
	f(ibv_wc_status_str)

LATE_LIBRARY(cm, CM_FUNCTIONS);

#endif /* TEST_CM_H */
