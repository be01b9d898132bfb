# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Limits of processes: RDMA limits of control groups, and pinned memory. The job is a program that
# makes some objects and keeps them.
group=/sys/fs/cgroup/job
echo +rdma >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group

# keep COMMAND...: starts it, and waits until it has its objects; $job is its process. Not in a
# subshell, as check has one.
keep() {
	coproc JOB { "$@" 2>&1; }
	read -r -t 60 ready <&"${JOB[0]}"
	job=$(pgrep -nx hold)
	echo "$ready"
	[ "$ready" = ready ]
}

let_go() {
	kill "$job"
	wait "$JOB_PID" 2>/dev/null
	return 0
}

in_group() {
	sh -c 'echo $$ >'"$group"'/cgroup.procs && exec "$@"' in_group "$@"
}

objects() {
	grep -oP "^$dev .*hca_object=\K[0-9]+" $group/rdma.current
}

keep in_group hold -d "$dev" -q 1 -c 1 -m 1 -s 4096 -w 16
check "a job runs in a control group" [ $? = 0 ]
check "a control group without limits is not mentioned" eval '[ -z "$(verdicts)" ]'
echo "$dev hca_object=1000" >$group/rdma.max
check "nor one that is far below its limits" eval '[ -z "$(verdicts)" ]'

full() {
	local n

	n=$(objects)
	echo "$dev hca_object=$n" >$group/rdma.max
	ends 0 eadm diagnose && said "^notice cgroup-limit $dev" &&
		said "control group /job: $n of $n hca_object in use" || return
	ends 0 eadm check && said "^note cgroup $dev" &&
		ends 0 eadm dump cgroup && said "/job.*$n +$n *$" &&
		same "$n" "$(eadm dump cgroup --json | jq '.rows[0].max_objects')"
}
check "one that has used up its objects is named, with the limit" full

refused() {
	in_group hold -d "$dev" -q 1 -c 1 -m 1 -s 4096 -w 16 >"$work/refused" 2>&1
	echo "status $?: $(<"$work/refused")"
	! grep -q ready "$work/refused" && grep -q "Resource temporarily unavailable" "$work/refused"
}
check "what is said there is true: nothing more can be made" refused

recorded() {
	eadm record "$work/limits.pcapng" && eadm --from "$work/limits.pcapng" diagnose >"$work/said"
	said "control group /job: .* hca_object in use"
}
check "a capture shows it, too" recorded
let_go

denied() {
	echo "$dev hca_handle=0 hca_object=max" >$group/rdma.max
	ends 7 in_group eadm check && said "^warn cgroup $dev" &&
		said "hca_handle=0 in rdma.max of this process's control group" && said "/job: " || return
	refused || return
	in_group ibv_devinfo -d "$dev" 2>&1 | tee "$work/devinfo"
	! grep -q "PORT_ACTIVE" "$work/devinfo"
}
check "a process that may open no device learns why" denied
check "elsewhere that is no fault" ends 0 eadm check
echo "$dev hca_handle=max" >$group/rdma.max

# The job has pinned so many KiB, and perhaps some more for its queues.
pinned() { # KIB
	[ "$(sed -n 's/^VmPin:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$job/status")" -ge "$1" ]
}

limited() { # KIB COMMAND...: as an unprivileged user
	local kib=$1
	shift
	prlimit --memlock=$((kib * 1024)) "${as_user[@]}" "$@"
}
chmod 666 /dev/infiniband/uverbs*

keep limited 8192 hold -d "$dev" -q 1 -c 1 -m 1 -s $((7600 * 1024)) -w 16
near() {
	ends 0 eadm diagnose && said "^notice memlock-near $dev" && said "\(PID $job\)" &&
		said "has pinned 7[0-9]+ KiB" && said "8192 KiB"
}
check "a process near its limit of pinned memory is named" near
let_go

keep limited 8192 hold -d "$dev" -q 1 -c 1 -m 1 -s $((4000 * 1024)) -w 16
far() {
	pinned 4000 && ends 0 eadm diagnose && ! said memlock
}
check "one that is far from it is not" far
let_go

keep prlimit --memlock=$((1024 * 1024)) hold -d "$dev" -q 1 -c 1 -m 1 -s $((7600 * 1024)) -w 16
privileged() {
	pinned 7600 && ends 0 eadm diagnose && ! said memlock
}
check "nor one with CAP_IPC_LOCK, beyond its limit" privileged
let_go

shell_limit() {
	ends 0 prlimit --memlock=$((1024 * 1024)) eadm check &&
		said "^ok memlock: RLIMIT_MEMLOCK \(1024 KiB\) does not apply" || return
	ends 0 limited 1024 eadm check && said "^note memlock"
}
check "check: the limit does not apply to root, and does to a user" shell_limit
rmdir $group
