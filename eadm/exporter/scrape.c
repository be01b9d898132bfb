// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scrape: one thread reads device after device and responds at the end, so that there
 * is usually only one thread switch. With a thread per device, a scrape takes 25 % more
 * CPU time for 8 devices, and 78 % more for 32 devices. A watch thread supervises the
 * reading thread: if that is stuck with a device, a different thread continues with the
 * remaining devices, so that only the metrics of the hanging device are lost, and
 * clients whose time is up receive a response. Further scrapes do not wait for a
 * hanging device until it has responded. The watch sleeps until a timer expires;
 * usually, the timer is stopped before it expires.
 *
 * Lock: scraper.lock protects all members below except those marked as owned by the
 * reading thread.
 */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "grow.h"
#include "exporter.h"

#define MAX_TARGETS 256
/* Another thread is added if no thread takes a further device for this long, in ns. */
#define PATIENCE 50000000
#define DEVICES "/sys/class/infiniband"
/* Loading or unloading the companion changes most of the devices' data. */
#define COMPANION "/sys/module/eadm"
/* The list of devices is read at least once in this many scrapes. */
#define LIST_SCRAPES 30
#define STACK_SIZE (256 * 1024)
/*
 * Share of a client's timeout for the scrape; the rest is for transferring the
 * response.
 */
#define DEADLINE_PERCENT 90

/* A device or the list of devices, with its state. */
struct target {
	struct scraper *scraper;
	struct target *next;
	char *device;			/* NULL: the list of devices */
	unsigned int asked, done;	/* last scrapes requested and completed */
	uint64_t since;			/* time of the request, or when reading began */
	bool running;			/* a thread is reading the target */
	bool leave;			/* the device was removed */
	struct section sections[MAX_COLLECTORS];
	unsigned int fresh[MAX_COLLECTORS];	/* scrape of each section */
	/* Owned by the reading thread: */
	struct eadm_ctx *ctx;
	struct memory memory;
	unsigned int snapshot;
	unsigned int list;		/* scrape of the list in use */
};

struct names {
	char (*name)[64];
	unsigned int n, max;
	unsigned int omitted;		/* those beyond MAX_TARGETS, or with a name of the list */
	bool failed;
};

struct scraper {
	const struct model *model;
	struct scrape_opts opts;
	uint64_t start;			/* start of the program, ns since 1970 */
	pthread_mutex_t lock;
	pthread_cond_t work;		/* wakes reading threads */
	pthread_t watch;
	int timer;			/* wakes the watch */
	bool started, stop;
	bool running;			/* a scrape is running */
	bool again;			/* the scrape is reading new devices */
	uint64_t begin, limit;		/* times of the running scrape */
	struct request *batch;		/* clients waiting for the scrape */
	unsigned int scrape;		/* number of the current or last scrape */
	unsigned int listed;		/* scrape that last read the list */
	uint64_t listed_names;		/* hash of the names in sysfs at that time */
	DIR *folder;			/* folder of devices in sysfs, or NULL */
	bool failed;			/* some part of the last scrape failed */
	bool diagnosed;			/* devices were diagnosed since free memory was returned */
	struct target *lister, *targets;
	unsigned int n_targets;
	unsigned int n_threads, n_idle;	/* reading threads */
	uint64_t taken;			/* when a thread last took a target */
	struct names names;		/* devices found by the last successful listing */
	int list_error;
	struct request *waiting;
	struct text *text[FORMATS];
};

/* ---- text ------------------------------------------------------------------------ */

struct text *text_get(struct text *text)
{
	__atomic_add_fetch(&text->users, 1, __ATOMIC_RELAXED);
	return text;
}

/* @text may be NULL. */
void text_put(struct text *text)
{
	if (!text || __atomic_sub_fetch(&text->users, 1, __ATOMIC_ACQ_REL))
		return;
	buffer_free(&text->buffer);
	free(text);
}

/*
 * Returns an empty text, or NULL if out of memory. The last one is used again unless
 * clients are still receiving it.
 */
static struct text *text_begin(struct text **last)
{
	if (*last && __atomic_load_n(&(*last)->users, __ATOMIC_ACQUIRE) > 1) {
		text_put(*last);
		*last = NULL;
	}
	if (!*last) {
		*last = calloc(1, sizeof(**last));
		if (*last)
			(*last)->users = 1;
		return *last;
	}
	(*last)->buffer.len = 0;
	(*last)->buffer.failed = false;
	return *last;
}

/* ---- reading --------------------------------------------------------------------- */

int scrape_open(const struct scrape_opts *opts, struct eadm_ctx *ctx)
{
	int ret;

	if (opts->lib_timeout)
		eadm_set_timeout(ctx, opts->lib_timeout / 1000000);
	eadm_set_peers(ctx, !opts->no_peers);
	ret = opts->from ? eadm_open_file(ctx, opts->from) :
	      opts->peer ? eadm_open_peer(ctx, opts->peer) :
			   eadm_open_live(ctx);
	return !ret && opts->snapshot ? eadm_snapshot_go(ctx,
							 opts->snapshot) : ret;
}

static int open_target(struct target *t)
{
	int ret;

	if (t->ctx)
		return 0;
	t->ctx = eadm_new();
	if (!t->ctx)
		return -ENOMEM;
	ret = scrape_open(&t->scraper->opts, t->ctx);
	if (ret) {
		eadm_free(t->ctx);
		t->ctx = NULL;
	}
	return ret;
}

/*
 * Each scrape of a capture shows the next snapshot; the last one is shown indefinitely.
 */
static void go_to_snapshot(struct target *t, unsigned int scrape)
{
	while (!eadm_is_live(t->ctx) && t->snapshot + 1 < scrape &&
	       eadm_snapshot_next(t->ctx) > 0)
		t->snapshot++;
}

static void add_name(struct names *names, const char *name, const char *only)
{
	unsigned int i;

	if (!name || !*name || (only && strcmp(name, only) != 0))
		return;
	/* The label "device" cannot distinguish devices with the same name. */
	for (i = 0; i < names->n && strcmp(names->name[i], name) != 0; i++)
		;
	if (i < names->n || names->n == MAX_TARGETS) {
		names->omitted++;
		return;
	}
	if (!grow(names->name, names->n, names->max)) {
		names->failed = true;
		return;
	}
	snprintf(names->name[names->n++], sizeof(*names->name), "%s", name);
}

static int read_names(struct target *t, struct names *names)
{
	const char *only = t->scraper->opts.device, *name;
	int ret = eadm_scan(t->ctx);
	unsigned int i;

	for (i = 0; !ret && (name = eadm_device_name(t->ctx, i)); i++)
		add_name(names, name, only);
	return names->failed ? -ENOMEM : ret;
}

static void list_devices(struct target *t)
{
	struct scraper *s = t->scraper;
	struct names names = { 0 }, spare;
	int ret = t->ctx ? read_names(t, &names) : -EIO;

	/* A machine without devices or RDMA is not an error. */
	if (ret == -ENODEV || ret == -EOPNOTSUPP)
		ret = 0;
	pthread_mutex_lock(&s->lock);
	s->list_error = ret;
	if (!ret) {
		spare = s->names;
		s->names = names;
		names = spare;
	}
	pthread_mutex_unlock(&s->lock);
	free(names.name);
}

/*
 * Keeps a copy without spare room for clients: with many devices, the room required for
 * reading would otherwise take most of the memory.
 */
static void publish(struct target *t, unsigned int collector,
		    unsigned int scrape, const struct section *work)
{
	struct section copy = *work, old;

	if (!samples_copy(&copy.samples, &work->samples))
		copy.error = -ENOMEM;
	pthread_mutex_lock(&t->scraper->lock);
	old = t->sections[collector];
	t->sections[collector] = copy;
	t->fresh[collector] = scrape;
	pthread_mutex_unlock(&t->scraper->lock);
	samples_release(&old.samples);
}

static void do_scrape(struct target *t, unsigned int scrape, unsigned int list,
		      struct section *work)
{
	const struct model *model = t->scraper->model;
	unsigned int i;

	if (!open_target(t))
		go_to_snapshot(t, scrape);
	if (!t->device)
		list_devices(t);
	if (!t->device || !t->ctx)
		return;
	/* If the devices cannot be listed, each dump reports the reason itself. */
	if (t->list != list && eadm_scan(t->ctx))
		eadm_scan_drop(t->ctx);
	t->list = list;
	eadm_keep_answers(t->ctx, true);
	for (i = 0; i < model->n_collectors; i++) {
		collect(t->ctx, model, i, t->device, &t->scraper->opts.budget,
			&t->memory, work);
		publish(t, i, scrape, work);
	}
	eadm_keep_answers(t->ctx, false);
}

/* Returns true if all requested targets are done; called with the lock held. */
static bool all_done(const struct scraper *s)
{
	const struct target *t;

	if (s->lister->asked == s->scrape && s->lister->done != s->scrape)
		return false;
	for (t = s->targets; t; t = t->next) {
		if (t->asked == s->scrape && t->done != s->scrape && !t->leave)
			return false;
	}
	return true;
}

/*
 * Returns a target that must be read and that no thread is reading; called with the
 * lock held.
 */
static struct target *next_target(const struct scraper *s)
{
	struct target *t;

	if (s->lister->asked != s->lister->done && !s->lister->running)
		return s->lister;
	for (t = s->targets; t; t = t->next) {
		if (t->asked != t->done && !t->running && !t->leave)
			return t;
	}
	return NULL;
}

static void target_free(struct target *t)
{
	unsigned int i;

	for (i = 0; i < MAX_COLLECTORS; i++)
		samples_release(&t->sections[i].samples);
	memory_reset(&t->memory);
	row_release(&t->memory.row);
	eadm_free(t->ctx);
	free(t->device);
	free(t);
}

static int thread_start(pthread_t *thread, void *(*fn)(void *), void *data)
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	ret = pthread_create(thread, &attr, fn, data);
	pthread_attr_destroy(&attr);
	return -ret;
}

static struct target *target_new(struct scraper *s, const char *device)
{
	struct target *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->scraper = s;
	t->device = device ? strdup(device) : NULL;
	if (device && !t->device) {
		free(t);
		return NULL;
	}
	return t;
}

/* ---- list of devices; called with the lock held ---------------------------------- */

static bool is_listed(const struct scraper *s, const char *device)
{
	unsigned int i;

	for (i = 0; i < s->names.n; i++) {
		if (!strcmp(s->names.name[i], device))
			return true;
	}
	return false;
}

static void ask(struct scraper *s, struct target *t)
{
	uint64_t now = monotonic_ns();

	/* A slow target continues with this scrape when its previous one is done. */
	if (t->leave || (t->asked != t->done &&
			 now - t->since > s->opts.device_limit))
		return;
	if (t->asked == t->done)
		t->since = now;
	t->asked = s->scrape;
}

/* Adds new devices, which are read immediately; returns true if there are any. */
static bool add_targets(struct scraper *s)
{
	struct target *t, **end;
	bool any = false;
	unsigned int i;

	for (i = 0; i < s->names.n; i++) {
		for (end = &s->targets; *end; end = &(*end)->next) {
			if (!(*end)->leave &&
			    !strcmp((*end)->device, s->names.name[i]))
				break;
		}
		if (*end || s->n_targets == MAX_TARGETS)
			continue;
		t = target_new(s, s->names.name[i]);
		if (!t)
			continue;
		*end = t;
		s->n_targets++;
		ask(s, t);
		any = true;
	}
	return any;
}

/* Drops removed devices; a hanging device is freed later. */
static void drop_targets(struct scraper *s)
{
	struct target **at = &s->targets, *t;

	while ((t = *at)) {
		if (!is_listed(s, t->device))
			t->leave = true;
		if (!t->leave || t->running) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		target_free(t);
		s->n_targets--;
	}
}

/* ---- responses; called with the lock held ------------------------------------------ */

static void put_health(const struct scraper *s, const struct target *t,
		       struct samples *samples)
{
	const struct model *model = s->model;
	unsigned int i;
	uint32_t labels;

	for (i = 0; i < model->n_collectors; i++) {
		const struct section *section = &t->sections[i];
		bool fresh = t->fresh[i] == s->scrape;
		char name[64];

		if (fresh && !section->supported)
			continue;
		snprintf(name, sizeof(name), "%s%s",
			 model->collectors[i].sums ? "process_" : "",
			 model->collectors[i].name);
		labels = samples_labels(samples);
		samples_label(samples, "device", t->device);
		samples_label(samples, "collector", name);
		samples_add(samples, model->own[OWN_SUCCESS], labels,
			    fresh && !section->error);
		if (!fresh)
			continue;
		samples_add(samples, model->own[OWN_DURATION], labels,
			    section->duration);
		samples_add(samples, model->own[OWN_TRUNCATED], labels,
			    section->truncated);
		if (model->collectors[i].pods)
			samples_add(samples, model->own[OWN_SKIPPED], labels,
				    section->skipped);
	}
}

/* Returns true if the list of devices could be read when it was last requested. */
static bool is_list_good(const struct scraper *s)
{
	return s->lister->done == s->listed && !s->list_error;
}

static void put_list(const struct scraper *s, struct samples *samples)
{
	const struct model *model = s->model;
	uint32_t labels = samples_labels(samples);

	samples_label(samples, "device", "");
	samples_label(samples, "collector", "list");
	samples_add(samples, model->own[OWN_SUCCESS], labels, is_list_good(s));
	if (!is_list_good(s))
		return;
	samples_add(samples, model->own[OWN_TRUNCATED], labels,
		    s->names.omitted != 0);
	own_add(samples, model, OWN_DEVICES, s->names.n + s->names.omitted);
}

/* Adds the program's own metrics. */
static void put_own(const struct scraper *s, struct samples *samples)
{
	const struct model *model = s->model;
	const struct target *t;
	uint32_t labels = samples_labels(samples);

	samples_label(samples, "version", EADM_VERSION);
	samples_label(samples, "libeadm", eadm_version());
	samples_add(samples, model->own[OWN_BUILD], labels, 1);
	for (t = s->targets; t; t = t->next) {
		if (!t->leave)
			put_health(s, t, samples);
	}
	put_list(s, samples);
	if (s->opts.server)
		s->opts.server(s->opts.server_data, model, samples);
	own_add_process(samples, model, s->start);
	own_add(samples, model, OWN_SCRAPE, monotonic_ns() - s->begin);
	samples_sort(samples);
}

/*
 * Returns true if data is missing; the next scrape then reads the list again, which can
 * help.
 */
static bool has_failed(const struct scraper *s)
{
	const struct target *t;
	unsigned int i;

	if (!is_list_good(s))
		return true;
	for (t = s->targets; t; t = t->next) {
		for (i = 0; i < s->model->n_collectors; i++) {
			if (t->fresh[i] != s->scrape || t->sections[i].error)
				return true;
		}
	}
	return false;
}

/* Returns false if the text is incomplete. */
static bool make_text(struct scraper *s, enum format format)
{
	struct text *text = text_begin(&s->text[format]);
	const struct samples **parts;
	struct samples own = { 0 };
	struct target *t;
	unsigned int i;
	size_t n = 0;

	if (!text)
		return false;
	text->scrape = s->scrape;
	put_own(s, &own);
	parts = calloc(s->n_targets * s->model->n_collectors + 1,
		       sizeof(*parts));
	if (!parts || own.failed) {
		text->buffer.failed = true;
		goto out;
	}
	parts[n++] = &own;
	for (t = s->targets; t; t = t->next) {
		for (i = 0; !t->leave && i < s->model->n_collectors; i++) {
			if (t->fresh[i] == s->scrape)
				parts[n++] = &t->sections[i].samples;
		}
	}
	render(s->model, parts, n, format, &text->buffer);
out:
	free(parts);
	samples_release(&own);
	return !has_failed(s) && !s->names.omitted && !text->buffer.failed;
}

/* Responds to the clients whose time is up, or to all clients. */
static void answer(struct scraper *s, bool all)
{
	bool made[FORMATS] = { false }, complete[FORMATS] = { false };
	struct request **at = &s->batch, *request;
	uint64_t now = monotonic_ns();
	struct text *text;

	while ((request = *at)) {
		enum format format = request->format;

		if (!all && request->deadline > now) {
			at = &request->next;
			continue;
		}
		if (!made[format])
			complete[format] = make_text(s, format);
		made[format] = true;
		*at = request->next;
		text = s->text[format];
		request->done(request, text && !text->buffer.failed ? text : NULL,
			      complete[format]);
	}
}

/* ---- a scrape; called with the lock held ------------------------------------------- */

/* Sets the time of the next check by the watch; 0 disarms the timer. */
static void set_timer(struct scraper *s, uint64_t when)
{
	struct itimerspec at = { .it_value = { when / 1000000000,
					       when % 1000000000 } };

	timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void call_watch(struct scraper *s)
{
	set_timer(s, 1);
}

/*
 * Sets the timer to the time at which a client's time is up, or a thread is assumed to
 * be stuck.
 */
static void watch_again(struct scraper *s)
{
	const struct request *request;
	uint64_t when = s->limit;

	for (request = s->batch; request; request = request->next) {
		if (request->deadline < when)
			when = request->deadline;
	}
	if (next_target(s) && s->taken + PATIENCE < when)
		when = s->taken + PATIENCE;
	set_timer(s, when);
}

/*
 * Returns a hash of the names in sysfs that does not depend on their order. The folder
 * stays open unless it is empty, because it may then have been removed.
 */
static uint64_t names_in_sysfs(struct scraper *s)
{
	uint64_t sum = 0, hash;
	struct dirent *entry;
	unsigned int n = 0;
	const char *p;

	if (!access(COMPANION, F_OK))
		sum++;
	if (s->folder)
		rewinddir(s->folder);
	else
		s->folder = opendir(DEVICES);
	while (s->folder && (entry = readdir(s->folder))) {
		if (entry->d_name[0] == '.')
			continue;
		hash = 14695981039346656037ULL;
		for (p = entry->d_name; *p; p++)
			hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
		sum += hash;
		n++;
	}
	if (s->folder && !n) {
		closedir(s->folder);
		s->folder = NULL;
	}
	return sum;
}

/*
 * Reading the list of devices takes as many requests as reading a device. Therefore, it
 * is only read if the names in sysfs have changed, after a failure, and periodically,
 * because sysfs does not show every change.
 */
static bool needs_list(struct scraper *s)
{
	uint64_t names;
	bool needed;

	if (s->opts.from)
		return true;
	names = names_in_sysfs(s);
	needed = !s->listed || s->failed || names != s->listed_names ||
		 s->scrape - s->listed >= LIST_SCRAPES;
	s->listed_names = names;
	return needed;
}

/*
 * Known devices are read at the same time as the list, so that there is only one wait;
 * new devices follow.
 */
static void begin_scrape(struct scraper *s)
{
	struct target *t;

	s->begin = monotonic_ns();
	s->limit = s->begin + s->opts.device_limit;
	s->running = true;
	s->again = false;
	/* Later requests are handled by the next scrape. */
	s->batch = s->waiting;
	s->waiting = NULL;
	s->scrape++;
	if (needs_list(s)) {
		ask(s, s->lister);
		if (s->lister->asked == s->scrape)
			s->listed = s->scrape;
	}
	for (t = s->targets; t; t = t->next)
		ask(s, t);
	s->taken = s->begin;
	watch_again(s);
}

/* Results of threads that are still reading are discarded. */
static void end_scrape(struct scraper *s)
{
	drop_targets(s);
	if (!s->again && add_targets(s)) {
		s->again = true;
		s->taken = monotonic_ns();
		s->limit = s->taken + s->opts.device_limit;
		watch_again(s);
		return;
	}
	s->failed = has_failed(s);
	answer(s, true);
	s->running = false;
	if (s->stop || s->waiting)
		call_watch(s);
	else
		set_timer(s, 0);
}

static bool can_begin(const struct scraper *s)
{
	return !s->running && s->waiting;
}

static bool can_end(const struct scraper *s)
{
	return s->running && (all_done(s) || !s->batch);
}

static void read_target(struct scraper *s, struct target *t,
			struct section *work)
{
	unsigned int scrape = t->asked, list = s->listed;
	uint64_t diagnosed = t->memory.verdicts.when;

	t->running = true;
	t->since = monotonic_ns();
	s->taken = t->since;
	pthread_mutex_unlock(&s->lock);
	do_scrape(t, scrape, list, work);
	pthread_mutex_lock(&s->lock);
	s->diagnosed |= t->memory.verdicts.when != diagnosed;
	t->running = false;
	t->done = scrape;
}

/*
 * Returns free memory to the kernel: a diagnosis of many objects needs several times
 * the memory of a scrape, which would otherwise remain resident until the next
 * diagnosis. Called with the lock held.
 */
static void return_memory(struct scraper *s)
{
	s->diagnosed = false;
	pthread_mutex_unlock(&s->lock);
	malloc_trim(0);
	pthread_mutex_lock(&s->lock);
}

static void *reader_main(void *data)
{
	struct scraper *s = data;
	struct section work = { 0 };
	struct target *t;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		if (can_begin(s)) {
			begin_scrape(s);
		} else if (can_end(s)) {
			end_scrape(s);
		} else if ((t = next_target(s))) {
			read_target(s, t, &work);
		} else if (s->diagnosed && !s->running) {
			return_memory(s);
		} else {
			s->n_idle++;
			pthread_cond_wait(&s->work, &s->lock);
			s->n_idle--;
		}
	}
	return NULL;
}

/*
 * Wakes an idle reading thread or starts a new one. Each device, and the list, can
 * block one thread.
 */
static void hire(struct scraper *s)
{
	pthread_t thread;

	s->taken = monotonic_ns();
	if (s->n_idle) {
		pthread_cond_signal(&s->work);
	} else if (s->n_threads <= s->n_targets &&
		   !thread_start(&thread, reader_main, s)) {
		pthread_detach(thread);
		s->n_threads++;
	}
}

/* The watch never reads. If all threads are stuck, it completes the scrape itself. */
static void look_after(struct scraper *s)
{
	uint64_t now;

	if (can_begin(s)) {
		begin_scrape(s);
		hire(s);
	}
	if (!s->running)
		return;
	answer(s, false);
	now = monotonic_ns();
	if (can_end(s) || now >= s->limit) {
		end_scrape(s);
		if (s->running)
			hire(s);
	} else if (next_target(s) && now >= s->taken + PATIENCE) {
		hire(s);
	}
	if (s->running)
		watch_again(s);
}

static void *watch_main(void *data)
{
	struct scraper *s = data;
	uint64_t times;

	pthread_mutex_lock(&s->lock);
	while (!s->stop || s->running || s->waiting) {
		pthread_mutex_unlock(&s->lock);
		if (read(s->timer, &times, sizeof(times)) < 0 &&
		    errno != EINTR)
			return NULL;
		pthread_mutex_lock(&s->lock);
		look_after(s);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- the whole ---------------------------------------------------------------------------- */

struct scraper *scraper_new(const struct model *model,
			    const struct scrape_opts *opts)
{
	struct scraper *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->start = clock_ns(CLOCK_REALTIME);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (s->timer < 0) {
		free(s);
		return NULL;
	}
	s->model = model;
	s->opts = *opts;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	return s;
}

int scraper_start(struct scraper *s)
{
	s->lister = target_new(s, NULL);
	if (!s->lister || thread_start(&s->watch, watch_main, s))
		return -ENOMEM;
	s->started = true;
	return 0;
}

/*
 * Requests metrics. A different thread responds before the deadline. Returns false if
 * there will be no response, because the scraper is being stopped.
 */
bool scraper_ask(struct scraper *s, struct request *request)
{
	uint64_t now = monotonic_ns();
	bool ok, idle = false;

	if (request->deadline > now)
		request->deadline = now + (request->deadline - now) / 100 *
						  DEADLINE_PERCENT;
	pthread_mutex_lock(&s->lock);
	ok = !s->stop;
	if (ok) {
		request->next = s->waiting;
		s->waiting = request;
		idle = s->n_idle;
		/* The reading threads may be stuck, or none has been started yet. */
		if (!idle && !s->running)
			call_watch(s);
	}
	pthread_mutex_unlock(&s->lock);
	/*
	 * Signal without holding the lock, because the woken thread would have to wait
	 * for it.
	 */
	if (idle)
		pthread_cond_signal(&s->work);
	return ok;
}

/*
 * Responds to waiting clients and accepts no further ones. Reading threads may hang for
 * a long time: they and their memory are abandoned until the process ends.
 */
void scraper_stop(struct scraper *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	call_watch(s);
	pthread_mutex_unlock(&s->lock);
	if (s->started)
		pthread_join(s->watch, NULL);
}
