# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# RPM packages, made by Debian's rpm, beside the Debian packages in $work. Sourced by the
# suite after debian.sh.
rpms=$work/rpms

build_rpms() {
	packaging/rpm/build "$rpms" 2>&1 && [ "$(find "$rpms" -name '*.rpm' | wc -l)" = 8 ]
}

# Filters: what names a licence, a group or a site is a matter of each distribution's rules.
clean_by_rpmlint() {
	local found

	found=$(rpmlint -c tests/packages/rpmlint.toml "$rpms"/*.rpm 2>&1)
	grep -E ': [EW]: ' <<<"$found"
	grep -q '0 errors, 0 warnings' <<<"$found" || { tail -n 3 <<<"$found"; return 1; }
}

# Paths that differ between distributions, and what Debian's policy adds or packs.
of_deb() { # PACKAGE
	dpkg-deb -c "$work/debs/$1"_*.deb | awk '$1 !~ /^d/ { sub(/^\./, "", $6); print $6 }' | sed -E '
		/^\/usr\/share\/doc\/[^/]*\/(changelog(\.Debian)?\.gz|copyright)$/d
		s,^/lib/(systemd|udev)/,/usr/lib/\1/,
		s,^/usr/lib/[a-z0-9_]*-linux-gnu/,/usr/lib64/,
		s,^(/usr/share/doc/[^/]*)/(.*\.md)\.gz$,\1/\2,
		s,^/usr/share/doc/libeadm-dev/,/usr/share/doc/eadm-devel/,
		s,/zsh/vendor-completions/,/zsh/site-functions/,' | sort
}

of_rpm() { # PACKAGE
	rpm -qp --nosignature --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$rpms/$1"-0*.rpm |
		sed -n '/^d/!s/^[^ ]* //p' | sort
}

same_contents() {
	local deb rpm bad=0

	while read -r deb rpm; do
		[ -n "$(of_deb "$deb")" ] || return
		diff <(of_deb "$deb") <(of_rpm "$rpm") || bad=1
	done <<-EOF
		libeadm0 eadm-libs
		libeadm-dev eadm-devel
		eadm eadm
		eadm-exporter eadm-exporter
		eadm-dkms eadm-dkms
		eadm-erdma-dkms eadm-erdma-dkms
		eadm-efa-dkms eadm-efa-dkms
		eadm-virt-dkms eadm-virt-dkms
	EOF
	return $bad
}

# The libraries come from that root's own packages.
install_rpms() {
	local libraries

	libraries=$(dpkg-deb -f "$work"/debs/eadm_*.deb Depends; dpkg-deb -f "$work"/debs/eadm-exporter_*.deb Depends)
	libraries=$(tr ',' '\n' <<<"$libraries" | sed 's/(.*//; s/ //g; s/|.*//' | grep '^lib' | grep -v '^libeadm' | sort -u)
	# shellcheck disable=SC2086 # a list
	within rpmroot apt-get -q install -y --no-install-recommends $libraries &&
		rpm --root "$work/rpmroot" --initdb &&
		rpm --root "$work/rpmroot" --install --nodeps --nosignature \
			"$rpms"/eadm-{0,libs,exporter,devel}*.x86_64.rpm
}

# Debian's loader does not look where RPM distributions have libraries.
starts() {
	in_root=rpmroot list && within rpmroot eadm ver &&
		within rpmroot env LD_LIBRARY_PATH=/usr/lib64 /usr/libexec/eadm/eadm-exporter --version &&
		within rpmroot getent passwd eadm-exporter
}

# Their own database, too, which is no trace of eadm once it is empty.
erase() {
	rpm --root "$work/rpmroot" --erase --nodeps eadm eadm-libs eadm-exporter eadm-devel || return
	same "" "$(rpm --root "$work/rpmroot" -qa | grep -v gpg-pubkey)" && rm -rf "$work/rpmroot/var/lib/rpm" &&
		same "" "$(traces rpmroot)"
}

check "rpm: the packages build" build_rpms
check "rpm: rpmlint finds neither error nor warning" clean_by_rpmlint
check "rpm: they have what the Debian packages have" same_contents
check "rpm: a fresh system" unpack root.tar rpmroot
check "rpm: rpm --root installs library, tool and exporter" install_rpms
check "rpm: eadm list" starts
check "rpm: erased, nothing is left" erase
