# SPDX-License-Identifier: GPL-2.0-or-later
# For all bats files: a fixed surrounding, captures, goldens.
# EADM is the binary; EADM_GOLDEN=update writes the expected outputs again. GOLDENS is their
# folder, if it is another one.
bats_require_minimum_version 1.5.0
REPO=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "$REPO/tests/lib/wait.sh"

setup() {
	export TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR COLUMNS
	# See tests/suites/sanitizers.
	case ${BATS_TEST_FILENAME##*/} in
	tables.bats | json.bats | hostile.bats) ;;
	*) export ASAN_OPTIONS=${EADM_NO_LEAKS-${ASAN_OPTIONS-}} ;;
	esac
	EADM=${EADM:-$REPO/build/eadm/eadm}
	BUILD=$(cd "$(dirname "$EADM")/.." && pwd)
	SYNTH=$REPO/tests/captures/synth
	TWO=$SYNTH/two.pcapng
	DEAD=$SYNTH/dead.pcapng
	MOMENTS=$SYNTH/moments.pcapng
	JOBS=$SYNTH/jobs.pcapng
	EVENTS=$SYNTH/events.pcapng
	BUSY=$SYNTH/busy.pcapng
	SICK=$SYNTH/sick.pcapng
	WELL=$SYNTH/well.pcapng
	# Recorded in guests.
	RXE=$REPO/tests/captures/live/rxe.pcapng
	LIVE=$REPO/tests/family/erdma/captures/live.pcapng
	LIVES=("$RXE" "$LIVE")
}

eadm() {
	"$EADM" "$@"
}

# golden NAME ARGUMENTS...: output, errors and status are as before.
golden() {
	local file=${GOLDENS-$REPO/tests/golden}/$1 out=$BATS_TEST_TMPDIR/out
	local err=$BATS_TEST_TMPDIR/err status=0
	shift

	eadm "$@" >"$out" 2>"$err" || status=$?
	{
		cat "$out"
		sed 's/^/stderr: /' "$err"
		echo "status: $status"
	} >"$BATS_TEST_TMPDIR/got"
	if [ "${EADM_GOLDEN-}" = update ]; then
		cp "$BATS_TEST_TMPDIR/got" "$file"
	else
		diff -u "$file" "$BATS_TEST_TMPDIR/got"
	fi
}

# fails STATUS "ERROR LINE" ARGUMENTS...: one line on stderr, nothing on stdout.
fails() {
	local want=$1 line=$2
	shift 2

	run --separate-stderr eadm "$@"
	echo "status $status, stdout '$output', stderr '$stderr'"
	[ "$status" = "$want" ]
	[ "$output" = "" ]
	[ "$stderr" = "$line" ]
}

# valid ARGUMENTS...: JSON on stdout that the published schema allows.
valid() {
	eadm "$@" 2>/dev/null | "$REPO/tests/cli/validate"
}
