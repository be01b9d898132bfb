// SPDX-License-Identifier: GPL-2.0-or-later
#include "place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define MAX_LINE 256

/*
 * MPI comes before Slurm: in a Slurm allocation, processes started by mpirun inherit
 * Slurm's variables from the daemon of mpirun.
 */
static const struct {
	const char *name, *rank, *ranks;
} launchers[] = {
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI", "PMI_RANK", "PMI_SIZE" },
	{ "Slurm", "SLURM_PROCID", "SLURM_NTASKS" },
	{ "PMIx", "PMIX_RANK", NULL },
	{ "Kubernetes", "JOB_COMPLETION_INDEX", NULL },
};

/* ---- launchers ----------------------------------------------------------------------- */

static int take_number(const char *name, const char *text, uint32_t *value,
		       char *why)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno &&
	    number <= UINT32_MAX) {
		*value = number;
		return 0;
	}
	snprintf(why, PLACE_WHY, "%s: '%.60s' is not a number", name, text);
	return -1;
}

int place_of_launcher(struct place *place, const char *(*get)(const char *name),
		      char *why)
{
	const char *rank = NULL, *ranks;
	size_t i;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		rank = get(launchers[i].rank);
		if (rank)
			break;
	}
	if (!rank)
		return 0;
	place->launcher = launchers[i].name;
	if (!place->has_rank &&
	    take_number(launchers[i].rank, rank, &place->rank, why))
		return -1;
	place->has_rank = true;
	ranks = launchers[i].ranks ? get(launchers[i].ranks) : NULL;
	if (!ranks || place->has_ranks)
		return 0;
	place->has_ranks = true;
	return take_number(launchers[i].ranks, ranks, &place->ranks, why);
}

/* ---- host file ----------------------------------------------------------------------- */

struct hosts {
	const char *path, *self;
	char (*names)[MAX_LINE];
	uint32_t n;
	unsigned int line;
};

static int bad_line(const struct hosts *h, const char *what, char *why)
{
	snprintf(why, PLACE_WHY, "%s:%u: %s", h->path, h->line, what);
	return -1;
}

static bool is_host(const char *name)
{
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && !strchr(".-_:%", *name))
			return false;
	}
	return true;
}

/* Parse at most one name, and a comment. */
static int take_line(struct hosts *h, char *line, char *why)
{
	char *name = line + strspn(line, " \t\r\n"), *end;
	uint32_t i;

	name[strcspn(name, "#")] = '\0';
	end = name + strcspn(name, " \t\r\n");
	if (end == name)
		return 0;
	if (end[strspn(end, " \t\r\n")])
		return bad_line(h, "more than one word", why);
	*end = '\0';
	if (!is_host(name))
		return bad_line(h, "not a host name or address", why);
	for (i = 0; i < h->n; i++) {
		if (!strcasecmp(h->names[i], name))
			return bad_line(h, "the file lists this host twice", why);
	}
	if (h->n == MESH_MAX_HOSTS)
		return bad_line(h, "too many hosts", why);
	strcpy(h->names[h->n++], name);
	return 0;
}

static int read_hosts(struct hosts *h, FILE *file, char *why)
{
	char line[MAX_LINE];
	size_t len;

	while (fgets(line, sizeof(line), file)) {
		h->line++;
		len = strlen(line);
		if (len == sizeof(line) - 1 && line[len - 1] != '\n')
			return bad_line(h, "the line is too long", why);
		if (take_line(h, line, why))
			return -1;
	}
	if (ferror(file)) {
		snprintf(why, PLACE_WHY, "%s: %s", h->path, strerror(errno));
		return -1;
	}
	if (!h->n)
		return bad_line(h, "no host in the file", why);
	return 0;
}

/* Returns true if @name is this host, without the domain if either name has none. */
static bool is_short_self(const struct hosts *h, const char *name)
{
	size_t len = strcspn(name, ".");

	return strcspn(h->self, ".") == len && !strncasecmp(name, h->self, len) &&
	       (!name[len] || !h->self[len]);
}

static int find_self(struct place *place, const struct hosts *h, char *why)
{
	uint32_t i, n = 0;

	for (i = 0; i < h->n; i++) {
		if (!strcasecmp(h->names[i], h->self)) {
			place->rank = i;
			n = 1;
			break;
		}
		if (!is_short_self(h, h->names[i]))
			continue;
		place->rank = i;
		n++;
	}
	place->has_rank = n;
	if (n < 2)
		return 0;
	snprintf(why, PLACE_WHY, "%s: several lines name this host, '%.60s': add --rank",
		 h->path, h->self);
	return -1;
}

static int use_hosts(struct place *place, const struct hosts *h, char *why)
{
	if (place->has_ranks && place->ranks != h->n) {
		snprintf(why, PLACE_WHY, "%s: the number of hosts is %u, but the number of ranks is %u",
			 h->path, h->n, place->ranks);
		return -1;
	}
	place->has_ranks = true;
	place->ranks = h->n;
	strcpy(place->first, h->names[0]);
	return place->has_rank ? 0 : find_self(place, h, why);
}

int place_of_hosts(struct place *place, const char *path, const char *self,
		   char *why)
{
	struct hosts h = { .path = path, .self = self };
	FILE *file = fopen(path, "re");
	int ret;

	if (!file) {
		snprintf(why, PLACE_WHY, "%s: %s", path, strerror(errno));
		return -1;
	}
	h.names = calloc(MESH_MAX_HOSTS, sizeof(*h.names));
	ret = h.names ? read_hosts(&h, file, why) : -1;
	if (!h.names)
		snprintf(why, PLACE_WHY, "out of memory");
	if (!ret)
		ret = use_hosts(place, &h, why);
	free(h.names);
	fclose(file);
	return ret;
}

int place_check(const struct place *place, char *why)
{
	if (!place->has_rank)
		snprintf(why, PLACE_WHY, "the rank is unknown: use a launcher, or --rank");
	else if (!place->has_ranks)
		snprintf(why, PLACE_WHY, "the number of ranks is unknown: add --ranks");
	else if (place->ranks < 2 || place->ranks > MESH_MAX_HOSTS)
		snprintf(why, PLACE_WHY, "--ranks %u: must be from 2 to %u", place->ranks,
			 MESH_MAX_HOSTS);
	else if (place->rank >= place->ranks)
		snprintf(why, PLACE_WHY, "rank %u: must be below the number of ranks, %u",
			 place->rank, place->ranks);
	else
		return 0;
	return -1;
}

/* ---- the secret ---------------------------------------------------------------------- */

static int secret_of_file(const char *path, char *secret, size_t *len, char *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[SECRET_MAX + 1];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, PLACE_WHY, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		snprintf(why, PLACE_WHY, "%s: not a regular file", path);
	} else if (st.st_uid != geteuid() && st.st_uid) {
		snprintf(why, PLACE_WHY, "%s: owned by another user", path);
	} else if (st.st_mode & 077) {
		snprintf(why, PLACE_WHY,
			 "%s: mode %04o: must be accessible only to its owner (chmod 600)",
			 path, st.st_mode & 07777);
	} else {
		n = read(fd, text, sizeof(text));
		if (n < 0)
			snprintf(why, PLACE_WHY, "%s: %s", path, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	/* A file that is too long is not truncated, but refused. */
	while (n && n <= SECRET_MAX && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	*len = n < SECRET_MAX ? n : SECRET_MAX;
	memcpy(secret, text, *len);
	explicit_bzero(text, sizeof(text));
	return 0;
}

int secret_read(const char *path, const char *(*get)(const char *name),
		char *secret, size_t *len, char *why)
{
	const char *text = path ? NULL : get(MESH_SECRET);

	if (!path && !text) {
		snprintf(why, PLACE_WHY, "no secret: set " MESH_SECRET ", or use --secret");
		return -1;
	}
	if (path) {
		if (secret_of_file(path, secret, len, why))
			return -1;
	} else {
		*len = strnlen(text, SECRET_MAX);
		memcpy(secret, text, *len);
	}
	if (*len >= SECRET_MIN && *len < SECRET_MAX)
		return 0;
	snprintf(why, PLACE_WHY, "%s: the secret must have %d to %d bytes",
		 path ? path : MESH_SECRET, SECRET_MIN, SECRET_MAX - 1);
	return -1;
}
