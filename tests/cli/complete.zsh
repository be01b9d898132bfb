# SPDX-License-Identifier: GPL-2.0-or-later
# zsh -f complete.zsh FOLDER LINE...: what an interactive zsh offers where each
# LINE ends; FOLDER has the completion function.
zmodload zsh/zpty
setopt extended_glob

# Of all that compadd is called for, only what is added is an offer.
export FOLDER=$1 SETUP='
fpath=($FOLDER $fpath); autoload -Uz compinit; compinit -D -u
compadd() {
	local -a fits
	local fit
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -O fits "$@"
		for fit in $fits; do print -r -- "${nl}@offer $fit"; done
	fi
	builtin compadd "$@"
}
finish() { print -r -- "${nl}@end"; BUFFER= }
zle -N finish; bindkey "^T" finish; bindkey "^I" complete-word; nl=$'"'\n'"'
print @ready'
shift
zpty shell zsh -f -i
zpty -w shell 'eval $SETUP'
zpty -r shell text '*@ready*'

for line; do
	zpty -w -n shell "$line"$'\t\C-t'
	zpty -r shell text '*@end*'
	text=(${${(M)${(f)text}:#@offer *}#@offer })
	print -r -- "$line: ${text//$'\r'}"
done
zpty -d shell
