# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # guest sets them
# Part of tests/bench/guest: `eadm check` on a host with eight adapters and 1,000 processes, of which
# each tenth has an adapter open, beside a list of the QPs and one of the processes.
CHECK_DEVICES=8
CHECK_PROCESSES=1000

check_host() {
	local i never

	for ((i = 0; i < CHECK_DEVICES; i++)); do
		rxe_add check$i
		ip address add 10.81.$i.1/24 dev check$i
	done
	# Each holder writes a line when it has what it holds, and waits for the end of its input.
	mkfifo "$temp/never"
	exec {never}<>"$temp/never"
	for ((i = 0; i < CHECK_PROCESSES; i++)); do
		if ((i % 10 == 0)); then
			hold -d "rxe_check$((i / 10 % CHECK_DEVICES))" -q 2 -c 1 -m 1 \
				<&"$never" >>"$temp/ready" &
		else
			sleep infinity &
		fi
		holders+=($!)
	done
	until_true 300 check_held
}

check_held() {
	[ "$(wc -l <"$temp/ready")" -ge $((CHECK_PROCESSES / 10)) ]
}

bench_check() {
	local i subjects=() holders=()

	check_host
	export XDG_STATE_HOME=$temp
	single_subject rdma rdma resource show qp
	single_subject ps ps -e -o pid,comm
	single_subject check eadm check
	measure 9 "${subjects[@]}" >"$temp/check"
	report "eadm check / rdma resource show qp and ps -e, $CHECK_DEVICES adapters, CPU" \
		"$(value "$temp/check" check 4)" \
		"$(($(value "$temp/check" rdma 4) + $(value "$temp/check" ps 4)))" us "<= 2"
	kill "${holders[@]}"
	wait "${holders[@]}" || true
	for ((i = 0; i < CHECK_DEVICES; i++)); do
		rxe_delete check$i
	done
}
