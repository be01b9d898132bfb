/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Basics used by every file of the library. */
#ifndef EADM_BASE_H
#define EADM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eadm.h"

#define EADM_API __attribute__((visibility("default")))
#define EADM_MUST_CHECK __attribute__((warn_unused_result))
#define EADM_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define EADM_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define EADM_DEV_NAME_MAX 64

/* The words that follow a number in a sentence: "1 command was", "2 commands were". */
static inline const char *eadm_plural(uint64_t n, const char *one,
				      const char *many)
{
	return n == 1 ? one : many;
}

#endif /* EADM_BASE_H */
