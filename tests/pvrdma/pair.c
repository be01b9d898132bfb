// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "pair.h"

/* Of guests that are there. */
static void make_qps(struct pair *pair)
{
	struct guest_qp_want want = { .depth = 16, .sge = 1, .type = PVRDMA_QPT_RC };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct guest *guest = &pair->lab.guests[i];

		guest_probe(guest);
		guest_bind(guest, (uint8_t)(i + 1));
		pair->pd[i] = guest_pd(guest, 0);
		pair->mr[i] = guest_mr(guest, pair->pd[i], PAIR_DATA, ALL_ACCESS);
		pair->cq[i] = guest_cq(guest, 0, 64);
		want.pd = pair->pd[i];
		want.cq = &pair->cq[i];
		pair->qp[i] = guest_qp(guest, &want);
	}
	guest_must(guest_connect(&pair->qp[0], pair->qp[1].qpn, 2) &&
		   guest_connect(&pair->qp[1], pair->qp[0].qpn, 1), "connection");
}

void pair_open(struct pair *pair)
{
	pair_open_version(pair, PVRDMA_VERSION_MAX);
}

void pair_open_version(struct pair *pair, unsigned int version)
{
	lab_open(&pair->lab, version);
	make_qps(pair);
}

void pair_open_with(struct pair *pair, struct backend *backend)
{
	lab_open_with(&pair->lab, PVRDMA_VERSION_MAX, backend);
	make_qps(pair);
}

unsigned char *pair_bytes(struct pair *pair, unsigned int i)
{
	return guest_at(&pair->lab.guests[i], pair->mr[i].address);
}

bool pair_ends(struct pair *pair, unsigned int i, uint32_t opcode, uint32_t status)
{
	struct pvrdma_cqe cqe = { .status = 99 };
	bool found = guest_completion(&pair->lab.guests[i], &pair->cq[i], &cqe);

	if (found && cqe.opcode == opcode && cqe.status == status && cqe.qp == pair->qp[i].handle)
		return true;
	printf("# %s: opcode %u, status %u, QP %llu\n", found ? "found" : "none", cqe.opcode,
	       cqe.status, (unsigned long long)cqe.qp);
	return false;
}

bool pair_nothing(struct pair *pair, unsigned int i)
{
	struct pvrdma_cqe cqe;

	return !guest_completion(&pair->lab.guests[i], &pair->cq[i], &cqe);
}

void pair_reconnect(struct pair *pair)
{
	struct pvrdma_qp_attr reset = { .state = PVRDMA_QPS_RESET };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		guest_modify(&pair->qp[i], 1, &reset);
		memset(pair->qp[i].header, 0, sizeof(*pair->qp[i].header));
	}
	guest_must(guest_connect(&pair->qp[0], pair->qp[1].qpn, 2) &&
		   guest_connect(&pair->qp[1], pair->qp[0].qpn, 1), "connection");
}
