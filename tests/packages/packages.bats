# only: full
# time: 400 s
# full: 400 s
# The packages build from the tarball, hold what they should, and what is in them runs.

setup_file()
{
	export work=$BATS_FILE_TMPDIR version
	make -C "$BUILD" -s distdir distdir=slurm-gpubudget >&2
	mv "$BUILD/slurm-gpubudget" "$work/slurm-gpubudget"
	cp -a "$work/slurm-gpubudget" "$work/untouched"
	version=$(sed -n 's/^Version: *//p' "$work/slurm-gpubudget/contrib/slurm-gpubudget.spec")
}

@test "dpkg-buildpackage makes three packages, and the plugins' stands on this Slurm and no other" {
	cd "$work/slurm-gpubudget"
	DEB_BUILD_OPTIONS="parallel=2 nodocs" dpkg-buildpackage -us -uc -b >"$work/deb.log" 2>&1 || { tail -40 "$work/deb.log"; false; }
	for p in slurm-gpubudget slurm-gpubudget-client slurm-gpubudget-plugins; do dpkg -x "$work/${p}_${version}"_*.deb "$work/root"; done
	slurm=$(printf '%d.%02d.%d' $(sed -n 's/.*NUMBER 0x\(..\)\(..\)\(..\)$/0x\1 0x\2 0x\3/p' /usr/include/slurm/slurm_version.h))
	dpkg -I "$work/slurm-gpubudget-plugins_${version}"_*.deb | grep -F "slurm-wlm-basic-plugins (>= $slurm), slurm-wlm-basic-plugins (<< $slurm.~)"
	ls "$work"/root/usr/lib/*/slurm-wlm/{job_submit_gpubudget,gpubudget}.so "$work/root/usr/libexec/slurm-gpubudget/gpu-check-helper"
}

@test "what is in the packages runs" {
	[[ $("$work/root/usr/sbin/budgetd" --version) == *"$version"* ]]
	"$work/root/usr/bin/budgetctl" --help | grep -q balance
	"$work/root/usr/bin/gpu-check" --help | grep -q locality
	"$work/root/usr/sbin/budgetd" --sample >"$work/sample.conf"
	"$work/root/usr/sbin/budgetd" --check -c "$work/sample.conf" >/dev/null
}

@test "the units name what is in the packages" {
	while read -r program; do [[ -x $work/root$program ]]; done < <(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$work"/root/lib/systemd/system/*.service)
}

@test "rpmbuild takes the spec file, and its package of the plugins stands on this Slurm" {
	mkdir -p "$work/rpm/SOURCES"
	(cd "$work" && mkdir plain && cp -a untouched "plain/slurm-gpubudget-$version" && tar -C plain -cJf "rpm/SOURCES/slurm-gpubudget-$version.tar.xz" "slurm-gpubudget-$version")
	plugins=$(dirname "$(cd "$work/root" && ls usr/lib/*/slurm-wlm/gpubudget.so)")
	rpmbuild -bb --nodeps --define "_topdir $work/rpm" --define "slurm_plugindir /$plugins" --define "debug_package %{nil}" \
		"$work/slurm-gpubudget/contrib/slurm-gpubudget.spec" >"$work/rpm.log" 2>&1 || { tail -40 "$work/rpm.log"; false; }
	rpm -qp --requires "$work"/rpm/RPMS/*/slurm-gpubudget-plugins-*.rpm | grep "^slurm = "
}
