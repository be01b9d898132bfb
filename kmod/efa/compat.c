// SPDX-License-Identifier: GPL-2.0-only
/* Verbs whose signature differs between kernels: what compat_verbs.h needs to know. */

#include "efa.h"

#define COMPAT_DRIVER(name)	efa_##name
#define COMPAT_AH
#ifdef EFA_P2P
#define COMPAT_DMABUF
#endif
#define COMPAT_DEVICE_STATS
#define COMPAT_PORT_STATS
#include "compat_verbs.h"

/**
 * efa_compat_init() - the verbs of compat_verbs.h
 * @ibdev: the RDMA device, not registered yet
 */
void efa_compat_init(struct ib_device *ibdev)
{
	compat_set_verbs(ibdev);
}
