/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An input, taken byte by byte; what is missing at its end is 0. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* Now and then: what is usual is so unless the input has a byte for it. */
static inline bool rarely(struct input *in)
{
	return byte(in) >= 224;
}

static inline uint64_t number(struct input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | byte(in);
	return value;
}

#endif /* FUZZ_INPUT_H */
