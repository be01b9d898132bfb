// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "eadm exporter", shared by eadm and the program that it runs. */
#include "exporter.h"

const struct option_def exporter_options[] = {
	{ OPT_LISTEN, 'l', "listen", "ADDRS", WORDS_ANY,
	  "[HOST]:PORT or unix:PATH, separated by commas (default: :" EXPORTER_PORT ")" },
	{ OPT_WEB_CONFIG, 0, "web-config", "FILE", WORDS_FILE,
	  "TLS, users and headers, in the format of the Prometheus exporter-toolkit" },
	{ OPT_ONCE, 0, "once", NULL, WORDS_NONE,
	  "print the metrics once and exit" },
	{ OPT_TEXTFILE, 0, "textfile", "FILE", WORDS_FILE,
	  "write metrics once to FILE, for node_exporter's textfile collector" },
	{ OPT_COLLECTORS, 0, "collectors", "NAMES", WORDS_ANY,
	  "run only these: dev, cmdq, eq, cmd, failure-total, counters, diagnose" },
	{ OPT_OBJECTS, 0, "objects", "NAMES", WORDS_ANY,
	  "also export every object of these kinds (qp, cq, mr, ...)" },
	{ OPT_PROCESSES, 0, "processes", NULL, WORDS_NONE,
	  "also export the objects of processes, summed by command name" },
	{ OPT_PODS, 0, "pods", NULL, WORDS_NONE,
	  "like --processes, but also summed by pod and container" },
	{ OPT_MAX_SERIES, 0, "max-series", "N", WORDS_ANY,
	  "at most N series of objects per device and kind (default: 2000)" },
	{ OPT_MAX_CONNECTIONS, 0, "max-connections", "N", WORDS_ANY,
	  "serve at most N clients at once (default: 128)" },
	{ OPT_DEVICE_TIMEOUT, 0, "device-timeout", "TIME", WORDS_ANY,
	  "time limit for each device (default: 1s; with --once: 10s)" },
	{ OPT_DIAGNOSE_INTERVAL, 0, "diagnose-interval", "TIME", WORDS_ANY,
	  "diagnose each device at most once per TIME (default: 1m; 0: never)" },
	{ OPT_NO_SECCOMP, 0, "no-seccomp", NULL, WORDS_NONE,
	  "do not restrict system calls" },
	{ 0 },
};

const char exporter_help[] = "serve metrics to Prometheus";

const char exporter_more[] =
	"Serves /metrics (Prometheus text; OpenMetrics or protobuf with native\n"
	"histograms on request), /healthz and a page at /. Devices are read only\n"
	"when metrics are requested, and are never modified. Sockets passed by\n"
	"systemd replace the default of --listen. SIGHUP reloads the web\n"
	"configuration. With --from, each scrape shows the next snapshot.";

const char exporter_examples[] =
	"  eadm exporter\n"
	"  eadm exporter --listen 127.0.0.1:" EXPORTER_PORT ",unix:/run/eadm.sock\n"
	"  eadm exporter --web-config web.yml\n"
	"  eadm exporter --textfile /var/lib/prometheus/node-exporter/eadm.prom\n"
	"  eadm --from now.pcapng exporter --once\n";
