#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the virtual EFA adapters with the kernel's own driver and Debian's libefa, in
# the guest: prints TAP lines. Requires adapters e0 and e1, and an ERDMA adapter with
# its driver. Usage: efa.sh MODULE
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
module=$1
config=/sys/kernel/config/eadm_virt/efa
limit=$((60 * ${EADM_PATIENCE:-1}))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

active() { # N: exactly N ports are active
	[ "$(rdma link show | grep -c '^link efa_.* state ACTIVE')" = "$1" ]
}

counter() { # ADAPTER FILE
	cat "$config/$1/$2"
}

hw_counter() { # NAME, of the port of the first device
	cat "/sys/class/infiniband/efa_0/ports/1/hw_counters/$1"
}

is_more() { # THAN COMMAND...
	[ "$("${@:2}")" -gt "$1" ]
}

devinfo() {
	ibv_devinfo -v -d efa_0 >"$work/devinfo"
	cat "$work/devinfo"
	grep -q 'vendor_id:.*0x1d0f$' "$work/devinfo" && grep -q 'hw_ver:.*0xEFA1$' "$work/devinfo" &&
		grep -q 'max_qp:.*256$' "$work/devinfo" && grep -q 'max_ah:.*1024$' "$work/devinfo" &&
		grep -q 'state:.*PORT_ACTIVE' "$work/devinfo" && grep -q 'GID\[.*fe80:.*:0c11:22ff:fe33:0001' "$work/devinfo"
}

listening() { # PORT
	[ -n "$(ss -Hltn "sport = :$1")" ]
}

# pair NAME PORT SERVER... -- CLIENT...: both exit with status 0.
pair() {
	local name=$1 port=$2 server=() pid status

	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout "$limit" "${server[@]}" >"$work/server" 2>&1 &
	pid=$!
	until_true 30 listening "$port" >"$work/client" && timeout "$limit" "$@" >"$work/client" 2>&1
	status=$?
	[ "$status" = 0 ] || kill "$pid" 2>/dev/null
	wait "$pid" && [ "$status" = 0 ] && tap_pass "$name" && return
	sed 's/^/# /' "$work/server" "$work/client" | tail -n 60
	tap_fail "$name"
}

perftest() { # NAME TOOL OPTION...: from one adapter to the other
	pair "$1" 18515 "${@:2}" -d efa_0 -x 0 -F -- "${@:2}" -d efa_1 -x 0 -F localhost
}

pingpong() { # NAME SERVER_DEVICE CLIENT_DEVICE OPTION...
	pair "$1" 18515 ibv_ud_pingpong -d "$2" -g 0 "${@:4}" -- \
		ibv_ud_pingpong -d "$3" -g 0 "${@:4}" localhost
}

no_command_failed() {
	same "0 0" "$(counter e0 command_errors) $(counter e1 command_errors)"
}

says_nothing() {
	! dmesg | grep -E 'efa [0-9a-f]{4}:.*(fail|error|timeout|timed)|blocked for more'
}

unplug() { # ADAPTER
	echo 0 >"$config/$1/live"
}

gone() {
	rmmod efa && [ -z "$(ls /sys/class/infiniband)" ]
}

replug() { # ADAPTER PARAMETER=VALUE...
	local dir=$config/$1 value

	echo 0 >"$dir/live"
	for value in "${@:2}"; do
		echo "${value#*=}" >"$dir/${value%%=*}" || return
	done
	echo 1 >"$dir/live"
}

# hw_versions: prints the hardware versions of all devices
hw_versions() {
	ibv_devinfo -v | sed -n 's/.*hw_ver:[[:space:]]*//p' | sort | tr '\n' ' '
}

# The newest generation that the driver supports: the third one in Linux 6.1.
newest=$(modinfo -F alias "$module" | sed -n 's/^pci:v00001D0Fd0000EFA\([0-9]\).*/\1/p' | sort -n | tail -n 1)

# The oldest generation with sub-CQs, and the newest one without the latest features.
replug_generations() {
	replug e0 generation=0 sub_cqs=4 caps=0x1 && replug e1 generation="$newest" sub_cqs=4 version=2
}

check "probe" insmod "$module"
check "both ports are active" until_true 30 active 2
check "ibv_devinfo" devinfo
check "ERDMA and EFA devices coexist" same $'efa_0\nefa_1\nerdma_0' "$(ls /sys/class/infiniband)"
check "the driver describes the host correctly" tests/guest/virt/efa_host.py "$config/e0"
check "keep-alives arrive" until_true 10 is_more 1 cat /sys/class/infiniband/efa_0/hw_counters/keep_alive_rcvd
pingpong "UD between adapters, data compared" efa_0 efa_1 -c -n 50
perftest "ib_send_bw, SRD" ib_send_bw -c SRD -s 4096 -n 300
check "the port counts bytes" is_more 1200000 hw_counter rx_bytes
check "the ERDMA module is removed" rmmod erdma
check "SRD by srd: sends" srd -n 300 efa_0 efa_1
check "SRD by srd: with immediate data" srd -o imm -n 100 efa_0 efa_1
check "SRD by srd: inline" srd -o inline -s 32 -n 100 efa_0 efa_1
check "SRD by srd: within one adapter" srd -n 100 efa_1 efa_1
check "SRD by srd: events" srd -e -n 100 efa_0 efa_1
check "SRD by srd: RDMA read of 200000 bytes" srd -o read -s 200000 -n 40 efa_0 efa_1
check "reads are counted" is_more 7900000 hw_counter rdma_read_bytes
# These tests map the same pages many times, and DMA debugging would fill the kernel log with reports.
case $(uname -r) in
*-debug) ;;
*)
	check "SRD by srd: RDMA read from 1 GiB of pages" srd -o read -m 1 efa_0 efa_1
	check "SRD by srd: RDMA read from 3 GiB, whose list of pages is in chunks" srd -o read -m 3 efa_0 efa_1
	;;
esac
check "SRD by srd: no receive" same "10:1 received 0 data" "$(srd -n 1 -d 0 -r 3 efa_0 efa_1)"
check "SRD by srd: a wrong Q_Key" same "9:1 received 0 data" "$(srd -n 1 -k efa_0 efa_1)"
check "SRD by srd: too long" same "6:1 received 0 data" "$(srd -n 1 -s 9000 efa_0 efa_1)"
check "no command has failed" no_command_failed
check "removal" gone
check "probe again" insmod "$module"
check "both ports are active again" until_true 30 active 2
perftest "ib_send_bw, SRD, after that" ib_send_bw -c SRD -s 4096 -n 100
check "one adapter is unplugged" unplug e0
check "the other adapter stays active" active 1
pingpong "UD within it" efa_1 efa_1 -c -n 20
check "removal with one adapter" gone
check "the driver supports at least two generations" [ "$newest" -ge 1 ]
check "adapters of other generations, with four sub-CQs" replug_generations
check "probe of other generations" insmod "$module"
check "both ports of other generations are active" until_true 30 active 2
check "ibv_devinfo shows the generations" same "0xEFA0 0xEFA$newest " "$(hw_versions)"
perftest "ib_send_bw, SRD, 4 QPs with a sub-CQ each" ib_send_bw -c SRD -s 1024 -n 100 -q 4
check "SRD by srd: within one of several sub-CQs" srd -n 100 efa_0 efa_0
check "removal of other generations" gone
check "the driver has logged no errors" says_nothing
tap_end
