/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored rows, and their order. */
#ifndef ROWS_H
#define ROWS_H

#include "../cli.h"

#define MAX_SORT 8

struct sort {
	unsigned int n;
	struct {
		const struct eadm_field *field;
		bool down;
	} key[MAX_SORT + 2];
};

struct rows {
	struct eadm_record **row;
	size_t n, max;
};

int sort_init(struct cli *cli, const struct eadm_object *object,
	      struct sort *sort);
bool counter_growth(const struct eadm_field *field, uint64_t before,
		    uint64_t now, uint64_t *growth);
bool rows_add(struct rows *rows, const struct eadm_record *record);
void rows_sort(struct rows *rows, const struct sort *sort);
void rows_free(struct rows *rows);

#endif /* ROWS_H */
