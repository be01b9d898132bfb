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

# with_log COMMAND...: with a kernel log of the lines of standard input. The file has one record in
# each 8 KiB, which is what eadm reads at once: a read of /dev/kmsg returns a single record.
with_log() {
	/usr/bin/python3 -c '
import sys
for number, line in enumerate(sys.stdin.buffer):
    sys.stdout.buffer.seek(8192 * number)
    sys.stdout.buffer.write(b"6,%d,%d,-;" % (number, 1000000 + number) + line)
sys.stdout.buffer.truncate(8192 * (number + 1))' >"$BATS_TEST_TMPDIR/kmsg"
	# shellcheck disable=SC2016
	unshare -m bash -euc 'mount --bind "$0" /dev/kmsg; exec "$@"' "$BATS_TEST_TMPDIR/kmsg" "$@"
}

@test "bundle: of a long kernel log, the newest lines are kept" {
	unshare -m true || skip "requires root"
	cd "$BATS_TEST_TMPDIR"
	{ seq -f "rdma: line %.0f" 20049; echo "mlx5_ib: the fault"; } >log
	with_log "$EADM" bundle create -i 10ms -o b.zst <log || [ $? = 6 ]
	[ "$(member b.zst log/kernel.txt | wc -l)" = 20000 ]
	[ "$(member b.zst log/kernel.txt | sed -n '1p;$p')" = "[1.000050] rdma: line 51
[1.020049] mlx5_ib: the fault" ]
	eadm bundle show b.zst --json |
		jq -e '.rows[] | select(.part == "log/kernel.txt") | .state == "partial" and
			.why == "50 older lines were left out"'
}

@test "bundle: data after the end is refused" {
	cd "$BATS_TEST_TMPDIR"
	eadm --from "$TWO" bundle create -o good.zst
	zstd -dcq good.zst >good.tar
	# A member after the end of the archive: "tar -i" unpacks it. A NUL in SHA256SUMS.
	/usr/bin/python3 - <<-'END'
		import io, tarfile
		good = open("good.tar", "rb").read()
		with tarfile.open("more.tar", "w") as more:
		    more.addfile(tarfile.TarInfo("eadm-bundle/../../evil"))
		open("after.tar", "wb").write(good + open("more.tar", "rb").read())
		with tarfile.open("good.tar") as old, tarfile.open("nul.tar", "w") as new:
		    for member in old:
		        data = old.extractfile(member).read()
		        if member.name.endswith("/SHA256SUMS"):
		            data += b"\0junk"
		        member.size = len(data)
		        new.addfile(member, io.BytesIO(data))
		open("zeros.tar", "wb").write(good + bytes(20000))
		open("bomb.tar", "wb").write(good + bytes(100 << 20))
	END
	for name in after nul zeros bomb; do
		zstd -cq $name.tar >$name.zst
	done
	mkdir eadm-bundle
	truncate -s 900M eadm-bundle/sparse
	echo x >>eadm-bundle/sparse
	tar cS --format=gnu eadm-bundle/sparse | zstd -cq >sparse.zst
	cat good.zst good.zst >twice.zst
	{ cat good.zst; echo x | zstd -cq; } >frame.zst
	eadm bundle verify zeros.zst
	damaged="the bundle is damaged:"
	for name in after twice frame; do
		fails 1 "eadm: bundle: $name.zst: $damaged trailing data" bundle verify $name.zst
		fails 1 "eadm: list: $name.zst: $damaged trailing data" --from $name.zst list
	done
	fails 1 "eadm: bundle: nul.zst: $damaged SHA256SUMS has an invalid line" bundle verify nul.zst
	for name in bomb sparse; do
		fails 1 "eadm: bundle: $name.zst: $damaged unpacked data exceeds the limit" \
			bundle verify $name.zst
	done
	run ! eadm bundle verify - <twice.zst
}

@test "bundle: closed standard descriptors are not used for its files" {
	cd "$BATS_TEST_TMPDIR"
	create=("$EADM" --from "$TWO" bundle create --redact -o b.zst)
	"${create[@]}" <&- >&-
	"${create[@]}" >&- 2>&-
	"${create[@]}" <&- 2>&-
	"${create[@]}" <&- >&- 2>&-
	eadm bundle show b.zst --json | jq -e 'all(.rows[]; .state == "ok" or .state == "absent")'
	# It is still an error that they cannot be read or written.
	run -1 bash -c '"$0" --from "$1" list 2>&1 >&-' "$EADM" "$TWO"
	[ "$output" = "eadm: list: standard output: Bad file descriptor" ]
	run -1 bash -c '"$0" --from - list <&- 2>&1' "$EADM"
	[ "$output" = "eadm: list: -: Bad file descriptor" ]
	run -1 bash -c '"$0" --from "$1" bundle create -o - 2>&1 >&-' "$EADM" "$TWO"
	[ "$output" = "eadm: bundle: standard output: Bad file descriptor" ]
}

@test "without /proc and /dev, files are written, and a bundle states what it lacks" {
	unshare -m true || skip "requires root"
	cd "$BATS_TEST_TMPDIR"
	bare() {
		# A sanitizer reads its options from /proc/self/environ, and finds leaks by /proc.
		# shellcheck disable=SC2016
		LD_LIBRARY_PATH=$BUILD/libeadm unshare -m bash -c '
			mount -t tmpfs none /dev && mount -t tmpfs none /proc || exit
			[ -z "${ASAN_OPTIONS-}" ] ||
				{ mkdir /proc/self && printf "ASAN_OPTIONS=detect_leaks=0\0" >/proc/self/environ; } || exit
			exec "$@"' - "$EADM" "$@"
	}
	bare --from "$TWO" list --save saved
	[ "$(eadm --from saved list)" = "$(eadm --from "$TWO" list)" ]
	run -6 bare --from "$TWO" bundle create -o b.zst
	[ "$(eadm --from b.zst list)" = "$(eadm --from "$TWO" list)" ]
	eadm bundle show b.zst --json | jq -e '.rows[] | select(.part == "text/list.txt") |
		.state == "failed" and (.why | test("^list: /proc/self/fd/[0-9]+: No such file"))'
	mkfifo pipe
	run -1 bare --from "$TWO" bundle create -o pipe
	[ "$(grep -v '^==[0-9]*==WARNING: reading executable name' <<<"$output")" = "eadm: bundle: pipe: /proc is not mounted" ]
	[ "$(ls)" = "b.zst
pipe
saved" ]
}

@test "bundle: keys and bytes of commands that succeeded are left out, and all else is kept" {
	cd "$BATS_TEST_TMPDIR"
	local secrets='["lkey", "rkey", "local_dma_lkey", "qkey"]' bytes='["request", "response"]'
	# rows CAPTURE OBJECT COLUMNS: with secrets if they are in the capture.
	rows() {
		eadm --from "$1" dump "$2" -o "all,$3" --json 2>/dev/null | jq -c ".rows[]?"
	}
	# By RDMA netlink, by the companion, of the other byte order, in a nest, failed commands.
	for capture in "$RXE" "$TWO" "$SYNTH/two-be.pcapng" "$LIVE" "$SICK" \
		"$REPO/tests/family/efa/captures/rings.pcapng"; do
		eadm --from "$capture" bundle create -o b.zst || [ $? = 6 ]
		while read -r object columns; do
			rows "$capture" "$object" "$columns" >old || :
			rows b.zst "$object" "$columns" >new || :
			cat old >>all
			jq -c --argjson secrets "$secrets" --argjson bytes "$bytes" '
				delpaths($secrets + if .state == "done" then $bytes else [] end | map([.]))' \
				old | diff - new
		done <<-'END'
			mr lkey,rkey
			pd local-dma-lkey
			qp qkey
			cmd request,response
		END
	done
	# All of them were in the captures, and so were bytes of commands that failed.
	jq -sce --argjson secrets "$secrets" '(map(keys_unsorted) | add | unique) as $all |
		([.[] | select(.request).state] | unique) as $states |
		$secrets - $all == [] and ["done", "timeout", "error"] - $states == []' all
}
