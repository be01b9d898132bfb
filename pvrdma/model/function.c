// SPDX-License-Identifier: GPL-2.0-or-later
/* The function: registers, and the VMM's requests (hw 1, 2). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

/* Initial value of ERR (hw 2.1). */
#define ERR_IDLE 0xffffu
/* Delay before retrying a notification if there was no room. */
#define NOTIFY_AGAIN_NS 1000000u

/* Handles a write to DSRHIGH: the driver reads the capabilities right after it (hw 2.4). */
static void take_dsr(struct model *m)
{
	int err;

	model_reset(m);
	err = dsr_attach(m, m->dsr_register);
	if (err)
		model_log(m, "the driver's shared region at 0x%llx cannot be used: %s",
			  (unsigned long long)m->dsr_register, strerror(-err));
}

static uint32_t control(struct model *m, uint32_t value)
{
	switch (value) {
	case PVRDMA_CTL_ACTIVATE:
		if (!m->attached)
			return EINVAL;
		m->active = true;
		return 0;
	case PVRDMA_CTL_UNQUIESCE:
		return m->active ? 0 : EINVAL;
	case PVRDMA_CTL_RESET:
		model_reset(m);
		return 0;
	default:
		return EINVAL;
	}
}

static void write_register(struct model *m, uint64_t offset, uint32_t value)
{
	switch (offset) {
	case PVRDMA_REG_DSRLOW:
		m->dsr_register = (m->dsr_register & ~UINT64_C(0xffffffff)) | value;
		break;
	case PVRDMA_REG_DSRHIGH:
		m->dsr_register = (m->dsr_register & 0xffffffff) | (uint64_t)value << 32;
		take_dsr(m);
		break;
	case PVRDMA_REG_CTL:
		m->err = control(m, value);
		break;
	case PVRDMA_REG_REQUEST:
		m->err = command_run(m);
		break;
	case PVRDMA_REG_IMR:
		model_mask(m, value);
		break;
	default:
		break;
	}
}

uint32_t model_register(const struct model *m, uint64_t offset)
{
	const uint8_t *mac = m->config.mac;

	switch (offset) {
	case PVRDMA_REG_VERSION:
		return m->config.version;
	case PVRDMA_REG_ERR:
		return m->err;
	case PVRDMA_REG_IMR:
		return m->imr;
	case PVRDMA_REG_MACL:
		return mac[0] | mac[1] << 8 | mac[2] << 16 | (uint32_t)mac[3] << 24;
	case PVRDMA_REG_MACH:
		return mac[4] | mac[5] << 8;
	default:
		return 0;
	}
}

/* ---- operations called by the VMM */

static int bar_read(void *ctx, unsigned int bar, uint64_t offset, void *data, size_t size)
{
	struct model *m = ctx;
	uint32_t value;

	memset(data, 0xff, size);
	if (bar != PVRDMA_REGS_BAR || size != sizeof(value) || fault_on(m, FAULT_DEV_GONE))
		return 0;
	value = model_register(m, offset);
	memcpy(data, &value, sizeof(value));
	return 0;
}

static int bar_write(void *ctx, unsigned int bar, uint64_t offset, const void *data,
		     size_t size)
{
	struct model *m = ctx;
	uint32_t value;

	if (size != sizeof(value) || fault_on(m, FAULT_DEV_GONE))
		return 0;
	memcpy(&value, data, sizeof(value));
	if (bar == PVRDMA_UAR_BAR)
		return uar_write(m, offset, value);
	if (bar == PVRDMA_REGS_BAR)
		write_register(m, offset, value);
	return 0;
}

static void power_on(void *ctx)
{
	struct model *m = ctx;

	model_reset(m);
	m->dsr_register = 0;
	m->err = ERR_IDLE;
	m->imr = PVRDMA_IMR_MASKED;
}

static void stop(struct model *m)
{
	model_reset(m);
	m->err = ERR_IDLE;
}

static void unmapping(void *ctx, uint64_t address, uint64_t size)
{
	struct model *m = ctx;

	if (!pages_within(m, address, size))
		return;
	model_log(m, "the VMM removed memory at 0x%llx that the guest's driver was using: the adapter stops",
		  (unsigned long long)address);
	stop(m);
}

/*
 * The pointers to rings and pages were obtained while bus mastering was on, so all of
 * them have to go. The next kernel after a kexec may use the memory for other data.
 */
static void command_register(void *ctx, bool mastering, bool memory)
{
	struct model *m = ctx;

	(void)memory;
	if (mastering || !m->attached)
		return;
	model_log(m, "the guest disabled bus mastering while its driver was active: the adapter stops");
	stop(m);
}

static void came(void *ctx, const struct vfio_peer *peer)
{
	struct model *m = ctx;

	model_log(m, "VMM %d connected", peer->pid);
	journal_report(m->journal, &(struct journal_event){ .type = JOURNAL_EVENT_CAME });
}

static void gone(void *ctx)
{
	struct model *m = ctx;

	model_log(m, "the VMM disconnected");
	if (m->active)
		journal_count(&m->journal->lost_sessions);
	journal_report(m->journal, &(struct journal_event){ .type = JOURNAL_EVENT_GONE });
	power_on(m);
}

static void log_line(void *ctx, const char *line)
{
	model_log(ctx, "%s", line);
}

static const struct vfio_ops vfio_ops = {
	.read = bar_read,
	.write = bar_write,
	.reset = power_on,
	.unmapping = unmapping,
	.came = came,
	.gone = gone,
	.command = command_register,
	.log = log_line,
};

static const struct vfio_function pci_function = {
	.vendor = PVRDMA_PCI_VENDOR,
	.device = PVRDMA_PCI_DEVICE,
	.subsystem_vendor = PVRDMA_PCI_VENDOR,
	.subsystem = PVRDMA_PCI_DEVICE,
	.class_code = 0x028000,
	.bars = {
		[PVRDMA_MSIX_BAR] = { .kind = VFIO_BAR_MEM32, .size = PVRDMA_BAR0_SIZE },
		[PVRDMA_REGS_BAR] = { .kind = VFIO_BAR_MEM32, .size = PVRDMA_BAR1_SIZE },
		[PVRDMA_UAR_BAR] = { .kind = VFIO_BAR_MEM32, .size = MAX_UAR * PAGE },
	},
	.vectors = PVRDMA_MAX_VECTORS,
	.table_bar = PVRDMA_MSIX_BAR,
	.pba_bar = PVRDMA_MSIX_BAR,
	.pba_offset = PVRDMA_MSIX_PBA_OFFSET,
};

static void *backend_dma(void *ctx, uint64_t address, size_t size, bool write)
{
	struct model *m = ctx;

	return vfio_dma(m->vfio, address, size, write);
}

static int backend_backing(void *ctx, uint64_t address, uint64_t size, struct backend_run *run)
{
	struct model *m = ctx;
	struct vfio_run found;
	int err = vfio_backing(m->vfio, address, size, &found);

	if (!err)
		*run = (struct backend_run){ found.size, found.offset, found.fd, found.writable };
	return err;
}

static const struct backend_client backend_client = {
	.dma = backend_dma,
	.backing = backend_backing,
	.completed = work_completed,
	.event = event_from_backend,
	.done = command_done,
	.log = log_line,
};

/* ---- life cycle */

/*
 * @size: of the driver's table, in which handles are indices; 0 if the backend does not
 * support these objects (SRQs).
 */
static int make_table(struct table *table, uint32_t size)
{
	return table_init(table, OBJECT_FIRST, size ? size - OBJECT_FIRST : 0);
}

static int make_tables(struct model *m)
{
	const struct pvrdma_caps *caps = &m->caps;

	return table_init(&m->contexts, OBJECT_FIRST, MAX_UAR) ||
	       table_init(&m->pds, OBJECT_FIRST, caps->max_pd) ||
	       table_init(&m->mrs, OBJECT_FIRST, caps->max_mr) ||
	       make_table(&m->cqs, caps->max_cq) ||
	       make_table(&m->srqs, caps->max_srq) ||
	       make_table(&m->qps, caps->max_qp) ? -ENOMEM : 0;
}

static void free_model(struct model *m)
{
	table_exit(&m->contexts);
	table_exit(&m->pds);
	table_exit(&m->mrs);
	table_exit(&m->cqs);
	table_exit(&m->srqs);
	table_exit(&m->qps);
	if (m->port)
		m->ops->port_close(m->port);
	free(m->journal);
	free(m);
}

struct model *model_open(const char *path, mode_t mode, const struct model_config *config)
{
	struct model *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return NULL;
	m->journal = calloc(1, sizeof(*m->journal));
	if (!m->journal) {
		free(m);
		return NULL;
	}
	fault_init(m->faults);
	m->config = *config;
	m->ops = config->backend->ops;
	m->err = ERR_IDLE;
	m->imr = PVRDMA_IMR_MASKED;
	LIST_INIT(&m->pages);
	TAILQ_INIT(&m->waiting);
	TAILQ_INIT(&m->unnotified);
	dsr_fill_caps(m);
	err = make_tables(m);
	if (!err)
		err = m->ops->port_open(config->backend, &backend_client, m, &m->port);
	if (!err) {
		m->vfio = vfio_open(path, mode, &pci_function, &vfio_ops, m);
		err = m->vfio ? 0 : -errno;
	}
	if (err) {
		free_model(m);
		errno = -err;
		return NULL;
	}
	return m;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	vfio_close(m->vfio);
	model_reset(m);
	free_model(m);
}

int model_fd(const struct model *m)
{
	return vfio_fd(m->vfio);
}

int model_dispatch(struct model *m)
{
	int err = vfio_dispatch(m->vfio);

	if (err)
		model_log(m, "no further VMM can be served: %s", strerror(-err));
	return err;
}

uint64_t model_run(struct model *m, uint64_t now)
{
	uint64_t wake = command_late(m, now), held;
	struct queue *queue, *next, *last = TAILQ_LAST(&m->waiting, queues);
	bool more = command_continue(m);

	/* Queues that wait again are moved to the end, behind @last. */
	for (queue = TAILQ_FIRST(&m->waiting); queue; queue = next) {
		next = queue == last ? NULL : TAILQ_NEXT(queue, link);
		held = queue_held(m, queue);
		if (held > now && held < wake)
			wake = held;
		if (held > now || works_full(&queue->works))
			continue;
		queue_fetch(m, queue);
		more = true;
	}
	if (m->cq_failed) {
		qp_fail_with_cqs(m);
		more = true;
	}
	cq_retry_notifications(m);
	if (!TAILQ_EMPTY(&m->unnotified) && now + NOTIFY_AGAIN_NS < wake)
		wake = now + NOTIFY_AGAIN_NS;
	/* The backend has received new work in the meantime. */
	return more ? now : wake;
}
