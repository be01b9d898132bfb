/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Families of adapters: their names, and the meaning of their bytes. This is pure data,
 * derived from spec/families; the code that reads it (entry.c, context.c) is
 * independent of adapters.
 */
#ifndef EADM_FAMILY_TABLES_H
#define EADM_FAMILY_TABLES_H

#include "base/base.h"
#include "base/bits.h"
#include "eadm_nl.h"
#include "model/fields.h"

/* A member of an entry. */
struct eadm_item {
	uint8_t attr;		/* 0: not shown, but not payload either */
	uint8_t bytes;		/* shown as raw bytes; 0: a number */
	struct eadm_bits at;
	const struct eadm_classes *classes;
};

/* Elements that follow: buffers or page addresses. */
struct eadm_list {
	uint16_t offset;
	uint16_t size;		/* size of one element */
	uint8_t max;
	uint8_t attr;		/* attribute for their number; 0: not shown */
	uint16_t inline_max;	/* bytes of payload in place of the elements */
	struct eadm_bits count;
	struct eadm_bits in_line;	/* nonzero: payload, whose length is count */
	struct eadm_bits absent;	/* nonzero: the elements are not in the entry */
	/* For elements that are buffers. */
	struct eadm_bits addr, length, key;
};

/* The part of an entry that depends on its operation. */
struct eadm_body {
	uint32_t op;
	bool any;		/* for all operations not listed before */
	uint8_t n_members;
	const struct eadm_item *members;
	const struct eadm_list *list;
};

enum eadm_index {
	EADM_INDEX_FREE16,	/* counts modulo 2^16 */
	EADM_INDEX_FREE32,
	EADM_INDEX_LAP,		/* counts up to twice the depth */
	EADM_INDEX_PHASE,	/* a bit in each entry changes with every lap */
};

/* Maximum size of an entry of any family, including all its places. */
#define EADM_ENTRY_MAX 1024

/* Format of the entries in a kind of queue. */
struct eadm_format {
	const char *name;
	uint32_t kind;		/* EADM_RAW_KIND_* */
	bool one;		/* only for the queue with number "id" */
	uint32_t id;
	uint16_t min_stride, max_stride;	/* bytes of a place */
	uint8_t places;		/* maximum number of places per entry */
	uint8_t less;		/* number of places minus the value of places_at */
	enum eadm_index index;
	bool payload;		/* entries may contain payload */
	bool slots;		/* a place without an entry's start belongs to the previous entry */
	struct eadm_bits places_at;
	struct eadm_bits after_at;	/* producer index after the entry */
	struct eadm_bits queue_at;
	struct eadm_bits owner_at;
	struct eadm_bits op_at;
	uint8_t n_members, n_bodies;
	const struct eadm_item *members;
	const struct eadm_body *bodies;
};

enum eadm_part_form {
	EADM_PART_DEC,
	EADM_PART_HEX,
	EADM_PART_IP,
	EADM_PART_LOG2,
};

/* A member of a context. */
struct eadm_part {
	struct eadm_bits at;
	uint8_t form;		/* enum eadm_part_form */
	const char *name;
};

struct eadm_context {
	uint32_t kind;		/* EADM_RAW_KIND_* */
	unsigned int n;
	const struct eadm_part *parts;
};

struct eadm_register {
	uint32_t offset;
	const char *name;
	const char *about;
};

struct eadm_pci_id {
	uint16_t vendor, device;
};

/* For most families, only the names are known. */
struct eadm_family {
	const char *name;
	const char *const *drivers;
	const char *const *modules;
	const char *provider;
	const char *interrupts;		/* prefix of their names, or NULL */
	const char *middleware;		/* library on top of verbs, or NULL */
	uint32_t verbs_driver;		/* RDMA_DRIVER_*; 0: not needed */
	bool companion;			/* eadm's driver supports the companion */
	bool no_netdev;			/* adapters have no network interface */
	bool no_cm;			/* rdma_cm cannot connect adapters */
	bool no_qp_list;		/* RDMA netlink does not list all QPs */
	uint8_t vectors;		/* maximum for completions; 0: unknown */
	uint8_t common_vectors;		/* vectors not used for completions */
	/* Number of bits in the indices of each kind of queue; 0: unknown. */
	uint8_t index_bits[EADM_RAW_KIND_COUNT];
	unsigned int n_ids, n_formats, n_contexts, n_registers;
	const struct eadm_pci_id *ids;
	const struct eadm_format *formats;
	const struct eadm_context *contexts;
	const struct eadm_register *registers;
};

/* All families, NULL-terminated; those with a description come first. */
extern const struct eadm_family *const eadm_families[];
/*
 * Folders with a socket for each program that emulates an adapter, of all families,
 * NULL-terminated.
 */
extern const char *const eadm_family_sockets[];

const struct eadm_format *eadm_family_format(const struct eadm_family *family,
					     uint32_t kind, uint32_t id,
					     uint32_t stride);
bool eadm_family_is_command_cq(const struct eadm_family *family, uint32_t id);
const struct eadm_context *
eadm_family_context(const struct eadm_family *family, uint32_t kind);
const struct eadm_register *
eadm_family_register(const struct eadm_family *family, uint32_t offset);
/* Returns true if adapters have a network interface, or if this is unknown. */
bool eadm_family_has_netdev(const struct eadm_family *family);
/*
 * Returns the library through which applications use an adapter; NULL: verbs, or
 * unknown.
 */
const char *eadm_family_middleware(const struct eadm_family *family);
/* Returns the maximum number of completion vectors; 0: unknown. */
unsigned int eadm_family_vectors(const struct eadm_family *family);
#endif /* EADM_FAMILY_TABLES_H */
