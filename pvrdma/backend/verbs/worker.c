// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

#define NS 1000000000u
#define NICE 10

static void *work(void *arg)
{
	struct worker *worker = arg;
	const uint64_t one = 1;
	struct job *job;

	/* The loop's thread has priority over workers. */
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		job = STAILQ_FIRST(&worker->todo);
		if (!job && worker->stop)
			break;
		if (!job) {
			pthread_cond_wait(&worker->came, &worker->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&worker->todo, link);
		pthread_mutex_unlock(&worker->lock);
		job->run(job);
		pthread_mutex_lock(&worker->lock);
		STAILQ_INSERT_TAIL(&worker->over, job, link);
		pthread_cond_signal(&worker->ended);
		if (write(worker->wake, &one, sizeof(one)) < 0)
			errno = 0;
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* Signals are handled by the loop's thread. */
static int start_thread(struct worker *worker)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int worker_start(struct worker *worker, int wake)
{
	pthread_condattr_t attr;
	int err;

	*worker = (struct worker){ .wake = wake };
	STAILQ_INIT(&worker->todo);
	STAILQ_INIT(&worker->over);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->came, &attr);
	pthread_cond_init(&worker->ended, &attr);
	pthread_condattr_destroy(&attr);
	err = start_thread(worker);
	if (err) {
		pthread_cond_destroy(&worker->came);
		pthread_cond_destroy(&worker->ended);
		pthread_mutex_destroy(&worker->lock);
	}
	return err;
}

void worker_stop(struct worker *worker)
{
	/* Jobs submitted by done() are completed as well. */
	while (worker->jobs) {
		worker_wait(worker, UINT64_MAX);
		worker_reap(worker);
	}
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->came);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->came);
	pthread_cond_destroy(&worker->ended);
	pthread_mutex_destroy(&worker->lock);
}

void worker_submit(struct worker *worker, struct job *job)
{
	worker->jobs++;
	pthread_mutex_lock(&worker->lock);
	STAILQ_INSERT_TAIL(&worker->todo, job, link);
	pthread_cond_signal(&worker->came);
	pthread_mutex_unlock(&worker->lock);
}

bool worker_cancel(struct worker *worker, struct job *job)
{
	const struct job *queued;

	pthread_mutex_lock(&worker->lock);
	STAILQ_FOREACH(queued, &worker->todo, link)
		if (queued == job)
			break;
	if (queued)
		STAILQ_REMOVE(&worker->todo, job, job, link);
	pthread_mutex_unlock(&worker->lock);
	worker->jobs -= queued != NULL;
	return queued;
}

bool worker_reap(struct worker *worker)
{
	struct jobs over = STAILQ_HEAD_INITIALIZER(over);
	struct job *job;
	bool any;

	pthread_mutex_lock(&worker->lock);
	STAILQ_CONCAT(&over, &worker->over);
	pthread_mutex_unlock(&worker->lock);
	any = !STAILQ_EMPTY(&over);
	while ((job = STAILQ_FIRST(&over))) {
		STAILQ_REMOVE_HEAD(&over, link);
		worker->jobs--;
		job->done(job);
	}
	return any;
}

static unsigned int ended(const struct worker *worker)
{
	const struct job *job;
	unsigned int count = 0;

	STAILQ_FOREACH(job, &worker->over, link)
		count++;
	return count;
}

static uint64_t left_until(const struct timespec *until)
{
	struct timespec now;
	int64_t left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (until->tv_sec - now.tv_sec) * (int64_t)NS + until->tv_nsec - now.tv_nsec;
	return left > 0 ? (uint64_t)left : 0;
}

uint64_t worker_wait(struct worker *worker, uint64_t ns)
{
	struct timespec until;
	uint64_t at;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	at = (uint64_t)until.tv_nsec + ns % NS;
	until.tv_sec += (time_t)(ns / NS + at / NS);
	until.tv_nsec = (long)(at % NS);
	pthread_mutex_lock(&worker->lock);
	while (ended(worker) < worker->jobs && err != ETIMEDOUT)
		err = ns == UINT64_MAX ? pthread_cond_wait(&worker->ended, &worker->lock) :
		      pthread_cond_timedwait(&worker->ended, &worker->lock, &until);
	pthread_mutex_unlock(&worker->lock);
	return ns == UINT64_MAX ? ns : left_until(&until);
}
