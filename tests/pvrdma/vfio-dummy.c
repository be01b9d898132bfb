// SPDX-License-Identifier: GPL-2.0-or-later
/* vfio-dummy SOCKET: offers a function that does next to nothing, and says what a VMM does. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <signal.h>

#include "dummy.h"

static void print(const char *line)
{
	puts(line);
}

static void summary(struct vfio *vfio)
{
	struct vfio_stats stats;

	vfio_stats(vfio, &stats);
	printf("messages %llu refused %llu broken %llu writes %llu posted %llu interrupts %llu\n",
	       (unsigned long long)stats.messages, (unsigned long long)stats.refused,
	       (unsigned long long)stats.broken, (unsigned long long)stats.writes[1],
	       (unsigned long long)stats.posted[1], (unsigned long long)stats.interrupts);
}

int main(int argc, char **argv)
{
	struct dummy dummy = { .trace = print };
	struct pollfd wait[2];
	sigset_t signals;

	if (argc != 2) {
		fprintf(stderr, "Usage: vfio-dummy SOCKET\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dummy.vfio = vfio_open(argv[1], 0600, &dummy_function, &dummy_ops, &dummy);
	if (!dummy.vfio) {
		fprintf(stderr, "vfio-dummy: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	wait[0] = (struct pollfd){ .fd = vfio_fd(dummy.vfio), .events = POLLIN };
	wait[1] = (struct pollfd){ .fd = signalfd(-1, &signals, SFD_CLOEXEC), .events = POLLIN };
	while (poll(wait, 2, -1) >= 0 && !wait[1].revents) {
		if (vfio_dispatch(dummy.vfio))
			break;
	}
	summary(dummy.vfio);
	vfio_close(dummy.vfio);
	return 0;
}
