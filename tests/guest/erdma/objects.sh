# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Objects of all sizes are created and destroyed.
no_refusal() {
	same 0 "$(cat "$v0/command_errors")"
}

# DMA buffers come from the memory of a process if the kernel has udmabuf, otherwise from vgem, a
# virtual graphics card.
exporter() {
	[ -e /dev/udmabuf ] || [ -e /dev/dri/card0 ]
}

# Switches off the debug kernel's message about each mapping of a page that is already mapped
# (tests/vm/kernel_log.py): half a million mappings of a few pages cause too many.
tell_dma_faults() { # 0|1
	local dir=/sys/kernel/debug/dma-api

	[ -d $dir ] || return
	echo 0 >$dir/num_errors
	echo "$1" >$dir/all_errors
}

echo 16 >/proc/sys/vm/nr_hugepages
for objects in cqs qps mrs states refused; do
	check "$objects" "$programs/objs" -n 1000 "$objects"
done
tell_dma_faults 0
check "large MRs" "$programs/objs" -g 31 large
tell_dma_faults 1
check "contexts" "$programs/objs" -n 300 open
echo 0 >/proc/sys/vm/nr_hugepages
[ -e /dev/udmabuf ] || modprobe vgem
check "the kernel provides DMA buffers" until_true 10 exporter
check "MRs of DMA buffers" same "" "$("$programs/objs" dmabuf 2>&1)"
check "nothing is left over" nothing_left
check "the adapter refused no command" no_refusal
