// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault_client.h"

#include <errno.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "peer_wire.h"

static const char usage[] =
	"Usage: eadm-pvrdma fault CONTROL [DEVICE]\n"
	"       eadm-pvrdma fault CONTROL DEVICE KNOB=COUNT [arg=N] [target=N] [probability=N]\n"
	"\n"
	"Shows the fault knobs of the adapters of a program, or sets one. CONTROL is the\n"
	"program's control socket. COUNT is the number of times that the fault occurs: -1\n"
	"means no limit, and 0 disables the knob. The probability is in percent.\n";

struct setting {
	char knob[32];
	int32_t count;
	uint32_t probability;
	int64_t target;
	uint64_t arg;
};

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "eadm-pvrdma: fault: %s: %s\n", what, why);
	return 1;
}

static bool parse(const char *text, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 0);
	return *text && !*end && !errno;
}

static bool take(const char *word, struct setting *setting)
{
	const char *equals = strchr(word, '=');
	long long value;

	if (!equals || !parse(equals + 1, &value))
		return false;
	if (!strncmp(word, "arg=", 4))
		setting->arg = (uint64_t)value;
	else if (!strncmp(word, "target=", 7))
		setting->target = value;
	else if (!strncmp(word, "probability=", 12))
		setting->probability = value >= 0 && value <= 100 ? (uint32_t)value : UINT32_MAX;
	else
		return false;
	return true;
}

static bool take_all(int argc, char **argv, struct setting *setting)
{
	const char *equals = strchr(argv[0], '=');
	long long value;
	int i;

	*setting = (struct setting){ .probability = 100, .target = -1 };
	if (!equals || equals == argv[0] || !parse(equals + 1, &value) || value < -1 ||
	    value > INT32_MAX)
		return false;
	setting->count = (int32_t)value;
	snprintf(setting->knob, sizeof(setting->knob), "%.*s", (int)(equals - argv[0]), argv[0]);
	for (i = 1; i < argc; i++)
		if (!take(argv[i], setting))
			return false;
	return true;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
	} else if (fd >= 0) {
		strcpy(address.sun_path, path);
		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return fd;
	}
	complain(path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int ask(int fd, const char *device, const struct setting *setting)
{
	_Alignas(8) char buf[EADM_PEER_REQUEST_MAX];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = EADM_PEER_TYPE;
	nlh->nlmsg_flags = NLM_F_REQUEST | (setting ? 0 : NLM_F_DUMP);
	genl = mnl_nlmsg_put_extra_header(nlh, GENL_HDRLEN);
	genl->cmd = setting ? EADM_PEER_FAULT_SET : EADM_PEER_FAULT_GET;
	genl->version = 1;
	if (device)
		mnl_attr_put_strz(nlh, EADM_PEER_A_DEVICE, device);
	if (setting) {
		mnl_attr_put_strz(nlh, EADM_PEER_A_KNOB, setting->knob);
		mnl_attr_put(nlh, EADM_PEER_A_COUNT, sizeof(setting->count), &setting->count);
		mnl_attr_put_u32(nlh, EADM_PEER_A_PROBABILITY, setting->probability);
		mnl_attr_put(nlh, EADM_PEER_A_TARGET, sizeof(setting->target), &setting->target);
		mnl_attr_put_u64(nlh, EADM_PEER_A_ARG, setting->arg);
	}
	return send(fd, buf, nlh->nlmsg_len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int take_pointer(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	if (mnl_attr_get_type(attr) <= EADM_PEER_A_ABOUT)
		attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void show(const struct nlmsghdr *nlh)
{
	const struct nlattr *attrs[EADM_PEER_A_ABOUT + 1] = { NULL };
	int32_t count;
	int64_t target;
	unsigned int i;

	mnl_attr_parse(nlh, GENL_HDRLEN, take_pointer, attrs);
	for (i = EADM_PEER_A_DEVICE; i <= EADM_PEER_A_ABOUT; i++)
		if (!attrs[i])
			return;
	memcpy(&count, mnl_attr_get_payload(attrs[EADM_PEER_A_COUNT]), sizeof(count));
	memcpy(&target, mnl_attr_get_payload(attrs[EADM_PEER_A_TARGET]), sizeof(target));
	printf("%s %s=%" PRId32 " arg=%" PRIu64 " target=%" PRId64 " probability=%" PRIu32
	       " hits=%" PRIu64 ": %s\n",
	       mnl_attr_get_str(attrs[EADM_PEER_A_DEVICE]),
	       mnl_attr_get_str(attrs[EADM_PEER_A_KNOB]), count,
	       mnl_attr_get_u64(attrs[EADM_PEER_A_ARG]), target,
	       mnl_attr_get_u32(attrs[EADM_PEER_A_PROBABILITY]),
	       mnl_attr_get_u64(attrs[EADM_PEER_A_HITS]),
	       mnl_attr_get_str(attrs[EADM_PEER_A_ABOUT]));
}

/* Returns the program's error message, or NULL. */
static const char *words_of(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	mnl_attr_for_each(attr, nlh, sizeof(struct nlmsgerr)) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			return mnl_attr_get_str(attr);
	}
	return NULL;
}

/*
 * Returns 1 if more packets follow; otherwise, the exit status, encoded as -status - 1.
 */
static int take_packet(const char *path, const void *data, int len)
{
	const struct nlmsghdr *nlh = data;
	const struct nlmsgerr *err;
	const char *words;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type == NLMSG_DONE)
			return -1;
		if (nlh->nlmsg_type != NLMSG_ERROR) {
			show(nlh);
			continue;
		}
		err = mnl_nlmsg_get_payload(nlh);
		if (!err->error)
			return -1;
		words = words_of(nlh);
		return -1 - complain(path, words ? words : strerror(-err->error));
	}
	return 1;
}

static int talk(const char *path, int fd, const char *device, const struct setting *setting)
{
	static _Alignas(8) char packet[EADM_PEER_PACKET_MAX];
	int ret = ask(fd, device, setting);
	ssize_t len;

	if (ret)
		return complain(path, strerror(-ret));
	do {
		len = recv(fd, packet, sizeof(packet), 0);
		if (len <= 0)
			return complain(path, len ? strerror(errno) : "the program closed the connection");
		ret = take_packet(path, packet, (int)len);
	} while (ret > 0);
	return -1 - ret;
}

int fault_main(int argc, char **argv)
{
	struct setting setting;
	int fd, status;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? 2 : 0;
	}
	if (argc > 3 && !take_all(argc - 3, argv + 3, &setting)) {
		fputs("eadm-pvrdma: fault: KNOB=COUNT, then arg=N, target=N or probability=N\n",
		      stderr);
		return 2;
	}
	fd = connect_to(argv[1]);
	if (fd < 0)
		return 1;
	status = talk(argv[1], fd, argc > 2 ? argv[2] : NULL, argc > 3 ? &setting : NULL);
	close(fd);
	return status;
}
