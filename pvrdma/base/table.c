// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "table.h"

int table_init(struct table *table, uint32_t first, uint32_t size)
{
	*table = (struct table){ .first = first, .size = size };
	table->objects = calloc(size ? size : 1, sizeof(*table->objects));
	return table->objects ? 0 : -ENOMEM;
}

void table_exit(struct table *table)
{
	free(table->objects);
	*table = (struct table){ 0 };
}

int64_t table_add_below(struct table *table, uint32_t limit, void *object)
{
	uint32_t size = limit > table->first ? limit - table->first : 0, i, at;

	if (size > table->size)
		size = table->size;
	for (i = 0; i < size; i++) {
		at = (table->next + i) % size;
		if (table->objects[at])
			continue;
		table->objects[at] = object;
		table->used++;
		table->next = (at + 1) % table->size;
		return (int64_t)table->first + at;
	}
	return -ENOSPC;
}

int64_t table_add(struct table *table, void *object)
{
	return table->used == table->size ? -ENOSPC : table_add_below(table, UINT32_MAX, object);
}

bool table_put(struct table *table, uint32_t number, void *object)
{
	uint32_t at = number - table->first;

	if (at >= table->size || table->objects[at])
		return false;
	table->objects[at] = object;
	table->used++;
	return true;
}

void *table_get(const struct table *table, uint32_t number)
{
	uint32_t at = number - table->first;

	return at < table->size ? table->objects[at] : NULL;
}

void *table_del(struct table *table, uint32_t number)
{
	void *object = table_get(table, number);

	if (object) {
		table->objects[number - table->first] = NULL;
		table->used--;
	}
	return object;
}

void *table_next(const struct table *table, uint32_t *number)
{
	uint32_t at = *number > table->first ? *number - table->first : 0;

	for (; at < table->size; at++) {
		if (!table->objects[at])
			continue;
		*number = table->first + at;
		return table->objects[at];
	}
	return NULL;
}
