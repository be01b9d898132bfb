// SPDX-License-Identifier: GPL-2.0-or-later
/* "eadm test mesh" without sockets: schedule, messages, ranks, results, rank 0. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hub.h"
#include "place.h"
#include "schedule.h"
#include "tap.h"

/* ---- schedule ------------------------------------------------------------------------ */

static bool is_tournament(uint32_t n)
{
	uint8_t *met = calloc(n, n);
	uint32_t round, a, b, seen = 0;
	bool good = true;

	for (round = 0; round < mesh_rounds(n); round++) {
		for (a = 0; a < n; a++) {
			b = mesh_partner(n, round, a);
			good = good && b < n && mesh_partner(n, round, b) == a;
			if (a == b)
				continue;
			good = good && !met[a * n + b] &&
			       mesh_round_of(n, a, b) == round &&
			       mesh_initiator(a, b) == mesh_initiator(b, a);
			met[a * n + b] = 1;
			seen++;
		}
	}
	free(met);
	return good && seen == n * (n - 1);
}

static void check_schedule(void)
{
	bool good = true;
	uint32_t n;

	for (n = 1; n < 100; n++)
		good = good && is_tournament(n) && mesh_rounds(n) <= n;
	ok(good, "each pair meets once, in at most as many rounds as hosts");
	ok(is_tournament(1000) && mesh_rounds(1000) == 999, "with 1000 hosts, too");
}

/* ---- frames -------------------------------------------------------------------------- */

static void lanes(struct lane *a, struct lane *b, const char *secret)
{
	static const uint8_t x[FRAME_NONCE] = { 1 }, y[FRAME_NONCE] = { 2 };

	lane_init(a, "a secret of all hosts", 21, x, y, true);
	lane_init(b, secret, strlen(secret), x, y, false);
}

static enum frame_result open_copy(struct lane *lane, const uint8_t *buf,
				   size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum frame_result result;
	struct frame frame;

	memcpy(copy, buf, len);
	result = frame_open(lane, copy, len, &frame);
	free(copy);
	return result;
}

static void check_frames(void)
{
	uint8_t buf[FRAME_ROOM], two[FRAME_ROOM], data[FRAME_MAX];
	struct lane a, b, other;
	struct frame frame;
	size_t len, i;
	bool good = true;

	memset(data, 7, sizeof(data));
	lanes(&a, &b, "a secret of all hosts");
	len = frame_seal(&a, 3, data, sizeof(data), buf);
	for (i = 0; i < len; i += 1 + i / 8)
		good = good && open_copy(&b, buf, i) == FRAME_MORE;
	ok(good, "a truncated message needs more bytes");
	for (i = 0; i < len; i += 1 + i / 16) {
		buf[i] ^= 1;
		good = good && open_copy(&b, buf, len) != FRAME_OK;
		buf[i] ^= 1;
	}
	ok(good, "a message with a changed bit is refused");
	ok(frame_open(&b, buf, len, &frame) == FRAME_OK && frame.kind == 3 &&
	   frame.len == FRAME_MAX && frame.total == len &&
	   !memcmp(frame.data, data, FRAME_MAX), "a message arrives unchanged");
	ok(open_copy(&b, buf, len) == FRAME_FORGED, "a message is accepted once");
	len = frame_seal(&a, 4, NULL, 0, buf);
	frame_seal(&a, 5, NULL, 0, two);
	ok(open_copy(&b, two, len) == FRAME_FORGED, "messages keep their order");
	ok(open_copy(&a, buf, len) == FRAME_FORGED,
	   "a message is not accepted by its sender");
	lanes(&a, &other, "another secret, not this");
	len = frame_seal(&a, 4, NULL, 0, buf);
	ok(open_copy(&other, buf, len) == FRAME_FORGED,
	   "a message with another secret is refused");
	memset(buf, 0xff, sizeof(buf));
	ok(open_copy(&b, buf, FRAME_HEADER) == FRAME_ALIEN,
	   "a message that is too long is refused at once");
}

static void check_challenge(void)
{
	uint8_t nonce[FRAME_NONCE] = "0123456789abcde", got[FRAME_NONCE];
	uint8_t buf[CHALLENGE_SIZE];

	challenge_write(nonce, buf);
	ok(challenge_read(buf, CHALLENGE_SIZE - 1, got) == FRAME_MORE &&
	   challenge_read(buf, sizeof(buf), got) == FRAME_OK &&
	   !memcmp(nonce, got, sizeof(got)), "a challenge arrives unchanged");
	ok(challenge_read((const uint8_t *)"SSH-", 4, got) == FRAME_ALIEN,
	   "another protocol is recognized by its first bytes");
}

/* ---- messages ------------------------------------------------------------------------ */

static void check_contents(void)
{
	const struct hello hello = { .rank = 3, .ranks = 9, .to = 1, .rails = 2,
				     .port = 777, .name = "node3", .why = "x" };
	const struct start start = { .ranks = 9, .bandwidth = true, .count = 100,
				     .size = 4096, .timeout = 5000 };
	const struct edge result = {
		.from = 1, .to = 2, .from_rail = 3, .to_rail = 4, .to_blamed = true,
		.cause = CAUSE_PORT, .min = 5, .p50 = 6, .p99 = 7, .lost = 8,
		.mtu = 4096, .rate = 1ULL << 40, .from_why = "here",
		.to_why = "there",
	};
	struct hello h = { 0 };
	struct start s = { 0 };
	struct edge r = { 0 };
	uint8_t buf[FRAME_MAX];
	bool good = true;
	size_t len, i;

	len = hello_write(&hello, buf);
	for (i = 0; i < len; i++)
		good = good && !hello_read(buf, i, &h);
	ok(good && hello_read(buf, len, &h) && !strcmp(h.name, "node3") &&
	   h.port == 777 && h.to == 1 && !strcmp(h.why, "x"),
	   "a hello arrives whole or not at all");
	buf[len - 1] = '\033';
	ok(!hello_read(buf, len, &h), "control characters are refused");
	len = start_write(&start, buf);
	ok(start_read(buf, len, &s) && !memcmp(&s, &start, sizeof(s)) &&
	   !start_read(buf, len - 1, &s), "options arrive unchanged");
	len = result_write(&result, buf);
	ok(len <= RESULT_MOST && result_read(buf, len, &r) == len &&
	   r.rate == result.rate && r.to_blamed && !r.reached &&
	   !strcmp(r.from_why, "here") && !strcmp(r.to_why, "there"),
	   "a result arrives unchanged");
	for (i = 0, good = true; i < len; i++)
		good = good && !result_read(buf, i, &r);
	ok(good, "a truncated result is refused");
}

/* For the sanitizers: random bytes are read, within their length. */
static void check_garbage(void)
{
	uint8_t *buf = malloc(700);
	struct roster roster;
	struct edge result;
	struct hello hello;
	struct start start;
	uint32_t number;
	uint8_t extra;
	unsigned int i;
	size_t len, j;
	bool good = true;

	srand(1);
	for (i = 0; i < 20000; i++) {
		len = rand() % 700;
		for (j = 0; j < len; j++)
			buf[j] = i % 2 ? rand() : rand() % 3;
		hello_read(buf, len, &hello);
		start_read(buf, len, &start);
		roster_read(buf, len, rand() % 40, &roster);
		number_read(buf, len, &number, &extra);
		good = good && result_read(buf, len, &result) <= len;
	}
	free(buf);
	ok(good, "random bytes are read within their length");
}

/* ---- ranks --------------------------------------------------------------------------- */

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
static const char *hosts_say(const char *text, struct place *place)
{
	static char why[PLACE_WHY];
	const char *path = file_of(text, 0600);

	memset(place, 0, sizeof(*place));
	*why = '\0';
	if (place_of_hosts(place, path, "node2.example", why))
		memmove(why, why + strlen(path), strlen(why + strlen(path)) + 1);
	unlink(path);
	return why;
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
		   ":3: the host is in the file twice"), "a host that is there twice");
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

static void check_secrets(void)
{
	static const char *const env[] = { MESH_SECRET, "0123456789abcdef", NULL };
	static const char *const none[] = { NULL };
	char secret[SECRET_MAX], why[PLACE_WHY];
	size_t len;

	ok(secret_is("0123456789abcdef\n", 0600, "0123456789abcdef"),
	   "a secret in a file, without its line break");
	ok(secret_is("0123456789abcdef\n", 0640, ""),
	   "a file that other users can read is refused");
	ok(secret_is("short\n", 0600, ""), "a short secret is refused");
	environment = env;
	ok(!secret_read(NULL, get, secret, &len, why) && len == 16,
	   "a secret in the environment");
	environment = none;
	ok(secret_read(NULL, get, secret, &len, why) && strstr(why, "--secret"),
	   "no secret");
}

/* ---- results ------------------------------------------------------------------------- */

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

/* ---- rank 0 -------------------------------------------------------------------------- */

static struct hub hub;
static uint64_t now;

static enum mesh_refusal join(uint32_t rank, uint32_t ranks)
{
	const struct hello hello = { .rank = rank, .ranks = ranks, .rails = 1,
				     .port = 5, .name = "n" };

	return hub_join(&hub, &hello, now);
}

static int take(uint32_t rank, uint8_t kind, const uint8_t *data, size_t len)
{
	const struct frame frame = { kind, data, len, len };

	return hub_take(&hub, rank, &frame, now);
}

static void begin(uint32_t n)
{
	const struct start start = { .ranks = n, .count = 1, .size = 1,
				     .timeout = 1000 };

	hub_free(&hub);
	now = 0;
	hub_init(&hub, &start, 1000, now);
}

static bool next_is(uint32_t rank, uint8_t kind, uint32_t number)
{
	uint8_t out[FRAME_MAX], extra;
	uint32_t got = 0;
	size_t len;

	return hub_next(&hub, rank, out, &len) == kind &&
	       (kind != MESSAGE_GONE && kind != MESSAGE_SKIPPED ? true :
		number_read(out, len, &got, &extra) && got == number);
}

static void check_joining(void)
{
	int ret;

	begin(3);
	ok(join(3, 3) == REFUSED_RANK && join(0, 4) == REFUSED_RANKS &&
	   join(0, 3) == REFUSED_NOTHING && join(0, 3) == REFUSED_TWICE,
	   "ranks that do not fit are refused");
	hub_lose(&hub, 0, CAUSE_DIED);
	ok(join(0, 3) == REFUSED_NOTHING, "before the tests, a rank may join again");
	join(1, 3);
	ok(next_is(0, 0, 0) && hub_tick(&hub, 10, &ret) == 1000 && !hub.running,
	   "the tests do not begin while a host is missing");
	hub_tick(&hub, 1000, &ret);
	ok(!ret && hub.running && join(2, 3) == REFUSED_LATE,
	   "they begin without it after a time");
	ok(next_is(0, MESSAGE_START, 0) && next_is(0, MESSAGE_ROSTER, 0) &&
	   next_is(0, MESSAGE_GONE, 2) && next_is(0, 0, 0),
	   "each member gets options, addresses and who is missing");
}

static void check_running(void)
{
	struct edge r = { .from = 1, .to = 0, .reached = true };
	uint8_t buf[RESULT_MOST];
	size_t len = result_write(&r, buf);
	int ret;

	ok(!take(1, MESSAGE_RESULTS, buf, len) &&
	   take(1, MESSAGE_RESULTS, buf, len) == -EPROTO &&
	   hub.table.n_directions == 1, "results are taken once");
	r.from = 2;
	len = result_write(&r, buf);
	ok(take(1, MESSAGE_RESULTS, buf, len) == -EPROTO,
	   "a member reports only what it took part in");
	ok(take(1, MESSAGE_RESULTS, buf, len - 1) == -EPROTO &&
	   take(1, MESSAGE_START, NULL, 0) == -EPROTO, "other messages are refused");
	len = number_write(0, 0, buf);
	ok(!take(1, MESSAGE_SKIP, buf, len) && next_is(0, MESSAGE_SKIPPED, 1),
	   "a pair that a host gives up is skipped by the other one");
	now = 2000000000;
	take(0, MESSAGE_BEAT, buf, len);
	next_is(1, MESSAGE_START, 0);
	next_is(1, MESSAGE_ROSTER, 0);
	next_is(1, MESSAGE_GONE, 2);
	now = 4000000000;
	hub_tick(&hub, now, &ret);
	ok(next_is(0, MESSAGE_GONE, 1) && !hub_is_over(&hub),
	   "a member without signs of life is given up");
	ok(!take(0, MESSAGE_DONE, NULL, 0) && next_is(0, MESSAGE_BYE, 0) &&
	   next_is(0, 0, 0) && hub_is_over(&hub), "the mesh ends with its last member");
	hub_lose(&hub, 0, CAUSE_DIED);
	ok(hub.members[0].state == MEMBER_DONE, "one that has finished may leave");
	hub_free(&hub);
}

/* ---- causes -------------------------------------------------------------------------- */

static void check_causes(void)
{
	ok(cause_of("port 1 of rxe0 is not active") == CAUSE_PORT &&
	   cause_of("520 KiB of memory: Cannot allocate memory (see ulimit -l)") ==
	   CAUSE_LIMIT &&
	   cause_of("route failed: from rxe0, GID 1 (::1), to GID ::2: Connection timed out (no neighbour has this address)") ==
	   CAUSE_NEIGHBOUR &&
	   cause_of("route failed: from rxe0, GID 1 (::1), to GID ::2: Network is unreachable") ==
	   CAUSE_ROUTE && cause_of("anything") == CAUSE_OTHER,
	   "causes of failures that eadm test describes");
	ok(cause_is_local(CAUSE_PORT) && !cause_is_local(CAUSE_LOST),
	   "some causes lie in the end that reports them");
}

int main(void)
{
	if (nettle_open())
		return !ok(false, "libnettle is missing");
	check_schedule();
	check_frames();
	check_challenge();
	check_contents();
	check_garbage();
	check_launchers();
	check_hosts();
	check_secrets();
	check_table();
	check_joining();
	check_running();
	check_causes();
	return done();
}
