// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The web configuration file of Prometheus' exporter-toolkit. Settings that this program
 * does not support are rejected: a server that is less strict than its configuration
 * would be worse than no server.
 */
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "grow.h"
#include "exporter.h"

#define MAX_FILE (1024 * 1024)
/* A bcrypt hash has a prefix such as $2b$10$, 22 characters of salt and 31 of checksum. */
#define HASH_SALT 7
#define HASH_SUM 29
#define HASH_END 60
/*
 * With a higher cost, checking one password takes longer than a scrape is allowed to
 * take.
 */
#define MAX_COST 15

struct reader {
	yaml_document_t doc;
	struct web_config *config;
	const char *path;
	char *why;
	size_t size;
	int min, max;			/* indices into versions */
};

static const struct {
	const char *name, *priority;
} versions[] = {
	{ "TLS10", "-VERS-TLS1.0" }, { "TLS11", "-VERS-TLS1.1" },
	{ "TLS12", "-VERS-TLS1.2" }, { "TLS13", "-VERS-TLS1.3" },
};

static int bad(struct reader *r, const yaml_node_t *node, const char *fmt, ...)
	PRINTF(3, 4);

static int bad(struct reader *r, const yaml_node_t *node, const char *fmt, ...)
{
	int n = 0;
	va_list ap;

	if (node)
		n = snprintf(r->why, r->size, "line %zu: ",
			     node->start_mark.line + 1);
	va_start(ap, fmt);
	vsnprintf(r->why + n, r->size - n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static const char *scalar(struct reader *r, const yaml_node_t *node)
{
	if (node->type == YAML_SCALAR_NODE)
		return (const char *)node->data.scalar.value;
	bad(r, node, "expected a string or number");
	return NULL;
}

static bool is_null(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE && !node->data.scalar.length;
}

/* ---- values ------------------------------------------------------------------ */

/*
 * Opening a pipe or a device can block or have side effects, so the type of the file is
 * checked before opening it, and again afterwards, in case the name now refers to a
 * different file.
 */
static int open_file(const char *path)
{
	struct stat st;
	int fd, ret = 0;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int read_all(int fd, char *data, size_t *len)
{
	ssize_t n = 0;

	*len = 0;
	while (*len <= MAX_FILE &&
	       (n = read(fd, data + *len, MAX_FILE + 1 - *len)) > 0)
		*len += n;
	if (n < 0)
		return -errno;
	if (*len > MAX_FILE)
		return -EFBIG;
	data[*len] = '\0';
	return 0;
}

/* Reads a regular file. On failure, returns a negative errno and sets the reason. */
static int read_file(const char *path, char **data, size_t *len,
		     const char **why)
{
	int fd = open_file(path), ret = fd;

	*data = NULL;
	if (fd >= 0) {
		*data = malloc(MAX_FILE + 1);
		ret = *data ? read_all(fd, *data, len) : -ENOMEM;
		close(fd);
	}
	if (!ret)
		return 0;
	*why = ret == -EINVAL ? "not a regular file" : strerror(-ret);
	free(*data);
	*data = NULL;
	return ret;
}

/* Reads a file; a relative name refers to the configuration's folder. */
static int read_pem(struct reader *r, const yaml_node_t *node, char **pem)
{
	const char *name = scalar(r, node), *why;
	char *copy, *path = NULL, *data;
	size_t n;
	int ret = 0;

	if (!name)
		return -EINVAL;
	copy = strdup(r->path);
	if (!copy || asprintf(&path, "%s%s%s",
			      name[0] == '/' ? "" : dirname(copy),
			      name[0] == '/' ? "" : "/", name) < 0) {
		free(copy);
		return bad(r, NULL, "out of memory");
	}
	free(copy);
	if (read_file(path, &data, &n, &why))
		ret = bad(r, node, "%s: %s", path, why);
	else if (!n)
		ret = bad(r, node, "%s: not a PEM file", path);
	free(path);
	free(*pem);
	*pem = ret ? NULL : realloc(data, strlen(data) + 1);
	if (ret)
		free(data);
	return ret;
}

static int read_version(struct reader *r, const yaml_node_t *node, int *version)
{
	const char *name = scalar(r, node);
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(versions); i++) {
		if (!strcmp(versions[i].name, name)) {
			*version = i;
			return 0;
		}
	}
	return name ? bad(r, node, "%s: not a TLS version (TLS10 to TLS13)", name) :
		      -EINVAL;
}

static int read_client_auth(struct reader *r, const yaml_node_t *node)
{
	static const struct {
		const char *name;
		enum client_auth auth;
	} ways[] = {
		{ "NoClientCert", CLIENT_ANYBODY },
		/* An unverified certificate is equivalent to none. */
		{ "RequestClientCert", CLIENT_ANYBODY },
		{ "VerifyClientCertIfGiven", CLIENT_VERIFY_IF_GIVEN },
		{ "RequireAndVerifyClientCert", CLIENT_VERIFY },
	};
	const char *name = scalar(r, node);
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(ways[i].name, name)) {
			r->config->client_auth = ways[i].auth;
			return 0;
		}
	}
	return name ? bad(r, node, "client_auth_type %s: not supported",
			  name) : -EINVAL;
}

/* ---- mappings ------------------------------------------------------------------ */

typedef int (*take_fn)(struct reader *r, const char *key,
		       const yaml_node_t *node);

static int mapping(struct reader *r, const yaml_node_t *node, take_fn take)
{
	const yaml_node_pair_t *pair;
	const yaml_node_t *key, *value;
	const char *name;
	int ret = 0;

	if (is_null(node))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return bad(r, node, "expected a mapping");
	for (pair = node->data.mapping.pairs.start;
	     !ret && pair < node->data.mapping.pairs.top; pair++) {
		key = yaml_document_get_node(&r->doc, pair->key);
		value = yaml_document_get_node(&r->doc, pair->value);
		name = scalar(r, key);
		ret = name ? take(r, name, value) : -EINVAL;
	}
	return ret;
}

static int unknown(struct reader *r, const char *key, const yaml_node_t *node)
{
	return bad(r, node, "%s: not supported", key);
}

static int take_tls(struct reader *r, const char *key, const yaml_node_t *node)
{
	if (!strcmp(key, "cert_file"))
		return read_pem(r, node, &r->config->cert);
	if (!strcmp(key, "key_file"))
		return read_pem(r, node, &r->config->key);
	if (!strcmp(key, "client_ca_file"))
		return read_pem(r, node, &r->config->client_ca);
	if (!strcmp(key, "client_auth_type"))
		return read_client_auth(r, node);
	if (!strcmp(key, "min_version"))
		return read_version(r, node, &r->min);
	if (!strcmp(key, "max_version"))
		return read_version(r, node, &r->max);
	/* GnuTLS always uses the server's order. */
	if (!strcmp(key, "prefer_server_cipher_suites") &&
	    node->type == YAML_SCALAR_NODE &&
	    !strcmp((char *)node->data.scalar.value, "true"))
		return 0;
	return unknown(r, key, node);
}

static bool has_control(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 127)
			return true;
	}
	return false;
}

static int take_header(struct reader *r, const char *key,
		       const yaml_node_t *node)
{
	static const char *const known[] = {
		"Strict-Transport-Security", "X-Content-Type-Options",
		"X-Frame-Options", "X-XSS-Protection",
		"Content-Security-Policy",
	};
	struct web_config *config = r->config;
	const char *value = scalar(r, node);
	struct web_header *header;
	size_t i;

	if (!value)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(known) && strcmp(known[i], key) != 0; i++)
		;
	if (i == ARRAY_SIZE(known))
		return bad(r, node, "%s: this header cannot be set", key);
	if (has_control(value))
		return bad(r, node, "%s: control characters", key);
	if (!grow(config->headers, config->n_headers, config->max_headers))
		return bad(r, NULL, "out of memory");
	header = &config->headers[config->n_headers++];
	header->name = strdup(key);
	header->value = strdup(value);
	return header->name && header->value ? 0 :
						 bad(r, NULL, "out of memory");
}

static int take_http(struct reader *r, const char *key, const yaml_node_t *node)
{
	/* The server uses HTTP/1.1 regardless of this setting. */
	if (!strcmp(key, "http2"))
		return scalar(r, node) ? 0 : -EINVAL;
	if (!strcmp(key, "headers"))
		return mapping(r, node, take_header);
	return unknown(r, key, node);
}

/*
 * A password is checked by comparing the text that crypt(3) returns, so only a hash
 * that crypt(3) can produce is valid. Hashing at the lowest cost shows whether the salt
 * is valid, because crypt(3) repeats a valid salt in its output.
 */
static bool is_salt(const char *hash)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char setting[HASH_SUM + 1];
	const char *got;
	bool ok;

	if (!data)
		return false;
	memcpy(setting, hash, HASH_SUM);
	memcpy(setting + HASH_SALT - 3, "04$", 3);
	setting[HASH_SUM] = '\0';
	got = crypt_rn("", setting, data, sizeof(*data));
	ok = got && !strncmp(got, setting, HASH_SUM);
	free(data);
	return ok;
}

/* Two bits of the last of the 31 digits are unused. */
static bool is_bcrypt(const char *hash)
{
	static const char digits[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	return strlen(hash) == HASH_END && !strncmp(hash, "$2", 2) &&
	       hash[3] == '$' && hash[HASH_SALT - 1] == '$' &&
	       strspn(hash + HASH_SALT, digits) == HASH_END - HASH_SALT &&
	       !((strchr(digits, hash[HASH_END - 1]) - digits) % 4) &&
	       is_salt(hash);
}

static int take_user(struct reader *r, const char *key, const yaml_node_t *node)
{
	struct web_config *config = r->config;
	const char *hash = scalar(r, node);
	struct web_user *user;
	char cost[3] = "";
	uint64_t n;
	size_t i;

	if (!hash)
		return -EINVAL;
	if (!is_bcrypt(hash))
		return bad(r, node,
			   "%s: not a bcrypt hash of a password ($2y$10$ and 53 more characters)",
			   key);
	memcpy(cost, hash + HASH_SALT - 3, 2);
	if (!parse_u64(cost[0] == '0' ? cost + 1 : cost, &n) || n < 4 ||
	    n > MAX_COST)
		return bad(r, node, "%s: the hash has a cost of %s, which is not from 4 to %d",
			   key, cost, MAX_COST);
	for (i = 0; i < config->n_users; i++) {
		if (!strcmp(config->users[i].name, key))
			return bad(r, node, "%s: the user is listed twice", key);
	}
	if (!grow(config->users, config->n_users, config->max_users))
		return bad(r, NULL, "out of memory");
	user = &config->users[config->n_users++];
	user->name = strdup(key);
	user->hash = strdup(hash);
	return user->name && user->hash ? 0 : bad(r, NULL, "out of memory");
}

static int take_top(struct reader *r, const char *key, const yaml_node_t *node)
{
	if (!strcmp(key, "tls_server_config"))
		return mapping(r, node, take_tls);
	if (!strcmp(key, "http_server_config"))
		return mapping(r, node, take_http);
	if (!strcmp(key, "basic_auth_users"))
		return mapping(r, node, take_user);
	return unknown(r, key, node);
}

/* ---- the whole ------------------------------------------------------------------- */

static int check(struct reader *r)
{
	struct web_config *config = r->config;
	size_t i, len;

	if (!config->cert != !config->key)
		return bad(r, NULL, "cert_file and key_file must be set together");
	if (!config->cert && (config->client_ca || config->client_auth))
		return bad(r, NULL,
			   "client certificates require a cert_file");
	if (config->client_auth >= CLIENT_VERIFY_IF_GIVEN && !config->client_ca)
		return bad(r, NULL,
			   "verifying clients requires a client_ca_file");
	if (config->client_ca && config->client_auth < CLIENT_VERIFY_IF_GIVEN)
		return bad(r, NULL,
			   "client_ca_file has no effect with this client_auth_type");
	if (r->min > r->max)
		return bad(r, NULL, "min_version is above max_version");
	len = snprintf(config->priority, sizeof(config->priority), "NORMAL");
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if ((int)i < r->min || (int)i > r->max)
			len += snprintf(config->priority + len,
					sizeof(config->priority) - len, ":%s",
					versions[i].priority);
	}
	return 0;
}

/*
 * Checks the certificate with its key, and the CA, with the library that will load
 * them.
 */
static int check_tls(struct reader *r)
{
	const struct web_config *config = r->config;
	gnutls_datum_t cert, key, ca;
	gnutls_certificate_credentials_t all;
	gnutls_priority_t priority;
	int ret;

	if (!config->cert)
		return 0;
	if (gnutls_certificate_allocate_credentials(&all))
		return bad(r, NULL, "out of memory");
	cert = (gnutls_datum_t){ (void *)config->cert, strlen(config->cert) };
	key = (gnutls_datum_t){ (void *)config->key, strlen(config->key) };
	ret = gnutls_certificate_set_x509_key_mem(all, &cert, &key,
						  GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		bad(r, NULL, "cert_file and key_file: %s",
		    gnutls_strerror(ret));
	if (ret >= 0 && config->client_ca) {
		ca = (gnutls_datum_t){ (void *)config->client_ca,
				       strlen(config->client_ca) };
		ret = gnutls_certificate_set_x509_trust_mem(
			all, &ca, GNUTLS_X509_FMT_PEM);
		if (ret < 0)
			bad(r, NULL, "client_ca_file: %s",
			    gnutls_strerror(ret));
		else if (!ret)
			ret = bad(r, NULL,
				  "client_ca_file: contains no certificate");
	}
	gnutls_certificate_free_credentials(all);
	if (ret < 0)
		return -EINVAL;
	ret = gnutls_priority_init(&priority, config->priority, NULL);
	if (ret)
		return bad(r, NULL, "min_version, max_version: %s",
			   gnutls_strerror(ret));
	gnutls_priority_deinit(priority);
	return 0;
}

static int load_doc(struct reader *r, yaml_parser_t *parser)
{
	if (yaml_parser_load(parser, &r->doc))
		return 0;
	return bad(r, NULL, "line %zu: %s", parser->problem_mark.line + 1,
		   parser->problem ? parser->problem : "not YAML");
}

static int read_doc(struct reader *r, yaml_parser_t *parser)
{
	const yaml_node_t *root;
	int ret;

	ret = load_doc(r, parser);
	if (ret)
		return ret;
	root = yaml_document_get_root_node(&r->doc);
	ret = root ? mapping(r, root, take_top) : 0;
	yaml_document_delete(&r->doc);
	if (ret)
		return ret;
	/* A second document, and any users in it, would be ignored. */
	ret = load_doc(r, parser);
	if (ret)
		return ret;
	root = yaml_document_get_root_node(&r->doc);
	if (root)
		ret = bad(r, root, "more than one document");
	yaml_document_delete(&r->doc);
	if (!ret)
		ret = check(r);
	return ret ? ret : check_tls(r);
}

int web_config_read(const char *path, struct web_config *config, char *why,
		    size_t size)
{
	struct reader r = {
		.config = config, .path = path, .why = why, .size = size,
		.min = 2, .max = 3,	/* the toolkit's defaults */
	};
	yaml_parser_t parser;
	const char *text;
	char *data;
	size_t len;
	int ret;

	*config = (struct web_config){ 0 };
	ret = read_file(path, &data, &len, &text);
	if (ret) {
		snprintf(why, size, "%s", text);
		return ret;
	}
	if (!yaml_parser_initialize(&parser)) {
		free(data);
		return bad(&r, NULL, "out of memory");
	}
	yaml_parser_set_input_string(&parser, (unsigned char *)data, len);
	ret = read_doc(&r, &parser);
	yaml_parser_delete(&parser);
	free(data);
	if (ret)
		web_config_free(config);
	return ret;
}

void web_config_free(struct web_config *config)
{
	size_t i;

	for (i = 0; i < config->n_users; i++) {
		free(config->users[i].name);
		free(config->users[i].hash);
	}
	for (i = 0; i < config->n_headers; i++) {
		free(config->headers[i].name);
		free(config->headers[i].value);
	}
	free(config->users);
	free(config->headers);
	free(config->cert);
	free(config->key);
	free(config->client_ca);
	*config = (struct web_config){ 0 };
}
