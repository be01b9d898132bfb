# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Verdicts of eadm on two snapshots, before and after an event, to be sourced. Captures are in
# $VM_OUT.
snapshot=()	# options of eadm record
so_far='^$'	# rules whose verdicts are allowed in addition, an extended regular expression
also=()		# command prefix that runs eadm as a different user, who must get the same verdicts

# Folder for the captures of that user.
home=$(mktemp -d)
chmod 777 "$home"

# Fails, but has recorded what can be read, if an adapter no longer responds.
record() { # MOMENT: before or after
	local status=0

	eadm record "${snapshot[@]}" "$VM_OUT/$1.pcapng" || status=$?
	[ ${#also[@]} = 0 ] || "${also[@]}" eadm record "${snapshot[@]}" "$home/$1.pcapng" || status=$?
	return $status
}

found_in() { # FOLDER
	cat "$1/before.pcapng" "$1/after.pcapng" >"$1/fault.pcapng"
	eadm --from "$1/fault.pcapng" diagnose --json 2>/dev/null | jq -r '.rows[] | "\(.dev_name) \(.rule): \(.finding)"'
}

rules_in() { # FOLDER
	found_in "$1" | cut -d : -f 1 | sort
}

# Prints the verdicts on both snapshots, and rules that differ in the captures of the other user.
verdicts() {
	record after 2>/dev/null
	found_in "$VM_OUT"
	[ ${#also[@]} != 0 ] || return 0
	diff <(rules_in "$home") <(rules_in "$VM_OUT") | sed -n 's/^[<>]/as a user:/p'
}

# sees DEVICE RULE TEXT: this verdict exists, and all others are allowed
sees() {
	local found others

	found=$(verdicts)
	echo "$found"
	others=$(grep -vE "^$1 ($2|$so_far): " <<<"$found")
	[ -z "$others" ] && grep -q "^$1 $2: .*$3" <<<"$found"
}

# named RULE TEXT COMMAND...: COMMAND causes this verdict on e0.
named() {
	local dev

	dev=$(device e0)
	record before && "${@:3}" && until_true 20 sees "$dev" "$1" "$2"
}

nothing_wrong() { # COMMAND...
	"$@" diagnose --json 2>/dev/null | jq -e '.rows == []' >/dev/null || { "$@" diagnose; return 1; }
}
