/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function that does next to nothing, behind a vfio-user socket. */
#ifndef DUMMY_H
#define DUMMY_H

#include "vfio.h"

#define DUMMY_VENDOR 0x1234
#define DUMMY_DEVICE 0x0ead
#define DUMMY_VECTORS 3
#define DUMMY_BAR_SIZE 4096
/* MSI-X table and pending bits are in BAR 0, registers in BAR 1. */
#define DUMMY_PBA 2048

/* Registers of 4 bytes. */
enum dummy_register {
	DUMMY_ID = 0x00,
	/* Reads as the complement of what was written. */
	DUMMY_COMPLEMENT = 0x04,
	DUMMY_ADDRESS_LOW = 0x08,
	DUMMY_ADDRESS_HIGH = 0x0c,
	/* Adds what is written to the word at the address, sends vector 0. */
	DUMMY_ADD = 0x10,
	/* errno of the last addition. */
	DUMMY_STATUS = 0x14,
	/* The reply to this write is late by so many milliseconds. */
	DUMMY_DELAY = 0x18,
	/* Writes to this BAR, and how many of them were posted. */
	DUMMY_WRITES = 0x1c,
	DUMMY_POSTED = 0x20,
};

#define DUMMY_ID_VALUE 0x6d646165u

struct dummy {
	struct vfio *vfio;
	/* Prints what happens, or NULL. */
	void (*trace)(const char *line);
	uint32_t complement, low, high, status;
	/* What was called. */
	unsigned int resets, mapped, unmapped, came, gone, commands, logs;
	size_t largest;
	bool mastering, memory;
	uint64_t unmapped_address, unmapped_size;
	char last_log[256];
};

extern const struct vfio_function dummy_function;
extern const struct vfio_ops dummy_ops;

#endif /* DUMMY_H */
