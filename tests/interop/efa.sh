#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Foreign clients on virtual EFA adapters, in the guest: TAP on stdout. The adapters
# are there, without a driver.
# Usage: efa.sh MODULE USERLAND:PART[,PART]...
# USERLAND is a private root (tests/vm/fetch userland-*), or "-" for this machine's own;
# PART is what is used of it:
#   verbs	ibv_devinfo and ibv_ud_pingpong
#   srd		the client of ours, which compares all data
#   perftest	sends and reads over SRD, sends over UD
#   write	RDMA writes over SRD: perftest from 25.01 on
#   fabric	libfabric
#   pyverbs	rdma-core's own tests of EFA; "pyverbs-all" is all that they have
#   mpi		Open MPI over libfabric, in Python
# With EADM_EFA= sizes, numbers of QPs and directions are tried, too.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
# shellcheck source=tests/interop/efa-lib.sh
. tests/interop/efa-lib.sh
module=$1
shift

short() {
	[ -n "${EADM_EFA-short}" ]
}

# set_userland ROOT: what stands before each command from now on
set_userland() {
	user=()
	label=
	[ "$1" != - ] || return 0
	user=(tests/vm/debian enter "$1" "$work" env FI_EFA_ENABLE_SHM_TRANSFER=0)
	label=${1%/root}
	label="${label##*/userland-}: "
}

# meet NAME PORT TOOL [OPTION...]: the tool as server and as client, with the options
# of the caller's arrays "server" and "client".
meet() {
	local name=$1 port=$2
	shift 2

	pair "$label$name" "$port" "${user[@]}" "$@" "${server[@]}" -- \
		"${user[@]}" "$@" "${client[@]}" 127.0.0.1
}

# ---- parts

devinfo() {
	"${user[@]}" ibv_devinfo -v >"$work/devinfo"
	cat "$work/devinfo"
	[ "$(grep -c 'state:.*PORT_ACTIVE' "$work/devinfo")" = "$(adapters | wc -l)" ] &&
		grep -q 'vendor_id:.*0x1d0f$' "$work/devinfo"
}

verbs() {
	local server=(-d efa_0) client=(-d efa_1)

	check "${label}ibv_devinfo -v" devinfo
	meet "ibv_ud_pingpong, data compared" 18515 ibv_ud_pingpong -g 0 -c -n 100
	meet "ibv_ud_pingpong -e" 18515 ibv_ud_pingpong -g 0 -c -e -n 50
	short || meet "ibv_ud_pingpong, 4096 bytes" 18515 ibv_ud_pingpong -g 0 -c -s 4096 -n 500
}

srd() {
	check "SRD, sends" command srd -n 200 efa_0 efa_1
	check "SRD, events" command srd -e -n 50 efa_0 efa_1
	check "SRD, reads" command srd -o read -s 100000 -n 20 efa_0 efa_1
	check "SRD, within one adapter" command srd -n 50 efa_1 efa_1
}

perf() { # NAME TOOL OPTION...
	local server=(-d efa_0) client=(-d efa_1)

	meet "$1" 18515 "${@:2}" -x 0 -F
}

perftest() {
	local verb size

	perf "ib_send_bw, SRD" ib_send_bw -c SRD -s 4096 -n 300
	perf "ib_send_lat, SRD" ib_send_lat -c SRD -s 16 -n 100
	perf "ib_read_bw, SRD" ib_read_bw -c SRD -s 65536 -n 100
	perf "ib_read_lat, SRD" ib_read_lat -c SRD -s 64 -n 100
	# Its own moderation leaves out completions, which EFA cannot.
	perf "ib_send_bw, UD" ib_send_bw -c UD -Q 1 -s 2048 -n 300
	perf "ib_send_bw, SRD, 8 QPs" ib_send_bw -c SRD -s 1024 -n 100 -q 8
	short && return
	for size in 2 64 1024 8192; do
		perf "ib_send_bw, SRD, $size bytes" ib_send_bw -c SRD -s $size -n 500
		perf "ib_send_lat, SRD, $size bytes" ib_send_lat -c SRD -s $size -n 200
	done
	perf "ib_send_lat, SRD, inline" ib_send_lat -c SRD -s 16 -I 32 -n 200
	for size in 2 4096 1048576; do
		perf "ib_read_bw, SRD, $size bytes" ib_read_bw -c SRD -s $size -n 100
	done
	for verb in send read; do
		perf "ib_${verb}_bw, SRD, both directions" "ib_${verb}_bw" -c SRD -s 4096 -n 200 -b
	done
	perf "ib_send_lat, UD" ib_send_lat -c UD -s 64 -n 200
}

write() {
	local size

	perf "ib_write_bw, SRD" ib_write_bw -c SRD -s 65536 -n 100
	perf "ib_write_lat, SRD" ib_write_lat -c SRD -s 64 -n 100
	short && return
	for size in 2 4096 1048576; do
		perf "ib_write_bw, SRD, $size bytes" ib_write_bw -c SRD -s $size -n 100
	done
	perf "ib_write_bw, SRD, 8 QPs" ib_write_bw -c SRD -s 4096 -n 100 -q 8
	perf "ib_write_bw, SRD, both directions" ib_write_bw -c SRD -s 4096 -n 100 -b
}

fi_info_knows() {
	"${user[@]}" fi_info -p efa >"$work/fi_info"
	cat "$work/fi_info"
	grep -q 'domain: efa_0-rdm$' "$work/fi_info" && grep -q 'domain: efa_1-dgrm$' "$work/fi_info"
}

fi_pair() { # NAME ENDPOINT SUFFIX OPTION...
	local server=(-d "efa_0-$3") client=(-d "efa_1-$3")

	meet "$1, data compared" 47592 fi_pingpong -p efa -e "$2" -c "${@:4}"
}

fabric() {
	check "${label}fi_info -p efa" fi_info_knows
	fi_pair "fi_pingpong, rdm" rdm rdm -I 30
	fi_pair "fi_pingpong, rdm, 1 MiB" rdm rdm -I 5 -S 1048576
	fi_pair "fi_pingpong, dgram" dgram dgrm -I 30 -S 1024
	short || fi_pair "fi_pingpong, rdm, all sizes" rdm rdm -I 10 -S all
}

# Those that send a thousand messages have one for all of them here.
quick_tests=(-k '*.test_device.*' -k '*.test_efadv.*' -k '*bad_flow' -k '*events_srd'
	-k '*rdma_read' -k '*rdma_write' -k '*srd_send')

# python_tests [FILE... [-- OPTION...]]: those of rdma-core in these files, or in all
python_tests() {
	local from=$root/usr/share/doc/rdma-core/tests file files=

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		files+=" $1"
		shift
	done
	shift
	mkdir -p "$work/py/tests"
	rm -f "$work"/py/tests/*
	cp "$from"/*.py "$from"/*.gz "$work/py/tests"
	gunzip -f "$work"/py/tests/*.gz
	for file in "$work"/py/tests/test_*.py; do
		case "$files " in
		*" $(basename "$file" .py) "* | " ") ;;
		*) rm "$file" ;;
		esac
	done
	timeout "$((10 * patient_limit))" "${user[@]}" env PYTHONDONTWRITEBYTECODE=1 \
		PYTHONUNBUFFERED=1 python3 "$work/py/tests/run_tests.py" --dev efa_0 --gid 0 -v "$@" \
		>"$work/pyverbs" 2>&1 </dev/null
}

# They skip what EFA has not: at least LEAST have to be run.
pyverbs() { # LEAST [FILE...]
	local status ran skipped

	python_tests "${@:2}"
	status=$?
	ran=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$work/pyverbs")
	skipped=$(sed -n 's/^OK.*skipped=\([0-9]*\).*/\1/p' "$work/pyverbs")
	echo "# ${ran:-0} tests, of which ${skipped:-0} do not apply"
	[ $((${ran:-0} - ${skipped:-0})) -ge "$1" ] || status=1
	result "$status" "${label}rdma-core's own tests${2:+ of SRD and EFA}, at least $1" "$work/pyverbs"
}

# mpi_run SCRIPT-ARGUMENT...: two ranks, each with another adapter. Nothing is
# started by a remote shell here, nor found by one.
mpi_run() {
	timeout "$patient_limit" "${user[@]}" env HOME="$work" OMPI_ALLOW_RUN_AS_ROOT=1 \
		OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -np 2 \
		--mca plm isolated --mca pml cm --mca mtl ofi \
		--mca mtl_ofi_provider_include efa --mca btl self python3 "$work/mpi.py" "$@"
}

sent() { # DEVICE
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/tx_bytes"
}

# Each has sent that much more: mpi_over BYTES ARGUMENT...
mpi_over() {
	local before_0 before_1

	before_0=$(sent efa_0)
	before_1=$(sent efa_1)
	mpi_run "${@:2}" || return
	echo "sent by efa_0: $(($(sent efa_0) - before_0)), by efa_1: $(($(sent efa_1) - before_1))"
	[ $(($(sent efa_0) - before_0)) -ge "$1" ] && [ $(($(sent efa_1) - before_1)) -ge "$1" ]
}

mpi() {
	cp tests/interop/mpi.py "$work"
	check "${label}Open MPI, a ring" mpi_run ring 50
	check "${label}Open MPI, bandwidth between adapters, data compared" mpi_over 1000000 bandwidth
}

# ---- all of them

use() { # USERLAND:PART,PART
	local part

	root=${1%%:*}
	set_userland "$root"
	for part in ${1#*:}; do
		echo "# $part: at $SECONDS s"
		case $part in
		pyverbs) pyverbs 25 test_device test_efa_srd test_efadv -- "${quick_tests[@]}" ;;
		pyverbs-all) pyverbs 40 ;;
		*) "$part" ;;
		esac
	done
}

# With a device of others there, libfabric of Debian 12 knows none.
for name in erdma efa; do
	! lsmod | grep -q "^$name " || rmmod "$name"
done
check "probe" probe "$module"
before=$(objects)
for userland; do
	use "${userland//,/ }"
done
check "no object is left over" same_objects "$before"
check "no command failed" no_command_failed
check "unload" unload
check "the kernel's log has no complaint of the driver" says_nothing
plan
