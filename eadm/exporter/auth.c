// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and passwords. Hashes are deliberately slow, so a single thread computes
 * them one at a time while all clients sleep: strangers use one CPU at most. Once
 * a pair has been checked, it costs nothing later: digests of right and wrong
 * pairs are cached, under a key that this process generated. They include the
 * hash, and so are valid as long as the configuration has that hash.
 *
 * Before its first success, nothing distinguishes a scraper from a stranger, and
 * strangers could make a first-come queue as long as they like. So the newest
 * attempt is checked first: a client that fails is not answered immediately
 * (client.c), so it cannot come back as the newest one. A pair that is sent a
 * second time before it was checked, as scrapers do but guesses do not, takes
 * precedence over all others. Users take turns, and all unknown names count as
 * one user, so that guesses for one name do not delay other users.
 */
#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

/* Table sizes, powers of two: the first bits of a digest are its index. */
#define RIGHT 256
#define WRONG 4096
#define SEEN 16384
/* Turns of known users; the first one is for all unknown names. */
#define TURNS 64
#define STACK_SIZE (128 * 1024)

struct auth {
	unsigned char key[AUTH_DIGEST];
	pthread_mutex_t lock;		/* protects the following members */
	pthread_cond_t come;
	unsigned char right[RIGHT][AUTH_DIGEST], wrong[WRONG][AUTH_DIGEST];
	uint64_t seen[SEEN];		/* first bytes of digests */
	struct attempt waiting;		/* ring, newest first */
	uint64_t turn[TURNS], turns;	/* when each user had the last turn */
	bool started;
};

struct auth *auth_new(void)
{
	struct auth *auth = calloc(1, sizeof(*auth));

	if (!auth)
		return NULL;
	if (gnutls_rnd(GNUTLS_RND_KEY, auth->key, AUTH_DIGEST)) {
		free(auth);
		return NULL;
	}
	pthread_mutex_init(&auth->lock, NULL);
	pthread_cond_init(&auth->come, NULL);
	auth->waiting.prev = &auth->waiting;
	auth->waiting.next = &auth->waiting;
	return auth;
}

static bool same(const char *a, const char *b)
{
	size_t n = strlen(a);

	return n == strlen(b) && !gnutls_memcmp(a, b, n);
}

/* False: nothing was computed (out of memory). */
static bool compute(const char *hash, const char *password, bool *ok)
{
	struct crypt_data *data;
	const char *got;

	data = hash && password ? calloc(1, sizeof(*data)) : NULL;
	if (!data)
		return false;
	/* Not crypt_r(): the sanitizers' replacement does not work. */
	got = crypt_rn(password, hash, data, sizeof(*data));
	*ok = got && same(got, hash);
	gnutls_memset(data, 0, sizeof(*data));
	free(data);
	return true;
}

/* ---- what is known; with the lock -------------------------------------------- */

static unsigned char *place(unsigned char (*table)[AUTH_DIGEST], size_t n,
			    const unsigned char *digest)
{
	return table[(digest[0] | digest[1] << 8) % n];
}

static bool is_kept(unsigned char (*table)[AUTH_DIGEST], size_t n,
		    const unsigned char *digest)
{
	return !gnutls_memcmp(place(table, n, digest), digest, AUTH_DIGEST);
}

static void keep(struct auth *auth, const unsigned char *digest, bool ok)
{
	memcpy(ok ? place(auth->right, RIGHT, digest) :
		    place(auth->wrong, WRONG, digest), digest, AUTH_DIGEST);
}

/* Whether the pair was sent before. */
static bool is_seen(struct auth *auth, const unsigned char *digest)
{
	uint64_t begin, *at;
	bool seen;

	memcpy(&begin, digest, sizeof(begin));
	at = &auth->seen[begin % SEEN];
	seen = *at == begin;
	*at = begin;
	return seen;
}

static bool digest_of(const struct auth *auth, const char *hash,
		      const char *user, const char *password,
		      unsigned char *digest)
{
	gnutls_hmac_hd_t hmac;

	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, auth->key, AUTH_DIGEST))
		return false;
	/* Include the final NULs, so that different triples never give the same bytes. */
	gnutls_hmac(hmac, hash, strlen(hash) + 1);
	gnutls_hmac(hmac, user, strlen(user) + 1);
	gnutls_hmac(hmac, password, strlen(password) + 1);
	gnutls_hmac_deinit(hmac, digest);
	return true;
}

static unsigned int turn_of(const char *user)
{
	uint64_t hash = 14695981039346656037ULL;

	for (; *user; user++)
		hash = (hash ^ (unsigned char)*user) * 1099511628211ULL;
	return 1 + hash % (TURNS - 1);
}

/*
 * What is known about a pair without computing; if nothing is, @attempt is
 * ready for auth_wait() or auth_forget().
 */
enum auth_answer auth_look(struct auth *auth, const struct web_config *config,
			   const char *user, const char *password,
			   struct attempt *attempt)
{
	/* Unknown names take as long as known ones, so that names cannot be guessed. */
	const char *hash = config->users[0].hash;
	enum auth_answer answer = AUTH_UNKNOWN;
	size_t i;

	attempt->turn = 0;
	for (i = 0; i < config->n_users; i++) {
		if (!strcmp(config->users[i].name, user)) {
			hash = config->users[i].hash;
			attempt->turn = turn_of(user);
		}
	}
	if (!digest_of(auth, hash, user, password, attempt->digest))
		return AUTH_NO;
	pthread_mutex_lock(&auth->lock);
	if (is_kept(auth->right, RIGHT, attempt->digest))
		answer = AUTH_YES;
	else if (is_kept(auth->wrong, WRONG, attempt->digest))
		answer = AUTH_NO;
	else
		attempt->again = is_seen(auth, attempt->digest);
	pthread_mutex_unlock(&auth->lock);
	if (answer != AUTH_UNKNOWN)
		return answer;
	attempt->hash = strdup(hash);
	attempt->password = strdup(password);
	if (attempt->hash && attempt->password)
		return AUTH_UNKNOWN;
	auth_forget(attempt);
	return AUTH_NO;
}

void auth_forget(struct attempt *attempt)
{
	if (attempt->password)
		gnutls_memset(attempt->password, 0, strlen(attempt->password));
	free(attempt->password);
	free(attempt->hash);
	attempt->password = NULL;
	attempt->hash = NULL;
}

/* ---- computing ------------------------------------------------------------------ */

static void unlink_attempt(struct attempt *attempt)
{
	attempt->prev->next = attempt->next;
	attempt->next->prev = attempt->prev;
	attempt->next = NULL;
}

/* It may have closed only its half of the connection. */
bool peer_has_left(int fd)
{
	struct pollfd peer = { .fd = fd, .events = POLLRDHUP };

	return poll(&peer, 1, 0) > 0;
}

/* Whether @a is to be checked before @b, which is newer. */
static bool is_before(const struct auth *auth, const struct attempt *a,
		      const struct attempt *b)
{
	if (a->left != b->left)
		return b->left;
	if (auth->turn[a->turn] != auth->turn[b->turn])
		return auth->turn[a->turn] < auth->turn[b->turn];
	return a->again && !b->again;
}

static struct attempt *pick(struct auth *auth)
{
	struct attempt *attempt, *best = NULL;

	for (attempt = auth->waiting.next; attempt != &auth->waiting;
	     attempt = attempt->next) {
		attempt->left = peer_has_left(attempt->fd);
		if (!best || is_before(auth, attempt, best))
			best = attempt;
	}
	return best;
}

/* All attempts with the same pair get the same answer. */
static struct attempt *take_answered(struct auth *auth,
				     const unsigned char *digest)
{
	struct attempt *attempt, *next, *taken = NULL;

	for (attempt = auth->waiting.next; attempt != &auth->waiting;
	     attempt = next) {
		next = attempt->next;
		if (memcmp(attempt->digest, digest, AUTH_DIGEST) != 0)
			continue;
		unlink_attempt(attempt);
		attempt->prev = taken;
		taken = attempt;
	}
	return taken;
}

/*
 * Called with the lock, which is released while computing: the attempt may be
 * taken back meanwhile.
 */
static void look_at(struct auth *auth, struct attempt *attempt)
{
	struct attempt job = { .turn = attempt->turn }, *taken;
	bool ok = false, computed;

	memcpy(job.digest, attempt->digest, AUTH_DIGEST);
	job.hash = strdup(attempt->hash);
	job.password = strdup(attempt->password);
	auth->turn[job.turn] = ++auth->turns;
	pthread_mutex_unlock(&auth->lock);
	computed = compute(job.hash, job.password, &ok);
	ok = ok && job.turn;
	auth_forget(&job);
	pthread_mutex_lock(&auth->lock);
	if (computed)
		keep(auth, job.digest, ok);
	taken = take_answered(auth, job.digest);
	pthread_mutex_unlock(&auth->lock);
	while ((attempt = taken)) {
		taken = attempt->prev;
		auth_forget(attempt);
		/* Last access: the attempt may be reused immediately. */
		attempt->done(attempt, ok);
	}
	pthread_mutex_lock(&auth->lock);
}

static void *auth_main(void *data)
{
	struct auth *auth = data;
	struct attempt *attempt;

	pthread_mutex_lock(&auth->lock);
	for (;;) {
		attempt = pick(auth);
		if (attempt)
			look_at(auth, attempt);
		else
			pthread_cond_wait(&auth->come, &auth->lock);
	}
	return NULL;
}

static bool start(struct auth *auth)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (auth->started)
		return true;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	auth->started = !pthread_create(&thread, &attr, auth_main, auth);
	pthread_attr_destroy(&attr);
	return auth->started;
}

/*
 * The answer is passed to @attempt->done, from another thread and possibly
 * before this function returns, but never after auth_take_back(). False: there
 * will be no answer.
 */
bool auth_wait(struct auth *auth, struct attempt *attempt)
{
	bool ok;

	pthread_mutex_lock(&auth->lock);
	ok = start(auth);
	if (ok) {
		attempt->prev = &auth->waiting;
		attempt->next = auth->waiting.next;
		attempt->prev->next = attempt;
		attempt->next->prev = attempt;
		pthread_cond_signal(&auth->come);
	}
	pthread_mutex_unlock(&auth->lock);
	if (!ok)
		auth_forget(attempt);
	return ok;
}

/* False: too late, the answer is on its way. */
bool auth_take_back(struct auth *auth, struct attempt *attempt)
{
	bool waiting;

	pthread_mutex_lock(&auth->lock);
	waiting = attempt->next;
	if (waiting)
		unlink_attempt(attempt);
	pthread_mutex_unlock(&auth->lock);
	if (waiting)
		auth_forget(attempt);
	return waiting;
}
