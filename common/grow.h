/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays, for the library and the programs. */
#ifndef GROW_H
#define GROW_H

#include <stdlib.h>

/*
 * Make room for one more element after the @n in @array, which has room for
 * @max. False if out of memory; the array is then unchanged.
 */
#define grow(array, n, max) ({						\
	(n) < (max) ||							\
		grow_to(array, (max) ? 2 * (size_t)(max) : 16, max);	\
})

/* Make room for @n elements; otherwise as above. */
#define grow_to(array, n, max) ({					\
	size_t want_ = (n);						\
	void *grown_ = (array);						\
									\
	if (!grown_ || want_ > (max)) {					\
		/* At least one element: NULL would mean an error. */	\
		grown_ = reallocarray((array), want_ + !want_,		\
				      sizeof(*(array)));		\
		if (grown_) {						\
			(array) = grown_;				\
			(max) = want_;					\
		}							\
	}								\
	grown_ != NULL;							\
})

#endif /* GROW_H */
