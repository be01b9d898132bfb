/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects by number. A freed number is reused as late as possible, because requests still
 * in flight for an object must not reach the next object with its number.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table {
	void **objects;
	/* Numbers are first to first + size - 1. */
	uint32_t first, size;
	/* Number at which the next search begins; count of numbers in use. */
	uint32_t next, used;
};

/* 0 or -ENOMEM. */
int table_init(struct table *table, uint32_t first, uint32_t size);
/* Frees the table; the objects still belong to the caller. */
void table_exit(struct table *table);

/* Returns the object's number, or -ENOSPC. */
int64_t table_add(struct table *table, void *object);
/* Adds an object with a number below @limit. */
int64_t table_add_below(struct table *table, uint32_t limit, void *object);
/* Adds an object at @number. Returns false if that number is in use or out of range. */
bool table_put(struct table *table, uint32_t number, void *object);
void *table_get(const struct table *table, uint32_t number);
/* Returns the object that had the number, or NULL. */
void *table_del(struct table *table, uint32_t number);
/*
 * Returns the first object from *@number on and updates *@number, or NULL if there is
 * none.
 */
void *table_next(const struct table *table, uint32_t *number);

#endif /* BASE_TABLE_H */
