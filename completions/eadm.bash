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
	COMPREPLY=()
	# Not "compgen -W": it would execute what a name contains, like $(...). Bash would
	# do so with the line, too, hence the quotes.
	while read -r word; do
		[[ -z $word || $word == :file || $word != "$last"* ]] && continue
		[[ $word == *[!A-Za-z0-9_.,:/@%+=-]* ]] && printf -v word %q "$word"
		COMPREPLY+=("$word")
	done <<<"$answer"
	if [[ $'\n'$answer$'\n' == *$'\n:file\n'* ]]; then
		compopt -o filenames
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$last")
	fi
	# Lists go on after a comma.
	[[ $last == *,* || $last == +* ]] && compopt -o nospace
	return 0
}
complete -F _eadm eadm
