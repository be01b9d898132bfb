#compdef eadm
# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete".
local -a answer

answer=(${(f)"$(eadm __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
if [[ $answer == ":file" ]]; then
	_files
else
	compadd -- $answer
fi
