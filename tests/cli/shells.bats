# SPDX-License-Identifier: GPL-2.0-or-later
# Completion as the shells ask for it, and that what is installed is complete.
load common

# What follows on a line, by each shell, in a folder with captures and a mark.
offers="eadm du: dump
eadm dump cm: cmd cmde cmdq
eadm dump qp --hw: --hw
eadm dump qp --state rts,e: rts,err
eadm dump qp --output=sq-p: sq-pi sq-psn
eadm trace --opcode create-q: create-qp
eadm list --from dea: dead.pcapng
eadm list --from=dea: dead.pcapng
eadm diff dea: dead.pcapng deadline
eadm diff deadline l: library.pcapng link live
eadm stat --since dea: dead.pcapng deadline
eadm list no-such: "

# offers SHELL: it offers just that; SHELL LINE... prints "LINE: WORD..." for each.
offers() {
	local lines line

	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state PATH=$(dirname "$EADM"):$PATH
	eadm --from "$TWO" mark deadline
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	touch dead.pcapng library.pcapng
	mapfile -t lines < <(cut -d : -f 1 <<<"$offers")
	"$1" "${lines[@]}" >"$BATS_TEST_TMPDIR/offers"
	diff <(echo "$offers") <(while read -r line; do
		echo "${line%%:*}: $(xargs -n 1 <<<"${line#*:}" | sort | xargs)"
	done <"$BATS_TEST_TMPDIR/offers")
}

# As bash splits it.
in_bash() {
	bash --norc -c '
		compopt() { :; }
		. "$1"
		shift
		for line; do
			read -ra COMP_WORDS <<<"${line//=/ = }"
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_eadm
			echo "$line: ${COMPREPLY[*]}"
		done' - "$REPO/completions/eadm.bash" "$@"
}

# Fish offers whole words.
in_fish() {
	HOME=$BATS_TEST_TMPDIR fish --no-config -c "source $REPO/completions/eadm.fish
		for line in \$argv
			echo \$line: (complete -C \$line | string replace -r '^--[a-z]*=' '')
		end" "$@"
}

in_zsh() {
	ln -s "$REPO/completions/eadm.zsh" "$BATS_TEST_TMPDIR/_eadm"
	timeout 100 zsh -f "$BATS_TEST_DIRNAME/complete.zsh" "$BATS_TEST_TMPDIR" "$@"
}

@test "bash offers words and files" {
	offers in_bash
}

@test "bash does not execute what a name contains" {
	cd "$BATS_TEST_TMPDIR"
	cat >eadm <<'END'
#!/bin/sh
printf '%s\n' 'e$(touch ran)' eth0 'e;x'
END
	chmod +x eadm
	PATH=$PWD:$PATH in_bash "eadm list -d e" >offered
	diff - offered <<'END'
eadm list -d e: e\$\(touch\ ran\) eth0 e\;x
END
	[ "$(ls)" = $'eadm\noffered' ]
}

@test "fish offers words and files" {
	offers in_fish
}

@test "zsh offers words and files" {
	offers in_zsh
}

@test "completions are short" {
	for file in "$REPO"/completions/eadm.*; do
		[ "$(wc -l <"$file")" -lt 40 ]
	done
}

@test "the page about devices names each of their commands" {
	for name in $(grep -oE 'define EADM_IOC_[A-Z]+' "$REPO/kmod/uapi/eadm_ioctl.h"); do
		[ "$name" = define ] || [ "$name" = EADM_IOC_MAGIC ] ||
			grep -qF "$name" "$REPO/man/eadm.4.scd"
	done
}

@test "every command has a manual page with its options" {
	commands=$(eadm help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	[ "$(wc -w <<<"$commands")" -ge 18 ]
	for command in $commands; do
		[ "$command" != help ] || continue
		page=$REPO/man/eadm-$command.1.scd
		[ -f "$page" ]
		options=$(eadm help "$command" | sed '/^Global options:/,$d' |
			grep -oE '^  .{4}--[a-z-]+' | grep -oE -- '--[a-z-]+' || true)
		for option in $options; do
			grep -qF -- "$option" "$page"
		done
	done
	for option in $(eadm help | grep -oE -- '^ .*--[a-z-]+ ' | grep -oE -- '--[a-z-]+'); do
		grep -qF -- "$option" "$REPO/man/eadm.1.scd"
	done
}
