# SPDX-License-Identifier: GPL-2.0-or-later
# Support bundles; tests/bundle/run has what takes longer.
load common

# member BUNDLE NAME: the bytes of a member.
member() {
	zstd -dcq "$1" | tar xfO - "eadm-bundle/$2"
}

# A pipe whose writer pauses until its first 20 bytes have been read.
slow_pipe() {
	mkfifo "$2"
	timeout 60 /usr/bin/python3 - "$1" "$2" 3>&- <<-'END' &
		import fcntl, struct, sys, termios, time
		key = open(sys.argv[1], "rb").read()
		with open(sys.argv[2], "wb", buffering=0) as pipe:
		    pipe.write(key[:20])
		    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]:
		        time.sleep(0.01)
		    pipe.write(key[20:])
	END
}

@test "bundle: a key from a pipe is read to its end" {
	cd "$BATS_TEST_TMPDIR"
	printf 'a key of 20 bytes...and its remaining bytes, 64 in all, and more' >key
	slow_pipe key fifo
	eadm --from "$TWO" bundle create --redact-key key -o file.zst
	eadm --from "$TWO" bundle create --redact-key fifo -o pipe.zst
	wait
	[ "$(eadm --from file.zst list)" = "$(eadm --from pipe.zst list)" ]
}

@test "bundle: keys that are too short, or all of one byte, are refused" {
	cd "$BATS_TEST_TMPDIR"
	printf 'fifteen bytes..' >short
	fails 1 "eadm: bundle: short: a key must have at least 16 bytes" \
		--from "$TWO" bundle create --redact-key short -o x.zst
	fails 1 "eadm: bundle: /dev/zero: all bytes of the key are the same" \
		--from "$TWO" bundle create --redact-key /dev/zero -o x.zst
	[ ! -e x.zst ]
}
