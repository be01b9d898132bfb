/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Families of adapters: what they are called, and what their bytes mean. All of
 * it is data, generated from spec/families; what reads it (entry.c, context.c)
 * knows no adapter.
 */
#ifndef EADM_FAMILY_TABLES_H
#define EADM_FAMILY_TABLES_H

#include "base/base.h"
#include "eadm_nl.h"
#include "model/generated/fields.h"

enum eadm_order {
	EADM_LE,
	EADM_BE,
};

/* Bits of a word. */
struct eadm_bits {
	uint16_t offset;
	uint8_t size;		/* bytes of the word; 0: there are no such bits */
	uint8_t order;		/* enum eadm_order */
	uint8_t shift;
	uint8_t bits;		/* 0: all of them */
};

/* A number of the adapter and the one that eadm.yaml has for it. */
struct eadm_class {
	uint32_t raw;
	uint32_t class;
};

struct eadm_classes {
	bool flags;		/* each is a bit */
	unsigned int n;
	const struct eadm_class *list;
};

/* A member of an entry. */
struct eadm_item {
	uint8_t attr;		/* 0: not shown, but no payload either */
	uint8_t bytes;		/* shown as they are; 0: a number */
	struct eadm_bits at;
	const struct eadm_classes *classes;
};

/* Elements that follow: buffers, or addresses of pages. */
struct eadm_list {
	uint16_t offset;
	uint16_t size;		/* of one */
	uint8_t max;
	uint8_t attr;		/* of their number, 0: not shown */
	uint16_t inline_max;	/* bytes of payload in their place */
	struct eadm_bits count;
	struct eadm_bits in_line;	/* set: payload, count is its bytes */
	struct eadm_bits absent;	/* set: they are elsewhere */
	/* Of an element that is a buffer. */
	struct eadm_bits addr, length, key;
};

/* What an entry has by its operation. */
struct eadm_body {
	uint32_t op;
	bool any;		/* of all operations that are not before it */
	uint8_t n_members;
	const struct eadm_item *members;
	const struct eadm_list *list;
};

enum eadm_index {
	EADM_INDEX_FREE16,	/* counts modulo 2^16 */
	EADM_INDEX_FREE32,
	EADM_INDEX_LAP,		/* counts to twice the depth */
	EADM_INDEX_PHASE,	/* a bit of each entry changes with each lap */
};

/* Longest entry of any family, all its places. */
#define EADM_ENTRY_MAX 1024

/* The entries of a kind of queue. */
struct eadm_format {
	const char *name;
	uint32_t kind;		/* EADM_RAW_KIND_* */
	bool one;		/* of the queue "id" only */
	uint32_t id;
	uint16_t min_stride, max_stride;	/* bytes of a place */
	uint8_t places;		/* that an entry may take */
	uint8_t less;		/* what places_at says, less than the number of places */
	enum eadm_index index;
	bool payload;		/* an entry may have payload in it */
	bool slots;		/* what is no entry is the rest of one */
	struct eadm_bits places_at;
	struct eadm_bits after_at;	/* producer index behind the entry */
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

/* Of most families only the names are known. */
struct eadm_family {
	const char *name;
	const char *const *drivers;
	const char *const *modules;
	const char *provider;
	const char *interrupts;		/* how their names begin, or NULL */
	const char *middleware;		/* library above verbs, or NULL */
	uint32_t verbs_driver;		/* RDMA_DRIVER_*, 0: not needed */
	bool companion;			/* eadm's driver shows it to the companion */
	bool no_netdev;			/* no network interface belongs to it */
	bool no_cm;			/* rdma_cm does not connect it */
	bool no_qp_list;		/* RDMA netlink does not list all of its QPs */
	uint8_t vectors;		/* for completions, at most; 0: not known */
	/* Bits that indices of a kind of queue count in; 0: not known. */
	uint8_t index_bits[EADM_RAW_KIND_CMD_CQ + 1];
	unsigned int n_ids, n_formats, n_contexts, n_registers;
	const struct eadm_pci_id *ids;
	const struct eadm_format *formats;
	const struct eadm_context *contexts;
	const struct eadm_register *registers;
};

/* All of them, NULL at the end; those with a description first. */
extern const struct eadm_family *const eadm_families[];

const struct eadm_format *eadm_family_format(const struct eadm_family *family,
					     uint32_t kind, uint32_t id,
					     uint32_t stride);
bool eadm_family_is_command_cq(const struct eadm_family *family, uint32_t id);
const struct eadm_context *
eadm_family_context(const struct eadm_family *family, uint32_t kind);
const struct eadm_register *
eadm_family_register(const struct eadm_family *family, uint32_t offset);
bool eadm_bits_read(const struct eadm_bits *at, const unsigned char *p,
		    size_t len, uint64_t *value);

#endif /* EADM_FAMILY_TABLES_H */
