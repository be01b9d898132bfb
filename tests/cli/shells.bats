# SPDX-License-Identifier: GPL-2.0-or-later
# Completion as the shells ask for it, and that what is installed is complete.
load common

# complete_in_bash WORD...: what bash offers for the last word.
complete_in_bash() {
	PATH=$(dirname "$EADM"):$PATH bash --norc -c '
		compopt() { :; }
		. "$1/completions/eadm.bash"
		shift
		COMP_WORDS=(eadm "$@")
		COMP_CWORD=$#
		_eadm
		printf "%s\n" "${COMPREPLY[@]}"' - "$REPO" "$@"
}

@test "bash offers commands, objects, options and values" {
	[ "$(complete_in_bash li)" = list ]
	[ "$(complete_in_bash dump cm | tr '\n' ' ')" = "cmdq cmd cmde " ]
	[ "$(complete_in_bash dump qp --hw)" = --hw ]
	[ "$(complete_in_bash dump qp --state rts,e)" = rts,err ]
	[ "$(complete_in_bash trace --opcode create-q)" = create-qp ]
}

@test "bash offers files where files are wanted" {
	cd "$SYNTH"
	[ "$(complete_in_bash list --from dea)" = dead.pcapng ]
}

@test "zsh and fish ask the same question" {
	grep -q 'eadm __complete' "$REPO/completions/eadm.zsh"
	grep -q 'eadm __complete' "$REPO/completions/eadm.fish"
	if command -v zsh >/dev/null; then
		zsh -n "$REPO/completions/eadm.zsh"
	fi
	if command -v fish >/dev/null; then
		fish -n "$REPO/completions/eadm.fish"
	fi
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
