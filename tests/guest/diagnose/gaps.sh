# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Rules that cannot be applied are counted, with the reason: each input is removed in turn.

# gaps REASON COMMAND...: all rules that could not be applied have this reason (-: all rules were applied),
# there are no verdicts, and the status is 6 if the reason is an error. Prints the number of these rules.
gaps() {
	local reason=$1 wanted=0 status found
	shift

	# Only a missing character device is an error.
	[ "$reason" != char-device ] || wanted=6
	"$@" diagnose -d "$dev" -i 100ms --json >"$work/gaps"
	status=$?
	found=$(jq -r '[.notes[]? | select(.what == "rules") | .reason] | unique | join(" ")' "$work/gaps")
	echo "$reason: '$found', status $status, $(jq -c '[.notes[]?, .rows[]?.rule]' "$work/gaps")" >&2
	[ "$found" = "${reason#-}" ] && [ $status = $wanted ] || return 1
	jq '[.notes[]?.count] | add // 0' "$work/gaps"
}

without_hw() {
	local command=$1
	shift

	eadm "$command" --no-hw "$@"
}

# The companion module loses access to the driver, as with a different erdma.ko.
unbound() {
	local path=/sys/bus/auxiliary/drivers/eadm name status

	name=$(basename "$(ls -d "/sys/class/infiniband/$dev/device/"erdma.*)")
	echo "$name" >$path/unbind
	"$@"
	status=$?
	echo "$name" >$path/bind
	return $status
}

unloaded() {
	local status

	rmmod eadm || return 1
	"$@"
	status=$?
	insmod /run/vm/ctl/eadm.ko
	return $status
}

without_node() {
	local status

	mv /dev/eadm /dev/eadm.away || return 1
	"$@"
	status=$?
	mv /dev/eadm.away /dev/eadm
	return $status
}

test_gaps() {
	local hw rawio node pidns driver companion

	begin_traffic && ask 15 'ok 5' 'write 5 64 10000' || return 1
	gaps - eadm || return 1
	hw=$(gaps not-asked without_hw) &&
		rawio=$(gaps right setpriv --bounding-set=-sys_rawio eadm) &&
		node=$(gaps char-device without_node eadm) &&
		pidns=$(gaps pid-namespace unshare --pid --fork --mount-proc eadm) &&
		driver=$(unbound gaps driver eadm) && companion=$(unloaded gaps companion eadm) || return 1
	# Without the adapter's contexts, queue entries are of no use either; without the module, all inputs are missing.
	[ "$hw" = "$rawio" ] && [ "$companion" = "$driver" ] && [ "$node" -gt 0 ] && [ "$pidns" = 1 ] &&
		[ "$node" -lt "$hw" ] && [ "$hw" -lt "$driver" ] || return 1
	# The message has the number of rules, the total, the reason and the remedy.
	eadm diagnose -d "$dev" --no-hw 2>&1 | grep -qE \
		"^eadm: diagnose: $dev: rules: $hw of [0-9]+ could not be applied: .* \(.*--no-hw\)$" || return 1
	unloaded eadm check -d "$dev" --json >"$work/check" && [ "$(jq -r '.rows[] | select((.result == "unseen" or .result == "note") and .dev_name) | .check' \
		"$work/check" | sort | tr '\n' ' ')" = "affinity driver mac vectors " ] || { cat "$work/check"; return 1; }
	gaps - eadm && end_traffic
}
