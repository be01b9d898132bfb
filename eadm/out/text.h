/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells as text. */
#ifndef TEXT_H
#define TEXT_H

#include "columns.h"

int text_of_cell(const struct column *col, const struct cell *cell, char *buf,
		 size_t size);

#endif /* TEXT_H */
