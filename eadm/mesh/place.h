/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rank of this process, the number of ranks, and the secret shared by all ranks. */
#ifndef MESH_PLACE_H
#define MESH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_WHY	320
#define SECRET_MIN	16	/* bytes */
#define SECRET_MAX	1024
#define MESH_SECRET	"EADM_MESH_SECRET"
#define MESH_RENDEZVOUS	"EADM_MESH_RENDEZVOUS"

struct place {
	bool has_rank, has_ranks;
	uint32_t rank, ranks;
	const char *launcher;	/* NULL: none */
	char first[256];	/* the first host in the file; "": none */
};

/*
 * Functions that return int return 0, or -1 with the reason in @why, which has
 * PLACE_WHY bytes.
 */

/*
 * Reads the launcher's environment with @get (getenv()); known values are not changed.
 */
int place_of_launcher(struct place *place, const char *(*get)(const char *name),
		      char *why);
/* Reads a file with one host per line, by rank; @self is the name of this host. */
int place_of_hosts(struct place *place, const char *path, const char *self,
		   char *why);
/* Checks that the rank and the number of ranks are known and consistent. */
int place_check(const struct place *place, char *why);

/*
 * Reads the secret from @path, or from the environment if @path is NULL. @secret has
 * SECRET_MAX bytes.
 */
int secret_read(const char *path, const char *(*get)(const char *name),
		char *secret, size_t *len, char *why);

#endif /* MESH_PLACE_H */
