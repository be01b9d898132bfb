/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two guests of a lab with a QP each, which are connected. */
#ifndef PAIR_H
#define PAIR_H

#include "lab.h"

#define PAIR_DATA (256u << 10)

struct pair {
	struct lab lab;
	uint32_t pd[2];
	/* Of PAIR_DATA bytes. */
	struct guest_mr mr[2];
	struct guest_cq cq[2];
	struct guest_qp qp[2];
};

void pair_open(struct pair *pair);
/* Of the interface. */
void pair_open_version(struct pair *pair, unsigned int version);
/* With a backend of the test's, which becomes the lab's. */
void pair_open_with(struct pair *pair, struct backend *backend);
/* The memory region of guest @i. */
unsigned char *pair_bytes(struct pair *pair, unsigned int i);

/* Its next completion is so, after the adapters have run; or there is none. */
bool pair_ends(struct pair *pair, unsigned int i, uint32_t opcode, uint32_t status);
bool pair_nothing(struct pair *pair, unsigned int i);
/* Both QPs begin again. */
void pair_reconnect(struct pair *pair);

#endif /* PAIR_H */
