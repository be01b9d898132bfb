/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Announces to packagers a library that is opened on demand, in the format of the "dlopen
 * metadata for ELF files" specification. The tool separately announces the libraries
 * that it opens itself.
 */
#ifndef EADM_LATE_H
#define EADM_LATE_H

#include <stdint.h>

#define EADM_LATE_TEXT(soname, priority, feature, about)		\
	"[{\"soname\":[\"" soname "\"],\"priority\":\"" priority	\
	"\",\"feature\":\"" feature "\",\"description\":\"" about "\"}]"

/* @id is part of a C name; @priority is "recommended" or "suggested". */
#define EADM_LATE_LIBRARY(id, soname, priority, about)			\
	static const struct {						\
		uint32_t name_size, size, type;				\
		char name[4];						\
		_Alignas(4) char text[sizeof(EADM_LATE_TEXT(soname,	\
					     priority, #id, about))];	\
	} id##_note __attribute__((used, aligned(4),			\
				    section(".note.dlopen"))) = {	\
		4, sizeof(EADM_LATE_TEXT(soname, priority, #id, about)), \
		0x407c0c0a, "FDO",					\
		EADM_LATE_TEXT(soname, priority, #id, about)		\
	}

#endif /* EADM_LATE_H */
