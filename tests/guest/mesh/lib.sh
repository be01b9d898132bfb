# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# "eadm test mesh" of several processes of one guest, each with an adapter: a part sets $hosts, and
# defines device_of.
work=$(mktemp -d)
options=()
export EADM_MESH_SECRET=0123456789abcdef EADM_MESH_RENDEZVOUS=127.0.0.1

# rank I COMMAND...: as a host with a separate name and one adapter
rank() {
	local i=$1 device
	shift

	device=$(device_of "$i")
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --uts sh -c 'hostname "node$1"; i=$1 device=$2; shift 2; exec "$@" --rank "$i" --device "$device"' \
		sh "$i" "$device" "$@"
}

# tests_run PID: it has an adapter open
tests_run() {
	find "/proc/$1/fd" -lname '/dev/infiniband/uverbs*' 2>/dev/null | grep -q .
}

# over PID...: these processes have ended; kill -0 passes for those that this shell has not reaped.
over() {
	local pid state

	for pid; do
		! read -r _ _ state _ 2>/dev/null <"/proc/$pid/stat" || [ "$state" = Z ] || return
	done
}

# wait_for SECONDS PID...: if one of them does not end, shows where the kernel holds it.
wait_for() {
	local pid

	until_true "$1" over "${@:2}" && return
	for pid in "${@:2}"; do
		over "$pid" || (cd "/proc/$pid" && echo "process $pid: $(tr '\0' ' ' <cmdline)" && cat stack && kill -KILL "$pid")
	done
	ps -e -o pid,stat,time,wchan:32,comm --sort -time | head -n 12
	rdma resource show qp
	dmesg | tail -n 20
	until_true 20 over "${@:2}"
	return 1
}

# run_mesh STATUS ARGUMENTS...: results in $work/said, notes in $work/notes. RANKS is another number
# than that of the hosts that join; END is a signal that rank 5 gets when it tests.
run_mesh() {
	local want=$1 i status pids=() all
	shift

	all=(eadm test mesh --ranks "${RANKS-$hosts}" --timeout "${TIMEOUT-20s}" -n "${COUNT-20}" -s "${SIZE-65536}" --wait "${WAIT-120s}")
	for ((i = 1; i < hosts; i++)); do
		rank "$i" "${all[@]}" >"$work/rank.$i" 2>&1 </dev/null &
		pids+=($!)
	done
	[ -z "${END-}" ] || { until_true 600 tests_run "${pids[4]}" && kill -"$END" "${pids[4]}"; } &
	rank 0 "${all[@]}" "$@" >"$work/said" 2>"$work/notes" </dev/null &
	pids+=($!)
	status=unending
	! wait_for 900 $! || { wait $!; status=$?; }
	[ -z "${END-}" ] || kill -KILL "${pids[4]}"
	wait_for 120 "${pids[@]}" || status=unending
	cat "$work/said" "$work/notes" "$work"/rank.*
	echo "status $status"
	[ "$status" = "$want" ]
}

# faults: "host node3 both lost", one in each line
faults() {
	jq -r '.rows[] | select(.fault) | [.fault, .hosts, .peers, .way, .cause] | map(select(. != null)) | join(" ")' \
		"$work/said"
}

# finds STATUS FAULTS: exactly these; rank 0 has $options
finds() {
	run_mesh "$1" --json "${options[@]}" && same "$2" "$(faults)"
}

# all_rows CONDITION: of each direction
all_rows() {
	jq -e --argjson n $((hosts * (hosts - 1))) "[.rows[] | select(.result == \"ok\" and .p50 > 0 and .min <= .p50 and
		.p50 <= .p99 and $1)] | length == \$n" "$work/said"
}

by_schema() {
	eadm --schema >"$work/schema" && run_mesh 0 --json && python3 - "$work/schema" "$work/said" <<-'PY'
	import json, sys, jsonschema
	schema, said = (json.load(open(path)) for path in sys.argv[1:])
	jsonschema.validate(said, schema)
	PY
}
