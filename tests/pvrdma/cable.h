/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cable between two programs that are linked: it takes connections at one UNIX socket,
 * and passes bytes on to another one, until it is cut.
 */
#ifndef CABLE_H
#define CABLE_H

#include <stdbool.h>
#include <stdint.h>

struct cable;

/* The program ends if that is not possible. */
struct cable *cable_open(const char *path, const char *to);
void cable_close(struct cable *cable);
/* Passes on what there is; true: there was something. */
bool cable_run(struct cable *cable);
enum cable_way { CABLE_THERE, CABLE_BACK };

/* The connection ends once @bytes more have passed, away from who connected or back. */
void cable_cut(struct cable *cable, enum cable_way way, uint64_t bytes);
/* How many connections there were. */
unsigned int cable_count(const struct cable *cable);

#endif /* CABLE_H */
