// SPDX-License-Identifier: LGPL-2.1-or-later
/* Single netlink requests. */
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

/* The kernel uses larger packets if the receiver offers the space. */
#define ANSWER_SIZE 32768

static bool receive(struct mnl_socket *sock, mnl_cb_t take, void *data)
{
	char *buf = malloc(ANSWER_SIZE);
	int ret = buf ? 1 : -1;

	while (ret > 0) {
		ret = mnl_socket_recvfrom(sock, buf, ANSWER_SIZE);
		if (ret > 0)
			ret = mnl_cb_run(buf, ret, 1, mnl_socket_get_portid(sock),
					 take, data);
	}
	free(buf);
	return !ret;
}

/*
 * Returns true if the kernel responded without an error. @nlh must be a dump or have
 * NLM_F_ACK, so that the response has an end.
 */
bool eadm_ask(int bus, struct nlmsghdr *nlh, mnl_cb_t take, void *data)
{
	struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	int strict = 1;
	bool ok;

	if (!sock)
		return false;
	/* Without this option, routing netlink ignores the row selection of a dump. */
	mnl_socket_setsockopt(sock, NETLINK_GET_STRICT_CHK, &strict,
			      sizeof(strict));
	nlh->nlmsg_seq = 1;
	ok = !mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) &&
	     mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) >= 0 &&
	     receive(sock, take, data);
	mnl_socket_close(sock);
	return ok;
}

struct nlmsghdr *eadm_ask_begin(void *buf, uint16_t type, uint16_t flags,
				uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

struct family {
	const char *name;
	uint16_t id;
};

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	struct family *family = data;
	const struct nlattr *attr;
	const char *name = NULL;
	uint16_t id = 0;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_NAME &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			name = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_validate(attr, MNL_TYPE_U16) >= 0)
			id = mnl_attr_get_u16(attr);
	}
	if (name && !strcmp(name, family->name))
		family->id = id;
	return MNL_CB_OK;
}

/* Searches all families, because a request for an absent family would run modprobe. */
static uint16_t find_family(const char *name)
{
	char buf[MNL_NLMSG_HDRLEN + 64];
	struct nlmsghdr *nlh = eadm_ask_begin(buf, GENL_ID_CTRL, NLM_F_DUMP,
					      CTRL_CMD_GETFAMILY, 1);
	struct family family = { .name = name };

	return eadm_ask(NETLINK_GENERIC, nlh, take_family, &family) ? family.id : 0;
}

/* Families built into the kernel keep their IDs. @name: a string constant. */
bool eadm_ask_family(struct eadm_ctx *ctx, const char *name, uint16_t *id)
{
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(ctx->families); i++) {
		if (!ctx->families[i].name)
			break;
		if (!strcmp(ctx->families[i].name, name)) {
			*id = ctx->families[i].id;
			return true;
		}
	}
	*id = find_family(name);
	if (*id && i < EADM_ARRAY_SIZE(ctx->families)) {
		ctx->families[i].name = name;
		ctx->families[i].id = *id;
	}
	return *id;
}
