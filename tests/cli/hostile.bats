# SPDX-License-Identifier: GPL-2.0-or-later
# Captures that are broken: clear errors, and never half a document.
load common

@test "no capture at all" {
	echo "just text, nothing more" >"$BATS_TEST_TMPDIR/text"
	fails 1 "eadm: list: $BATS_TEST_TMPDIR/text: not a pcapng file" \
		--from "$BATS_TEST_TMPDIR/text" list
	: >"$BATS_TEST_TMPDIR/empty"
	fails 1 "eadm: list: $BATS_TEST_TMPDIR/empty: empty file at offset 0" \
		--from "$BATS_TEST_TMPDIR/empty" list
}

@test "a capture cut anywhere gives whole documents, and an error where it matters" {
	local size n
	size=$(stat -c %s "$TWO")
	for ((n = 0; n < size; n += 97)); do
		head -c "$n" "$TWO" >"$BATS_TEST_TMPDIR/cut"
		eadm --from "$BATS_TEST_TMPDIR/cut" dump qp --json >>"$BATS_TEST_TMPDIR/all" || true
	done
	"$REPO/tests/cli/validate" <"$BATS_TEST_TMPDIR/all"
}

@test "a capture cut within the answer: the rows before, the offset, status 6" {
	"$REPO/tests/captures/many.py" 1000 "$BATS_TEST_TMPDIR/many"
	head -c 150000 "$BATS_TEST_TMPDIR/many" >"$BATS_TEST_TMPDIR/cut"
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/cut" dump qp --json
	[ "$status" = 6 ]
	[ "$(echo "$output" | jq '.rows | length')" -gt 100 ]
	[[ $(echo "$output" | jq -r '.notes[0].why') == "the capture: truncated at offset "* ]]
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/cut" dump qp
	[ "$status" = 6 ]
	[[ $stderr == "eadm: dump: queue pairs: the capture: truncated at offset "* ]]
}

@test "a malformed row: the rows before, and where it is" {
	# The QPN of the third row gets a length that leaves the message.
	/usr/bin/python3 - "$TWO" "$BATS_TEST_TMPDIR/bad" <<-'END'
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(b"\x08\x00\x06\x00\x0b\x00\x00\x00")
	data[at:at + 2] = b"\xff\x7f"
	open(sys.argv[2], "wb").write(data)
	END
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/bad" dump qp --json
	[ "$status" = 6 ]
	[ "$(echo "$output" | jq '.rows | length')" = 2 ]
	[[ $output == *"malformed netlink message at offset "*"qp: attribute exceeds the message"* ]]
	echo "$output" | "$REPO/tests/cli/validate"
}

@test "what a capture does not have is told" {
	fails 3 "eadm: dump: memory regions: not in the capture" \
		--from "$MOMENTS" dump mr
	fails 3 "eadm: dump: queue pairs: the capture does not contain the adapter's contexts" \
		--from "$DEAD" dump qp --hw
}

@test "Wireshark reads a capture and finds nothing malformed" {
	command -v tshark >/dev/null || skip "tshark is not installed"
	run --separate-stderr tshark -r "$TWO" -V
	[ "$status" = 0 ]
	[[ $output != *[Mm]alformed* ]]
	[[ $output == *"Family ID: 0x21 (eadm)"* ]]
}

@test "no control of the terminal comes from a capture" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	import synth
	evil = "e\x1b[31mX\x1b]0;pwn\x07\nroot#\x9b"
	synth.DEVS[0] = 0, evil, 1
	synth.SICK[:] = [evil + name for name in synth.SICK]
	of_cmd = synth.cmd
	synth.cmd = lambda *a, **more: {**of_cmd(*a, **more), "family": evil[:12], "function": evil[:12]}
	synth.two().write(f"{sys.argv[2]}/two")
	synth.moments().write(f"{sys.argv[2]}/moments")
	synth.sick().write(f"{sys.argv[2]}/sick")
	END
	for capture in two moments sick; do
		for command in list info diagnose check ver trace "trace hist" "dump cmd -o all" \
			"stat -v" "dump qp --hw" "top -b" "diff $TWO@#1 $BATS_TEST_TMPDIR/$capture"; do
			# shellcheck disable=SC2086
			eadm --from "$BATS_TEST_TMPDIR/$capture" $command >>"$BATS_TEST_TMPDIR/all" 2>&1 || true
		done
	done
	[ "$(LC_ALL=C grep -acP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|^root#' "$BATS_TEST_TMPDIR/all")" = 0 ]
	grep -aq '^eadm: diagnose: e?\[31mX?\]0;pwn??root#?: ' "$BATS_TEST_TMPDIR/all"
}

@test "what is not seen is seen" {
	# A name that shows as another one: bidi override, no width, C1, a joiner.
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	import synth
	evil = "a\u202eb\u200bc\x9bd\u2066e\ufefff\u00adg\U000e0041h\u00e9"
	synth.DEVS[0] = 0, evil, 1
	synth.two().write(f"{sys.argv[2]}/two")
	END
	local hidden='\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xc2[\x80-\x9f\xad]|\xf3\xa0'
	for command in list info diagnose check ver trace "stat -v" "dump qp --hw" "list -j" \
		"dump qp -j" "trace export" "dump qp --watch -j" "diff $TWO@#1 $BATS_TEST_TMPDIR/two" \
		"-d nosuch list" "-d nosuch list -j"; do
		# shellcheck disable=SC2086
		eadm --from "$BATS_TEST_TMPDIR/two" $command >>"$BATS_TEST_TMPDIR/all" 2>&1 || true
		TERM=xterm script -qec "stty cols 300; $EADM --from $BATS_TEST_TMPDIR/two $command" /dev/null \
			</dev/null >>"$BATS_TEST_TMPDIR/all" || true
	done
	[ "$(LC_ALL=C grep -acP "$hidden" "$BATS_TEST_TMPDIR/all")" = 0 ]
	grep -aq 'a?b?c?d?e?f?g?hé' "$BATS_TEST_TMPDIR/all"
	# To a program it is the name that it was.
	[ "$(eadm --from "$BATS_TEST_TMPDIR/two" list -j | jq -r '.rows[0].dev_name')" = \
		"$(printf 'a\u202eb\u200bc\u009bd\u2066e\ufefff\u00adg\U000e0041h\u00e9')" ]
}
