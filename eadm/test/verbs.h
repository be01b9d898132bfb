/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libibverbs, for "eadm test". */
#ifndef TEST_VERBS_H
#define TEST_VERBS_H

#include <infiniband/verbs.h>

#include "../late.h"

/* Undo macros of the header that call functions with other names. */
#undef ibv_query_port
#undef ibv_reg_mr

#define VERBS_FUNCTIONS(f)						\
	f(ibv_ack_cq_events) f(ibv_alloc_pd) f(ibv_close_device)	\
	f(ibv_create_ah) f(ibv_create_comp_channel) f(ibv_create_cq)	\
	f(ibv_create_qp) f(ibv_dealloc_pd) f(ibv_dereg_mr)		\
	f(ibv_destroy_ah) f(ibv_destroy_comp_channel) f(ibv_destroy_cq)	\
	f(ibv_destroy_qp) f(ibv_free_device_list) f(ibv_get_cq_event)	\
	f(ibv_get_device_list) f(ibv_modify_qp) f(ibv_open_device)	\
	f(ibv_qp_to_qp_ex) f(ibv_query_port) f(ibv_reg_mr)		\
	f(ibv_wc_status_str)

LATE_LIBRARY(verbs, VERBS_FUNCTIONS);

#endif /* TEST_VERBS_H */
