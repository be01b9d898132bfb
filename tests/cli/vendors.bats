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
