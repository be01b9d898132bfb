// SPDX-License-Identifier: GPL-2.0-or-later
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../signals.h"
#include "grow.h"
#include "schedule.h"

#define TICK_NS 100000000
#define DEAF_NS 1000000000	/* pause after running out of file descriptors */
#define LEAVE_NS 2000000000	/* time for members to close their connections */

struct guest {
	struct channel ch;
	int64_t rank;		/* -1: a stranger */
	uint32_t epoch;		/* epoch of the member when it joined */
	uint64_t since;
};

struct server {
	struct cli *cli;
	struct hub *hub;
	const struct secret *secret;
	int listener;
	struct guest **guests;
	struct pollfd *fds;
	uint32_t n, max, max_fds, n_strangers;
	bool refused, full, deaf;	/* messages that were printed */
	uint64_t deaf_until;	/* ns, when to accept again */
	uint64_t over;		/* ns, when the last member was done; 0: not yet */
};

static const char *peer_text(const struct channel *ch, char *buf, size_t size)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	const void *addr = &((struct sockaddr_in6 *)&peer)->sin6_addr;

	if (getpeername(ch->fd, (struct sockaddr *)&peer, &len))
		return "?";
	if (peer.ss_family == AF_INET)
		addr = &((struct sockaddr_in *)&peer)->sin_addr;
	inet_ntop(peer.ss_family, addr, buf, size);
	return strncmp(buf, "::ffff:", 7) ? buf : buf + 7;
}

/* ---- guests -------------------------------------------------------------------------- */

/* The last guest in the array takes the place of this guest. */
static void dismiss(struct server *s, uint32_t i)
{
	struct guest *guest = s->guests[i];

	s->n_strangers -= guest->rank < 0;
	channel_close(&guest->ch);
	free(guest);
	s->guests[i] = s->guests[--s->n];
}

/* Inform the guest if possible. */
static void refuse(struct guest *guest, enum mesh_refusal refusal)
{
	uint8_t out[8];

	if (!channel_is_full(&guest->ch))
		channel_send(&guest->ch, MESSAGE_REFUSED, out,
			     number_write(0, refusal, out));
}

/*
 * Close the oldest connection without a hello, preferably one from the newcomer's host.
 */
static void make_room(struct server *s, const struct in6_addr *newcomer)
{
	uint32_t i, at = UINT32_MAX;
	bool same, found = false;

	for (i = 0; i < s->n; i++) {
		if (s->guests[i]->rank >= 0)
			continue;
		same = IN6_ARE_ADDR_EQUAL(&s->guests[i]->ch.peer, newcomer);
		if (at == UINT32_MAX || same > found ||
		    (same == found && s->guests[i]->since < s->guests[at]->since)) {
			at = i;
			found = same;
		}
	}
	if (!s->full)
		note(s->cli, CHANNEL_FULL, CHANNEL_STRANGERS);
	s->full = true;
	dismiss(s, at);
}

static void cannot_accept(struct server *s, int error)
{
	if (error != -EMFILE && error != -ENFILE)
		return;
	if (!s->deaf)
		note(s->cli, "accept: %s", strerror(-error));
	s->deaf = true;
	s->deaf_until = monotonic_ns() + DEAF_NS;
}

/* Returns false if no further connection can be accepted at present. */
static bool let_one_in(struct server *s)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	int ret = guest && grow(s->guests, s->n, s->max) ? 0 : -ENOMEM;

	if (!ret)
		ret = channel_accept(&guest->ch, s->listener,
				     s->hub->silence / 1000000);
	if (ret) {
		cannot_accept(s, ret);
		if (guest)
			channel_close(&guest->ch);
		free(guest);
		return false;
	}
	if (s->n_strangers == CHANNEL_STRANGERS)
		make_room(s, &guest->ch.peer);
	guest->rank = -1;
	guest->since = monotonic_ns();
	s->guests[s->n++] = guest;
	s->n_strangers++;
	return true;
}

static void let_in(struct server *s)
{
	int i;

	for (i = 0; i < CHANNEL_ACCEPTS && let_one_in(s); i++)
		;
}

/* Returns 0, or a negative errno to dismiss the guest. */
static int greet(struct server *s, struct guest *guest)
{
	enum mesh_refusal refusal;
	struct in6_addr local = IN6ADDR_LOOPBACK_INIT;
	struct hello hello;
	char text[INET6_ADDRSTRLEN];
	int ret = channel_admit(&guest->ch, s->secret, &hello);

	if (ret == -EACCES && !s->refused) {
		s->refused = true;
		note(s->cli, "%s: refused: it has a different secret",
		     peer_text(&guest->ch, text, sizeof(text)));
	}
	if (ret <= 0)
		return ret;
	channel_local(&guest->ch, &local);
	refusal = hub_join(s->hub, &hello, &local, monotonic_ns());
	if (refusal) {
		note(s->cli, "rank %u, %s: refused: %s", hello.rank, hello.name,
		     refusal_text(refusal));
		refuse(guest, refusal);
		return -EPERM;
	}
	guest->rank = hello.rank;
	guest->epoch = s->hub->members[hello.rank].epoch;
	s->n_strangers--;
	return 0;
}

static int listen_to(struct server *s, struct guest *guest)
{
	struct frame frame;
	int filled = channel_fill(&guest->ch), ret = 0;

	if (filled && filled != -EPIPE)
		return filled;
	if (guest->rank < 0)
		ret = greet(s, guest);
	while (!ret && guest->rank >= 0) {
		ret = channel_take(&guest->ch, &frame);
		if (ret <= 0)
			break;
		ret = hub_take(s->hub, guest->rank, &frame, monotonic_ns());
	}
	return ret ? ret : filled;
}

static int speak_to(struct server *s, struct guest *guest)
{
	uint8_t out[FRAME_MAX];
	uint8_t kind;
	size_t len;
	int ret;

	ret = channel_flush(&guest->ch);
	while (!ret && guest->rank >= 0 && !channel_is_full(&guest->ch)) {
		kind = hub_next(s->hub, guest->rank, out, &len);
		if (!kind)
			break;
		ret = channel_send(&guest->ch, kind, out, len);
	}
	return ret;
}

/* ---- the loop ------------------------------------------------------------------------ */

static bool is_given_up(const struct server *s, const struct guest *guest)
{
	const struct hub_member *m;

	if (guest->rank < 0)
		return false;
	m = &s->hub->members[guest->rank];
	/* Before the tests begin, another process can take over the rank. */
	return m->epoch != guest->epoch ||
	       (m->state != MEMBER_HERE && m->state != MEMBER_DONE);
}

static void attend(struct server *s, uint32_t polled)
{
	uint64_t now = monotonic_ns();
	struct guest *guest;
	uint32_t i;
	int ret;

	/* Iterate backwards: the last guest takes the place of a guest that leaves. */
	for (i = s->n; i--; ) {
		guest = s->guests[i];
		if (is_given_up(s, guest)) {
			refuse(guest, REFUSED_HUNG);
			dismiss(s, i);
			continue;
		}
		ret = i < polled && s->fds[1 + i].revents ? listen_to(s, guest) : 0;
		if (!ret)
			ret = speak_to(s, guest);
		if (!ret && guest->rank < 0 && now - guest->since > CHANNEL_HELLO_NS)
			ret = -ETIMEDOUT;
		if (ret && guest->rank >= 0)
			hub_lose(s->hub, guest->rank, CAUSE_DIED);
		if (ret)
			dismiss(s, i);
	}
}

static bool watch(struct server *s, uint64_t now)
{
	uint32_t i;

	if (!grow_to(s->fds, s->n + 1, s->max_fds))
		return false;
	s->fds[0] = (struct pollfd){
		now < s->deaf_until ? -1 : s->listener, POLLIN, 0 };
	for (i = 0; i < s->n; i++)
		s->fds[1 + i] = (struct pollfd){
			s->guests[i]->ch.fd,
			POLLIN | (channel_is_full(&s->guests[i]->ch) ? POLLOUT : 0),
			0 };
	return true;
}

/*
 * Returns true if all members have left after the last message, or have not done so in
 * time.
 */
static bool is_over(struct server *s, uint64_t now)
{
	uint32_t i;

	if (!hub_is_over(s->hub))
		return false;
	if (!s->over)
		s->over = now;
	if (now - s->over > LEAVE_NS)
		return true;
	for (i = 0; i < s->n; i++) {
		if (s->guests[i]->rank >= 0)
			return false;
	}
	return true;
}

static void show_progress(struct server *s)
{
	const struct hub *hub = s->hub;

	if (hub->running)
		progress(s->cli, "rounds", hub_round(hub));
	else
		progress(s->cli, "hosts", hub->n_here);
}

int server_run(struct cli *cli, struct hub *hub, const struct secret *secret,
	       int listener)
{
	struct server s = { .cli = cli, .hub = hub, .secret = secret,
			    .listener = listener };
	uint64_t next = 0, now;
	int ret = 0;

	while (!ret && !interrupted && !is_over(&s, monotonic_ns())) {
		uint32_t polled = s.n;

		now = monotonic_ns();
		if (now >= next) {
			hub_tick(hub, now, &ret);
			show_progress(&s);
			next = now + TICK_NS;
		}
		if (!watch(&s, now)) {
			ret = -ENOMEM;
			break;
		}
		if (poll(s.fds, polled + 1, TICK_NS / 1000000) < 0)
			continue;
		attend(&s, polled);
		if (s.fds[0].revents)
			let_in(&s);
	}
	progress_end(cli);
	while (s.n) {
		if (s.guests[s.n - 1]->rank >= 0 && !hub_is_over(hub))
			refuse(s.guests[s.n - 1], REFUSED_ENDED);
		dismiss(&s, s.n - 1);
	}
	free(s.guests);
	free(s.fds);
	close(listener);
	return ret;
}
