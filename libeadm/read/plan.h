/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dump, and the steps that produce its rows. */
#ifndef EADM_PLAN_H
#define EADM_PLAN_H

#include "device.h"
#include "peers.h"
#include "rawdump.h"
#include "rdma.h"
#include "setup.h"
#include "srqs.h"

struct step {
	enum {
		STEP_COMPANION, STEP_RDMA, STEP_RDMA_DEVICE, STEP_RAW,
		STEP_OTHERS,	/* plan devices that the companion did not show */
		STEP_MACHINE,	/* rows not about a device */
		STEP_PROBE,	/* probe's rows, for devices that the companion does not show */
		STEP_LOCAL,	/* rows that the source generates for a device */
	} how;
	struct eadm_device dev;		/* empty name: all devices */
	uint32_t port;
};

struct note {
	int error;
	char device[EADM_DEV_NAME_MAX];
	char what[96];
	char why[sizeof(((struct eadm_ctx *)0)->errmsg)];
};

struct eadm_dump {
	struct eadm_ctx *ctx;
	const struct eadm_object *object;
	struct eadm_dump_opts opts;
	struct eadm_entry_opts entries;
	struct eadm_command_opts commands;
	uint64_t fields;		/* attributes that the caller needs */
	bool selects;			/* rows have no other fields: */
	uint64_t selected[EADM_MAX_FIELDS / 64];
	bool has_device, ended;
	uint32_t device;		/* device index */
	uint16_t family;
	struct step *steps;
	unsigned int n_steps, step;
	size_t max_steps;
	struct note *notes;
	unsigned int n_notes;
	size_t max_notes;
	struct eadm_device *shown;	/* devices found by the companion, see finds */
	unsigned int n_shown;
	size_t max_shown;
	unsigned long long rows;
	int first_error, absent;
	bool opened;			/* at least one device has the queue */
	bool probe;			/* rows of some devices come from the probe */
	bool finds;			/* rows reveal which devices the companion shows */
	bool inconsistent;
	bool open;			/* reply is open */
	struct eadm_reply reply;
	bool in_message;		/* cursor is valid */
	struct eadm_rawdump raw;
	struct eadm_peers peers;	/* for the QPs of the current step */
	struct eadm_srqs srqs;		/* likewise */
	struct eadm_rdma_cursor cursor;
	/*
	 * For machine objects: the row about the machine, based on the row in rec if
	 * necessary.
	 */
	const struct eadm_object *machine;
	struct eadm_setup setup;
	/* The following members come last because they are large: see dump_new(). */
	struct eadm_record rec;
	struct eadm_record machine_rec;
};

int eadm_plan_note(struct eadm_dump *dump, int error, const char *device,
		   const char *what, const char *why) EADM_MUST_CHECK;
int eadm_plan_step(struct eadm_dump *dump, int how,
		   const struct eadm_device *dev, uint32_t port)
	EADM_MUST_CHECK;

/*
 * These plan the steps for all devices, for devices that the companion did not show,
 * and for rows that are not about a device.
 */
int eadm_plan(struct eadm_dump *dump) EADM_MUST_CHECK;
int eadm_plan_others(struct eadm_dump *dump) EADM_MUST_CHECK;
int eadm_plan_without_devices(struct eadm_dump *dump) EADM_MUST_CHECK;
int eadm_plan_gone(struct eadm_dump *dump, const char *name) EADM_MUST_CHECK;
bool eadm_plan_is_local(const struct eadm_object *object);

#endif /* EADM_PLAN_H */
