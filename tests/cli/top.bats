# SPDX-License-Identifier: GPL-2.0-or-later
# The terminal view, on a recording: as text, as JSON, and on a terminal.
load common

# After it, the pane has a cat (see start).
ended() {
	[ "$(</proc/"$1"/comm)" = cat ]
}

# Of a program that ends while its terminal hangs up, the hangup's SIGCONT removes the
# SIGSTOP that the search for leaks waits for: top ends before its terminal.
close_screen() {
	local pane child

	[ -n "${SOCKET-}" ] || return 0
	if pane=$(tmux -S "$SOCKET" display-message -p '#{pane_pid}' 2>/dev/null); then
		for child in $(<"/proc/$pane/task/$pane/children"); do
			kill "$child" 2>/dev/null || true
		done
		until_true 30 ended "$pane"
		tmux -S "$SOCKET" kill-server
	fi
	SOCKET=
}

teardown() {
	close_screen
}

@test "top in batch mode replays a recording" {
	golden top-batch --from "$BUSY" top --batch --rows 3
	golden top-one --from "$TWO" top -b -n 1
	[ "$(eadm --from "$BUSY" top -b -n 2 | grep -c '^--')" = 2 ]
	[ "$(eadm --from "$BUSY" --at '#3' top -b | grep -c '^--')" = 1 ]
}

@test "top orders and filters" {
	qpns() {
		eadm --from "$BUSY" top --json "$@" | jq -c 'select(.object == "top-qp") |
			[.rows[].qpn][:3]' | tail -1
	}
	[ "$(qpns)" = "[49,48,47]" ]
	[ "$(qpns --sort qpn)" = "[10,11,12]" ]
	[ "$(qpns --sort comm)" = "[12,15,18]" ]
	[ "$(qpns --pid 4001)" = "[47,44,41]" ]
	[ "$(qpns --comm 'ib_*')" = "[49,46,43]" ]
	[ "$(qpns --peer 9.9.9.9)" = "[]" ]
}

@test "top in JSON is as the schema says, and so are its rates" {
	eadm --from "$BUSY" top --json >"$BATS_TEST_TMPDIR/top"
	eadm --from "$TWO" top --json >>"$BATS_TEST_TMPDIR/top"
	eadm --from "$RXE" top --json >>"$BATS_TEST_TMPDIR/top" 2>/dev/null
	"$REPO/tests/cli/validate" <"$BATS_TEST_TMPDIR/top"
	[ "$(eadm --from "$BUSY" top --json | jq -c 'select(.object == "top-qp") |
		.rows[0] | select(.qpn == 49) | [.sq_per_s, .rq_per_s] | map(. + 0)')" = "[1900,5]
[1900,5]" ]
	[ "$(eadm --from "$BUSY" top --json | jq -c 'select(.object == "top-device") |
		.rows[0].tx_bytes_per_s + 0' | tail -1)" = 1000000 ]
}

@test "top shows what processes are on" {
	golden top-processes --from "$JOBS" top --processes --batch
	on() {
		eadm --from "$JOBS" top --processes --json "$@" 2>/dev/null | jq -r 'select(.object == "top-process") |
			.rows | map("\(.comm)=\(.on)") | join(" ")' | tail -1
	}
	# closing: the bytes of connections that closed are not known; static: nothing of its TCP is.
	[ "$(on --sort pid)" = "counted=rdma posting=rdma both=both train=tcp resting=idle partly=rdma static=null closing=null" ]
	# Before there are rates, a connected QP counts.
	[ "$(on --sort pid -n 1)" = "counted=rdma posting=rdma both=rdma train=null resting=rdma partly=rdma static=null closing=null" ]
	[ "$(on --pid 5003)" = "train=tcp" ]
	[ "$(on --comm 'p*')" = "posting=rdma partly=rdma" ]
	[ "$(on --sort qps | cut -d ' ' -f 1,2)" = "counted=rdma partly=rdma" ]
}

@test "top shows bytes of a process by RDMA only if all its QPs are counted" {
	eadm --from "$JOBS" top --processes --json >"$BATS_TEST_TMPDIR/top"
	[ "$(jq -c 'select(.object == "top-process") | .rows[] | select(has("tx_bytes_per_s")) |
		[.comm, .tx_bytes_per_s + 0, .rx_bytes_per_s + 0]' "$BATS_TEST_TMPDIR/top" | sort -u)" = '["counted",2000000,1000000]
["resting",0,0]' ]
	# Once, for three refreshes.
	[ "$(jq -c 'select(.notes) | [.object, .notes[]]' "$BATS_TEST_TMPDIR/top")" = '["top-process",{"what":"processes","why":"3 that may use RDMA cannot be read (run as root)"},{"what":"TXB/s and RXB/s","why":"unknown without counters bound to QPs (rdma statistic qp set)"}]' ]
	"$REPO/tests/cli/validate" <"$BATS_TEST_TMPDIR/top"
	# A capture without users of libibverbs says nothing of TCP, and one of a stock driver nothing of bytes.
	eadm --from "$BUSY" top --processes --json 2>/dev/null >"$BATS_TEST_TMPDIR/top"
	eadm --from "$RXE" top --processes --json 2>/dev/null >>"$BATS_TEST_TMPDIR/top"
	"$REPO/tests/cli/validate" <"$BATS_TEST_TMPDIR/top"
	[ "$(jq -c 'select(.object == "top-process") | .rows[] |
		select(has("tx_bytes_per_s") or has("tcp_tx_bytes_per_s"))' "$BATS_TEST_TMPDIR/top")" = "" ]
}

@test "top reports what it is not permitted to read" {
	local file=$BATS_TEST_TMPDIR/refused

	python3 - "$REPO/tests/captures" "$file" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import DEVS, SEC, Capture, counters, device, qp
	cap = Capture()
	for number in range(2):
	    cap.time = (1700000000 + number) * SEC
	    cap.snapshot(number)
	    cap.family()
	    cap.rdma_devices(DEVS[:1])
	    cap.dump("dev", [device(0)])
	    if number:
	        cap.dump("counters", [counters(0)], hw=True)
	        cap.dump("qp", [qp(0, 10)])
	        continue
	    for obj in "counters", "cmdq", "qp":
	        cap.refused(obj, -1)
	    cap.refused("counters", -1, hw=True)
	cap.write(sys.argv[2])
	EOF
	run --separate-stderr eadm --from "$file" top -b
	[ "$status" = 6 ]
	[[ $output == "-- 22:13:20  1 device, queue pairs unknown"*"-- 22:13:21  1 device, 1 queue pair"* ]]
	[ "$stderr" = "eadm: top: counters: Operation not permitted
eadm: top: command queues: Operation not permitted
eadm: top: queue pairs: Operation not permitted" ]
	run --separate-stderr eadm --from "$file" top -j -n 1
	[ "$status" = 6 ]
	[ "$stderr" = "" ]
	"$REPO/tests/cli/validate" <<<"$output"
	[ "$(jq -c '[.object, [.notes[].what]]' <<<"$output")" = '["top-device",["counters","command queues"]]
["top-qp",["queue pairs"]]' ]
	# Objects that do not exist are no missing part.
	run --separate-stderr eadm --from "$SYNTH/foreign.pcapng" top -b
	[ "$status" = 0 ]
	FROM=$file start -i 300s
	on_screen "QPs unknown"
	screen | grep -qx "queue pairs unknown"
	screen | tail -1 | grep -q "queue pairs: Operation not permitted; counters: Operation not permitted"
	key q
	on_screen "status 6"
}

@test "wrong uses of top" {
	fails 2 "eadm: top: --peer: cannot be used with --processes" --from "$JOBS" top --processes -b --peer 10.0.0.1
	fails 2 "eadm: top: --cgroup: cannot be used with --processes" --from "$JOBS" top --processes -b --cgroup 5
	fails 2 "eadm: top: mrs: unknown order (rate, queued, last, age, qpn, state, pid, comm, peer)" --from "$BUSY" top -b --sort mrs
	fails 2 "eadm: top: queued: unknown order (rate, qps, mrs, pid, comm)" --from "$JOBS" top -b --processes --sort queued
	fails 2 "eadm: top: screen: not a terminal (use --batch)" --from "$BUSY" top
	fails 2 "eadm: top: rat: unknown order (did you mean 'rate'?)" top --sort rat
	fails 2 "eadm: top: --rows: requires --batch" top --rows 3
	fails 2 "eadm: top: --output: top has fixed columns" top -o qpn
	fails 2 "eadm: top: --interval: must be at least 10ms" top -b -i 1ms
	fails 2 "eadm: top: --count: must be greater than 0" top -b -n 0
	fails 3 "eadm: top: nosuch: no such RDMA device" --from "$BUSY" -d nosuch top -b
	fails 3 "eadm: top: cloud0: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$TWO" -d cloud0 top -b
	run bash -c "TERM=nosuch script -qec '$EADM --from $BUSY top' /dev/null </dev/null"
	[[ $output == *"unknown terminal (set TERM, or use --batch)"* ]]
}

# ---- on a terminal

screen() {
	tmux -S "$SOCKET" capture-pane -p
}

shows() {
	screen | grep -qF -- "$1"
}

# on_screen WORDS: comes within a time that is plenty.
on_screen() {
	until_true 30 shows "$1" || { screen; return 1; }
}

off_screen() {
	local i

	for ((i = 0; i < 300; i++)); do
		screen | grep -qF -- "$1" || return 0
		sleep 0.1
	done
	screen
	return 1
}

key() {
	tmux -S "$SOCKET" send-keys "$@"
}

start() {
	close_screen
	# Of its own: the server of an earlier one may still be on its way out.
	SOCKET=$(mktemp -u "$BATS_TEST_TMPDIR/tmux.XXXXXX")
	env -u TMUX TERM=xterm-256color tmux -f /dev/null -S "$SOCKET" new-session -d -x 80 -y 24 \
		"TZ=UTC $EADM --from ${FROM:-$BUSY} top $*; echo status \$?; exec cat"
	tmux -S "$SOCKET" set-option -g status off
	tmux -S "$SOCKET" resize-window -x 80 -y 24
}

@test "top at 80x24: processes" {
	FROM=$JOBS start -i 100ms --processes
	on_screen END
	on_screen "eadm top 22:13:22  node7  8 processes  by rate"
	[ "$(screen | grep -cE '^.{81}')" = 0 ]
	screen | grep -E "^5003 train +tcp "
	screen | grep -E "^5000 counted +rdma +cloud_0 +2 +1 +2 +2.0M +1.0M "
	screen | tail -1 | grep -q "q quit  h help"
	key s
	on_screen "by QPS"
	key s s s
	on_screen "by COMM"
	key f
	key t c p Enter
	on_screen "like 'tcp': 1"
	[ "$(screen | grep -c rdma)" = 0 ]
	key f
	key x y z Enter
	on_screen "no process matches"
	key h
	on_screen "ON is the transport of a process"
}

@test "top at 80x24: rows, keys, help, quit" {
	start -i 100ms
	on_screen END
	on_screen "eadm top 22:13:22  node7  40 QPs"
	[ "$(screen | wc -l)" = 24 ]
	[ "$(screen | grep -cE '^.{81}')" = 0 ]
	screen | sed -n 2p | grep -q "^DEVICE  STATE PORT .* QPS"
	screen | grep -E "^cloud_0 +49 rts +1.9k +5.0 4000 ib_write_bw +10.77.1.1"
	screen | tail -1 | grep -q "q quit  h help"

	key s
	on_screen "by QUEUED"
	key S S
	on_screen "by PEER"
	key s r
	on_screen "by rate, reversed"
	key r

	key f
	on_screen "like: _"
	key rpin g x BSpace Enter
	on_screen "like 'rping': 13"
	[ "$(screen | grep -c "^cloud_0 .*ib_write_bw")" = 0 ]
	key / e r r Enter
	on_screen "no queue pair matches"
	key c
	on_screen "cloud_0  49 rts"

	key Down Down
	off_screen "cloud_0  48 rts"
	on_screen "cloud_0  47 rts"
	key G
	on_screen "cloud_0  29 rts"
	key g
	on_screen "cloud_0  49 rts"

	key h
	on_screen "show only QPs that match"
	[ "$(screen | grep -cE '^.{81}')" = 0 ]
	key q
	on_screen "cloud_0  49 rts"
	key q
	on_screen "status 0"
}

@test "top draws what devices send and receive, in the characters of its terminal" {
	# Once at an equal rate, and nothing before that is known.
	start -i 100ms
	on_screen END
	screen | sed -n 4p | grep -xE "cloud_0     tx   0.01 Gbit/s +██  rx   0.00 Gbit/s +▁▁"
	LC_ALL=C start -i 100ms
	on_screen END
	screen | sed -n 4p | grep -xE "cloud_0     tx   0.01 Gbit/s +##  rx   0.00 Gbit/s +__"
	# No room for it beside the QPs.
	tmux -S "$SOCKET" resize-window -x 50 -y 24
	off_screen Gbit/s
}

@test "top follows the size of its terminal" {
	start -i 100ms
	on_screen END
	tmux -S "$SOCKET" resize-window -x 120 -y 40
	on_screen "AGE"
	[ "$(screen | wc -l)" = 40 ]
	screen | tail -1 | grep -q "q quit"
	[ "$(screen | grep -c "^cloud_0 ")" = 35 ]
	on_screen Gbit/s
	tmux -S "$SOCKET" resize-window -x 40 -y 10
	on_screen "q quit  h help  space freeze"
	[ "$(screen | grep -cE '^.{41}')" = 0 ]
	tmux -S "$SOCKET" resize-window -x 15 -y 4
	on_screen "too small"
	tmux -S "$SOCKET" resize-window -x 80 -y 24
	on_screen "q quit  h help"
	key C-c
	on_screen "status 0"
}

@test "top leaves the terminal as it was when a signal ends it" {
	local signal shell

	for signal in QUIT HUP; do
		start
		on_screen "q quit"
		shell=$(tmux -S "$SOCKET" display-message -p '#{pane_pid}')
		kill -s "$signal" "$(<"/proc/$shell/task/$shell/children")"
		on_screen "status 0"
	done
}

@test "top ends with its terminal, even if SIGHUP is ignored" {
	# Five minutes at the default interval.
	"$REPO/tests/captures/devices.py" "$BATS_TEST_TMPDIR/long" "$(seq -s, 300 | sed 's/[0-9]\+/1/g')"
	timeout 60 /usr/bin/python3 - "$EADM" --from "$BATS_TEST_TMPDIR/long" top <<-'END'
	import os, pty, signal, sys
	main, side = pty.openpty()
	pid = os.fork()
	if not pid:
	    signal.signal(signal.SIGHUP, signal.SIG_IGN)
	    os.close(main)
	    os.dup2(side, 0)
	    os.dup2(side, 1)
	    os.environ["TERM"] = "xterm"
	    os.execv(sys.argv[1], sys.argv[1:])
	os.close(side)
	os.read(main, 1)  # the screen is open
	os.close(main)
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

@test "top stands still while it is frozen" {
	start -i 16s
	on_screen "eadm top 22:13:20"
	key Space
	on_screen FROZEN
	before=$(screen)
	key +
	on_screen "every 32s"
	key -
	on_screen "every 16s"
	[ "$(screen)" = "$before" ]
	key - - - - - -
	on_screen "every 250ms"
	key Space
	on_screen "eadm top 22:13:22"
	on_screen END
	key q
	on_screen "status 0"
}

@test "top shows its interval, and how often it reads many QPs" {
	start -i 500ms
	on_screen "+/- every 500ms"
	BUSY=$BATS_TEST_TMPDIR/many.pcapng
	"$REPO/tests/captures/many.py" 20000 "$BUSY"
	# A hundredth of a second of CPU time allows one scan in 2 s: rounded up to refreshes.
	start -i 300ms
	on_screen "20000 QPs (read every "
	screen | grep -oP 'read every \K[0-9.]+(?=s\))' | awk '{ n = $1 / 0.3; exit n < 2 || n % 1 > 0.001 && n % 1 < 0.999 }'
	screen | grep -oP 'read every \K[0-9.]+(?=s\))' | grep -q .
}

@test "top shows all devices" {
	"$REPO/tests/captures/devices.py" "$BATS_TEST_TMPDIR/many" 66
	eadm --from "$BATS_TEST_TMPDIR/many" top -b -n 1 --rows 100 >"$BATS_TEST_TMPDIR/top"
	grep -q '^-- .*  66 devices, 66 queue pairs$' "$BATS_TEST_TMPDIR/top"
	[ "$(grep -cE '^cloud_[0-9]+ +ready ' "$BATS_TEST_TMPDIR/top")" = 66 ]
	[ "$(grep -cE '^cloud_[0-9]+ +17 rts ' "$BATS_TEST_TMPDIR/top")" = 66 ]
	[ "$(eadm --from "$BATS_TEST_TMPDIR/many" top --json | jq -c '[.rows | length]' | head -1)" = "[66]" ]
	BUSY=$BATS_TEST_TMPDIR/many
	start
	on_screen "... 58 more devices"
}

@test "top goes on without a device, and with the next one" {
	BUSY=$BATS_TEST_TMPDIR/gone
	"$REPO/tests/captures/devices.py" "$BUSY" 1,0,1,1
	[ "$(eadm --from "$BUSY" top -b | grep ^--)" = "-- 22:13:20  1 device, 1 queue pair
-- 22:13:21  no device
-- 22:13:22  1 device, 1 queue pair
-- 22:13:23  1 device, 1 queue pair" ]
	[ "$(eadm --from "$BUSY" top -b -d cloud_0 | grep -c '  1 device')" = 3 ]
	# A device that is back has no rates yet.
	[ "$(eadm --from "$BUSY" top --json | jq -c 'select(.object == "top-device") |
		.rows | map(.tx_bytes_per_s | if . then . + 0 else . end)')" = "[null]
[]
[null]
[1000]" ]
	eadm --from "$BUSY" top --json | "$REPO/tests/cli/validate"
	"$REPO/tests/captures/devices.py" "$BUSY" 1,0
	start
	on_screen END
	on_screen "no device"
	screen | grep -q "no queue pairs"
	close_screen
	# There never was one.
	"$REPO/tests/captures/devices.py" "$BUSY" 0,0
	run --separate-stderr eadm --from "$BUSY" top -b
	[ "$status" = 3 ]
	[ "$stderr" = "eadm: top: devices: no RDMA device found" ]
}

@test "top does not compare objects that used the same number in turn" {
	local file=$BATS_TEST_TMPDIR/turns

	python3 - "$REPO/tests/captures" "$file" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	from synth import SEC, Capture, counters, device, qp
	cap = Capture()
	# The device of index 0 is replaced before the second refresh, QPs before the last one.
	for number in range(4):
	    cap.time = (1700000000 + number) * SEC
	    cap.snapshot(number)
	    cap.family()
	    first, last = number == 0, number == 3
	    name = {"dev-name": "cloud_0" if first else "rxe9"}
	    age = 3600 if first else 50 + number
	    cap.rdma_devices([(0, name["dev-name"], 1)])
	    cap.dump("dev", [{**device(0), **name}])
	    cap.dump("counters", [counters(0, **name, **{"tx-bytes": 10**6 if first else 10**12 + 1000 * number})],
	             hw=True)
	    row = lambda qpn, **more: qp(0, qpn, **name, **{  # pylint: disable=cell-var-from-loop
	        "age": age * SEC, "state-age": age * SEC, "sq-pi": 5 if last else 60000, **more})
	    cap.dump("qp", [row(10, **{"sq-pi": 100 * number}),
	                    row(11, **{"res-id": 95 if last else 11}),
	                    row(12, **{"age": SEC // 2 if last else age * SEC}),
	                    row(13, **{"state-age": SEC // 2 if last else age * SEC})])
	cap.write(sys.argv[2])
	EOF
	rates() { # OBJECT KEY
		eadm --from "$file" top --json --sort qpn | jq -c "select(.object == \"$1\") |
			.rows | map(.$2 | if . then . + 0 else . end)"
	}
	[ "$(rates top-device tx_bytes_per_s)" = "[null]
[null]
[1000]
[1000]" ]
	[ "$(rates top-qp sq_per_s)" = "[null,null,null,null]
[null,null,null,null]
[100,0,0,0]
[100,null,null,null]" ]
}

@test "top of a capture that calls its host something endless" {
	BUSY=$BATS_TEST_TMPDIR/long.pcapng
	PYTHONPATH=$REPO/tests/captures /usr/bin/python3 -B - "$BUSY" <<-'END'
	import sys
	import nlcap
	import synth
	cap = nlcap.Capture()
	cap.local("machine", {"host": "A" * 60000})
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices([(0, "cloud_0", 1)])
	cap.dump("dev", [synth.device(0)])
	cap.dump("qp", [synth.qp(0, 10)])
	cap.write(sys.argv[1])
	END
	start
	on_screen "eadm top 22:13:20  AAAA"
	key q
	on_screen "status 0"
}
