// SPDX-License-Identifier: GPL-2.0-or-later
/* What a heading needs to know of the machine. */
#include "cli.h"

/* "" where it is not known. */
const char *machine_text(struct eadm_ctx *ctx, const char *field, char *buf,
			 size_t size)
{
	const struct eadm_object *object = eadm_object_find("machine");
	const struct eadm_record *record;
	struct eadm_dump *dump;

	*buf = '\0';
	if (eadm_dump_open(ctx, object, NULL, &dump))
		return buf;
	if (eadm_dump_next(dump, &record) <= 0 ||
	    eadm_record_text(record, eadm_object_find_field(object, field), buf,
			     size) < 0)
		*buf = '\0';
	eadm_dump_close(dump);
	return buf;
}
