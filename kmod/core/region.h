/* SPDX-License-Identifier: GPL-2.0-only */
/* Registration of process memory. */
#ifndef EADM_REGION_H
#define EADM_REGION_H

#include <rdma/ib_verbs.h>

struct ib_mr *eadm_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt, int access,
			       struct ib_udata *udata);
struct ib_mr *eadm_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt, int fd,
				      int access, struct ib_udata *udata);

#endif /* EADM_REGION_H */
