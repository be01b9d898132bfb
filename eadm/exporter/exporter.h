/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of the exporter. */
#ifndef EXPORTER_H
#define EXPORTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../out/buffer.h"
#include "../cli.h"
#include "../clock.h"

/*
 * All ports from 9100 to 9999 are taken in the public list of Prometheus' default
 * ports; this port is neither among the later entries of that list nor in any list of
 * services.
 */
#define EXPORTER_PORT "10707"

extern const struct option_def exporter_options[];
extern const char exporter_help[], exporter_more[], exporter_examples[];

enum format {
	FORMAT_TEXT,
	FORMAT_OPENMETRICS,
	FORMAT_PROTOBUF,
	FORMATS,
};

/* ---- exported metrics: family.c --------------------------------------------- */

enum metric_type {
	METRIC_GAUGE,
	METRIC_COUNTER,
	METRIC_HISTOGRAM,
	METRIC_INFO,
	METRIC_UNKNOWN,
};

/* All values are unsigned; METRIC_NS means nanoseconds shown as seconds. */
enum metric_unit {
	METRIC_PLAIN,
	METRIC_BYTES,
	METRIC_NS,
};

struct family {
	char *name;		/* with unit, without _total or _info */
	char *help;
	enum metric_type type;
	enum metric_unit unit;
	/* Parts that are the same in every response, created by render.c. */
	struct buffer *head;	/* one text for each of FORMATS */
	char *sample;		/* name of its samples */
};

/*
 * A field and its position in the object, or NULL and the number of fields if the
 * object lacks it.
 */
struct place {
	const struct eadm_field *field;
	unsigned int at;
	const char *label;	/* name of the label with its value */
};

/* A field of an object and the metric family that its values belong to. */
struct family_field {
	struct place place;
	unsigned int family;
	bool names;		/* a state, with one series per name */
};

#define MAX_LABELS 6

/* An object whose rows are exported. */
struct collector {
	const struct eadm_object *object;	/* NULL: the diagnosis */
	const char *name;	/* name of the object */
	bool per_object;	/* only on request, with a budget of series */
	bool sums;		/* exports sums by process instead of rows */
	bool pods;		/* sums also by pod and container */
	bool steady;		/* a device's number of rows never changes */
	struct place key;
	struct place age;	/* if per_device */
	struct place pid;	/* if pods */
	struct place label[MAX_LABELS];
	unsigned int n_labels;
	/*
	 * If per_object: label for rows whose key is not available through RDMA
	 * netlink.
	 */
	struct place spare;
	struct family_field *fields;
	unsigned int n_fields;
	struct place *info;
	unsigned int n_info;
	/* If there may be many rows: all fields above, NULL-terminated. */
	const struct eadm_field **all;
	unsigned int info_family;	/* if n_info */
	bool others;		/* rows can have counters without a field */
	bool per_device;	/* the row describes the device itself */
	unsigned int other_family;	/* family of such counters */
	unsigned int count_family;	/* for sums: the number of rows */
};

/* Fields of the flight recorder's commands. */
struct recorder_fields {
	struct place seq, op, state, latency, function, family;
	const struct eadm_field *all[7];	/* all of these, NULL-terminated */
};

/* Families that are not defined by a field. */
enum own_family {
	OWN_BUILD,
	OWN_DEVICES,
	OWN_SUCCESS,
	OWN_DURATION,
	OWN_TRUNCATED,
	OWN_SKIPPED,
	OWN_SCRAPE,
	OWN_LATENCY,
	OWN_RECORDS,
	OWN_LOST,
	OWN_VERDICTS,
	OWN_FINDINGS,
	OWN_UNAPPLIED,
	OWN_DIAGNOSED,
	OWN_CONNECTIONS,
	OWN_EVICTED,
	OWN_AUTH_FAILURES,
	OWN_RELOAD,
	OWN_CPU,
	OWN_MEMORY,
	OWN_START,
	OWN_MAX,
};

#define MAX_COLLECTORS 32

struct model {
	struct family *families;
	unsigned int n_families, max_families;
	struct collector *collectors;
	unsigned int n_collectors;
	size_t max_collectors;
	int recorder;		/* collector of "cmd" */
	struct recorder_fields recorder_fields;
	unsigned int max_fields;	/* maximum per object */
	unsigned int own[OWN_MAX];
};

/* How objects are summed over processes. */
enum sums {
	SUMS_NONE,
	SUMS_NAMES,	/* sums by command name */
	SUMS_PODS,	/* sums also by pod and container */
};

int model_make(struct model *model, const char *collectors,
	       const char *objects, enum sums sums, bool diagnose,
	       unsigned int formats);
bool model_has_collector(const char *name);
bool model_offers(const char *object);

/* ---- times: histogram.c --------------------------------------------------------- */

#define CLASSIC_BUCKETS 12
/* Native buckets, eight per power of two: from 2^-30 to 2^8 seconds. */
#define NATIVE_SCHEMA 3
#define NATIVE_FIRST (-30 * 8 + 1)
#define NATIVE_BUCKETS (38 * 8)

struct histogram {
	uint64_t count, sum, zero;
	uint64_t classic[CLASSIC_BUCKETS + 1];	/* the last one has no upper bound */
	uint64_t native[NATIVE_BUCKETS];
};

extern const uint64_t histogram_bounds[CLASSIC_BUCKETS];	/* ns */
/*
 * The same bounds in seconds, as required by OpenMetrics, followed by that of the last
 * bucket.
 */
extern const char *const histogram_le[CLASSIC_BUCKETS + 1];

int histogram_index(uint64_t ns);
void histogram_add(struct histogram *histogram, uint64_t ns);

/* ---- values: sample.c --------------------------------------------------------- */

struct sample {
	unsigned int family;
	uint32_t labels;	/* offset into the samples' text */
	uint64_t value;		/* or index of the histogram */
};

struct samples {
	struct sample *all;
	size_t n, max;
	struct buffer text;	/* sets of labels, see struct label_head */
	struct histogram *histograms;
	size_t n_histograms, max_histograms;
	bool failed;		/* out of memory */
};

/* Precedes a label's name and value; a set ends with a label without a name. */
struct label_head {
	uint16_t value_len;
	uint8_t name_len;
	bool plain;
};

#define LABEL_END	sizeof(struct label_head)
#define LABEL_MAX	UINT16_MAX	/* bytes of a value */

struct label {
	const char *name, *value;	/* without NUL */
	size_t name_len, value_len;	/* empty name: end of the set */
	bool plain;			/* nothing in the value requires escaping */
};

static inline struct label label_at(const char *at)
{
	struct label_head head;

	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	return (struct label){ at, at + head.name_len, head.name_len,
			       head.value_len, head.plain };
}

static inline struct label label_first(const struct samples *samples,
				       uint32_t labels)
{
	return label_at(samples->text.data + labels);
}

static inline struct label label_next(struct label label)
{
	return label_at(label.value + label.value_len);
}

uint32_t samples_labels(struct samples *samples);
void samples_label(struct samples *samples, const char *name,
		   const char *value);
void samples_name(const char *value, char *buf, size_t size);
uint32_t samples_labels_from(struct samples *samples, uint32_t labels);
void samples_add(struct samples *samples, unsigned int family,
		 uint32_t labels, uint64_t value);
void samples_add_histogram(struct samples *samples, unsigned int family,
			   uint32_t labels, const struct histogram *histogram);
void samples_sort(struct samples *samples);
void samples_clear(struct samples *samples);
bool samples_copy(struct samples *to, const struct samples *from);
void samples_release(struct samples *samples);

/* ---- rows: row.c -------------------------------------------------------------- */

/* All values of a row, which the library returns in one call. */
struct row {
	const struct eadm_record *record;
	struct eadm_value *values;
	uint16_t *number;	/* number of each field's value, from 1; 0: none */
};

static inline const struct eadm_value *row_value(const struct row *row,
						 const struct place *place)
{
	unsigned int number = row->number[place->at];

	return number ? &row->values[number - 1] : NULL;
}

static inline bool row_u64(const struct row *row, const struct place *place,
			   uint64_t *value)
{
	const struct eadm_value *v = row_value(row, place);

	if (!v || v->type != EADM_TYPE_U64)
		return false;
	*value = v->u64;
	return true;
}

struct place place_at(const struct eadm_object *object, unsigned int at);
struct place place_in(const struct eadm_object *object,
		      const struct eadm_field *field);
struct place place_find(const struct eadm_object *object, const char *name);
bool row_init(struct row *row, unsigned int max_fields);
void row_release(struct row *row);
void row_take(struct row *row, unsigned int n_fields,
	      const struct eadm_record *record);
const char *row_string(const struct row *row, const struct place *place);
const char *row_text(const struct row *row, const struct place *place,
		     char *buf, size_t size);

/* ---- the program's own metrics: own.c ------------------------------------------ */

void own_add(struct samples *samples, const struct model *model,
	     enum own_family family, uint64_t value);
void own_add_process(struct samples *samples, const struct model *model,
		     uint64_t start);

/* ---- reading: collect.c, recorder.c, verdicts.c --------------------------------------------- */

/* Result of one collector on one device. */
struct section {
	struct samples samples;
	bool supported;		/* the device has objects of this kind */
	bool truncated;		/* more rows than the budget, or an inconsistent dump */
	uint64_t skipped;	/* rows whose process could not be looked up */
	int error;
	uint64_t duration;	/* ns */
};

/* A command of the adapter, or a verb. */
struct operation {
	uint64_t op;
	char family[16];	/* family of a driver recorded by the probe, or "" */
};

/* Data collected from the flight recorder. */
struct recorder {
	bool begun;
	bool primed;			/* a dump was read to the end */
	bool probed;			/* the newest record is the probe's */
	uint64_t next;			/* lowest number not seen yet */
	uint64_t *pending;		/* numbers of pending commands */
	size_t n_pending, max_pending;
	size_t n_seen;			/* pending commands in the current dump */
	uint64_t lost;
	/* Latencies of completed commands, by operation. */
	struct timing {
		struct operation op;
		struct histogram latency;
	} *timings;
	size_t n_timings, max_timings;
	struct outcome {
		struct operation op;
		uint64_t state, count;
	} *outcomes;
	size_t n_outcomes, max_outcomes;
};

#define SEVERITIES (EADM_SEVERITY_CRITICAL + 1)

/* Result of the last diagnosis. */
struct verdicts {
	struct eadm_diagnosis *diagnosis;
	uint64_t when;			/* time by monotonic_ns(); 0: never */
	uint64_t severity[SEVERITIES];
	uint64_t *rules;		/* in the order of eadm_rule_next() */
	size_t n_rules;
};

/*
 * The only row of its kind on a device: requesting a single object is cheaper than a
 * dump.
 */
struct lone_row {
	bool known;
	uint64_t id;
};

/* Age of a device or of the probe when it was last read. */
struct life {
	uint64_t seen, age;
};

/* State of one device that is kept between scrapes. */
struct memory {
	struct lone_row lone[MAX_COLLECTORS];
	struct recorder recorder;
	struct verdicts verdicts;
	struct row row;			/* allocated when first needed */
	uint64_t index;			/* of the device; changes when it is re-created */
	struct life device, probe;
};

struct budget {
	unsigned int series;	/* maximum number per collector and device */
	uint64_t diagnosis;	/* ns between two diagnoses */
};

void collect(struct eadm_ctx *ctx, const struct model *model,
	     unsigned int collector, const char *device,
	     const struct budget *budget, struct memory *memory,
	     struct section *section);
void memory_reset(struct memory *memory);

/* ---- pods: pods.c ---------------------------------------------------------------- */

struct pod {
	uint32_t pid;
	bool known;		/* the process could be looked up */
	char uid[64], container[96];	/* as shown in labels; "" if there is none */
};

/*
 * Pods of the processes of one device, sorted by PID. Initialize to zero; free(pod) at
 * the end.
 */
struct pods {
	struct pod *pod;
	size_t n, max;
};

const struct pod *pods_find(struct pods *pods, struct eadm_ctx *ctx, uint32_t pid);

void recorder_fields_find(const struct eadm_object *object,
			  struct recorder_fields *fields);
bool recorder_begin(struct recorder *recorder, uint64_t *from);
void recorder_end(struct recorder *recorder);
void recorder_restart(struct recorder *recorder);
bool recorder_take(struct recorder *recorder,
		   const struct recorder_fields *fields,
		   const struct row *row);
void recorder_samples(const struct recorder *recorder,
		      const struct model *model,
		      const struct recorder_fields *fields,
		      const char *device, struct samples *samples);
void recorder_reset(struct recorder *recorder);

int verdicts_collect(struct eadm_ctx *ctx, const struct model *model,
		     const char *device, uint64_t interval,
		     struct verdicts *verdicts, struct samples *samples);
void verdicts_reset(struct verdicts *verdicts);

/* ---- a scrape: scrape.c ----------------------------------------------------------- */

/* The metrics in one format, shared by the scraper and the clients that receive them. */
struct text {
	struct buffer buffer;
	unsigned int users;		/* accessed atomically */
	unsigned int scrape;		/* number of the scrape */
	unsigned int walk;		/* for http.c, protected by its lock */
};

/*
 * A client waiting for metrics; receives exactly one response. @text can be kept with
 * text_get(); NULL: out of memory.
 */
struct request {
	enum format format;
	uint64_t deadline;		/* in terms of monotonic_ns() */
	void (*done)(struct request *request, struct text *text, bool complete);
	struct request *next;
};

struct scrape_opts {
	const char *from;		/* capture; NULL: this machine */
	const char *peer;		/* socket of a program; NULL: this machine */
	bool no_peers;			/* omit userspace adapters */
	unsigned int snapshot;		/* number of the capture's first snapshot to show */
	const char *device;		/* only this device; NULL: all */
	uint64_t device_limit;		/* time limit for each device, in ns */
	uint64_t lib_timeout;		/* ns; 0: the library's default */
	struct budget budget;
	/* Adds the server's own metrics; may be NULL. */
	void (*server)(void *data, const struct model *model,
		       struct samples *samples);
	void *server_data;
};

struct scraper;

struct scraper *scraper_new(const struct model *model,
			    const struct scrape_opts *opts);
int scraper_start(struct scraper *scraper);
bool scraper_ask(struct scraper *scraper, struct request *request);
void scraper_stop(struct scraper *scraper);
struct text *text_get(struct text *text);
void text_put(struct text *text);
int scrape_open(const struct scrape_opts *opts, struct eadm_ctx *ctx);

/* ---- the command line: setup.c, once.c ----------------------------------------------- */

struct setup {
	struct model model;
	struct scrape_opts scrape;
	uint64_t max_connections;
};

int exporter_setup(struct cli *cli, bool once, struct setup *setup);
int exporter_once(struct cli *cli);

/* ---- text: render.c ----------------------------------------------------------------- */

char *text_join(const char *a, const char *b);
int render_prepare(struct family *family, unsigned int formats);
void render(const struct model *model, const struct samples *const *parts,
	    size_t n_parts, enum format format, struct buffer *text);

/* ---- protobuf: proto.c -------------------------------------------------------------- */

/* Nested messages under construction. */
struct proto {
	struct buffer family, metric, value, part;
};

void proto_head(const struct family *family, const char *name,
		struct buffer *text);
void proto_sample(struct proto *proto, const struct family *family,
		  const struct samples *part, const struct sample *sample);
void proto_end(struct proto *proto, const struct buffer *head,
	       struct buffer *text);
void proto_release(struct proto *proto);

/* ---- configuration: listen.c, webconfig.c ----------------------------------------------- */

#define MAX_LISTENERS 16

struct listeners {
	int fd[MAX_LISTENERS];
	unsigned int n;
};

int listen_all(struct cli *cli, const char *addresses,
	       struct listeners *listeners);
void listen_note(struct cli *cli, const struct listeners *listeners);

struct web_user {
	char *name, *hash;
};

struct web_header {
	char *name, *value;
};

enum client_auth {
	CLIENT_ANYBODY,
	CLIENT_VERIFY_IF_GIVEN,
	CLIENT_VERIFY,
};

/* A web configuration in the format of the exporter-toolkit. */
struct web_config {
	char *cert, *key, *client_ca;	/* PEM */
	enum client_auth client_auth;
	char priority[128];		/* priority string for GnuTLS */
	struct web_user *users;
	size_t n_users, max_users;
	struct web_header *headers;
	size_t n_headers, max_headers;
};

int web_config_read(const char *path, struct web_config *config, char *why,
		    size_t size);
void web_config_free(struct web_config *config);

/* ---- passwords: auth.c ---------------------------------------------------------------- */

#define AUTH_DIGEST 32

enum auth_answer {
	AUTH_NO,
	AUTH_YES,
	AUTH_UNKNOWN,		/* a hash must be computed */
};

/* A name and password that a client has sent to be checked. */
struct attempt {
	struct attempt *prev, *next;
	void (*done)(struct attempt *attempt, bool ok);
	int fd;			/* socket of the client, or -1 */
	bool again;		/* the pair was sent before */
	bool left;		/* the client seems to have disconnected */
	unsigned int turn;
	unsigned char digest[AUTH_DIGEST];
	char *hash, *password;
};

struct auth;

struct auth *auth_new(void);
enum auth_answer auth_look(struct auth *auth, const struct web_config *config,
			   const char *user, const char *password,
			   struct attempt *attempt);
bool auth_wait(struct auth *auth, struct attempt *attempt);
bool auth_take_back(struct auth *auth, struct attempt *attempt);
void auth_forget(struct attempt *attempt);
bool peer_has_left(int fd);

/* ---- the web server: http.c, client.c, format.c ---------------------------------------------------- */

struct http;
struct server;

struct http *http_new(const struct listeners *listeners,
		      unsigned int max_connections);
void http_use(struct http *http, struct scraper *scraper);
int http_start(struct http *http, struct web_config *config,
	       struct server **old, char *why, size_t size);
void http_leave(struct server *server);
int http_listen(struct http *http);
void http_finish(struct http *http);
void http_sweep(struct http *http);
void http_samples(void *data, const struct model *model,
		  struct samples *samples);
unsigned int client_limit(unsigned int max_connections);

enum format format_choose(const char *accept);

/* ---- SIGHUP: reload.c ------------------------------------------------------------------------------ */

struct reloader;

int config_read(struct cli *cli, struct web_config *config);
int config_use(struct cli *cli, struct http *http, struct web_config *config,
	       struct server **old);
struct reloader *reloader_start(struct cli *cli, struct http *http);
void reloader_ask(struct reloader *reloader);
void reloader_check(struct reloader *reloader);
void reloader_samples(struct reloader *reloader, const struct model *model,
		      struct samples *samples);

/* ---- the rest: sandbox.c, textfile.c ----------------------------------------------------- */

int sandbox_enter(char *why, size_t size);
int textfile_write(struct cli *cli, const char *path, const struct buffer *text);

#endif /* EXPORTER_H */
