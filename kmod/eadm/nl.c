// SPDX-License-Identifier: GPL-2.0-only
/* The netlink family: one doit and one dumpit for all objects. */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"

static struct genl_family eadm_family;

/* Permissions of a request's sender, as far as they do not depend on the device. */
enum {
	CAN_ADMIN_NET = BIT(0),		/* in the user namespace of its network namespace */
	CAN_ADMIN_INIT = BIT(1),	/* in the initial user namespace */
	CAN_RAWIO = BIT(2),
};

/**
 * struct eadm_request - a parsed request
 * @obj: requested object
 * @type: EADM_OBJ_* of @obj
 * @can: CAN_* permissions of the sender
 * @net: network namespace of the sender's socket
 * @index: attribute with the index of the RDMA device, or NULL
 * @name: attribute with the name of the RDMA device, or NULL
 * @key: number of the row, or of the first row of a dump
 * @has_key: the request is limited to the row with number @key
 * @only: BIT_ULL() of the requested attributes, or 0 for all
 * @diag: the part passed to the driver
 */
struct eadm_request {
	const struct eadm_object *obj;
	u8 type;
	u8 can;
	const struct net *net;
	const struct nlattr *index;
	const struct nlattr *name;
	u64 key;
	bool has_key;
	u64 only;
	struct eadm_diag_req diag;
};

/**
 * struct dump - state of a dump between two messages
 * @req: the request; its attributes live as long as the dump
 * @dev: slot in the table of devices at which to continue
 * @last: last slot
 * @index: RDMA index of the device expected at @last, if the dump covers only one device
 * @done: the dump is complete
 * @id: object number in the device at which to continue
 * @snap: room for one snapshot
 */
struct dump {
	struct eadm_request req;
	unsigned long dev;
	unsigned long last;
	u32 index;
	bool done;
	u64 id;
	u8 snap[] __aligned(8);
};

/* ------------------------------------------------------------------ rights */

/* Lockdown is checked only where necessary, because each refusal is logged. */
static u8 sender_can(const struct sk_buff *skb, const struct net *net, bool rawio)
{
	u8 can = 0;

	if (netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		can |= CAN_ADMIN_NET;
	if (netlink_capable(skb, CAP_NET_ADMIN))
		can |= CAN_ADMIN_INIT;
	if (rawio && netlink_capable(skb, CAP_SYS_RAWIO) &&
	    !security_locked_down(LOCKDOWN_PCI_ACCESS))
		can |= CAN_RAWIO;
	return can;
}

/*
 * A device that belongs to the reader's network namespace is administered from there; a shared
 * device is administered from the initial namespace.
 */
static unsigned int rights_on(const struct eadm_request *req, const struct eadm_dev *edev)
{
	const struct net *owner = read_pnet(&edev->dd->ibdev->coredev.rdma_net);
	unsigned int rights = BIT(EADM_PERM_NONE);

	if (req->can & (net_eq(owner, req->net) ? CAN_ADMIN_NET : CAN_ADMIN_INIT))
		rights |= BIT(EADM_PERM_ADMIN);
	if (req->can & CAN_RAWIO)
		rights |= BIT(EADM_PERM_RAWIO);
	return rights;
}

/* ---------------------------------------------------------------- requests */

static int parse_request(struct eadm_request *req, u8 cmd, struct nlattr **attrs,
			 const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	const struct eadm_object *obj;
	const struct nlattr *key;

	req->type = eadm_cmd_obj[cmd];
	obj = &eadm_objects[req->type];
	req->obj = obj;
	req->net = sock_net(skb->sk);
	req->index = attrs[EADM_A_COMMON_DEV_INDEX];
	req->name = attrs[EADM_A_COMMON_DEV_NAME];
	req->diag.hw = nla_get_flag(attrs[EADM_A_COMMON_QUERY_HW]);
	req->can = sender_can(skb, req->net, obj->soft_rawio ||
			      (req->diag.hw && obj->hw_perm == EADM_PERM_RAWIO));

	key = obj->by_device ? NULL : attrs[obj->key_attr];
	if (key) {
		req->has_key = true;
		req->key = obj->key_type == EADM_TYPE_U32 ? nla_get_u32(key) : nla_get_uint(key);
	} else if (obj->from_attr && attrs[obj->from_attr]) {
		req->key = nla_get_uint(attrs[obj->from_attr]);
	}
	if (obj->among_attr && attrs[obj->among_attr])
		req->diag.among = nla_get_u32(attrs[obj->among_attr]);
	if (obj->least_attr && attrs[obj->least_attr])
		req->diag.least = nla_get_uint(attrs[obj->least_attr]);
	if (obj->only_attr && attrs[obj->only_attr])
		req->only = nla_get_uint(attrs[obj->only_attr]) | BIT_ULL(obj->key_attr);
	if (!req->diag.hw)
		return 0;
	if (!obj->hw) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[EADM_A_COMMON_QUERY_HW],
				    "the adapter does not provide a context of this object");
		return -EOPNOTSUPP;
	}
	if (obj->hw_perm == EADM_PERM_RAWIO && !(req->can & CAN_RAWIO)) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[EADM_A_COMMON_QUERY_HW],
				    "querying the adapter requires CAP_SYS_RAWIO and no lockdown");
		return -EPERM;
	}
	return 0;
}

/* A name longer than a device name cannot match, because the policy limits its length. */
static bool is_wanted(const struct eadm_request *req, const struct ib_device *ibdev)
{
	if (req->index && nla_get_u32(req->index) != ibdev->index)
		return false;
	return !req->name || !nla_strcmp(req->name, ibdev->name);
}

/* Finds and enters the device that a request names; NULL on failure. */
static struct eadm_dev *find_device(const struct eadm_request *req, struct netlink_ext_ack *extack)
{
	struct eadm_dev *edev;
	unsigned long place;

	for (place = 0; (edev = eadm_dev_next(&place, ULONG_MAX, req->net)); place++) {
		if (is_wanted(req, edev->dd->ibdev))
			return edev;
		eadm_dev_exit(edev);
	}
	NL_SET_ERR_MSG_ATTR(extack, req->index ?: req->name, "no such RDMA device");
	return NULL;
}

/* -------------------------------------------------------------------- rows */

/**
 * eadm_nl_put_row() - add a message with a snapshot, in the format of a dump
 * @skb: message buffer
 * @edev: the device, entered
 * @type: EADM_OBJ_*
 * @snap: the snapshot
 * @rights: BIT(EADM_PERM_*) of the reader
 *
 * Return: 0, or -EMSGSIZE if the row does not fit.
 */
int eadm_nl_put_row(struct sk_buff *skb, struct eadm_dev *edev, u8 type, void *snap,
		    unsigned int rights)
{
	void *hdr = genlmsg_put(skb, 0, 0, &eadm_family, 0, eadm_objects[type].cmd);

	if (!hdr || eadm_put_snap(skb, edev, type, snap, rights, 0))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

static bool is_picky(const struct eadm_request *req)
{
	return req->diag.among || req->diag.least;
}

static bool is_asked_for(const struct eadm_request *req, const void *snap)
{
	const struct eadm_field *among = req->obj->among, *least = req->obj->least;
	u32 value;

	if (req->diag.among) {
		value = *(u32 *)(snap + among->off);
		if (!*(u8 *)(snap + among->has) || value > 31 || !(req->diag.among & BIT(value)))
			return false;
	}
	return !req->diag.least || (*(u8 *)(snap + least->has) &&
				    *(u64 *)(snap + least->off) >= req->diag.least);
}

/**
 * put_row() - add the message of one object
 * @skb: message buffer
 * @req: the request
 * @edev: the device, entered
 * @row: the driver's object, referenced
 * @snap: memory for its snapshot
 * @nlh: header of the request
 * @portid: netlink port of the reader
 * @cb: the dump, or NULL
 *
 * Return: 0; -EMSGSIZE if the row did not fit; -ENOENT if the request filters it out; the driver's
 * error.
 */
static int put_row(struct sk_buff *skb, const struct eadm_request *req, struct eadm_dev *edev,
		   void *row, void *snap, const struct nlmsghdr *nlh, u32 portid,
		   struct netlink_callback *cb)
{
	const struct eadm_diag_obj *ops = edev->objs[req->type];
	const struct eadm_object *obj = req->obj;
	unsigned int rights = rights_on(req, edev);
	struct eadm_diag_req diag = req->diag;
	void *hdr;
	int ret;

	memset(snap, 0, obj->snap_size);
	eadm_owner_fill(obj, ops, row, snap, rights);
	/*
	 * The reply to a request with a filter may lack parts of a record kept by the driver, so
	 * the record does not count as read.
	 */
	diag.net = req->net;
	diag.admin = rights & BIT(EADM_PERM_ADMIN) && !is_picky(req) && !req->only;
	ret = eadm_snap_fill(edev, req->type, row, snap, &diag);
	if (ret)
		return ret;
	if (!is_asked_for(req, snap))
		return -ENOENT;

	hdr = genlmsg_put(skb, portid, nlh->nlmsg_seq, &eadm_family, cb ? NLM_F_MULTI : 0,
			  obj->cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	if (eadm_put_snap(skb, edev, req->type, snap, rights, req->only)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* -------------------------------------------------------------------- doit */

static int reply_row(struct sk_buff *skb, const struct eadm_request *req, struct eadm_dev *edev,
		     void *snap, struct genl_info *info)
{
	const struct eadm_diag_obj *ops = edev->objs[req->type];
	u64 id = req->key;
	void *row;
	int ret;

	if (!ops) {
		NL_SET_ERR_MSG(info->extack, "the driver does not provide this object");
		return -EOPNOTSUPP;
	}
	row = ops->next(edev->dd, &id);
	if (!row)
		goto none;
	if (IS_ERR(row))
		return PTR_ERR(row);
	ret = -ENOENT;
	if (!req->has_key || id == req->key)
		ret = put_row(skb, req, edev, row, snap, info->nlhdr, info->snd_portid, NULL);
	if (ops->put)
		ops->put(edev->dd, row);
	if (ret != -ENOENT)
		return ret;
none:
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[req->obj->key_attr],
			    "no such object on this device");
	return -ENOENT;
}

static int set_param(struct eadm_dev *edev, const struct eadm_request *req, u64 value,
		     struct genl_info *info)
{
	const struct eadm_diag_ops *ops = edev->dd->ops;
	int ret;

	if (!(rights_on(req, edev) & BIT(EADM_PERM_ADMIN))) {
		NL_SET_ERR_MSG(info->extack, "changing a setting requires CAP_NET_ADMIN");
		return -EPERM;
	}
	/* The kernel log belongs to the host, even if the device is in a different namespace. */
	if (req->key == EADM_CONF_PARAM_DEBUG && !(req->can & CAN_ADMIN_INIT)) {
		NL_SET_ERR_MSG(info->extack,
			       "debug messages require CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	ret = ops->conf_set ? ops->conf_set(edev->dd, req->key, value) : -EOPNOTSUPP;
	if (ret == -EOPNOTSUPP)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[EADM_A_CONF_PARAM],
				    "the adapter does not support this setting");
	else if (ret == -ERANGE)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[EADM_A_CONF_VALUE],
				    "invalid value for this setting");
	return ret;
}

/* Executes the request, and replies with the resulting row. */
static int answer(struct eadm_request *req, const struct nlattr *value, struct genl_info *info)
{
	struct eadm_dev *edev;
	struct sk_buff *reply;
	int ret = -ENOMEM;
	void *snap;

	snap = kmalloc(eadm_snap_room(req->type), GFP_KERNEL);
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!snap || !reply)
		goto err_free;
	ret = -ENODEV;
	edev = find_device(req, info->extack);
	if (!edev)
		goto err_free;
	ret = value ? set_param(edev, req, nla_get_uint(value), info) : 0;
	if (!ret)
		ret = reply_row(reply, req, edev, snap, info);
	eadm_dev_exit(edev);
	if (ret)
		goto err_free;
	kfree(snap);
	return genlmsg_reply(reply, info);

err_free:
	nlmsg_free(reply);
	kfree(snap);
	return ret;
}

/**
 * eadm_nl_doit() - reply to a request for one row
 * @skb: the request
 * @info: the parsed request
 *
 * Return: 0 or a negative errno, explained in the extended ack.
 */
int eadm_nl_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct eadm_request req = {};
	int ret;

	ret = parse_request(&req, info->genlhdr->cmd, info->attrs, skb, info->extack);
	if (ret)
		return ret;
	if (!req.index && !req.name) {
		NL_SET_ERR_MSG(info->extack, "device missing from the request");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, EADM_A_COMMON_DEV_INDEX);
		return -EINVAL;
	}
	if (!req.obj->by_device && !req.has_key) {
		NL_SET_ERR_MSG(info->extack, "object number missing from the request");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, req.obj->key_attr);
		return -EINVAL;
	}
	return answer(&req, NULL, info);
}

/**
 * eadm_nl_conf_set() - change a setting and reply with its new value
 * @skb: the request
 * @info: the parsed request
 *
 * Return: 0 or a negative errno, explained in the extended ack.
 */
int eadm_nl_conf_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *value = info->attrs[EADM_A_CONF_VALUE];
	struct eadm_request req = {};
	int ret;

	ret = parse_request(&req, info->genlhdr->cmd, info->attrs, skb, info->extack);
	if (ret)
		return ret;
	if (!(req.index || req.name) || !req.has_key || !value) {
		NL_SET_ERR_MSG(info->extack, "device, setting or value missing from the request");
		return -EINVAL;
	}
	req.diag.hw = true;
	return answer(&req, value, info);
}

/* ------------------------------------------------------------------- dumps */

static struct dump **dump_slot(struct netlink_callback *cb)
{
	return (struct dump **)cb->ctx;
}

/**
 * eadm_nl_dump_start() - begin a dump
 * @cb: the dump
 *
 * The sender's rights are checked now, because later messages may be read by any process that has
 * obtained the socket.
 *
 * Return: 0 or a negative errno, explained in the extended ack.
 */
int eadm_nl_dump_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *ghdr = nlmsg_data(cb->nlh);
	struct eadm_dev *edev;
	struct dump *dump;
	int ret;

	dump = kzalloc(struct_size(dump, snap, eadm_snap_room(eadm_cmd_obj[ghdr->cmd])),
		       GFP_KERNEL);
	if (!dump)
		return -ENOMEM;
	ret = parse_request(&dump->req, ghdr->cmd, compat_genl_dump_attrs(cb), cb->skb,
			    cb->extack);
	if (ret)
		goto err_free;
	dump->id = dump->req.key;
	dump->last = ULONG_MAX;
	if (dump->req.index || dump->req.name) {
		edev = find_device(&dump->req, cb->extack);
		ret = -ENODEV;
		if (!edev)
			goto err_free;
		dump->dev = edev->index;
		dump->last = edev->index;
		dump->index = edev->dd->ibdev->index;
		eadm_dev_exit(edev);
	}
	*dump_slot(cb) = dump;
	return 0;

err_free:
	kfree(dump);
	return ret;
}

/* A renamed device keeps its index; a new device in the same slot has a different index. */
static bool is_dumped(const struct dump *dump, const struct eadm_dev *edev)
{
	return dump->last == ULONG_MAX || edev->dd->ibdev->index == dump->index;
}

/* Returns 0 at the end of the device, or -EMSGSIZE if the message is full. */
static int dump_device(struct sk_buff *skb, struct netlink_callback *cb, struct dump *dump,
		       struct eadm_dev *edev)
{
	const struct eadm_diag_obj *ops = edev->objs[dump->req.type];
	u32 portid = NETLINK_CB(cb->skb).portid;
	void *row;
	int ret;

	if (!ops || !is_dumped(dump, edev))
		return 0;
	while (!eadm_dev_gone(edev)) {
		cond_resched();
		/* A killed reader need not wait for the adapter. */
		if (fatal_signal_pending(current))
			return -EINTR;
		if (ops->seek && is_picky(&dump->req))
			dump->id = ops->seek(edev->dd, dump->id, &dump->req.diag);
		row = ops->next(edev->dd, &dump->id);
		if (!row)
			return 0;
		if (IS_ERR(row))
			return PTR_ERR(row);
		ret = -ENOENT;
		if (!dump->req.has_key || dump->id == dump->req.key)
			ret = put_row(skb, &dump->req, edev, row, dump->snap, cb->nlh, portid,
				      cb);
		if (ops->put)
			ops->put(edev->dd, row);
		if (ret == -EMSGSIZE)
			return ret;
		/* Any other error affects only this row, which is skipped. */
		if (dump->req.has_key || dump->id++ == U64_MAX)
			return 0;
	}
	return 0;
}

/**
 * eadm_nl_dumpit() - fill one message of a dump
 * @skb: the message
 * @cb: the dump
 *
 * Devices are looked up by their slot each time: if a device was removed since the last message,
 * its dump ends at this point, and the changed generation reveals that.
 *
 * Return: number of bytes in the message, 0 at the end, or a negative errno.
 */
int eadm_nl_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump *dump = *dump_slot(cb);
	unsigned long first = dump->last == ULONG_MAX ? 0 : dump->last;
	struct eadm_dev *edev;
	unsigned long place;
	int ret = 0;

	cb->seq = eadm_dev_generation(dump->req.type, first, dump->last);
	while (!dump->done) {
		place = dump->dev;
		edev = eadm_dev_next(&place, dump->last, dump->req.net);
		if (!edev) {
			dump->done = true;
			break;
		}
		if (place != dump->dev) {
			dump->dev = place;
			dump->id = dump->req.key;
		}
		ret = dump_device(skb, cb, dump, edev);
		eadm_dev_exit(edev);
		if (ret)
			break;
		dump->done = dump->dev++ == dump->last;
		dump->id = dump->req.key;
	}
	/* A later change is detected in the next message, or at the end of the dump. */
	cb->seq = eadm_dev_generation(dump->req.type, first, dump->last);
	return skb->len ?: ret;
}

/**
 * eadm_nl_dump_done() - end a dump
 * @cb: the dump
 *
 * Return: 0
 */
int eadm_nl_dump_done(struct netlink_callback *cb)
{
	kfree(*dump_slot(cb));
	return 0;
}

static const struct genl_multicast_group groups[] = {
	{ .name = EADM_MCGRP_EVENTS_NAME },
};

/**
 * eadm_nl_tell() - send an event
 * @net: network namespace of the receivers
 * @edev: the device concerned
 * @event: the event
 *
 * Context: process.
 */
void eadm_nl_tell(struct net *net, struct eadm_dev *edev, struct eadm_snap_event *event)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&eadm_family, net, 0))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	if (eadm_nl_put_row(skb, edev, EADM_OBJ_EVENT, event, BIT(EADM_PERM_NONE))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_multicast_netns(&eadm_family, net, skb, 0, 0, GFP_KERNEL);
}

static struct genl_family eadm_family __ro_after_init = {
	.name = EADM_FAMILY_NAME,
	.version = EADM_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
	.module = THIS_MODULE,
};
MODULE_ALIAS_GENL_FAMILY(EADM_FAMILY_NAME);

/**
 * eadm_nl_init() - register the family
 * @ops: operations of the family
 * @n: number of operations
 *
 * Return: 0 or a negative errno.
 */
int __init eadm_nl_init(const struct genl_ops *ops, unsigned int n)
{
	eadm_family.ops = ops;
	eadm_family.n_ops = n;
	compat_genl_resv_start(&eadm_family, EADM_CMD_DEV_GET);
	return genl_register_family(&eadm_family);
}

/**
 * eadm_nl_exit() - unregister the family
 */
void eadm_nl_exit(void)
{
	genl_unregister_family(&eadm_family);
}
