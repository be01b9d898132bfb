# SPDX-License-Identifier: GPL-2.0-or-later
# What people see, on captures.
load common

@test "list shows a line for each device" {
	golden list --from "$TWO" list
}

@test "info shows all of a device" {
	golden info --from "$TWO" info cloud_1
}

@test "info shows devices beside each other" {
	golden info-both --from "$TWO" info -o qps,max-qp,caps,node-guid
}

@test "stat shows counters upright" {
	golden stat --from "$TWO" stat
}

@test "stat shows counters of other objects" {
	golden stat-eq --from "$TWO" stat eq
	golden stat-qp-hw --from "$TWO" stat qp --hw
}

@test "stat --live shows what moves, from moment to moment" {
	golden stat-live --from "$MOMENTS" stat --live
	golden stat-live-cq --from "$MOMENTS" stat cq --live --hw
}

@test "stat --live on one moment says what is missing" {
	fails 1 "eadm: stat: $TWO: rates require two snapshots; the capture has one (eadm record -n)" \
		--from "$TWO" stat -l
	fails 1 "eadm: stat: $MOMENTS: rates require two snapshots; --at selects the last one" \
		--from "$MOMENTS" --at '#3' stat -l
}

@test "dump shows each kind of object" {
	for object in dev qp cq srq eq cmdq mr pd ctx counters cmd; do
		golden "dump-$object" --from "$TWO" dump "$object"
	done
}

@test "dump --hw shows the adapter's view" {
	for object in qp cq eq cmdq; do
		golden "dump-$object-hw" --from "$TWO" dump "$object" --hw
	done
}

@test "dump of one object" {
	golden dump-qp-12 --from "$TWO" dump qp 12
	golden dump-process --from "$SICK" dump process -o +cgroup,ipc-lock
	golden dump-process-one --from "$SICK" dump process 4802 -o pid,comm,state
	fails 3 "eadm: dump: process 1: no such object" --from "$SICK" dump process 1
	golden dump-qp-10 --from "$TWO" dump qp 10
	golden dump-qp-10-dev --from "$TWO" dump qp 10 -d cloud_1
}

@test "dump filters by device, process, name and state" {
	golden dump-filter-device --from "$TWO" dump qp --device cloud_1
	golden dump-filter-pid --from "$TWO" dump qp --pid 4711 -o qpn,pid
	golden dump-filter-comm --from "$TWO" dump qp --comm '\[*' -o qpn,comm
	golden dump-filter-state --from "$TWO" dump qp --state err,init -o qpn,state
	golden dump-filter-none --from "$TWO" dump qp --pid 1
}

@test "columns are chosen and added" {
	golden columns-chosen --from "$TWO" dump qp -o qpn,peer-addr,peer_port
	golden columns-added --from "$TWO" dump qp -o +state-age,sq-depth
	golden columns-wide --from "$TWO" dump cq -o wide
	golden columns-secret --from "$TWO" dump mr -o mrn,lkey
}

@test "a chosen column is shown even if it is empty" {
	golden columns-empty --from "$TWO" dump qp -o qpn,events
}

@test "trace shows commands and filters them" {
	golden trace --from "$TWO" trace
	golden trace-slow --from "$TWO" trace --slower-than 10ms
	golden trace-op --from "$TWO" trace --opcode create-qp -o seq,op
	golden trace-state --from "$DEAD" trace --state timeout,aborted
}

@test "ver tells the versions of the recorded machine" {
	run --separate-stderr eadm --from "$TWO" ver
	[ "$status" = 0 ]
	[[ $output == *"recorded by eadm 0.1.0"*"kernel           6.1.0-test"* ]]
	[[ $output == *"module erdma     0.1.0"*"module eadm      loaded"* ]]
	[[ $output == *"firmware cloud_1 0.2.0"* ]]
}

@test "what is odd is shown as it is" {
	golden odd-list --from "$DEAD" list
	golden odd-qp --from "$DEAD" dump qp
	golden odd-cmdq --from "$DEAD" dump cmdq
	golden odd-eq --from "$DEAD" dump eq
}

@test "a capture of the other byte order gives the same" {
	for command in list stat "dump qp --hw" "dump mr" trace ver; do
		# shellcheck disable=SC2086
		diff <(eadm --from "$TWO" $command) \
			<(eadm --from "$SYNTH/two-be.pcapng" $command)
	done
}

@test "a table is not cut where there is no terminal" {
	COLUMNS=20 golden list --from "$TWO" list
}

@test "a terminal gets colours, unless they are not wanted" {
	tty() {
		TERM=xterm script -qec "$EADM --from $DEAD dump cmdq $1" /dev/null </dev/null
	}
	[[ $(tty "") == *$'\e['* ]]
	[[ $(tty --no-color) != *$'\e['* ]]
	[[ $(NO_COLOR=1 tty "") != *$'\e['* ]]
	[[ $(eadm --from "$DEAD" dump cmdq) != *$'\e['* ]]
}

@test "a captured pipe is read as well as a file" {
	diff <(eadm --from "$TWO" list) <(eadm --from - list <"$TWO")
	# A pipe can't be read twice.
	# shellcheck disable=SC2002
	diff <(eadm --from "$TWO" list) <(cat "$TWO" | eadm --from - list)
}

# columns_of FILE: how many columns are apart in all of its lines.
columns_of() {
	awk '{
		for (i = 1; i <= length; i++)
			if (substr($0, i, 1) != " ")
				used[i] = 1
		if (length > width)
			width = length
	} END {
		for (i = 1; i <= width; i++)
			n += used[i] && !used[i - 1]
		print n
	}' "$1"
}

@test "twenty thousand rows keep their columns, in a pipe and on a terminal" {
	many=$BATS_TEST_TMPDIR/many.pcapng
	"$REPO/tests/captures/many.py" 20000 "$many"
	eadm --from "$many" dump qp | cat >"$BATS_TEST_TMPDIR/pipe"
	TERM=dumb script -qec "stty cols 200 rows 50; $EADM --from $many dump qp" /dev/null </dev/null |
		tr -d '\r' >"$BATS_TEST_TMPDIR/terminal"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/pipe")" = 20001 ]
	[ "$(grep -c DEVICE "$BATS_TEST_TMPDIR/pipe")" = 1 ]
	[ "$(columns_of "$BATS_TEST_TMPDIR/pipe")" = "$(awk 'NR == 1 { print NF }' "$BATS_TEST_TMPDIR/pipe")" ]
	cmp "$BATS_TEST_TMPDIR/pipe" "$BATS_TEST_TMPDIR/terminal"
}

@test "a terminal that is wide enough shows the same as a file" {
	for command in list info stat "stat eq" "dump qp --hw" "dump mr" trace; do
		diff <(eadm --from "$TWO" $command) \
			<(TERM=dumb script -qec "stty cols 400 rows 50; $EADM --from $TWO $command" \
				/dev/null </dev/null | tr -d '\r')
	done
}

@test "list and info show by what a device is reached, a line for each address" {
	eadm --from "$TWO" list | grep -qE "^cloud_0 .* 10.77.0.1/24 fe80::5054:ff:feed:a000/64$"
	run eadm --from "$TWO" info cloud_1
	[[ $output == *"addresses      10.77.1.1/24 "*"
               fe80::5054:ff:feed:a001/64 "*"link-speed     25Gbit/s "*"pcie-width     8 "*"
gids           0=fe80::5054:ff:feed:a001 "*"
               1=::ffff:10.77.1.1 "*"gid-index      1 "*"gid-others     0=same-link "* ]]
	[ "$(eadm --from "$TWO" info --json | jq -c '.rows[0] | [.link_speed, .pcie_width, .pcie_max_width]')" = \
		'[25000000000,8,16]' ]
	# Not where nobody asks for it.
	[ "$(eadm --from "$TWO" dump dev --json | jq -c '.rows[0].addresses')" = null ]
}

@test "dump gid shows the GIDs of each port, with protocol, interface and use" {
	run eadm --from "$TWO" dump gid -d cloud_0
	[ "${lines[0]}" = "DEVICE  PORT INDEX GID                     TYPE    NETDEV NETNS SCOPE      USABLE" ]
	[ "${lines[2]}" = "cloud_0    1     1 ::ffff:10.77.0.1        RoCE v2 eth0   this  ipv4       best" ]
	[ "$(eadm --from "$TWO" dump gid -d cloud_1 --json | jq -c '.rows[] | [.port, .gid_index, .gid, .type, .netdev,
		.namespace, .scope, .usable]')" = \
		'[1,0,"fe80::5054:ff:feed:a001","RoCE v2","eth1","this","link-local","same-link"]
[1,1,"::ffff:10.77.1.1","RoCE v2","eth1","this","ipv4","best"]' ]
	[ "$(eadm --from "$TWO" dump gid --json | jq '.rows | length')" = 4 ]
}

@test "dump port shows each port, and LIDs only with InfiniBand" {
	PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR/ports" <<-'END'
	import sys
	sys.dont_write_bytecode = True
	from nlcap import Capture
	cap = Capture()
	cap.snapshot(0)
	cap.family(False)
	cap.rdma_devices([(0, "mlx4_0", 2)])
	me = {"dev-index": 0, "dev-name": "mlx4_0"}
	cap.local("port", {**me, "port": 1, "state": "active", "netdev": "ens1"},
	          {**me, "port": 2, "state": "init", "lid": 0, "sm-lid": 0})
	cap.write(sys.argv[1])
	END
	run eadm --from "$BATS_TEST_TMPDIR/ports" dump port
	[ "$output" = "DEVICE PORT STATE  NETDEV LID SMLID
mlx4_0    1 active ens1     -     -
mlx4_0    2 init   -        0     0" ]
}

# many_qps: 5300 QPs in $BATS_TEST_TMPDIR/many, of which number 5210 has failed; the last one has no QPN.
many_qps() {
	PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR/many" <<-'END'
	import sys
	sys.dont_write_bytecode = True
	from synth import DEVS, Capture, device, qp
	cap = Capture()
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices(DEVS[:1])
	cap.dump("dev", [device(0)])
	rows = []
	for n in range(10, 5310):
	    row = qp(0, n)
	    if n == 5210:
	        row.update({"state": "err", "first-event": "qp-fatal", "first-cause": "retries-exceeded"})
	    else:
	        del row["peer-addr"], row["peer-port"]
	    rows.append(row)
	del rows[-1]["qpn"]
	cap.dump("qp", rows)
	cap.write(sys.argv[1])
	END
}

@test "a column that only later rows of a long table need gets new headings below" {
	many_qps
	run eadm --from "$BATS_TEST_TMPDIR/many" dump qp
	[ "${#lines[@]}" = 5302 ]
	[[ ${lines[0]} == "DEVICE "*" QPN TYPE "*" STATE "*" AGE" ]]
	[[ ${lines[0]} != *" PEER "* && ${lines[0]} != *CAUSE* && ${lines[0]} != *RESID* ]]
	[[ ${lines[5000]} == "cloud_0 "*" 5009 "* ]]
	[[ ${lines[5001]} == "DEVICE "*" PEER "*" FIRSTEVENT "*" CAUSE "*" RESID" ]]
	[[ ${lines[5202]} == "cloud_0 5210 "*" err "*" 10.77.1.1 "*" qp-fatal "*" retries-exceeded "*" 5210" ]]
	[[ ${lines[5301]} == "cloud_0    - "*" 5309" ]]
	# Each of both tables is aligned.
	[ "$(printf '%s\n' "${lines[@]::5001}" | awk '{ print length }' | sort -u | wc -l)" = 1 ]
	[ "$(printf '%s\n' "${lines[@]:5001}" | awk '{ print length }' | sort -u | wc -l)" = 1 ]
	[ "$(eadm --from "$BATS_TEST_TMPDIR/many" dump qp | grep -c '^$')" = 1 ]
	run eadm --from "$BATS_TEST_TMPDIR/many" dump qp -o qpn,cause
	[ "${#lines[@]}" = 5301 ]
	[ "$(eadm --from "$BATS_TEST_TMPDIR/many" dump qp -j | jq -c '[.rows[] | select(.first_cause) | .qpn]')" = '[5210]' ]
}

@test "a terminal that is too narrow cuts names, not numbers" {
	run bash -c "TERM=dumb script -qec 'stty cols 80 rows 50; $EADM --from $TWO info cloud_0' \
		/dev/null </dev/null | tr -d '\r'"
	[ -z "$(echo "$output" | grep -E '^.{81}')" ]
	[[ $output == *"max-mr-size    1TiB"* ]]
}

# at COLUMNS COMMAND: what a terminal that wide shows.
at() {
	TERM=dumb script -qec "stty cols $1 rows 50; $EADM --from ${3-$TWO} $2" /dev/null </dev/null | tr -d '\r'
}

@test "columns for which a terminal is too narrow come below, with what rows are about" {
	for command in "dump qp --hw" "dump mr" trace "dump eq --hw" "dump cq --hw" list stat "stat eq"; do
		for columns in 80 100 60; do
			run at $columns "$command"
			[ "$(echo "$output" | grep -cE "^.{$((columns + 1))}")" = 0 ] || { echo "$columns $command: $output"; false; }
		done
	done
	# Nothing is lost or cut, and each part begins alike.
	at 80 "dump qp --hw" >"$BATS_TEST_TMPDIR/folded"
	[ "$(awk 'NF { print $1, $2 }' "$BATS_TEST_TMPDIR/folded" | uniq -c | wc -l)" = 12 ]
	[ "$(grep -c '^DEVICE  QPN ' "$BATS_TEST_TMPDIR/folded")" = 2 ]
	diff <(awk 'NF' "$BATS_TEST_TMPDIR/folded" | tr -s ' ' '\n' | sort -u) \
		<(eadm --from "$TWO" dump qp --hw | tr -s ' ' '\n' | sort -u)
	# What is cut is marked.
	at 75 list | grep -qE '^cloud_0 .* 10.77.0.1/24 f~$'
}

@test "counters of many devices have a line for each device" {
	local eight=$BATS_TEST_TMPDIR/eight nine=$BATS_TEST_TMPDIR/nine

	"$REPO/tests/captures/devices.py" "$eight" 8,8 rocep101s0f{}
	"$REPO/tests/captures/devices.py" "$nine" 9,9 rocep101s0f{}
	# Side by side while they fit.
	at 160 stat "$eight" | grep -qE '^COUNTER +UNIT +rocep101s0f0/1 .*rocep101s0f7/1$'
	at 80 stat "$eight" >"$BATS_TEST_TMPDIR/narrow"
	[ "$(grep -cE '^.{81}' "$BATS_TEST_TMPDIR/narrow")" = 0 ]
	[ "$(head -1 "$BATS_TEST_TMPDIR/narrow")" = "DEVICE/PORT    tx-requests tx-packets tx-bytes tx-disabled-drops" ]
	# Nothing is lost, and each part begins with the device.
	diff <(tr -s ' ' '\n' <"$BATS_TEST_TMPDIR/narrow" | grep -vxE 'DEVICE/PORT|' | sort -u) \
		<(eadm --from "$eight" stat | tr -s ' ' '\n' |
			grep -vxE 'COUNTER|UNIT|requests|packets|bytes|commands|objects' | sort -u)
	[ "$(grep -c '^rocep101s0f7/1 ' "$BATS_TEST_TMPDIR/narrow")" = "$(grep -c ^DEVICE/PORT "$BATS_TEST_TMPDIR/narrow")" ]
	[ "$(at 80 "stat --live" "$eight" | sed -n '2,3p')" = "PER SECOND     tx-bytes
rocep101s0f0/1     1.0k" ]
	# Without a terminal, their number decides.
	eadm --from "$eight" stat | grep -qE '^COUNTER +UNIT +rocep101s0f0/1 .*rocep101s0f7/1$'
	[ "$(eadm --from "$nine" stat | grep -c '^rocep101s0f[0-8]/1 ')" = 9 ]
	[ "$(eadm --from "$nine" stat --json | jq '.rows | length')" = 9 ]
	# Names, too, stay within the terminal.
	for command in info list "list -o all" "dump qp" "top -b" check diagnose; do
		run at 80 "$command" "$eight"
		[ "$(grep -vE '^eadm: ' <<<"$output" | grep -cE '^.{81}')" = 0 ] || { echo "$command: $output"; false; }
	done
	[[ $(at 80 info "$eight") == *"FIELD        rocep101s0f0"*"FIELD        rocep101s0f7"* ]]
}

@test "a terminal that is too narrow cuts no device, address or version" {
	for command in list "dump qp"; do
		run bash -c "TERM=dumb script -qec 'stty cols 60 rows 24; $EADM --from $TWO $command' \
			/dev/null </dev/null | tr -d '\r'"
		[ "$(grep -c '^cloud_[01] ' <<<"$output")" -ge 2 ]
		[[ $output == *0001:00:01.0*0.2.0* || $output == *2001:db8::1* ]]
	done
}
