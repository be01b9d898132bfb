# SPDX-License-Identifier: GPL-2.0-or-later
# What users read avoids the words that CONTRIBUTING's table refuses.
load common

# The table's left column as a regular expression; sentences may begin with a word.
refused() {
	sed -n '/^## Words/,/^## /s/^| \([^|]*[a-z_]\) | .*/\1/p' "$REPO/CONTRIBUTING.md" |
		grep -vx not | sed 's/, /\n/g' |
		sed -E 's/^([a-z])/[\1\U\1]/; s/^/\\</; s/[a-z]$/&\\>/' | paste -sd '|'
}

# refuses_none NAME: none of the words is in standard input, across lines.
# Names of keys and files, which pages print bold or as code, are not words.
refuses_none() {
	local found

	found=$(sed -E 's/\*[^ *]*\*|`[^` ]*`//g' | tr -s ' \t\n' ' ' |
		LC_ALL=C grep -oE ".{0,40}($(refused)).{0,20}") || return 0
	echo "$1: $found"
	return 1
}

@test "the table of refused words is read" {
	[ "$(refused | tr '|' '\n' | wc -l)" -ge 25 ]
	run refuses_none "a test" <<<"Tells who it is"
	[ "$status" = 1 ]
	run refuses_none "a test" <<<"--hw takes CAP_SYS_RAWIO"
	[ "$status" = 1 ]
	run refuses_none "a test" <<<"the key *moment* of a retold momentum, as long as it lasts"
	[ "$status" = 0 ]
}

@test "manual pages, documents, README and CONTRIBUTING" {
	for page in "$REPO"/man/*.scd "$REPO/README.md" "$REPO"/docs/*.md; do
		refuses_none "$page" <"$page"
	done
	sed '/^## Words/,/^## /d' "$REPO/CONTRIBUTING.md" | refuses_none CONTRIBUTING.md
}

# What is between quotes and more than a name, a line each.
strings_of() {
	grep -ohE '"([^"\\]|\\.)*"' "$@" | grep ' '
}

# Descriptions of fields, and comments, without the marks at the beginning of their lines.
spec_text() {
	sed -E 's/^ *#+/ /' "$@"
}

@test "the specification" {
	run refuses_none "a test" < <(spec_text <(printf '%s\n' '# the cause,' '# so' '# many times' 'doc: "told"'))
	[ "$status" = 1 ]
	[[ $output == *"so many"* ]]
	for spec in "$REPO"/spec/*.yaml "$REPO"/spec/families/*.yaml; do
		spec_text "$spec" | refuses_none "$spec"
	done
}

# Without fonts, in which names of keys are, and other escapes.
man_text() {
	sed -E '/^\.\\"/d; s/\\f[BI][^ \\]*\\f[PR]//g; s/\\f.//g; s/\\-/-/g; s/\\&//g' "$1"
}

@test "generated manual pages" {
	local page count=0

	"$REPO/spec/derive" man "$BATS_TEST_TMPDIR"
	for page in "$BATS_TEST_TMPDIR"/*.7; do
		man_text "$page" | refuses_none "$page"
		count=$((count + 1))
	done
	[ "$count" -ge 2 ]
}

@test "messages of the tool, the library, the kernel modules and eadm-pvrdma" {
	local files

	run refuses_none "a test" < <(strings_of <(echo 'char *told = "moment", *a = "it tells";'))
	[ "$status" = 1 ]
	[[ $output != *moment* ]]
	mapfile -t files < <(find "$REPO"/{kmod,libeadm,eadm,pvrdma} -name '*.[ch]' -not -path '*/generated/*')
	strings_of "${files[@]}" | refuses_none "messages"
}

@test "help of every command, and the rules" {
	for command in "" $(eadm __complete ""); do
		# shellcheck disable=SC2086
		eadm help $command | refuses_none "help $command"
	done
	eadm diagnose --rules | refuses_none "rules"
	eadm diagnose --rules --json | jq -r '.rows[] | .about, .alike' | refuses_none "rules in JSON"
}

# plurals_of_one: what is in standard input, across lines, like "1 commands". A number may be a name.
plurals_of_one() {
	tr -s ' \n' ' ' | grep -oE '([A-Za-z]+|[^A-Za-z0-9.:]) ?\<1 [A-Za-z]+s\>' |
		grep -vE '^(at|index|vector|QP|CQ|EQ|GID|version|and) 1 |\<1 (is|was|has|does|its|this|ms|says|gives|asynchronous|[a-z]+ss)$'
}

@test "what there is one of is no plural" {
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
