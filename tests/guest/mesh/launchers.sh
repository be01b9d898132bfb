# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh and rxe-lib.sh set them
# "eadm test mesh" started by launchers, as docs/fleet.md shows it: Debian's Open MPI and Slurm in
# the private root $argument, where each process becomes a host with a separate name and adapter;
# the command of the Kubernetes job; and a file of hosts.
# shellcheck source=tests/guest/mesh/rxe-lib.sh
. "$here/rxe-lib.sh"
hosts=4
root=$argument
# Inside and outside of the root.
names="127.0.0.1 localhost $(hostname) eadm-mesh-0.eadm-mesh node0 node1 node2 node3"

inside() {
	tests/vm/debian enter "$root" "$PWD" env PATH=/tmp/bin:/usr/sbin:/usr/bin HOME=/tmp/home \
		LD_LIBRARY_PATH="$PWD/build/libeadm" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_plm=isolated "$@"
}

prepare_root() {
	local name

	mkdir -p "$root"/{etc,run,tmp/bin,tmp/home} && chmod 1777 "$root/tmp" &&
		printf 'root:x:0:0:root:/tmp/home:/bin/bash\n' >"$root/etc/passwd" &&
		printf 'root:x:0:\n' >"$root/etc/group" &&
		printf 'passwd: files\ngroup: files\nhosts: files\n' >"$root/etc/nsswitch.conf" &&
		echo "$names" | tee /etc/hosts >"$root/etc/hosts" || return
	# Links that the packages' scripts would make.
	for name in slurmctld slurmd slurmstepd; do
		ln -sf $name-wlm "$root/usr/sbin/$name" || return
	done
	ln -sf mpirun.openmpi "$root/usr/bin/mpirun"
	# A rank that /tmp/absent names does not start.
	cat >"$root/tmp/bin/eadm" <<-EOF
	#!/bin/sh
	i=\${OMPI_COMM_WORLD_RANK-\$SLURM_PROCID}
	[ "\$i" != "\$(cat /tmp/absent 2>/dev/null)" ] || exit 7
	exec unshare --uts sh -c 'hostname node\$0; exec "\$@"' "\$i" "$PWD/build/eadm/eadm" "\$@" --device "m\$i"
	EOF
	chmod +x "$root/tmp/bin/eadm"
}

# shown LAUNCHER: the lines of docs/fleet.md that use it; MORE are further arguments
shown() {
	awk -v launcher="$1" '/^    /{ block = block substr($0, 5) "\n"; next } block {
		if (block ~ "EADM_MESH_SECRET.*\n" launcher " ") { printf "%s", block; exit }
		block = ""
	}' docs/fleet.md
}

# launched STATUS LAUNCHER SED [COMMAND...]: those lines, edited, by COMMAND
launched() {
	local want=$1 launcher=$2 edit=$3 status
	shift 3

	{ echo "cd /tmp" && shown "$launcher" | sed "$edit; /^$launcher /s/\$/ ${MORE-}/"; } >"$root/tmp/lines"
	cat "$root/tmp/lines"
	[ "$(wc -l <"$root/tmp/lines")" = 4 ] || return
	inside "$@" bash -e /tmp/lines >"$work/said" 2>"$work/notes" </dev/null
	status=$?
	cat "$work/said" "$work/notes"
	echo "status $status"
	[ "$status" = "$want" ]
}

matrix() {
	grep -qx 'node3         3 \. \. \.  ' "$work/said"
}

# scenes LAUNCHER START...: three meshes, each by START STATUS
scenes() {
	local launcher=$1 start=("${@:2}")

	healthy() {
		"${start[@]}" 0 && matrix
	}
	check "$launcher: all hosts reach each other" healthy
	fault() {
		block 2 in "${roce[@]}" && MORE="--json --timeout 20s" "${start[@]}" 1 && same "host node2 in lost" "$(faults)"
		set -- $?
		unblock 2 && return "$1"
	}
	check "$launcher: a fault is named" fault
	absent() {
		echo 2 >"$root/tmp/absent" && ABSENT=1 MORE="--json --wait 30s" "${start[@]}" "${status_absent:-1}" &&
			same "host rank 2 both absent" "$(faults)"
		set -- $?
		rm "$root/tmp/absent" && return "$1"
	}
	check "$launcher: a process that does not start costs only its host" absent
}

# ---- Open MPI: one machine has all slots

by_mpirun() { # STATUS
	local edit="s/ppr:1:node/ppr:$hosts:node --oversubscribe/"

	[ -z "${ABSENT-}" ] || edit+="; s/^mpirun/& --mca orte_abort_on_non_zero_status 0/"
	echo "localhost slots=$hosts" >"$root/tmp/hostfile"
	launched "$1" mpirun "$edit"
}

# ---- Slurm: a daemon for each host

configure_slurm() {
	mkdir -p "$root"/{etc/slurm,tmp/slurm/state} "$root/tmp/slurm"/node{0,1,2,3} && chmod 755 "$root/tmp/slurm" &&
		cat >"$root/etc/slurm/slurm.conf" <<-EOF
		ClusterName=mesh
		SlurmctldHost=$(hostname)(127.0.0.1)
		AuthType=auth/munge
		AuthInfo=socket=/tmp/slurm/munge
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		MessageTimeout=100
		SlurmdTimeout=600
		StateSaveLocation=/tmp/slurm/state
		SlurmdSpoolDir=/tmp/slurm/%n
		SlurmctldPidFile=/tmp/slurm/ctld.pid
		SlurmdPidFile=/tmp/slurm/%n.pid
		SlurmctldLogFile=/tmp/slurm/ctld.log
		SlurmdLogFile=/tmp/slurm/%n.log
		ReturnToService=2
		SelectType=select/linear
		NodeName=node[0-3] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[7000-7003] CPUs=1
		PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
	EOF
	printf 'CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n' >"$root/etc/slurm/cgroup.conf"
	head -c 1024 /dev/urandom >"$root/tmp/slurm/key" && chmod 600 "$root/tmp/slurm/key"
}

daemon() {
	inside "$@" >>"$work/daemons" 2>&1 </dev/null &
	daemons+=($!)
}

start_slurm() {
	local i

	# systemd would make the cgroup of the daemons.
	mkdir -p /sys/fs/cgroup/system.slice
	daemon munged --foreground --force --key-file=/tmp/slurm/key --socket=/tmp/slurm/munge \
		--pid-file=/tmp/slurm/munge.pid --log-file=/tmp/slurm/munge.log --seed-file=/tmp/slurm/seed
	until_true 60 [ -S "$root/tmp/slurm/munge" ] || return
	daemon slurmctld -D
	for ((i = 0; i < hosts; i++)); do
		daemon slurmd -D -N "node$i"
	done
}

all_idle() {
	[ "$(inside sinfo -h -o '%T %D' 2>&1)" = "idle $hosts" ]
}

slurm_serves() {
	until_true 120 all_idle && return
	inside sinfo -N -l
	cat "$work/daemons"
	return 1
}

by_srun() { # STATUS
	launched "$1" srun "" salloc --quiet -N "$hosts"
}

# ---- without them

# started STATUS COMMAND...: by each host with its index
started() {
	local want=$1 i status pids=()
	shift

	for ((i = hosts - 1; i >= 0; i--)); do
		# shellcheck disable=SC2016 # for the inner shell
		JOB_COMPLETION_INDEX=$i unshare --uts sh -c 'hostname "node$0"; exec "$@"' "$i" "$@" --device "m$i" \
			>"$work/rank.$i" 2>"$work/notes.$i" </dev/null &
		pids+=($!)
	done
	wait "${pids[hosts - 1]}"
	status=$?
	wait "${pids[@]}"
	cp "$work/rank.0" "$work/said"
	cat "$work"/rank.? "$work"/notes.?
	echo "status $status"
	[ "$status" = "$want" ] && matrix
}

by_kubernetes() {
	local command

	mapfile -t command < <(python3 -c '
import yaml
job = [doc for doc in yaml.safe_load_all(open("packaging/kubernetes/mesh.yaml")) if doc["kind"] == "Job"][0]
print("\n".join(job["spec"]["template"]["spec"]["containers"][0]["command"]))')
	started 0 "${command[@]}"
}

by_file() {
	(
		unset EADM_MESH_SECRET EADM_MESH_RENDEZVOUS JOB_COMPLETION_INDEX
		printf 'node%s\n' 0 1 2 3 >"$work/hosts.txt"
		(umask 077 && head -c 16 /dev/urandom | base64 >"$work/mesh.key")
		started 0 env -u JOB_COMPLETION_INDEX eadm test mesh --hosts "$work/hosts.txt" --secret "$work/mesh.key"
	)
}

check "a mesh of devices is set up" set_up_mesh
check "the launchers' root is set up" prepare_root
check "the command of the Kubernetes job" by_kubernetes
check "a file of hosts" by_file
# With that option, mpirun takes no status of its processes.
status_absent=0
scenes mpirun by_mpirun
check "Slurm is configured" configure_slurm
daemons=()
start_slurm
check "Slurm serves" slurm_serves
# The greatest one of its processes.
status_absent=7
if all_idle; then
	scenes srun by_srun
fi
kill "${daemons[@]}" 2>/dev/null
wait "${daemons[@]}"
