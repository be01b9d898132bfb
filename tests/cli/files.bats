# SPDX-License-Identifier: GPL-2.0-or-later
# What is written to files, and what never happens to files of others.
load common

# The ways to write a file; each takes its name last.
writers() {
	printf '%s\n' "trace export" "record" "record --hw" "--save" "bundle create -o"
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

# A tool that waits for ever fails.
limited() {
	eadm() {
		timeout 60 "$EADM" "$@"
	}
}

# Gives a file or link to another user, which only root can do.
another() {
	[ "$EUID" = 0 ] || skip "only root can give files to another user"
	chown -h 65534:65534 "$@"
}

@test "a pipe or terminal of another user is refused, whoever reads it" {
	local fifo=$BATS_TEST_TMPDIR/shared/fifo folder
	limited
	mkdir "$BATS_TEST_TMPDIR/shared"
	mkfifo "$fifo"
	another "$fifo"
	for folder in 1777 0777 0755; do
		chmod $folder "$BATS_TEST_TMPDIR/shared"
		writers | while read -r way; do
			# Without a reader, then with one.
			run write_by "$way" "$fifo"
			[ "$status" = 4 ]
			[[ $output == *"fifo: the pipe or device belongs to another user" ]]
			exec 9<>"$fifo"
			run write_by "$way" "$fifo"
			[ "$status" = 4 ]
			[ "$(dd if=/dev/fd/9 iflag=nonblock count=1 2>/dev/null | wc -c)" = 0 ]
			exec 9<&-
		done
	done
	/usr/bin/python3 - "$EADM" "$TWO" <<-'END'
	import os, pty, subprocess, sys
	master, slave = pty.openpty()
	name = os.ttyname(slave)
	os.chown(name, 65534, -1)
	done = subprocess.run([sys.argv[1], "--from", sys.argv[2], "trace", "export", name],
	                      stderr=subprocess.PIPE, text=True)
	assert done.returncode == 4 and "another user" in done.stderr, done
	# The caller's own standard output may be such a one: of sudo, for example.
	reader, writer = os.pipe()
	os.fchown(writer, 65534, -1)
	subprocess.run([sys.argv[1], "--from", sys.argv[2], "record", "/dev/stdout"],
	               stdout=writer, check=True)
	assert os.read(reader, 4) == b"\x0a\x0d\x0d\x0a"
	END
}

@test "a link of another user is not followed where all users can write" {
	local shared=$BATS_TEST_TMPDIR/shared real=$BATS_TEST_TMPDIR/real folder
	mkdir "$shared"
	ln -s ../real "$shared/theirs"
	another "$shared/theirs"
	ln -s theirs "$shared/ours"
	ln -s shared/theirs "$BATS_TEST_TMPDIR/through"
	ln -s "$real" "$shared/good"
	for folder in 0777 1777; do
		chmod $folder "$shared"
		writers | while read -r way; do
			echo precious >"$real"
			for name in shared/theirs shared/ours through; do
				run write_by "$way" "$BATS_TEST_TMPDIR/$name"
				[ "$status" = 4 ]
				[[ $output == *"another user's symbolic link"* ]]
				[ "$(cat "$real")" = precious ]
			done
			write_by "$way" "$shared/good" >/dev/null
			[ "$(head -c 8 "$real")" != precious ]
			[ -L "$shared/good" ]
		done
	done
	# In a folder of the caller, it is the caller's choice.
	chmod 0755 "$shared"
	echo old >"$real"
	eadm --from "$TWO" record "$shared/theirs"
	[ "$(head -c 3 "$real")" != old ]
	[ -L "$shared/theirs" ]
	[ "$(cd "$BATS_TEST_TMPDIR" && ls . shared | xargs)" = ".: real shared through shared: good ours theirs" ]
}

@test "a pipe that no process reads is an error after ten seconds" {
	limited
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	fails 1 "eadm: record: $BATS_TEST_TMPDIR/fifo: no reader on the pipe" \
		--from "$TWO" record "$BATS_TEST_TMPDIR/fifo"
}

@test "standard output by name: pipe, file, and one that was deleted" {
	local out=$BATS_TEST_TMPDIR/out size
	eadm --from "$TWO" record "$out"
	size=$(stat -c %s "$out")
	[ "$(eadm --from "$TWO" record /dev/stdout | wc -c)" = "$size" ]
	eadm --from "$TWO" record /dev/stdout >"$out"
	[ "$(stat -c %s "$out")" = "$size" ]
	exec 9<>"$out"
	rm "$out"
	eadm --from "$TWO" record /dev/fd/9
	[ "$(stat -L -c %s /dev/fd/9)" = "$size" ]
	exec 9<&-
	[ "$(ls "$BATS_TEST_TMPDIR")" = "" ]
}

@test "a non-blocking pipe gets all output" {
	cat >"$BATS_TEST_TMPDIR/slow" <<-'END'
		# Runs a command whose output is a pipe that is read only when it is full.
		import fcntl, os, select, subprocess, sys
		source, target = os.pipe()
		os.set_blocking(target, False)
		fcntl.fcntl(target, 1031, 4096)     # F_SETPIPE_SZ
		child = subprocess.Popen(sys.argv[1:], stdout=target)
		poller, length = select.poll(), 0
		poller.register(target, select.POLLOUT)
		while child.poll() is None:
		    if not poller.poll(0):
		        length += len(os.read(source, 4096))
		os.close(target)
		while data := os.read(source, 4096):
		    length += len(data)
		print(length, child.returncode)
	END
	for command in "record -" "dump qp --json" "dump qp --list-columns" "dump --help"; do
		# shellcheck disable=SC2086
		run -0 /usr/bin/python3 "$BATS_TEST_TMPDIR/slow" "$EADM" --from "$BUSY" $command
		# shellcheck disable=SC2086
		[ "$output" = "$(eadm --from "$BUSY" $command | wc -c) 0" ]
	done
}

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

@test "what has no end is not read to its end" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	# Memory that is kept as a file counts as one.
	ulimit -f 300000
	for reader in list diagnose; do
		# shellcheck disable=SC2086
		for input in /dev/zero /dev/urandom; do
			run timeout 20 "$EADM" --from $input $reader
			[ "$status" = 1 ] && [[ $output == *"not a pcapng file"* ]]
		done
		# shellcheck disable=SC2086
		run timeout 20 bash -c 'yes | "$@"' _ "$EADM" --from - $reader
		[ "$status" = 1 ] && [[ $output == *"not a pcapng file"* ]]
		timeout 20 yes >"$fifo" 2>/dev/null 3>&- &
		# shellcheck disable=SC2086
		run timeout 20 "$EADM" --from "$fifo" $reader
		[ "$status" = 1 ] && [[ $output == *"not a pcapng file"* ]]
		wait $! || true
	done
	# One byte at a time is as good as all at once.
	[ "$(python3 -c 'import os, sys
for byte in open(sys.argv[1], "rb").read(): os.write(1, bytes([byte]))' "$TWO" | eadm --from - list)" = \
		"$(eadm --from "$TWO" list)" ]
	run bash -c 'cat "$1" /dev/zero | "$2" --from - list' _ "$TWO" "$EADM"
	[ "$status" = 1 ]
	[[ $output == "eadm: list: -: input from a pipe or device exceeds 256 MiB: save it to a file first" ]]
	run timeout 20 "$EADM" bundle show /dev/zero
	[ "$status" = 1 ]
	run timeout 20 bash -c 'yes | "$@"' _ "$EADM" bundle verify -
	[ "$status" = 1 ]
}
