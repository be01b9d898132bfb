# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Waiting for a condition, for scripts that source this.

# Nobody ever writes here: reading with a time limit is a pause without a process.
exec {pause_fd}<> <(:)

# pause SECONDS: for a time that is measured; a condition is waited for otherwise.
pause() {
	read -r -t "$1" -u "$pause_fd" || :
}

# until_true LIMIT COMMAND...: waits until COMMAND passes, LIMIT seconds at most,
# times EADM_PATIENCE (for kernels that check all they do).
until_true() {
	local end=$((SECONDS + $1 * ${EADM_PATIENCE:-1}))
	shift

	until "$@"; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "not within the limit: $*"
			return 1
		fi
		pause 0.05
	done
	return 0
}

# command_limit DEVICE MS: a command that takes longer counts as lost.
command_limit() {
	local file=/sys/class/infiniband/$1/cmd_timeout

	# Where it was before "eadm conf" had it.
	if [ -e "$file" ]; then
		echo "$2" >"$file"
	else
		eadm conf set cmd-timeout "$2ms" -d "$1" >/dev/null
	fi
}

# listening PORT: a condition to wait for; somebody listens there by RDMA.
listening() {
	rdma resource show cm_id 2>/dev/null | grep -q "state LISTEN .*:$1 "
}
