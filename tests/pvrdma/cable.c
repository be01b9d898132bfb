// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cable.h"
#include "guest.h"

#define NEVER UINT64_MAX

struct cable {
	struct sockaddr_un at, to;
	int listener;
	int ends[2];
	/* Until it is cut, by the way. */
	uint64_t left[2];
	unsigned int count;
};

static struct sockaddr_un name_of(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	guest_must(strlen(path) < sizeof(name.sun_path), "path of a cable");
	strcpy(name.sun_path, path);
	return name;
}

struct cable *cable_open(const char *path, const char *to)
{
	struct cable *cable = calloc(1, sizeof(*cable));

	guest_must(cable != NULL, "memory");
	cable->at = name_of(path);
	cable->to = name_of(to);
	cable->ends[0] = cable->ends[1] = -1;
	cable->left[0] = cable->left[1] = NEVER;
	cable->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* A test that was killed may have had the same PID. */
	unlink(path);
	guest_must(!bind(cable->listener, (struct sockaddr *)&cable->at, sizeof(cable->at)) &&
		   !listen(cable->listener, 4), "cable");
	return cable;
}

static void hang_up(struct cable *cable)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (cable->ends[i] >= 0)
			close(cable->ends[i]);
		cable->ends[i] = -1;
		cable->left[i] = NEVER;
	}
}

void cable_close(struct cable *cable)
{
	hang_up(cable);
	close(cable->listener);
	unlink(cable->at.sun_path);
	free(cable);
}

static bool take_call(struct cable *cable)
{
	int fd = accept4(cable->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return false;
	cable->ends[0] = fd;
	cable->ends[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cable->count++;
	if (connect(cable->ends[1], (struct sockaddr *)&cable->to, sizeof(cable->to)))
		hang_up(cable);
	return true;
}

/* What one end has sent, as far as the other one takes it. */
static bool pass(struct cable *cable, enum cable_way way)
{
	int from = cable->ends[way], to = cable->ends[!way];
	uint64_t *left = &cable->left[way];
	unsigned char data[4096];
	size_t most = *left < sizeof(data) ? (size_t)*left : sizeof(data);
	ssize_t got, done;

	if (from < 0)
		return false;
	got = most ? recv(from, data, most, MSG_PEEK | MSG_DONTWAIT) : 0;
	if (!got) {
		hang_up(cable);
		return true;
	}
	if (got < 0)
		return false;
	done = send(to, data, (size_t)got, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (done <= 0)
		return false;
	guest_must(recv(from, data, (size_t)done, 0) == done, "cable");
	if (*left != NEVER)
		*left -= (uint64_t)done;
	return true;
}

bool cable_run(struct cable *cable)
{
	bool passed;

	if (cable->ends[0] < 0)
		return take_call(cable);
	passed = pass(cable, CABLE_THERE);
	return pass(cable, CABLE_BACK) || passed;
}

void cable_cut(struct cable *cable, enum cable_way way, uint64_t bytes)
{
	cable->left[way] = bytes;
}

unsigned int cable_count(const struct cable *cable)
{
	return cable->count;
}
