/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the configuration: a line of data and a small function each. A
 * function has a result for each thing it looks at: "ok" only for what it has
 * seen. What does not apply, as to a device of another vendor, has none.
 */
#ifndef CHECK_H
#define CHECK_H

#include "cli.h"

enum verdict {
	CHECK_OK,
	CHECK_UNSEEN,	/* it should be there, and could not be looked at */
	CHECK_WARN,
	CHECK_FAIL,
};

struct audit;

/* What is known of a device; texts are "" and numbers 0 where it is not. */
struct audit_device {
	char name[64], driver[32], netdev[32], mac[32], netdev_mac[32];
	char fw[32];
	uint64_t mtu, vectors;
	uint64_t used[5], max[5];	/* QPs, CQs, MRs, PDs, contexts */
	bool port_known, port_down, companion;
	uint64_t irqs[64];
	unsigned int n_irqs;
};

struct check {
	const char *name;	/* for ever */
	const char *about;
	void (*of_machine)(struct audit *a);
	void (*of_device)(struct audit *a, const struct audit_device *dev);
};

struct audit {
	struct cli *cli;
	const struct check *check;
	struct audit_device *devices;
	unsigned int n, max;
	bool unseen;		/* the capture lacks a fact of the machine */
	enum verdict worst;
};

extern const struct check machine_checks[], device_checks[];

/* @dev: NULL for the machine; @remedy: NULL where nothing is to be done. */
void tell(struct audit *a, enum verdict verdict,
	  const struct audit_device *dev, const char *remedy, const char *fmt,
	  ...) PRINTF(5, 6);

/*
 * A fact of the machine, "" where it has nothing of the kind. False: it is not
 * known, as an older capture does not have it.
 */
bool machine_fact(struct audit *a, char *buf, size_t size, const char *fmt,
		  ...) PRINTF(4, 5);

#endif /* CHECK_H */
