// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard.h"

/*
 * The handler reads slots while other threads change them: @begin is 0 while the rest of
 * a slot is written, and is written last (release) and read first (acquire).
 */
struct slot {
	atomic_uintptr_t begin;
	atomic_uintptr_t end;
	_Atomic(struct guard_owner *) owner;
};

#define SLOTS 256

/*
 * Blocks are added at the front and never freed, because the handler may be reading any
 * of them.
 */
struct block {
	struct block *next;
	struct slot slots[SLOTS];
};

static _Atomic(struct block *) blocks;
/* Protects writes to slots, the list of blocks, and @installed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool installed;
static struct sigaction before;

/* Uses only operations that are safe in a handler: atomic loads, mmap and write. */
static bool replace(uintptr_t at)
{
	struct block *block;
	unsigned int i;

	for (block = atomic_load(&blocks); block; block = block->next) {
		for (i = 0; i < SLOTS; i++) {
			struct slot *slot = &block->slots[i];
			uintptr_t begin = atomic_load_explicit(&slot->begin, memory_order_acquire);
			uintptr_t end = atomic_load(&slot->end);
			struct guard_owner *owner = atomic_load(&slot->owner);
			const uint64_t one = 1;

			if (!begin || at < begin || at >= end)
				continue;
			if (mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
				 -1, 0) == MAP_FAILED)
				return false;
			atomic_store(&owner->lost, true);
			/* A full counter wakes the loop, too. */
			if (write(owner->wake, &one, sizeof(one)) < 0)
				errno = 0;
			return true;
		}
	}
	return false;
}

static void on_sigbus(int signum, siginfo_t *info, void *context)
{
	int saved = errno;

	if (replace((uintptr_t)info->si_addr)) {
		errno = saved;
		return;
	}
	errno = saved;
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signum, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(signum);
	} else {
		/* The access is repeated, and ends the process. */
		signal(SIGBUS, SIG_DFL);
	}
}

static int install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_sigbus,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART,
	};

	if (installed)
		return 0;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, &before))
		return -errno;
	installed = true;
	return 0;
}

static struct slot *free_slot(void)
{
	struct block *block;
	unsigned int i;

	for (block = atomic_load(&blocks); block; block = block->next) {
		for (i = 0; i < SLOTS; i++) {
			if (!atomic_load(&block->slots[i].begin))
				return &block->slots[i];
		}
	}
	block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	block->next = atomic_load(&blocks);
	atomic_store(&blocks, block);
	return &block->slots[0];
}

int guard_add(struct guard_owner *owner, void *memory, size_t size)
{
	struct slot *slot;
	int ret;

	pthread_mutex_lock(&lock);
	ret = install();
	slot = ret ? NULL : free_slot();
	if (slot) {
		atomic_store(&slot->owner, owner);
		atomic_store(&slot->end, (uintptr_t)memory + size);
		atomic_store_explicit(&slot->begin, (uintptr_t)memory, memory_order_release);
	} else if (!ret) {
		ret = -ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Removes the mapping at @memory, or all mappings of the owner if @memory is NULL. */
static void drop(struct guard_owner *owner, void *memory)
{
	struct block *block;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (block = atomic_load(&blocks); block; block = block->next) {
		for (i = 0; i < SLOTS; i++) {
			struct slot *slot = &block->slots[i];

			if (atomic_load(&slot->owner) == owner &&
			    (!memory || atomic_load(&slot->begin) == (uintptr_t)memory))
				atomic_store(&slot->begin, 0);
		}
	}
	pthread_mutex_unlock(&lock);
}

void guard_remove(struct guard_owner *owner, void *memory)
{
	if (memory)
		drop(owner, memory);
}

void guard_clear(struct guard_owner *owner)
{
	drop(owner, NULL);
}
