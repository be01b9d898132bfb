# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What eadm says of two snapshots, before and after something happens, for scripts that source it.
# Captures are in $VM_OUT.
snapshot=()	# options of eadm record
so_far='^$'	# verdicts that may stand beside others, an extended regular expression
also=()		# how another user is to see the same, a command

# Folder of that user's captures.
home=$(mktemp -d)
chmod 777 "$home"

record() { # MOMENT: before or after
	eadm record "${snapshot[@]}" "$VM_OUT/$1.pcapng" &&
		{ [ ${#also[@]} = 0 ] || "${also[@]}" eadm record "${snapshot[@]}" "$home/$1.pcapng"; }
}

found_in() { # FOLDER
	cat "$1/before.pcapng" "$1/after.pcapng" >"$1/fault.pcapng"
	eadm --from "$1/fault.pcapng" diagnose --json 2>/dev/null | jq -r '.rows[] | "\(.dev_name) \(.rule): \(.finding)"'
}

rules_in() { # FOLDER
	found_in "$1" | cut -d : -f 1 | sort
}

# Of what was recorded before and after; whoever recorded it has the same rules.
verdicts() {
	record after 2>/dev/null
	found_in "$VM_OUT"
	[ ${#also[@]} != 0 ] || return 0
	diff <(rules_in "$home") <(rules_in "$VM_OUT") | sed -n 's/^[<>]/as a user:/p'
}

# sees DEVICE RULE TEXT: this, and nothing else but what may stand beside it
sees() {
	local found others

	found=$(verdicts)
	echo "$found"
	others=$(grep -vE "^$1 ($2|$so_far): " <<<"$found")
	[ -z "$others" ] && grep -q "^$1 $2: .*$3" <<<"$found"
}

# named RULE TEXT COMMAND...: what COMMAND does to e0 is named.
named() {
	local dev

	dev=$(device e0)
	record before && "${@:3}" && until_true 20 sees "$dev" "$1" "$2"
}

nothing_wrong() { # COMMAND...
	"$@" diagnose --json 2>/dev/null | jq -e '.rows == []' >/dev/null || { "$@" diagnose; return 1; }
}
