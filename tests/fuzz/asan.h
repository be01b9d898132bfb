/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a target asks of the address sanitizer: freed memory is kept for as
 * long as the runs that might still use it, not until 256 MiB are cold, and
 * little is remembered of who allocated. That makes runs several times faster.
 */
#ifndef EADM_FUZZ_ASAN_H
#define EADM_FUZZ_ASAN_H

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:malloc_context_size=4";
}

#endif /* EADM_FUZZ_ASAN_H */
