// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes of a mesh on this host, with sockets and without adapters: rank 0, members,
 * and this process, which is a member that behaves in another way.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "member.h"
#include "pair.h"
#include "server.h"
#include "signals.h"
#include "tap.h"

#define MOST 8
#define TIMEOUT_MS 500

/* What rank 0 found. */
struct outcome {
	int ret;
	uint32_t directions, failed;
	uint8_t gone[MOST];
};

struct scene {
	uint32_t n;
	uint16_t port;
	int listener;
	pid_t server, members[MOST];
};

static const struct secret secret = { "0123456789abcdef", 16 };
static struct outcome *outcome;		/* shared with rank 0 */

/* ---- what the program has otherwise -------------------------------------------------- */

void note(struct cli *cli, const char *fmt, ...)
{
	(void)cli;
	(void)fmt;
}

void progress(struct cli *cli, const char *what, unsigned long long n)
{
	(void)cli;
	(void)what;
	(void)n;
}

void progress_end(struct cli *cli)
{
	(void)cli;
}

/* Nothing listens at the first one of two addresses. */
int getaddrinfo(const char *restrict node, const char *restrict service,
		const struct addrinfo *restrict hints,
		struct addrinfo **restrict found)
{
	static struct sockaddr_in v4[2];
	static struct sockaddr_in6 local;
	static struct addrinfo list[2];
	bool two = !strcmp(node, "two addresses");
	int i;

	(void)hints;
	for (i = 0; i < 2; i++) {
		v4[i] = (struct sockaddr_in){
			.sin_family = AF_INET,
			.sin_port = htons(two && !i ? 1 : atoi(service)),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
		list[i] = (struct addrinfo){
			.ai_family = AF_INET, .ai_addrlen = sizeof(v4[i]),
			.ai_addr = (struct sockaddr *)&v4[i],
			.ai_next = two && !i ? &list[1] : NULL,
		};
	}
	if (!strncmp(node, "fe80:", 5)) {
		local.sin6_addr.s6_addr[0] = 0xfe;
		local.sin6_addr.s6_addr[1] = 0x80;
		list[0].ai_family = AF_INET6;
		list[0].ai_addr = (struct sockaddr *)&local;
	}
	*found = list;
	return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
	(void)found;
}

void pair_without(const struct pair *pair, enum mesh_cause cause, const char *why,
		  struct edge results[2])
{
	memset(results, 0, 2 * sizeof(*results));
	results[0].from = results[1].to = pair->here;
	results[1].from = results[0].to = pair->there;
	results[0].from_rail = results[1].to_rail = pair->rail;
	results[1].from_rail = results[0].to_rail = pair->peer_rail;
	results[0].cause = results[1].cause = cause;
	snprintf(results[0].from_why, MESH_WHY, "%s", why);
}

/* Two adapters that work. */
int pair_run(const struct pair *pair, struct edge results[2])
{
	struct view mine = { .ok = true }, theirs;

	pair_without(pair, CAUSE_NONE, "", results);
	results[0].reached = results[1].reached = true;
	for (mine.step = 1; mine.step <= 3; mine.step++) {
		if (pair->swap(pair->context, &mine, &theirs) ||
		    theirs.step != mine.step)
			return -1;
	}
	return 0;
}

/* ---- processes ----------------------------------------------------------------------- */

static void serve(const struct scene *scene, void (*tune)(struct hub *hub))
{
	const struct start start = { .ranks = scene->n, .count = 1, .size = 64,
				     .timeout = TIMEOUT_MS };
	struct hub hub;
	uint32_t i;

	hub_init(&hub, &start, 10000000000, monotonic_ns());
	if (tune)
		tune(&hub);
	outcome->ret = server_run(NULL, &hub, &secret, scene->listener);
	outcome->directions = hub.table.n_directions;
	outcome->failed = hub.table.n_failed;
	for (i = 0; i < scene->n; i++)
		outcome->gone[i] = hub.members[i].gone;
	hub_free(&hub);
	_exit(0);
}

static struct scene begin(uint32_t n, void (*tune)(struct hub *hub))
{
	struct scene scene = { .n = n };

	memset(outcome, 0xff, sizeof(*outcome));
	scene.listener = channel_listen(&scene.port);
	fflush(stdout);
	scene.server = fork();
	if (!scene.server)
		serve(&scene, tune);
	close(scene.listener);
	return scene;
}

static struct member *new_member(uint32_t rank, uint32_t ranks, uint16_t to)
{
	static struct test test = { .timeout = TIMEOUT_MS * 1000000ULL };
	static char port[8];
	struct member *m = calloc(1, sizeof(*m));

	snprintf(port, sizeof(port), "%u", to);
	m->test = &test;
	m->secret = &secret;
	m->rank = rank;
	m->ranks = ranks;
	m->rendezvous = "127.0.0.1";
	m->port = port;
	m->wait = 5000000000;
	m->rails.n = 1;
	return m;
}

static void start_member(struct scene *scene, uint32_t rank)
{
	fflush(stdout);
	scene->members[rank] = fork();
	if (!scene->members[rank])
		_exit(rounds_run(new_member(rank, scene->n, scene->port)));
}

/* True if rank 0 ends by itself within @seconds. */
static bool ends(struct scene *scene, double seconds)
{
	uint64_t until = monotonic_ns() + (uint64_t)(seconds * 1e9);

	while (monotonic_ns() < until) {
		if (waitpid(scene->server, NULL, WNOHANG) == scene->server) {
			scene->server = 0;
			return true;
		}
		usleep(10000);
	}
	return false;
}

static void stop(pid_t pid)
{
	if (!pid)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void end(struct scene *scene)
{
	uint32_t i;

	stop(scene->server);
	for (i = 0; i < MOST; i++)
		stop(scene->members[i]);
}

/* ---- this process as a member -------------------------------------------------------- */

static bool wait_for(struct channel *ch, short events, int ms)
{
	struct pollfd pfd = { ch->fd, events, 0 };

	return poll(&pfd, 1, ms) > 0;
}

static bool call(struct channel *ch, uint16_t port)
{
	struct sockaddr_storage to;
	struct in6_addr addr;

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &addr);
	channel_address(&addr, port, &to);
	return !channel_connect(ch, &to, 5000) && wait_for(ch, POLLOUT, 2000) &&
	       !channel_connected(ch);
}

/* Wait for the challenge, without a reply to it. */
static bool is_challenged(struct channel *ch)
{
	while (ch->n_in < CHALLENGE_SIZE) {
		if (!wait_for(ch, POLLIN, 2000) || channel_fill(ch))
			return false;
	}
	return true;
}

static uint16_t own_port = 9;	/* by which partners reach this process */

static bool introduce(struct channel *ch, const struct scene *scene, uint32_t rank,
		      uint32_t to)
{
	struct hello hello = { .rank = rank, .ranks = scene->n, .to = to,
			       .rails = 1, .port = own_port, .name = "test" };

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &hello.addr);
	return channel_greet(ch, &secret, &hello) == 1;
}

static bool join(struct channel *ch, const struct scene *scene, uint32_t rank)
{
	return call(ch, scene->port) && is_challenged(ch) &&
	       introduce(ch, scene, rank, 0);
}

/* The next message within @ms; 0: none, or the connection was closed. */
static uint8_t next(struct channel *ch, struct frame *frame, int ms)
{
	int ret;

	while (!(ret = channel_take(ch, frame))) {
		if (!wait_for(ch, POLLIN, ms) || channel_fill(ch))
			return 0;
	}
	return ret > 0 ? frame->kind : 0;
}

/* Ports of all members, when the tests begin. */
static bool learn_ports(struct channel *ch, const struct scene *scene,
			uint16_t *ports)
{
	struct roster entry;
	struct frame frame;
	uint32_t i;
	uint8_t kind;

	while ((kind = next(ch, &frame, 5000)) && kind != MESSAGE_ROSTER)
		;
	for (i = 0; kind && i < scene->n; i++) {
		if (!roster_read(frame.data, frame.len, i, &entry))
			return false;
		ports[i] = entry.port;
	}
	return kind;
}

/* ---- scenes -------------------------------------------------------------------------- */

static void check_mesh(void)
{
	struct scene scene = begin(5, NULL);
	uint32_t i;

	for (i = 0; i < 5; i++)
		start_member(&scene, i);
	ok(ends(&scene, 10) && !outcome->ret && outcome->directions == 20 &&
	   !outcome->failed, "all members test with all others");
	end(&scene);
}

/* Rank 2 connects to rank 0, is accepted, and fails before anything else. */
static void check_lost_partner(void)
{
	struct scene scene = begin(3, NULL);
	struct channel hub = { .fd = -1 }, peer = { .fd = -1 };
	uint16_t ports[3];

	start_member(&scene, 0);
	start_member(&scene, 1);
	ok(join(&hub, &scene, 2) && learn_ports(&hub, &scene, ports) &&
	   call(&peer, ports[0]) && is_challenged(&peer), "a partner is accepted");
	channel_close(&peer);
	channel_send(&hub, MESSAGE_DONE, NULL, 0);
	/* Rank 1 calls rank 2, where nothing listens. */
	ok(ends(&scene, 8) && outcome->directions == 4 && outcome->failed == 2 &&
	   !outcome->gone[0],
	   "a partner that failed and finished is not awaited");
	channel_close(&hub);
	end(&scene);
}

/* Rank 0 takes its time with a step while the hello of rank 2 waits. */
static void check_late_hello(void)
{
	struct scene scene = begin(3, NULL);
	struct channel hub = { .fd = -1 }, peer = { .fd = -1 };
	struct frame frame;
	uint16_t ports[3];
	bool good;

	start_member(&scene, 0);
	start_member(&scene, 1);
	good = join(&hub, &scene, 2) && learn_ports(&hub, &scene, ports) &&
	       call(&peer, ports[0]) && is_challenged(&peer);
	kill(scene.members[0], SIGSTOP);
	good = good && introduce(&peer, &scene, 2, 0);
	usleep((CHANNEL_HELLO_NS + 300000000) / 1000);
	kill(scene.members[0], SIGCONT);
	ok(good && next(&peer, &frame, 4000) == MESSAGE_VIEW,
	   "a hello that came in time is accepted by a member that was busy");
	channel_close(&peer);
	channel_close(&hub);
	end(&scene);
}

static bool take_call(struct channel *ch, int listener)
{
	struct pollfd pfd = { listener, POLLIN, 0 };
	struct hello hello;
	int ret = 0;

	if (poll(&pfd, 1, 5000) <= 0 || channel_accept(ch, listener, 5000))
		return false;
	while (!ret && wait_for(ch, POLLIN, 2000) && !channel_fill(ch))
		ret = channel_admit(ch, &secret, &hello);
	return ret > 0;
}

static void check_second_call(void)
{
	struct scene scene = begin(2, NULL);
	struct channel hub = { .fd = -1 }, peer = { .fd = -1 };
	uint16_t port = 0, ports[2];
	int listener = channel_listen(&port);
	struct frame frame;
	bool good;

	start_member(&scene, 0);
	own_port = port;
	good = join(&hub, &scene, 1) && learn_ports(&hub, &scene, ports) &&
	       take_call(&peer, listener);
	own_port = 9;
	channel_close(&peer);
	ok(good && take_call(&peer, listener) && next(&peer, &frame, 4000) == MESSAGE_VIEW,
	   "a partner that closes the connection before its first view is called again");
	channel_close(&peer);
	channel_close(&hub);
	close(listener);
	end(&scene);
}

static void impatient(struct hub *hub)
{
	hub->silence = 400000000;
}

static void check_zombie(void)
{
	struct scene scene = begin(2, impatient);
	struct channel old, new;
	struct frame frame;
	bool good = join(&old, &scene, 1);

	ok(good && next(&old, &frame, 3000) == MESSAGE_REFUSED &&
	   frame.data[4] == REFUSED_HUNG && !next(&old, &frame, 1000),
	   "a member that hangs before the tests is disconnected, with the reason");
	good = join(&new, &scene, 1);
	start_member(&scene, 0);
	ok(good && next(&new, &frame, 3000) == MESSAGE_START,
	   "its rank may join again");
	channel_close(&old);
	channel_close(&new);
	end(&scene);
}

static void check_lingering(void)
{
	struct scene scene = begin(2, NULL);
	struct channel hub;
	uint16_t ports[2];
	struct frame frame;

	start_member(&scene, 1);
	ok(join(&hub, &scene, 0) && learn_ports(&hub, &scene, ports) &&
	   !channel_send(&hub, MESSAGE_DONE, NULL, 0) &&
	   next(&hub, &frame, 3000) == MESSAGE_BYE && ends(&scene, 6),
	   "a member that has finished and stays does not stop rank 0");
	channel_close(&hub);
	end(&scene);
}

static void fill(struct channel *strangers, unsigned int n, uint16_t port)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		call(&strangers[i], port);
}

/* More strangers than places, at rank 0 and at a member. */
static void check_strangers(void)
{
	enum { N = CHANNEL_STRANGERS + 40 };
	struct channel *strangers = calloc(2 * N, sizeof(*strangers));
	struct channel hub = { .fd = -1 }, peer = { .fd = -1 };
	struct scene scene = begin(3, NULL);
	struct frame frame;
	uint16_t ports[3];
	unsigned int i;
	bool good;

	fill(strangers, N, scene.port);
	start_member(&scene, 0);
	start_member(&scene, 1);
	good = ok(join(&hub, &scene, 2) && learn_ports(&hub, &scene, ports),
		  "strangers do not keep members out");
	fill(strangers + N, good ? N : 0, ports[0]);
	ok(good && call(&peer, ports[0]) && is_challenged(&peer) &&
	   introduce(&peer, &scene, 2, 0) &&
	   next(&peer, &frame, 4000) == MESSAGE_VIEW, "nor partners");
	for (i = 0; i < (good ? 2 : 1) * N; i++)
		channel_close(&strangers[i]);
	channel_close(&peer);
	channel_close(&hub);
	free(strangers);
	end(&scene);
}

static void few_files(struct hub *hub)
{
	struct rlimit limit = { 12, 12 };

	(void)hub;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void check_files(void)
{
	struct scene scene = begin(2, few_files);
	struct channel strangers[20];
	struct rusage usage = { 0 };
	unsigned int i;

	fill(strangers, 20, scene.port);
	usleep(1000000);
	kill(scene.server, SIGKILL);
	wait4(scene.server, NULL, 0, &usage);
	scene.server = 0;
	ok(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec == 0 &&
	   usage.ru_utime.tv_usec + usage.ru_stime.tv_usec < 300000,
	   "without file descriptors, rank 0 does not poll in a loop");
	for (i = 0; i < 20; i++)
		channel_close(&strangers[i]);
	end(&scene);
}

static void check_options(void)
{
	uint16_t port = 0;
	int listener = channel_listen(&port), value = 0;
	socklen_t len = sizeof(value);
	struct channel ch, accepted;

	call(&ch, port);
	ok(!channel_accept(&accepted, listener, 7000) &&
	   !getsockopt(accepted.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len) &&
	   value == 7000 &&
	   !getsockopt(accepted.fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len) &&
	   value == 1, "a host that lost its power is noticed");
	channel_close(&ch);
	channel_close(&accepted);
	close(listener);
}

/* Rank 0 ends after the beginning. */
static void check_status(void)
{
	struct scene scene = begin(2, NULL);
	struct channel hub;
	uint16_t ports[2];
	bool good = join(&hub, &scene, 0);
	int status = -1;

	/* Rank 0 serves the last of its connections first: rank 1 has its ports, too. */
	start_member(&scene, 1);
	if (good && learn_ports(&hub, &scene, ports)) {
		stop(scene.server);
		scene.server = 0;
		waitpid(scene.members[1], &status, 0);
		scene.members[1] = 0;
	}
	ok(!status, "a member that has joined succeeds, whatever follows");
	channel_close(&hub);
	end(&scene);
}

/* A rendezvous of which only the last address is that of rank 0. */
static void check_rendezvous(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(addr);
	struct channel ch;
	struct member *m;
	pid_t child;

	bind(listener, (struct sockaddr *)&addr, len);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&addr, &len);
	fflush(stdout);
	child = fork();
	if (!child) {
		channel_accept(&ch, listener, 5000);
		pause();
	}
	m = new_member(1, 2, ntohs(addr.sin_port));
	m->rendezvous = "two addresses";
	m->wait = 1000000;
	ok(!member_join(m), "each address of the rendezvous is tried");
	member_leave(m);
	stop(child);
	close(listener);
	memset(m, 0, sizeof(*m));
	free(m);
	m = new_member(1, 2, 9);
	m->rendezvous = "fe80::1%lo";
	ok(member_join(m) && strstr(m->why, "link-local"),
	   "a link-local address is refused");
	member_leave(m);
	free(m);
}

int main(void)
{
	struct rlimit limit;

	alarm(60);
	if (nettle_open())
		return !ok(false, "libnettle is missing");
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 4096) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check_mesh();
	check_lost_partner();
	check_late_hello();
	check_second_call();
	check_zombie();
	check_lingering();
	check_strangers();
	check_files();
	check_options();
	check_status();
	check_rendezvous();
	return done();
}
