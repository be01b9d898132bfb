# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete"; a line ":file" among them: files, too.
_eadm() {
	local IFS=$'\n' words=() word last=${COMP_WORDS[COMP_CWORD]} answer

	# Bash splits at "=": "--option", "=", "value".
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		[ "$word" = "=" ] || words+=("$word")
	done
	[ "$last" = "=" ] && { last=; words+=(""); }
	answer=$(eadm __complete "${words[@]}" 2>/dev/null)
	mapfile -t COMPREPLY < <(compgen -W "$(grep -vx :file <<<"$answer")" -- "$last")
	if [[ $'\n'$answer$'\n' == *$'\n:file\n'* ]]; then
		compopt -o filenames
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$last")
	fi
	# Lists go on after a comma.
	[[ $last == *,* || $last == +* ]] && compopt -o nospace
	return 0
}
complete -F _eadm eadm
