# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# RPM packages, made by Debian's rpm, beside the Debian packages in $work. Sourced by the
# suite after debian.sh.
rpms=$work/rpms

build_rpms() {
	packaging/rpm/build "$rpms" 2>&1 &&
		same "$(grep -c '^%files' packaging/rpm/eadm.spec)" "$(find "$rpms" -name '*.rpm' | wc -l)"
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
		s,^/usr/lib/python3/dist-packages/,/usr/lib64/python3/site-packages/,
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
		python3-eadm python3-eadm
		eadm eadm
		eadm-exporter eadm-exporter
		eadm-pvrdma eadm-pvrdma
		eadm-dkms eadm-dkms
		eadm-erdma-dkms eadm-erdma-dkms
		eadm-efa-dkms eadm-efa-dkms
		eadm-virt-dkms eadm-virt-dkms
	EOF
	return $bad
}

# The libraries come from that root's own packages. A package without files provides them, as rpm's
# own scripts find them there, and programs by the names that RPM distributions have for
# their packages: so rpm resolves what the packages require.
stand_in() {
	local package

	package=$work/stand-in/SPECS/debian.spec
	mkdir -p "$work/stand-in/SPECS"
	{
		printf '%s\n' "Name: debian" "Version: 1" "Release: 1" "Summary: A root of Debian" "License: none" \
			"BuildArch: noarch" "Provides: /bin/sh" "Provides: /usr/bin/pkg-config" "Provides: shadow-utils" \
			"Provides: rtld(GNU_HASH)"
		within rpmroot dpkg-query -W -f 'Provides: python3 = ${Version}\n' python3 | sed 's/-[^-]*$//'
		find "$work"/rpmroot/usr/lib/x86_64-linux-gnu "$work"/rpmroot/lib/x86_64-linux-gnu -name '*.so.*' |
			/usr/lib/rpm/find-provides | sort -u | sed 's/^/Provides: /'
		printf '%%description\n%%files\n'
	} >"$package"
	rpmbuild --quiet -bb --define "_topdir $work/stand-in" "$package" &&
		rpm --root "$work/rpmroot" --install --nosignature "$work"/stand-in/RPMS/noarch/*.rpm
}

install_rpms() {
	local libraries name

	libraries=$(for name in eadm eadm-exporter eadm-pvrdma python3-eadm; do
		dpkg-deb -f "$work/debs/$name"_*.deb Depends
	done | tr ',' '\n' | sed 's/(.*//; s/ //g; s/|.*//' | grep -E '^(lib|python3$)' | grep -v '^libeadm' | sort -u)
	# shellcheck disable=SC2086 # a list
	within rpmroot apt-get -q install -y --no-install-recommends pkgconf $libraries &&
		rpm --root "$work/rpmroot" --initdb && stand_in &&
		rpm --root "$work/rpmroot" --install --nosignature \
			"$rpms"/{eadm-{0,libs,exporter,pvrdma,devel},python3-eadm}*.x86_64.rpm
}

# Debian's loader does not look where RPM distributions have libraries.
starts() {
	in_root=rpmroot list && within rpmroot eadm --version && within rpmroot eadm ver &&
		within rpmroot env LD_LIBRARY_PATH=/usr/lib64 /usr/libexec/eadm/eadm-exporter --version &&
		within rpmroot eadm-pvrdma --version &&
		within rpmroot env LD_LIBRARY_PATH=/usr/lib64 PYTHONPATH=/usr/lib64/python3/site-packages \
			python3 -c 'import eadm; print(eadm.__file__)' &&
		within rpmroot getent passwd eadm-exporter
}

# RPM's database, too, which is no trace of eadm once it is empty. Users and groups stay, as
# RPM packages never remove them.
erase() {
	rpm --root "$work/rpmroot" --erase eadm eadm-libs eadm-exporter eadm-pvrdma eadm-devel python3-eadm debian || return
	same "" "$(rpm --root "$work/rpmroot" -qa | grep -v gpg-pubkey)" && rm -rf "$work/rpmroot/var/lib/rpm" &&
		same "" "$(traces rpmroot | grep -vE '/etc/(passwd|group|g?shadow)-?:eadm(-exporter)?:')" &&
		within rpmroot getent passwd eadm-exporter
}

# The module packages in another version or release, which takes only the sections about them.
raise_rpms() { # VERSION RELEASE
	local tree=$work/raise-$1/eadm-$1

	mkdir -p "$tree" "$work/raise-$1/SOURCES" && cp -r packaging kmod "$tree" &&
		sed -i "s/\\(EADM_MODULE_VERSION \\)\".*/\\1\"$1\"/" "$tree/kmod/include/eadm_version.h" &&
		tar -C "$work/raise-$1" -cf "$work/raise-$1/SOURCES/eadm-$1.tar" "eadm-$1" &&
		awk -v version="$1" -v release="$2" '
			/^%(package|description|prep|build|install|pre|preun|post|postun|posttrans|files|changelog)( |$)/ {
				kept = ++sections == 1 || /-dkms| dkms|prep|changelog/ }
			/^Version:/ { $2 = version }
			/^Release:/ { $2 = release }
			!sections || kept
			/^%install/ { print "%install\nDESTDIR=%{buildroot} packaging/dkms/install eadm erdma efa virt" }' \
			packaging/rpm/eadm.spec >"$work/raise-$1/modules.spec" &&
		(cd "$tree" && rpmbuild --quiet -bb --nodeps --define "_topdir $work/raise-$1" ../modules.spec) &&
		mv "$work/raise-$1"/RPMS/noarch/*.rpm "$rpms/next"
}

rpm_modules() { # OPTION PACKAGE...: in the root "rpm-modules", whose scripts need /proc and /dev
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'root=$1 && shift && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
		exec rpm --root "$root" --nodeps --nosignature "$@"' rpm "$work/rpm-modules" "$@"
}

installed_modules() {
	local file

	for file in "$work"/rpm-modules/lib/modules/*/updates/dkms/*.ko; do
		[ ! -e "$file" ] || printf '%s %s\n' "${file##*/}" "$(modinfo -F version "$file")"
	done
}

modules_are() { # VERSION
	same "$(printf '%s.ko %s\n' eadm "$1" eadm_virt "$1" efa "$1" erdma "$1")" "$(installed_modules)" &&
		same 4 "$(within rpm-modules dkms status | grep -c ": installed$")"
}

modules_stay() {
	local version

	version=$(sed -n 's/^Version: *//p' packaging/rpm/eadm.spec) && mkdir "$rpms/next" &&
		raise_rpms "$version" 2 && raise_rpms "$version.1" 1 &&
		unpack build.tar rpm-modules && tests/packages/fake-kernel "$work/rpm-modules" &&
		rpm --root "$work/rpm-modules" --initdb &&
		rpm_modules --install "$rpms"/*-dkms-*.rpm && modules_are "$version" &&
		rpm_modules --upgrade --replacepkgs "$rpms"/*-dkms-*.rpm && modules_are "$version" &&
		rpm_modules --upgrade "$rpms"/next/*-dkms-"$version"-2.*.rpm && modules_are "$version" &&
		rpm_modules --upgrade "$rpms"/next/*-dkms-"$version".1-1.*.rpm && modules_are "$version.1" &&
		rpm_modules --upgrade --oldpackage "$rpms"/*-dkms-*.rpm && modules_are "$version" &&
		rpm_modules --erase eadm-{dkms,erdma-dkms,efa-dkms,virt-dkms} && same "" "$(installed_modules)" &&
		same "" "$(within rpm-modules dkms status)"
}

check "rpm: the packages build" build_rpms
check "rpm: rpmlint finds neither error nor warning" clean_by_rpmlint
check "rpm: they have what the Debian packages have" same_contents
check "rpm: a fresh system" unpack root.tar rpmroot
check "rpm: rpm --root installs all but the modules, with what they require" install_rpms
check "rpm: eadm list" starts
check "rpm: erased, only the exporter's user is left" erase
check "rpm: modules are there after a reinstallation, a new release, an upgrade and a downgrade" modules_stay
