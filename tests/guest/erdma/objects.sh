# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Objects of all sizes come and go.
no_refusal() {
	same 0 "$(cat "$v0/command_errors")"
}

# Of a process where the kernel has the means, else of a card without hardware.
exporter() {
	[ -e /dev/udmabuf ] || [ -e /dev/dri/card0 ]
}

# Half a million mappings of the same few pages, each of which the debug kernel
# has words about (tests/vm/kernel_log.py), are too many words.
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
check "there are DMA buffers" until_true 10 exporter
check "MRs of DMA buffers" same "" "$("$programs/objs" dmabuf 2>&1)"
check "nothing is left over" nothing_left
check "the adapter refused no command" no_refusal
