# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete".
function __eadm_words
    set -l words (commandline -opc) (commandline -ct)
    set -l answer (eadm __complete $words[2..-1] 2>/dev/null)
    if test "$answer" = ":file"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $answer
    end
end
complete -c eadm -f -a '(__eadm_words)'
