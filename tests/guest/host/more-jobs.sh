# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Running jobs: settings of another host, removed devices, limits of open files, two libraries.
# What looks alike has no verdict.

# loads LIBRARY... : a program that loads them, and waits; $job is its process. Not in a subshell.
loads() { # [NAME=VALUE...] LIBRARY...
	local settings=()

	while [[ $1 == *=* ]]; do
		settings+=("$1")
		shift
	done
	rm -f "$work/ready"
	"${inside[@]}" env -- "${settings[@]}" python3 -c 'import ctypes, sys, time
for name in sys.argv[2:]:
    ctypes.CDLL(name)
open(sys.argv[1], "w").close()
time.sleep(600)' "$work/ready" "$@" >"$work/log" 2>&1 &
	job=$!
	until_true 60 test -e "$work/ready"
}

ends_job() {
	kill "$job"
	wait "$job" 2>/dev/null
	return 0
}
inside=()

# diagnosed [SEVERITY RULE FINDING]: the only verdict, or none.
diagnosed() {
	eadm diagnose --json >"$work/said"
	jq -r '.rows[] | "\(.severity) \(.rule) \(.finding)"' "$work/said" | tee "$work/found"
	same "$*" "$(cat "$work/found")"
}

# ---- settings --------------------------------------------------------------------------

# with WANT NAME=VALUE...: what diagnose says of a job with these settings that match nothing.
with() {
	local want=$1
	shift

	loads "$@" libibverbs.so.1 || return
	if [ "$want" ]; then
		diagnosed notice settings "python3 (PID $job) has environment variables that match no device on this host: $want"
	else
		diagnosed
	fi
	set -- $?
	ends_job
	return "$1"
}

check "settings of this host" with "" NCCL_IB_HCA="$dev" NCCL_IB_GID_INDEX=1 NCCL_SOCKET_IFNAME=v0 \
	UCX_NET_DEVICES="$dev:1" FI_VERBS_DEVICE_NAME="$dev" GLOO_SOCKET_IFNAME=v0
check "a list of which one exists, beginnings, exclusions, patterns" with "" NCCL_IB_HCA=mlx5_0:1,rx \
	NCCL_SOCKET_IFNAME=^lo,docker UCX_NET_DEVICES='mlx5_*' NCCL_IB_GID_INDEX=-1 UCX_IB_GID_INDEX=auto
check "an exact name" with "" NCCL_IB_HCA=="$dev:1" UCX_NET_DEVICES=v0
check "no settings" with "" NCCL_IB_HCA= OTHER_IB_HCA=mlx5_0
check "settings that NCCL does not use" with "" NCCL_IB_HCA=mlx5_0 NCCL_IB_GID_INDEX=9 NCCL_IB_DISABLE=1
check "NCCL: a device that does not exist" with NCCL_IB_HCA=mlx5_0:1,mlx5_1:1 NCCL_IB_HCA=mlx5_0:1,mlx5_1:1
check "NCCL: an exact name that only begins so" with NCCL_IB_HCA==rx NCCL_IB_HCA==rx
check "NCCL: an entry without a GID" with NCCL_IB_GID_INDEX=9 NCCL_IB_GID_INDEX=9
check "NCCL: an interface that does not exist" with NCCL_SOCKET_IFNAME=eth9 NCCL_SOCKET_IFNAME=eth9
check "UCX: a device that does not exist, though one begins so" with UCX_NET_DEVICES=rx:1 UCX_NET_DEVICES=rx:1
other_gid() {
	ip netns add p && ip link add m0 link v0 type macvlan && ip link set m0 netns p &&
		ip -n p address add 10.9.0.7/24 dev m0 && ip -n p link set m0 up || return
	until_true 20 grep -q ":ffff:0a09:0007" "/sys/class/infiniband/$dev/ports/1/gids/"* 2>/dev/null || return
	eadm dump gid -d "$dev" --json | jq '.rows[] | select(.gid == "::ffff:10.9.0.7").gid_index' >"$work/index"
	with "NCCL_IB_GID_INDEX=$(cat "$work/index")" NCCL_IB_GID_INDEX="$(cat "$work/index")"
}
check "NCCL: a GID of another network namespace" other_gid
inside=(ip netns exec p)
check "a job in that namespace is not judged" with "" \
	NCCL_IB_GID_INDEX="$(cat "$work/index")" NCCL_SOCKET_IFNAME=m0 NCCL_IB_HCA=mlx5_0
inside=()
ip netns delete p
loads NCCL_IB_HCA="$dev" libibverbs.so.1
check "a job with the name of the device" diagnosed
renamed() {
	rdma dev set "$dev" name rocep0s9 || return
	diagnosed notice settings "python3 (PID $job) has environment variables that match no device on this host: NCCL_IB_HCA=$dev"
}
check "a device that was renamed since" renamed
explained() { # TEXT FINDING
	ends 0 eadm explain "$1" && said "here: $2"
}
check "explain names it as a cause" explained "NCCL INFO NET/IB : No device found." "notice settings"
renamed_recorded() {
	eadm record -n 1 "$work/renamed.pcapng" &&
		same settings "$(eadm --from "$work/renamed.pcapng" diagnose --json | jq -r '.rows[].rule')"
}
check "a recording has it" renamed_recorded
check "under its old name again" eval 'rdma dev set rocep0s9 name $dev && diagnosed'
ends_job

# ---- two copies of libibverbs ----------------------------------------------------------

library=$(ldconfig -p | grep -oPm1 'libibverbs\.so\.1 .*=> \K.*')
mkdir "$work/lib"
cp "$library" "$work/lib/libibverbs.so.1"
ln -s "$library" "$work/libibverbs.so.1"
loads "$library" "$work/lib/libibverbs.so.1"
two_copies() {
	diagnosed notice two-libibverbs "python3 (PID $job) has more than one libibverbs loaded: $(readlink -f "$library") $work/lib/libibverbs.so.1" ||
		diagnosed notice two-libibverbs "python3 (PID $job) has more than one libibverbs loaded: $work/lib/libibverbs.so.1 $(readlink -f "$library")"
}
check "two files of libibverbs" two_copies
ends_job
loads "$library" "$work/libibverbs.so.1"
check "one file by two names" diagnosed
ends_job

# ---- open files ------------------------------------------------------------------------

# With patience for a guest that gets no time: with 67 ms, eight times, the job may end.
start_job --qp-timeout 21
check "a job runs" [ $? = 0 ]
open_files() { # PROCESS
	find "/proc/$1/fd" -mindepth 1 | wc -l
}
no_file_left() {
	local files

	files=$(open_files "$server")
	prlimit --pid "$server" --nofile="$files" &&
		diagnosed notice open-files-near "process ib_send_bw (PID $server) has $files of $files files open (RLIMIT_NOFILE): opening a device, a completion channel or an rdma_cm event channel fails with EMFILE"
}
check "no file is left" no_file_left
check "explain names it as a cause" \
	explained "Fail to create comp channel for CQ: Too many open files [24]" "notice open-files-near"
few_left() {
	prlimit --pid "$server" --nofile=$((2 * $(open_files "$server"))) && diagnosed
}
check "the job goes on" job_runs
check "half of them are left" few_left

# ---- a device that is removed ----------------------------------------------------------

deleted_node() {
	rm /dev/infiniband/uverbs0 && diagnosed &&
		mknod -m 666 /dev/infiniband/away c "$(tr : ' ' </sys/class/infiniband_verbs/uverbs0/dev | cut -d' ' -f1)" \
			"$(cut -d: -f2 /sys/class/infiniband_verbs/uverbs0/dev)"
}
check "a file that was deleted by hand" deleted_node
rdma link delete "$dev" >"$work/removal" 2>&1 &
removal=$!
waits() {
	grep -q uverbs_remove "/proc/$removal/wchan"
}
check "the removal waits for the job" until_true 20 waits
removed_while_open() {
	ends 8 eadm check && said '^fail devices' && said "^warn removed" &&
		said "ib_send_bw \(PID $server\) has 1 file of removed RDMA devices open" &&
		said "ib_send_bw \(PID $client\) has 1 file of removed RDMA devices open"
}
check "check names the processes that hold it" removed_while_open
check "explain names it as a cause" explained "modprobe: FATAL: Module rdma_rxe is in use." "warning removed-device"
stop_job
# rdma itself once ended with status 255, without a word, though the device was removed.
removed() {
	wait "$removal" || { echo "rdma: status $?"; cat "$work/removal"; }
	[ ! -e "/sys/class/infiniband/$dev" ]
}
check "without them, it is removed" removed
rm -f /dev/infiniband/away
no_holder() {
	ends 8 eadm check && said '^fail devices' && ! said "^warn removed"
}
check "a host without a device, and without such processes" no_holder
check "the device is back" eval 'rdma link add $dev type rxe netdev v0 && until_true 20 has_address'
