# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# TAP for suites in bash: source it, call check for each test, end with tap_end.
. "${BASH_SOURCE%/*}/wait.sh"
tap_count=0
tap_failed=0

# check NAME COMMAND...: passes if COMMAND does; shows its output if not.
check() {
	local name=$1 output status
	shift

	output=$("$@" 2>&1)
	status=$?
	if [ "$status" = 0 ]; then
		tap_pass "$name"
	else
		printf '%s\n' "$output" | sed 's/^/# /'
		echo "# status $status"
		tap_fail "$name"
	fi
}

tap_pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

tap_fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
}

# tap_skip NAME REASON
tap_skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# guest_tap NAME ARG...: results of tests/vm/run ARG..., with NAME in front, and
# one for the guest itself.
guest_tap() {
	local name=$1 line status
	shift

	status=$(mktemp)
	while read -r line; do
		case $line in
		"not ok "*) tap_fail "$name: ${line#not ok *- }" ;;
		"ok "*) tap_pass "$name: ${line#ok *- }" ;;
		1..*) ;;
		*) printf '%s\n' "$line" ;;
		esac
	done < <(tests/vm/run "$@" 2>&1; echo "status $?" >"$status")
	check "$name: the guest is sound" [ "$(cat "$status")" = "status 0" ]
	rm -f "$status"
}

tap_end() {
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ]
}

# The same two texts, or the difference: same EXPECTED GOT.
same() {
	[ "$1" = "$2" ] && return
	diff -u --label expected --label got <(printf '%s\n' "$1") \
		<(printf '%s\n' "$2")
}

# In a guest: a process was refused a context: what that leaves (tests/vm/kernel_log.py).
context_refused() {
	echo task >>/run/vm/ctl/kernel-leaks
}
