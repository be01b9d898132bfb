# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016 # lib.sh sets them; for eval
# Of the failures that the probe names (docs/probe.md), those that are seen without it and have no
# scenes elsewhere: a QP that its owner moved to the error state, and a process that a call holds.
scenes=build/tests/lib/src/scenes

begin_scene() { # SCENE [ARGUMENT...]
	mkfifo "$work/scene"
	"$scenes" "$dev" "$@" <"$work/scene" >"$work/scene.out" 2>&1 &
	scene=$!
	exec {input}>"$work/scene"
	rm "$work/scene"
}
end_scene() {
	exec {input}>&-
	wait "$scene"
}
is_ready() {
	grep -q ready "$work/scene.out"
}

begin_scene rc connected 1
check "unprobed: a process with a connected QP waits" until_true 30 is_ready
check "unprobed: it is no fault" same "" "$(verdicts)"
end_scene
begin_scene rc forced 1
check "unprobed: a process moves its QP to the error state, and keeps it" until_true 30 is_ready
forced() {
	ends 0 "${as_user[@]}" eadm diagnose && said "^notice qp-in-error $dev" && said "in error for at least" &&
		said "^  pid +$scene$" && said "^  comm +scenes$"
}
check "unprobed: diagnose names it with its owner" forced
end_scene

begin_scene slow 600000
# It waits for its page in the call, and not just for the disk.
in_call() {
	[ "$(awk '{ print $3 }' "/proc/$scene/stat")" = D ]
}
blocked() {
	in_call && pause 1 && in_call
}
if until_true 30 blocked; then
	held() {
		ends 0 "${as_user[@]}" eadm diagnose && said "^notice owner-stopped $dev" &&
			said "process scenes \(PID $scene\) is in uninterruptible sleep"
	}
	# The page of the call may be preceded by pages of the program's own.
	check "unprobed: a process that a call holds is named" until_true 60 held
elif [[ $(uname -r) == @(5|6.[0-2]).* ]]; then
	echo "# this kernel does not wait for a page of userfaultfd while it pins memory"
else
	tap_fail "unprobed: a process that a call holds is named"
fi
end_scene
check "unprobed: and over when they have ended" same "" "$(verdicts)"
