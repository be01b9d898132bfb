/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks: captures of one snapshot that are stored under a name. */
#ifndef MARKS_H
#define MARKS_H

#include <stdbool.h>
#include <stddef.h>

#define MARK_PATH_MAX 4096

bool mark_is_name(const char *name);
bool mark_folder(char *path, size_t size);
bool mark_path(const char *name, char *path, size_t size);

#endif /* MARKS_H */
