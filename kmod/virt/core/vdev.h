/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual PCI adapters: functions made of memory, and the common part of all device models behind
 * them. This file is independent of drivers and device families: a driver sees the model through
 * PCI, and a model uses this interface through struct vdev_family.
 *
 * MMIO cannot be trapped, so BARs are memory that threads poll. For an idle adapter, only the
 * adapter's BARs are read, never memory that the driver may have freed.
 *
 * Ownership
 *   configfs	owns the adapter: the folder's reference keeps struct vdev alive, which
 *		is embedded in the family's struct; dropping the last reference frees it.
 *		rmdir unplugs first. Each folder holds a reference to the module.
 *   vdev	owns, from plugging to unplugging: PCI domain, window, interrupt
 *		domain, bus, threads; created in this order, removed in reverse.
 *		While the adapter is unplugged, no thread runs and config space is not accessed.
 *   family	owns its objects, which its reset() frees; reset() is called when the
 *		device is powered on, reset or dies. The family allocates nothing that
 *		outlives a reset.
 *
 * Contexts (see struct vdev_family for the context of each function)
 *   first thread	a pass: config space, knobs, control(), pass(), interrupts
 *   second thread	serve(), and passes while the first thread cannot run
 *   other threads	serve(), while there is work
 *   timer		pass_atomic() in a hard interrupt, if neither thread can run
 *   config space	any context, under the PCI core's raw spinlock: master_off()
 *   configfs		setup(), may_plug(), plugging and unplugging
 * A pass needs the model's turn, see vdev_trylock(): only one pass runs at a time.
 *
 * Lock order, outermost first:
 *   configfs (subsystem mutex, fragment semaphore)
 *   vdev.plug_lock		plugging, unplugging; adapter parameters
 *   pci_lock_rescan_remove()
 *   vdev.lock			the model: registers, commands; held by its first
 *				thread, or its stand-in, for one pass
 *   vdev.turn			the same; an interrupt that stands in acquires only
 *				this, or gives up, see vdev_trylock()
 *   the family's locks		in its own order
 *   vdev_sched.lock		lists of the work queues to poll
 *   vdev_msi.lock		delivery of interrupts
 *   vdev_fault.lock		one knob
 * The last two locks are also taken in hard interrupts; so are, in some families, the family's
 * locks directly before them. Interrupts and config space are accessed from any context: config
 * bytes are written under the PCI core's own lock and read with READ_ONCE(); pending vectors are
 * atomic bits.
 *
 * Bus mastering decides only whether memory is accessed and interrupts are sent: without it,
 * objects and registers stay unchanged until the family's own reset or a function level reset.
 */
#ifndef VDEV_H
#define VDEV_H

#include <linux/configfs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/irqdomain.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/msi.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "compat_kernel.h"
#include "compat_msi.h"
#include "compat_pci.h"
#include "fault.h"

#define VDEV_MODULE		"eadm_virt"

/* Size of memory covered by one DMA address, regardless of the CPU's page size. */
#define VDEV_PAGE_SHIFT		12
#define VDEV_PAGE_SIZE		BIT(VDEV_PAGE_SHIFT)

/* Some firmware uses PCI domains from 0 on; this range is unused. */
#define VDEV_DOMAIN_FIRST	0xeda0
#define VDEV_DOMAIN_LAST	0xeddf

/* Offset of the MSI-X capability in config space. */
#define VDEV_CAP_MSIX		0x40

/* The pending bits fit into one word. */
#define VDEV_MAX_VECTORS	BITS_PER_LONG

struct vdev;

/* ---- Description of a family --------------------------------------------- */

enum vdev_bar_kind {
	VDEV_BAR_REGS,			/* uncached */
	VDEV_BAR_DOORBELLS,		/* uncached, written only */
	VDEV_BAR_MEMORY,		/* write-combining, prefetchable */
};

/**
 * struct vdev_bar - memory behind a 64-bit BAR
 * @size: size in bytes, a power of two and at least 4 KiB; 0: there is no such BAR
 * @kind: how the BAR is mapped
 * @regs: number of bytes from its start that drivers may read
 * @idle: value of each byte at power-on
 */
struct vdev_bar {
	u32 size;
	enum vdev_bar_kind kind;
	u32 regs;
	u8 idle;
};

/**
 * struct vdev_function - the PCI function, number 0 of its device
 * @device: device id, also of its subsystem, unless that is set; struct vdev may override
 *	      it
 * @class: 24 bits
 * @bar: BARs by number; each also occupies the next number. In total at most 4 MiB
 * @msix_bar: BAR that contains the MSI-X table and the pending bits. From the table on, the BAR has
 *	      no other contents
 * @msix_table: offset of the table in @msix_bar
 * @msix_pba: offset of the pending bits in @msix_bar, after the table
 * @min_vectors: minimum number of vectors that drivers need
 * @max_vectors: maximum number, up to VDEV_MAX_VECTORS; the default
 * @flr: function level reset is supported by default; its parameter can change that
 */
struct vdev_function {
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem_device;
	u32 class;
	u8 revision;
	struct vdev_bar bar[PCI_STD_NUM_BARS];
	u8 msix_bar;
	u32 msix_table;
	u32 msix_pba;
	u16 min_vectors;
	u16 max_vectors;
	bool flr;
};

/* Reason why a family has to discard its driver's state. */
enum vdev_why {
	VDEV_RESET,			/* reset by the driver, or at power-on */
	VDEV_DEATH,			/* the BARs are about to read as ones */
	VDEV_UNPLUG,			/* the driver has been removed */
};

/**
 * struct vdev_family - adapters of one kind
 * @name: name of its folder in configfs, up to 19 characters
 * @size: size of the struct that begins with struct vdev
 * @function: the PCI function
 * @attrs: additional files in the adapter's folder, NULL terminated
 * @knobs: additional knobs: knob VDEV_FAULT_COMMON is the first
 * @nr_knobs: number of @knobs
 * @setup: called once per adapter to initialise locks and parameters; may sleep
 * @may_plug: return 0, or an error if a requirement is not met; may sleep, @vdev.plug_lock held
 * @power_on: set the registers in BARs that contain their idle bytes; the model's turn, may sleep
 * @reset: free all objects and stop accessing the driver's memory; also called without a driver,
 *	   and repeatedly. The model's turn, may sleep
 * @is_reset_asked: return whether a register contains a request for a reset that was not performed
 *		    yet. Such a request ends all memory accesses at once. Any context
 * @master_off: bus mastering has ended, and with it all memory accesses; called in the context of
 *		config space, so it must neither sleep nor wait. May be NULL
 * @faults: inject faults that need no trigger. Also called if the device stalls, hangs or is not
 *	    initialised, but not if it is gone; the model's turn, may sleep
 * @control: handle requests to reset and to start, which even a hung device obeys. Sets @vdev.state
 *	     to VDEV_RUNNING; the model's turn, may sleep. Returns whether there was any work
 * @pass: do all other work of a running device, including that of serve(); the model's turn, may
 *	  sleep. Returns whether there was any work
 * @pass_atomic: the part of @pass that cannot wait, for a device that runs or may be started; the
 *		 model's turn, in a hard interrupt
 * @serve: move data; may sleep, called by several threads. Returns whether there was any work
 */
struct vdev_family {
	const char *name;
	size_t size;
	const struct vdev_function *function;
	struct configfs_attribute *const *attrs;
	const struct vdev_knob *knobs;
	unsigned int nr_knobs;
	void (*setup)(struct vdev *vdev);
	int (*may_plug)(struct vdev *vdev);
	void (*power_on)(struct vdev *vdev);
	void (*reset)(struct vdev *vdev, enum vdev_why why);
	bool (*is_reset_asked)(const struct vdev *vdev);
	void (*master_off)(struct vdev *vdev);
	void (*faults)(struct vdev *vdev);
	bool (*control)(struct vdev *vdev);
	bool (*pass)(struct vdev *vdev);
	void (*pass_atomic)(struct vdev *vdev);
	bool (*serve)(struct vdev *vdev);
};

/* All families of this module, NULL-terminated; defined outside this folder. */
extern const struct vdev_family *const vdev_families[];

/* ---- The adapter -------------------------------------------------------- */

/**
 * struct vdev_buf - driver memory, looked up once and then accessed in place
 * @page:   kernel address of each page of VDEV_PAGE_SIZE
 * @npages: entries of @page
 * @off:    offset of the buffer in the first page
 */
struct vdev_buf {
	void **page;
	u32 npages;
	u32 off;
};

enum vdev_copy {
	VDEV_COPIED,
	VDEV_NO_SOURCE,
	VDEV_NO_TARGET,
	VDEV_NO_ACCESS,
};

/**
 * struct vdev_span - a range of memory that may be accessed
 * @vdev: owner of the memory
 * @direct: the memory itself; of the other members, only @len is then used
 * @translate: translates an address in the range to a DMA address, valid up to the end of its page
 *	of VDEV_PAGE_SIZE; NULL if the addresses are DMA addresses. Any context
 * @region: argument of @translate, owned by the family
 * @addr:   first byte
 * @len:    bytes, not 0
 */
struct vdev_span {
	struct vdev *vdev;
	void *direct;
	u64 (*translate)(const void *region, u64 addr);
	void *region;
	u64 addr;
	u64 len;
};

#define VDEV_MAX_SPANS		6

struct vdev_sgl {
	struct vdev_span span[VDEV_MAX_SPANS];
	u32 count;
};

struct vdev_vector {
	unsigned int virq;		/* 0: not allocated */
	call_single_data_t csd;		/* delivery to another CPU */
	struct irq_work work;		/* delivery to this CPU */
};

/**
 * struct vdev_msi - interrupts
 * @pending: bitmap of vectors that were raised but not delivered
 * @lock: serialises delivery
 * @vector: the vectors of the adapter
 */
struct vdev_msi {
	struct fwnode_handle *fwnode;
	struct compat_msi domain;
	struct compat_msi_ops ops;
	unsigned long pending;
	spinlock_t lock;		/* serialises delivery */
	struct vdev_vector *vector;
};

/**
 * struct vdev_worker - a thread of the model; most members are used only by this thread
 * @wake: the thread has a reason to poll now
 * @parked: the thread sleeps until it is woken
 * @looked: time of the last poll
 * @worked: time when work was last found
 * @busy_since: start of uninterrupted work, 0 if the thread is idle
 * @fair: other tasks have waited for the thread's CPU, so the thread has no real-time priority
 *	until its next break
 * @no_spin_until: time until which spinning is pointless
 */
struct vdev_worker {
	struct vdev *vdev;
	struct task_struct *thread;
	bool wake;
	bool parked;
	bool fair;
	u64 looked;			/* this and the next three: ns */
	u64 worked;
	u64 busy_since;
	u64 no_spin_until;
};

#define VDEV_MAX_WORKERS	4U

/**
 * struct vdev_queue - a work queue whose doorbells may have to be polled
 * @link: entry in one of the lists of vdev_sched while the queue is polled
 * @active: the queue is in the list of active queues
 * @last_work: jiffies of the last work
 */
struct vdev_queue {
	struct list_head link;
	bool active;
	unsigned long last_work;
};

typedef bool vdev_queue_fn(struct vdev_queue *queue);

/**
 * struct vdev_sched - selection of the work queues to poll
 * @lock: protects the members below and the queues
 * @active: queues polled in every pass
 * @idle: all other polled queues
 * @nr_active: number of queues in @active; read without the lock held, as a hint
 * @nr_idle: number of queues in @idle; likewise
 * @swept: time of the last poll of idle queues, ns
 * @last_work: jiffies of the last work; accessed without the lock held
 */
struct vdev_sched {
	spinlock_t lock;		/* see above */
	struct list_head active;
	struct list_head idle;
	unsigned int nr_active;
	unsigned int nr_idle;
	u64 swept;
	unsigned long last_work;
};

enum vdev_state {
	VDEV_UNPLUGGED,
	VDEV_POWERED,			/* plugged in, not initialised */
	VDEV_RUNNING,			/* started by a driver */
	VDEV_GONE,			/* died: reads return all ones */
};

/* Incremented by threads of any adapter. */
struct vdev_counters {
	atomic64_t commands;
	atomic64_t command_errors;
	atomic64_t doorbells;
	atomic64_t events;
	atomic64_t interrupts;
	atomic64_t resets;
};

/**
 * struct vdev - one virtual adapter, of any family
 * @group:     configfs folder, which holds the reference to this struct
 * @faults:    subfolder of faults
 * @fault:     the knobs, common ones first
 * @faults_on: bitmap of enabled knobs, so that disabled knobs cost almost nothing
 * @flr_ms:    duration of a function level reset
 * @plug_lock: protects @live, @vectors, @flr and the family's parameters
 * @live:      plugged into a bus
 * @device:    PCI device id; the family's may_plug() may change it
 * @bar:       memory behind the BARs, by number
 * @bar_offset: offsets in @window
 * @config:    config space; bytes read with READ_ONCE()
 * @in_reset: a function level reset was requested; set by config space, cleared with release
 *	semantics by the pass that has performed it, or that made all reads return ones until it is
 *	performed
 * @watch:     timer that stands in for the first thread
 * @dma_users: number of current accesses to driver memory; see vdev_dma_begin()
 * @lock:      protects the members below and the family's part, unless stated otherwise
 * @turn:      bit 0 protects the same data, also against interrupts
 * @state:     read without the lock held, for display and as a hint
 * @iommu:     translates the function's addresses, while it has a driver
 * @stall_until: time until which the device does nothing
 * @hung:      the device does nothing until a reset
 */
struct vdev {
	const struct vdev_family *family;
	struct config_group group;
	struct config_group faults;
	struct vdev_fault *fault;
	DECLARE_BITMAP(faults_on, VDEV_MAX_FAULTS);
	int log_level;
	u32 flr_ms;

	struct mutex plug_lock;		/* protects 'live' and the parameters */
	bool live;
	u16 device;
	u32 vectors;
	u32 flr;

	/* PCI */
	int domain;
	unsigned int window_order;
	phys_addr_t window;
	void *window_virt;
	struct resource *window_origin;
	void *bar[PCI_STD_NUM_BARS];
	u32 bar_offset[PCI_STD_NUM_BARS];
	struct compat_sysdata sysdata;
	struct resource busn;
	struct resource mem;
	struct pci_bus *bus;
	u8 config[PCI_CFG_SPACE_EXP_SIZE];
	u8 config_wmask[PCI_CFG_SPACE_EXP_SIZE];
	bool config_dead;
	bool in_reset;
	struct vdev_msi msi;

	struct vdev_worker worker[VDEV_MAX_WORKERS];
	struct hrtimer watch;
	struct vdev_sched sched;
	atomic_t dma_users;

	struct mutex lock;		/* protects the model against threads */
	unsigned long turn;		/* protects the model against interrupts */
	enum vdev_state state;
	struct iommu_domain *iommu;
	ktime_t stall_until;
	bool hung;
	ktime_t gone_until;
	struct vdev_counters counters;
};

/* Log levels: 1 refused commands and events, 2 every command. */
#define VDEV_LOG_ERRORS		1
#define VDEV_LOG_COMMANDS	2

#define vdev_log(dev, level, fmt, ...) \
	do { \
		struct vdev *_vdev = (dev); \
		if (READ_ONCE(_vdev->log_level) >= (level)) \
			pr_info_ratelimited(VDEV_MODULE " %s: " fmt, \
				config_item_name(&_vdev->group.cg_item), \
				##__VA_ARGS__); \
	} while (0)

static inline u32 vdev_read32(const struct vdev *vdev, u8 bar, u32 reg)
{
	return le32_to_cpu(READ_ONCE(*(__le32 *)(vdev->bar[bar] + reg)));
}

static inline u64 vdev_read64(const struct vdev *vdev, u8 bar, u32 reg)
{
	return le64_to_cpu(READ_ONCE(*(__le64 *)(vdev->bar[bar] + reg)));
}

static inline void vdev_write32(const struct vdev *vdev, u8 bar, u32 reg, u32 val)
{
	WRITE_ONCE(*(__le32 *)(vdev->bar[bar] + reg), cpu_to_le32(val));
}

static inline void vdev_write64(const struct vdev *vdev, u8 bar, u32 reg, u64 val)
{
	WRITE_ONCE(*(__le64 *)(vdev->bar[bar] + reg), cpu_to_le64(val));
}

/* Reads and clears a register, so that a later write of the same value is also detected. */
static inline u32 vdev_take32(const struct vdev *vdev, u8 bar, u32 reg)
{
	if (!vdev_read32(vdev, bar, reg))
		return 0;
	return le32_to_cpu((__force __le32)xchg((u32 *)(vdev->bar[bar] + reg), 0));
}

static inline u64 vdev_take64(const struct vdev *vdev, u8 bar, u32 reg)
{
	if (!vdev_read64(vdev, bar, reg))
		return 0;
	return le64_to_cpu((__force __le64)xchg((u64 *)(vdev->bar[bar] + reg), 0));
}

/* Replaces the value @old of a register with @val, unless it has changed in the meantime. */
static inline void vdev_cmpxchg64(const struct vdev *vdev, u8 bar, u32 reg, u64 old, u64 val)
{
	cmpxchg64((u64 *)(vdev->bar[bar] + reg), (__force u64)cpu_to_le64(old),
		  (__force u64)cpu_to_le64(val));
}

/* access.c */
u16 vdev_config_word(const struct vdev *vdev, int where);
bool vdev_is_master(const struct vdev *vdev);
bool vdev_may_access(const struct vdev *vdev);
bool vdev_is_stalled(const struct vdev *vdev);
bool vdev_is_served(const struct vdev *vdev);

/* window.c */
int vdev_window_alloc(struct vdev *vdev);
void vdev_window_free(struct vdev *vdev);
void vdev_window_idle(struct vdev *vdev);
void vdev_window_ones(struct vdev *vdev, bool all);
phys_addr_t vdev_window_phys(const struct vdev *vdev, u8 bar);

/* carve.c or aside.c, for window.c */
int vdev_memory_get(struct vdev *vdev);
void vdev_memory_put(struct vdev *vdev);

/* bus.c */
int vdev_bus_init(void);
void vdev_bus_exit(void);
int vdev_bus_add(struct vdev *vdev);
void vdev_bus_scan(struct vdev *vdev);
void vdev_bus_remove(struct vdev *vdev);

/* msi.c */
int vdev_msi_init(struct vdev *vdev);
void vdev_msi_exit(struct vdev *vdev);
void vdev_msi_raise(struct vdev *vdev, unsigned int vec);
void vdev_msi_poll_faults(struct vdev *vdev);
bool vdev_msi_poll(struct vdev *vdev);
void vdev_msi_reset(struct vdev *vdev);

/* dma.c */
bool vdev_dma_attach(struct vdev *vdev);
void vdev_dma_detach(struct vdev *vdev);
bool vdev_dma_begin(struct vdev *vdev);
void vdev_dma_end(struct vdev *vdev);
void vdev_dma_wait(struct vdev *vdev);
void vdev_dma_answer(struct vdev *vdev, u64 addr, const void *src);
u64 vdev_dma_peek(struct vdev *vdev, const __le64 *record);
void *vdev_dma_page(struct vdev *vdev, u64 addr);
int vdev_dma_write(struct vdev *vdev, u64 addr, const void *src, size_t len);
int vdev_dma_read(struct vdev *vdev, u64 addr, void *dst, size_t len);
__le64 *vdev_dma_record(struct vdev *vdev, u64 addr);
int vdev_buf_alloc(struct vdev_buf *buf, u32 off, u64 len, gfp_t gfp);
int vdev_buf_map(struct vdev *vdev, struct vdev_buf *buf, u64 addr, u64 len, gfp_t gfp);
void vdev_buf_unmap(struct vdev_buf *buf);

/**
 * vdev_buf_at() - return the address of a byte of driver memory
 * @buf: the buffer
 * @off: offset in it; the access must not cross a 4 KiB page
 */
static inline void *vdev_buf_at(const struct vdev_buf *buf, u64 off)
{
	off += buf->off;
	return buf->page[off >> VDEV_PAGE_SHIFT] + (off & (VDEV_PAGE_SIZE - 1));
}

/* copy.c */
void *vdev_span_at(const struct vdev_span *span, u64 off, u32 *len);
enum vdev_copy vdev_sgl_copy(const struct vdev_sgl *dst, const struct vdev_sgl *src,
			     u64 from, u32 len);

/* model.c */
void vdev_setup(struct vdev *vdev);
void vdev_power_on(struct vdev *vdev);
void vdev_power_off(struct vdev *vdev);
void vdev_kill(struct vdev *vdev);
void vdev_reset(struct vdev *vdev);
bool vdev_pass(struct vdev *vdev);
void vdev_pass_atomic(struct vdev *vdev);
void vdev_lock(struct vdev *vdev);
bool vdev_trylock(struct vdev *vdev);
void vdev_unlock(struct vdev *vdev);

/* queue.c */
void vdev_queue_setup(struct vdev *vdev);
void vdev_queue_init(struct vdev_queue *queue);
void vdev_queue_watch(struct vdev *vdev, struct vdev_queue *queue);
void vdev_queue_unwatch(struct vdev *vdev, struct vdev_queue *queue);
bool vdev_queue_poll(struct vdev *vdev, vdev_queue_fn *serve);

/* worker.c */
int vdev_worker_start(struct vdev *vdev);
void vdev_worker_stop(struct vdev *vdev);
void vdev_worker_wake(struct vdev *vdev);

/* fault.c */
int vdev_fault_init(struct vdev *vdev);
void vdev_fault_exit(struct vdev *vdev);
bool vdev_fault_strike(struct vdev *vdev, unsigned int id, s64 target, u64 *arg);
u64 vdev_fault_latency(u64 mean_us);

/* Returns true if any knob is enabled. */
static inline bool vdev_fault_any_is_on(const struct vdev *vdev)
{
	return unlikely(!bitmap_empty(vdev->faults_on, VDEV_MAX_FAULTS));
}

/* Returns true if a fault might occur for any target. */
static inline bool vdev_fault_is_on(const struct vdev *vdev, unsigned int id)
{
	return unlikely(test_bit(id, vdev->faults_on));
}

/**
 * vdev_fault_hit() - check whether a fault occurs at this point
 * @vdev: adapter
 * @id: the knob
 * @target: the target that would be affected, compared with the knob's target
 * @arg: set to the knob's argument, may be NULL
 *
 * Context: any.
 * Return: true if the caller has to inject the fault.
 */
static inline bool vdev_fault_hit(struct vdev *vdev, unsigned int id, s64 target, u64 *arg)
{
	return vdev_fault_is_on(vdev, id) && vdev_fault_strike(vdev, id, target, arg);
}

/* adapter.c */
int vdev_plug(struct vdev *vdev);
void vdev_unplug(struct vdev *vdev, bool surprise);

/* param.c */
struct vdev *vdev_of(struct config_item *item);
int vdev_param_set(struct vdev *vdev, void *param, const void *value, size_t size);
int vdev_param_store(struct vdev *vdev, const char *page, u32 min, u32 max, u32 *param);

/*
 * Defines an adapter's configfs file for the u32 parameter @_name. The family's to_adapter()
 * returns the adapter of a folder, a struct with the members vdev and params.
 */
#define VDEV_PARAM(_name, _fmt, _min, _max) \
static ssize_t adapter_##_name##_show(struct config_item *item, char *page) \
{ \
	return sysfs_emit(page, _fmt "\n", to_adapter(item)->params._name); \
} \
\
static ssize_t adapter_##_name##_store(struct config_item *item, \
				       const char *page, size_t len) \
{ \
	int ret = vdev_param_store(&to_adapter(item)->vdev, page, _min, _max, \
				   &to_adapter(item)->params._name); \
\
	return ret ? ret : len; \
} \
CONFIGFS_ATTR(adapter_, _name)

/* configfs.c */
int vdev_configfs_init(void);
void vdev_configfs_exit(void);

#endif /* VDEV_H */
