# SPDX-License-Identifier: GPL-2.0-or-later
# eadm-pvrdma as who starts it sees it.
bats_require_minimum_version 1.5.0
REPO=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
. "$REPO/tests/lib/wait.sh"

setup() {
	PROGRAM=${EADM_PVRDMA:-$REPO/build/pvrdma/eadm-pvrdma}
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	[ -z "${server-}" ] || { kill "$server" 2>/dev/null || :; wait "$server" || :; }
}

start() { # ARG...
	# Not those words of an earlier one: a program that has not begun can miss its end.
	: >log
	"$PROGRAM" "$@" 2>log &
	server=$!
	until_true 20 grep -q 'listening on' log
}

# refuses TEXT ARG...: with status 2, and a message with the text.
refuses() {
	local text=$1
	shift

	run -2 timeout 20 "$PROGRAM" "$@"
	[[ $output == *"$text"*"Try 'eadm-pvrdma --help'." ]] || { echo "$output"; false; }
	[ ! -e sock ]
}

@test "help and version" {
	run -0 "$PROGRAM" --help
	[[ $output == "Usage: eadm-pvrdma [OPTIONS] SOCKET"* ]]
	run -0 "$PROGRAM" --version
	[[ $output == "eadm-pvrdma "* ]]
}

@test "every option of the help is in the manual page, and the other way round" {
	diff <("$PROGRAM" --help | grep -o -- '--[a-z]*' | sort -u) \
		<(sed -n '/^# OPTIONS/,/^# LIMITS/p' "$REPO/man/eadm-pvrdma.8.scd" | grep -o -- '--[a-z]*' | sort -u)
}

@test "closed standard descriptors are not used for its sockets" {
	"$PROGRAM" --no-sandbox sock <&- >&- 2>&- 3>&- &
	server=$!
	until_true 20 test -S sock
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$server/fd/$fd")" = /dev/null ]
	done
}

@test "wrong usage is refused by name" {
	refuses "SOCKET is missing"
	refuses "no such backend: 'hard'" --backend hard sock
	refuses "no such backend: 'verbs:'" --backend verbs: sock
	refuses "no such backend: 'verbs:a,port=0'" --backend verbs:a,port=0 sock
	refuses "no such backend: 'verbs:a,gid=x'" --backend verbs:a,gid=x sock
	refuses "no such backend: 'verbs:a,color=red'" --backend verbs:a,color=red sock
	refuses "use --backend soft" --backend verbs:a --interface 19 sock
	refuses "no such backend: 'software'" --backend software sock
	refuses "no such backend: 'soft,join=nowhere'" --backend soft,join=nowhere sock
	refuses "no such backend: 'soft,join=localhost:1'" --backend soft,join=localhost:1 sock
	refuses "no such backend: 'soft,join=127.0.0.1:65536'" --backend soft,join=127.0.0.1:65536 sock
	refuses "no such backend: 'soft,listen=./a,listen=./b'" --backend soft,listen=./a,listen=./b sock
	refuses "unsupported MTU: '1500'" --mtu 1500 sock
	refuses "unsupported MTU: ''" --mtu '' sock
	refuses "unsupported RoCE version: '3'" --roce 3 sock
	refuses "unsupported interface version: '21'" --interface 21 sock
	refuses "unsupported interface version: '-1'" --interface -1 sock
	refuses "requires --roce 1" --interface 17 sock
	refuses "requires a number of MiB: '0'" --memory 0 sock
	refuses "no such quota: 'qps=0'" --quota cqs=4,qps=0 sock
	refuses "no such quota: 'qps=1025'" --quota qps=1025 sock
	refuses "no such quota: 'cars=1'" --quota cars=1 sock
	refuses "no such quota: ''" --quota qps=1, sock
	refuses "unknown socket property: 'mrs='" sock,mrs=
	refuses "unknown socket property: 'memory=0'" sock,memory=0
	refuses "octal permissions: '888'" --mode 888 sock
	refuses "unknown socket property: 'mac=1:2:3'" sock,mac=1:2:3
	refuses "unknown socket property: 'mac=01:00:00:00:00:00'" sock,mac=01:00:00:00:00:00
	refuses "unknown socket property: 'mac=-2:+2: 3:4:5:6'" sock,mac='-2:+2: 3:4:5:6'
	refuses "duplicate MAC address: 'two'" sock,mac=52:54:00:00:00:01 two,mac=52:54:0:0:0:1
	refuses "duplicate address: 'soft,listen=./a,join=./a'" --backend soft,listen=./a,join=./a sock
	refuses "duplicate address: 'soft,join=./a,join=./a'" --backend soft,join=./a,join=./a sock
	refuses "unknown socket property: 'color=red'" sock,color=red
	refuses "missing socket path" ,mac=52:54:00:00:00:01
}

@test "the limit of open files suffices for all adapters" {
	ulimit -Sn 64
	start one two
	[ "$(awk '/^Max open files/ { print $4 }' "/proc/$server/limits")" = $((2 * 544 + 512)) ]
	[[ $(cat log) != *"limit of open files"* ]]
}

@test "the unit allows as many open files and threads as 64 adapters need" {
	local unit=$REPO/packaging/systemd/eadm-pvrdma@.service

	[ "$(sed -n 's/^LimitNOFILE=//p' "$unit")" -ge $((64 * 544 + 512)) ]
	[ "$(sed -n 's/^TasksMax=//p' "$unit")" -ge $((64 * 2 + 2)) ]
}

@test "a hard limit of open files that is too low is reported" {
	ulimit -n 600
	start one
	grep -q 'limit of open files (600) is too low: the adapters may need 1056' log
}

@test "sockets have the permissions, and go with the program" {
	start --mode 0640 one two,mac=52:54:00:00:00:02
	grep -qx 'eadm-pvrdma: listening on 2 sockets' log
	[ "$(stat -c %a one two)" = "640
640" ]
	kill "$server"
	wait "$server"
	server=
	[ ! -e one ] && [ ! -e two ]
}

@test "it locks itself in, unless told not to" {
	start one
	grep -qx 'NoNewPrivs:.1' "/proc/$server/status"
	grep -qx 'Seccomp:.2' "/proc/$server/status"
	grep -q 'Max core file size  *0 ' "/proc/$server/limits"
	kill "$server"
	wait "$server"
	[ ! -e one ]
	start --no-sandbox one
	grep -qx 'NoNewPrivs:.0' "/proc/$server/status"
}

@test "a socket in use is not taken, one that was left behind is" {
	start sock
	run -1 "$PROGRAM" sock
	[[ $output == "eadm-pvrdma: sock: Address already in use" ]]
	kill -KILL "$server"
	wait "$server" || :
	[ -S sock ]
	start sock
}

@test "a program removes its sockets at its end, and not those of its successor" {
	local first path

	start --backend soft,listen=./link --control control sock
	first=$server
	rm link control sock
	start --backend soft,listen=./link --control control sock
	kill "$first"
	wait "$first"
	for path in link control sock; do
		[ -S "$path" ]
	done
	kill "$server"
	wait "$server"
	server=
	for path in link control sock; do
		[ ! -e "$path" ]
	done
}

@test "a path that cannot be" {
	run -1 "$PROGRAM" nowhere/sock
	[[ $output == "eadm-pvrdma: nowhere/sock: No such file or directory" ]]
	run -1 "$PROGRAM" "$(printf '%0200d' 0)"
	[[ $output == *"File name too long" ]]
}

@test "with two vectors there is none for completions, and check says so" {
	cat >vectors.py <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	from nlcap import Capture
	vectors = {"two": 2, "three": 3}
	cap = Capture()
	cap.local("machine", {"cpus": 1})
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices([(i, name, 1) for i, name in enumerate(vectors)])
	cap.dump("dev", [{"dev-index": i, "dev-name": name, "family": "pvrdma",
	                  "driver": "vmw_pvrdma", "state": "ready", "vectors": n}
	                 for i, (name, n) in enumerate(vectors.items())])
	for i, name in enumerate(vectors):
	    cap.local("setup", {"dev-index": i, "dev-name": name})
	cap.write("vectors.pcapng")
	END
	python3 vectors.py "$REPO/tests/captures"
	run "${EADM:-$REPO/build/eadm/eadm}" --from vectors.pcapng check
	[[ $output == *"fail vectors "*two*"0 vectors for completions, 1 CPU"* ]] || { echo "$output"; false; }
	run "${EADM:-$REPO/build/eadm/eadm}" --from vectors.pcapng check -v
	[[ $output == *"ok "*vectors*three*"1 vector for completions"* ]] || { echo "$output"; false; }
}

# Programs are started in either order, and again; each link is reported once.
linked() { # ADDRESS
	local other

	"$PROGRAM" --backend "soft,join=$1" --control none other-sock 2>other-log &
	other=$!
	until_true 20 grep -qxF "$1: no link yet: $2" other-log
	start --backend "soft,listen=$1" --control none sock
	until_true 20 grep -qxF "$1: linked" other-log
	grep -qxF "$1: linked" log
	kill -9 "$server"
	wait "$server" || :
	until_true 20 grep -qxF "$1: the link is lost: Connection reset by peer" other-log
	rm -f sock
	start --backend "soft,listen=$1" --control none sock
	until_true 20 grep -qxF "$1: linked" log
	kill "$other"
	wait "$other"
	# Once for each time that it is not there.
	[ "$(grep -c 'no link yet' other-log)" -le 2 ]
	until_true 20 grep -qxF "$1: the link is lost: Connection reset by peer" log
	kill "$server"
	wait "$server"
}

@test "programs are linked by a path" {
	linked ./link "No such file or directory"
}

@test "programs are linked by TCP" {
	linked "127.0.0.1:$((20000 + RANDOM % 10000))" "Connection refused"
	[ ! -s /proc/net/if_inet6 ] || linked "[::1]:$((20000 + RANDOM % 10000))" "Connection refused"
}

@test "what is there already cannot be listened at" {
	touch occupied
	run -1 "$PROGRAM" --backend soft,listen=./occupied sock
	[ "$output" = "eadm-pvrdma: soft,listen=./occupied: Address already in use" ]
}
