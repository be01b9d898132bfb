# SPDX-License-Identifier: GPL-2.0-or-later
# Devices of any vendor, without the companion: RDMA netlink, sysfs, libibverbs.
load common

setup_file() {
	export FOREIGN=$BATS_TEST_DIRNAME/../captures/synth/foreign.pcapng
	export STOCK=$BATS_TEST_DIRNAME/../captures/synth/stock.pcapng
}

@test "counters have one name for each meaning, wherever they come from" {
	golden foreign-stat --from "$FOREIGN" stat
	golden foreign-stat-json --from "$FOREIGN" stat --json
	eadm --from "$FOREIGN" stat --json 2>/dev/null | "$REPO/tests/cli/validate"
}

@test "and their own names and units on request" {
	golden foreign-original --from "$FOREIGN" stat --original
	eadm --from "$FOREIGN" stat --original --json | "$REPO/tests/cli/validate"
	[ "$(eadm --from "$FOREIGN" stat --original -j | jq '.rows[0].other.port_xmit_data')" = 1000 ]
	golden rxe-original --from "$RXE" stat --original
	fails 3 "eadm: stat: counters: not in the capture" --from "$TWO" stat --original
	fails 2 "eadm: stat: --original: cannot be combined with other options" stat eq --original
	fails 2 "eadm: stat: --original: cannot be combined with other options" stat --original -l
}

@test "info tells the limits that libibverbs knows" {
	golden foreign-info --from "$FOREIGN" info
	eadm --from "$FOREIGN" info --json 2>/dev/null | "$REPO/tests/cli/validate"
}

@test "the companion is mentioned only where it could show more" {
	for command in list info stat "dump dev"; do
		# shellcheck disable=SC2086
		run --separate-stderr eadm --from "$FOREIGN" $command
		[ "$status" = 0 ]
		[ "$stderr" = "" ]
	done
	for command in "dump eq" "dump cmdq" trace "trace hist" "dump cmd"; do
		# shellcheck disable=SC2086
		run --separate-stderr eadm --from "$FOREIGN" $command
		[ "$status" = 5 ]
		[[ $stderr == *"not supported by the drivers of these devices"* ]]
	done
}

@test "connections are those of the kernel's connection manager" {
	golden stock-cep --from "$STOCK" dump cep -o +ps,res-id
	golden stock-cep-json --from "$STOCK" dump cep --json
	valid --from "$STOCK" dump cep --json
	[ "$(eadm --from "$STOCK" dump cep 3 --json | jq -c '.rows | map(.res_id)')" = '[3]' ]
	[ "$(eadm --from "$STOCK" dump cep --state listening --json | jq '.rows | length')" = 2 ]
	fails 3 "eadm: dump: cep 99: no such object" --from "$STOCK" dump cep 99
}

@test "and tell the peers of queue pairs, where there is no doubt" {
	local columns=local-addr,local-port,peer-addr,peer-port

	golden stock-qp --from "$STOCK" dump qp -o "device,qpn,state,$columns"
	valid --from "$STOCK" dump qp --json
	[ "$(eadm --from "$STOCK" dump qp --peer 10.77.1.1:4420 --json | jq -c '.rows | map(.qpn)')" = '[20]' ]
	[ "$(eadm --from "$STOCK" dump qp 17 -d siw0 --json | jq -r '.rows[0].peer_addr')" = 10.77.0.1 ]
	diff <(eadm --from "$STOCK" dump qp --json 2>&1) \
		<(eadm --from "${STOCK%.pcapng}-be.pcapng" dump qp --json 2>&1)
}

@test "and shared receive queues, as the RDMA core knows them" {
	golden stock-srq --from "$STOCK" dump srq
	valid --from "$STOCK" dump srq --json
	diff <(eadm --from "$STOCK" dump srq --json 2>&1) \
		<(eadm --from "${STOCK%.pcapng}-be.pcapng" dump srq --json 2>&1)
}

@test "and the SRQ of a QP, from the list of its QPs" {
	[ "$(eadm --from "$STOCK" dump qp -d rocep1 --json | jq -c '[.rows[] | [.qpn, .srqn]]')" = \
		'[[1,null],[17,3],[18,5],[19,3],[20,3],[21,3],[22,null],[23,null],[24,3]]' ]
	# Captures from before have no answer about SRQs.
	[ "$(eadm --from "$RXE" dump qp --json | jq '[.rows[] | has("srqn")] | any')" = false ]
	run --separate-stderr eadm --from "$RXE" dump qp
	[ "$status" = 0 ]
	[ "$stderr" = "" ]
}

@test "a list of QPs longer than the field, a broken one, and a kernel without the request" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from nldev import qp_list, rdma_srq
	from synth import Capture
	def write(name, rows=None):
	    cap = Capture()
	    cap.local("machine", {"kernel": "6.12.0-test"})
	    cap.snapshot(0)
	    cap.family(False)
	    cap.rdma_devices([(0, "rocep1", 1)])
	    one = cap.attr(1, cap.pack("I", 0))
	    for cmd in (23, 5, 9):
	        ask = one + cap.attr(3, cap.pack("I", 1)) if cmd == 5 else one
	        seq = cap.request(20, 5 << 10 | cmd, ask, cmd == 23)
	        if cmd != 23:
	            answer = cap.message(5 << 10 | cmd, 0, seq, one)
	        elif rows is None:
	            answer = cap.error(seq, -22)
	        else:
	            nest = cap.attr(88, b"".join(cap.attr(89, row) for row in rows(cap)))
	            answer = cap.message(5 << 10 | cmd, 2, seq, one + nest) + cap.done(seq)
	        cap.packet(20, answer)
	    cap.write(f"{sys.argv[2]}/{name}")
	write("long", lambda cap: [rdma_srq(cap, 1, 0, 99, qps=range(100000, 101000, 2))])
	write("odd", lambda cap: [rdma_srq(cap, 1, 0, 99, qps=((9, 3), 7, (0, 0xffffffff)))])
	write("broken", lambda cap: [rdma_srq(cap, 1, 0, 99) + cap.attr(19, b"\xff\x00\x14\x00")])
	write("old")
	END
	run eadm --from "$BATS_TEST_TMPDIR/long" dump srq --json
	[ "$(jq '.rows[0].users' <<<"$output")" = 500 ]
	[[ $(jq -r '.rows[0].qpns' <<<"$output") =~ ^100000\ 100002\ .*\ 1005[0-9]*\ \.\.\.$ ]]
	run eadm --from "$BATS_TEST_TMPDIR/odd" dump srq --json
	[ "$(jq -c '.rows[0] | [.users, .qpns]' <<<"$output")" = '[null,"7 0-4294967295"]' ]
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/broken" dump srq
	[ "$status" = 1 ]
	[[ $stderr == *"RDMA attribute exceeds the message"* ]]
	fails 5 "eadm: dump: shared receive queues: this kernel does not list them" \
		--from "$BATS_TEST_TMPDIR/old" dump srq
}

@test "a device below nothing has the driver that verbs tell, if it is loaded" {
	golden stock-list --from "$STOCK" list
	diff <(eadm --from "$STOCK" list --json 2>&1) \
		<(eadm --from "${STOCK%.pcapng}-be.pcapng" list --json 2>&1)
	valid --from "$STOCK" list --json
}

@test "every counter that the dictionary names is a field" {
	python3 - "$REPO" "$EADM" <<-'EOF'
	import subprocess, sys, yaml
	names = {line.split()[0] for line in subprocess.run(
	    [sys.argv[2], "dump", "counters", "-o", "help"], check=True, text=True,
	    stdout=subprocess.PIPE).stdout.splitlines()}
	with open(f"{sys.argv[1]}/spec/counters.yaml", encoding="utf-8") as file:
	    drivers = yaml.safe_load(file)["drivers"]
	missing = {field for driver in drivers for field in driver["counters"].values()} - names
	sys.exit(f"missing: {missing}" if missing else 0)
	EOF
}
