#compdef eadm
# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete"; a line ":file" among them: files, too.
local -a answer

answer=(${(f)"$(eadm __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
# What is behind "--option=" is answered.
compset -P '--[^=]#='
compadd -- ${answer:#:file}
(( ! ${answer[(Ie):file]} )) || _files
