// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes a dump of the library to a writer, as most commands do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"
#include "view.h"

static int open_failed(struct cli *cli, const struct eadm_object *object,
		       const struct eadm_dump_opts *opts, int error)
{
	if (error == -ENODEV && opts->device)
		return unknown_device(cli, opts->device);
	return fail_lib(cli, error, eadm_object_title(object));
}

/* Passes the dump's notes to the writer; returns STATUS_PARTIAL if one is an error. */
int dump_notes(struct cli *cli, struct eadm_dump *dump)
{
	struct eadm_note n = { .size = sizeof(n) };
	int status = STATUS_OK;
	unsigned int i;

	if (eadm_dump_inconsistent(dump))
		cli->writer->ops->inconsistent(cli->writer);
	for (i = 0; eadm_dump_note(dump, i, &n) > 0; i++) {
		if (n.error)
			status = STATUS_PARTIAL;
		cli->writer->ops->note(cli->writer, &n);
	}
	return status;
}

/* ---- without a device ---------------------------------------------------------- */

/*
 * Returns true if the @error of a pass means that there is no device, and the view waits
 * for a device: any device, or that of --device if it existed before. The table is then
 * empty, with a message. Any other result ends the wait.
 */
bool view_absent(struct view *view, int error)
{
	view->table.absent = NULL;
	if (error != -ENODEV || !view->waits ||
	    (view->opts.device && !view->found))
		return false;
	view->table.absent = "no device";
	return true;
}

/* Returns the status at the end of a watch, which fails if no device was ever found. */
int view_end(struct cli *cli, const struct view *view, int status)
{
	return status || view->found || !view->waits || interrupted ? status :
		       fail(cli, STATUS_NOT_FOUND, "devices", "%s",
			    eadm_errmsg(cli->ctx));
}

/* ---- rows ----------------------------------------------------------------------- */

struct pass {
	struct cli *cli;
	struct view *view;
	struct rows kept;
	unsigned long long seen;
	struct blind blind;
	bool keeps;		/* rows are stored, and shown sorted at the end */
};

static int take_row(struct pass *pass, const struct eadm_record *record)
{
	const struct view *view = pass->view;

	if (!(++pass->seen % 256) && (pass->keeps || !isatty(STDOUT_FILENO)))
		progress(pass->cli, eadm_object_title(view->object),
			 pass->seen);
	blind_see(&pass->blind, record);
	if (!filter_passes(&view->filter, record))
		return 0;
	if (!pass->keeps)
		write_record(pass->cli->writer, record);
	else if (!rows_add(&pass->kept, record))
		return fail(pass->cli, STATUS_FAILED, "rows", "out of memory");
	return 0;
}

/* Adds notes about options that cannot be applied; returns the status. */
int blind_notes(struct cli *cli, struct view *view, struct blind *blind)
{
	int status = blind_status(blind);
	struct eadm_note note;
	size_t at = 0;

	/* Rows may be missing for this reason. */
	view->table.unknown = status;
	while (blind_next(blind, &at, &note))
		cli->writer->ops->note(cli->writer, &note);
	/* A watch continues: other rows may follow. */
	return status && view->waits ? STATUS_PARTIAL : status;
}

static int end_of_rows(struct pass *pass, struct eadm_dump *dump, int ret)
{
	const struct view *view = pass->view;
	const char *device = view->opts.device;
	struct cli *cli = pass->cli;
	int status, blind;
	size_t i;

	if (ret == -ENOENT && view->setting)
		return fail(cli, STATUS_UNSUPPORTED, view->setting,
			    device ? "the adapter does not support this setting" :
				     "no adapter supports this setting");
	if (ret < 0 && ret == -ENOENT && view->opts.has_id) {
		char id[32];

		snprintf(id, sizeof(id), "%s %llu",
			 eadm_object_name(view->object),
			 (unsigned long long)view->opts.id);
		return fail(cli, STATUS_NOT_FOUND, id, "no such object%s%s",
			    device ? " on " : "", device ? device : "");
	}
	if (ret < 0)
		return fail_lib(cli, ret, eadm_object_title(view->object));
	rows_sort(&pass->kept, &view->sort);
	status = view->show ? view->show(cli, pass->view, &pass->kept) : 0;
	for (i = 0; !view->show && i < pass->kept.n; i++)
		write_record(cli->writer, pass->kept.row[i]);
	blind = blind_notes(cli, pass->view, &pass->blind);
	if (!status)
		status = dump_notes(cli, dump);
	if (!status || status == STATUS_PARTIAL)
		status = blind ? blind : status;
	if (interrupted && interrupted != SIGPIPE && !cli->args.opt[OPT_WATCH])
		status = fail(cli, STATUS_FAILED,
			      eadm_object_title(view->object), "interrupted");
	return status;
}

/* Passes all rows to the writer once; the writer stays open. */
int view_show(struct cli *cli, struct view *view)
{
	struct pass pass = { .cli = cli, .view = view,
			     .keeps = view->sort.n || view->show };
	const struct eadm_record *record;
	struct eadm_dump *dump;
	int ret, status = 0;

	blind_init(&pass.blind, view->object, &view->filter, view->opts.hw);
	ret = eadm_dump_open(cli->ctx, view->object, &view->opts, &dump);
	if (view_absent(view, ret)) {
		cli->writer->ops->begin(cli->writer, &view->table);
		return 0;
	}
	if (ret)
		return open_failed(cli, view->object, &view->opts, ret);
	/* An error before the first row is reported without opening a document. */
	ret = eadm_dump_next(dump, &record);
	if (view_absent(view, ret))
		ret = 0;
	else if (ret >= 0)
		view->found = true;
	if (ret >= 0)
		cli->writer->ops->begin(cli->writer, &view->table);
	while (ret > 0 && !status && !interrupted) {
		status = take_row(&pass, record);
		ret = eadm_dump_next(dump, &record);
	}
	progress_end(cli);
	if (!status)
		status = end_of_rows(&pass, dump, ret);
	rows_free(&pass.kept);
	blind_free(&pass.blind);
	eadm_dump_close(dump);
	return status;
}
