// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and passwords. Hashes are deliberately slow, so a single thread computes them
 * one at a time while the clients sleep: unauthenticated clients can occupy at most one
 * CPU. A pair that has been checked is cheap to check again, because the digests of
 * right and wrong pairs are cached, keyed with a random key of this process. The
 * digests cover the hash, so they remain valid as long as the configuration contains
 * that hash.
 *
 * Before its first success, a scraper cannot be distinguished from an attacker, and
 * attackers could make a first-come queue arbitrarily long. Therefore, the newest
 * attempt is checked first: a client that fails receives no immediate response
 * (client.c), so it cannot come back as the newest one. A pair that is sent again
 * before it was checked takes precedence over all other pairs, because a scraper
 * repeats its pair, whereas an attacker guesses new ones. Users take turns, and all
 * unknown names count as one user, so that guesses for one name do not delay other
 * users.
 */
#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

/*
 * Sizes of tables; the first bits of a digest are its index, so these are powers of
 * two.
 */
#define RIGHT 256
#define WRONG 4096
#define SEEN 16384
/* Number of turns; the first turn is for all unknown names. */
#define TURNS 64
#define STACK_SIZE (128 * 1024)

struct auth {
	unsigned char key[AUTH_DIGEST];
	pthread_mutex_t lock;		/* protects the following members */
	pthread_cond_t come;
	unsigned char right[RIGHT][AUTH_DIGEST], wrong[WRONG][AUTH_DIGEST];
	uint64_t seen[SEEN];		/* first bytes of digests */
	struct attempt waiting;		/* ring, newest first */
	uint64_t turn[TURNS], turns;	/* last turn of each user */
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

/* Returns false if nothing was computed (out of memory). */
static bool compute(const char *hash, const char *password, bool *ok)
{
	struct crypt_data *data;
	const char *got;

	data = hash && password ? calloc(1, sizeof(*data)) : NULL;
	if (!data)
		return false;
	/*
	 * crypt_r() is not used, because the sanitizers' wrapper of it does not work.
	 */
	got = crypt_rn(password, hash, data, sizeof(*data));
	*ok = got && same(got, hash);
	gnutls_memset(data, 0, sizeof(*data));
	free(data);
	return true;
}

/*
 * ---- cached results; these functions are called with the lock held
 * ---------------------------------
 */

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

/* Returns true if the pair was sent before. */
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
	/*
	 * Include the final NULs, so that different triples never yield the same bytes.
	 */
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
 * Returns the cached result for a pair; if there is none, @attempt is ready for
 * auth_wait() or auth_forget().
 */
enum auth_answer auth_look(struct auth *auth, const struct web_config *config,
			   const char *user, const char *password,
			   struct attempt *attempt)
{
	/*
	 * Checking an unknown name takes as long as checking a known one, so that the
	 * time does not reveal which names exist.
	 */
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

/* Also detects a peer that has closed only its half of the connection. */
bool peer_has_left(int fd)
{
	struct pollfd peer = { .fd = fd, .events = POLLRDHUP };

	return poll(&peer, 1, 0) > 0;
}

/* Returns true if @a must be checked before @b, which is newer. */
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

/* All attempts with the same pair get the same result. */
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
 * Called with the lock held, and releases it during the computation; the attempt can be
 * withdrawn during this time.
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
		/*
		 * This is the last access, because the attempt can be reused
		 * immediately.
		 */
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
 * The result is passed to @attempt->done, from a different thread and possibly before
 * this function returns, but never after auth_take_back(). Returns false if there will be
 * no result.
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

/* Returns false if it is too late because the result is about to be delivered. */
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
