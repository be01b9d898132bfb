// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of the devices, as a capture and as renderings that are readable without
 * eadm. The renderings are made from the capture, so that they agree with it, are
 * redacted in the same way, and do not require reading a device twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../signals.h"
#include "bundle.h"

#define CAPTURE_MS 30000
#define RENDER_MS 10000
#define MAX_RENDERINGS 256

static int say(struct eadm_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, eadm_errmsg(ctx));
	return STATUS_FAILED;
}

static void wait_ns(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/*
 * Writes all snapshots of a source, with the adapters' contexts in the first one.
 * Unless @lacks is NULL, data that could not be read sets it to true, and the reasons
 * are printed.
 */
static int write_snapshots(struct bundle *b, struct eadm_ctx *ctx,
			   struct eadm_redactor *redactor, bool hw, bool *lacks)
{
	struct eadm_note n = { .size = sizeof(n) };
	struct eadm_capture *capture;
	int ret = eadm_capture_open(ctx, "-", redactor, &capture);
	unsigned int i;

	/* Keys give access to memory, and a bundle leaves the site. The redactor counts them. */
	if (!ret && !b->redactor)
		ret = eadm_capture_omit_secrets(capture);
	if (!ret)
		ret = eadm_capture_all(capture, hw);
	if (!ret && eadm_is_live(ctx)) {
		wait_ns(b->interval);
		ret = eadm_capture_all(capture, false);
	}
	while (!ret && !eadm_is_live(ctx) && eadm_snapshot_next(ctx) > 0)
		ret = eadm_capture_all(capture, false);
	for (i = 0; !ret && lacks && eadm_capture_note(capture, i, &n) > 0; i++) {
		fprintf(stderr, "%s%s%s: %s\n", n.device,
			*n.device ? ": " : "", n.what, n.why);
		*lacks = true;
	}
	return ret ? ret : eadm_capture_close(capture, true);
}

static int collect_capture(struct bundle *b, const void *arg)
{
	const bool *hw = arg;
	struct eadm_ctx *ctx = eadm_new();
	bool lacks = false;
	int ret;

	if (!ctx)
		return STATUS_FAILED;
	eadm_set_timeout(ctx, b->timeout / 1000000);
	eadm_set_peers(ctx, !b->no_peers);
	ret = b->from ? eadm_open_file(ctx, b->from) :
	      b->peer ? eadm_open_peer(ctx, b->peer) : eadm_open_live(ctx);
	if (ret)
		return say(ctx, b->from ? b->from : "open");
	if (write_snapshots(b, ctx, NULL, *hw, &lacks))
		return say(ctx, "capture");
	return lacks ? STATUS_PARTIAL : STATUS_OK;
}

/*
 * Runs in the parent process, because the redactor collects the names in the capture.
 * The library writes to standard output, which is redirected; the container has a
 * separate descriptor.
 */
static int redact_capture(struct bundle *b, struct part *part, int raw)
{
	int to = memfd_create("eadm-redacted", MFD_CLOEXEC);
	int keep = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	struct eadm_ctx *ctx = eadm_new();
	char path[40];
	int ret = -ENOMEM;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", raw);
	fflush(stdout);
	if (ctx && to >= 0 && keep >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
		ret = eadm_open_file(ctx, path);
		if (!ret)
			ret = write_snapshots(b, ctx, b->redactor, b->hw, NULL);
		dup2(keep, STDOUT_FILENO);
	}
	if (ret) {
		if (part->outcome == OUTCOME_OK)
			part->outcome = OUTCOME_FAILED;
		bundle_why(part, "not redacted: %s",
			   ctx ? eadm_errmsg(ctx) : "out of memory");
	}
	eadm_free(ctx);
	if (keep >= 0)
		close(keep);
	close(raw);
	if (ret && to >= 0) {
		close(to);
		to = -1;
	}
	return to;
}

/* If a device hangs while its contexts are read, all other data is still captured. */
int bundle_capture(struct bundle *b)
{
	struct part *part = bundle_part(b, BUNDLE_CAPTURE,
					"two snapshots of all devices");
	uint64_t box = CAPTURE_MS + b->interval / 1000000, half, now;
	bool hw = b->hw;
	int fd, ret;

	if (!part)
		return fail(b->cli, STATUS_FAILED, BUNDLE_CAPTURE,
			    "out of memory");
	now = monotonic_ns();
	half = now < b->deadline ? (b->deadline - now) / 2000000 : 0;
	/*
	 * Start a new worker: it must see &hw, and must not overwrite the old worker's
	 * output.
	 */
	bundle_worker_end(b);
	fd = bundle_run(b, part, box < half ? box : half, collect_capture,
			&hw);
	if (hw && part->outcome == OUTCOME_TIMEOUT && !interrupted) {
		enum outcome with_hw = part->outcome;

		free(part->why);
		part->why = NULL;
		bundle_why(part, "adapter contexts omitted: timed out");
		hw = false;
		close(fd);
		fd = bundle_run(b, part, box / 2, collect_capture, &hw);
		if (part->outcome == OUTCOME_OK)
			part->outcome = with_hw;
	}
	bundle_worker_end(b);
	b->hw = hw;
	if (fd >= 0 && b->redactor)
		fd = redact_capture(b, part, fd);
	ret = bundle_keep(b, part, fd, REDACTED_ALREADY);
	if (fd >= 0 && part->bytes)
		b->capture = fd;
	else if (fd >= 0)
		close(fd);
	return ret;
}

/* ---- renderings -------------------------------------------------------------- */

struct rendering {
	bool json;
	const char *command, *object;	/* object: NULL if none */
};

/*
 * Opens the capture once for all renderings; if this fails, each rendering reports the
 * reason.
 */
static struct eadm_ctx *opened_capture(struct bundle *b, const char *path)
{
	if (b->opened)
		return b->opened;
	b->opened = eadm_new();
	if (b->opened && eadm_open_file(b->opened, path)) {
		eadm_free(b->opened);
		b->opened = NULL;
	}
	return b->opened;
}

static int collect_rendering(struct bundle *b, const void *arg)
{
	const struct rendering *r = arg;
	char path[40];
	const char *argv[8] = { "eadm", "--no-color", "--from", path };
	int n = 4;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->capture);
	if (r->json)
		argv[n++] = "--json";
	argv[n++] = r->command;
	if (r->object)
		argv[n++] = r->object;
	return b->cli->program->run_line(n, (char **)argv,
					 opened_capture(b, path));
}

static int render(struct bundle *b, const struct rendering *r)
{
	struct part *part;
	char name[96];
	int fd, ret;

	snprintf(name, sizeof(name), "%s/%s%s%s.%s", r->json ? "json" : "text",
		 r->command, r->object ? "-" : "", r->object ? r->object : "",
		 r->json ? "json" : "txt");
	part = bundle_part(b, name, r->json ? "JSON output" :
					      "text output");
	if (!part)
		return fail(b->cli, STATUS_FAILED, name, "out of memory");
	fd = bundle_run(b, part, RENDER_MS, collect_rendering, r);
	/*
	 * With --json, errors are written to standard output instead of standard error.
	 */
	if (r->json && part->outcome != OUTCOME_OK)
		bundle_why(part, "same as text/%s%s%s.txt", r->command,
			   r->object ? "-" : "", r->object ? r->object : "");
	ret = part->outcome == OUTCOME_OK || part->outcome == OUTCOME_PARTIAL ?
		      bundle_keep(b, part, fd, REDACTED_ALREADY) : 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * Lists all renderings before the worker is started, so that its memory contains them.
 */
static unsigned int list_renderings(struct rendering *list, unsigned int max)
{
	static const char *const names[] = { "list", "info", "ver", "stat",
					     "diagnose", "check" };
	const struct eadm_object *object;
	unsigned int i, json, n = 0;

	for (json = 0; json < 2; json++) {
		for (i = 0; i < ARRAY_SIZE(names) && n < max; i++)
			list[n++] = (struct rendering){ json, names[i], NULL };
		for (object = eadm_object_next(NULL); object && n < max;
		     object = eadm_object_next(object)) {
			if (eadm_object_class(object) == EADM_CLASS_ROWS ||
			    eadm_object_class(object) == EADM_CLASS_MACHINE)
				list[n++] = (struct rendering){
					json, "dump",
					eadm_object_name(object) };
		}
	}
	return n;
}

int bundle_renderings(struct bundle *b)
{
	static struct rendering list[MAX_RENDERINGS];
	unsigned int i, n;
	int ret = 0;

	if (b->capture < 0)
		return 0;
	n = list_renderings(list, ARRAY_SIZE(list));
	for (i = 0; i < n && !ret && !interrupted; i++)
		ret = render(b, &list[i]);
	bundle_worker_end(b);
	return ret;
}
