# SPDX-License-Identifier: GPL-2.0-or-later
# Errors that programs print, and their causes.
load common
load explain

# means "MEANINGS" TEXT: exactly these, in the order of the text.
means() {
	local got
	got=$(eadm explain --text-only --json -- "$2" 2>/dev/null | jq -r '[.rows[]?.meaning] | join(" ")')
	echo "'$2': wanted '$1', got '$got'"
	[ "$got" = "$1" ]
}

@test "explain: texts of public threads have their meaning and first causes" {
	explain_threads "$REPO/tests/cli/explain/threads.tsv"
	[ "$known" -ge 40 ]
}

@test "explain: a status is known by number, name and words, in any case and notation" {
	for text in "work completion status 12" "wc status: 0xc" "IBV_WC_RETRY_EXC_ERR" \
		"ibv_wc_retry_exc_err" "TRANSPORT RETRY COUNTER EXCEEDED" \
		"Transport retry count exceeded on dev_0:1/RoCE" "completion failed, status=12" \
		'{"msg":"got completion\nwith error 12"}' $'\033[31mRETRY\033[0m EXCEEDED ERROR'; do
		means wc-retry-exceeded "$text"
	done
	means wc-rnr-retry-exceeded "RNR retry counter exceeded"
	means wc-flushed "Got completion with status=5"
}

@test "explain: the error of a call is known by number, name and words" {
	for error in "with 110" "with error Connection timed out" ": ETIMEDOUT" "(errno 110)" \
		"ret = -110" "rc: 0x6e"; do
		means modify-qp-timeout "ibv_modify_qp failed $error"
	done
	means modify-qp-timeout "errno: Connection timed out, failed to modify QP to RTR"
}

@test "explain: a call that succeeded has no meaning" {
	for text in "ibv_get_device_list returned 2 devices" "fi_getinfo returned 3 providers" \
		"ibv_poll_cq returned 16" "ibv_poll_cq: 16" "ibv_create_qp: qp num is 412" \
		"ibv_query_port: active_mtu is 5" "ibv_create_cq with 128 entries" \
		"ibv_query_device ok (no error)" "ibv_reg_mr ok; huge pages are not used" \
		"ibv_reg_mr: 0 errors" "ibv_create_qp: error 0" "ibv_modify_qp: errno = 0"; do
		means "" "$text"
	done
	means poll-cq "ibv_poll_cq failed, returned 16"
	means poll-cq "ibv_poll_cq returned -1"
	means modify-qp-invalid "ibv_modify_qp returned 22"
	means modify-qp-invalid "ibv_modify_qp: error is 22"
	means create-qp "ibv_create_qp did not succeed"
	means reg-mr "memory is fine, but could not register memory region"
}

@test "explain: many errors in a line do not hide a completion's" {
	means wc-retry-exceeded "$(printf 'einval %.0s' {1..2000}) got completion with status 12"
}

@test "explain: the same error means something else after another call" {
	means create-qp-no-memory "ibv_create_qp: Cannot allocate memory"
	means create-cq-no-memory "ibv_create_cq: Cannot allocate memory"
	means reg-mr-no-memory "ibv_reg_mr: Cannot allocate memory"
	means post-send-no-memory "ibv_post_send: Cannot allocate memory"
	means modify-qp-no-memory "ibv_modify_qp: Cannot allocate memory"
	means open-device-no-memory "ibv_open_device: Cannot allocate memory"
}

@test "explain: two calls in a line keep their errors" {
	means "create-cq-no-memory modify-qp-invalid" \
		"ibv_create_cq: Cannot allocate memory; ibv_modify_qp: Invalid argument"
}

@test "explain: no device, in the words of any program" {
	for text in "ibv_get_device_list() returned 0 devices" "No RoCE adapters in this container" \
		"0 HCAs found"; do
		means no-devices "$text"
	done
	for text in "found 2 devices" "0 errors, 4 devices" "no device is idle"; do
		means "" "$text"
	done
}

@test "explain: a number is no error without a word for it" {
	means modify-qp "Failed to modify QP 110 to RTR"
	means "" "ibv_modify_qp returned 0"
	means "" "wc status 0"
	means "" "completion with status=4711"
}

@test "explain: lines of programs without RDMA have no meaning" {
	run --separate-stderr eadm explain --text-only --json <"$REPO/tests/cli/explain/unrelated.txt"
	jq -r '.rows[]? | "line \(.line) is not \(.meaning): \(.text)"' <<<"$output"
	[ "$status" = 3 ]
}

@test "explain: a generic phrase has a meaning beside a word of RDMA, or alone" {
	for text in "mlx5_0: retry limit exceeded" "[4] qp 0x12: step retries exceeded" \
		"NCCL WARN retry exceeded" "Retry limit exceeded" "ERROR: failed to send: NCCL: retry exceeded"; do
		means wc-retry-exceeded "$text"
	done
	for text in "step 4: retry limit exceeded" "12:30:05 retry limit exceeded" \
		"retry limit exceeded after 3 attempts"; do
		means "" "$text"
	done
	means open-device "Failed to open device (13): Permission denied"
	means open-device-no-file "Failed to open device: No such file or directory"
	means "" "Failed to open device /dev/video0: No such file or directory"
	# Skipped words may be those of any program.
	means "" "port web is down"
	means port-down "mlx5_0: port web is down"
}

@test "explain: unknown text ends with 3 and a clear word" {
	fails 3 "eadm: explain: text: no known error in 1 line" explain "Segmentation fault"
	fails 3 "eadm: explain: text: system error of an unknown call: include the surrounding text" \
		explain "Connection timed out"
	run --separate-stderr eadm explain --json hello
	[ "$status" = 3 ]
	[ "$(jq -r .error.status <<<"$output")" = 3 ]
	run --separate-stderr eadm explain <<<$'one\ntwo'
	[ "$status" = 3 ]
	[ "$stderr" = "eadm: explain: text: no known error in 2 lines" ]
	run --separate-stderr eadm explain </dev/null
	[ "$status" = 3 ]
}

@test "explain: usage errors" {
	fails 2 "eadm: explain: --list: cannot be used with TEXT" explain --list text
	fails 2 "eadm: explain: --wrong: unknown option" explain --wrong
	fails 2 "eadm: explain: $BATS_TEST_FILENAME: files must be passed on standard input ('eadm explain < FILE')" \
		explain "$BATS_TEST_FILENAME"
	run --separate-stderr eadm --from - explain </dev/null
	[ "$status" = 2 ]
	run --separate-stderr eadm --from /nonexistent explain IBV_WC_RETRY_EXC_ERR
	[ "$status" = 1 ]
}

@test "explain: words of the command line are one text, negative numbers and all" {
	run --separate-stderr eadm explain --text-only fi_getinfo: -61
	[ "$status" = 0 ]
	[ "${lines[0]}" = fi-getinfo-no-data ]
	run --separate-stderr eadm explain got completion with error 12, opcode 129, len 0, vendor err 129 --text-only
	[ "$status" = 0 ]
	[ "${lines[0]}" = wc-retry-exceeded ]
}

@test "explain: of a log each error is shown once, with its first line and count" {
	run --separate-stderr eadm explain --text-only --json < <(
		echo "started"
		for _ in 1 2 3; do
			echo "Got completion with error 5, opcode 1"
		done
		echo "ibv_reg_mr failed: Cannot allocate memory"
		printf 'Got completion with error 5')
	[ "$status" = 0 ]
	[ "$(jq -c '[.rows[] | [.meaning, .line, .count]]' <<<"$output")" = \
		'[["wc-flushed",2,4],["reg-mr-no-memory",5,1]]' ]
	[ "$(jq -r '.rows[0].text' <<<"$output")" = "Got completion with error 5, opcode 1" ]
}

@test "explain: a general meaning does not count beside a special one" {
	means wc-error "mlx: got completion with error"
	means wc-local-protection "got completion with error: local protection error"
	# A status of 0 is a success.
	means "" "Got completion with error 0"
	means "" "mlx5_0: completion in error: 0"
	means wc-error "Got completion with error 4711"
}

@test "explain: errors in long lines are found once, wherever they are" {
	for before in 0 100 14000 14330 16300 16380 16390 16500 40000 1000000; do
		run --separate-stderr eadm explain --text-only --json < <(
			head -c "$before" /dev/zero | tr '\0' x
			printf ' ibv_modify_qp failed with error Connection timed out '
			head -c 40000 /dev/zero | tr '\0' y)
		echo "$before: $output"
		[ "$status" = 0 ]
		[ "$(jq -c '[.rows[] | [.meaning, .line, .count]]' <<<"$output")" = \
			'[["modify-qp-timeout",1,1]]' ]
		[ "$(jq -r '.rows[0].text | length < 250 and contains("ibv_modify_qp")' <<<"$output")" = true ]
	done
}

@test "explain: binary input is harmless, and its bytes are not printed" {
	run --separate-stderr eadm explain --text-only < <(
		head -c 300000 "$EADM"
		printf '\0\n\033]0;title\007\001 IBV_WC_RNR_RETRY_EXC_ERR \377\0\200\n')
	[ "$status" = 0 ]
	[[ $output = *wc-rnr-retry-exceeded* ]]
	[[ $output != *$'\033'* && $output != *$'\001'* ]]
}

@test "explain: a log of any size needs the same memory" {
	yes 'Got completion with error 12, opcode 129, len 0, vendor err 129' | head -n 781250 >"$BATS_TEST_TMPDIR/log"
	# Sanitizers need much address space of their own.
	if ! nm "$EADM" 2>/dev/null | grep -q __asan_init; then
		ulimit -v 40000
	fi
	run --separate-stderr "$EADM" explain --text-only --json <"$BATS_TEST_TMPDIR/log"
	[ "$status" = 0 ]
	[[ $output = *'"count":781250,'* ]]
}

@test "explain: causes that a capture shows are named, with the findings of their rules" {
	run --separate-stderr eadm --from "$SICK" explain --json IBV_WC_RETRY_EXC_ERR
	[ "$status" = 0 ]
	[ "$(jq '[.rows[0].causes[] | select(.cause == "peer-gone").found[].rule] | index("peer-silent") != null' <<<"$output")" = true ]
	[ "$(jq '[.rows[0].causes[] | . as $c | .found[] | select(.rule as $r | $c.rules | index($r) | not)] | length' <<<"$output")" = 0 ]
	[ "$(jq '[.rows[0].causes[].found[].finding | length > 10] | all' <<<"$output")" = true ]
	# Once, with the likeliest cause.
	[ "$(jq '[.rows[0].causes[].found[] | [.rule, .dev_name, .id]] | length == (unique | length)' <<<"$output")" = true ]
	run --separate-stderr eadm --from "$SICK" explain IBV_WC_RETRY_EXC_ERR
	[[ $output = *"here: critical peer-silent"* ]]
}

@test "explain: a healthy capture shows no cause, and what was not judged is counted" {
	run --separate-stderr eadm --from "$WELL" explain --json "RNR retry counter exceeded"
	[ "$status" = 0 ]
	[ "$(jq '[.rows[].causes[].found[]] | length' <<<"$output")" = 0 ]
	[[ "$(jq -r '.notes[].why' <<<"$output")" = "no rule found a fault in the capture"* ]]
	run --separate-stderr eadm --from "$RXE" explain "RNR retry counter exceeded"
	[[ $stderr = *"rules could not be applied ('eadm diagnose' shows why)"* ]]
}

@test "explain: every rule of a cause exists, and every cause is explained" {
	diff <(eadm explain --list --json | jq -r '.rows[].causes[].rules[]' | sort -u) \
		<(eadm explain --list --json | jq -r '.rows[].causes[].rules[]' | sort -u |
			grep -xF -f <(eadm diagnose --rules --json | jq -r '.rows[].rule'))
	[ "$(eadm explain --list --json | jq '[.rows[].causes[] | (.text | length > 10) and (.look | length > 0)] | all')" = true ]
	[ "$(eadm explain --list --json | jq '[.rows[].meaning] | (length > 80) and (length == (unique | length))')" = true ]
}

@test "explain: every command of eadm that a cause names exists" {
	eadm explain --list --json | jq -r '.rows[].causes[].look[]' | sort -u | while read -r program verb rest; do
		[ "$program" != eadm ] || eadm help "$verb" >/dev/null
	done
}

@test "explain: what it prints as JSON is in the schema" {
	valid explain --json --text-only "wc status 12"
	valid explain --json --list
	valid explain --json nothing
	valid --from "$SICK" explain --json "wc status 12, RNR retry counter exceeded"
}

@test "explain: for people" {
	golden explain-retries --from "$SICK" explain 'Got completion with error 13, opcode 0, len 0, vendor err 135'
	golden explain-text explain --text-only 'Call to ibv_modify_qp failed with 110'
}
