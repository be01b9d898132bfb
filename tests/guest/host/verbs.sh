# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Providers of libibverbs that are there and cannot be used: the file is named, and nothing
# that libibverbs prints appears amid the output. What looks alike is no fault.
config=/etc/libibverbs.d
provider=$(echo /usr/lib/*/libibverbs/librxe-rdmav*.so)
libraries=${provider%/*}
library=${provider##*/}

# with PREPARE COMMAND...: with a copy of both folders, which PREPARE changes.
with() {
	local prepare=$1
	shift

	rm -rf "$work/config" "$work/libraries"
	cp -a $config "$work/config" && cp -a "$libraries" "$work/libraries" &&
		(cd "$work" && eval "$prepare") || return
	chmod 755 "$work" "$work/libraries"
	unshare -m sh -c "mount --bind $work/config $config &&
		mount --bind $work/libraries $libraries && exec \"\$@\"" sh "$@"
}

# broken PREPARE FINDING [COMMAND...]: the result, live and from a capture.
broken() {
	local prepare=$1 finding=$2
	shift 2

	ends 8 with "$prepare" "$@" eadm check --json &&
		[ "$(of_provider "$work/said")" = "fail $finding" ] || return
	with "$prepare" "$@" eadm record -n 1 -o - >"$work/saved" &&
		ends 8 eadm --from "$work/saved" check --json &&
		[ "$(of_provider "$work/said")" = "fail $finding" ]
}

# What JSON has, and nothing else: a line of libibverbs is no JSON.
of_provider() { # FILE
	jq -r --arg dev "$dev" '.rows[] | select(.check == "provider" and .dev_name == $dev) |
		"\(.result) \(.finding)"' "$1"
}

cannot="libibverbs cannot load the provider rxe:"
check "a driver file is missing" broken "rm config/rxe.driver" \
	"libibverbs does not list it: no file in $config names the provider rxe (rxe.driver is missing)"
check "a driver file may not be read" broken "chmod 600 config/rxe.driver" \
	"$cannot $config/rxe.driver: Permission denied" "${as_user[@]}"
check "the folder may not be read" broken "chmod 700 config" \
	"libibverbs does not list it: $config: Permission denied" "${as_user[@]}"
check "a library is missing" broken "rm libraries/$library" "$cannot $library is missing"
check "a library of another ABI" \
	broken "mv libraries/$library libraries/librxe-rdmav25.so" \
	"$cannot $library is missing, librxe-rdmav25.so has a different ABI version"
check "an empty library" broken ": >libraries/$library" "$cannot $provider: file too short"
check "a library that may not be read" broken "chmod 600 libraries/$library" \
	"$cannot $provider: cannot open shared object file: Permission denied" "${as_user[@]}"
check "a library that ends the process" broken "truncate -s 3000 libraries/$library" \
	"$cannot $provider: loading failed: 'Bus error'"
in_bundle() {
	rm -f "$work/bundle.tar.zst"
	with "rm libraries/$library" eadm bundle create -o "$work/bundle.tar.zst" &&
		ends 8 eadm --from "$work/bundle.tar.zst" check --json &&
		[ "$(of_provider "$work/said")" = "fail $cannot $library is missing" ]
}
check "a bundle has it" in_bundle
ends_all() {
	local other
	other=$(echo "$libraries"/libirdma-rdmav*.so)

	ends 8 with "truncate -s 3000 libraries/${other##*/}" eadm check --json &&
		has_row libibverbs "fail libibverbs cannot list devices: loading $other failed: 'Bus error'" &&
		has_row provider "ok the verbs provider for rxe is installed"
}
# As any other provider does.
check "another provider's library that ends the process" ends_all
no_limits() {
	with "rm libraries/$library" eadm info "$dev" >"$work/said" 2>&1
	cat "$work/said"
	! said 'libibverbs: Warning'
}
check "info prints no warning of libibverbs" no_limits

healthy_with() { # PREPARE COMMAND...
	ends 0 with "$@" eadm check && ! said '^(warn|fail)' && ! said 'libibverbs:.*arning' &&
		said "^ok provider $dev: libibverbs lists it"
}
check "all files in order" healthy_with :
check "an unprivileged user" healthy_with : "${as_user[@]}"
check "providers of adapters that are not here" \
	healthy_with "rm libraries/libmlx5-* libraries/libirdma-* config/mlx4.driver"
check "a provider that the environment names" \
	healthy_with "rm config/rxe.driver" env RDMAV_DRIVERS=rxe
check "a provider of the environment that does not exist" \
	healthy_with : env IBV_DRIVERS=/nowhere/libx:rxe
without_verbs() {
	mv "$libraries/../libibverbs.so.1" "$work/away" && ends 0 eadm check
	set -- $?
	mv "$work/away" "$libraries/../libibverbs.so.1"
	[ "$1" = 0 ] && said '^note libibverbs' && ! said '^[a-z]+ provider' && ! said '^(warn|fail)'
}
check "without libibverbs there is a note" without_verbs
