# SPDX-License-Identifier: GPL-2.0-or-later
# What is written to files, and what never happens to files of others.
load common

# The ways to write a file; each takes its name last.
writers() {
	printf '%s\n' "trace export" "record" "record --hw" "--save"
}

# write_by WAY FILE [ARGUMENTS...]
write_by() {
	local way=$1 file=$2
	shift 2

	if [ "$way" = --save ]; then
		eadm --from "$TWO" "$@" list --save "$file"
	else
		# shellcheck disable=SC2086 # words of the command
		eadm --from "$TWO" "$@" $way "$file"
	fi
}

# finding: R2
# bats test_tags=R2
@test "a trace that is not written leaves the file there was" {
	local file=$BATS_TEST_TMPDIR/kept
	for arguments in "--from $TWO -d nosuch" "--from /nonexistent" "--from $REPO/README.md"; do
		echo precious >"$file"
		# shellcheck disable=SC2086
		run eadm $arguments trace export "$file"
		[ "$status" != 0 ]
		[ "$(cat "$file")" = precious ]
		ln -sf kept "$BATS_TEST_TMPDIR/link"
		# shellcheck disable=SC2086
		run eadm $arguments trace export "$BATS_TEST_TMPDIR/link"
		[ -L "$BATS_TEST_TMPDIR/link" ] && [ "$(cat "$file")" = precious ]
		mkfifo "$BATS_TEST_TMPDIR/fifo"
		exec 9<>"$BATS_TEST_TMPDIR/fifo"
		# shellcheck disable=SC2086
		run eadm $arguments trace export "$BATS_TEST_TMPDIR/fifo"
		exec 9<&-
		[ -p "$BATS_TEST_TMPDIR/fifo" ]
		rm "$BATS_TEST_TMPDIR/fifo"
	done
	[ "$(ls "$BATS_TEST_TMPDIR")" = "kept
link" ]
}

# finding: R2
# bats test_tags=R2
@test "a link stays, and what it leads to is written" {
	writers | while read -r way; do
		rm -rf "${BATS_TEST_TMPDIR:?}"/*
		mkdir -p "$BATS_TEST_TMPDIR/sub"
		echo old >"$BATS_TEST_TMPDIR/sub/real"
		ln -s sub/real "$BATS_TEST_TMPDIR/link"
		write_by "$way" "$BATS_TEST_TMPDIR/link" >/dev/null
		[ -L "$BATS_TEST_TMPDIR/link" ]
		[ "$(head -c 3 "$BATS_TEST_TMPDIR/sub/real")" != old ]
		ln -sf nowhere "$BATS_TEST_TMPDIR/link"
		if write_by "$way" "$BATS_TEST_TMPDIR/link" >/dev/null 2>&1; then false; fi
		[ -L "$BATS_TEST_TMPDIR/link" ]
		[ "$(ls "$BATS_TEST_TMPDIR")" = "link
sub" ]
	done
}

@test "what is written appears whole, as its owner's, or not at all" {
	writers | while read -r way; do
		file=$BATS_TEST_TMPDIR/new
		write_by "$way" "$file" >/dev/null
		[ "$(stat -c %a "$file")" = 600 ]
		write_by "$way" "$file" >/dev/null
		if write_by "$way" "$BATS_TEST_TMPDIR" >/dev/null 2>&1; then false; fi
		[ "$(ls "$BATS_TEST_TMPDIR")" = new ]
		rm "$file"
	done
}

@test "pipes and devices are written as they are" {
	writers | while read -r way; do
		write_by "$way" /dev/null >/dev/null
		[ -c /dev/null ]
		mkfifo "$BATS_TEST_TMPDIR/fifo"
		cat "$BATS_TEST_TMPDIR/fifo" >"$BATS_TEST_TMPDIR/got" &
		write_by "$way" "$BATS_TEST_TMPDIR/fifo" >/dev/null
		wait $!
		[ -p "$BATS_TEST_TMPDIR/fifo" ] && [ -s "$BATS_TEST_TMPDIR/got" ]
		rm "$BATS_TEST_TMPDIR"/*
	done
	# A full disk.
	writers | while read -r way; do
		run write_by "$way" /dev/full
		[ "$status" = 1 ] && [[ $output == *"No space left"* ]]
		[ -c /dev/full ]
	done
}

# finding: R15
# bats test_tags=R15
@test "who stops reading hears nothing of it" {
	for arguments in "dump qp --schema" "dump qp -o help" "help dump" "--json dump qp" \
		"dump qp" "trace export" "record -" "info" "check" "diagnose" "trace hist" "stat"; do
		# shellcheck disable=SC2086
		python3 - "$BATS_TEST_TMPDIR/err" "$EADM" --from "$TWO" $arguments <<-'END'
		import os, subprocess, sys
		r, w = os.pipe()
		os.close(r)
		with open(sys.argv[1], "wb") as err:
		    subprocess.run(sys.argv[2:], stdout=w, stderr=err)
		END
		if grep -i "pipe\|write error\|standard output" "$BATS_TEST_TMPDIR/err"; then false; fi
	done
}

# finding: R3
# bats test_tags=R3
@test "what has no end is not read to its end" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	# Memory that is kept as a file counts as one.
	ulimit -f 300000
	for reader in list diagnose; do
		# shellcheck disable=SC2086
		for input in /dev/zero /dev/urandom; do
			run timeout 20 "$EADM" --from $input $reader
			[ "$status" = 1 ] && [[ $output == *"not a pcapng capture of netlink at offset 0"* ]]
		done
		# shellcheck disable=SC2086
		run timeout 20 bash -c 'yes | "$@"' _ "$EADM" --from - $reader
		[ "$status" = 1 ] && [[ $output == *"not a pcapng capture of netlink at offset 0"* ]]
		timeout 20 yes >"$fifo" 2>/dev/null 3>&- &
		# shellcheck disable=SC2086
		run timeout 20 "$EADM" --from "$fifo" $reader
		[ "$status" = 1 ] && [[ $output == *"not a pcapng capture of netlink at offset 0"* ]]
		wait $! || true
	done
	# One byte at a time is as good as all at once.
	[ "$(python3 -c 'import os, sys
for byte in open(sys.argv[1], "rb").read(): os.write(1, bytes([byte]))' "$TWO" | eadm --from - list)" = \
		"$(eadm --from "$TWO" list)" ]
	run bash -c 'cat "$1" /dev/zero | "$2" --from - list' _ "$TWO" "$EADM"
	[ "$status" = 1 ]
	[[ $output == "eadm: list: -: more than 256 MiB from a pipe or device: save it to a file, and read that" ]]
	run timeout 20 "$EADM" bundle show /dev/zero
	[ "$status" = 1 ]
	run timeout 20 bash -c 'yes | "$@"' _ "$EADM" bundle verify -
	[ "$status" = 1 ]
}
