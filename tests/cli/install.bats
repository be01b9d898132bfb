# SPDX-License-Identifier: GPL-2.0-or-later
# Installation: units, and modules; tests/packages installs them.
load common

# A DKMS package below $EADM_ROOT that is added, but not built.
added() { # NAME, configuration from standard input
	mkdir -p "$EADM_ROOT/var/lib/dkms/$1/1.0/source"
	cat >"$EADM_ROOT/var/lib/dkms/$1/1.0/source/dkms.conf"
}

replaced() {
	run "$REPO/packaging/dkms/replaced" efa eadm-efa "remove it"
}

@test "a driver whose name another DKMS package has is refused, whether that is built or not" {
	export EADM_ROOT=$BATS_TEST_TMPDIR/root
	mkdir -p "$EADM_ROOT/lib/modules"
	replaced
	[ "$status" = 0 ]
	[[ $output == "eadm-efa: no other driver efa.ko is installed"* ]]
	local conf
	for conf in 'BUILT_MODULE_NAME="efa"' $'BUILT_MODULE_NAME[0]=x\nBUILT_MODULE_NAME[1]=\'efa\'' \
		$'PACKAGE_NAME=efa\nDEST_MODULE_LOCATION[0]=/updates' $'PACKAGE_NAME=efa\nBUILT_MODULE_NAME=$PACKAGE_NAME' \
		$'BUILT_MODULE_NAME=x\nDEST_MODULE_NAME=efa'; do
		added vendor <<<"$conf"
		replaced
		[ "$status" = 1 ]
		[ "$output" = "eadm-efa: the DKMS package 'vendor' has a driver efa.ko; remove that package first. Nothing was changed." ]
	done
	added vendor <<<$'BUILT_MODULE_NAME=efa\nDEST_MODULE_NAME=efa_vendor'
	replaced
	[ "$status" = 0 ]
	mkdir -p "$EADM_ROOT/var/lib/dkms/vendor/1.0/6.1/x86_64/module"
	touch "$EADM_ROOT/var/lib/dkms/vendor/1.0/6.1/x86_64/module/efa.ko.xz"
	replaced
	[ "$status" = 1 ]
	# It may replace its earlier version.
	rm -r "$EADM_ROOT/var/lib/dkms/vendor"
	added eadm-efa <<<'BUILT_MODULE_NAME=efa'
	replaced
	[ "$status" = 0 ]
}

@test "sources for DKMS are removed again, in any version, but no other package's" {
	export DESTDIR=$BATS_TEST_TMPDIR/root
	mkdir -p "$DESTDIR/usr/src/eadmire-1.0" "$DESTDIR/usr/src/eadm-0.1"
	echo 'PACKAGE_NAME="eadmire"' >"$DESTDIR/usr/src/eadmire-1.0/dkms.conf"
	printf '%s\n' 'PACKAGE_NAME="eadm"' 'PACKAGE_VERSION="0.1"' >"$DESTDIR/usr/src/eadm-0.1/dkms.conf"
	"$REPO/packaging/dkms/install" eadm efa
	# Another version would stay registered.
	[ ! -e "$DESTDIR/usr/src/eadm-0.1" ]
	[ "$(ls "$DESTDIR/usr/src" | sed 's/-[0-9].*//')" = $'eadm\neadm-efa\neadmire' ]
	"$REPO/packaging/dkms/uninstall"
	[ "$(ls "$DESTDIR/usr/src")" = eadmire-1.0 ]
}

@test "the installation of modules starts only when all of them can be installed" {
	run env DESTDIR="$BATS_TEST_TMPDIR/root" "$REPO/packaging/dkms/install" eadm nosuch
	[ "$status" = 2 ]
	[ "$output" = "packaging/dkms/install: no module folder 'nosuch'" ]
	[ ! -e "$BATS_TEST_TMPDIR/root/usr" ]
}

@test "each unit starts a program that is installed where it says" {
	local installed unit program
	installed=$(meson introspect --installed "$BUILD" | jq -c 'to_entries[]')
	for unit in $(jq -r 'select(.value | endswith(".service")) | .key' <<<"$installed"); do
		program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
		[ -n "$program" ]
		jq -es --arg program "$program" 'any(.value == $program)' <<<"$installed"
	done
	[ -n "$unit" ]
}
