# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers and nouns of messages agree.
load common

# plurals_of_one: what is in standard input, across lines, like "1 commands". A number may be a name.
plurals_of_one() {
	tr -s ' \n' ' ' | grep -oE '([A-Za-z]+|[^A-Za-z0-9.:]) ?\<1 [A-Za-z]+s\>' |
		grep -vE '^(at|index|vector|QP|CQ|EQ|GID|version|and) 1 |\<1 (is|was|has|does|its|this|ms|says|gives|asynchronous|[a-z]+ss)$'
}

@test "a single object is not in the plural" {
	local capture

	for text in "the first of 1 commands were lost" "1 regions" "1 QPs, 2 CQs"; do
		run plurals_of_one <<<"($text"
		[ "$status" = 0 ]
	done
	run plurals_of_one <<<"1 QP, 2 CQs and 11 MRs; QP 1 sends, 1 command was refused, 0.1 regions, index 1 says"
	[ "$status" = 1 ]
	for capture in "$SYNTH"/{sick,dead,two,stock}.pcapng "$REPO"/tests/captures/{probed/failing,badly/unset}.pcapng \
		"$REPO"/tests/family/*/captures/{completions,setup,upstream,live}.pcapng; do
		[ -e "$capture" ] || continue
		for command in diagnose check; do
			eadm --from "$capture" $command --json >"$BATS_TEST_TMPDIR/said" 2>/dev/null || [ $? -ge 6 ]
			run plurals_of_one < <(jq -r '"(\(.rows[], .notes[]? | .finding, .cause, .why, .affects[]?.finding | strings))"' \
				"$BATS_TEST_TMPDIR/said")
			[ "$status" = 1 ] || { echo "$capture: $output"; return 1; }
		done
	done
	run plurals_of_one < <(eadm --from "$SICK" top -n 1; eadm --from "$TWO" diff "$SICK" 2>&1; eadm --from "$SICK" list)
	[ "$status" = 1 ]
}
