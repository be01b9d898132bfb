# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# Without packages: "make install" with a driver, and "make uninstall", which leaves a system
# as it was. Sourced by the suite after debian.sh.
files_of() { # FOLDER: but for what any run writes, and the tree itself
	find "$work/$1" -xdev \( -path "$work/$1/eadm" -o -path "$work/$1/var/log" -o -path "$work/$1/tmp" -o \
		-path "$work/$1/proc" -o -path "$work/$1/dev" -o -path "$work/$1/etc/resolv.conf" -o -path "$work/$1/etc/hosts" \) -prune -o \
		\( -type f -o -type l \) -printf '%P %y %s\n' | grep -vE '__pycache__|^etc/ld.so.cache|^var/cache/|^var/lib/dkms ' | sort
}

# In the place of other modules of DKMS, of another package, which must stay.
source_root() {
	unpack build.tar source-root && mkdir "$work/source-root/eadm" &&
		tests/packages/fake-kernel "$work/source-root" && within source-root depmod &&
		packaging/sources | tar --null --files-from=- -c | tar -C "$work/source-root/eadm" -x &&
		mkdir -p "$work/source-root/usr/src/eadmire-1.0" && echo other >"$work/source-root/usr/src/eadmire-1.0/dkms.conf" &&
		files_of source-root >"$work/before"
}

source_install() {
	within source-root sh -c 'cd /eadm && { make && make install DRIVERS="erdma efa"; } >/log 2>&1 || { tail -n 30 /log; exit 1; }
		rm /log; ldconfig' &&
		same "eadm-efa/ eadm-erdma/ eadm/ " "$(within source-root dkms status | sed "s|/.*|/|" | LC_ALL=C sort | tr "\n" " ")" &&
		within source-root /usr/local/bin/eadm ver && within source-root /usr/local/sbin/eadm-pvrdma --version &&
		within source-root test -x /usr/local/libexec/eadm/eadm-probe &&
		within source-root python3 -c 'import eadm; print(eadm.__file__)' &&
		within source-root sh -c 'PKG_CONFIG_PATH=/usr/local/lib/x86_64-linux-gnu/pkgconfig pkg-config --cflags --libs libeadm'
}

source_dkms() { # PART...
	within source-root /eadm/packaging/dkms/install "$@"
}

# Sources that have changed, and another version, which must not stay.
source_again() {
	local kmod=$work/source-root/eadm/kmod

	sed -i.kept 's/\(EADM_MODULE_VERSION \)".*/\1"0.0.1"/' "$kmod/include/eadm_version.h" && source_dkms eadm &&
		mv "$kmod/include/eadm_version.h.kept" "$kmod/include/eadm_version.h" && source_dkms eadm &&
		echo "/* changed */" >>"$kmod/eadm/main.c" && source_dkms eadm &&
		same "$(cat "$kmod"/eadm/*.c | sha256sum | sed 's/ .*//')" \
			"$(modinfo -F sources "$work"/source-root/lib/modules/*/updates/dkms/eadm.ko)" &&
		same 1 "$(within source-root dkms status eadm | grep -c .)"
}

# As if a package had installed one of them.
source_packaged() {
	local conf found

	conf=$(echo "$work"/source-root/usr/src/eadm-efa-*/dkms.conf)
	sed -i.kept '/^# Installed by/d' "$conf" && files_of source-root >"$work/packaged" || return
	found=$(source_dkms eadm efa 2>&1) && return 1
	echo "$found"
	[[ $found == *"eadm-efa-"*" is not from this script;"*"Nothing was changed." ]] &&
		same "$(<"$work/packaged")" "$(files_of source-root)" &&
		within source-root /eadm/packaging/dkms/uninstall &&
		within source-root dkms status | grep '^eadm-efa/.*installed' && same 1 "$(within source-root dkms status | grep -c .)" &&
		mv "$conf.kept" "$conf"
}

source_uninstall() {
	within source-root sh -c 'cd /eadm && make uninstall >/log 2>&1 || { tail -n 30 /log; exit 1; }; rm /log' &&
		same "$(<"$work/before")" "$(files_of source-root)"
}

source_unknown() {
	local said

	! said=$(within source-root sh -c 'cd /eadm && packaging/dkms/install nosuch' 2>&1) &&
		same "packaging/dkms/install: no module folder 'nosuch'" "$said" &&
		same "$(<"$work/before")" "$(files_of source-root)"
}

check "$suite: a system with the source" source_root
check "$suite: make install, with two drivers" source_install
check "$suite: an installation takes the place of earlier ones" source_again
check "$suite: sources of a package are neither replaced nor removed" source_packaged
check "$suite: make uninstall leaves the system as it was" source_uninstall
check "$suite: a driver that does not exist is refused" source_unknown
