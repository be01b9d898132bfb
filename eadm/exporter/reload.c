// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The web configuration, and reloading it on SIGHUP. Reading blocks while a file server
 * does not respond, so a separate thread reads. Signals that arrive in the meantime do
 * not accumulate; they cause a single further reading.
 */
#include <errno.h>
#include <stdlib.h>

#include "exporter.h"

#define SECOND 1000000000ULL
/* A reload that takes longer is reported. */
#define LATE (5 * SECOND)
/*
 * Maximum number of replaced servers that are still finishing their requests; the next
 * reload waits for one of them.
 */
#define MAX_LEAVING 8

struct reloader {
	struct cli *cli;
	struct http *http;
	pthread_mutex_t lock;		/* protects the following members */
	pthread_cond_t change;
	uint64_t asked;			/* time of the first signal not handled yet, or 0 */
	uint64_t since;			/* time of the signal being handled, or 0 */
	bool noted;			/* a slow reload was reported */
	bool failed;			/* the last reload failed */
	unsigned int leaving;
};

struct leaver {
	struct reloader *reloader;
	struct server *server;
};

int config_read(struct cli *cli, struct web_config *config)
{
	const char *path = cli->args.opt[OPT_WEB_CONFIG];
	char why[300];
	int ret;

	*config = (struct web_config){ 0 };
	if (!path)
		return 0;
	ret = web_config_read(path, config, why, sizeof(why));
	if (!ret)
		return 0;
	return fail(cli, ret == -EACCES || ret == -EPERM ?
			      STATUS_PERMISSION : STATUS_FAILED,
		    path, "%s", why);
}

/* Sets @old to the replaced server, for http_leave(). */
int config_use(struct cli *cli, struct http *http, struct web_config *config,
	       struct server **old)
{
	bool tls = config->cert;
	char why[300];

	if (!http_start(http, config, old, why, sizeof(why)))
		return 0;
	return fail(cli, STATUS_FAILED,
		    tls ? cli->args.opt[OPT_WEB_CONFIG] : "start", "%s", why);
}

/* ---- the thread --------------------------------------------------------------- */

static void *leave_main(void *data)
{
	struct leaver *leaver = data;
	struct reloader *r = leaver->reloader;

	http_leave(leaver->server);
	free(leaver);
	pthread_mutex_lock(&r->lock);
	r->leaving--;
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/*
 * Runs in a separate thread, because slow clients of the old server must not delay the
 * next reload.
 */
static void leave(struct reloader *r, struct server *old)
{
	struct leaver *leaver = malloc(sizeof(*leaver));
	pthread_t thread;

	if (leaver) {
		*leaver = (struct leaver){ r, old };
		pthread_mutex_lock(&r->lock);
		r->leaving++;
		pthread_mutex_unlock(&r->lock);
		if (!pthread_create(&thread, NULL, leave_main, leaver)) {
			pthread_detach(thread);
			return;
		}
		pthread_mutex_lock(&r->lock);
		r->leaving--;
		pthread_mutex_unlock(&r->lock);
		free(leaver);
	}
	http_leave(old);
}

/* If the new configuration is invalid, the old one remains in use. */
static bool reload(struct reloader *r)
{
	struct web_config config;
	struct server *old;

	if (config_read(r->cli, &config))
		return false;
	if (config_use(r->cli, r->http, &config, &old)) {
		web_config_free(&config);
		return false;
	}
	note(r->cli, "reloaded the web configuration");
	leave(r, old);
	return true;
}

static void *reload_main(void *data)
{
	struct reloader *r = data;
	bool ok;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (!r->asked || r->leaving == MAX_LEAVING)
			pthread_cond_wait(&r->change, &r->lock);
		r->since = r->asked;
		r->asked = 0;
		pthread_mutex_unlock(&r->lock);
		ok = reload(r);
		pthread_mutex_lock(&r->lock);
		r->since = 0;
		r->noted = false;
		r->failed = !ok;
	}
	return NULL;
}

/* Returns NULL if out of memory. */
struct reloader *reloader_start(struct cli *cli, struct http *http)
{
	struct reloader *r = calloc(1, sizeof(*r));
	pthread_t thread;

	if (!r)
		return NULL;
	r->cli = cli;
	r->http = http;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->change, NULL);
	if (pthread_create(&thread, NULL, reload_main, r)) {
		free(r);
		return NULL;
	}
	pthread_detach(thread);
	return r;
}

/* ---- for other threads; these functions never wait for a reload ------------------ */

/* Called with the lock held. */
static bool is_late(const struct reloader *r)
{
	uint64_t since = r->since ? r->since : r->asked;

	return since && monotonic_ns() - since >= LATE;
}

void reloader_ask(struct reloader *r)
{
	bool again;

	pthread_mutex_lock(&r->lock);
	again = r->noted && !r->asked;
	if (!r->asked)
		r->asked = monotonic_ns();
	pthread_cond_signal(&r->change);
	pthread_mutex_unlock(&r->lock);
	if (again)
		note(r->cli, "the web configuration is still being loaded; it will be reloaded afterwards");
}

/* Reports a slow reload once; called periodically. */
void reloader_check(struct reloader *r)
{
	bool late;

	pthread_mutex_lock(&r->lock);
	late = !r->noted && is_late(r);
	r->noted |= late;
	pthread_mutex_unlock(&r->lock);
	if (late)
		note(r->cli, "%s: not loaded within %u s of SIGHUP; the old configuration remains in use",
		     r->cli->args.opt[OPT_WEB_CONFIG],
		     (unsigned int)(LATE / SECOND));
}

void reloader_samples(struct reloader *r, const struct model *model,
		      struct samples *samples)
{
	bool ok;

	pthread_mutex_lock(&r->lock);
	ok = !r->failed && !is_late(r);
	pthread_mutex_unlock(&r->lock);
	own_add(samples, model, OWN_RELOAD, ok);
}
