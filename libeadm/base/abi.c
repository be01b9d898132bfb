// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compatibility of public structs across versions. */
#include <errno.h>
#include <string.h>

#include "abi.h"

/* The first member of each such struct is its size. */
static size_t size_of(const void *theirs)
{
	size_t size;

	memcpy(&size, theirs, sizeof(size));
	return size;
}

static bool is_zero(const unsigned char *p, size_t n)
{
	while (n && !*p) {
		p++;
		n--;
	}
	return !n;
}

static int fail_newer(struct eadm_ctx *ctx)
{
	return eadm_fail(ctx, -E2BIG, "options require a newer library");
}

/*
 * Copy the caller's options. Members that an older caller lacks count as 0; members
 * that only a newer caller has must be 0. @theirs may be NULL, which means all 0.
 */
int eadm_abi_take(struct eadm_ctx *ctx, void *ours, size_t size,
		  const void *theirs)
{
	size_t given = theirs ? size_of(theirs) : sizeof(size);

	memset(ours, 0, size);
	memcpy(ours, &size, sizeof(size));
	if (given < sizeof(size))
		return eadm_fail(ctx, -EINVAL,
				 "the size member of the options is not set");
	if (given > size &&
	    !is_zero((const unsigned char *)theirs + size, given - size))
		return fail_newer(ctx);
	if (given > size)
		given = size;
	if (given > sizeof(size))
		memcpy((unsigned char *)ours + sizeof(size),
		       (const unsigned char *)theirs + sizeof(size),
		       given - sizeof(size));
	return 0;
}

/* Check a mask in options: a bit that only a newer library knows would select nothing. */
int eadm_abi_bits(struct eadm_ctx *ctx, uint64_t bits, uint64_t known)
{
	return bits & ~known ? fail_newer(ctx) : 0;
}

/* Check a struct for a result that can be read only once. */
bool eadm_abi_sized(const void *theirs)
{
	return size_of(theirs) >= sizeof(size_t);
}

/*
 * Copy a result to the caller, truncated to an older caller's struct; members that only
 * a newer caller has become 0. Returns 1, as iterators do.
 */
int eadm_abi_give(void *theirs, const void *ours, size_t size)
{
	unsigned char *to = theirs;
	size_t room = size_of(theirs);

	if (!eadm_abi_sized(theirs))
		return -EINVAL;
	if (room > size)
		memset(to + size, 0, room - size);
	else
		size = room;
	memcpy(to + sizeof(size), (const unsigned char *)ours + sizeof(size),
	       size - sizeof(size));
	return 1;
}
