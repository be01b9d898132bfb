// SPDX-License-Identifier: GPL-2.0-only
/* Verbs whose signature differs between kernels: what compat_verbs.h needs to know. */

#include "erdma.h"

/* Not used by kernels without this verb. */
static __maybe_unused const struct cpumask *
erdma_get_vector_affinity(struct ib_device *ibdev, int vector)
{
	struct erdma_dev *dev = to_erdma_dev(ibdev);

	return vector < 0 || vector >= dev->nr_ceqs ? NULL : &dev->ceqs[vector].base.affinity;
}

#define COMPAT_DRIVER(name)	erdma_##name
#define COMPAT_DMABUF
#define COMPAT_PORT_STATS
#define COMPAT_VECTOR_AFFINITY
#include "compat_verbs.h"

/**
 * erdma_compat_init() - the verbs of compat_verbs.h
 * @ibdev: the RDMA device, not registered yet
 */
void erdma_compat_init(struct ib_device *ibdev)
{
	compat_set_verbs(ibdev);
}
