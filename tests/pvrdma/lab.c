// SPDX-License-Identifier: GPL-2.0-or-later
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cable.h"
#include "lab.h"

#define NS 1000000000u
/* What a test waits for comes within that time. */
#define LIMIT_NS (20ull * NS)

bool lab_linked;

static struct lab *open_lab;

static void log_line(const char *name, const char *line)
{
	open_lab->log_lines++;
	if (getenv("GUEST_LOG"))
		fprintf(stderr, "# %s: %s\n", name, line);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

/* When something is to be done next. */
static uint64_t run_once(struct lab *lab)
{
	uint64_t now = now_ns(), wake, next;
	unsigned int i;

	for (i = 0; i < GUESTS; i++)
		guest_must(!model_dispatch(lab->models[i]), "dispatch");
	wake = lab->backend->ops->run(lab->backend, now);
	if (lab->other) {
		next = lab->other->ops->run(lab->other, now);
		if (next < wake)
			wake = next;
		if (lab->cable && cable_run(lab->cable))
			wake = now;
	}
	for (i = 0; i < GUESTS; i++) {
		next = model_run(lab->models[i], now);
		if (next < wake)
			wake = next;
	}
	return wake <= now ? 0 : wake;
}

/* Whether what one server sent has reached the other one, which has not looked yet. */
static bool on_its_way(const struct lab *lab)
{
	struct pollfd fds[] = {
		{ .fd = lab->backend->ops->fd(lab->backend), .events = POLLIN },
		{ .fd = lab->other ? lab->other->ops->fd(lab->other) : -1, .events = POLLIN },
	};

	return lab->other && poll(fds, 2, 0) > 0;
}

void lab_run(struct lab *lab)
{
	while (!run_once(lab) || on_its_way(lab))
		;
}

bool lab_wait(struct lab *lab, int irq)
{
	struct pollfd fds[] = {
		{ .fd = irq, .events = POLLIN },
		{ .fd = lab->backend->ops->fd(lab->backend), .events = POLLIN },
		{ .fd = lab->other ? lab->other->ops->fd(lab->other) : -1, .events = POLLIN },
	};
	uint64_t limit = now_ns() + LIMIT_NS, wake, now;
	struct timespec timeout;

	/* All that happens here, the adapters and their backend do. */
	for (now = now_ns(); now < limit; now = now_ns()) {
		wake = run_once(lab);
		if (wake > limit)
			wake = limit;
		wake = wake > now ? wake - now : 0;
		timeout = (struct timespec){ (time_t)(wake / NS), (long)(wake % NS) };
		if (on_its_way(lab))
			timeout = (struct timespec){ 0 };
		if (ppoll(fds, 3, &timeout, NULL) > 0 && fds[0].revents)
			return true;
	}
	return false;
}

bool lab_wait_response(void *arg, int irq)
{
	return lab_wait(arg, irq);
}

static void run(void *arg)
{
	lab_run(arg);
}

static void pump(void *arg)
{
	run_once(arg);
}

static void plug(struct lab *lab, struct guest *guest)
{
	/* Messages are waited for step by step; see lab_run() for the rest. */
	guest->run = pump;
	guest->arg = lab;
	/* What is between two servers takes its time on a busy machine. */
	guest->patient = lab->other;
	guest_plug(guest);
	guest->run = run;
}

void lab_open_with(struct lab *lab, unsigned int version, struct backend *backend)
{
	lab_open_limited(lab, version, backend, &model_default_limits);
}

static void open_all(struct lab *lab, unsigned int version, const struct model_limits *limits)
{
	struct model_config config = {
		.version = version,
		.gid_type = version < 18 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2,
		.mtu = IBV_MTU_1024,
		.limits = *limits,
		.log = log_line,
	};
	struct guest *guest;
	unsigned int i;

	open_lab = lab;
	for (i = 0; i < GUESTS; i++) {
		guest = &lab->guests[i];
		config.backend = i && lab->other ? lab->other : lab->backend;
		snprintf(guest->path, sizeof(guest->path), "/tmp/eadm-pvrdma-test.%d.%u",
			 getpid(), i);
		config.name = guest->path;
		memcpy(config.mac, "\x02\0\0\0\0\1", 6);
		lab->models[i] = model_open(guest->path, 0600, &config);
		guest_must(lab->models[i] != NULL, "model");
		guest_open(guest, GUEST_RAM, 0);
	}
	for (i = 0; i < GUESTS; i++)
		plug(lab, &lab->guests[i]);
}

void lab_open_limited(struct lab *lab, unsigned int version, struct backend *backend,
		      const struct model_limits *limits)
{
	*lab = (struct lab){ .backend = backend };
	open_all(lab, version, limits);
}

static unsigned int link_lines;

unsigned int lab_link_lines(void)
{
	return link_lines;
}

static void say(const char *address, const char *line)
{
	link_lines++;
	if (getenv("GUEST_LOG"))
		fprintf(stderr, "# link %s: %s\n", address, line);
}

/* The second server joins the cable, which goes to where the first one listens. */
static void open_linked(struct lab *lab)
{
	static struct backend_soft_config first = { .log = say }, second = { .n_join = 1, .log = say };
	static char paths[2][128];
	unsigned int i;

	for (i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "/tmp/eadm-pvrdma-test.%d.link%u", getpid(), i);
	first.listen = paths[0];
	second.join[0] = paths[1];
	guest_must(!backend_soft_open(&first, &lab->backend), "first backend");
	lab->cable = cable_open(paths[1], paths[0]);
	guest_must(!backend_soft_open(&second, &lab->other), "second backend");
}

void lab_open(struct lab *lab, unsigned int version)
{
	*lab = (struct lab){ 0 };
	if (lab_linked)
		open_linked(lab);
	else
		guest_must(!backend_soft_open(NULL, &lab->backend), "backend");
	open_all(lab, version, &model_default_limits);
}

void lab_close(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < GUESTS; i++)
		guest_unplug(&lab->guests[i]);
	for (i = 0; i < GUESTS; i++) {
		model_close(lab->models[i]);
		guest_close(&lab->guests[i]);
	}
	lab->backend->ops->close(lab->backend);
	if (lab->other) {
		lab->other->ops->close(lab->other);
		if (lab->cable)
			cable_close(lab->cable);
	}
}

void lab_restart(struct lab *lab, struct guest *guest)
{
	guest_unplug(guest);
	lab_run(lab);
	memset(guest->memory, 0, guest->size);
	guest->next = GUEST_PAGE;
	plug(lab, guest);
}
