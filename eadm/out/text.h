/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as text. */
#ifndef TEXT_H
#define TEXT_H

#include "columns.h"

int text_of_value(const struct column *col, const struct eadm_value *value,
		  char *buf, size_t size);

#endif /* TEXT_H */
