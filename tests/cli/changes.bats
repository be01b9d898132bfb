# SPDX-License-Identifier: GPL-2.0-or-later
# Captures, marks and diffs of devices that could not be read, of objects with the same
# number, and of objects that were created again.
load common

# unread FILE [ERRNO [DEVICES]]: see tests/captures/unread.py.
unread() {
	"$REPO/tests/captures/unread.py" "$@"
}

strerror() {
	/usr/bin/python3 -c "import os; print(os.strerror($1))"
}

@test "record: an object that cannot be read is reported, and the rest is recorded" {
	cd "$BATS_TEST_TMPDIR"
	for errno in 1 5 110; do
		unread from "$errno"
		fails 6 "eadm: record: rocep2: queue pairs: $(strerror "$errno")" --from from record to
		diff <(eadm --from to dump qp 2>&1) <(eadm --from from dump qp 2>&1)
	done
	# This is normal: the device was removed, or its driver does not support the object.
	for errno in 19 95; do
		unread from "$errno"
		fails 0 "" --from from record to
	done
	unread from 5
	run -6 eadm --from from bundle create -o bundle.tar.zst
	run -0 --separate-stderr eadm bundle show bundle.tar.zst --json
	[ "$(echo "$output" | jq -r '.rows[] | select(.part == "capture.pcapng") | .state')" = partial ]
}

@test "diff: devices that one side could not read are not compared" {
	cd "$BATS_TEST_TMPDIR"
	unread whole
	for errno in 1 5 110; do
		unread part "$errno"
		why=$(strerror "$errno")
		fails 6 "eadm: diff: rocep2: queue pairs: after: $why" diff whole part qp
		fails 6 "eadm: diff: rocep2: queue pairs: before: $why" diff part whole qp
	done
	unread none 5 01
	run --separate-stderr eadm diff none none
	[ "$status" = 6 ]
	[ "$output" = "" ]
	[ "$stderr" = "eadm: diff: queue pairs: before: Input/output error
eadm: diff: queue pairs: after: Input/output error" ]
	run --separate-stderr eadm diff none none qp
	[ "$status" = 1 ]
	[[ $stderr == *"eadm: diff: queue pairs: Input/output error"* ]]
	# Removed during the dump: these objects no longer exist.
	unread part 19
	[ "$(eadm diff whole part qp --json | jq -c '[.rows[] | [.dev_name, .id, .change]]')" = \
		'[["rocep2",17,"gone"],["rocep2",18,"gone"]]' ]
}

@test "diff: an unknown device is an error, and a removed one is not" {
	fails 3 "eadm: diff: nope: no such RDMA device" diff "$TWO" "$WELL" -d nope
	fails 3 "eadm: diff: nope: no such RDMA device" diff "$TWO" "$WELL" -d nope --setup
	[ "$(eadm diff "$TWO" "$MOMENTS" dev -d cloud_1 --json | jq -c '[.rows[] | [.dev_name, .change]]')" = \
		'[["cloud_1","gone"]]' ]
}

@test "diff --setup: what neither side could read is reported, unless the hosts have none" {
	local errno
	cd "$BATS_TEST_TMPDIR"
	for errno in 5 95; do
		/usr/bin/python3 - "$REPO/tests/captures" "$errno" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from nlcap import Capture
		import synth
		cap = Capture()
		cap.local("machine", {"kernel": "6.12.0-test"})
		cap.snapshot(0)
		cap.family()
		cap.rdma_devices([(0, "cloud_0", 1)])
		cap.dump("dev", [synth.device(0)])
		cap.refused("conf", -int(sys.argv[2]), hw=True)
		cap.write(sys.argv[2])
		END
	done
	run --separate-stderr eadm diff 5 5 --setup
	[ "$status" = 6 ]
	[[ $stderr == *"eadm: diff: settings: A: Input/output error"* ]]
	[[ $stderr == *"eadm: diff: settings: B: Input/output error"* ]]
	run --separate-stderr eadm diff 95 95 --setup
	[ "$status" = 0 ]
	[[ $stderr != *settings* ]]
}

@test "diff: a dump during which objects changed is reported" {
	run --separate-stderr eadm diff "$DEAD" "$DEAD" qp
	[ "$status" = 0 ]
	[[ $stderr == *"eadm: diff: objects appeared or vanished during the dump"* ]]
	valid diff "$DEAD" "$DEAD" qp --json
}

# one_qp FILE SECONDS AGE [FIELD=NUMBER...]: QP 10 at this time and age, in seconds.
one_qp() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	from nlcap import Capture
	from synth import DEVS, SEC, device, qp
	path, at, age = sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
	more = {key: int(value) for key, value in (arg.split("=") for arg in sys.argv[5:])}
	cap = Capture(time=1700000000 * SEC + int(at * SEC))
	cap.comm(4711, "a")
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices(DEVS[:1])
	cap.dump("dev", [device(0)])
	cap.dump("qp", [qp(0, 10, age=int(age * SEC), **more)])
	cap.write(path)
	END
}

# changes A B: changes of QPs
changes() {
	eadm diff "$1" "$2" qp --json | jq -c '[.rows[] | [.change, .field]]'
}

@test "diff: an object that reuses the number of another one is gone and new" {
	cd "$BATS_TEST_TMPDIR"
	one_qp before 0 100 events=5
	reused='[["gone",null],["new",null]]'
	one_qp after 60 1 events=9
	[ "$(changes before after)" = "$reused" ]
	[ "$(changes after before)" = "$reused" ]
	# Older than the first one was, but created after the first snapshot.
	one_qp after 3600 200
	[ "$(changes before after)" = "$reused" ]
	# Another number in the RDMA core.
	one_qp after 60 160 res-id=1234
	[ "$(changes before after)" = "$reused" ]
	# Created again within a second.
	one_qp after 0.5 0.1
	[ "$(changes before after)" = "$reused" ]
	# The same object, even if a row arrived late.
	one_qp after 60 159.5 events=6
	[ "$(changes before after)" = '[["changed","events"]]' ]
	one_qp before 0 0 events=5
	one_qp after 60 59.5 events=6
	[ "$(changes before after)" = '[["changed","events"]]' ]
}

# rows_of FILE OBJECT ROW...: rows of a device with two ports: FIELD=VALUE,...
rows_of() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	from nlcap import Capture
	path, name, *rows = sys.argv[2:]
	cap = Capture()
	cap.local("machine", {"kernel": "6.12.0-test"})
	cap.snapshot(0)
	cap.family(False)
	cap.rdma_devices([(0, "mlx5_0", 2)])
	values = [dict(pair.split("=") for pair in row.split(",")) for row in rows]
	cap.local(name, *({"dev-index": 0, "dev-name": "mlx5_0",
	                   **{key: int(value) if value.isdigit() else value for key, value in row.items()}}
	                  for row in values))
	cap.write(path)
	END
}

# qps_of FILE QPN:PORT:STATE...: QPs of a device with two ports
qps_of() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	from nlcap import RDMA, Capture
	from nldev import rdma_qp
	cap = Capture()
	cap.local("machine", {"kernel": "6.12.0-test"})
	cap.snapshot(0)
	cap.family(False)
	cap.rdma_devices([(0, "mlx5_0", 2)])
	one = cap.attr(1, cap.pack("I", 0))
	entries = b""
	for qpn, port, state in (arg.split(":") for arg in sys.argv[3:]):
	    entries += cap.attr(20, rdma_qp(cap, int(qpn), int(state), "ib_core") +
	                        (cap.attr(3, cap.pack("I", int(port))) if port else b""))
	seq = cap.request(RDMA, 5 << 10 | 10, one, True)
	cap.packet(RDMA, cap.message(5 << 10 | 10, 2, seq, one + cap.attr(19, entries)) + cap.done(seq))
	cap.write(sys.argv[2])
	END
}

# rows_differ OBJECT: what identifies the changed rows of the files a and b, and what changed
rows_differ() {
	eadm diff a b "$1" --json | jq -c '.rows[] | [.port, .id, .name, .change, .field]'
}

@test "diff: ports and names are part of the identity" {
	cd "$BATS_TEST_TMPDIR"
	rows_of a gid port={1,2},gid-index={0,1},type=v2
	rows_of b gid port=1,gid-index=0,type=v2 port=2,gid-index=0,type=v2 port=2,gid-index=1,type=v1
	valid diff a b gid --json
	[ "$(rows_differ gid)" = '[1,1,null,"gone",null]
[2,1,null,"changed","type"]' ]
	# A QP has no port before it is initialized.
	qps_of a 1:1:3 1:2:3 17::0
	qps_of b 1:1:3 1:2:6 17:2:1
	valid diff a b qp --json
	[ "$(rows_differ qp)" = '[2,1,null,"changed","state"]
[2,17,null,"changed","state"]' ]
	rows_of a qp-counter port={1,2},counter=1,name={rx,tx},value=5
	rows_of b qp-counter port={1,2},counter=1,name=rx,value=5 port=2,counter=1,name=tx,value=6
	valid diff a b qp-counter --json
	[ "$(rows_differ qp-counter)" = '[1,1,"tx","gone",null]
[2,1,"tx","changed","value"]' ]
}

@test "record, mark and bundle create: --save and --at that would be ignored are refused" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$BATS_TEST_TMPDIR/empty"
	export XDG_STATE_HOME=$PWD
	fails 2 "eadm: record: --save: cannot be used with record, which writes a capture" \
		--from "$TWO" --save saved record to
	fails 2 "eadm: mark: --save: cannot be used with mark, which writes a capture" --from "$TWO" --save saved mark x
	fails 2 "eadm: bundle: --save: cannot be used with create: a bundle includes a capture" \
		--from "$TWO" --save saved bundle create -o to
	fails 2 "eadm: bundle: --at: a bundle always includes all snapshots" \
		--from "$MOMENTS" --at '#2' bundle create -o to
	[ "$(ls)" = "" ]
}

@test "mark: a directory that is not writable is a missing permission" {
	local without=()
	[ "$(id -u)" != 0 ] || without=(setpriv --inh-caps=-all --bounding-set=-dac_override)
	cd "$BATS_TEST_TMPDIR"
	mkdir state
	chmod 555 state
	export XDG_STATE_HOME=$PWD/state
	run ${without[@]+"${without[@]}"} "$EADM" --from "$TWO" mark x
	[ "$status" = 4 ]
	[ "$output" = "eadm: mark: $PWD/state/eadm/marks/x: Permission denied" ]
}

@test "trace --follow reports devices beyond its limit" {
	"$REPO/tests/captures/devices.py" "$BATS_TEST_TMPDIR/many" 66
	run eadm --from "$BATS_TEST_TMPDIR/many" trace --follow
	[[ ${lines[0]} == "eadm: trace: not all devices are followed (use --device): the limit is 64" ]]
}
