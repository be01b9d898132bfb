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
	(n) < (max) ||							\
		grow_to(array, (max) ? 2 * (size_t)(max) : 16, max);	\
})

/* Room for @n elements; else as above. */
#define grow_to(array, n, max) ({					\
	size_t want_ = (n);						\
	void *grown_ = (array);						\
									\
	if (!grown_ || want_ > (max)) {					\
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
