// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections of SMC sockets, and the reasons why some use TCP. The kernel counts them
 * for each network namespace and shows them to any user.
 */
#include <linux/genetlink.h>
#include <linux/smc.h>
#include <stdlib.h>

#include "ask.h"
#include "eadm_nl.h"
#include "grow.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* Numbers in the kernel's interface. */
struct attrs {
	const struct nlattr *attr[SMC_NLA_STATS_T_MAX + 1];
};

static int take_attr(const struct nlattr *attr, void *data)
{
	struct attrs *attrs = data;
	unsigned int type = mnl_attr_get_type(attr);

	if (type <= SMC_NLA_STATS_T_MAX)
		attrs->attr[type] = attr;
	return MNL_CB_OK;
}

static void take_nest(const struct nlattr *nest, struct attrs *attrs)
{
	*attrs = (struct attrs){ 0 };
	if (nest && mnl_attr_validate(nest, MNL_TYPE_NESTED) >= 0)
		mnl_attr_parse_nested(nest, take_attr, attrs);
}

/* Decode a message. */
static void take_message(const struct nlmsghdr *nlh, unsigned int type,
			 struct attrs *attrs)
{
	struct attrs outer = { 0 };

	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_attr, &outer);
	take_nest(outer.attr[type], attrs);
}

static uint64_t get_u64(const struct attrs *attrs, unsigned int type)
{
	const struct nlattr *attr = attrs->attr[type];

	return attr && mnl_attr_validate(attr, MNL_TYPE_U64) >= 0 ?
		       mnl_attr_get_u64(attr) : 0;
}

static bool ask(struct eadm_ctx *ctx, uint8_t cmd, mnl_cb_t take, void *data)
{
	char buf[MNL_NLMSG_HDRLEN + 64];
	struct nlmsghdr *nlh;
	uint16_t family;

	if (!eadm_ask_family(ctx, SMC_GENL_FAMILY_NAME, &family))
		return false;
	nlh = eadm_ask_begin(buf, family, NLM_F_DUMP, cmd,
			     SMC_GENL_FAMILY_VERSION);
	return eadm_ask(NETLINK_GENERIC, nlh, take, data);
}

/* ---- fall-backs --------------------------------------------------------------------- */

struct reason {
	uint32_t code;
	uint64_t clients, servers;
};

struct fallbacks {
	struct reason *reason;
	size_t n, max;
	uint64_t clients, servers;	/* may exceed the sum of the reasons */
	bool failed;
};

static struct reason *find_reason(struct fallbacks *all, uint32_t code)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->reason[i].code == code)
			return &all->reason[i];
	}
	if (!grow(all->reason, all->n, all->max)) {
		all->failed = true;
		return NULL;
	}
	all->reason[all->n] = (struct reason){ .code = code };
	return &all->reason[all->n++];
}

/*
 * Takes a reason of one side. The first message also contains the sums of both sides.
 */
static int take_fallback(const struct nlmsghdr *nlh, void *data)
{
	struct fallbacks *all = data;
	const struct nlattr *type, *code, *count;
	struct reason *reason;
	struct attrs attrs;

	take_message(nlh, SMC_GEN_FBACK_STATS, &attrs);
	if (attrs.attr[SMC_NLA_FBACK_STATS_SRV_CNT])
		all->servers = get_u64(&attrs, SMC_NLA_FBACK_STATS_SRV_CNT);
	if (attrs.attr[SMC_NLA_FBACK_STATS_CLNT_CNT])
		all->clients = get_u64(&attrs, SMC_NLA_FBACK_STATS_CLNT_CNT);
	type = attrs.attr[SMC_NLA_FBACK_STATS_TYPE];
	code = attrs.attr[SMC_NLA_FBACK_STATS_RSN_CODE];
	count = attrs.attr[SMC_NLA_FBACK_STATS_RSN_CNT];
	if (!type || mnl_attr_validate(type, MNL_TYPE_U8) < 0 || !code ||
	    mnl_attr_validate(code, MNL_TYPE_U32) < 0 || !count ||
	    mnl_attr_validate(count, MNL_TYPE_U16) < 0)
		return MNL_CB_OK;
	reason = find_reason(all, mnl_attr_get_u32(code));
	if (!reason)
		return MNL_CB_STOP;
	if (mnl_attr_get_u8(type))
		reason->servers = mnl_attr_get_u16(count);
	else
		reason->clients = mnl_attr_get_u16(count);
	return MNL_CB_OK;
}

static bool ask_fallbacks(struct eadm_ctx *ctx, struct fallbacks *all)
{
	return ask(ctx, SMC_NETLINK_GET_FBACK_STATS, take_fallback, all) &&
	       !all->failed;
}

void eadm_local_smc_fallbacks(struct eadm_answer *answer,
			      const struct eadm_query *query)
{
	struct fallbacks all = { 0 };
	const struct reason *reason;
	size_t i, at;

	(void)query;
	if (!ask_fallbacks(answer->ctx, &all))
		all.n = 0;
	for (i = 0; i < all.n; i++) {
		reason = &all.reason[i];
		at = eadm_answer_row(answer, NULL);
		eadm_message_put_u32(&answer->out, EADM_A_SMC_FALLBACK_CODE,
				     reason->code);
		eadm_message_put_u32(&answer->out, EADM_A_SMC_FALLBACK_REASON,
				     reason->code);
		eadm_local_put_u64(answer, EADM_A_SMC_FALLBACK_CLIENTS,
				   reason->clients);
		eadm_local_put_u64(answer, EADM_A_SMC_FALLBACK_SERVERS,
				   reason->servers);
		eadm_message_end(&answer->out, at);
	}
	free(all.reason);
}

/* ---- all connections ---------------------------------------------------------------- */

/* @data: values by attribute. */
static int take_stats(const struct nlmsghdr *nlh, void *data)
{
	static const struct {
		unsigned int to, v1, v2;
		bool shared;
	} parts[] = {
		{ EADM_A_SMC_RDMA_CLIENTS, SMC_NLA_STATS_T_CLNT_V1_SUCC,
		  SMC_NLA_STATS_T_CLNT_V2_SUCC },
		{ EADM_A_SMC_RDMA_SERVERS, SMC_NLA_STATS_T_SRV_V1_SUCC,
		  SMC_NLA_STATS_T_SRV_V2_SUCC },
		{ EADM_A_SMC_SHARED_CLIENTS, SMC_NLA_STATS_T_CLNT_V1_SUCC,
		  SMC_NLA_STATS_T_CLNT_V2_SUCC, true },
		{ EADM_A_SMC_SHARED_SERVERS, SMC_NLA_STATS_T_SRV_V1_SUCC,
		  SMC_NLA_STATS_T_SRV_V2_SUCC, true },
	};
	struct attrs all, rdma, shared;
	uint64_t *value = data;
	size_t i;

	take_message(nlh, SMC_GEN_STATS, &all);
	take_nest(all.attr[SMC_NLA_STATS_SMCR_TECH], &rdma);
	take_nest(all.attr[SMC_NLA_STATS_SMCD_TECH], &shared);
	for (i = 0; i < EADM_ARRAY_SIZE(parts); i++) {
		const struct attrs *from = parts[i].shared ? &shared : &rdma;

		value[parts[i].to] = get_u64(from, parts[i].v1) +
				     get_u64(from, parts[i].v2);
	}
	value[EADM_A_SMC_TX_BYTES] = get_u64(&rdma, SMC_NLA_STATS_T_TX_BYTES);
	value[EADM_A_SMC_RX_BYTES] = get_u64(&rdma, SMC_NLA_STATS_T_RX_BYTES);
	value[EADM_A_SMC_CLIENT_ERRORS] =
		get_u64(&all, SMC_NLA_STATS_CLNT_HS_ERR_CNT);
	value[EADM_A_SMC_SERVER_ERRORS] =
		get_u64(&all, SMC_NLA_STATS_SRV_HS_ERR_CNT);
	return MNL_CB_OK;
}

void eadm_local_smc(struct eadm_answer *answer, const struct eadm_query *query)
{
	uint64_t value[EADM_A_SMC_MAX + 1] = { 0 };
	struct fallbacks all = { 0 };
	unsigned int attr;
	size_t at;

	(void)query;
	if (ask(answer->ctx, SMC_NETLINK_GET_STATS, take_stats, value) &&
	    ask_fallbacks(answer->ctx, &all)) {
		value[EADM_A_SMC_TCP_CLIENTS] = all.clients;
		value[EADM_A_SMC_TCP_SERVERS] = all.servers;
		at = eadm_answer_row(answer, NULL);
		eadm_message_put_u32(&answer->out, EADM_A_SMC_INDEX, 0);
		for (attr = EADM_A_SMC_INDEX + 1; attr <= EADM_A_SMC_MAX; attr++)
			eadm_local_put_u64(answer, attr, value[attr]);
		eadm_message_end(&answer->out, at);
	}
	free(all.reason);
}
