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
check "$suite: make uninstall leaves the system as it was" source_uninstall
check "$suite: a driver that does not exist is refused" source_unknown
