# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # $pauses
# Pauses of the whole guest, which occur when the host is busy. The adapter is a thread of this guest,
# so a slow command is not its fault if the guest was paused for at least half of that time. The file
# $pauses has to exist. Nor is it if everything takes EADM_PATIENCE times as long, and the command no
# longer than that times the second that diagnose allows.
#
# The guest's CPUs take turns. If the turn changes after the adapter has written a response and before
# it raises the interrupt, the driver can find the response first: diagnose reports this as a notice.

watch_pauses() { # writes "FROM TO" in ms since 1970 for each pause into $pauses
	local now before=${EPOCHREALTIME/./}

	while :; do
		pause 0.1
		now=${EPOCHREALTIME/./}
		[ $((now - before)) -lt 400000 ] || echo "$((before / 1000)) $((now / 1000))" >>"$pauses"
		before=$now
	done
}

is_explained() { # VERDICT command-slow
	local time latency

	read -r time latency < <(jq -r '(.evidence | map({(.name): .value}) | add) |
		"\(.time / 1000000 | floor) \(.latency / 1000000 | floor)"' <<<"$1")
	[ "$latency" -gt $((1000 * ${EADM_PATIENCE:-1})) ] || return 0
	awk -v from="$time" -v to=$((time + latency)) '
		{ a = $1 > from ? $1 : from; b = $2 < to ? $2 : to; if (b > a) stood += b - a }
		END { exit stood * 2 < to - from }' "$pauses"
}

# VERDICT missed-interrupt: at most one response in a hundred, or every other one with a debug kernel,
# whose checks take most of the time between a response and its interrupt.
is_overtaken() {
	local share=100

	[[ $(uname -r) != *debug* ]] || share=2
	jq -e --argjson share "$share" '.severity == "notice" and
		(.evidence | map({(.name): .value}) | add | .missed * $share <= .interrupts)' <<<"$1" >&2
}

unexplained() { # FILE of eadm diagnose --json: prints the verdicts that pauses do not explain
	local row

	while read -r row; do
		case $row in
		*'"rule":"command-slow"'*) is_explained "$row" ;;
		*'"rule":"missed-interrupt"'*) is_overtaken "$row" ;;
		*) false ;;
		esac || echo "$row"
	done < <(jq -c '.rows[]' "$1")
}
