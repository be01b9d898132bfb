// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "options.h"

static const char usage[] =
	"Usage: eadm-pvrdma [OPTIONS] SOCKET[,mac=MAC][,name=NAME][,WHAT=N]...\n"
	"       eadm-pvrdma fault --help\n"
	"\n"
	"Offers a PVRDMA adapter to a virtual machine on each SOCKET, over vfio-user. MAC\n"
	"is that of the guest's vmxnet3 interface in function 0 of the same slot.\n"
	"NAME is the name of the adapter in \"eadm list\". WHAT=N is a quota of this adapter,\n"
	"or memory=MIB.\n"
	"\n"
	"  -b, --backend soft[,listen=ADDRESS][,join=ADDRESS]...\n"
	"                        let the program transfer data between its own adapters and\n"
	"                        those of linked programs (default). ADDRESS is the path of\n"
	"                        a UNIX socket, or a numeric HOST:PORT\n"
	"  -b, --backend verbs:DEVICE[,port=N][,gid=N]\n"
	"                        let one of the host's RDMA devices transfer the data\n"
	"      --memory MIB      limit on the memory that each guest can have registered\n"
	"                        at the same time (default: none)\n"
	"      --quota WHAT=N[,WHAT=N]...  other limits of each guest: qps, cqs, mrs, pds,\n"
	"                        srqs, commands (per second)\n"
	"      --mode MODE       mode of the sockets, octal (default: 0600)\n"
	"      --mtu BYTES       MTU: 256, 512, 1024, 2048 or 4096 (default: 1024)\n"
	"      --roce 1|2        RoCE version (default: 2)\n"
	"      --interface N     version of the interface to the guest's driver, 17 to 20\n"
	"                        (default: 20)\n"
	"      --name NAME       name of the program and prefix of its adapters' names\n"
	"      --control PATH    control socket for eadm, or \"none\" (default:\n"
	"                        /run/eadm-pvrdma/NAME.sock, if the directory exists)\n"
	"      --control-mode MODE  mode of the control socket, octal (default: 0600)\n"
	"      --control-owner USER[:GROUP]  owner of the control socket\n"
	"      --no-sandbox      do not confine the program (for debuggers and tracers)\n"
	"  -h, --help            print this help\n"
	"  -V, --version         print the version\n"
	"\n"
	"Exit status: 0 after SIGTERM or SIGINT, 1 for a failure, 2 for a usage error.\n";

static int usage_error(const char *what)
{
	fprintf(stderr, "eadm-pvrdma: %s\nTry 'eadm-pvrdma --help'.\n", what);
	return 2;
}

static int wrong(const char *what, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: '%s'", what, value);
	return usage_error(text);
}

static bool number(const char *text, int base, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, base);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= max;
}

static bool parse_mtu(const char *text, enum ibv_mtu *mtu)
{
	unsigned long bytes;

	if (!number(text, 10, 4096, &bytes))
		return false;
	for (*mtu = IBV_MTU_256; *mtu <= IBV_MTU_4096; ++*mtu)
		if (bytes == 128ul << *mtu)
			return true;
	return false;
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
	int end = 0;

	/* sscanf() also accepts signs and spaces. */
	return !text[strspn(text, "0123456789abcdefABCDEF:")] &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &end) == 6 && !text[end] && !(mac[0] & 1);
}

/* DEVICE[,port=N][,gid=N] */
static bool parse_verbs(char *text, struct backend_verbs_config *config)
{
	unsigned long n;
	char *part;

	*config = (struct backend_verbs_config){ .device = strsep(&text, ","), .port = 1, .gid = -1 };
	while ((part = strsep(&text, ","))) {
		if (!strncmp(part, "port=", 5) && number(part + 5, 10, 255, &n) && n)
			config->port = (uint8_t)n;
		else if (!strncmp(part, "gid=", 4) && number(part + 4, 10, 255, &n))
			config->gid = (int)n;
		else
			return false;
	}
	return *config->device;
}

/* soft[,listen=ADDRESS][,join=ADDRESS]... */
static bool parse_soft(char *text, struct backend_soft_config *config)
{
	const char *address;
	char *part;

	*config = (struct backend_soft_config){ 0 };
	strsep(&text, ",");
	while ((part = strsep(&text, ","))) {
		address = strchr(part, '=');
		if (!address++ || !backend_soft_address(address))
			return false;
		if (!strncmp(part, "listen=", 7) && !config->listen)
			config->listen = address;
		else if (!strncmp(part, "join=", 5) && config->n_join < BACKEND_MAX_LINKS)
			config->join[config->n_join++] = address;
		else
			return false;
	}
	return true;
}

/* A program cannot join itself, and two links to one program have the same GIDs. */
static bool has_duplicates(const struct backend_soft_config *config)
{
	unsigned int i, j;

	for (i = 0; i < config->n_join; i++) {
		if (config->listen && !strcmp(config->join[i], config->listen))
			return true;
		for (j = 0; j < i; j++)
			if (!strcmp(config->join[i], config->join[j]))
				return true;
	}
	return false;
}

static int take_backend(struct options *options, const char *value)
{
	static char copy[4096];
	bool soft = !strncmp(value, "soft", 4) && (!value[4] || value[4] == ',');
	bool good;

	options->verbs = (struct backend_verbs_config){ 0 };
	options->soft = (struct backend_soft_config){ 0 };
	options->backend = value;
	if ((!soft && strncmp(value, "verbs:", 6)) || strlen(value) >= sizeof(copy))
		return wrong("no such backend", value);
	strcpy(copy, value);
	good = soft ? parse_soft(copy, &options->soft) : parse_verbs(copy + 6, &options->verbs);
	if (!good)
		return wrong("no such backend", value);
	return has_duplicates(&options->soft) ? wrong("duplicate address", value) : -1;
}

static bool parse_memory(const char *text, struct model_limits *limits)
{
	unsigned long mib;

	if (!number(text, 10, 1ul << 30, &mib) || !mib)
		return false;
	limits->memory = (uint64_t)mib << 20;
	return true;
}

/* Parses WHAT=N; N is at most the adapter's maximum. */
static bool parse_quota(const char *text, struct model_limits *limits)
{
	const struct {
		const char *name;
		uint32_t *limit, most;
	} quotas[] = {
		{ "qps=", &limits->qps, model_default_limits.qps },
		{ "cqs=", &limits->cqs, model_default_limits.cqs },
		{ "mrs=", &limits->mrs, model_default_limits.mrs },
		{ "pds=", &limits->pds, model_default_limits.pds },
		{ "srqs=", &limits->srqs, model_default_limits.srqs },
		{ "commands=", &limits->commands, 1000000 },
	};
	unsigned long n;
	size_t i, length;

	for (i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
		length = strlen(quotas[i].name);
		if (strncmp(text, quotas[i].name, length))
			continue;
		if (!number(text + length, 10, quotas[i].most, &n) || !n)
			return false;
		*quotas[i].limit = (uint32_t)n;
		return true;
	}
	return false;
}

static int take_quotas(struct model_limits *limits, const char *value)
{
	static char copy[256];
	char *text = copy, *part;

	if (strlen(value) >= sizeof(copy))
		return wrong("no such quota", value);
	strcpy(copy, value);
	while ((part = strsep(&text, ",")))
		if (!parse_quota(part, limits))
			return wrong("no such quota", part);
	return -1;
}

static bool take_property(struct option_function *function, char *text)
{
	if (!strncmp(text, "mac=", 4))
		return parse_mac(text + 4, function->mac);
	if (!strncmp(text, "memory=", 7))
		return parse_memory(text + 7, &function->limits);
	if (parse_quota(text, &function->limits))
		return true;
	function->name = text + 5;
	return !strncmp(text, "name=", 5) && name_is_valid(function->name);
}

static int take_function(struct options *options, char *text)
{
	struct option_function *function = &options->functions[options->n_functions];
	char *rest = text, *property;

	if (options->n_functions == MAX_FUNCTIONS)
		return wrong("too many sockets", text);
	strsep(&rest, ",");
	function->limits = options->config.limits;
	while ((property = strsep(&rest, ",")))
		if (!take_property(function, property))
			return wrong("unknown socket property", property);
	if (!*text)
		return wrong("missing socket path", text);
	function->path = text;
	options->n_functions++;
	return -1;
}

static int take_option(struct options *options, int option, const char *value)
{
	struct model_config *config = &options->config;
	unsigned long n;

	switch (option) {
	case 'b':
		return take_backend(options, value);
	case 'M':
		return parse_memory(value, &config->limits) ?
		       -1 : wrong("--memory requires a number of MiB", value);
	case 'q':
		return take_quotas(&config->limits, value);
	case 'm':
		if (!number(value, 8, 0777, &n))
			return wrong("--mode requires octal permissions", value);
		options->mode = (mode_t)n;
		return -1;
	case 'u':
		return parse_mtu(value, &config->mtu) ? -1 : wrong("unsupported MTU", value);
	case 'r':
		if (!number(value, 10, 2, &n) || !n)
			return wrong("unsupported RoCE version", value);
		config->gid_type = n == 1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
		return -1;
	case 'i':
		if (!number(value, 10, 20, &n) || n < 17)
			return wrong("unsupported interface version", value);
		config->version = (unsigned int)n;
		return -1;
	case 'n':
		options->name = value;
		return name_is_valid(value) ? -1 : wrong("invalid name", value);
	case 'c':
		options->control.path = value;
		return -1;
	case 'o':
		if (!number(value, 8, 0777, &n))
			return wrong("--control-mode requires octal permissions", value);
		options->control.mode = (mode_t)n;
		return -1;
	case 'w':
		return name_parse_owner(value, &options->control.uid, &options->control.gid) ?
		       -1 : wrong("no such user or group", value);
	case 'x':
		options->no_sandbox = true;
		return -1;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'V':
		puts("eadm-pvrdma " EADM_VERSION);
		return 0;
	default:
		fputs("Try 'eadm-pvrdma --help'.\n", stderr);
		return 2;
	}
}

/* Guests with the same MAC address would have the same GIDs. */
static bool mac_is_taken(const struct options *options, const struct option_function *function)
{
	static const uint8_t none[sizeof(function->mac)];
	const struct option_function *other;

	for (other = options->functions; other < function; other++)
		if (!memcmp(other->mac, function->mac, sizeof(none)))
			return memcmp(function->mac, none, sizeof(none));
	return false;
}

/* Assigns names to adapters without a name; names must be unique. */
static int name_all(struct options *options)
{
	struct option_function *function = options->functions, *other;
	struct option_function *end = function + options->n_functions;

	for (; function < end; function++) {
		if (!function->name)
			function->name = name_of_socket(options->name, function->path);
		if (!function->name)
			return wrong("cannot derive an adapter name (out of memory)", function->path);
		for (other = options->functions; other < function; other++)
			if (!strcmp(other->name, function->name))
				return wrong("duplicate adapter name", function->name);
		if (mac_is_taken(options, function))
			return wrong("duplicate MAC address", function->path);
	}
	if (!options->control.path)
		options->control.path = name_of_control(options->name, options->functions->path);
	else if (!strcmp(options->control.path, "none"))
		options->control.path = NULL;
	return -1;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "backend", required_argument, NULL, 'b' },
		{ "memory", required_argument, NULL, 'M' },
		{ "quota", required_argument, NULL, 'q' },
		{ "mode", required_argument, NULL, 'm' },
		{ "mtu", required_argument, NULL, 'u' },
		{ "roce", required_argument, NULL, 'r' },
		{ "interface", required_argument, NULL, 'i' },
		{ "name", required_argument, NULL, 'n' },
		{ "control", required_argument, NULL, 'c' },
		{ "control-mode", required_argument, NULL, 'o' },
		{ "control-owner", required_argument, NULL, 'w' },
		{ "no-sandbox", no_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option, status = -1;

	*options = (struct options){
		.backend = "soft",
		.mode = 0600,
		.control = { .mode = 0600, .uid = (uid_t)-1, .gid = (gid_t)-1 },
		.config = {
			.version = 20,
			.gid_type = IBV_GID_TYPE_ROCE_V2,
			.mtu = IBV_MTU_1024,
			.limits = model_default_limits,
		},
	};
	while (status < 0 && (option = getopt_long(argc, argv, "b:hV", known, NULL)) != -1)
		status = take_option(options, option, optarg);
	while (status < 0 && optind < argc)
		status = take_function(options, argv[optind++]);
	if (status >= 0)
		return status;
	if (!options->n_functions)
		return usage_error("SOCKET is missing");
	if (options->config.version < 18 && options->config.gid_type == IBV_GID_TYPE_ROCE_V2)
		return usage_error("--interface 17 requires --roce 1");
	if (options->config.version < 20 && options->verbs.device)
		return usage_error("interface versions below 20 cannot use the QPNs of a device: use --backend soft");
	return name_all(options);
}
