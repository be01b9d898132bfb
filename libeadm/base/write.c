// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "write.h"

static int write_bytes(int fd, const unsigned char *p, size_t len, size_t *done)
{
	struct pollfd full = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	for (*done = 0; *done < len; *done += n) {
		n = write(fd, p + *done, len - *done);
		if (n >= 0)
			continue;
		n = 0;
		if (errno == EAGAIN && poll(&full, 1, -1) >= 0)
			continue;
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int eadm_write_all(int fd, const void *data, size_t len, size_t *done)
{
	const struct timespec now = { 0 };
	sigset_t broken, old, pending;
	int ret;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &broken, &old);
	ret = write_bytes(fd, data, len, done);
	/* A signal that was pending before is not ours. */
	if (ret == -EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}
