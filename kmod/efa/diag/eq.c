// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: event queues. */

#include "diag.h"

/* Command completions share the vector with asynchronous events. */
static void fill_async(struct efa_dev *dev, struct eadm_snap_eq *s, struct eadm_snap_eq_efa *o)
{
	struct efa_eq *eq = &dev->aenq;

	lockdep_assert_held(&eq->base.lock);
	SNAP_SET(o, keep_alive_events, eq->keep_alives);
	if (eq->last_keep_alive)
		SNAP_SET(o, last_keep_alive_age, eadm_age(eq->last_keep_alive));
}

static int eq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_dev *dev = diag_to_dev(dd);
	struct eadm_snap_eq *s = snap;
	struct efa_eq *eq = container_of(obj, struct efa_eq, base);

	/* pci_irq_vector() may sleep. */
	SNAP_SET(s, irq, pci_irq_vector(dev->pdev, eq->base.vector));
	spin_lock_irq(&eq->base.lock);
	eadm_eq_row_fill(&eq->base, s);
	if (eq == &dev->aenq)
		fill_async(dev, s, own);
	spin_unlock_irq(&eq->base.lock);
	return 0;
}

const struct eadm_diag_obj efa_diag_eq = {
	.type = EADM_OBJ_EQ,
	.next = eadm_eq_row_next,
	.fill = eq_fill,
};
