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

@test "messages of the tool, the library and the kernel modules" {
	local files

	run refuses_none "a test" < <(strings_of <(echo 'char *told = "moment", *a = "it tells";'))
	[ "$status" = 1 ]
	[[ $output != *moment* ]]
	mapfile -t files < <(find "$REPO"/{kmod,libeadm,eadm} -name '*.c' -not -path '*/generated/*')
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
