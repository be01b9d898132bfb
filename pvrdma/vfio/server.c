// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"
#include "notify.h"
#include "session.h"

/* Maximum messages, and time after which no further one is handled, of a vfio_dispatch(). */
#define BATCH 64
#define SHARE_NS UINT64_C(2000000)
/* A silent client must not block other clients for longer than this. */
#define NEGOTIATION_SECONDS 5
/* Delay after a shortage of descriptors or memory. */
#define RETRY_SECONDS 1
#define SLOW_NS UINT64_C(10000000)
#define NS_PER_S UINT64_C(1000000000)

static const char not_a_fault[] = "";

static int watch(struct vfio *vfio, int fd, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(vfio->epoll, operation, fd, &event) ? -errno : 0;
}

static void set_timer(struct vfio *vfio, time_t seconds)
{
	const struct itimerspec at = { .it_value.tv_sec = seconds };

	timerfd_settime(vfio->timer, 0, &at, NULL);
}

static void listen_again(struct vfio *vfio, bool on)
{
	if (vfio->listener >= 0)
		watch(vfio, vfio->listener, EPOLL_CTL_MOD, on ? EPOLLIN : 0);
}

static int begin_session(struct vfio *vfio, int fd)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	int ret = watch(vfio, fd, EPOLL_CTL_ADD, EPOLLIN);

	if (ret) {
		discard_socket(vfio->channel.discard, fd);
		return ret;
	}
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	vfio->stats.peer = (struct vfio_peer){ peer.pid, peer.uid, peer.gid };
	vfio->stats.sessions++;
	vfio->stats.connected = true;
	vfio->complaints = 0;
	vfio->waiting = false;
	vfio->unfinished = false;
	vfio->writes_done = 0;
	channel_open(&vfio->channel, fd);
	listen_again(vfio, false);
	set_timer(vfio, NEGOTIATION_SECONDS);
	return 0;
}

/* @why: the error, or not_a_fault. */
static void end_session(struct vfio *vfio, const char *why)
{
	uint64_t count;

	if (why != not_a_fault) {
		if (why != vfio->ending)
			vfio->stats.broken++;
		session_log(vfio, "session of process %d ended: %s",
			    (int)vfio->stats.peer.pid, why);
	}
	set_timer(vfio, 0);
	/* The socket may wait to be closed, and would be ready all that time. */
	watch(vfio, vfio->channel.fd, EPOLL_CTL_DEL, 0);
	channel_close(&vfio->channel);
	/*
	 * Prevents interrupts and memory accesses while the function releases the memory.
	 */
	session_reset(vfio);
	irq_clear(&vfio->irqs);
	if (vfio->negotiated)
		vfio->ops.gone(vfio->ctx);
	vfio->negotiated = false;
	memory_clear(&vfio->memory);
	guard_clear(&vfio->guard);
	while (read(vfio->guard.wake, &count, sizeof(count)) > 0)
		;
	atomic_store(&vfio->guard.lost, false);
	vfio->ending = NULL;
	vfio->stats.connected = false;
	listen_again(vfio, true);
}

static void accept_later(struct vfio *vfio)
{
	listen_again(vfio, false);
	set_timer(vfio, RETRY_SECONDS);
}

static int accept_client(struct vfio *vfio)
{
	int fd, ret;

	/* Otherwise, each session of such a client would take more descriptors. */
	if (channel_blocked(&vfio->channel)) {
		accept_later(vfio);
		return 0;
	}
	fd = accept4(vfio->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	ret = fd < 0 ? -errno : begin_session(vfio, fd);
	switch (-ret) {
	case EBADF:
	case EINVAL:
	case ENOTSOCK:
	case EOPNOTSUPP:
		return ret;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC:
		session_log(vfio, "accepting a client failed, will retry: %s", strerror(-ret));
		accept_later(vfio);
		return 0;
	default:
		/* The session has begun, or the client has disconnected. */
		return 0;
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int timed_message(struct vfio *vfio, const char **why)
{
	bool negotiated = vfio->negotiated;
	uint64_t begin = now_ns(), took;
	int ret = session_message(vfio, why);

	if (vfio->negotiated != negotiated)
		set_timer(vfio, 0);
	took = now_ns() - begin;
	if (took > vfio->stats.slowest_ns)
		vfio->stats.slowest_ns = took;
	if (took > SLOW_NS)
		vfio->stats.slow++;
	return ret;
}

static const char *reason_to_end(struct vfio *vfio)
{
	if (atomic_load(&vfio->guard.lost))
		return "a file that backs guest memory was truncated, or has no free huge page";
	return vfio->ending;
}

/* While a reply waits for the client to read it, no further message is handled. */
static int talk(struct vfio *vfio, const char **why)
{
	uint64_t until = now_ns() + SHARE_NS;
	unsigned int i;
	int ret = 1;
	bool wait;

	for (i = 0; i < BATCH && ret > 0 && (!i || now_ns() < until); i++) {
		*why = reason_to_end(vfio);
		if (*why)
			return -EBADMSG;
		ret = channel_flush(&vfio->channel);
		if (ret <= 0)
			break;
		ret = channel_receive(&vfio->channel, why);
		if (ret <= 0)
			break;
		ret = timed_message(vfio, why);
		if (!vfio->unfinished)
			channel_next(&vfio->channel);
		if (ret < 0) {
			channel_flush(&vfio->channel);
			break;
		}
		ret = channel_flush(&vfio->channel);
	}
	if (ret < 0)
		return ret;
	wait = vfio->unfinished || vfio->channel.out_done < vfio->channel.out_size;
	if (wait == vfio->waiting)
		return 0;
	vfio->waiting = wait;
	return watch(vfio, vfio->channel.fd, EPOLL_CTL_MOD, wait ? EPOLLOUT : EPOLLIN);
}

static int end_of_connection(struct vfio *vfio)
{
	return vfio->listener < 0 && vfio->channel.fd < 0 ? -EPIPE : 0;
}

static int serve(struct vfio *vfio)
{
	const char *why = not_a_fault;
	uint64_t count;
	int ret = talk(vfio, &why);

	if (!ret && read(vfio->timer, &count, sizeof(count)) > 0) {
		why = "version negotiation timed out";
		ret = -EBADMSG;
	}
	/* The last message may have accessed memory whose file was truncated. */
	if (!ret && reason_to_end(vfio)) {
		why = reason_to_end(vfio);
		ret = -EBADMSG;
	}
	if (ret)
		end_session(vfio, ret == -EPIPE || !why ? not_a_fault : why);
	return end_of_connection(vfio);
}

int vfio_dispatch(struct vfio *vfio)
{
	int ret;

	if (vfio->channel.fd < 0) {
		uint64_t count;

		if (vfio->listener < 0)
			return -EPIPE;
		if (read(vfio->timer, &count, sizeof(count)) > 0)
			listen_again(vfio, true);
		ret = accept_client(vfio);
		if (ret || vfio->channel.fd < 0)
			return ret;
	}
	return serve(vfio);
}

int vfio_fd(const struct vfio *vfio)
{
	return vfio->epoll;
}

void vfio_close(struct vfio *vfio)
{
	if (!vfio)
		return;
	if (vfio->channel.fd >= 0)
		end_session(vfio, not_a_fault);
	memory_clear(&vfio->memory);
	channel_exit(&vfio->channel);
	guard_clear(&vfio->guard);
	irq_exit(&vfio->irqs);
	if (vfio->path)
		listener_unlink(vfio->path, &vfio->file);
	free(vfio->path);
	if (vfio->listener >= 0)
		close(vfio->listener);
	if (vfio->timer >= 0)
		close(vfio->timer);
	if (vfio->guard.wake >= 0)
		close(vfio->guard.wake);
	if (vfio->epoll >= 0)
		close(vfio->epoll);
	free(vfio);
}

static int prepare(struct vfio *vfio, const struct vfio_function *function,
		   const struct vfio_ops *ops, void *ctx)
{
	int ret;

	vfio->function = *function;
	vfio->ops = *ops;
	vfio->ctx = ctx;
	vfio->listener = -1;
	vfio->channel.fd = -1;
	irq_init(&vfio->irqs, 0);
	vfio->epoll = epoll_create1(EPOLL_CLOEXEC);
	vfio->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	vfio->guard.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (vfio->epoll < 0 || vfio->timer < 0 || vfio->guard.wake < 0)
		return -errno;
	ret = channel_init(&vfio->channel);
	memory_init(&vfio->memory, &vfio->guard, vfio->channel.discard);
	if (!ret)
		ret = notify_init();
	if (!ret)
		ret = config_init(&vfio->config, function);
	if (ret)
		return ret;
	irq_init(&vfio->irqs, function->vectors);
	ret = watch(vfio, vfio->timer, EPOLL_CTL_ADD, EPOLLIN);
	if (!ret)
		ret = watch(vfio, vfio->guard.wake, EPOLL_CTL_ADD, EPOLLIN);
	return ret;
}

struct vfio *vfio_open_fd(int fd, const struct vfio_function *function,
			  const struct vfio_ops *ops, void *ctx)
{
	struct vfio *vfio = calloc(1, sizeof(*vfio));
	int listening = 0, ret;
	socklen_t size = sizeof(listening);

	if (!vfio) {
		close(fd);
		return NULL;
	}
	ret = prepare(vfio, function, ops, ctx);
	if (!ret && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size))
		ret = -errno;
	if (ret) {
		close(fd);
	} else if (listening) {
		vfio->listener = fd;
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		ret = watch(vfio, fd, EPOLL_CTL_ADD, EPOLLIN);
	} else {
		ret = begin_session(vfio, fd);
	}
	if (ret) {
		vfio_close(vfio);
		errno = -ret;
		return NULL;
	}
	return vfio;
}

struct vfio *vfio_open(const char *path, mode_t mode,
		       const struct vfio_function *function,
		       const struct vfio_ops *ops, void *ctx)
{
	const struct listener listener = {
		.path = path,
		.type = SOCK_STREAM,
		.mode = mode,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
	};
	struct listener_file file;
	int fd = listener_open(&listener, &file);
	struct vfio *vfio;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	vfio = vfio_open_fd(fd, function, ops, ctx);
	if (vfio) {
		vfio->path = strdup(path);
		vfio->file = file;
		if (vfio->path)
			return vfio;
		vfio_close(vfio);
		errno = ENOMEM;
	}
	unlink(path);
	return NULL;
}

int vfio_backing(struct vfio *vfio, uint64_t address, uint64_t size,
		 struct vfio_run *run)
{
	if (!vfio->irqs.mastering)
		return -EPERM;
	if (!size || address + (size - 1) < address)
		return -EFAULT;
	return memory_find(&vfio->memory, address, size, run);
}

void *vfio_dma(struct vfio *vfio, uint64_t address, size_t size, bool write)
{
	struct vfio_run run;
	int ret = vfio_backing(vfio, address, size, &run);

	if (!ret && run.size < size)
		ret = -EFAULT;
	if (!ret && write && !run.writable)
		ret = -EACCES;
	if (ret) {
		errno = -ret;
		return NULL;
	}
	return run.memory;
}

int vfio_guard(struct vfio *vfio, void *memory, size_t size)
{
	return guard_add(&vfio->guard, memory, size);
}

void vfio_unguard(struct vfio *vfio, void *memory)
{
	guard_remove(&vfio->guard, memory);
}

int vfio_interrupt(struct vfio *vfio, unsigned int vector)
{
	return irq_send(&vfio->irqs, vector);
}

int vfio_unplug(struct vfio *vfio)
{
	return irq_request(&vfio->irqs);
}

void vfio_hang_up(struct vfio *vfio, const char *reason)
{
	const uint64_t one = 1;

	if (vfio->channel.fd < 0)
		return;
	vfio->ending = reason;
	(void)!write(vfio->guard.wake, &one, sizeof(one));
}

void vfio_stats(struct vfio *vfio, struct vfio_stats *stats)
{
	*stats = vfio->stats;
	stats->mastering = vfio->irqs.mastering;
	stats->interrupts = irq_sent(&vfio->irqs);
	stats->regions = vfio->memory.count;
	stats->unreachable = vfio->memory.unreachable;
	stats->memory = vfio->memory.bytes;
}
