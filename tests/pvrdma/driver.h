/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest of eadm-pvrdma, with its driver, in a program of its own; and its talk with a
 * native peer (verbs-peer.c).
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdio.h>

#include "guest.h"
#include "pattern.h"
#include "tap.h"

#define QKEY 0x11111111

/* Memory of the guest's, as an application has it: pages that follow no order. */
struct area {
	struct guest_mr mr;
	uint64_t *pages;
};

/* Where the other end is, as pingpong programs tell each other. */
struct remote {
	uint32_t qpn, psn;
	uint8_t gid[16];
	uint64_t address;
	uint32_t rkey;
};

struct driver {
	struct guest guest;
	uint32_t pd;
	struct guest_cq cq;
	uint8_t gid[16];
	/* The peer's, and for reading. */
	FILE *talk, *hear;
	struct remote remote;
	/* The longest time that an access to a register took. */
	uint64_t slowest_ns;
};

uint64_t now_ns(void);
/* A guest of @size bytes at the socket, with an adapter, a PD and a CQ. */
void driver_open(struct driver *driver, const char *path, uint64_t size, unsigned int flags);
void driver_close(struct driver *driver);
/* The IPv4 address at GID index 0. */
void driver_bind(struct driver *driver, const char *address);

/* False: it is refused. */
bool area_open(struct driver *driver, struct area *area, uint64_t address, uint32_t pages,
	       bool scattered);
void area_close(struct driver *driver, struct area *area);
void area_fill(struct driver *driver, const struct area *area, uint64_t offset, uint64_t length,
	       unsigned int seed);
bool area_is(struct driver *driver, const struct area *area, uint64_t offset, uint64_t length,
	     unsigned int seed);

struct guest_qp driver_qp(struct driver *driver, uint8_t type, uint32_t depth, uint32_t srq);
/* An RC QP to RTR, or to RTS with a PSN of 0. */
bool driver_connect_until(const struct guest_qp *qp, const struct remote *to, uint32_t state);
/* A UD QP to RTS. */
bool driver_ready(const struct guest_qp *qp);
void driver_destroy(struct driver *driver, const struct guest_qp *qp);
/* Waits by a notification of the CQ; false: none came in time. */
bool driver_wait(struct driver *driver, struct pvrdma_cqe *cqe);
/* The same; the last one of so many, all without an error. */
bool driver_wait_for(struct driver *driver, unsigned int count, struct pvrdma_cqe *cqe);

/* The peer connects its own QP with this one, and this one with it. */
void peer_open(struct driver *driver, const char *port);
void peer_close(struct driver *driver);
bool peer_connect(struct driver *driver, const struct guest_qp *qp, const char *type);
/* A request, and whether the answer is @expected. */
__attribute__((format(printf, 3, 4)))
bool peer_says(struct driver *driver, const char *expected, const char *format, ...);
/* The parts: an answer may be taken later. */
__attribute__((format(printf, 2, 3)))
void peer_ask(struct driver *driver, const char *format, ...);
const char *peer_answer(struct driver *driver);

#endif /* DRIVER_H */
