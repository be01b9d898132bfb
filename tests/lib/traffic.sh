# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for the tests; they set dev, addr, port, work
# Traffic of an application on any family's adapter: the device $dev, which has the address
# $addr. Files are in $work.
programs=build/tests/lib/src

# show OBJECT ID FILTER [OPTIONS]: a jq expression of the first such row
show() {
	local object=$1 id=$2 filter=$3
	shift 3

	# shellcheck disable=SC2086 # no ID for some objects
	eadm dump $object $id -d "$dev" --json "$@" | jq -r ".rows[0]$filter"
}

# ---- Traffic: see tests/lib/src/traffic.c ----------------------------------

begin_traffic() { # [OPTIONS]
	rm -f "$work/in"
	mkfifo "$work/in" || return 1
	"$programs/traffic" -s "$addr" -c "$addr" -p "$port" "$@" <"$work/in" >"$work/out" 2>&1 &
	traffic=$!
	exec {say}>"$work/in"
	until_true 60 grep -qE '^(connected|connect:|listen:)' "$work/out"
	look_up
}

# Numbers of the QPs and CQs of the newest connection.
look_up() {
	local line

	line=$(grep '^connect' "$work/out" | tail -n 1)
	echo "$line"
	read -r _ _ client _ server <<<"$line"
	[ -n "$server" ] || return 1
	client_cq=$(show qp "$client" .send_cqn)
}

# ask LIMIT REGEX LINE: says LINE and waits for an answer that matches. The
# answer's first word is the line's.
ask() {
	local limit=$1 regex=$2 word=${3%% *} before new

	[ "$word" = again ] && word='connect(ed)?'
	[ "$word" = close ] && word=closed
	before=$(wc -l <"$work/out")
	echo "$3" >&"$say"
	answered() {
		local line n=0

		while read -r line; do
			n=$((n + 1))
			[ "$n" -gt "$before" ] && [[ $line =~ ^$word($|[ :]) ]] && return
		done <"$work/out"
		return 1
	}
	until_true "$limit" answered || { cat "$work/out"; return 1; }
	new=$(tail -n "+$((before + 1))" "$work/out")
	echo "$3 -> $new"
	grep -qE "^$word:? ?$regex" <<<"$new"
}

works() {
	ask 15 'ok 10' 'send 10 1000 10000' && ask 15 'ok 10' 'read 10 20000 10000'
}

# A new connection works: what failed hurt nothing else.
works_again() {
	ask 25 'client' again && ask 15 'ok 10' 'send 10 20000 10000'
}

told() { # REGEX: an asynchronous event came
	until_true 5 grep -qE "^event: $1" "$work/out" || { cat "$work/out"; return 1; }
}

# The process ends by itself and leaves nothing behind.
end_traffic() {
	exec {say}>&-
	wait "$traffic" || { echo "traffic ended with $?"; cat "$work/out"; return 1; }
	grep -q '^destroyed: 0 left' "$work/out" || { cat "$work/out"; return 1; }
}
