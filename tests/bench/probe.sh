#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the guest: see tests/bench/probe. ROUNDS BPFTRACE_ROOT
# shellcheck disable=SC2016 # of ftrace and bpftrace
. tests/lib/tap.sh
# shellcheck source=tests/guest/probe/lib.sh
. tests/guest/probe/lib.sh
# shellcheck disable=SC2154 # of lib.sh
trap 'rm -rf "$temp"' EXIT
rounds=$1
bpftrace=$2
tracing=/sys/kernel/tracing
mkdir "$temp/root"

# ns of a call of ib_query_qp by a process, the mean of many.
calls() {
	"$src/scenes" "$dev" query 2000
}

without() {
	calls
}

probe() { # LEVEL
	eadm probe start --level "$1" >&2
	calls
	eadm probe stop >&2
	until_true 60 no_programs
}

# What a record has that is known of a query: start and end, result, process, control group, whether
# a kernel thread or an exiting process called, name space, device and the call's number there,
# numbers of QP and CQ, whether there is an SRQ, and type.
fields='(@in[tid], nsecs, $ret, pid, tid, comm, cgroup, curtask->flags, curtask->nsproxy->net_ns->ns.inum,
	$dev, @seq[$dev], $qp->qp_num, $qp->send_cq->res.id, (uint64)$qp->srq, $qp->qp_type)'
record="\$dev = \$qp->device->index; @seq[\$dev]++; @n++; @rec[@n % 4096] = $fields; delete(@in, tid);"
by_types="fentry:ib_core:ib_query_qp { @in[tid] = nsecs; }
fexit:ib_core:ib_query_qp { \$qp = args.qp; \$ret = retval; $record }"
by_kprobes="kprobe:ib_query_qp { @in[tid] = nsecs; @qp[tid] = arg0; }
kretprobe:ib_query_qp { \$qp = (struct ib_qp *)@qp[tid]; \$ret = retval; $record delete(@qp, tid); }"

bpftrace_by() { # SCRIPT
	local pid

	tests/vm/debian enter "$bpftrace" "$temp/root" bpftrace \
		-e "BEGIN { printf(\"ready\\n\"); @n = 0; }
$1
END { clear(@in); clear(@rec); }" >"$temp/bpftrace" 2>&1 &
	pid=$!
	until_true 120 eval "grep -q ready '$temp/bpftrace' || ! kill -0 $pid 2>/dev/null"
	pgrep -x bpftrace >/dev/null || cat "$temp/bpftrace" >&2
	calls
	pkill -TERM -x bpftrace
	wait $pid
	grep -q "@n: [0-9]" "$temp/bpftrace" || cat "$temp/bpftrace" >&2
	sed -n 's/^@n: /# bpftrace recorded /p' "$temp/bpftrace" >&2
}

events() { # LETTER: of kprobes (p, r) or of fprobes
	case $1 in
	kprobe) printf 'p:eadm/in ib_query_qp\nr:eadm/out ib_query_qp ret=$retval\n' >$tracing/kprobe_events ;;
	fprobe) printf 'f:eadm/in ib_query_qp\nf:eadm/out ib_query_qp%%return ret=$retval\n' >$tracing/dynamic_events ;;
	esac || return
	echo 1 >$tracing/events/eadm/enable
	calls
	echo 0 >$tracing/events/eadm/enable
	echo >$tracing/dynamic_events
}

mount -t tracefs none $tracing 2>/dev/null
set_up >/dev/null || exit 1
calls >/dev/null
for ((i = 0; i < rounds; i++)); do
	for what in without "probe typed" "probe kprobe" "bpftrace_by types" "bpftrace_by kprobes" \
		"events fprobe" "events kprobe"; do
		case $what in
		*types) echo "$what $(bpftrace_by "$by_types")" ;;
		*kprobes) echo "$what $(bpftrace_by "$by_kprobes")" ;;
		*) echo "$what $($what)" ;;
		esac
	done
done | tee "$temp/ns"
python3 - "$temp/ns" <<'P'
import collections, statistics, sys

ns = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    *what, value = line.split()
    if value.isdigit():
        ns[" ".join(what)].append(int(value))
base = statistics.median(ns["without"])
added = {what: statistics.median(values) - base for what, values in ns.items()}
print(f"{'a call, ns':24}{'median':>8}{'least':>8}{'most':>8}{'added':>8}")
for what, values in ns.items():
    print(f"{what:24}{statistics.median(values):8.0f}{min(values):8}{max(values):8}{added[what]:8.0f}")
for ours, theirs, wanted in (("probe typed", "bpftrace_by types", 0.5), ("probe kprobe", "bpftrace_by kprobes", 0.5),
                             ("probe typed", "events fprobe", 1.5), ("probe kprobe", "events kprobe", 1.5)):
    if added.get(theirs):
        print(f"{ours} / {theirs}: {added[ours] / added[theirs]:.2f} (wanted: at most {wanted})")
P
