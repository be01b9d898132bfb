/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that runs jobs that would block the loop, one after the other. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* Owned by the worker from worker_submit() until done(). */
struct job {
	STAILQ_ENTRY(job) link;
	/* Called by the worker's thread. */
	void (*run)(struct job *job);
	/*
	 * Called by worker_reap() when the job has ended; the job is not accessed
	 * afterwards.
	 */
	void (*done)(struct job *job);
};

STAILQ_HEAD(jobs, job);

struct worker {
	pthread_t thread;
	/* Protects the members below. */
	pthread_mutex_t lock;
	/* A job was added or stop was set; a job has ended. */
	pthread_cond_t came, ended;
	struct jobs todo, over;
	bool stop;
	/* An eventfd that is written whenever a job has ended. */
	int wake;
	/* Used by the loop only: number of jobs that are not done. */
	unsigned int jobs;
};

/* 0 or -errno. */
int worker_start(struct worker *worker, int wake);
/* Completes the remaining jobs, including done(). */
void worker_stop(struct worker *worker);
void worker_submit(struct worker *worker, struct job *job);
/* Takes a job back if it has not begun: done() is not called. Returns false otherwise. */
bool worker_cancel(struct worker *worker, struct job *job);
/* Calls done() for jobs that have ended. Returns false if there were none. */
bool worker_reap(struct worker *worker);
/* Waits until all jobs have ended, or @ns; done() is not called. Returns the time left. */
uint64_t worker_wait(struct worker *worker, uint64_t ns);

#endif /* WORKER_H */
