/* SPDX-License-Identifier: GPL-2.0-only */
/* Text, memory, PCI, interrupts and timers. */
#ifndef COMPAT_KERNEL_H
#define COMPAT_KERNEL_H

#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <linux/version.h>

/* mac_pton() */
#ifdef COMPAT_HAVE_HEX_H
#include <linux/hex.h>
#endif

#ifndef COMPAT_HAVE_KMAP_LOCAL
#define kmap_local_page	kmap_atomic
#define kunmap_local	kunmap_atomic
#endif

/*
 * Flags of pages for vm_insert_page(). On kernels on which a page charged to a memory cgroup has a
 * page type, processes cannot map such a page, so pages are not charged on these kernels.
 */
#ifdef COMPAT_HAVE_PAGE_TYPE_KMEMCG
#define COMPAT_GFP_USER_PAGES	GFP_KERNEL
#else
#define COMPAT_GFP_USER_PAGES	GFP_KERNEL_ACCOUNT
#endif

#ifndef COMPAT_HAVE_PCIE_RESET_FLR
#define PCI_RESET_DO_RESET	false
#define PCI_RESET_PROBE		true

static inline int pcie_reset_flr(struct pci_dev *pdev, bool probe)
{
	if (!pcie_has_flr(pdev))
		return -ENOTTY;
	return probe ? 0 : pcie_flr(pdev);
}
#endif

#ifndef COMPAT_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

#ifndef in_hardirq
#define in_hardirq()	in_irq()
#endif

#ifndef COMPAT_HAVE_RANDOM_U32_BELOW
#define get_random_u32_below	prandom_u32_max
#endif

#ifndef INIT_CSD
#define INIT_CSD(csd, f, i)						\
	(*(csd) = (struct __call_single_data){ .func = (f), .info = (i) })
#endif

#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(f)						\
	((struct irq_work){ .func = (f), .flags = ATOMIC_INIT(0) })
#endif

/* On these kernels, the hint also sets the affinity. */
#ifndef COMPAT_HAVE_IRQ_AFFINITY_AND_HINT
#define irq_set_affinity_and_hint	irq_set_affinity_hint
#define irq_update_affinity_hint	irq_set_affinity_hint
#endif

#ifndef COMPAT_HAVE_GENERIC_HANDLE_IRQ_SAFE
/* Our interrupts are raised in hard interrupts only. */
#define generic_handle_irq_safe	generic_handle_irq
#endif

#ifndef COMPAT_HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync	del_timer_sync
#endif

#ifndef COMPAT_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* The version of the kernel for which the module was built, as reported to adapters. */
#define COMPAT_KERNEL_NUMBER	LINUX_VERSION_CODE

#endif /* COMPAT_KERNEL_H */
