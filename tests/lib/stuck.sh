# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A process, of a user without rights, that is stuck in a page fault with the lock of its
# address space held, and has doorbells of a device mapped: stuck_begin DEVICE ... stuck_end
stuck_dir=/tmp/stuck

stuck_begin() { # DEVICE
	[ -e /dev/fuse ] || modprobe fuse || return
	chmod 666 /dev/fuse
	rm -rf $stuck_dir
	install -D -m 755 build/tests/lib/src/stuck $stuck_dir/stuck
	install -m 666 /dev/null $stuck_dir/file
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		unshare -Urm $stuck_dir/stuck "$1" $stuck_dir/file >$stuck_dir/out 2>&1 </dev/null &
	until_true 60 grep ^stuck $stuck_dir/out && return
	cat $stuck_dir/out
	return 1
}

stuck_pids() { # of the process, and of the file's server
	sed -n 's/^stuck //p' $stuck_dir/out
}

ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# One of its threads still waits for the lock.
stuck_is_stuck() {
	local process

	read -r process _ < <(stuck_pids)
	cat "/proc/$process/task/"*/stat | grep '^[0-9]* (stuck) D '
}

stuck_end() {
	local process server

	read -r process server < <(stuck_pids)
	kill -KILL "$process" "$server"
	until_true 20 ended "$process"
}
