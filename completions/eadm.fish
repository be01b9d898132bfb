# SPDX-License-Identifier: GPL-2.0-or-later
# The words come from "eadm __complete"; a line ":file" among them: files, too.
function __eadm_words
    set -l words (commandline -opc) (commandline -ct)
    set -l answer (eadm __complete $words[2..-1] 2>/dev/null)
    # Fish wants the whole word, eadm answers what is behind "--option=".
    set -l option (string match -r '^--[^=]*=' -- $words[-1])
    begin
        string match -v :file -- $answer
        contains :file -- $answer
        and __fish_complete_path (string replace -r '^--[^=]*=' '' -- $words[-1])
    end | string replace -r '^' -- "$option"
end
complete -c eadm -f -a '(__eadm_words)'
