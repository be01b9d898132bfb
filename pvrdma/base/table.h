/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects by number. A freed number is reused as late as possible: what is
 * still in flight for an object must not reach the next one.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table {
	void **objects;
	/* Numbers are first to first + size - 1. */
	uint32_t first, size;
	/* Where the search for the next number begins, and how many are in use. */
	uint32_t next, used;
};

/* 0 or -ENOMEM. */
int table_init(struct table *table, uint32_t first, uint32_t size);
/* The objects stay with the caller. */
void table_exit(struct table *table);

/* The object's number; or -ENOSPC. */
int64_t table_add(struct table *table, void *object);
/* The same below @limit. */
int64_t table_add_below(struct table *table, uint32_t limit, void *object);
/* At a number chosen by the caller: false if it is in use or out of range. */
bool table_put(struct table *table, uint32_t number, void *object);
void *table_get(const struct table *table, uint32_t number);
/* The object that had the number, or NULL. */
void *table_del(struct table *table, uint32_t number);
/* The first object from @number on, which is updated; NULL: none. */
void *table_next(const struct table *table, uint32_t *number);

#endif /* BASE_TABLE_H */
