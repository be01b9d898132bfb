# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for who includes it, which sets params
# What of "run" is ERDMA's: virtual adapters, whose knobs are files.
# shellcheck source=tests/guest/faults/lib.sh
. tests/guest/faults/lib.sh
parameters=()
inline=inline
read_invalidate=read_invalidate
awaits_ack=destroy_awaits_ack
cqs_last=

calm_down() {
	calm
}

nothing_left() {
	! rdma resource | grep -vE ': pd 0 cq 0 qp 0 cm_id 0 mr 0 ctx 0 srq 0'
}

in_order() {
	echo 0 >"$adapter/live"
}

by_surprise() {
	echo 1 >"$adapter/surprise"
}

come_back() {
	echo 1 >"$adapter/live" && until_true 30 there
}

unbind() {
	cat "$adapter/address" >/sys/bus/pci/drivers/erdma/unbind
}

unload() {
	rmmod erdma
}

load_again() {
	insmod /run/vm/ctl/erdma.ko && until_true 30 there
}

# The adapter forgets all by itself.
forget_all() {
	local before

	before=$(hits fw_reset)
	fault fw_reset count 1
	until_true 10 struck fw_reset "$before"
}

# An event of the kernel consumer's CQ.
fail_cq() {
	local before

	before=$(hits aeq_cq_error)
	fault aeq_cq_error count 1
	until_true 10 struck aeq_cq_error "$before"
}

fail_application_cq() {
	fault aeq_cq_error count 1
}

# The first one of 30.
fail_request() {
	fault wr_error target "$client" arg 12 count 1
	ask 10 'local' 'write 30 64 5000'
}

# An adapter with neither atomics nor translations in several pieces.
with_fewer_abilities() {
	local flags status

	flags=$(<"$adapter/flags")
	in_order && until_true 20 away || return 1
	tr -d 57 <<<"$flags" >"$adapter/flags"
	echo 1 >"$adapter/live" && until_true 30 there && in_kernel no_atomics && in_kernel register
	status=$?
	in_order && until_true 20 away && echo "$flags" >"$adapter/flags" && back && return $status
}

# The adapter may read the tables above the entries as soon as it knows of the
# region. Where the kernel hands memory over by a function, as 6.1 does for every
# device, it is called for these; newer ones do so only where that has an effect.
largest_region() {
	local tracing=/sys/kernel/tracing status

	if ! grep -qx dma_sync_single_for_device $tracing/available_filter_functions; then
		in_kernel large_region
		return
	fi
	echo dma_sync_single_for_device >$tracing/set_ftrace_filter &&
		: >$tracing/trace && echo function >$tracing/current_tracer && in_kernel large_region
	status=$?
	# Before the tracer goes, and what it wrote with it.
	grep -m 1 'dma_sync_single_for_device <-' $tracing/trace || status=1
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	return $status
}
