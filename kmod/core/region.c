// SPDX-License-Identifier: GPL-2.0-only
/* Registration of process memory. */

#include "adapter.h"
#include "compat_rdma.h"
#include "region.h"

static struct ib_mr *refused(struct eadm_adapter *ad, const void *err)
{
	eadm_count(ad, EADM_CNT_MR_REGISTER_FAILURES);
	return ERR_CAST(err);
}

/**
 * eadm_reg_user_mr() - verb: register memory of a process
 * @ibpd: the PD
 * @start: address of the memory
 * @length: size in bytes
 * @virt: address used in work requests
 * @access: verbs access flags
 * @udata: leads to the process's context
 *
 * Context: process.
 * Return: the MR or ERR_PTR.
 */
struct ib_mr *eadm_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt, int access,
			       struct ib_udata *udata)
{
	struct eadm_adapter *ad = to_eadm_adapter(ibpd->device);
	struct ib_umem *umem;
	int ret;

	ret = ad->ops->check_mr(ad, length, virt, access, udata);
	if (ret)
		return refused(ad, ERR_PTR(ret));
	umem = ib_umem_get(&ad->ibdev, start, length, access);
	if (IS_ERR(umem))
		return refused(ad, umem);
	return ad->ops->reg_mr(ibpd, umem, false, length, virt, access, udata);
}

/**
 * eadm_reg_user_mr_dmabuf() - verb: register memory of a different device
 * @ibpd: the PD
 * @offset: offset into the buffer
 * @length: size in bytes
 * @virt: address used in work requests
 * @fd: file descriptor of the DMA buffer
 * @access: verbs access flags
 * @udata: leads to the process's context
 *
 * The memory is pinned in place until the MR is destroyed.
 *
 * Context: process.
 * Return: the MR or ERR_PTR.
 */
struct ib_mr *eadm_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt, int fd,
				      int access, struct ib_udata *udata)
{
	struct eadm_adapter *ad = to_eadm_adapter(ibpd->device);
	struct ib_umem_dmabuf *dmabuf;
	int ret;

	ret = ad->ops->check_mr(ad, length, virt, access, udata);
	if (ret)
		return refused(ad, ERR_PTR(ret));
	dmabuf = ib_umem_dmabuf_get_pinned(&ad->ibdev, offset, length, fd, access);
	if (IS_ERR(dmabuf))
		return refused(ad, dmabuf);
	return ad->ops->reg_mr(ibpd, &dmabuf->umem, true, length, virt, access, udata);
}
