/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel definitions used by the shared headers and tables, for programs that implement
 * an adapter.
 */
#ifndef HW_USER_H
#define HW_USER_H

#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "adapter structures are used in place, which requires a little-endian machine"
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define BIT(n)			(1u << (n))
#define GENMASK(high, low)	((~0u >> (31 - (high))) & (~0u << (low)))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK_ULL(high, low)	((~0ull >> (63 - (high))) & (~0ull << (low)))

#ifndef __packed
#define __packed __attribute__((__packed__))
#endif

#endif /* HW_USER_H */
