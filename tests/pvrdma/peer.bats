# SPDX-License-Identifier: GPL-2.0-or-later
# Both sides of an adapter that is a program: what "eadm --peer" shows of it, while a
# player (player.c) is VMM and driver of two guests; and each fault knob, by its verdict.
bats_require_minimum_version 1.5.0
REPO=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
. "$REPO/tests/lib/wait.sh"

setup() {
	PROGRAM=${EADM_PVRDMA:-$REPO/build/pvrdma/eadm-pvrdma}
	PLAYER=${EADM_PLAYER:-$REPO/build/tests/pvrdma/pvrdma-player}
	EADM=${EADM:-$REPO/build/eadm/eadm}
	export LC_ALL=C.UTF-8 TZ=UTC
	cd "$BATS_TEST_TMPDIR"
	serve 0.sock 1.sock,mac=52:54:00:00:00:01
}

serve() { # ARG...
	: >log
	"$PROGRAM" --control ctl --name lab "$@" 2>log &
	server=$!
	until_true 20 grep -q 'listening on' log
}

teardown() {
	local pid

	for pid in ${player-} ${others[@]+"${others[@]}"} "$server"; do
		kill "$pid" 2>/dev/null || :
		# A test may have failed while it was stopped.
		kill -CONT "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	# In a build with checks: also what the program leaves at its end.
	run ! grep -A20 'Sanitizer\|runtime error' log
}

peer() {
	"$EADM" --peer ctl "$@"
}

rows() { # ARG...: the rows as JSON
	peer "$@" --json 2>/dev/null | jq -c .rows
}

# row FILTER ARG...: what jq makes of the rows
row() {
	local filter=$1
	shift

	rows "$@" | jq -c "$filter"
}

# Two guests, of which 0 sends to 1.
play() {
	coproc "$PLAYER" 0.sock 1.sock
	player=$COPROC_PID to=${COPROC[1]} from=${COPROC[0]}
	answer 10 ready
	ask ok connect
}

answer() { # LIMIT TEXT
	local line=

	read -r -t "$1" -u "$from" line || :
	[ "$line" = "$2" ] || { echo "the player says '$line', not '$2'"; return 1; }
}

ask() { # ANSWER WORD...
	local want=$1
	shift

	echo "$*" >&"$to"
	answer 20 "$want"
}

tell() { # WORD...: without waiting for the answer
	echo "$*" >&"$to"
}

fault() { # DEVICE KNOB=COUNT [PROPERTY=N]...
	"$PROGRAM" fault ctl "$@"
}

descriptors() { # of the program
	find "/proc/$server/fd" | wc -l
}

hits() { # DEVICE KNOB
	"$PROGRAM" fault ctl "$1" | sed -n "s/^$1 $2=.* hits=\([0-9]*\):.*/\1/p"
}

verdicts() { # [OPTION]...
	peer diagnose --json "$@" 2>/dev/null | jq -r '.rows[].rule' | sort -u | tr '\n' ' '
}

# names RULE: the diagnosis has that verdict, and none but those that follow in ALSO.
names() {
	local rule=$1 got also
	shift

	got=$(verdicts -i 300ms)
	[[ " $got" == *" $rule "* ]] || { echo "'$got' instead of $rule"; peer diagnose -i 300ms; return 1; }
	for also in $got; do
		[[ " $rule $* " == *" $also "* ]] || { echo "$also is accused, too: $got"; peer diagnose -i 300ms; return 1; }
	done
}

innocent() {
	local got

	got=$(verdicts -i 300ms)
	[ -z "$got" ] || { peer diagnose -i 300ms; return 1; }
}

completions() { # DEVICE N: that many were written
	[ "$(row '[.[] | select(.dev_name == "'"$1"'") | .hw_pi] | add' dump cq --hw)" = "$2" ]
}

@test "an adapter without a guest: devices, limits, registers; nothing is accused" {
	[ "$(row '[.[] | [.dev_name, .side, .guest_driver, .vmm_pid]]' list)" = \
		'[["lab-0","program","none",0],["lab-1","program","none",0]]' ]
	[ "$(row '[.[].mac]' list -d lab-1)" = '["52:54:00:00:00:01"]' ]
	[ "$(row '[.[] | select(.name == "version") | .value]' dump regs -d lab-1)" = '["0x14"]' ]
	[ "$(row 'length' dump qp)" = 0 ]
	[ "$(row 'length' dump srq)" = 0 ]
	innocent
}

@test "every command works on a program" {
	play
	ask ok recv 4
	ask ok send 4
	until_true 10 completions lab-0 4
	for command in list 'info lab-0' 'dump qp' 'dump cq --hw' 'dump eq --hw' 'dump cmdq' 'dump mr' \
		'dump pd' 'dump counters' 'dump cmd' 'dump failure-total' 'dump sqe 2 -d lab-0' \
		'dump rqe 2 -d lab-1' 'dump cqe 1 -d lab-0' 'dump eqe 2 -d lab-0' 'dump cmde -d lab-0' \
		'dump regs' stat 'stat --live -i 100ms -n 1' trace 'trace hist' 'diagnose -i 100ms' \
		'top -b -n 1'; do
		run -0 --separate-stderr peer $command
		[ -n "$output" ] || [[ $stderr == *"no problems found"* || $stderr == *"no failures"* || \
			$stderr == *"no event queue entries"* || $stderr == *"no failure totals"* ]] || \
			{ echo "$command: nothing; $stderr"; false; }
		peer $command --json 2>/dev/null | "$REPO/tests/cli/validate" || { echo "$command --json"; false; }
	done
}

@test "diff compares with the program" {
	play
	peer record before.pcapng
	ask ok recv 3
	ask ok send 2
	until_true 10 completions lab-1 2
	[ "$(row '[.[] | select(.dev_name == "lab-0" and .field == "send_bytes") | .growth]' diff before.pcapng counters)" = '[8192]' ]
	[ "$(row '[.[] | select(.change != "changed")]' diff before.pcapng)" = '[]' ]
	run -2 --separate-stderr peer diff before.pcapng before.pcapng
	[ "$stderr" = "eadm: diff: --peer: requires 'live' as A or B" ]
}

@test "rows have the guest's numbers and the backend's side by side, and both states" {
	play
	[ "$(row '.[] | select(.dev_name == "lab-0") | [.type, .state, .backend_state, .qp_handle, .backend_qpn == .qpn, .peer_addr, .local_addr, .waits_for]' dump qp)" = \
		'["rc","rts","rts",1,true,"10.0.0.2","10.0.0.1","nothing"]' ]
	[ "$(row '.[] | select(.dev_name == "lab-1") | [.sq_depth, .rq_pi, .hw_rq_pi, .hw_rq_ci]' dump qp --hw)" = '[16,0,0,0]' ]
	ask ok recv 3
	ask ok send 2
	until_true 10 completions lab-1 2
	[ "$(row '.[] | select(.dev_name == "lab-1") | [.rq_pi, .hw_rq_pi, .hw_rq_ci]' dump qp --hw)" = '[3,3,2]' ]
	[ "$(row '.[] | select(.dev_name == "lab-0") | [.sq_pi, .hw_sq_pi, .hw_sq_ci]' dump qp --hw)" = '[2,2,2]' ]
	[ "$(row '.[] | select(.dev_name == "lab-0") | [.send_requests, .send_bytes]' dump counters)" = '[2,8192]' ]
	[ "$(row '.[] | select(.dev_name == "lab-1") | [.receive_requests, .receive_bytes]' dump counters)" = '[2,8192]' ]
	[ "$(row '[.[] | .dsr_addr] | all(startswith("0x"))' list)" = true ]
	[ "$(row '[.[] | [.driver_interface, .guest_driver, .bound_gids, .vmm_pid == '"$player"']]' list)" = '[[20,"active",1,true],[20,"active",1,true]]' ]
	ask 6 state 0 || ask 3 state 0
}

@test "entries of rings, decoded" {
	play
	ask ok recv 2
	ask ok send 1
	until_true 10 completions lab-0 1
	[ "$(row '[.[] | [.index, .state, .op, .sges, .sge0_length]]' dump sqe 2 -d lab-0)" = \
		'[[0,"done","send",1,4096],[1,"empty",null,null,null]]' ]
	[ "$(row '[.[] | [.index, .state, .length]]' dump rqe 2 -d lab-1)" = \
		'[[0,"done",4096],[1,"done",4096],[2,"empty",null]]' ]
	[ "$(row '[.[] | select(.state == "posted") | [.index, .op, .status, .queue, .qp_handle]]' dump cqe 1 -d lab-0)" = \
		'[[0,"send","none","sq",1]]' ]
	[ "$(row '[.[] | select(.state == "posted") | [.op, .queue, .length]]' dump cqe 1 -d lab-1)" = '[["receive","rq",4096]]' ]
	[ "$(row '[.[].op]' dump cmde -d lab-0)" = '["modify-qp"]' ]
	ask ok arm 0
	ask ok send 1
	until_true 10 completions lab-0 2
	[ "$(row '[.[] | select(.state == "posted") | .cqn]' dump eqe 2 -d lab-0)" = '[1]' ]
	ask 1 take 0
}

@test "the recorder has commands, and their bytes" {
	play
	[ "$(row '[.[] | select(.dev_name == "lab-0") | .op]' trace)" = \
		'["set-gid","alloc-uar","alloc-pd","reg-mr","create-cq","create-qp","modify-qp","modify-qp","modify-qp"]' ]
	[ "$(row '[.[] | .state] | unique' trace)" = '["done"]' ]
	[ "$(row '.[0].request | length' trace -o +request -d lab-0)" -ge 184 ]
	ask 22 mr 0 0
	[ "$(row '[.[] | [.op, .status, .state]]' trace --state error)" = '[["reg-mr",-22,"error"]]' ]
	[ "$(row '[.[] | [.kind, .cause, .op]]' dump failure)" = '[["command","refused","reg-mr"]]' ]
}

@test "events as they come" {
	play
	before=$(descriptors)
	timeout 20 "$EADM" --peer ctl events -n 1 --json >events 2>errors &
	reader=$!
	# One connection has asked what there is, the other one has subscribed.
	until_true 10 eval '[ "$(descriptors)" -ge $((before + 2)) ]'
	fault lab-0 aeq_qp_fatal=1
	wait "$reader" || cat errors
	cat events
	[ "$(jq -rc '.rows[0] | [.type, .async, .dev_name]' events)" = '["async","qp-fatal","lab-0"]' ]
}

# A follower of the recorder of lab-0, which has begun.
follow() { # [COMMAND...]: other than that of the control socket
	[ $# != 0 ] || set -- "$EADM" --peer ctl
	"$@" trace --follow -d lab-0 --json >rows 2>errors &
	reader=$!
	until_true 10 eval 'ask "0 4" query 0; grep -q query-port rows'
}

# of_rows FILTER: what jq makes of the rows that have come, each a document
of_rows() {
	jq -sc "[.[].rows[]] | $1" rows
}

# followed COUNT OP: that many rows of the command have come
followed() {
	[ "$(grep -c "\"$2\"" rows)" = "$1" ]
}

@test "the recorder is followed: commands as they end, each once" {
	play
	follow
	ask 0 pd 0
	ask 0 mr 0 2
	ask 22 mr 0 0
	ask 0 pd 1
	fault lab-0 cmd_delay=1 arg=400 target=2
	ask 0 pd 0
	until_true 10 followed 2 alloc-pd
	ask 0 pd 0
	until_true 10 followed 3 alloc-pd
	kill -INT "$reader"
	wait "$reader"
	[ "$(of_rows 'map(select(.op != "query-port") | [.op, .state, .status])')" = \
		'[["alloc-pd","done",0],["reg-mr","done",0],["reg-mr","error",-22],["alloc-pd","done",0],["alloc-pd","done",0]]' ]
	[ "$(of_rows 'map(.seq) | . == [range(.[0]; .[0] + length)]')" = true ]
	[ "$(of_rows 'map(select(.op == "alloc-pd") | .latency >= 400000000)')" = '[false,true,false]' ]
	[ ! -s errors ]
}

@test "a follower that stands still costs nothing, and what it missed is counted" {
	play
	follow
	first=$(of_rows '.[0].seq')
	for round in 1 2; do
		kill -STOP "$reader"
		ask 3000 queries 0 3000
		kill -CONT "$reader"
		ask 0 pd 0
		until_true 20 followed "$round" alloc-pd
	done
	last=$(row '[.[].seq] | max' trace -d lab-0)
	kill -INT "$reader"
	wait "$reader"
	lost=$(of_rows 'map(.lost // 0) | add')
	[ "$lost" -ge 3000 ]
	[ $(($(of_rows length) + lost)) = $((last - first + 1)) ]
	[ "$(sed -n 's/.* \([0-9]*\) records\{0,1\} w[a-z]* overwritten before they were read.*/\1/p' errors | awk '{ n += $1 } END { print n }')" = "$lost" ]
	[ "$(of_rows length)" -ge 1024 ]
}

@test "a program that was found in its folder is followed, too" {
	[ "$(id -u)" = 0 ] || skip "requires root"
	[ ! -e /run/eadm-pvrdma ] || skip "/run/eadm-pvrdma is in use"
	play
	follow unshare -m bash -c "mount -t tmpfs none /run && mkdir /run/eadm-pvrdma &&
		ln -s '$PWD/ctl' /run/eadm-pvrdma/lab.sock && exec '$EADM' \"\$@\"" eadm
	ask 0 pd 1
	ask 0 pd 0
	until_true 10 followed 1 alloc-pd
	kill -INT "$reader"
	wait "$reader"
	[ "$(of_rows 'map(.dev_name) | unique')" = '["lab-0"]' ]
	[ ! -s errors ]
}

@test "events of programs in their folder are followed, also of one that starts later" {
	[ "$(id -u)" = 0 ] || skip "requires root"
	[ ! -e /run/eadm-pvrdma ] || skip "/run/eadm-pvrdma is in use"
	mkdir sockets
	ln -s "$PWD/ctl" sockets/lab.sock
	before=$(descriptors)
	unshare -m bash -c "mount -t tmpfs none /run && mkdir /run/eadm-pvrdma && mount --bind sockets /run/eadm-pvrdma &&
		exec '$EADM' events --json --save events.pcapng" >events 2>errors &
	reader=$!
	others=($reader)
	# One connection for questions, one for events.
	until_true 20 eval '[ "$(descriptors)" -ge $((before + 2)) ]'
	play
	until_true 20 told lab-0 device-added
	: >log.other
	"$PROGRAM" --control other --name other 2.sock 3.sock,mac=52:54:00:00:00:03 2>log.other &
	later=$!
	others+=($later)
	until_true 20 grep -q 'listening on' log.other
	before=$(find "/proc/$later/fd" | wc -l)
	ln -s "$PWD/other" sockets/other.sock
	until_true 20 eval '[ "$(find "/proc/$later/fd" | wc -l)" -gt "$before" ]'
	mkfifo words
	"$PLAYER" 2.sock 3.sock <words >answers &
	other=$!
	others+=($other)
	exec 9>words
	echo connect >&9
	until_true 20 told other-3 device-added
	kill "$later"
	wait "$later" || :
	exec 9>&-
	wait "$other" || :
	# The others are still heard.
	fault lab-0 aeq_qp_fatal=1
	until_true 20 told lab-0 async
	kill -INT "$reader"
	wait "$reader"
	cat errors
	[ ! -s errors ]
	"$EADM" --from events.pcapng events --json >again
	diff <(jq -c '.rows[]' events) <(jq -c '.rows[]' again)
}

told() { # DEVICE TYPE
	jq -c '.rows[] | [.dev_name, .type]' events | grep -qxF "[\"$1\",\"$2\"]"
}

@test "followers of the recorder and of events end when the program does" {
	play
	follow
	before=$(descriptors)
	"$EADM" --peer ctl events --json >events 2>why &
	listener=$!
	until_true 10 eval '[ "$(descriptors)" -ge $((before + 2)) ]'
	# With a question of the follower unread, which asks ten times a second.
	kill -STOP "$server"
	pause 0.5
	kill -KILL "$server"
	wait "$server" || :
	status=0
	wait "$reader" || status=$?
	[ "$status" = 3 ] || { echo "status $status"; cat errors; false; }
	grep 'the program has exited' errors
	status=0
	wait "$listener" || status=$?
	[ "$status" = 3 ] || { echo "status $status"; cat why; false; }
	[[ $(jq -r '.. | strings' events) == *"the program has exited"* ]]
	of_rows length
}

@test "record: a program that does not respond is an error" {
	play
	kill -STOP "$server"
	run peer --timeout 100ms record none.pcapng
	kill -CONT "$server"
	[ "$status" = 6 ]
	[ "$output" = "eadm: record: devices and their objects: ctl: Connection timed out" ]
	run -1 "$EADM" --from none.pcapng list
}

@test "a capture of a program shows the same offline" {
	play
	ask ok recv 2
	ask ok send 2
	until_true 10 completions lab-0 2
	peer record all.pcapng --rings -n 2 -i 200ms 2>errors || peer record all.pcapng -n 2 -i 200ms
	for object in qp cq pd mr; do
		diff <(rows dump $object | jq -c 'map(with_entries(select(.key | test("age$") | not)))') \
			<("$EADM" --from all.pcapng dump $object --json | jq -c '.rows | map(with_entries(select(.key | test("age$") | not)))')
	done
	[ "$("$EADM" --from all.pcapng list --json | jq -c '[.rows[].dev_name]')" = '["lab-0","lab-1"]' ]
	run -0 "$EADM" --from all.pcapng diagnose
}

@test "programs are found in their folder, among the devices of the machine" {
	[ "$(id -u)" = 0 ] || skip "requires root"
	[ ! -e /run/eadm-pvrdma ] || skip "/run/eadm-pvrdma is in use"
	play
	unshare -m bash -c "
		mount -t tmpfs none /run && mkdir /run/eadm-pvrdma && ln -s '$PWD/ctl' /run/eadm-pvrdma/lab.sock
		'$EADM' list --json >list; '$EADM' dump qp -d lab-1 --json >qp; '$EADM' list --no-peers --json >without
		'$EADM' dump sqe 2 -d lab-0 --json >sqe; '$EADM' exporter --once >metrics 2>errors
		'$EADM' bundle create -o all.tar.zst --hw >/dev/null 2>&1 || :
		cd /run/eadm-pvrdma && mkdir lab && mv lab.sock lab/control.sock && '$EADM' list --json >'$PWD/service'"
	[ "$(jq -c '[.rows[] | select(.side == "program") | .dev_name]' service)" = '["lab-0","lab-1"]' ]
	[ "$("$EADM" --from all.tar.zst list --json | jq -c '[.rows[].dev_name]')" = '["lab-0","lab-1"]' ]
	[ "$("$EADM" --from all.tar.zst dump qp --json | jq -c '[.rows[] | .backend_state]')" = '["rts","rts"]' ]
	[ "$(jq -c '[.rows[] | select(.side == "program") | .dev_name]' list)" = '["lab-0","lab-1"]' ]
	[ "$(jq -c '[.rows[] | .dev_name]' qp)" = '["lab-1"]' ]
	run ! grep program without
	grep -q 'eadm_dev_qps{.*device="lab-0".*} 1' metrics
}

@test "a user without rights sees objects, but no addresses, queues or knobs" {
	[ "$(id -u)" = 0 ] || skip "requires root"
	play
	chmod 0755 . && chmod 0666 ctl
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	as_nobody "$EADM" --peer ctl dump mr --json >mr 2>errors || { cat errors; false; }
	[ "$(jq -c '[.rows[] | has("lkey"), has("iova"), has("length")]' mr | head -c 20)" = '[false,false,true,fal' ] || \
		[ "$(jq -c '.rows[0] | [has("lkey"), has("iova"), has("length")]' mr)" = '[false,false,true]' ]
	run as_nobody "$EADM" --peer ctl dump sqe 2 -d lab-0
	[ "$status" = 4 ]
	run as_nobody "$EADM" --peer ctl dump qp --hw
	[ "$status" = 4 ]
	run -1 as_nobody "$PROGRAM" fault ctl lab-0 link_down=1
	[[ $output == *"root and the user"* ]]
}

@test "clients that do what they like harm nobody" {
	play
	run -0 python3 - ctl <<-'END'
		import os, random, socket, struct, sys
		random.seed(1)
		def connect():
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.connect(sys.argv[1])
		    s.settimeout(.05)
		    return s
		def message(cmd, attrs=b"", flags=0x301, kind=0xead):
		    body = struct.pack("<BBH", cmd, 1, 0) + attrs
		    return struct.pack("<IHHII", 16 + len(body), kind, flags, 7, 0) + body
		# Noise, whole and cut off.
		for i in range(1000):
		    s = connect()
		    try:
		        s.send(os.urandom(random.randrange(1, 1500)))
		        s.send(message(random.randrange(256), os.urandom(random.randrange(0, 200)), random.choice((1, 0x301)), random.randrange(65536)))
		        s.recv(65536) if random.random() < .2 else None
		    except OSError:
		        pass
		    s.close()
		for i in range(1500):
		    s = connect()
		    attrs = b"".join(struct.pack("<HH", 4 + n, random.randrange(300)) + os.urandom(n) + b"\0" * (-n % 4)
		                     for n in (random.choice((0, 1, 4, 8, 96, 200)) for _ in range(random.randrange(4))))
		    try:
		        s.send(message(random.choice((*range(1, 20), *range(238, 245))), attrs, random.choice((1, 0x301))))
		        s.recv(65536)
		    except OSError:
		        pass
		    s.close()
		# Some that never read, and some that only hold their place.
		idle = [connect() for _ in range(12)]
		for s in idle[:6]:
		    s.setblocking(False)
		    try:
		        for _ in range(2000):
		            s.send(message(10))
		    except OSError:
		        pass
		print(len(idle))
	END
	[ "$output" = 12 ]
	ask ok recv 4
	ask ok send 4
	until_true 10 completions lab-0 4
	[ "$(row 'length' list)" = 2 ]
	kill -0 "$server"
}

# ---- knobs: "knob" is what the manual page calls it; each has its verdict

@test "nothing is accused of guests that work, wait or are idle" {
	play
	innocent
	ask ok recv 8
	ask ok send 4
	until_true 10 completions lab-0 4
	innocent
	ask 4 poll 0
	ask 4 poll 1
	ask ok arm 0
	ask ok arm 1
	innocent
}

@test "quotas: a guest gets no more, its neighbour does, and the diagnosis says so" {
	kill "$server"
	wait "$server"
	serve --quota pds=2,qps=4 0.sock,memory=1 1.sock,pds=8
	[ "$(row '[.[] | [.max_qp, .max_pd, .max_pinned]]' list)" = '[[4,2,1048576],[4,8,null]]' ]
	play
	innocent
	ask 122 mr 0 300
	[ "$(row '[.[].quota_refusals]' list)" = '[1,0]' ]
	ask 0 mr 0 200
	ask 0 mr 1 300
	ask 0 pd 0
	ask 28 pd 0
	ask 0 pd 1
	ask 0 pd 1
	[ "$(row '[.[].quota_refusals]' list)" = '[2,0]' ]
	names quota-reached command-failed memory-pinned
	[ "$(peer diagnose --json -i 300ms | jq -r '.rows[] | select(.rule == "quota-reached") | .dev_name')" = lab-0 ]
}

@test "knob cmd_delay: late responses, slow registrations" {
	play
	fault lab-0 cmd_delay=1 arg=300 target=4
	ask 0 mr 0 4
	[ "$(hits lab-0 cmd_delay)" = 1 ]
	names registration-slow
	fault lab-0 cmd_delay=1 arg=1300 target=0
	ask '0 4' query 0
	names command-slow registration-slow
}

@test "knob cmd_drop: a command that is never answered" {
	play
	fault lab-0 cmd_drop=1 target=0
	tell query 0
	until_true 10 eval '[ "$(hits lab-0 cmd_drop)" = 1 ]'
	pause 1.2
	names cmdq-stalled
}

@test "knob cmd_error: a command that fails" {
	play
	fault lab-0 cmd_error=1 arg=12 target=2
	ask 12 pd 0
	names command-failed create-failures
}

@test "knob irq_lost: interrupts and responses that do not arrive" {
	play
	fault lab-0 irq_lost=1 target=0
	ask '0 4' query 0
	names response-not-read
	fault lab-1 irq_lost=1 target=2
	ask ok recv 1
	ask ok arm 1
	ask ok send 1
	until_true 10 completions lab-1 1
	names interrupt-undelivered response-not-read lost-interrupt
}

@test "knob eqe_lost: a notification that is not written" {
	play
	fault lab-1 eqe_lost=1
	ask ok recv 1
	ask ok arm 1
	ask ok send 1
	until_true 10 completions lab-1 1
	names missed-event
}

@test "knob cq_arm_lost: a request for a notification that is not noticed" {
	play
	fault lab-1 cq_arm_lost=1
	ask ok arm 1
	ask ok recv 1
	ask ok send 1
	until_true 10 completions lab-1 1
	names missed-event
}

@test "knob eq_overflow: a ring of notifications that is full" {
	play
	fault lab-1 eq_overflow=-1 target=1
	ask ok recv 1
	ask ok arm 1
	ask ok send 1
	until_true 10 completions lab-1 1
	names notifications-full missed-event
}

@test "knob cq_overrun: a CQ that is full" {
	play
	fault lab-0 cq_overrun=1
	ask ok recv 1
	ask ok send 1
	until_true 10 eval '[ "$(hits lab-0 cq_overrun)" = 1 ]'
	ask 2 events 0
	names cq-overrun backend-qp-error
}

@test "knob cqe_lost: a completion that is not written" {
	play
	fault lab-0 cqe_lost=1
	ask ok recv 1
	ask ok send 1
	until_true 10 eval '[ "$(hits lab-0 cqe_lost)" = 1 ]'
	names completion-missing
}

@test "knob cqe_opcode: a completion that makes no sense" {
	play
	fault lab-0 cqe_opcode=1 arg=85
	ask ok recv 1
	ask ok send 1
	until_true 10 completions lab-0 1
	names unknown-opcode
}

@test "knob sq_db_lost: a doorbell that is not noticed" {
	play
	fault lab-0 sq_db_lost=1
	ask ok recv 1
	ask ok send 1
	names lost-doorbell
}

@test "knob qp_stall: a QP that sends nothing, for ever or for a time" {
	play
	ask ok recv 4
	fault lab-0 qp_stall=1
	ask ok send 2
	names requests-held
	ask 0 reset 0
}

@test "a QP that is held for a time goes on by itself" {
	play
	ask ok recv 4
	fault lab-0 qp_stall=1 arg=700
	ask ok send 2
	until_true 10 completions lab-0 2
	innocent
}

@test "knob wr_error: a work request that fails" {
	play
	fault lab-0 wr_error=1 arg=21
	ask ok recv 1
	ask ok send 1
	until_true 10 completions lab-0 1
	names qp-error
	[ "$(row '.[] | select(.dev_name == "lab-0") | [.state, .backend_state, .first_cause]' dump qp)" = '["rts","err","general"]' ]
}

@test "knob aeq_qp_fatal: a QP that fails, with an event" {
	play
	fault lab-0 aeq_qp_fatal=1
	ask 1 events 0
	names qp-error
}

@test "knob qp_error: a backend QP in error that the guest takes for connected" {
	play
	fault lab-0 qp_error=1
	names backend-qp-error
}

@test "knob link_down: the port is down, and comes back" {
	play
	ask ok recv 2
	fault lab-0 link_down=-1
	ask ok send 2
	ask '0 1' query 0
	ask 1 events 0
	names link-down
	fault lab-0 link_down=0
	ask 1 events 0
	until_true 10 completions lab-0 2
	ask '0 4' query 0
}

@test "knob backend_gone: commands fail and QPs stop" {
	play
	fault lab-0 backend_gone=-1
	ask 5 pd 0
	ask 1 events 0
	names backend-gone command-failed create-failures past-device-failure
	fault lab-0 backend_gone=0
	ask 0 pd 0
}

@test "knob dev_gone: an adapter that reads as ones" {
	play
	fault lab-0 dev_gone=-1
	ask '4294967295 0' query 0
	names adapter-gone
	fault lab-0 dev_gone=0
	ask '0 4' query 0
}

@test "knob surprise: an adapter that is taken away; a guest that is killed" {
	play
	fault lab-0 surprise=1
	until_true 10 eval '[ "$(row "[.[] | .lost_sessions] | add" list)" = 1 ]'
	names guest-lost
	ask ok leave 1
	until_true 10 eval '[ "$(row "[.[] | .lost_sessions] | add" list)" = 2 ]'
	names guest-lost
}

@test "a guest that does not poll, and one without a receive" {
	play
	ask ok recv 9
	ask ok send 9
	until_true 10 completions lab-1 9
	names guest-not-polling
	ask 9 poll 0
	ask 9 poll 1
	innocent
}

@test "every knob of the program has its test here" {
	diff <("$PROGRAM" fault ctl lab-0 | sed 's/^lab-0 \([a-z_]*\)=.*/\1/' | sort) \
		<(grep -o '^@test "knob [a-z_]*' "$BATS_TEST_DIRNAME/peer.bats" | sed 's/.* //' | sort)
}
