# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's kernel has to say: which of it is a fault."""

import re

# What a sound kernel never logs. Case matters: "kasan:" at boot is harmless.
# What kmemleak finds is judged by its own list, if it still looks; and what DMA
# debugging keeps of many mappings needs room.
SPLATS = re.compile(
    r"BUG:|WARNING:|\bOops\b|Call Trace:|general protection|"
    r"possible circular|possible recursive|possible irq lock|"
    r"INFO: task .* blocked|INFO: rcu|rcu: INFO|suspicious RCU|"
    r"inconsistent lock|bad unlock balance|held lock freed|"
    r"lock held when returning|KASAN|UBSAN|leak detector disabled|"
    r"refcount_t:|sleeping function|scheduling while atomic|"
    r"soft lockup|hard LOCKUP|list_(add|del) corruption|"
    r"ODEBUG:|DMA-API: (?!preallocated|debugging enabled|dma_debug_entry pool grown|"
    r"enable driver filter|switching off dma-debug driver filter)|"
    r"unregister_netdevice: waiting|vm-guest:|"
    r"Unbalanced enable|irq \d+: nobody cared|Kernel panic")

# A user program that dies of a fault, of which the kernel tells much as of one of
# its own: "traps: NAME[PID] general protection fault ip:... sp:... error:...".
USER_TRAP = re.compile(r"\btraps: .*\[\d+\] .* ip:[0-9a-f]+ sp:[0-9a-f]+ error:")

# A page mapped while it is. DMA debugging (6.1) takes that for a fault, but it
# is what ib_umem_get() does for a process that registers memory twice, or two
# buffers that share a page, with any driver. A mapping left over, which looks
# the same, is told once more when the driver leaves its device.
OVERLAP = re.compile(r"DMA-API: .*overlapping mappings")
DEBUG_LINES = re.compile(
    r"WARNING: CPU: \d+ PID: \d+ at kernel/dma/debug\.c:\d+ |Call Trace:|"
    r"DMA-API: Mapped at:")

# Queues that a driver could not take back from an adapter it could not reset. DMA
# debugging counts them whenever the device loses a driver; the driver has said so
# before. More of them later, or those of a device whose driver said nothing, are
# a fault.
LEFT = re.compile(r"\S+ (\S+): left without a confirmed reset: .* bytes of queues are lost")
PENDING = re.compile(r"DMA-API: \S+ (\S+): device driver has pending DMA allocations "
                     r"while released from device \[count=(\d+)\]")
TRACE_END = "---[ end trace"
# No backtrace is longer, other lines between its own included.
TRACE_LINES = 150


def report(lines, start):
    """The end of the trace of what DMA debugging reports from there, and the numbers of
    the lines that look like a fault."""
    ends = [i for i in range(start, min(start + TRACE_LINES, len(lines)))
            if TRACE_END in lines[i]]
    if not ends:
        return start, set()
    # How the mapping was made follows the trace.
    return ends[0], {start, *(i for i in range(start, min(ends[0] + 4, len(lines)))
                              if DEBUG_LINES.search(lines[i]))}


def splats(log):
    """The lines of a kernel log that tell of a fault."""
    lines = log.splitlines()
    harmless = set()
    left = {}       # devices whose queues were left, and how many are known
    for i, line in enumerate(lines):
        if match := LEFT.search(line):
            left[match[1]] = None
        elif OVERLAP.search(line) and i not in harmless:
            end, numbers = report(lines, i)
            if any(" ib_umem_get+" in text for text in lines[i:end]):
                harmless |= numbers
        elif match := PENDING.search(line):
            device, count = match.groups()
            if device in left and left[device] in (None, count):
                left[device] = count
                harmless |= report(lines, i)[1]
    return [line for i, line in enumerate(lines)
            if i not in harmless and SPLATS.search(line) and
            not USER_TRAP.search(line)]


# A process that ends without being freed leaves these three.
TASK = (r"kmem_cache_alloc_node\+.*\n.* copy_process\+",
        r"kmem_cache_alloc\+.*\n.* copy_process\+",
        r" prepare_creds\+")


def leaks(found, refused):
    """Those of kmemleak's list that are not the kernel's own.

    The kernel (6.1) never lets go of the task of a process whose context was
    refused by a driver, or by a cgroup: `refused` processes at most.
    """
    left = [refused] * len(TASK)
    ours = []
    for entry in re.split(r"^(?=unreferenced object)", found, flags=re.M):
        part = next((i for i, calls in enumerate(TASK)
                     if re.search(calls, entry)), None)
        if part is not None and left[part]:
            left[part] -= 1
        elif entry:
            ours.append(entry)
    return "".join(ours)
