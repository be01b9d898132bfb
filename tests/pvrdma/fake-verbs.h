/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libibverbs with one device that does what a test says: it takes the place of the
 * library's functions in the program that has it.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

#define FAKE_POSTS 256

/* Requests as the device got them. */
struct fake_qp {
	struct ibv_qp qp;
	struct ibv_qp_attr attr;
	struct ibv_send_wr sends[FAKE_POSTS];
	struct ibv_sge sges[FAKE_POSTS];
	unsigned int n_sends;
	uint64_t recvs[FAKE_POSTS];
	unsigned int n_recvs;
};

extern struct fake_device {
	/* Of the last one that was created. */
	struct fake_qp *qp;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
	/* Bytes that the device found at the last registration. */
	unsigned char first, last;
	unsigned int pds, mrs, cqs, srqs, qps, ahs;
	/* errno of the next call of that kind; 0: none. */
	int reg_error, modify_error, ah_error, query_srq_error, send_error, recv_error;
	/* Of the last SRQ that was asked for one. */
	uint32_t srq_limit;
	uint8_t link_layer;
	/* The next end of a QP, or creation of an address handle, waits until that is 0. */
	int slow_end, slow_ah;
	/* Calls of ibv_dereg_mr() by the thread @loop. */
	pthread_t loop;
	unsigned int loop_deregs;
	/* Calls that create an address handle. */
	unsigned int ah_calls;
	/* In the device's table at index 3. */
	union ibv_gid gid;
	uint64_t srq_recvs[FAKE_POSTS];
	unsigned int n_srq_recvs;
} fake;

/* Ends request number @n of the QP's, as the device would. */
void fake_sent(struct fake_qp *qp, unsigned int n, enum ibv_wc_status status);
void fake_received(struct fake_qp *qp, uint64_t wr_id, enum ibv_wc_status status);
/* The same, with a completion of the test's. */
void fake_received_as(struct fake_qp *qp, const struct ibv_wc *wc);
/* Of the last SRQ. */
void fake_srq_event(enum ibv_event_type type);
void fake_event(enum ibv_event_type type, struct ibv_qp *qp);

#endif /* FAKE_VERBS_H */
