/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEST_REJECT_H
#define TEST_REJECT_H

#include <stddef.h>

#define REJECT_NO_SERVICE 8
#define REJECT_CONSUMER 28

extern const char *const no_server;

/* Returns the text of @reason, a positive number. The text may be in @buf. */
const char *reject_text(int reason, char *buf, size_t size);

#endif /* TEST_REJECT_H */
