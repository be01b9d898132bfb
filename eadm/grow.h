/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow. */
#ifndef GROW_H
#define GROW_H

#include <stdlib.h>

/*
 * Room for one more element behind the @n that @array has, of @max that it has
 * room for. False without memory, when the array stays as it was.
 */
#define grow(array, n, max) ({						\
	void *grown_ = (array);						\
	if ((n) >= (max)) {						\
		size_t max_ = (max) ? 2 * (size_t)(max) : 16;		\
									\
		grown_ = reallocarray((array), max_, sizeof(*(array)));	\
		if (grown_) {						\
			(array) = grown_;				\
			(max) = max_;					\
		}							\
	}								\
	grown_ != NULL;							\
})

#endif /* GROW_H */
