# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete".
_eadm() {
	local IFS=$'\n' words=("${COMP_WORDS[@]:1:COMP_CWORD}") last answer

	# Bash splits at "="; eadm takes --option=value in one piece.
	last=${COMP_WORDS[COMP_CWORD]}
	[ "$last" = "=" ] && last=
	answer=$(eadm __complete "${words[@]}" 2>/dev/null)
	if [ "$answer" = ":file" ]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$last")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$answer" -- "$last")
	# Lists go on after a comma.
	[[ $last == *,* || $last == +* ]] && compopt -o nospace
	return 0
}
complete -F _eadm eadm
