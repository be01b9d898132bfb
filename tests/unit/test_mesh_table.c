// SPDX-License-Identifier: GPL-2.0-or-later
/* Results at rank 0. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tap.h"

static void check_table(void)
{
	struct edge r = { .from = 1, .to = 2, .reached = true, .p50 = 5 };
	uint32_t i, j;
	struct mesh_table t;

	ok(table_init(&t, MESH_MAX_HOSTS, MESH_MAX_RAILS, true) == -E2BIG,
	   "results that need too much memory are refused");
	ok(!table_init(&t, 300, 1, false) && !table_add(&t, &r) &&
	   table_add(&t, &r) == -EINVAL, "a direction is reported once");
	r.to = 300;
	ok(table_add(&t, &r) == -EINVAL, "a host that does not exist is refused");
	table_free(&t);
	table_init(&t, 300, 1, false);
	for (i = 0; i < 300; i++) {
		for (j = 0; j < 300; j++) {
			r = (struct edge){ .from = i, .to = j, .reached = true,
					     .p50 = 1 + (i * 300 + j) * 7919 % 90001 };
			r.reached = i * 300 + j != 77;
			if (i != j)
				table_add(&t, &r);
		}
	}
	table_sort(&t);
	for (i = 1, j = 1; i < t.n_rows; i++)
		j = j && t.rows[i].p50 <= t.rows[i - 1 + (i == 1)].p50;
	ok(t.n_rows == TABLE_MAX_ROWS && j && !t.rows[0].reached &&
	   t.rows[t.n_rows - 1].p50 > 20000, "beyond the limit, the worst rows stay");
	table_free(&t);
}

int main(void)
{
	check_table();
	return done();
}
