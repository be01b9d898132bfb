/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that few commands need. If they were linked, every command would load them,
 * and loading takes most of the time of a short command. They are opened on demand, and
 * an ELF note (.note.dlopen) announces them to packagers.
 *
 * #define FOO_FUNCTIONS(f) f(foo_new) f(foo_free) LATE_LIBRARY(foo, FOO_FUNCTIONS); in
 * a header or a file LATE_OPENER(foo, FOO_FUNCTIONS, "libfoo.so.1", "recommended",
 * "purpose"); in a file
 *
 * defines foo_open(), and after it foo.foo_new() and foo.foo_free().
 */
#ifndef LATE_H
#define LATE_H

#include <stddef.h>
#include <stdint.h>

#define LATE_POINTER(name)	__typeof__(&name) name;
#define LATE_NAME(name)		#name,

#define LATE_LIBRARY(lib, FUNCTIONS)					\
	extern struct lib { FUNCTIONS(LATE_POINTER) } lib;		\
	const char *lib##_open(void)

/* LIB_open() returns NULL, or the name of the missing library or function. */
#define LATE_OPENER(lib, FUNCTIONS, soname, priority, about)		\
	struct lib lib;							\
	const char *lib##_open(void)					\
	{								\
		static const char *const names[] = {			\
			FUNCTIONS(LATE_NAME) NULL			\
		};							\
									\
		return late_open(soname, names, (void **)&lib);		\
	}								\
	LATE_NOTE(lib, "[{\"soname\":[\"" soname "\"],\"priority\":\""	\
		  priority "\",\"feature\":\"" #lib			\
		  "\",\"description\":\"" about "\"}]")

/* In the format of the "dlopen metadata for ELF files" specification. */
#define LATE_NOTE(lib, json)						\
	static const struct {						\
		uint32_t name_size, size, type;				\
		char name[4];						\
		_Alignas(4) char text[sizeof(json)];			\
	} lib##_note __attribute__((used, aligned(4),			\
				    section(".note.dlopen"))) = {	\
		4, sizeof(json), 0x407c0c0a, "FDO", json		\
	}

/* Look up the functions in @names, which is NULL-terminated, into @to. */
const char *late_open(const char *soname, const char *const *names, void **to);

#endif /* LATE_H */
