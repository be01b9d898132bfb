// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel signals an event descriptor when an asynchronous read is complete; a read of
 * no bytes is complete at once.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "notify.h"

/* Reads whose results have not been fetched. */
#define DEPTH 64

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int failure;
static int empty_file;
static aio_context_t context;

static void init(void)
{
	empty_file = memfd_create("empty", MFD_CLOEXEC);
	if (empty_file < 0 || syscall(SYS_io_setup, DEPTH, &context))
		failure = -errno;
}

int notify_init(void)
{
	pthread_once(&once, init);
	return failure;
}

void notify(int fd)
{
	struct iocb read = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)empty_file,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)fd,
	};
	struct iocb *list = &read;
	struct io_event results[DEPTH];

	while (syscall(SYS_io_submit, context, 1, &list) < 0 && errno == EAGAIN)
		syscall(SYS_io_getevents, context, 0, DEPTH, results, NULL);
}
