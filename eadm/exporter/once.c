// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "eadm exporter --once" and "--textfile": the current metrics. They need no server, so
 * eadm itself prints them: loading the libraries of a server would take longer.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exporter.h"

struct once {
	struct request request;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done, complete;
	struct text *text;
};

static void on_metrics(struct request *request, struct text *text, bool complete)
{
	struct once *once = (struct once *)request;

	pthread_mutex_lock(&once->lock);
	once->text = text ? text_get(text) : NULL;
	once->complete = complete;
	once->is_done = true;
	pthread_cond_signal(&once->done);
	pthread_mutex_unlock(&once->lock);
}

/*
 * Labels may contain any character, and readers receive them unchanged; but on a
 * terminal, control characters are escaped.
 */
static bool write_text(const struct buffer *text)
{
	const char *p = text->data, *end = text->data + text->len, *line;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(text->data, 1, text->len, stdout);
		return !fflush(stdout) && !ferror(stdout);
	}
	for (; p < end; p = line + 1) {
		line = memchr(p, '\n', end - p);
		if (!line)
			line = end;
		put_clean(stdout, p, line - p);
		putchar('\n');
	}
	return !fflush(stdout) && !ferror(stdout);
}

static int write_once(struct cli *cli, const struct once *once)
{
	const char *path = cli->args.opt[OPT_TEXTFILE];
	int status;

	if (!once->text)
		return fail(cli, STATUS_FAILED, "metrics", "out of memory");
	if (path) {
		status = textfile_write(cli, path, &once->text->buffer);
		if (status)
			return status;
	} else if (!write_text(&once->text->buffer)) {
		return fail(cli, STATUS_FAILED, "standard output", "%s",
			    strerror(errno));
	}
	return once->complete ? STATUS_OK : STATUS_PARTIAL;
}

static int scrape_once(struct cli *cli, const struct setup *setup)
{
	struct once once = {
		.request = { .format = FORMAT_TEXT, .done = on_metrics },
	};
	struct scraper *scraper;
	int status;

	scraper = scraper_new(&setup->model, &setup->scrape);
	if (!scraper || scraper_start(scraper))
		return fail(cli, STATUS_FAILED, "start", "%s",
			    strerror(ENOMEM));
	pthread_mutex_init(&once.lock, NULL);
	pthread_cond_init(&once.done, NULL);
	/* No client is waiting: each device may use its full time. */
	once.request.deadline = UINT64_MAX / 2;
	if (!scraper_ask(scraper, &once.request))
		return STATUS_FAILED;
	pthread_mutex_lock(&once.lock);
	while (!once.is_done)
		pthread_cond_wait(&once.done, &once.lock);
	pthread_mutex_unlock(&once.lock);
	scraper_stop(scraper);
	status = write_once(cli, &once);
	text_put(once.text);
	return status;
}

int exporter_once(struct cli *cli)
{
	const char *path = cli->args.opt[OPT_TEXTFILE];
	struct setup setup = { 0 };
	int status = 0;

	/*
	 * Only one thread runs at a time, so separate arenas would only cost setup
	 * time.
	 */
	mallopt(M_ARENA_MAX, 1);
	if (path)
		status = check_target(cli, path);
	if (!status)
		status = exporter_setup(cli, true, &setup);
	return status ? status : scrape_once(cli, &setup);
}
