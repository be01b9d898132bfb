/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All knowledge of kernel versions. A block belongs to the modules named in
 * its heading; a kernel leaves the support list by deleting its lines here.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <linux/version.h>

/* -------------------------------------------------------------- kmod/eadm */

#include <linux/device/class.h>
#include <net/genetlink.h>

/* The device that a class names the node of. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define COMPAT_DEVNODE_CONST
#else
#define COMPAT_DEVNODE_CONST	const
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
static inline struct nlattr **compat_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#else
static inline struct nlattr **compat_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
#endif

/* Unsigned numbers of 4 or 8 bytes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline int compat_nla_check_uint(const struct nlattr *attr,
					struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u32) || nla_len(attr) == sizeof(u64))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "invalid attribute length");
	return -ERANGE;
}

#define COMPAT_NLA_POLICY_UINT	NLA_POLICY_VALIDATE_FN(NLA_BINARY, compat_nla_check_uint)

static inline u64 nla_get_uint(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u32) ? nla_get_u32(attr) : nla_get_u64(attr);
}

static inline int nla_put_uint(struct sk_buff *skb, int type, u64 value)
{
	u32 small = value;

	if (small == value)
		return nla_put(skb, type, sizeof(small), &small);
	return nla_put(skb, type, sizeof(value), &value);
}
#else
#define COMPAT_NLA_POLICY_UINT	{ .type = NLA_UINT }
#endif

/* ------------------------------------------------------------- kmod/erdma */

/* Iterators of user memory left ib_umem.h in a stable update; Kbuild looks. */
#ifdef COMPAT_HAVE_RDMA_ITER
#include <rdma/iter.h>
#endif

/* What create_cq() gets from user space, as "struct compat_create_cq_arg *". */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define compat_create_cq_arg	ib_udata
#define compat_create_cq_udata(arg) (arg)
#else
#define compat_create_cq_arg	uverbs_attr_bundle
#define compat_create_cq_udata(arg)					\
	({								\
		struct uverbs_attr_bundle *__attrs = (arg);		\
		__attrs ? &__attrs->driver_udata : NULL;		\
	})
#endif

/* The verb that registers a DMA buffer gets the attributes since 6.12. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define compat_reg_dmabuf_arg	ib_udata
#define compat_reg_dmabuf_udata(arg) (arg)
#else
#define compat_reg_dmabuf_arg	uverbs_attr_bundle
#define compat_reg_dmabuf_udata(arg) (&(arg)->driver_udata)
#endif

#endif /* COMPAT_H */
