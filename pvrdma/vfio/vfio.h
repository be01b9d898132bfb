/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PCI function that this process offers to a VMM over vfio-user (protocol 0.1 and its
 * extensions in QEMU's docs/interop/vfio-user).
 *
 * Threads: a struct vfio belongs to the thread that runs its event loop. All calls are
 * made, and all operations are called, on that thread, from vfio_dispatch() or
 * vfio_close(), except vfio_interrupt(), which any thread may call.
 *
 * Errors: 0 or -errno; a pointer is NULL with errno set.
 *
 * Units: addresses are those that the guest passes to the device (DMA addresses); sizes
 * and offsets are in bytes.
 *
 * A client that violates the protocol loses its session, but does not end the process:
 * the log operation receives the reason, and the next client may connect. One client is
 * served at a time; further clients wait in the listen queue.
 */
#ifndef EADM_VFIO_H
#define EADM_VFIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct vfio;

#define VFIO_BARS 6
#define VFIO_MAX_VECTORS 64

enum vfio_bar_kind {
	VFIO_BAR_NONE,
	VFIO_BAR_IO,
	VFIO_BAR_MEM32,
	/* A 64-bit BAR also occupies the next BAR, which must be VFIO_BAR_NONE. */
	VFIO_BAR_MEM64,
};

struct vfio_bar {
	enum vfio_bar_kind kind;
	bool prefetchable;
	/* A power of two, at least 16 (I/O: 4). */
	uint64_t size;
};

/*
 * The function as seen by the guest. The MSI-X table and the pending bits must not
 * overlap, and each must lie within its BAR; accesses to them are not passed to the
 * operations.
 */
struct vfio_function {
	uint16_t vendor, device;
	uint16_t subsystem_vendor, subsystem;
	uint8_t revision;
	/* Base class, subclass and programming interface: 0x028000. */
	uint32_t class_code;
	struct vfio_bar bars[VFIO_BARS];
	/* MSI-X vectors: 0 (no MSI-X capability) to VFIO_MAX_VECTORS. */
	unsigned int vectors;
	unsigned int table_bar, pba_bar;
	/* Multiples of 8. */
	uint32_t table_offset, pba_offset;
	/*
	 * True for a PCIe endpoint, with 4096 bytes of configuration space instead of
	 * 256.
	 */
	bool pcie;
};

/* A region of the guest's memory, or the part of it that is backed by one descriptor. */
struct vfio_run {
	uint64_t address;
	uint64_t size;
	/*
	 * The file that backs the region, to be mapped shared from @offset. The
	 * descriptor is owned by the library and valid until the region is unmapped;
	 * dup() it to keep it longer.
	 */
	int fd;
	uint64_t offset;
	/*
	 * The memory as returned by vfio_dma() for @address. It is mapped with PROT_READ
	 * and, if @writable, PROT_WRITE.
	 */
	void *memory;
	bool writable;
};

/* The process that has connected, as reported by the kernel. */
struct vfio_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/*
 * Operations of the function. Each is called on the loop's thread and must return within
 * 10 ms, because the VMM may hold its main lock until the reply: longer operations are
 * only started and end with an interrupt. They must not call vfio_dispatch() or
 * vfio_close(). Operations that may be NULL are marked.
 */
struct vfio_ops {
	/*
	 * Access to a BAR: @size is 1, 2, 4 or 8, @offset is a multiple of it and
	 * @offset + @size is within the BAR. @data is in the guest's (little-endian)
	 * order. Other accesses are split into such accesses first. -errno fails the
	 * access, which the guest sees as all ones or as nothing written.
	 */
	int (*read)(void *ctx, unsigned int bar, uint64_t offset, void *data,
		    size_t size);
	int (*write)(void *ctx, unsigned int bar, uint64_t offset,
		     const void *data, size_t size);
	/*
	 * The VMM resets the device to its power-on state (guest reboot, device reset).
	 * Guest memory stays mapped, but pointers that vfio_dma() returned before must no
	 * longer be used. Bus mastering is then off, without a call to command().
	 */
	void (*reset)(void *ctx);
	/*
	 * Memory was mapped (NULL allowed), or is about to be unmapped: when unmapping()
	 * returns, nothing may still refer to the range, including pages registered by a
	 * backend; pointers and descriptors for it are then invalid.
	 */
	void (*mapped)(void *ctx, uint64_t address, uint64_t size);
	void (*unmapping)(void *ctx, uint64_t address, uint64_t size);
	/* The client has connected and negotiated a version (NULL allowed). */
	void (*came)(void *ctx, const struct vfio_peer *peer);
	/*
	 * The client has disconnected or lost its session: implies reset(), and
	 * unmapping() of all memory, which are not called for it. The configuration space
	 * is then reset to power-on.
	 */
	void (*gone)(void *ctx);
	/* Bits of the command register changed (NULL allowed). */
	void (*command)(void *ctx, bool mastering, bool memory);
	/* One line without a newline, about this function's client (NULL allowed). */
	void (*log)(void *ctx, const char *line);
};

/*
 * Creates a socket at @path with the permissions @mode and listens on it; a stale socket
 * without a listener is replaced (-EADDRINUSE: it has one). @function and @ops are
 * copied. vfio_close() ends the session as if the client had disconnected (operation
 * gone() is called if there is a client) and removes the socket.
 *
 * Installs a handler for SIGBUS, which replaces memory whose file was truncated by a
 * client; SIGBUS for other reasons is passed to the previous handler. Must be called
 * before a filter of system calls is installed, which has to allow io_submit() and
 * io_getevents().
 */
struct vfio *vfio_open(const char *path, mode_t mode,
		       const struct vfio_function *function,
		       const struct vfio_ops *ops, void *ctx);
/*
 * Like vfio_open(), but with a connected or listening socket; takes ownership of the
 * socket.
 */
struct vfio *vfio_open_fd(int fd, const struct vfio_function *function,
			  const struct vfio_ops *ops, void *ctx);
void vfio_close(struct vfio *vfio);

/*
 * An epoll descriptor, readable if vfio_dispatch() has work to do. vfio_dispatch() never
 * blocks, and handles a bounded number of messages, so that several functions may share a
 * loop. It returns an error only if no further client can be served: -EPIPE after
 * vfio_open_fd() with a connected socket, if the client of that socket has disconnected.
 */
int vfio_fd(const struct vfio *vfio);
int vfio_dispatch(struct vfio *vfio);

/*
 * Returns the guest's memory at @address, mapped in this process, valid until unmapping()
 * for this memory, or gone(), returns. Returns NULL with errno EPERM if the guest has bus
 * mastering off, EFAULT if not all of the memory is in one region with a descriptor,
 * EACCES if @write is set and the memory is read-only.
 *
 * The guest may write to the memory at any time: read each value once, then check the
 * copy.
 */
void *vfio_dma(struct vfio *vfio, uint64_t address, size_t size, bool write);

/*
 * Describes the first part of [@address, @address + @size) that one descriptor backs:
 * @run->address is @address, @run->size at most @size. Returns the same errors as
 * vfio_dma(). With MAP_FIXED, a loop over the pages of a buffer can map scattered pages
 * contiguously; mappings that the caller reads or writes need vfio_guard().
 */
int vfio_backing(struct vfio *vfio, uint64_t address, uint64_t size,
		 struct vfio_run *run);

/*
 * [@memory, @memory + @size) maps pages of the client: if their file has been truncated,
 * an access reads zeros and the session ends, instead of causing SIGBUS.
 */
int vfio_guard(struct vfio *vfio, void *memory, size_t size);
void vfio_unguard(struct vfio *vfio, void *memory);

/*
 * Sends an MSI-X vector. A masked vector becomes pending, and is sent when it is
 * unmasked. -EINVAL: no such vector; -ENOTCONN: the VMM has not enabled it, or the guest
 * has bus mastering off, and the interrupt is lost as on a real bus. May be called by any
 * thread, also without a client, but not during vfio_close().
 */
int vfio_interrupt(struct vfio *vfio, unsigned int vector);

/*
 * Asks the VMM to remove the device from the guest in an orderly way. -ENOTCONN: the VMM
 * does not support this.
 */
int vfio_unplug(struct vfio *vfio);

/*
 * Ends the session for @reason, a string that must stay valid; gone() is called by the
 * next vfio_dispatch().
 */
void vfio_hang_up(struct vfio *vfio, const char *reason);

struct vfio_stats {
	bool connected;
	struct vfio_peer peer;
	bool mastering;
	uint64_t sessions;
	/* Since vfio_open(): all messages, and those replied to with an error. */
	uint64_t messages, refused;
	/* Number of sessions that ended because the client violated the protocol. */
	uint64_t broken;
	/* Accesses to each BAR; posted: writes that the VMM did not wait for. */
	uint64_t reads[VFIO_BARS], writes[VFIO_BARS], posted[VFIO_BARS];
	uint64_t interrupts;
	/* Longest time from a message to its reply, and number of those over 10 ms. */
	uint64_t slowest_ns, slow;
	/* Regions of the session, and those without a descriptor, which are not accessible. */
	unsigned int regions, unreachable;
	/* Total bytes of @regions. */
	uint64_t memory;
};

void vfio_stats(struct vfio *vfio, struct vfio_stats *stats);

#endif /* EADM_VFIO_H */
