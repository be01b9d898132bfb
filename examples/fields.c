// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Shows all fields of each row of an object, whichever object it is: no field
 * is named here, so new ones are shown as soon as the library has them. Usage:
 * fields OBJECT [CAPTURE]
 */
#include <eadm.h>
#include <stdio.h>

static void show(const struct eadm_record *row)
{
	const struct eadm_field *field = NULL;
	const char *between = "";
	char text[256];

	while ((field = eadm_record_next(row, field))) {
		if (eadm_record_text(row, field, text, sizeof(text)) < 0)
			continue;
		printf("%s%s=%s%s", between, eadm_field_name(field), text,
		       eadm_field_unit(field));
		between = " ";
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct eadm_object *object;
	const struct eadm_record *row;
	struct eadm_dump *dump = NULL;
	struct eadm_note note = { .size = sizeof(note) };
	struct eadm_ctx *ctx;
	unsigned int i;
	int ret;

	if (argc < 2 || !(object = eadm_object_find(argv[1]))) {
		fprintf(stderr, "usage: %s OBJECT [CAPTURE]\n", argv[0]);
		return 2;
	}
	ctx = eadm_new();
	if (!ctx)
		return 1;
	ret = argc > 2 ? eadm_open_file(ctx, argv[2]) : eadm_open_live(ctx);
	if (!ret)
		ret = eadm_dump_open(ctx, object, NULL, &dump);
	while (!ret && (ret = eadm_dump_next(dump, &row)) > 0) {
		show(row);
		ret = 0;
	}
	if (ret < 0)
		fprintf(stderr, "%s: %s\n", argv[1], eadm_errmsg(ctx));
	for (i = 0; dump && eadm_dump_note(dump, i, &note) > 0; i++)
		fprintf(stderr, "%s: %s\n", note.what, note.why);
	eadm_dump_close(dump);
	eadm_free(ctx);
	return ret < 0;
}
