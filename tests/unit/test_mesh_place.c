// SPDX-License-Identifier: GPL-2.0-or-later
/* Rank, hosts and secret of a process of a mesh. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "tap.h"

static const char *const *environment;

static const char *get(const char *name)
{
	const char *const *p;

	for (p = environment; *p; p += 2) {
		if (!strcmp(p[0], name))
			return p[1];
	}
	return NULL;
}

static bool launched(const char *const *env, uint32_t rank, uint32_t ranks,
		     const char *launcher)
{
	struct place place = { 0 };
	char why[PLACE_WHY];

	environment = env;
	return !place_of_launcher(&place, get, why) && place.has_rank &&
	       place.rank == rank && place.has_ranks == (ranks != 0) &&
	       place.ranks == ranks && !strcmp(place.launcher, launcher);
}

static void check_launchers(void)
{
	static const char *const slurm[] = { "SLURM_PROCID", "3", "SLURM_NTASKS",
					     "8", NULL };
	static const char *const both[] = { "SLURM_PROCID", "0", "SLURM_NTASKS", "2",
					    "OMPI_COMM_WORLD_RANK", "1",
					    "OMPI_COMM_WORLD_SIZE", "4", NULL };
	static const char *const pmi[] = { "PMI_RANK", "2", "PMI_SIZE", "4", NULL };
	static const char *const job[] = { "JOB_COMPLETION_INDEX", "5", NULL };
	static const char *const bad[] = { "PMI_RANK", "-1", NULL };
	struct place place = { 0 };
	char why[PLACE_WHY];

	ok(launched(slurm, 3, 8, "Slurm"), "rank and ranks of Slurm");
	ok(launched(both, 1, 4, "Open MPI"), "Open MPI in an allocation of Slurm");
	ok(launched(pmi, 2, 4, "PMI"), "rank and ranks of PMI");
	ok(launched(job, 5, 0, "Kubernetes"), "the index of a Kubernetes job");
	environment = bad;
	ok(place_of_launcher(&place, get, why) &&
	   !strcmp(why, "PMI_RANK: '-1' is not a number"),
	   "a rank that is no number is refused");
	place = (struct place){ .has_rank = true, .rank = 4 };
	ok(place_check(&place, why) && strstr(why, "--ranks"),
	   "the number of ranks must be known");
	place = (struct place){ true, true, 4, 4, NULL, "" };
	ok(place_check(&place, why) && strstr(why, "below"),
	   "the rank must be below it");
}

static const char *file_of(const char *text, mode_t mode)
{
	static char path[] = "/tmp/test_mesh.XXXXXX";
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode))
		perror(path);
	close(fd);
	return path;
}

/* What is wrong, after the name of the file; "": nothing. */
static const char *hosts_of(const char *text, const char *self, struct place *place)
{
	static char why[PLACE_WHY];
	const char *path = file_of(text, 0600);

	*why = '\0';
	if (place_of_hosts(place, path, self, why))
		memmove(why, why + strlen(path), strlen(why + strlen(path)) + 1);
	unlink(path);
	return why;
}

static const char *hosts_say(const char *text, struct place *place)
{
	memset(place, 0, sizeof(*place));
	return hosts_of(text, "node2.example", place);
}

static void check_self(void)
{
	struct place place = { 0 };

	ok(!*hosts_of("Node1\nNODE2\n", "node2.example", &place) && place.rank == 1,
	   "names of hosts are compared without case");
	place = (struct place){ 0 };
	ok(!*hosts_of("node2.b\nnode2.example\n", "node2.example", &place) &&
	   place.rank == 1, "the full name of this host comes first");
	place = (struct place){ 0 };
	ok(!strcmp(hosts_of("node2.a\nnode2.b\n", "node2", &place),
		   ": several lines name this host, 'node2': add --rank"),
	   "a short name that several hosts have is refused");
	place = (struct place){ .has_rank = true, .rank = 0 };
	ok(!*hosts_of("node2.a\nnode2.b\n", "node2", &place),
	   "unless the rank is known");
	place = (struct place){ .has_ranks = true, .ranks = 3 };
	ok(!strcmp(hosts_of("node1\nnode2\n", "node2", &place),
		   ": the number of hosts is 2, but the number of ranks is 3"),
	   "a file with another number of hosts than --ranks is refused");
}

static void check_hosts(void)
{
	struct place place;

	ok(!*hosts_say("# all\nnode1\n\n node2 # here\nnode3", &place) &&
	   place.ranks == 3 && place.has_rank && place.rank == 1 &&
	   !strcmp(place.first, "node1"), "a file of hosts, and this host in it");
	ok(!strcmp(hosts_say("node1\nnode2 slots=2\n", &place),
		   ":2: more than one word"), "a line with two words is refused");
	ok(!strcmp(hosts_say("node1\n\nno;de\n", &place),
		   ":3: not a host name or address"), "a line that is no host");
	ok(!strcmp(hosts_say("a\nb\na\n", &place),
		   ":3: the file lists this host twice"), "a host that is there twice");
	ok(!strcmp(hosts_say("#\n", &place), ":1: no host in the file"),
	   "a file without hosts");
}

static bool secret_is(const char *text, mode_t mode, const char *want)
{
	const char *path = file_of(text, mode);
	char secret[SECRET_MAX], why[PLACE_WHY] = "";
	size_t len;
	int ret = secret_read(path, get, secret, &len, why);

	unlink(path);
	if (!ret && *want)
		return len == strlen(want) && !memcmp(secret, want, len);
	return ret && !*want;
}

/* As root only: others cannot give a file away. */
static bool owner_is_checked(void)
{
	const char *path = file_of("0123456789abcdef\n", 0600);
	char secret[SECRET_MAX], why[PLACE_WHY] = "";
	size_t len;
	bool good = geteuid() || (!chown(path, 65534, -1) &&
		    secret_read(path, get, secret, &len, why) &&
		    strstr(why, "owned by another user"));

	unlink(path);
	return good;
}

static void check_secrets(void)
{
	static const char *const env[] = { MESH_SECRET, "0123456789abcdef", NULL };
	static const char *const none[] = { NULL };
	char secret[SECRET_MAX], why[PLACE_WHY], text[SECRET_MAX + 100];
	size_t len;

	ok(secret_is("0123456789abcdef\n", 0600, "0123456789abcdef"),
	   "a secret in a file, without its line break");
	ok(secret_is("0123456789abcdef\n", 0640, ""),
	   "a file that other users can read is refused");
	ok(secret_is("short\n", 0600, ""), "a short secret is refused");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[SECRET_MAX - 1] = '\n';
	ok(secret_is(text, 0600, ""), "a long secret is refused, not cut");
	text[SECRET_MAX] = '\0';
	ok(!secret_is(text, 0600, "") && owner_is_checked(),
	   "the longest secret is accepted, from a file of this user only");
	environment = env;
	ok(!secret_read(NULL, get, secret, &len, why) && len == 16,
	   "a secret in the environment");
	environment = none;
	ok(secret_read(NULL, get, secret, &len, why) && strstr(why, "--secret"),
	   "no secret");
}

int main(void)
{
	check_launchers();
	check_hosts();
	check_self();
	check_secrets();
	return done();
}
