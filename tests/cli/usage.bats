# SPDX-License-Identifier: GPL-2.0-or-later
# Help, and every wrong use.
load common

@test "without a word there is help" {
	run eadm
	[ "$status" = 0 ]
	[[ $output == "Usage: eadm COMMAND"*"Commands:"*"Examples:"* ]]
	[ "$output" = "$(eadm help)" ]
	[ "$output" = "$(eadm --help)" ]
}

# As the tool itself tells them.
commands() {
	eadm __complete ""
}

@test "help and completion tell the same commands" {
	[ "$(commands | wc -l)" -ge 18 ]
	[ "$(eadm --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')" = "$(commands)" ]
}

@test "every command has help with examples, by both ways" {
	for command in $(commands); do
		run eadm help "$command"
		[ "$status" = 0 ]
		[[ $output == "Usage: eadm $command"*"Examples:"* ]]
		[ "$output" = "$(eadm "$command" --help)" ]
		[ "$output" = "$(eadm -h "$command")" ]
	done
}

@test "help fits a terminal of 100 columns" {
	for command in "" $(commands); do
		# shellcheck disable=SC2086
		[ -z "$(eadm help $command | grep -vE '^.{0,100}$')" ]
	done
}

@test "test says what it needs" {
	fails 2 "eadm: test: test: missing subcommand (server, client or mesh)" test
	fails 2 "eadm: test: both: unknown subcommand (server, client or mesh)" test both
	fails 2 "eadm: test: client: missing HOST (see 'eadm help test')" test client
	fails 2 "eadm: test: x: unexpected argument (see 'eadm help test')" test server x
	fails 2 "eadm: test: ping,echo: no such test (connect, data, rdma, echo, order, rate)" \
		test client 192.0.2.1 -t ping,echo
	fails 2 "eadm: test: --port: must be from 1 to 65535" test server --port 65536
	fails 2 "eadm: test: --size: must be from 1 to 1048576" test client 192.0.2.1 -s 2000000
	fails 2 "eadm: test: --count: must be from 1 to 10000000" test client 192.0.2.1 -n 0
	fails 2 "eadm: test: --timeout: must be from 1ms to 1h" test client 192.0.2.1 --timeout 2h
	fails 2 "eadm: test: x: not a number" test client 192.0.2.1 --no-cm -g x
	fails 2 "eadm: test: --from: cannot be used with test" --from "$TWO" test server
	run eadm __complete eadm test client host --tests connect,e
	[ "$output" = "connect,echo" ]
	run eadm __complete eadm test server --no
	[[ $output == *--no-cm* ]]
}

@test "--version" {
	run eadm --version
	[[ $output =~ ^eadm\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ "$output" = "$(eadm -V)" ]
}

@test "mistyped words get a suggestion" {
	fails 2 "eadm: lsit: unknown command (did you mean 'list'?)" lsit
	fails 2 "eadm: xyzzy: unknown command (see 'eadm help')" xyzzy
	fails 2 "eadm: dump: --devcie: unknown option (did you mean '--device'?)" dump --devcie x
	fails 2 "eadm: dump: --xyzzy: unknown option" dump --xyzzy
	fails 2 "eadm: dump: qps: unknown object (did you mean 'qp'?)" dump qps
	fails 2 "eadm: dump: sq-pp: unknown column (did you mean 'sq-pi'?)" \
		dump qp -o sq-pp
	fails 2 "eadm: dump: xyzzy: unknown column (see '-o help')" \
		dump qp -o xyzzy
	fails 2 "eadm: dump: errr: unknown state (did you mean 'err'?)" dump qp --state errr
	fails 2 "eadm: trace: creat-qp: unknown op (did you mean 'create-qp'?)" \
		trace --opcode creat-qp
	fails 3 "eadm: dump: cloud0: no such RDMA device (did you mean 'cloud_0'?)" \
		--from "$TWO" dump qp -d cloud0
	fails 2 "eadm: help: lisst: unknown command (did you mean 'list'?)" help lisst
}

@test "case does not matter, and headings are names of columns" {
	diff <(eadm --from "$TWO" LIST -o FW,Bus) <(eadm --from "$TWO" list -o fw-version,bus-addr)
	diff <(eadm --from "$TWO" dump QP --state RTS,Err --sort AGE,SQPI:desc) \
		<(eadm --from "$TWO" dump qp --state rts,err --sort age,sq-pi:desc)
	fails 2 "eadm: LSIT: unknown command (did you mean 'list'?)" LSIT
	fails 2 "eadm: dump: xyzzy: unknown state (reset, init, rtr, rts, sqd, sqe, err)" \
		dump qp --state xyzzy
}

@test "stat takes what has counters, of ports unless told otherwise" {
	[ "$(eadm stat -o help)" = "$(eadm dump counters --list-columns)" ]
	[ "$(eadm stat --list-columns)" = "$(eadm stat -o help)" ]
	[ "$(eadm stat cq -o help)" = "$(eadm dump cq --list-columns)" ]
	fails 2 "eadm: stat: sqe: has no counters (dev, qp, cq, eq, cmdq, counters, probe, failure-total, link, health, qp-counter, smc, smc-fallback do)" stat sqe
	fails 2 "eadm: stat: pd: has no counters (dev, qp, cq, eq, cmdq, counters, probe, failure-total, link, health, qp-counter, smc, smc-fallback do)" stat pd
	fails 2 "eadm: stat: xyzzy: unknown object (see 'eadm help stat'; for a device: 'eadm stat -d xyzzy')" stat xyzzy
	[ "$(eadm __complete stat "" | tr '\n' ' ')" = "dev qp cq eq cmdq counters probe failure-total link health qp-counter smc smc-fallback " ]
	[ "$(eadm help stat | sed -n '/^Objects:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | tr '\n' ' ')" = \
		"dev qp cq eq cmdq counters probe failure-total link health qp-counter smc smc-fallback " ]
}

@test "a prefix is not the word" {
	fails 2 "eadm: li: unknown command (did you mean 'list'?)" li
	run eadm dump qp --dev x
	[ "$status" = 2 ]
}

@test "every option that takes a value misses it" {
	for option in --device --from --output --timeout -d -o; do
		run --separate-stderr eadm list $option
		[ "$status" = 2 ]
		[[ $stderr == "eadm: list: -"*" is missing" ]]
		run --separate-stderr eadm list $option ""
		[ "$status" = 2 ]
		[[ $stderr == "eadm: list: -"*" is empty" ]]
	done
	for option in --pid --comm --state; do
		run --separate-stderr eadm dump qp $option
		[ "$status" = 2 ]
		[[ $stderr == "eadm: dump: $option: "*" is missing" ]]
	done
	for option in --slower-than --opcode --state --pid --comm --count -n; do
		run --separate-stderr eadm trace $option
		[ "$status" = 2 ]
	done
	for option in --interval --count -i -n; do
		run --separate-stderr eadm stat $option
		[ "$status" = 2 ]
		run --separate-stderr eadm record $option
		[ "$status" = 2 ]
	done
}

@test "a switch takes no value" {
	for option in --json --schema --list-columns --no-color --verbose --version --help; do
		run eadm list $option=1
		[ "$status" = 2 ]
		[[ $output == *"takes no value"* ]]
	done
	fails 2 "eadm: dump: --hw: takes no value" dump qp --hw=yes
	fails 2 "eadm: trace: --follow: takes no value" trace --follow=yes
	fails 2 "eadm: stat: --live: takes no value" stat --live=yes
}

@test "values that make no sense" {
	fails 2 "eadm: dump: x: not a number" dump qp x
	fails 2 "eadm: dump: 1x: not a number" dump qp 1x
	fails 2 "eadm: dump: 99999999999999999999: not a number" dump qp 99999999999999999999
	fails 2 "eadm: dump: -7: not a number" dump qp --pid -7
	fails 2 "eadm: trace: fast: not a time (such as 500ms, 2s or 1m)" \
		trace --slower-than fast
	fails 2 "eadm: trace: 5 ms: not a time (such as 500ms, 2s or 1m)" \
		trace --slower-than "5 ms"
	fails 2 "eadm: trace: 1e30: not a time (such as 500ms, 2s or 1m)" \
		trace --slower-than 1e30
	fails 2 "eadm: stat: soon: not a time (such as 500ms, 2s or 1m)" stat -i soon
	fails 2 "eadm: stat: --interval: must be at least 1ms" stat -i 0
	fails 2 "eadm: stat: --count: must be greater than 0" stat -n 0
	fails 2 "eadm: stat: many: not a number" stat -n many
	fails 2 "eadm: record: --count: must be greater than 0" record -n 0 "$BATS_TEST_TMPDIR/x"
	fails 2 "eadm: list: --timeout: must be from 1ms to 24h" list --timeout 0
	fails 2 "eadm: list: --timeout: must be from 1ms to 24h" list --timeout 25h
	fails 2 "eadm: dump: --output: ',' is not a list of columns" dump qp -o ,
	fails 2 "eadm: dump: --output: '' is not a list of columns" dump qp -o qpn,
}

@test "numbers are decimal, or hexadecimal behind 0x" {
	[ "$(eadm --from "$TWO" dump qp 012 -j | jq -c '[.rows[].qpn] | unique')" = '[12]' ]
	[ "$(eadm --from "$TWO" dump qp 0xC -j | jq -c '[.rows[].qpn] | unique')" = '[12]' ]
	for number in 0x 0x1g 1f 08x; do
		fails 2 "eadm: dump: $number: not a number" dump qp "$number"
	done
}

# full_disk ARGUMENTS...: one line says why, and it is the failure of the command.
full_disk() {
	run --separate-stderr sh -c '"$@" >/dev/full' - "$EADM" "$@"
	echo "status $status, stderr '$stderr'"
	[ "$status" = 1 ]
	[[ $(grep -v "^eadm: [a-z]*: $notes" <<<"$stderr") =~ \
		^eadm:\ ([a-z]+:\ )?"standard output: No space left on device"$ ]]
}

@test "output that cannot be written: once, and why" {
	local notes='(no notes)'

	for command in "top -b -n 1" "stat -l" "list -w" list "list -w -j" "stat -j" help --schema; do
		# shellcheck disable=SC2086
		full_disk --from "$BUSY" $command
	done
}

@test "output that cannot be written has status 1, whatever was found" {
	local notes='\(properties of the machine\|SMC\|guest: rules\):'

	for command in check "check -j" diagnose "diagnose -j" "check --strict"; do
		# shellcheck disable=SC2086
		full_disk --from "$SICK" $command
	done
}

@test "output that cannot be written is no interruption" {
	local notes='\(rxe0: \|objects appeared\)'

	for command in list "dump qp" "dump cmd"; do
		# shellcheck disable=SC2086
		full_disk --from "$DEAD" $command
	done
}

@test "options that do not fit" {
	fails 2 "eadm: dump: --state: this filter does not apply to counters" dump counters --state rts
	fails 2 "eadm: dump: --pid: this filter does not apply to event queues" dump eq --pid 1
	fails 2 "eadm: dump: --comm: this filter does not apply to devices" dump dev --comm x
	fails 2 "eadm: list: --hw: unknown option" list --hw
	for command in check diagnose ver "mark --list" top test "diff a"; do
		# shellcheck disable=SC2086
		fails 2 "eadm: ${command% *}: --output: ${command% *} has fixed columns" $command -o x
	done
	fails 2 "eadm: check: --list-columns: check has fixed columns" check --list-columns
	fails 2 "eadm: bundle: --output: applies to create only" bundle show x -o x
	fails 2 "eadm: bundle: --redact: applies to create only" bundle verify x --redact
	fails 2 "eadm: trace: --sort: cannot be used with export" trace export --sort seq
	fails 2 "eadm: trace: --count: requires --follow" trace -n 5
	fails 2 "eadm: --hw: must follow the command" --hw dump qp
	fails 2 "eadm: -n: must follow the command" -n 5 stat
	fails 2 "eadm: dump: --from: given twice" dump qp --from a --from b
	fails 2 "eadm: info: cloud_0: given twice: --device also names cloud_1" \
		info cloud_0 -d cloud_1
	fails 5 "eadm: dump: memory regions: memory regions have no adapter context" \
		--from "$TWO" dump mr --hw
	fails 5 "eadm: trace: cloud_0: a capture cannot be followed" \
		--from "$TWO" trace --follow -d cloud_0
}

@test "arguments: too few, too many" {
	fails 2 "eadm: command: missing ('eadm help' lists all commands)" -v
	fails 2 "eadm: dump: OBJECT: missing (see 'eadm help dump')" dump
	fails 2 "eadm: record: FILE: missing ('-': standard output)" record
	fails 2 "eadm: list: x: unexpected argument (see 'eadm help list')" list x
	fails 2 "eadm: dump: 3: unexpected argument (see 'eadm help dump')" dump qp 2 3
	fails 2 "eadm: dump: --list-columns: missing object name" dump --list-columns
}

@test "options stand anywhere, words behind -- are no options" {
	diff <(eadm --from "$TWO" dump qp -d cloud_1) <(eadm dump -d cloud_1 qp --from="$TWO")
	diff <(eadm --from "$TWO" dump qp -d cloud_1) <(eadm -dcloud_1 --from "$TWO" dump -- qp)
	diff <(eadm --from "$TWO" -j list) <(eadm -vj --from "$TWO" list 2>/dev/null)
	fails 2 "eadm: dump: --hw: not a number" --from "$TWO" dump -- qp --hw
}

@test "what is not there" {
	fails 3 "eadm: dump: qp 99: no such object" --from "$TWO" dump qp 99
	fails 3 "eadm: dump: qp 11: no such object on cloud_1" --from "$TWO" dump qp 11 -d cloud_1
	fails 3 "eadm: info: mlx5_0: no such RDMA device" --from "$TWO" info mlx5_0
	fails 1 "eadm: list: /nowhere: No such file or directory" --from /nowhere list
	fails 1 "eadm: list: /: Is a directory" --from / list
}

@test "--list-columns tells columns with their help" {
	run eadm dump qp --list-columns
	[ "$status" = 0 ]
	[[ $output == *"sq-pi"*"producer index"*"[entries]"* ]]
	[ "$(eadm list --list-columns)" = "$(eadm dump dev --list-columns)" ]
}

@test "completion offers words" {
	[ "$(eadm __complete li)" = list ]
	[ "$(eadm __complete dump c | tr '\n' ' ')" = "cq cmdq ctx counters cmd cep conf cqe cmde cgroup " ]
	[ "$(eadm __complete dump qp --st)" = --state ]
	[ "$(eadm __complete dump qp --state e)" = err ]
	[ "$(eadm __complete dump qp --state rts,e)" = rts,err ]
	[ "$(eadm __complete dump qp -o +sq-c)" = +sq-ci ]
	[ "$(eadm __complete dump qp --output=sq-c)" = sq-ci ]
	[ "$(eadm __complete dump cq -o qpn,ar)" = qpn,armed ]
	[ "$(eadm __complete trace --opcode create-q)" = create-qp ]
	[ "$(eadm __complete --from x dump ee)" = "" ]
	[ "$(eadm __complete dump --from "")" = :file ]
	[ "$(eadm __complete record "")" = :file ]
	[ "$(eadm __complete help tr)" = trace ]
	[[ $(eadm __complete list --) == *--device*--help* ]]
	[ "$(eadm __complete | wc -l)" -ge 8 ]
}

@test "wrong words get a hint" {
	fails 2 "eadm: conf: sat: unknown subcommand (did you mean 'set'?)" --from "$TWO" conf sat cc 1
	fails 2 "eadm: test: echp: no such test (did you mean 'echo'?)" test client x -t data,echp
	fails 2 "eadm: stat: cloud_0: unknown object (see 'eadm help stat'; for a device: 'eadm stat -d cloud_0')" \
		--from "$TWO" stat cloud_0
	eadm --from "$TWO" stat -d cloud_0
	for option in -o --sort; do
		fails 2 "eadm: dump: pee-addr: unknown column (did you mean 'peer-addr'?)" \
			--from "$TWO" dump qp $option pee-addr
	done
}

@test "a time after the last moment is none of the capture" {
	for time in +1h +3600 -1h; do
		run --separate-stderr eadm --from "$MOMENTS" --at $time list
		[ "$status" = 3 ] && [ "$output" = "" ]
		[[ $stderr == "eadm: list: $time: the capture has "*" snapshots, "* ]]
	done
	eadm --from "$MOMENTS" --at +0s list
	eadm --from "$MOMENTS" --at -0s list
}

@test "eadm(1) names all pages" {
	see=$(sed -n '/^# SEE ALSO/,$p' "$REPO/man/eadm.1.scd")
	for page in "$REPO"/man/eadm*.scd "$REPO"/build/man/eadm*.7; do
		name=$(basename "${page%.scd}")
		# A family's page is its own affair.
		[ ! -e "$REPO/spec/families/$(sed 's/^eadm-//; s/\.7$//' <<<"$name").yaml" ] || continue
		[ "$name" = eadm.1 ] || [[ $see == *"*${name%.*}*(${name##*.})"* ]] || { echo "$name"; false; }
	done
}

@test "a library that is missing is named by its package" {
	without() {
		lib=$1
		shift
		rm -rf "$BATS_TEST_TMPDIR/lib"
		mkdir "$BATS_TEST_TMPDIR/lib"
		echo none >"$BATS_TEST_TMPDIR/lib/${lib%:*}"
		LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib run eadm --from "$TWO" bundle "$@"
		[ "$status" = 5 ] && [[ $output == *"${lib#*:}"* ]]
	}
	without libarchive.so.13:libarchive13 create -o "$BATS_TEST_TMPDIR/x"
	without libnettle.so.8:libnettle8 create -o "$BATS_TEST_TMPDIR/x"
	without libjson-c.so.5:libjson-c5 show "$BATS_TEST_TMPDIR/x"
	# What opens libraries late says so to packagers.
	for lib in libarchive.so.13 libnettle.so.8 libibverbs.so.1 libjson-c.so.5 libncursesw.so.6 librdmacm.so.1; do
		grep -aqF "{\"soname\":[\"$lib\"]" "$REPO/build/eadm/eadm"
	done
}

@test "pages say what a node in /dev/eadm takes" {
	for page in eadm-dump.1 eadm-record.1; do
		grep -q /dev/eadm "$REPO/man/$page.scd" && grep -q 'eadm\*(4)' "$REPO/man/$page.scd"
	done
	grep -q 'CAP_DAC_OVERRIDE' "$REPO/man/eadm-dump.1.scd"
}

@test "--device: a netdev, a PCI address or a GUID names the device, too" {
	local name wanted alias

	wanted=$(eadm --from "$TWO" dump qp -d cloud_1 --json)
	for alias in eth1 ETH1 0001:00:01.0 0200:edff:fea0:0001 0200:EDFF:fea0:0001; do
		[ "$(eadm --from "$TWO" dump qp -d "$alias" --json)" = "$wanted" ]
	done
	[ "$(eadm --from "$TWO" info eth1 -o dev-name --json | jq -r '.rows[].dev_name')" = cloud_1 ]
	eadm --from "$TWO" check -d eth1 --json | jq -e '[.rows[].dev_name // "cloud_1"] | unique == ["cloud_1"]'
	eadm --from "$TWO" exporter --once -d eth1 | grep -q 'device="cloud_1"'
	[ "$(eadm --from "$TWO" exporter --once -d eth1 | grep -c 'device="cloud_0"')" = 0 ]
	for name in list stat "stat qp" trace diagnose "diff $TWO"; do
		# shellcheck disable=SC2086 # a command and its words
		diff <(eadm --from "$TWO" $name -d eth1 2>&1) <(eadm --from "$TWO" $name -d cloud_1 2>&1)
	done
	# A domain of 0 may be left out.
	LC_ALL=C sed 's/0001:00:01\.0/0000:00:01.0/g' "$TWO" >"$BATS_TEST_TMPDIR/zero.pcapng"
	[ "$(eadm --from "$BATS_TEST_TMPDIR/zero.pcapng" list -d 00:01.0 --json | jq -r '.rows[].dev_name')" = cloud_1 ]
}

@test "--device: an alias of several devices is refused with their names, an unknown one is not found" {
	LC_ALL=C sed 's/eth1/eth0/g' "$TWO" >"$BATS_TEST_TMPDIR/same.pcapng"
	run eadm --from "$BATS_TEST_TMPDIR/same.pcapng" dump qp -d eth0
	[ "$status" = 2 ]
	[ "$output" = "eadm: dump: eth0: several devices match: cloud_0, cloud_1" ]
	LC_ALL=C sed 's/cloud_1/cloud_0/g' "$TWO" >"$BATS_TEST_TMPDIR/same.pcapng"
	run eadm --from "$BATS_TEST_TMPDIR/same.pcapng" dump qp -d cloud_0
	[ "$status" = 2 ]
	[ "$output" = "eadm: dump: cloud_0: not the only device of this name (--peer selects one program)" ]
	run eadm --from "$TWO" dump qp -d eth7
	[ "$status" = 3 ]
	run eadm --from "$TWO" dump qp -d "$(printf 'e%.0s' {1..200})"
	[ "$status" = 3 ]
}
