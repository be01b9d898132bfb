/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMM, guest and driver of a PVRDMA function, as a test plays them: in this process
 * (lab.h), or in a program of its own.
 */
#ifndef GUEST_H
#define GUEST_H

#include "client.h"
#include "hw_user.h"
#include "pvrdma_hw.h"

#define GUEST_PAGE 4096u
/* What a test's memory region allows. */
#define ALL_ACCESS (PVRDMA_ACCESS_LOCAL_WRITE | PVRDMA_ACCESS_REMOTE_WRITE | \
		    PVRDMA_ACCESS_REMOTE_READ | PVRDMA_ACCESS_REMOTE_ATOMIC)

struct guest {
	struct client client;
	char path[128];
	/* Lets the adapter do what it has to; NULL: it does by itself. */
	void (*run)(void *arg);
	/* Until there is an interrupt; NULL: responses of commands are not waited for. */
	bool (*wait)(void *arg, int irq);
	void *arg;
	/* Its connections wait for an answer for half a second, and not for a few ms. */
	bool patient;
	int ram;
	uint64_t size;
	unsigned char *memory;
	/* The next page that nothing uses. */
	uint64_t next;
	struct pvrdma_dsr *dsr;
	unsigned char *cmd, *resp;
	struct pvrdma_ring_state *events, *notifications;
	struct pvrdma_event *event;
	uint32_t *notification;
	int irqs[PVRDMA_MAX_VECTORS];
	/* Of the interface. */
	uint32_t version;
	uint64_t uar_pfn;
};

struct guest_mr {
	uint32_t handle, lkey, rkey;
	uint64_t address, length;
};

struct guest_cq {
	uint32_t handle, cqe;
	struct pvrdma_ring_state *state;
	struct pvrdma_cqe *entries;
};

struct guest_qp {
	struct guest *guest;
	uint32_t handle, qpn, depth, stride;
	struct pvrdma_ring_header *header;
	unsigned char *sq, *rq;
	uint32_t rq_stride;
};

struct guest_srq {
	struct guest *guest;
	uint32_t handle, depth;
	struct pvrdma_ring_header *header;
	unsigned char *elements;
};

struct guest_qp_want {
	uint32_t pd, depth, sge;
	const struct guest_cq *cq;
	uint8_t type;
	/* 0: none. */
	uint32_t srq;
	bool sig_all;
};

/* The program ends if one of the following is not possible. */
void guest_must(bool well, const char *what);
/* Memory of @size bytes, by @flags of memfd_create(). */
void guest_open(struct guest *guest, uint64_t size, unsigned int flags);
void guest_close(struct guest *guest);
/* The VMM connects to the function at guest->path, and goes. */
void guest_plug(struct guest *guest);
void guest_unplug(struct guest *guest);

/* Memory of @pages, zeroed; its DMA address. */
uint64_t guest_alloc(struct guest *guest, uint32_t pages);
void *guest_at(struct guest *guest, uint64_t address);
/* A directory of pages that follow each other. */
uint64_t guest_directory(struct guest *guest, uint64_t address, uint32_t pages);
/* For guest->wait, of an adapter that does all by itself. */
bool guest_wait(void *arg, int irq);
uint32_t guest_read(struct guest *guest, uint64_t reg);
void guest_write(struct guest *guest, uint64_t reg, uint32_t value);
void guest_ring(struct guest *guest, uint32_t page, uint32_t offset, uint32_t value);
/* hw 2.2: up to ACTIVATE; what ERR is then. */
uint32_t guest_probe(struct guest *guest);
/* The command with its first 8 bytes and code filled in; ERR. The response is in resp. */
uint32_t guest_command(struct guest *guest, uint32_t code, void *cmd, size_t size);
uint32_t guest_about(struct guest *guest, uint32_t code, uint32_t handle);

uint32_t guest_context(struct guest *guest, uint32_t page);
uint32_t guest_pd(struct guest *guest, uint32_t context);
/* mr->address is in the first of the pages at @addresses. False: refused. */
bool guest_register(struct guest *guest, uint32_t pd, const uint64_t *addresses, uint64_t length,
		    uint32_t access, struct guest_mr *mr);
struct guest_mr guest_mr(struct guest *guest, uint32_t pd, uint32_t length, uint32_t access);
struct guest_cq guest_cq(struct guest *guest, uint32_t context, uint32_t cqe);
/* Whose receives have one SGE. */
struct guest_srq guest_srq(struct guest *guest, uint32_t pd, uint32_t depth);
struct guest_qp guest_qp(struct guest *guest, const struct guest_qp_want *want);
/* The GID at index 0. */
void guest_bind(struct guest *guest, uint8_t last);
void guest_bind_gid(struct guest *guest, const uint8_t gid[16]);
uint32_t guest_modify(const struct guest_qp *qp, uint32_t mask, const struct pvrdma_qp_attr *attr);
/* To RTS, with @remote of the guest whose GID ends with @last. */
bool guest_connect(const struct guest_qp *qp, uint32_t remote, uint8_t last);
uint32_t guest_state(const struct guest_qp *qp);

/* Puts a request into the ring, with one SGE; rings the doorbell. */
void guest_send(struct guest_qp *qp, struct pvrdma_sqe *sqe, const struct guest_mr *mr,
		uint64_t offset, uint32_t length);
void guest_recv(struct guest_qp *qp, uint64_t wr_id, const struct guest_mr *mr,
		uint64_t offset, uint32_t length);
/* Those of an SRQ are without a doorbell. */
void guest_srq_recv(struct guest_srq *srq, uint64_t wr_id, const struct guest_mr *mr,
		    uint64_t offset, uint32_t length);
/* False: there is no entry. */
bool guest_poll(struct guest_cq *cq, struct pvrdma_cqe *cqe);
/* Runs the adapters, then polls. */
bool guest_completion(struct guest *guest, struct guest_cq *cq, struct pvrdma_cqe *cqe);
/* The next asynchronous event; false: there is none. */
bool guest_event(struct guest *guest, struct pvrdma_event *event);

#endif /* GUEST_H */
