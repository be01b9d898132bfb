// SPDX-License-Identifier: GPL-2.0-or-later
/* The control socket and its clients. */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define MAX_CLIENTS ARRAY_SIZE(((struct control *)NULL)->clients)
/*
 * Maximum number of connections per user, except for the user of this process, so that
 * slots are left for other users.
 */
#define MAX_OF_USER 4
/*
 * Number of packets per client before the next client is served; number of clients per
 * call.
 */
#define MAX_PACKETS 4
#define MAX_READY 8
/* Maximum sockets that wait to be closed while clients are accepted. */
#define MAX_SLOW 15
/* Delay before clients are accepted again while sockets take long to close. */
#define RETRY_NS 100000000
/* Above the kernel's indices of RDMA devices; the lowest bits are the function. */
#define INDEX_BASE 0x80000000u
#define INDEX_SHIFT 6

static void client_close(struct client *client)
{
	struct control *control = client->control;
	unsigned int i;

	for (i = 0; i < MAX_CLIENTS; i++)
		if (control->clients[i] == client)
			control->clients[i] = NULL;
	/* The socket may wait to be closed, and would be ready all that time. */
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	discard_socket(control->discard, client->fd);
	free(client);
}

static bool is_busy(const struct client *client)
{
	return client->out_len || client->request.active || client->n_events;
}

/*
 * A request is read only after the previous one has been processed, so a client that does
 * not read its packets delays only its own requests.
 */
static void client_watch(struct client *client)
{
	struct epoll_event event = {
		.events = is_busy(client) ? EPOLLOUT : EPOLLIN, .data.ptr = client,
	};

	epoll_ctl(client->control->epoll, EPOLL_CTL_MOD, client->fd, &event);
}

/*
 * Returns 1 if the packet was sent, 0 if the socket has no room yet, -1 if the client has
 * disconnected.
 */
static int send_packet(struct client *client)
{
	ssize_t len = send(client->fd, client->out, client->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS))
		return 0;
	if (len < 0)
		return -1;
	client->out_len = 0;
	return 1;
}

static int read_request(struct client *client)
{
	_Alignas(8) unsigned char data[EADM_PEER_REQUEST_MAX];
	ssize_t len = discard_recv(client->fd, data, sizeof(data), MSG_DONTWAIT | MSG_TRUNC);

	if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	/*
	 * A packet that is not a request, or has descriptors, ends the connection, because
	 * no response is possible.
	 */
	if (len < (ssize_t)sizeof(struct nlmsghdr) || len > (ssize_t)sizeof(data))
		return -1;
	request_take(client, data, (size_t)len);
	return 1;
}

static int client_step(struct client *client)
{
	if (client->out_len)
		return send_packet(client);
	if (client->request.active) {
		request_go_on(client);
		return 1;
	}
	if (client->n_events) {
		news_put(client);
		return 1;
	}
	return read_request(client);
}

static void client_serve(struct client *client)
{
	unsigned int i;
	int ret = 1;

	for (i = 0; ret > 0 && i < 2 * MAX_PACKETS; i++)
		ret = client_step(client);
	if (ret < 0)
		client_close(client);
	else
		client_watch(client);
}

/* ---- connections */

static struct client **free_place(struct control *control, uint32_t uid, bool full)
{
	struct client **place = NULL;
	unsigned int i, of_user = 0;

	for (i = 0; i < MAX_CLIENTS; i++) {
		if (!control->clients[i])
			place = &control->clients[i];
		else if (control->clients[i]->uid == uid)
			of_user++;
	}
	return full || of_user < MAX_OF_USER ? place : NULL;
}

static void watch_listener(struct control *control, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0 };

	epoll_ctl(control->epoll, EPOLL_CTL_MOD, control->listener, &event);
}

/*
 * The socket of each further client would wait to be closed, too. The other clients are
 * served.
 */
static void accept_later(struct control *control)
{
	const struct itimerspec at = { .it_value.tv_nsec = RETRY_NS };

	if (control->log && !control->blocked)
		control->log(control->path,
			     "clients have sent file descriptors that take long to close; "
			     "no client is accepted until they are closed");
	control->blocked = true;
	watch_listener(control, false);
	timerfd_settime(control->timer, 0, &at, NULL);
}

/* If there is no free slot, the connection is closed. */
static void accept_client(struct control *control)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(cred);
	struct client **place;
	bool full;
	int fd;

	if (discard_pending(control->discard) > MAX_SLOW) {
		accept_later(control);
		return;
	}
	control->blocked = false;
	fd = listener_accept(control->listener, &control->spare);
	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len)) {
		discard_socket(control->discard, fd);
		return;
	}
	full = !cred.uid || cred.uid == geteuid();
	place = free_place(control, cred.uid, full);
	if (place)
		*place = calloc(1, sizeof(**place));
	if (!place || !*place) {
		discard_socket(control->discard, fd);
		return;
	}
	**place = (struct client){ .control = control, .fd = fd, .uid = cred.uid, .full = full };
	event.data.ptr = *place;
	if (epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event))
		client_close(*place);
}

static void timer_expired(struct control *control)
{
	uint64_t count;

	if (read(control->timer, &count, sizeof(count)) > 0)
		watch_listener(control, true);
}

int control_fd(const struct control *control)
{
	return control->epoll;
}

void control_dispatch(struct control *control)
{
	struct epoll_event ready[MAX_READY];
	int i, n = epoll_wait(control->epoll, ready, MAX_READY, 0);

	/*
	 * Each client occurs in the list only once, and is freed only when it is served
	 * here.
	 */
	for (i = 0; i < n; i++) {
		if (!ready[i].data.ptr)
			accept_client(control);
		else if (ready[i].data.ptr == control)
			timer_expired(control);
		else if (ready[i].events & (EPOLLHUP | EPOLLERR))
			client_close(ready[i].data.ptr);
		else
			client_serve(ready[i].data.ptr);
	}
}

void news_report(void *ctx, const struct journal_event *event)
{
	struct device *dev = ctx;
	struct control *control = dev->control;
	struct client *client;
	unsigned int i;

	control->event_seq++;
	for (i = 0; i < MAX_CLIENTS; i++) {
		client = control->clients[i];
		if (!client || !client->subscribed)
			continue;
		if (client->n_events == MAX_EVENTS) {
			client->lost_events++;
			continue;
		}
		client->events[(client->first_event + client->n_events++) % MAX_EVENTS] =
			(struct event_row){
				.device = (unsigned int)(dev - control->devices),
				.time = rows_wall(journal_now()),
				.event = *event, .seq = control->event_seq,
			};
		client_watch(client);
	}
}

/* ---- life cycle */

static int listen_at(struct control *control, const struct control_config *config)
{
	const struct listener listener = {
		.path = config->path,
		.type = SOCK_SEQPACKET,
		.mode = config->mode,
		.uid = config->uid,
		.gid = config->gid,
	};
	struct epoll_event event = { .events = EPOLLIN };
	struct epoll_event expired = { .events = EPOLLIN, .data.ptr = control };

	control->log = config->log;
	control->discard = discard_open();
	if (!control->discard)
		return -errno;
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	control->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (control->epoll < 0 || control->timer < 0 ||
	    epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->timer, &expired))
		return -errno;
	control->listener = listener_open(&listener, &control->file);
	if (control->listener < 0)
		return control->listener;
	control->spare = listener_spare(control->listener);
	snprintf(control->path, sizeof(control->path), "%s", config->path);
	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listener, &event) ? -errno : 0;
}

/*
 * Returns a base that differs between programs and changes when a program is restarted.
 */
static uint32_t index_base(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)getpid();
	return INDEX_BASE | (number << INDEX_SHIFT & ~INDEX_BASE);
}

struct control *control_open(const struct control_config *config,
			     const struct control_device *devices, unsigned int count)
{
	struct control *control = calloc(1, sizeof(*control));
	uint32_t base = index_base();
	unsigned int i;
	int err;

	if (!control || count > MAX_DEVICES) {
		free(control);
		errno = control ? E2BIG : ENOMEM;
		return NULL;
	}
	control->listener = control->spare = control->epoll = control->timer = -1;
	err = listen_at(control, config);
	if (err) {
		control_close(control);
		errno = -err;
		return NULL;
	}
	for (i = 0; i < count; i++) {
		control->devices[i] = (struct device){
			.control = control, .m = devices[i].model, .name = devices[i].name,
			.index = base + i, .born = journal_now(),
		};
		devices[i].model->journal->report = news_report;
		devices[i].model->journal->ctx = &control->devices[i];
	}
	control->count = count;
	return control;
}

void control_close(struct control *control)
{
	unsigned int i;

	if (!control)
		return;
	for (i = 0; i < control->count; i++)
		control->devices[i].m->journal->report = NULL;
	for (i = 0; i < MAX_CLIENTS; i++)
		if (control->clients[i])
			client_close(control->clients[i]);
	if (control->spare >= 0)
		close(control->spare);
	if (*control->path)
		listener_unlink(control->path, &control->file);
	if (control->listener >= 0)
		close(control->listener);
	if (control->timer >= 0)
		close(control->timer);
	if (control->epoll >= 0)
		close(control->epoll);
	discard_close(control->discard);
	free(control);
}
