#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the life cycle of virtual adapters without a driver, in the guest: prints TAP lines.
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/virt/idle.sh
config=/sys/kernel/config/eadm_virt/erdma
mac=52:54:00:ed:a0:01

plug() {
	mkdir "$config/$1" && echo "${2:-$mac}" >"$config/$1/mac" && echo 1 >"$config/$1/live"
}

unplug_all() {
	local dir

	for dir in "$config"/*/; do
		[ ! -d "$dir" ] || rmdir "$dir" || return 1
	done
}

memory_map() {
	cat /proc/iomem
}

functions() {
	lspci -D -d 1ded:107f | cut -d' ' -f1
}

# The function is configured as by firmware, and looks like a real one.
looks_real() {
	local out want

	plug a || return 1
	out=$(lspci -vvnn -s "$(cat $config/a/address)") || return 1
	for want in '\[1ded:107f\]' 'Region 0: Memory at .*64-bit.*size=512K' \
		'Region 2: Memory at .*64-bit.*size=4K' 'MSI-X: Enable- Count=32' \
		'Vector table: BAR=2 offset=00000000' \
		'Express (v2) Root Complex Integrated Endpoint' 'FLReset+'; do
		grep -q "$want" <<<"$out" || { echo "no '$want' in:"; echo "$out"; return 1; }
	done
	! grep -E 'Region [1345]|Expansion ROM|disabled' <<<"$out" || return 1
	rmdir $config/a
}

# After removal and rescan, the function has the same addresses.
remove_rescan() {
	local address before

	plug a || return 1
	address=$(cat $config/a/address)
	before=$(lspci -vvs "$address")
	for _ in 1 2 3; do
		echo 1 >"/sys/bus/pci/devices/$address/remove" &&
			same "" "$(functions)" &&
			echo 1 >/sys/bus/pci/rescan &&
			same "$before" "$(lspci -vvs "$address")" || return 1
	done
	rmdir $config/a
}

many() {
	local before i want=

	before=$(memory_map)
	for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		plug "n$i" || return 1
		want+=${want:+$'\n'}$(printf 'eda%s:00:00.0' $i)
	done
	same "$want" "$(functions)" || return 1
	# Neither in the order of creation nor in the reverse order.
	for i in 3 4 0 9 f e 7 5 1 8 c a b 2 d 6; do
		rmdir "$config/n$i" || return 1
	done
	same "$before" "$(memory_map)" && same "" "$(functions)"
}

cycles() {
	local before i

	before=$(memory_map)
	for ((i = 0; i < 100; i++)); do
		plug a || return 1
		case $((i % 4)) in
		0) echo 0 >$config/a/live ;;
		1) echo 1 >$config/a/surprise ;;
		2) echo 1 >"/sys/bus/pci/devices/$(cat $config/a/address)/remove" ;;
		esac || return 1
		rmdir $config/a || return 1
	done
	same "$before" "$(memory_map)"
}

# The module cannot be unloaded while an adapter is configured.
unload() {
	local before

	before=$(grep 'System RAM' /proc/iomem)
	plug a || return 1
	! rmmod eadm_virt 2>/dev/null || return 1
	rmdir $config/a && rmmod eadm_virt && [ ! -e $config ] || return 1
	same "$before" "$(grep 'System RAM' /proc/iomem)" && insmod "$(module)"
}

module() {
	echo /run/vm/ctl/eadm_virt.ko
}

# Files of an adapter stay open while it is removed.
open_files() {
	plug a || return 1
	exec 5<$config/a/state 6<$config/a/fault/stall/count 7<>$config/a/live
	rmdir $config/a || return 1
	! cat <&5 && ! cat <&6 && ! echo 1 >&7
	exec 5<&- 6<&- 7<&-
	[ ! -e $config/a ]
} 2>/dev/null

three_idle() {
	plug a && plug b && plug c && idle_cost 3 && rmdir $config/{a,b,c}
}

unplug_all
check "lspci shows a real function" looks_real
check "removal and rescan on PCI find the same function" remove_rescan
check "16 adapters are added and removed in any order" many
check "100 cycles do not change the memory map" cycles
check "files can be open while an adapter is removed" open_files
check "the module cannot be unloaded while an adapter exists" unload
# The checks of a debug kernel cost more than the adapter.
[[ $(uname -r) == *debug* ]] || check "an idle adapter costs less than 2 % of a CPU" three_idle
tap_end
