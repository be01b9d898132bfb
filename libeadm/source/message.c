// SPDX-License-Identifier: LGPL-2.1-or-later
/* Building netlink messages. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "message.h"

/* Returns the offset of the message, for eadm_message_end(). */
size_t eadm_message_begin(struct eadm_bytes *out, uint16_t type, uint16_t flags,
			  uint32_t seq)
{
	struct nlmsghdr nlh = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = seq,
	};
	size_t at = out->len;

	eadm_bytes_put(out, &nlh, sizeof(nlh));
	return at;
}

void eadm_message_genl(struct eadm_bytes *out, uint8_t cmd)
{
	struct genlmsghdr genl = { .cmd = cmd, .version = 1 };

	eadm_bytes_put(out, &genl, sizeof(genl));
}

/* Pad the data that began at @from. */
void eadm_message_align(struct eadm_bytes *out, size_t from)
{
	size_t len = out->len - from;

	eadm_bytes_put(out, "\0\0\0", NLMSG_ALIGN(len) - len);
}

void eadm_message_put(struct eadm_bytes *out, uint16_t type, const void *data,
		      size_t len)
{
	struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	size_t from = out->len;

	eadm_bytes_put(out, &nla, sizeof(nla));
	eadm_bytes_put(out, data, len);
	eadm_message_align(out, from);
}

void eadm_message_put_u32(struct eadm_bytes *out, uint16_t type,
			  uint32_t value)
{
	eadm_message_put(out, type, &value, sizeof(value));
}

void eadm_message_put_string(struct eadm_bytes *out, uint16_t type,
			     const char *str)
{
	eadm_message_put(out, type, str, strlen(str) + 1);
}

void eadm_message_end(struct eadm_bytes *out, size_t at)
{
	struct nlmsghdr *nlh;

	if (out->fail)
		return;
	nlh = (struct nlmsghdr *)(out->p + at);
	nlh->nlmsg_len = out->len - at;
}

void eadm_message_query(struct eadm_bytes *out, const struct eadm_query *query,
			uint32_t seq)
{
	uint16_t flags = NLM_F_REQUEST | (query->dump ? NLM_F_DUMP : 0);
	size_t at = eadm_message_begin(out, query->type, flags, seq);
	unsigned int i;

	if (query->proto != NETLINK_RDMA)
		eadm_message_genl(out, query->cmd);
	for (i = 0; i < query->n_args; i++) {
		const struct eadm_arg *arg = &query->args[i];

		switch (arg->type) {
		case EADM_ARG_U32:
			eadm_message_put_u32(out, arg->attr, arg->u);
			break;
		case EADM_ARG_U64:
			eadm_message_put(out, arg->attr, &arg->u,
					 sizeof(arg->u));
			break;
		case EADM_ARG_STRING:
			eadm_message_put_string(out, arg->attr, arg->str);
			break;
		default:
			eadm_message_put(out, arg->attr, NULL, 0);
			break;
		}
	}
	eadm_message_end(out, at);
}
