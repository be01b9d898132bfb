// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and passwords. The hashes are meant to be slow, and Prometheus comes
 * again every few seconds: the digest of the last right pair of each user is
 * kept, under a key that this process made up.
 */
#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

#define DIGEST 32

struct auth {
	const struct web_config *config;
	unsigned char key[DIGEST];
	bool (*known);
	unsigned char (*digest)[DIGEST];
	pthread_mutex_t lock;		/* of known and digest */
	pthread_mutex_t slow;		/* of closing; of who hashes */
	bool closing;
};

struct auth *auth_new(const struct web_config *config)
{
	struct auth *auth = calloc(1, sizeof(*auth));

	if (!auth)
		return NULL;
	auth->config = config;
	auth->known = calloc(config->n_users, sizeof(*auth->known));
	auth->digest = calloc(config->n_users, sizeof(*auth->digest));
	if (!auth->known || !auth->digest ||
	    gnutls_rnd(GNUTLS_RND_KEY, auth->key, DIGEST)) {
		free(auth->known);
		free(auth->digest);
		free(auth);
		return NULL;
	}
	pthread_mutex_init(&auth->lock, NULL);
	pthread_mutex_init(&auth->slow, NULL);
	return auth;
}

/* From now on who would have to wait is not let in. */
void auth_close(struct auth *auth)
{
	if (!auth)
		return;
	pthread_mutex_lock(&auth->slow);
	auth->closing = true;
	pthread_mutex_unlock(&auth->slow);
}

void auth_free(struct auth *auth)
{
	if (!auth)
		return;
	pthread_mutex_destroy(&auth->lock);
	pthread_mutex_destroy(&auth->slow);
	gnutls_memset(auth->key, 0, DIGEST);
	free(auth->known);
	free(auth->digest);
	free(auth);
}

static bool same(const char *a, const char *b)
{
	size_t n = strlen(a);

	return n == strlen(b) && !gnutls_memcmp(a, b, n);
}

static bool hash_matches(const char *hash, const char *password)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *got;
	bool ok;

	if (!data)
		return false;
	/* Not crypt_r(): that of the sanitizers' library is none. */
	got = crypt_rn(password, hash, data, sizeof(*data));
	ok = got && same(got, hash);
	gnutls_memset(data, 0, sizeof(*data));
	free(data);
	return ok;
}

/* One at a time, or strangers would have all CPUs at work. */
static bool matches(struct auth *auth, const char *hash, const char *password)
{
	bool ok;

	pthread_mutex_lock(&auth->slow);
	ok = !auth->closing && hash_matches(hash, password);
	pthread_mutex_unlock(&auth->slow);
	return ok;
}

bool auth_check(struct auth *auth, const char *user, const char *password)
{
	const struct web_config *config = auth->config;
	unsigned char digest[DIGEST];
	bool known, ok;
	size_t i;

	for (i = 0; i < config->n_users; i++) {
		if (!strcmp(config->users[i].name, user))
			break;
	}
	if (i == config->n_users) {
		/* As slow as a wrong password: names are not to be guessed. */
		matches(auth, config->users[0].hash, password);
		return false;
	}
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, auth->key, DIGEST, password,
			     strlen(password), digest))
		return false;
	pthread_mutex_lock(&auth->lock);
	known = auth->known[i] &&
		!gnutls_memcmp(auth->digest[i], digest, DIGEST);
	pthread_mutex_unlock(&auth->lock);
	if (known)
		return true;
	ok = matches(auth, config->users[i].hash, password);
	if (ok) {
		pthread_mutex_lock(&auth->lock);
		memcpy(auth->digest[i], digest, DIGEST);
		auth->known[i] = true;
		pthread_mutex_unlock(&auth->lock);
	}
	return ok;
}
