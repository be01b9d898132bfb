// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the machine for headings. */
#include "cli.h"

/* Returns the text of a field of the machine; "" if unknown. */
const char *machine_text(struct eadm_ctx *ctx, const char *field, char *buf,
			 size_t size)
{
	const struct eadm_object *object = eadm_object_find("machine");
	const struct eadm_field *const fields[] = {
		eadm_object_find_field(object, field), NULL,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .fields = fields,
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;

	*buf = '\0';
	if (eadm_dump_open(ctx, object, &opts, &dump))
		return buf;
	if (eadm_dump_next(dump, &record) <= 0 ||
	    eadm_record_text(record, fields[0], buf, size) < 0)
		*buf = '\0';
	eadm_dump_close(dump);
	return buf;
}
