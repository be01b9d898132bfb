// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the exporter: writes to $COUNT_FILE how many rows it has read,
 * with how many calls it took all values of a row, and how many times it asked
 * for a single field instead. Calls inside the library do not count, and the text
 * of bytes does not either: only the library knows the form of an address.
 */
#include <dlfcn.h>
#include <eadm.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long rows, all, single;

static void count(unsigned long *counter, const void *caller)
{
	Dl_info from, library;

	if (dladdr(caller, &from) &&
	    dladdr(dlsym(RTLD_NEXT, "eadm_record_values"), &library) &&
	    from.dli_fbase != library.dli_fbase)
		__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

int eadm_dump_next(struct eadm_dump *dump, const struct eadm_record **record)
{
	int (*real)(struct eadm_dump *, const struct eadm_record **) =
		dlsym(RTLD_NEXT, "eadm_dump_next");
	int ret = real(dump, record);

	if (ret > 0)
		count(&rows, __builtin_return_address(0));
	return ret;
}

unsigned int eadm_record_values(const struct eadm_record *record,
				struct eadm_value *values, unsigned int max)
{
	unsigned int (*real)(const struct eadm_record *, struct eadm_value *,
			     unsigned int) =
		dlsym(RTLD_NEXT, "eadm_record_values");

	count(&all, __builtin_return_address(0));
	return real(record, values, max);
}

#define SINGLE(type, name, params, args)				\
	type name params						\
	{								\
		type (*real) params = dlsym(RTLD_NEXT, #name);		\
									\
		count(&single, __builtin_return_address(0));		\
		return real args;					\
	}

#define ROW const struct eadm_record *record, const struct eadm_field *field

SINGLE(bool, eadm_record_has, (ROW), (record, field))
SINGLE(int, eadm_record_u64, (ROW, uint64_t *value), (record, field, value))
SINGLE(int, eadm_record_s64, (ROW, int64_t *value), (record, field, value))
SINGLE(const char *, eadm_record_string, (ROW), (record, field))
SINGLE(const void *, eadm_record_bytes, (ROW, size_t *len), (record, field, len))
SINGLE(const struct eadm_field *, eadm_record_next, (ROW), (record, field))

int eadm_record_text(ROW, char *buf, size_t size)
{
	int (*real)(ROW, char *, size_t) = dlsym(RTLD_NEXT, "eadm_record_text");

	if (eadm_field_type(field) != EADM_TYPE_BYTES)
		count(&single, __builtin_return_address(0));
	return real(record, field, buf, size);
}

static __attribute__((destructor)) void write_counts(void)
{
	const char *path = getenv("COUNT_FILE");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu %lu %lu\n", rows, all, single);
	fclose(file);
}
