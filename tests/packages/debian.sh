# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The life of the packages on the Debian that $suite names. Sourced by the suite.
: "${suite:?}"
cache=$(tests/packages/root "$suite") || exit 1
work=$(mktemp -d)
boot=
init=
# Of what is there, only what this shell has started is ended.
leave() {
	if [ -n "$boot" ]; then
		{ kill -9 "$boot" && wait "$boot"; } 2>/dev/null
		find "$(findmnt -n -o TARGET -t cgroup2 | head -n 1)/eadm-packages-$boot" -depth -type d \
			-exec rmdir {} + 2>/dev/null
	fi
	boot=
	rm -rf "$work"
}
trap leave EXIT

unpack() { # ROOT.tar FOLDER
	mkdir "$work/$2" && tar --numeric-owner -xf "$cache/$1" -C "$work/$2"
}

within() { # FOLDER COMMAND...
	local root=$work/$1
	shift

	tests/packages/enter "$root" "$cache/archives" "$@"
}

build_in() { # ROOT FOLDER ENVIRONMENT...: the packages are in that root's folder /FOLDER
	local root=$1 folder=$2
	shift 2

	unpack build.tar "$root" && mkdir -p "$work/$root/$folder/eadm" &&
		packaging/sources | tar --null --files-from=- -c | tar -C "$work/$root/$folder/eadm" -x &&
		within "$root" env DEB_BUILD_OPTIONS=nocheck "$@" sh -c \
			"cd /$folder/eadm && dpkg-buildpackage -b -us -uc -Pnocheck >/log 2>&1 || { tail -n 50 /log; exit 1; }"
}

build() {
	build_in build source && mkdir "$work/debs" && mv "$work"/build/source/*.deb "$work/debs"
}

# Another path, year, time zone, locale, umask, user's name and home.
build_again() {
	# shellcheck disable=SC2016 # for the inner shell
	build_in again home/other/deeper faketime -f +400d sh -c 'umask 027; exec "$@"' again \
		env TZ=Pacific/Kiritimati LC_ALL=C USER=other HOME=/nowhere || return
	same "$(cd "$work/debs" && sha256sum ./*.deb)" \
		"$(cd "$work/again/home/other/deeper" && sha256sum ./*.deb)" && rm -r "$work/again"
}

# lintian reads packages and changes nothing; this machine's one knows its own suite.
clean_by_lintian() {
	local found

	ls "$work"/debs/*.deb >/dev/null || return
	found=$(lintian --fail-on none --no-tag-display-limit --allow-root "$work"/debs/*.deb 2>&1) || return
	! grep '^[EW]:' <<<"$found"
}

# The same packages with a higher version, made without building again.
raise() {
	local deb tree=$work/tree

	mkdir "$work/next"
	for deb in "$work"/debs/{libeadm0,eadm,eadm-exporter,eadm-pvrdma}_*.deb; do
		dpkg-deb -R "$deb" "$tree" &&
			sed -i '/^Version:/s/$/+next/; s/(= 0\([^)]*\))/(= 0\1+next)/' "$tree/DEBIAN/control" &&
			dpkg-deb -Znone -b "$tree" "$work/next/$(basename "$deb")" >/dev/null || return
		rm -r "$tree"
	done
}

traces() { # FOLDER: what of eadm is there
	find "$work/$1" -xdev \( -path "$work/$1/var/lib/apt/lists" -o -path "$work/$1/debs" -o \
		-path "$work/$1/next" -o -path "$work/$1/var/log" -o -path "$work/$1/proc" \) -prune -o \
		-name '*eadm*' -print
	grep -H eadm "$work/$1"/etc/{passwd,group,shadow}
}

install() {
	cp -r "$work/debs" "$work/next" "$work/root" &&
		within root sh -c 'apt-get -q install -y --no-install-recommends \
			/debs/libeadm0_*.deb /debs/eadm_*.deb /debs/eadm-exporter_*.deb /debs/eadm-pvrdma_*.deb' &&
		cp -r "$work/root/usr/share/doc/eadm" "$work/doc"
}

# No adapter there: it says so, and with which status.
list() {
	local output status

	output=$(within "${in_root-root}" eadm list 2>&1)
	status=$?
	echo "status $status: $output"
	[ "$status" = 0 ] || [[ $output == *"device"* ]] && [[ $output != *"error while loading"* ]]
}

start() {
	tests/packages/boot "$work/root" >"$work/boot.log" 2>&1 &
	boot=$!
	until_true 120 booted || { cat "$work/boot.log"; return 1; }
}

booted() {
	local state

	init=$(pgrep -P "$boot" -f systemd) && state=$(live systemctl is-system-running 2>/dev/null)
	[ "$state" = running ] || [ "$state" = degraded ]
}

live() { # COMMAND...: in the booted root
	nsenter --target "$init" --mount --pid --ipc --uts --net --root --wd=/ \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

main_pid() {
	live systemctl show -P MainPID eadm-exporter
}

scrapes() {
	nsenter --target "$init" --net curl -sf http://127.0.0.1:10707/metrics | grep -q '^# TYPE eadm_'
}

exporter_runs() {
	local status

	until_true 60 scrapes || { live journalctl -q --no-pager -u eadm-exporter; return 1; }
	live systemctl show -p User,NoNewPrivileges,ProtectSystem,MemoryDenyWriteExecute eadm-exporter
	status=$(live cat "/proc/$(main_pid)/status")
	grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' <<<"$status"
	grep -q '^CapBnd:	0*$' <<<"$status" && grep -q '^NoNewPrivs:	1$' <<<"$status" &&
		grep -q '^Seccomp:	2$' <<<"$status" && ! grep -q '^Uid:	0	' <<<"$status"
}

# Under its unit: for a user without rights, with a socket for those of one group.
adapters_run() {
	local pid status socket=/run/eadm-pvrdma-lab/1.sock

	live systemctl start eadm-pvrdma@lab || return
	until_true 60 live test -S $socket || { live journalctl -q --no-pager -u eadm-pvrdma@lab; return 1; }
	pid=$(live systemctl show -P MainPID eadm-pvrdma@lab)
	status=$(live cat "/proc/$pid/status")
	live stat -c '%A %G' $socket
	same "srw-rw---- eadm" "$(live stat -c '%A %G' /run/eadm-pvrdma/lab/control.sock)" || return
	grep -E '^(Uid|CapBnd|NoNewPrivs|Seccomp):' <<<"$status"
	grep -q '^CapBnd:	0*$' <<<"$status" && grep -q '^Seccomp:	2$' <<<"$status" &&
		! grep -q '^Uid:	0	' <<<"$status" &&
		same "srw-rw---- kvm" "$(live stat -c '%A %G' $socket)" &&
		live systemctl stop eadm-pvrdma@lab && ! live test -e $socket &&
		live systemctl start eadm-pvrdma@lab && until_true 60 live test -S $socket
}

shows_adapter() {
	nsenter --target "$init" --net curl -sf http://127.0.0.1:10707/metrics | grep '^eadm_dev_info{device="lab-1"'
}

adapters_exported() {
	until_true 60 shows_adapter
}

# As eadm-pvrdma(8) shows it.
adapters_link() {
	local status

	live sh -c 'echo "EADM_PVRDMA_OPTIONS=\"--backend soft,listen=/run/eadm-pvrdma-a/link.sock\"" >/etc/default/eadm-pvrdma-a
		echo "EADM_PVRDMA_OPTIONS=\"--backend soft,join=/run/eadm-pvrdma-a/link.sock\"" >/etc/default/eadm-pvrdma-b' &&
		live systemctl start eadm-pvrdma@a eadm-pvrdma@b &&
		until_true 60 eval 'live journalctl -q --no-pager -u eadm-pvrdma@b | grep "link.sock: linked"'
	status=$?
	live systemctl stop eadm-pvrdma@a eadm-pvrdma@b
	live rm /etc/default/eadm-pvrdma-a /etc/default/eadm-pvrdma-b
	return $status
}

upgrade() {
	local before after adapters

	before=$(main_pid)
	adapters=$(live systemctl show -P MainPID eadm-pvrdma@lab)
	live sh -c 'apt-get -q install -y /next/*.deb' || return
	until_true 60 scrapes || return
	same "$adapters" "$(live systemctl show -P MainPID eadm-pvrdma@lab)" || return
	after=$(main_pid)
	echo "process $before, then $after"
	[ "$after" != "$before" ] && [ "$after" != 0 ] &&
		live dpkg-query -W -f '${Version}' eadm-exporter | grep -q '+next$'
}

# Programs of eadm that run there, also those whose file has been replaced or removed.
programs() {
	live sh -c 'readlink /proc/[0-9]*/exe' | grep -o 'eadm-[a-z]*' | sort -u
}

purge() {
	same "eadm-exporter
eadm-pvrdma" "$(programs)" &&
		live apt-get -q purge -y eadm-exporter eadm-pvrdma eadm libeadm0 && same "" "$(programs)" &&
		same "" "$(traces root)"
}

# By the packages' own scripts: with a member that they have not made, or the other package, the
# group stays, then it goes.
purge_keeps_group() {
	local deb

	for deb in "$work"/debs/eadm-{exporter,pvrdma}_*.deb; do
		dpkg-deb -I "$deb" postrm >"$work/root/postrm" &&
			within root sh -c 'groupadd --system eadm && useradd -M -G eadm someone && sh /postrm purge &&
				getent group eadm && userdel someone && cd /usr/lib/sysusers.d &&
				touch eadm-exporter.conf eadm-pvrdma.conf && sh /postrm purge && getent group eadm &&
				rm eadm-exporter.conf eadm-pvrdma.conf && sh /postrm purge && ! getent group eadm' || return
	done
}

check "$suite: the packages build" build
case $suite in
bookworm) check "$suite: lintian finds neither error nor warning" clean_by_lintian ;;
esac
check "$suite: a second build makes the same packages, byte for byte" build_again
check "$suite: the packages of an upgrade" raise
check "$suite: a fresh system" unpack root.tar root
check "$suite: apt installs library, tool, exporter and adapters for virtual machines" install
check "$suite: eadm list" list
# Not by check(), whose command runs in another shell.
if start >"$work/log" 2>&1; then
	tap_pass "$suite: systemd starts"
else
	sed 's/^/# /' "$work/log"
	tap_fail "$suite: systemd starts"
fi
check "$suite: the exporter serves, as another user, by its unit's settings" exporter_runs
check "$suite: adapters for virtual machines are offered, as another user" adapters_run
check "$suite: the exporter shows them" adapters_exported
check "$suite: a UNIX socket links the programs of two units" adapters_link
check "$suite: an upgrade restarts the exporter, and no adapter of a virtual machine" upgrade
check "$suite: purge leaves nothing" purge
check "$suite: but the group, while an operator is a member" purge_keeps_group
