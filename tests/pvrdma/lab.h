/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of one server in this process, each with a guest that has memory of its
 * own; or of two servers with a link between them.
 */
#ifndef LAB_H
#define LAB_H

#include "guest.h"
#include "model.h"

#define GUESTS 2
#define GUEST_RAM (32u << 20)

struct cable;

struct lab {
	struct backend *backend;
	/* The second server's, which a cable links with the first one's; or NULL. */
	struct backend *other;
	struct cable *cable;
	struct guest guests[GUESTS];
	struct model *models[GUESTS];
	/* Of the adapters. */
	unsigned int log_lines;
};

/* Labs are opened with two servers. */
extern bool lab_linked;

/* The program ends if that is not possible; @version: of the interface. */
void lab_open(struct lab *lab, unsigned int version);
/* With a backend of the test's, which becomes the lab's. */
void lab_open_with(struct lab *lab, unsigned int version, struct backend *backend);
void lab_open_limited(struct lab *lab, unsigned int version, struct backend *backend,
		      const struct model_limits *limits);
void lab_close(struct lab *lab);
/* Lets the adapters do what they have to, as long as it is not a wait. */
void lab_run(struct lab *lab);
/* The same, and lets time pass until @irqs (an event descriptor) has an event. */
bool lab_wait(struct lab *lab, int irq);
/* For guest->wait. */
bool lab_wait_response(void *arg, int irq);
/* Number of lines that servers of this process have logged about links. */
unsigned int lab_link_lines(void);
/* A VMM that goes, and its guest with it; another one comes. */
void lab_restart(struct lab *lab, struct guest *guest);

#endif /* LAB_H */
