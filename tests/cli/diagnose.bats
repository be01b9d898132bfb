# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong with a machine, and with what it is made of.
load common

rules_of() {
	eadm --from "$1" diagnose --json "${@:2}" 2>/dev/null | jq -r '.rows[].rule' | sort -u
}

# Those by what the probe recorded find theirs in a guest, too: tests/guest/probe/failures.sh.
PROBED=$REPO/tests/captures/probed

@test "every rule finds its fault, with object, evidence, cause and next step" {
	# These need what ERDMA does not have; a QP stops with its first failure.
	local unfed=(adapter-event cq-too-small failed-requests peer-not-ready peer-unreachable peer-vanished)
	[ "$({ rules_of "$SICK"; rules_of "$PROBED/failing.pcapng"; printf '%s\n' "${unfed[@]}"; } | sed '/^$/d' | sort)" = \
		"$(eadm diagnose --rules --json | jq -r '.rows[] | select(.check != .rule).rule' | sort)" ]
	run jq -e '.rows | all((.evidence | length > 0) and (.finding | length > 10) and
		(.cause | length > 10) and (.next | test("eadm|ip |dmesg")) and (.dev_name or (.object | IN("verbs-user", "smc-fallback"))))' \
		<(eadm --from "$SICK" diagnose --json)
	[ "$output" = true ]
}

@test "where an adapter does not count for its QPs, only rules that need that are missing" {
	PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR" <<-'PY'
	import sys
	import nlcap
	counts = {"hw-send-cqes", "hw-recv-cqes", "hw-tx-packets", "hw-rx-packets", "hw-rx-error-drops",
	          "hw-rx-invalid-drops", "hw-rto-retrans", "hw-out-of-order"}
	row = nlcap.Netlink.row
	nlcap.Netlink.row = lambda self, obj, values, hw=True: row(
	    self, obj, {n: v for n, v in values.items() if n.replace("_", "-") not in counts}, hw)
	import synth
	synth.sick().write(f"{sys.argv[1]}/sick.pcapng")
	synth.well().write(f"{sys.argv[1]}/well.pcapng")
	PY
	verdicts() { eadm --from "$1" diagnose --json | jq -r '.rows[] | "\(.rule) \(.dev_name) \(.object) \(.id)"' | sort; }
	[ "$(diff <(verdicts "$SICK") <(verdicts "$BATS_TEST_TMPDIR/sick.pcapng") | sed -n 's/ .*//; /^[<>]/p' | sort -u)" = "<" ]
	[ "$(diff <(rules_of "$SICK") <(rules_of "$BATS_TEST_TMPDIR/sick.pcapng") | sed -n 's/^< //p' | tr '\n' ' ')" = \
		"bad-packets lost-completion receive-not-taken receiver-starved retransmission-storm sender-slow sender-stalled stray-completion " ]
	[ "$(eadm --from "$BATS_TEST_TMPDIR/well.pcapng" diagnose --json | jq -c .rows)" = \
		"$(eadm --from "$WELL" diagnose --json | jq -c .rows)" ]
}

@test "what is found, for people" {
	golden diagnose-sick --from "$SICK" diagnose
	golden diagnose-dead --from "$DEAD" diagnose
	golden diagnose-probed --from "$PROBED/failing.pcapng" diagnose
	golden diagnose-rules diagnose --rules
}

@test "a busy healthy device has no verdict, an unused port that is down a notice" {
	run --separate-stderr eadm --from "$WELL" diagnose --json
	[ "$status" = 0 ]
	[ "$(jq -c '.rows[] | [.rule, .severity, .dev_name]' <<<"$output")" = \
		'["link-down","notice","idle"]' ]
	run --separate-stderr eadm --from "$WELL" diagnose -d cloud_0
	[ "$status" = 0 ]
	[ "$output" = "" ]
	[ "$stderr" = "eadm: diagnose: no problems found" ]
}

@test "what looks like a failure that the probe recorded has no verdict" {
	for name in well overwritten; do
		run --separate-stderr eadm --from "$PROBED/$name.pcapng" diagnose
		[ "$status" = 0 ]
		[ "$output" = "" ]
	done
	# The failed calls are there.
	[ "$(eadm --from "$PROBED/well.pcapng" trace --json | jq '[.rows[] | select(.state == "error")] | length')" = 5 ]
}

@test "recordings of healthy guests have no verdict" {
	for capture in "${LIVES[@]}" "$TWO"; do
		run --separate-stderr eadm --from "$capture" diagnose
		echo "$capture: $output $stderr"
		[ "$status" = 0 ]
		[ "$output" = "" ]
	done
}

@test "the worst comes first and makes the exit status" {
	run jq -r '.rows | map(.severity) | map({critical: 0, warning: 1, notice: 2}[.]) |
		. == sort' <(eadm --from "$SICK" diagnose --json)
	[ "$output" = true ]
	run eadm --from "$SICK" diagnose
	[ "$status" = 8 ]
	run eadm --from "$SICK" diagnose -d stalled --at '#1'
	[ "$status" = 8 ]
	run eadm --from "$MOMENTS" diagnose
	[ "$status" = 0 ]
	[[ $output == *counters-restarted*"could not be applied: the capture"* ]]
}

@test "one moment tells what needs one" {
	two=$(eadm diagnose --rules --json | jq -r '.rows[] | select(.snapshots == 2).rule' | sort)
	[ "$(comm -12 <(rules_of "$SICK" --at '#1') <(echo "$two"))" = "" ]
	[[ $(rules_of "$SICK" --at '#1') == *cmdq-dead*qp-error* ]]
	[ "$(rules_of "$SICK" --at '#2')" = "$(rules_of "$SICK")" ]
	run --separate-stderr eadm --from "$TWO" diagnose
	[ "$status" = 0 ]
	[ "${stderr_lines[0]}" = "eadm: diagnose: rules: $(wc -w <<<"$two") require an earlier snapshot for comparison (eadm record -n 2)" ]
	eadm --from "$TWO" diagnose -j | "$REPO/tests/cli/validate"
	[ "$(eadm --from "$TWO" diagnose -j | jq -r '.notes[].what' | uniq)" = rules ]
	[[ $(eadm --from "$SICK" --at '#2' diagnose 2>&1) != *"another snapshot"* ]]
}

@test "what was counted long ago is history" {
	local rules='missed-interrupt|unknown-event|spurious-completion|extra-events'
	[ "$(eadm --from "$SICK" diagnose --json | jq -r '.rows[].rule' | grep -cE "^($rules)$")" = 4 ]
	[ "$(eadm --from "$WELL" dump eq --json | jq '[.rows[].missed // 0] | max')" = 3 ]
	run ! grep -E "$rules" <(eadm --from "$WELL" diagnose)
	# It is said how long ago.
	[[ $(eadm --from "$SICK" diagnose --json | jq -r '.rows[].finding') == *"events without an interrupt were found 3 times, most recently 5.0 s ago"* ]]
}

@test "rules that could not be applied are counted, with the reason" {
	run --separate-stderr eadm --from "$TWO" diagnose
	[[ $stderr == *"no problems found by the rules that could be applied"* ]]
	[[ $stderr == *"cloud_0: rules: 9 of "*" could not be applied: the capture lacks data "* ]]
	[ "$(eadm --from "$TWO" diagnose --json | jq -c '[.notes[] | select(.reason) |
		[.device, .reason, .count > 0, .of > .count, (.remedy | length > 5)]]')" = \
		'[["cloud_0","capture",true,true,true],["cloud_1","capture",true,true,true]]' ]
	# Of another vendor's device, too; it is no failure, unless asked for.
	run --separate-stderr eadm --from "$RXE" diagnose --json
	[ "$status" = 0 ]
	[ "$(jq -c '[.notes[] | select(.reason) | [.device, .reason, .count > 0]]' <<<"$output")" = \
		'[["rxe0","stock-driver",true]]' ]
	run --separate-stderr eadm --from "$RXE" diagnose --strict
	[ "$status" = 6 ]
}

# Two samples a second apart of a port of a stock driver and its QPs.
silent() { # FILE RECEIVED REPETITIONS QPS
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stock
	path, received, again, qps = sys.argv[2], *map(int, sys.argv[3:])
	stock.traffic([(1000, 900, 0), (3000, 900 + received, again)], qps).write(path)
	EOF
}

found() { # FILE
	eadm --from "$1" diagnose --json 2>/dev/null | jq -r '.rows[] | "\(.severity) \(.rule) \(.finding)"'
}

@test "a peer that does not answer is found by the counters of a stock driver" {
	silent "$BATS_TEST_TMPDIR/one" 0 15 1
	[ "$(found "$BATS_TEST_TMPDIR/one")" = "critical peer-unresponsive the peer of QP 17 of ib_send_bw (99) does not respond: within 1.0 s, 2000 packets were sent and none received, and requests were sent again 15 times" ]
	silent "$BATS_TEST_TMPDIR/two" 0 15 2
	[[ $(found "$BATS_TEST_TMPDIR/two") == "critical peer-unresponsive no peer responds: within "* ]]
	[ "$(eadm --from "$BATS_TEST_TMPDIR/two" diagnose --json 2>/dev/null |
		jq -c '[.rows[0].evidence[] | select(.object == "qp" and .name == "pid") | .value]')" = "[99,99]" ]
	# Peers that answer, a sender without timeouts, one accident.
	silent "$BATS_TEST_TMPDIR/answered" 1 15 1
	silent "$BATS_TEST_TMPDIR/sender" 0 0 1
	silent "$BATS_TEST_TMPDIR/accident" 0 1 1
	for name in answered sender accident; do
		[ "$(found "$BATS_TEST_TMPDIR/$name")" = "" ]
	done
}

# Two samples a second apart of one port, whose counters grow by these.
unready() { # FILE COUNTER=GROWTH...
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import synth
	cap = synth.Capture()
	growth = dict(pair.split("=") for pair in sys.argv[3:])
	for number in range(2):
	    cap.time = 1700000000 * synth.SEC + number * synth.SEC
	    cap.snapshot(number)
	    cap.family()
	    cap.rdma_devices(synth.DEVS[:1])
	    cap.dump("dev", [synth.device(0)])
	    cap.dump("counters", [synth.counters(0, **{name: 7 + number * int(n)
	                                               for name, n in growth.items()})], hw=True)
	cap.write(sys.argv[2])
	EOF
	found "$1" | grep receiver-not-ready
}

@test "receivers that are not ready are counted at either end" {
	local one=$BATS_TEST_TMPDIR/one

	# Both ends are queue pairs of this device: an answer that is sent is received.
	[ "$(unready "$one" rx-rnr-naks=379 tx-rnr-naks=379)" = "notice receiver-not-ready requests found no receive posted 379 times at the peer and 379 times here within 1.0 s" ]
	[ "$(unready "$one" rx-rnr-naks=40)" = "notice receiver-not-ready requests found no receive posted 40 times at the peer within 1.0 s" ]
	# What is dropped is answered.
	[ "$(unready "$one" tx-rnr-naks=40 no-receive-buffer=38)" = "notice receiver-not-ready requests found no receive posted 40 times here within 1.0 s" ]
	[ "$(unready "$one" rx-rnr-naks=40 tx-rnr-naks=1 rnr-retries-exceeded=1)" = "warning receiver-not-ready requests found no receive posted 40 times at the peer and 1 time here within 1.0 s; 1 request has failed" ]
	[ "$(unready "$one" rnr-retries-exceeded=12)" = "warning receiver-not-ready requests found no receive posted 12 times at the peer within 1.0 s; 12 requests have failed" ]
	# Each end may be late now and then.
	! unready "$one" rx-rnr-naks=9 tx-rnr-naks=9
}

@test "every rule says what looks alike and is no fault" {
	[ "$(eadm diagnose --rules --json | jq '.rows | all(.alike | length > 10)')" = true ]
}

@test "a device that is gone is not accused of anything else" {
	[ "$(rules_of "$SICK" -d gone)" = adapter-gone ]
}

@test "a dead command queue is a consequence of an adapter that is halted" {
	[ "$(rules_of "$SICK" -d halted)" = adapter-halted ]
}

@test "JSON is as the schema says" {
	for capture in "$SICK" "$WELL" "$TWO" "$DEAD" "$MOMENTS"; do
		[ "$(valid --from "$capture" diagnose --json)" = 1 ]
		[ "$(valid --from "$capture" check --json)" = 1 ]
	done
	[ "$(valid diagnose --rules --json)" = 1 ]
	[ "$(valid check --json)" = 1 ]
}

@test "what is saved says the same again" {
	run --separate-stderr eadm --from "$SICK" diagnose --json --save "$BATS_TEST_TMPDIR/saved"
	[ "$status" = 8 ]
	[ "$output" = "$(eadm --from "$BATS_TEST_TMPDIR/saved" diagnose --json)" ]
}

@test "check, of captures" {
	golden check-two --from "$TWO" check
	run --separate-stderr eadm --from "$SICK" check --json
	[ "$status" = 8 ]
	[ "$(jq -c '[.rows[] | select(.result != "ok") | [.result, .check, .dev_name]] | sort' \
		<<<"$output")" = \
		'[["fail","mac","recovering"],["fail","port","dead"],["note","cgroup","queues"],["note","cgroup","queues"],["note","port","peers"],["note","port","peers"],["warn","limits","peers"],["warn","limits","stalled"]]' ]
}

# audited FILE {OBJECT ROW}...: two adapters, and rows about their machine, in JSON.
audited() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'EOF'
	import json
	import sys
	sys.path.insert(0, sys.argv[1])
	import synth
	eqs = synth.eqs
	synth.eqs = lambda i: eqs(i) + [{**eqs(i)[2], "index": 3, "eqn": 3, "irq": 43}]
	cap = synth.two()
	functions = []
	for obj, row in zip(sys.argv[3::2], sys.argv[4::2]):
	    row = json.loads(row)
	    if obj == "function":
	        functions.append({"vendor-id": synth.FACE.VENDOR, "part-id": synth.FACE.PART, **row})
	        continue
	    if obj == "setup":
	        index, name, _ = synth.DEVS[row["dev-index"] != 0]
	        row.update({"dev-index": index, "dev-name": name})
	    cap.local(obj, row)
	if functions:
	    cap.local("function", *functions)
	cap.write(sys.argv[2])
	EOF
}

@test "check, of a capture with properties of the machine" {
	local here=$BATS_TEST_TMPDIR/audited
	audited "$here" \
		machine '{"cpus": 4, "memlock": 8388608, "netns-mode": "exclusive",
			"lockdown": "none [integrity] confidentiality"}' \
		module '{"name": "ib_core", "loaded": 1}' module '{"name": "ib_uverbs", "loaded": 1}' \
		module '{"name": "rdma_cm", "loaded": 1}' module '{"name": "rdma_ucm", "loaded": 0}' \
		verbs '{"installed": 1, "providers": "rxe siw", "rdma-cm-error": -13}' \
		setup '{"dev-index": 0, "netdev": "eth0", "netdev-ipv4": 1, "gid-index": 1,
			"gid": "0000:0000:0000:0000:0000:ffff:0a4d:0001", "iommu": "DMA-FQ",
			"uverbs": "uverbs0", "uverbs-error": 0}' \
		setup '{"dev-index": 1, "netdev": "eth1", "netdev-ipv4": 0, "gid": "", "iommu": "",
			"uverbs": "uverbs1", "uverbs-error": -2}' \
		irq '{"irq": 42, "affinity": "2"}' irq '{"irq": 43, "affinity": "2"}'
	golden check-facts --from "$here" check
	audited "$here" \
		machine '{"cpus": 2, "memlock": 18446744073709551615, "netns-mode": "shared", "lockdown": ""}' \
		module '{"name": "ib_core", "loaded": 1}' module '{"name": "ib_uverbs", "loaded": 1}' \
		module '{"name": "rdma_cm", "loaded": 1}' module '{"name": "rdma_ucm", "loaded": 1}' \
		verbs "{\"installed\": 0, \"providers\": \"xerdma erdma\", \"rdma-cm-error\": -2}" \
		setup '{"dev-index": 0, "netdev": "eth0", "gid": "", "iommu": "identity", "uverbs": ""}' \
		setup '{"dev-index": 1, "netdev": "eth1", "gid": "", "iommu": "", "uverbs": ""}' \
		irq '{"irq": 42, "affinity": "0"}' irq '{"irq": 43, "affinity": "1"}'
	golden check-facts-other --from "$here" check
}

# of_check FILE CHECK: its results.
of_check() {
	eadm --from "$1" check --json | jq -r --arg check "$2" \
		'.rows[] | select(.check == $check) | "\(.result) \(.finding)"'
}

# of_provider JSON: of the first device, with this about verbs.
of_provider() {
	audited "$BATS_TEST_TMPDIR/provider" verbs "$1" \
		setup '{"dev-index": 0, "netdev": "eth0", "uverbs": "uverbs0", "uverbs-error": '"${2-0}"'}'
	eadm --from "$BATS_TEST_TMPDIR/provider" check --json | jq -r '.rows[] |
		select(.check == "provider" and .dev_name == "cloud_0") | "\(.result) \(.finding)"'
}

@test "check, of devices that libibverbs does not list" {
	local verbs='"installed": 1, "providers": "erdma", "configured": "rxe erdma"'
	local other="rxe: librxe-rdmav34.so is missing"
	[ "$(of_provider "{$verbs, \"devices\": \"cloud_01 cloud_0\", \"faults\": \"$other\"}")" = \
		"ok libibverbs lists it" ]
	[ "$(of_provider "{$verbs, \"devices\": \"cloud_01\", \"faults\": \"$other; erdma: a file: it is empty\"}")" = \
		"fail libibverbs cannot load the provider erdma: a file: it is empty" ]
	[ "$(of_provider "{$verbs, \"devices\": \"\", \"faults\": \"$other\"}")" = \
		"fail libibverbs does not list it, though the provider erdma is installed" ]
	[ "$(of_provider "{${verbs/ erdma/}, \"devices\": \"\", \"faults\": \"$other\"}")" = \
		"fail libibverbs does not list it: no file in /etc/libibverbs.d names the provider erdma (erdma.driver is missing)" ]
	# Without a file in /dev, it lists no device, and without itself, none either.
	[ -z "$(of_provider "{$verbs, \"devices\": \"\", \"faults\": \"\"}" -2)" ]
	[ -z "$(of_provider "{${verbs/1/0}, \"faults\": \"\"}")" ]
	audited "$BATS_TEST_TMPDIR/program" verbs "{$verbs, \"devices\": \"\", \"faults\": \"\"}"
	[ -z "$(of_check "$BATS_TEST_TMPDIR/program" provider)" ]
	# Where it could not be asked, files have to do.
	[ "$(of_provider "{$verbs, \"faults\": \"$other\"}")" = "ok the verbs provider for erdma is installed" ]
	[ "$(of_provider "{$verbs, \"faults\": \"erdma: it ends the process\"}")" = \
		"fail libibverbs cannot load the provider erdma: it ends the process" ]
	audited "$BATS_TEST_TMPDIR/dead" verbs "{$verbs, \"faults\": \"$other; libibverbs: it ends\"}"
	[ "$(of_check "$BATS_TEST_TMPDIR/dead" libibverbs)" = "fail libibverbs cannot list devices: it ends" ]
	audited "$BATS_TEST_TMPDIR/full" verbs "{$verbs, \"faults\": \"process: Too many open files\"}"
	[ "$(of_check "$BATS_TEST_TMPDIR/full" libibverbs)" = \
		"warn libibverbs was not examined, because no process can be started: Too many open files" ]
}

@test "check, of adapters without a driver, and of look-alikes" {
	local here=$BATS_TEST_TMPDIR/unbound bare='"driver": "", "devices": ""'
	audited "$here" module "{\"name\": \"erdma\", \"loaded\": 0}" \
		function "{\"address\": \"0:1\", \"driver\": \"erdma\", \"override\": \"\", \"devices\": \"cloud_0\"}" \
		function "{\"address\": \"0:2\", $bare, \"override\": \"\", \"module\": \"some\"}" \
		function "{\"address\": \"0:3\", $bare, \"override\": \"\", \"module\": \"\"}" \
		function "{\"address\": \"0:4\", $bare, \"override\": \"\"}" \
		function "{\"address\": \"0:5\", $bare, \"override\": \"vfio-pci\", \"module\": \"some\"}" \
		function '{"address": "0:6", "driver": "pci-stub", "override": "", "devices": ""}' \
		function "{\"address\": \"0:7\", $bare, \"override\": \"\", \"part-id\": 65535}"
	[ "$(of_check "$here" unbound)" = "warn adapter 0:2 (erdma) has no driver: the module some is not loaded
warn adapter 0:3 (erdma) has no driver: this kernel has no module for it
warn adapter 0:4 (erdma) has no driver
ok adapter 0:1 (erdma) is bound to erdma
ok adapter 0:5 (erdma) is reserved for vfio-pci
ok adapter 0:6 (erdma) is bound to pci-stub" ]
	[ "$(of_check "$here" devices)" = "ok 2 RDMA devices" ]
	[ "$(eadm --from "$here" dump function --json | jq -c '[.rows[].address]')" = \
		'["0:1","0:2","0:3","0:4","0:5","0:6"]' ]
	audited "$here" module "{\"name\": \"erdma\", \"loaded\": 1}" \
		function "{\"address\": \"0:2\", $bare, \"override\": \"\", \"module\": \"\"}"
	[ "$(of_check "$here" unbound)" = "warn adapter 0:2 (erdma) has no driver, though the module erdma is loaded" ]
	[ -z "$(of_check "$TWO" unbound)" ]
}

@test "check, of adapters in another network namespace" {
	local here=$BATS_TEST_TMPDIR/elsewhere mode
	for mode in exclusive shared; do
		audited "$here-$mode" machine "{\"netns-mode\": \"$mode\"}" \
			function "{\"address\": \"0:1\", \"driver\": \"erdma\", \"devices\": \"cloud_0\"}" \
			function "{\"address\": \"0:2\", \"driver\": \"erdma\", \"devices\": \"\"}" \
			function '{"address": "0:3", "driver": "vfio-pci", "devices": ""}'
	done
	[ "$(of_check "$here-exclusive" devices)" = \
		"note 1 of 2 adapters is in this network namespace; 0:2 is in another one" ]
	[ "$(of_check "$here-shared" devices)" = "ok 2 RDMA devices" ]
}

@test "check, of other interfaces in the subnet" {
	local here=$BATS_TEST_TMPDIR/subnet
	one() { # JSON
		audited "$here" setup '{"dev-index": 0, "netdev": "eth0", '"$1"'}'
		of_check "$here" subnet
	}
	[ "$(one '"subnet": ""')" = "ok no other network interface is in the subnet of eth0" ]
	[ "$(one '"subnet": "w=10.0.0.2/24", "arp-answers": "w", "route-netdev": "eth0"')" = \
		"warn w=10.0.0.2/24 is in the subnet of eth0, whose address is also announced by w (arp_ignore 0)" ]
	[ "$(one '"subnet": "w=10.0.0.2/24", "arp-answers": "", "route-netdev": "w", "rp-filter": 2')" = \
		"ok w=10.0.0.2/24 is in the subnet of eth0, but does not answer ARP requests for that interface" ]
	[ "$(one '"subnet": "w=10.0.0.2/24", "arp-answers": "w", "route-netdev": "w", "rp-filter": 1' | cut -d' ' -f1-3)" = \
		"warn eth0 drops
warn w=10.0.0.2/24 is" ]
	# What was not recorded is counted.
	[ -z "$(one '"subnet": "w=10.0.0.2/24", "route-netdev": "w", "rp-filter": 2')" ]
	[[ $(eadm --from "$here" check 2>&1) == *"some are unknown and were not checked"* ]]
	[ -z "$(one '"netdev-ipv4": 1')" ]
}

@test "check, of the active MTU" {
	[ "$(of_check "$SYNTH/stock.pcapng" active-mtu)" = \
		"note port 1: the active MTU is 1024 instead of 4096, because ens1 has an MTU of 1500, not 4200" ]
	eadm --from "$SYNTH/stock.pcapng" info rocep1 --json | jq -e '.rows[0] | .active_mtu == 1024 and .max_mtu == 4096'
	[ -z "$(of_check "$TWO" active-mtu)" ]
}

# of_uverbs ERROR [CM-DEVICES]: of the first device, beside one that can be opened.
of_uverbs() {
	audited "$BATS_TEST_TMPDIR/uverbs" \
		verbs "{\"installed\": 1${2+, \"cm-devices\": \"$2\"}}" \
		setup '{"dev-index": 0, "netdev": "eth0", "uverbs": "uverbs0", "uverbs-error": '"$1"'}' \
		setup '{"dev-index": 1, "netdev": "eth1", "uverbs": "uverbs1", "uverbs-error": '"${3-0}"'}'
	of_check "$BATS_TEST_TMPDIR/uverbs" uverbs | grep -v 'uverbs1'
}

@test "check, of files that cannot be opened, and what that does to libraries" {
	local node=/dev/infiniband/uverbs0
	[ "$(of_uverbs 0)" = "ok $node can be opened" ]
	[ "$(of_uverbs -13)" = "warn $node: Permission denied" ]
	[ "$(of_uverbs -13 cloud_1)" = "warn $node: Permission denied" ]
	[ "$(of_uverbs -13 "")" = \
		"warn $node: Permission denied; therefore, librdmacm lists 0 of 1 other device" ]
	[ "$(of_uverbs -13 "" -13)" = "warn $node: Permission denied" ]
	[ "$(of_uverbs -1 cloud_1)" = "note $node: Operation not permitted (refused by the device cgroup)" ]
	[ "$(of_uverbs -1 "" -1)" = "warn $node: Operation not permitted (refused by the device cgroup)" ]
	[ "$(of_uverbs -2)" = "note $node does not exist: this process can see the device, but not use it" ]
	[ "$(of_uverbs -2 "" -2)" = "warn $node: No such file or directory" ]
}

@test "check: what is ok for many devices is one line" {
	local many=$BATS_TEST_TMPDIR/many

	"$REPO/tests/captures/devices.py" "$many" 66
	eadm --from "$many" check >"$BATS_TEST_TMPDIR/check"
	grep -qx "ok mtu: 66 devices: an MTU of 1500" "$BATS_TEST_TMPDIR/check"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/check")" -lt 20 ]
	# Where the check is not ok for all of them.
	[[ $(eadm --from "$SICK" check | grep '^ok limits') == "ok limits: 11 of 13 devices: less than "* ]]
	# Each belongs to another interface.
	grep -qx "ok netdev: 66 devices" "$BATS_TEST_TMPDIR/check"
	[ "$(eadm --from "$SICK" check --json | jq '[.rows[] | select(.check == "limits" and .result == "ok")] | length')" = 11 ]
	[ "$(eadm --from "$SICK" check --json | jq '[.rows[] | select(.check == "limits").dev_name] | unique | length')" = 13 ]
	# On request, and of one device, each is shown.
	[ "$(eadm --from "$many" -v check 2>/dev/null | grep -c '^ok mtu cloud_[0-9]*: an MTU of 1500$')" = 66 ]
	[ "$(eadm --from "$many" check --json | jq '[.rows[] | select(.check == "mtu")] | length')" = 66 ]
	eadm --from "$many" -d cloud_7 check | grep -qx "ok mtu cloud_7: an MTU of 1500"
}

@test "check, of an interface in another network namespace, and of IPv6 only" {
	local here=$BATS_TEST_TMPDIR/elsewhere
	audited "$here" \
		setup '{"dev-index": 0, "netdev": "eth0", "netdev-ipv4": 0, "netdev-ipv6": 1}' \
		setup '{"dev-index": 1, "netdev": "eth1", "netdev-ipv4": 0, "netdev-ipv6": 0}'
	[[ $(of_check "$here" address) == "warn eth1 has no address in this "*$'\n'"ok eth0 has an IPv6 address" ]]
	/usr/bin/python3 - "$REPO/tests/captures" "$here" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stock
	cap = stock.traffic([(0, 0, 0)], 0)
	cap.local("setup", {"dev-index": 0, "dev-name": "rxe0", "gid-index": 0,
	                    "gid": "fe80:0000:0000:0000:0000:0000:0000:0001", "gid-netdev": "eth7"})
	cap.write(sys.argv[2])
	EOF
	[ "$(of_check "$here" netdev)" = "note its network interface eth7 is in another network namespace" ]
	# As in a container on an older kernel, which names it with RoCE only. A port that is down may have none.
	/usr/bin/python3 - "$REPO/tests/captures" "$here.active" "$here.down" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	import stock
	cap = stock.traffic([(0, 0, 0)], 0)
	cap.write(sys.argv[2])
	active, down = cap.attr(12, bytes([4])), cap.attr(12, bytes([1]))
	assert cap.data.count(active) == 1
	cap.data = cap.data.replace(active, down)
	cap.write(sys.argv[3])
	EOF
	[ "$(of_check "$here.active" netdev)" = "note none of its network interfaces is in this network namespace" ]
	[ "$(of_check "$here.down" netdev)" = "fail it has no network interface" ]
	[[ $(of_check "$here" gid) == "ok GID 0 is fe80:"*" (interface in another network namespace)" ]]
	run --separate-stderr eadm --from "$here" check
	[ "$status" = 0 ]
	run --separate-stderr eadm --from "$here" check --strict
	[ "$status" = 7 ]
	[[ $output == *"warn netdev rxe0"* ]]
}

# finding, remedy and exit status of the check "gid" of a device of rdma_rxe with this row of setup
gid_check() { # JSON
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/gid" "$1" <<-'EOF'
	import json, sys
	sys.path.insert(0, sys.argv[1])
	import stock
	cap = stock.traffic([(0, 0, 0)], 0)
	cap.local("setup", {"dev-index": 0, "dev-name": "rxe0", **json.loads(sys.argv[3])})
	cap.write(sys.argv[2])
	EOF
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/gid" check -d rxe0 --json
	jq -r --arg status "$status" '.rows[] | select(.check == "gid") | "\(.result) \(.finding)|\(.remedy // "")|\($status)"' <<<"$output"
}

@test "check: which GID index to use, and why not the others" {
	local v2='"gid": "::ffff:10.0.0.1", "gid-index": 3, "gid-netdev": "eth0", "gid-type": "RoCE v2", "gid-scope": "ipv4"'
	[ "$(gid_check "{$v2, \"gid-usable\": \"best\", \"gid-others\": \"0=roce-v1 1=same-link 2=roce-v1 4=other-netns 5=yes 16=other-netns\"}")" = \
		"ok port 1: use index 3, ::ffff:10.0.0.1 (RoCE v2, eth0); not 1 (link-local), 0 2 (RoCE v1), 4 16 (another network namespace); also 5 (usable, too)|NCCL_IB_GID_INDEX=3, ib_write_bw -x 3, ibv_rc_pingpong -g 3|0" ]
	# Without a choice, nothing has to be set.
	[ "$(gid_check "{$v2, \"gid-usable\": \"best\", \"gid-others\": \"\"}")" = \
		"ok port 1: use index 3, ::ffff:10.0.0.1 (RoCE v2, eth0)||0" ]
	[[ $(gid_check "{$v2, \"gid-usable\": \"other-netns\", \"gid-others\": \"\"}") == \
		"note port 1: no GID is usable: eth0 is in another network namespace|use an adapter "*"|0" ]]
	[[ $(gid_check "{$v2, \"gid-usable\": \"netdev-down\", \"gid-others\": \"\"}") == \
		"note port 1: no GID is usable: eth0 is down|ip link set "*" up|0" ]]
	[[ $(gid_check '{"gid": "fe80::1", "gid-index": 0, "gid-netdev": "eth0", "gid-type": "RoCE v2", "gid-scope": "link-local",
		"gid-usable": "best", "gid-others": "1=roce-v1"}') == \
		"note port 1: index 0 is usable only on the same link: fe80::1 (RoCE v2, eth0) is link-local; not 1 (RoCE v1)|ip address add "*"|0" ]]
	# Other protocols have no scope, and one GID, which the kernel calls "IB/RoCE v1".
	[[ $(gid_check '{"gid": "fe80::1", "gid-index": 0, "gid-type": "IB/RoCE v1", "gid-usable": "best", "gid-others": ""}') == \
		"ok GID 0 is fe80::1||"* ]]
}

@test "check: addresses of a VLAN above the interface, or of a bond" {
	local none='"netdev-ipv4": 0, "netdev-ipv6": 0' above=$BATS_TEST_TMPDIR/above
	audited "$above" \
		setup "{\"dev-index\": 0, \"netdev\": \"eth0\", $none, \"address-vlan\": \"eth0.5\", \"bond\": \"\", \"subnet\": \"\"}" \
		setup "{\"dev-index\": 1, \"netdev\": \"eth1\", $none, \"address-vlan\": \"\", \"bond\": \"bond0\", \"bond-standby\": 1}"
	# Only with RoCE do addresses of a bond serve the devices of its members.
	[[ $(of_check "$above" address) == "warn eth1 has no address in this "*$'\n'"ok eth0.5, a VLAN of eth0, has an address" ]]
	[ "$(eadm --from "$above" check --json | jq -r '.rows[] | select(.check == "address" and .result == "warn").remedy')" = \
		"ip link set eth1 nomaster; ip address add ADDRESS dev eth1" ]
	# An interface without an IPv4 address is in no subnet.
	[ -z "$(of_check "$above" subnet)" ]
	local member="$none, \"address-vlan\": \"\", \"bond\": \"bond0\", \"gid-type\": \"RoCE v2\", \"gid-netdev\": \"bond0\",
		\"gid-usable\": \"best\", \"gid-others\": \"\""
	local link='"gid": "fe80::1", "gid-index": 0, "gid-scope": "link-local"'
	audited "$above" \
		setup "{\"dev-index\": 0, \"netdev\": \"eth0\", $member, \"bond-standby\": 0, \"gid\": \"::ffff:10.0.0.1\",
			\"gid-index\": 1, \"gid-scope\": \"ipv4\"}" \
		setup "{\"dev-index\": 1, \"netdev\": \"eth1\", $member, \"bond-standby\": 1, $link}"
	[ "$(of_check "$above" address)" = "ok bond0, above eth0, has an address"$'\n'"ok eth1 is a standby member of bond0" ]
	[ "$(of_check "$above" gid)" = \
		"note port 1: no GID for an address of bond0, because eth1 is a standby member of it"$'\n'"ok port 1: use index 1, ::ffff:10.0.0.1 (RoCE v2, bond0)" ]
	# The active member of a bond without an address.
	audited "$above" setup "{\"dev-index\": 0, \"netdev\": \"eth0\", $member, \"bond-standby\": 0, $link}"
	[[ $(of_check "$above" address) == "warn eth0 has no address in this "* ]]
	[[ $(of_check "$above" gid) == "note port 1: index 0 is usable only on the same link: "* ]]
}

@test "check: lists of GIDs that are too long, or of words that are none" {
	local others
	others=$(seq -f "%.0f=other-netns" -s " " 4 60)
	local v2='"gid": "::ffff:10.0.0.1", "gid-index": 3, "gid-netdev": "eth0", "gid-type": "RoCE v2", "gid-scope": "ipv4"'
	[[ $(gid_check "{$v2, \"gid-usable\": \"best\", \"gid-others\": \"$others\"}") == \
		"ok port 1: use index 3, ::ffff:10.0.0.1 (RoCE v2, eth0); not 4 5 6 "*" (another network namespace)|NCCL"*"|0" ]]
	[ "$(gid_check "{$v2, \"gid-usable\": \"best\", \"gid-others\": \"= =yes 7 8= yes 9=yesterday x=yes 10=roce-v1\"}")" = \
		"ok port 1: use index 3, ::ffff:10.0.0.1 (RoCE v2, eth0); not 10 (RoCE v1)|NCCL_IB_GID_INDEX=3, ib_write_bw -x 3, ibv_rc_pingpong -g 3|0" ]
}

@test "check: what fails comes first, in 80 columns, with interfaces and interrupts by name" {
	golden check-unset --from "$REPO/tests/captures/badly/unset.pcapng" check
	golden check-none --from "$REPO/tests/captures/badly/none.pcapng" check
	for capture in "$SICK" "$REPO"/tests/captures/badly/*.pcapng; do
		run jq -r '.rows | map(.result) | map({fail: 0, warn: 1, unseen: 2, note: 3, ok: 4}[.]) | . == sort' \
			<(eadm --from "$capture" check --json)
		[ "$output" = true ]
		run ! grep -E '^.{81}' <(eadm --from "$capture" check)
	done
	[[ $(eadm --from "$REPO/tests/captures/badly/unset.pcapng" check -d cloud_0) == *"where N is 42,43"* ]]
}

@test "check, of properties that are none" {
	local long
	printf -v long '%*s' 5000 ''
	long=-1${long// /9%s}
	audited "$BATS_TEST_TMPDIR/odd" \
		machine "{\"cpus\": 4294967295, \"memlock\": 1, \"netns-mode\": 99, \"lockdown\": \"$long\", \"host\": \"$long\"}" \
		module "{\"name\": \"ib_core\", \"loaded\": 77, \"version\": \"$long\", \"origin\": \"$long\"}" \
		verbs "{\"installed\": 9, \"providers\": \"$long\", \"rdma-cm-error\": -2147483648}" \
		setup "{\"dev-index\": 0, \"netdev\": \"eth0\", \"netdev-ipv4\": 9, \"netdev-mtu\": 4294967295,
			\"gid\": \"$long\", \"iommu\": \"$long\", \"uverbs\": \"$long\", \"uverbs-error\": 2147483647}" \
		irq "{\"irq\": 42, \"affinity\": \"$long\"}"
	[ "$(valid --from "$BATS_TEST_TMPDIR/odd" check --json)" = 1 ]
	run eadm --from "$BATS_TEST_TMPDIR/odd" check
	[ "$status" -le 8 ]
	for object in machine module verbs setup irq; do
		eadm --from "$BATS_TEST_TMPDIR/odd" dump $object >/dev/null
		[ "$(valid --from "$BATS_TEST_TMPDIR/odd" dump $object --json)" = 1 ]
	done
}

# again FILE TIMES: devices that can be read this many times, then with an error, and
# beside it FILE.cut, where the answer after that is cut off.
again() {
	/usr/bin/python3 - "$REPO/tests/captures" "$@" <<-'EOF'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	import synth
	from nlcap import FAMILY, GENERIC, Capture
	for suffix in "", ".cut":
	    cap = Capture()
	    cap.family()
	    cap.rdma_devices(synth.DEVS)
	    for _ in range(int(sys.argv[3])):
	        cap.dump("dev", [synth.device(0), synth.device(1)])
	    if suffix:
	        seq = cap.request(GENERIC, FAMILY, cap.pack("BBH", cap.spec.cmds["dev"], 1, 0), True)
	        end = cap.rows("dev", [], seq)
	        cap.packet(GENERIC, cap.rows("dev", [synth.device(0)], seq)[:-len(end)])
	    else:
	        cap.refused("dev", -5)
	    cap.write(sys.argv[2] + suffix)
	EOF
}

@test "check: an error about no single device is reported, with or without one selected" {
	local here=$BATS_TEST_TMPDIR/again times
	for times in 0 1 2 3; do
		again "$here" $times
		for capture in "$here" "$here.cut"; do
			for command in check diagnose "check -d cloud_0" "diagnose -d cloud_0"; do
				# shellcheck disable=SC2086 # words of the command
				run eadm --from "$capture" $command
				[ "$status" -le 8 ] || { echo "$command, $times times: $status"; return 1; }
			done
		done
	done
	again "$here" 2
	run --separate-stderr eadm --from "$here" check
	[ "$status" = 6 ]
	[ "${stderr_lines[0]}" = "eadm: check: device setup: Input/output error" ]
	[[ $output == *"ok driver cloud_0: "* ]]
	run --separate-stderr eadm --from "$here" check --json
	[ "$(jq -c '.notes[0]' <<<"$output")" = '{"what":"device setup","why":"Input/output error"}' ]
	[ "$(valid --from "$here" check --json)" = 1 ]
}

@test "every line of a check that is not ok says what to do" {
	run jq -e '.rows | length > 3 and all((.result == "ok") == (has("remedy") | not))' \
		<(eadm check --json)
	[ "$output" = true ]
}

@test "a capture cut anywhere is judged by what is left, or refused" {
	local n size
	size=$(stat -c %s "$SICK")
	for ((n = 200; n < size; n += 397)); do
		head -c $n "$SICK" >"$BATS_TEST_TMPDIR/cut"
		for command in diagnose check; do
			status=0
			eadm --from "$BATS_TEST_TMPDIR/cut" $command --json >"$BATS_TEST_TMPDIR/out" ||
				status=$?
			[ "$status" -le 8 ] || { echo "$command at $n: $status"; return 1; }
			jq -e . "$BATS_TEST_TMPDIR/out" >/dev/null || return 1
		done
	done
}

@test "wrong use" {
	fails 2 "eadm: diagnose: --interval: must be at least 10ms" diagnose -i 1ms
	fails 2 "eadm: diagnose: qp: unexpected argument (see 'eadm help diagnose')" diagnose qp
	fails 3 "eadm: diagnose: cloud0: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$TWO" diagnose -d cloud0
	fails 3 "eadm: check: cloud0: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$TWO" check -d cloud0
	fails 2 "eadm: check: --interval: unknown option" check --interval 1s
}

@test "check and ver, of another driver of the same name" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/foreign" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from synth import DEVS, FAMILY_NAME, Capture
	cap = Capture()
	cap.local("machine", {"eadm": "0.1.0", "kernel": "6.12.0-test"})
	cap.module(FAMILY_NAME, origin="in-tree, srcversion 1A2B3C")
	cap.module("eadm", "0.1.0", origin="out of tree, srcversion 4D5E6F")
	for index, name, _ in DEVS:
	    cap.local("dev", {"dev-index": index, "dev-name": name, "driver": FAMILY_NAME}, want=["driver"])
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices(DEVS)
	cap.dump("dev", [])
	# RDMA netlink: the port, and what is in use.
	for index, _, _ in DEVS:
	    me = cap.attr(1, cap.pack("I", index))
	    for kind, more in ((5 << 10 | 5, cap.attr(3, cap.pack("I", 1))), (5 << 10 | 9, b"")):
	        seq = cap.request(20, kind, me + more, False)
	        cap.packet(20, cap.message(kind, 0, seq, me + more))
	cap.write(sys.argv[2])
	END
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/foreign" check --json
	[ "$(jq '[.rows[] | select(.check == "companion" and .result == "ok")] | length' <<<"$output")" = 0 ]
	[ "$(jq -r '.rows[] | select(.check == "companion") | "\(.result) \(.dev_name) \(.finding)"' \
		<<<"$output")" = "note cloud_0 the loaded driver erdma is not eadm's (in-tree, srcversion 1A2B3C) and does not support the companion module
note cloud_1 the loaded driver erdma is not eadm's (in-tree, srcversion 1A2B3C) and does not support the companion module" ]
	run eadm --from "$BATS_TEST_TMPDIR/foreign" ver
	[[ $output == *"module erdma     in-tree, srcversion 1A2B3C"* ]]
	[[ $output == *"module eadm      0.1.0, out of tree, srcversion 4D5E6F"* ]]
	run eadm --from "$BATS_TEST_TMPDIR/foreign" list
	[[ $output == *"cloud_0 erdma"* ]]
}

@test "check, ver and dump, of a driver and a companion from different builds" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/builds" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from synth import DEVS, FAMILY_NAME, Capture
	cap = Capture()
	cap.local("machine", {"eadm": "0.1.0", "kernel": "6.12.0-test"})
	cap.module(FAMILY_NAME, "0.1.0", origin="out of tree, srcversion 1A2B3C")
	cap.module("eadm", "0.1.0", origin="out of tree, srcversion 4D5E6F")
	for index, name, _ in DEVS:
	    cap.local("dev", {"dev-index": index, "dev-name": name, "driver": FAMILY_NAME}, want=["driver"])
	    interfaces = {"dev-index": index, "dev-name": name, "driver-interface": 0x1f,
	                  "companion-interface": 0x9c0b34f1 if index else 0x1f}
	    cap.local("setup", interfaces, want=["driver-interface"])
	    cap.local("setup", interfaces)
	cap.snapshot(0)
	cap.family()
	cap.rdma_devices(DEVS)
	cap.dump("dev", [])
	cap.dump("eq", [])
	for index, _, _ in DEVS:
	    me = cap.attr(1, cap.pack("I", index))
	    for kind, more in ((5 << 10 | 5, cap.attr(3, cap.pack("I", 1))), (5 << 10 | 9, b"")):
	        seq = cap.request(20, kind, me + more, False)
	        cap.packet(20, cap.message(kind, 0, seq, me + more))
	cap.write(sys.argv[2])
	END
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/builds" check --json
	for rule in companion driver; do
		[ "$(jq -r --arg rule $rule '.rows[] | select(.check == $rule and .dev_name == "cloud_1") |
			"\(.result) \(.finding)"' <<<"$output")" = "note driver erdma and eadm.ko come from different builds (interfaces 0000001f and 9c0b34f1), so the companion does not show the device" ]
	done
	[[ $(jq -r '.rows[] | select(.dev_name == "cloud_0") | .finding' <<<"$output") != *"different builds"* ]]
	run eadm --from "$BATS_TEST_TMPDIR/builds" ver
	[[ $output == *"companion of cloud_1"*"the builds differ: the driver has interface 0000001f, eadm.ko 9c0b34f1"* ]]
	[[ $output != *"companion of cloud_0"* ]]
	fails 5 "eadm: dump: event queues: the driver and eadm.ko come from different builds" \
		--from "$BATS_TEST_TMPDIR/builds" dump eq -d cloud_1
}

@test "modules, tool and DKMS have one version" {
	version=$(eadm --version)
	grep -qF "#define EADM_MODULE_VERSION \"${version#eadm }\"" "$REPO/kmod/include/eadm_version.h"
	DESTDIR=$BATS_TEST_TMPDIR/root "$REPO/packaging/dkms/install" eadm
	grep -qF "PACKAGE_VERSION=\"${version#eadm }\"" "$BATS_TEST_TMPDIR/root/usr/src/eadm-${version#eadm }/dkms.conf"
	head -n 1 "$REPO/debian/changelog" | grep -qF "eadm (${version#eadm })"
	for module in "$REPO"/kmod/{,*/}*/main.c; do
		grep -q '^MODULE_VERSION(EADM_MODULE_VERSION);' "$module"
	done
}

@test "what failed and is gone is a notice for ten minutes, with its owner's end" {
	local rows
	rows=$(eadm --from "$SICK" diagnose --json | jq -c '.rows[] | select(.rule | startswith("past-"))')
	[ "$(jq -r .severity <<<"$rows" | sort -u)" = notice ]
	[[ $rows == *"QP 400 of ib_write_bw (PID 4801) failed 42 s ago: retries exceeded, peer 10.77.1.1; its process has ended"* ]]
	[[ $rows == *"QP 1 of ib_write_bw (PID 4711) failed 103 s ago: recv access; its process still exists"* ]]
	[[ $rows == *"a connection between [nvme_rdma] and 10.77.1.1 failed 22 s ago: timeout"* ]]
	# What was lost with the adapter is listed there.
	[ "$(jq -c 'select(.rule == "past-device-failure") | .affects | map(.id)' <<<"$rows")" = "[2]" ]
	# Of the same there are past failures that explain nothing.
	[ "$(eadm --from "$WELL" dump failure --json | jq '.rows | length')" = 5 ]
}

@test "a process that is stopped is shown as such, also where it is blamed" {
	local rows
	rows=$(eadm --from "$SICK" diagnose -d flushes --json |
		jq -c '.rows[] | select(.rule == "owner-stopped")')
	[ "$(jq -c '[.severity, .id, .pid, (.affects | map(.id))]' <<<"$rows")" = '["notice",50,4802,[51]]' ]
	[[ $rows == *"stopped by SIGSTOP"*"/user.slice/session-1.scope"* ]]
	# One sample cannot tell.
	[[ $(rules_of "$SICK" --at '#1') != *owner-stopped* ]]
}

@test "the next step for a process that does not run depends on its state" {
	stopped() { # STATE
		PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR/stopped" "$1" <<-'END'
		import sys
		sys.dont_write_bytecode = True
		import synth
		from synth import SEC
		cap = synth.Capture()
		for late in range(2):
		    m = synth.Machine(["cloud_0"])
		    m.add("dev", 0, synth.device(0), age=(100 + 2 * late) * SEC)
		    m.add("cmdq", 0, synth.cmdq(0))
		    m.add("qp", 0, synth.conn(50, port=50, pid=4802, comm="train"), age=(100 + 2 * late) * SEC)
		    m.processes[4802] = {"state": sys.argv[2], "wchan": "", "frozen": 0, "cgroup": "/job"}
		    m.write(cap, late)
		cap.write(sys.argv[1])
		END
		eadm --from "$BATS_TEST_TMPDIR/stopped" diagnose --json 2>/dev/null |
			jq -r '.rows[] | select(.rule == "owner-stopped") | .cause + "|" + .next'
	}
	[[ $(stopped stopped) == *"|kill -CONT 4802, "* ]]
	# SIGCONT resumes neither of these.
	[[ $(stopped traced) == "A debugger "*"|grep TracerPid /proc/4802/status; "*"detach"* ]]
	[[ $(stopped zombie) == *"inherited the open device file"*"|find /proc/[0-9]*/fd "*"uverbs*'"* ]]
	[[ $(stopped traced; stopped zombie) != *"kill -CONT"* ]]
}

# ports_seen NETDEV PORTS QPS [STATE]: a stock device with these ports (netdev: that of port 1) and, on the ports
# QPS, QPs in a state (3: RTS), and its verdicts: severity, rule, object, number and finding; then what "eadm check"
# has of them.
ports_seen() {
	PYTHONPATH=$REPO/tests/captures python3 - "$BATS_TEST_TMPDIR/ports" "$@" <<-'END'
	import json, sys
	sys.dont_write_bytecode = True
	from nlcap import Capture
	from nldev import rdma_qp
	path, netdev, ports, qps, state = [*sys.argv[1:], 3][:5]
	ports, states = json.loads(ports), {"down": 1, "init": 2, "armed": 3, "active": 4}
	me, cap = {"dev-index": 0, "dev-name": "mlx4_0"}, Capture()
	earlier = [port.pop("was", port["state"]) for port in ports]
	one = cap.attr(1, cap.pack("I", 0))
	first = cap.attr(3, cap.pack("I", 1))
	for number in range(2):
	    cap.time += 2 * 10 ** 9
	    cap.snapshot(number)
	    cap.family(False)
	    cap.rdma_devices([(0, "mlx4_0", len(ports))])
	    cap.local("port", *({**me, "port": n, **port, "state": port["state"] if number else was}
	                        for n, (port, was) in enumerate(zip(ports, earlier), 1)))
	    about = cap.attr(12, bytes([states[ports[0]["state"]]]))
	    about += cap.attr(51, netdev.encode() + b"\0") if netdev else b""
	    made = cap.attr(15, cap.attr(16, cap.attr(17, b"qp\0") + cap.attr(
	        18, cap.pack("Q", len(ports) + len(json.loads(qps))))))
	    for kind, body in ((5, first + about), (9, made), (17, first + cap.attr(80, b""))):
	        seq = cap.request(20, 5 << 10 | kind, one + (b"" if kind == 9 else first), False)
	        cap.packet(20, cap.message(5 << 10 | kind, 0, seq, one + body))
	    # Each port has the RDMA core's QP 1.
	    entries = [rdma_qp(cap, 1, 3, "ib_core", 1, port=n) for n in range(1, len(ports) + 1)]
	    entries += [rdma_qp(cap, 17 + n, int(state), 99, port=n) for n in json.loads(qps)]
	    seq = cap.request(20, 5 << 10 | 10, one, True)
	    cap.packet(20, cap.message(5 << 10 | 10, 2, seq, one + cap.attr(19, b"".join(
	        cap.attr(20, entry) for entry in entries))) + cap.done(seq))
	cap.write(path)
	END
	eadm --from "$BATS_TEST_TMPDIR/ports" diagnose --json 2>/dev/null |
		jq -r '.rows[] | "\(.severity) \(.rule) \(.object) \(.id) \(.finding)"'
	eadm --from "$BATS_TEST_TMPDIR/ports" check --json 2>/dev/null |
		jq -r '.rows[] | select(.check == "port" or .check == "netdev") | "\(.result) \(.check): \(.finding)"'
}

@test "each port of a device is judged, by whether a QP uses it" {
	local down='{"state":"down","netdev":"ens2"}' up='{"state":"active","netdev":"ens1"}'
	[ "$(ports_seen ens2 "[$down,$up]" '[2]')" = "notice port-down port 1 port 1 is down: ens2 is down or has no carrier
note port: port 1 is down: ens2 is down or has no carrier
ok netdev: belongs to ens2, ens1
ok port: port 2 is not down" ]
	[ "$(ports_seen ens1 "[$up,$down]" '[2]')" = "critical port-down port 2 port 2 is down: ens2 is down or has no carrier
note port: port 2 is down: ens2 is down or has no carrier
ok netdev: belongs to ens1, ens2
ok port: port 1 is not down" ]
	[[ $(eadm --from "$BATS_TEST_TMPDIR/ports" diagnose --json | jq -r '.rows[0].next') == \
		"ip link set ens2 up; ip -s link show ens2; eadm dump port -d mlx4_0" ]]
	# A consequence of the port: no verdict on the QP of that port.
	[[ $(ports_seen ens1 "[$up,$down]" '[1,2]' 6) == "critical port-down port 2 "*"
"*" qp-in-error qp 18 "* ]]
	[[ $(ports_seen ens1 "[$up,$down]" '[1,2]' 6) != *"qp 19 "* ]]
	# One port: the device is judged.
	[[ $(ports_seen ens2 "[$down]" '[1]') == "critical link-down dev null the port is down: ens2 is down or has no carrier"* ]]
	# The RDMA core's own QP does not use it.
	[[ $(ports_seen ens2 "[$down]" '[]') == "notice link-down dev null the port is down: ens2 is down or has no carrier"* ]]
}

@test "a port whose interface is unknown: no placeholder in the remedy" {
	[[ $(ports_seen "" '[{"state":"down"}]' '[]') == "notice link-down dev null the port is down"* ]]
	[[ $(eadm --from "$BATS_TEST_TMPDIR/ports" diagnose --json | jq -r '.rows[0].next') != *INTERFACE* ]]
}

@test "InfiniBand: no interface is required, but a subnet manager" {
	ib() { printf '{"state":"%s","lid":%d,"sm-lid":%d}' "$@"; }
	[ "$(ports_seen "" "[$(ib active 4 1)]" '[1]')" = "ok port: port 1 is configured by a subnet manager" ]
	[[ $(ports_seen "" "[$(ib init 0 0)]" '[1]') == \
		"critical no-subnet-manager port 1 no subnet manager has configured port 1"*"port: no subnet manager has configured port 1" ]]
	[[ $(ports_seen "" "[$(ib active 4 1),$(ib armed 5 1)]" '[1]') == \
		"notice no-subnet-manager port 2 no subnet manager has configured port 2"* ]]
	# "eadm check" does not read QPs: their number shows whether the port is used.
	[[ $(ports_seen "" "[$(ib down 0 0)]" '[1,1,1,1]') == "critical "*"fail port: the port is down" ]]
	[[ $(ports_seen "" "[$(ib init 0 0)]" '[1,1,1,1]') == *"fail port: no subnet manager has configured port 1" ]]
	# A port that has just come up.
	[[ $(ports_seen "" '[{"state":"init","was":"down","lid":0,"sm-lid":0}]' '[1]') != *"critical "* ]]
	# A second adapter without a cable.
	[ "$(ports_seen "" "[$(ib down 0 0)]" '[]')" = "notice link-down dev null the port is down
note port: the port is down" ]
	[[ $(eadm --from "$BATS_TEST_TMPDIR/ports" diagnose --json | jq -r '.rows[0].next') == "ibstat mlx4_0; "* ]]
}

@test "past failures of all devices, in the order of time" {
	local shown
	shown=$(eadm --from "$SICK" events --past --json)
	[ "$(jq -c '[.object, (.rows | length)]' <<<"$shown")" = '["failure",7]' ]
	[ "$(jq '.rows | map(.time) | . == sort' <<<"$shown")" = true ]
	[ "$(eadm --from "$SICK" events --past -d flushes --json | jq -c '.rows | map(.cause)')" = \
		'["adapter-reset","adapter-reset","overrun"]' ]
	[[ $(eadm --from "$SICK" events --past) == *"4801 ib_write_bw"*10.77.1.1* ]]
	run eadm events --past -n 3
	[ "$status" = 2 ]
}

@test "a failure of an object that is there is not past, however long the reading took" {
	young() { # MILLISECONDS SINCE THE FAILURE: of a QP made 100 ms before its row was read, 500 ms before that of the failure
		/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/young" "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		from synth import DEVS, Capture, device, failure, head, qp
		MS = 1000000
		cap = Capture()
		cap.snapshot(0)
		cap.family()
		cap.rdma_devices(DEVS[:1])
		cap.dump("dev", [device(0)])
		cap.dump("qp", [{**qp(0, 10), "age": 100 * MS}])
		cap.time += 500 * MS
		cap.dump("failure", [{**failure(1, "qp", "recv-access", 0, id=10), "age": int(sys.argv[3]) * MS}])
		cap.write(sys.argv[2])
		END
		eadm --from "$BATS_TEST_TMPDIR/young" diagnose --json 2>/dev/null | jq -c '[.rows[].rule | select(. == "past-failure")]'
	}
	[ "$(young 550)" = '[]' ]
	# Of one that had the number before.
	[ "$(young 650)" = '["past-failure"]' ]
}
