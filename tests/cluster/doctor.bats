# SPDX-License-Identifier: GPL-2.0-or-later
# doctor and setup: an empty slurmdbd is set up, then each thing that can be wrong is made wrong alone, and found alone.
# time: 240 s
load cluster

# The cluster comes up with nothing in slurmdbd but its own name: setup is to do the rest.
setup_file()
{
	scene_accounts() { sacctmgr -i add cluster gpubudget >/dev/null; }
	cluster_up --budgetd "unknown_account = free" --budgetd "when_unreachable = accept"
	mkdir "$CLUSTER_DIR/well"
	cp -a "$CLUSTER_DIR/etc" "$CLUSTER_DIR/lib" "$CLUSTER_DIR/well"
}
teardown_file() { cluster_down; }

# A test that failed leaves something broken: what it is is not known, so all is made as it was, and the next one is fair.
teardown()
{
	local name

	[[ -z ${BATS_TEST_COMPLETED-} ]] || return 0
	rm -rf "$CLUSTER_DIR/lib" "$CLUSTER_DIR/etc/plugstack.conf"
	cp -a "$CLUSTER_DIR/well/etc" "$CLUSTER_DIR/well/lib" "$CLUSTER_DIR"
	chmod 755 "$CLUSTER_DIR/run"
	for name in munged slurmdbd slurmctld budgetd; do
		is_gone "$(cluster_pid $name)" || cluster_stop $name
		cluster_start $name
	done
	cluster_clear
}

# --- words ------------------------------------------------------------------------------------------

# doctor_says: its rows are in $rows, its exit code in $code.
doctor_says()
{
	code=0
	rows=$(budgetctl doctor -o json "$@") || code=$?
}

found() { jq -r '.rows[].check' <<<"$rows" | paste -sd ' '; }

# finds CHECK... : these and no others, an exit code that fits, a text and a line that mends for each.
finds()
{
	doctor_says "${doctor_options[@]}"
	[[ $(found) == "$*" ]] || { echo "found: $rows" >&2; return 1; }
	jq -e 'all(.rows[]; .text != "" and .mend != "")' >/dev/null <<<"$rows" || return 1
	if jq -e 'any(.rows[]; .health == "error")' >/dev/null <<<"$rows"; then
		((code == 6))
	else
		((code == 5))
	fi
}

# eventually's own process would keep $rows for itself.
finds_at_last() { eventually finds "$@" && finds "$@"; }

is_clean()
{
	doctor_says "${doctor_options[@]}"
	[[ -z $(found) && $code == 0 ]] || { echo "code $code, found: $rows" >&2; return 1; }
}

# mends_with TEXT, tells TEXT: of the only finding.
mends_with() { jq -r '.rows[0].mend' <<<"$rows" | grep -qxF -- "$1" || { echo "$rows" >&2; return 1; }; }
tells() { jq -r '.rows[0].text' <<<"$rows" | grep -qF -- "$1" || { echo "$rows" >&2; return 1; }; }

# The line that mends is said word by word, as it was printed.
mend_is_done()
{
	local line

	while IFS= read -r line; do
		$line >/dev/null </dev/null || return 1
	done < <(jq -r '.rows[].mend' <<<"$rows")
	is_clean
}

# broken CHECK SACCTMGR-WORD...: changed with sacctmgr, found, and mended by the line.
broken()
{
	sacctmgr -i "${@:2}" >/dev/null && finds "$1" && mend_is_done
}

# conf_line KEY LINE: in slurm.conf, instead of what is there; LINE "" removes it.
conf_line()
{
	sed -i "/^$1=/d" "$SLURM_CONF" && [[ -z $2 ]] || echo "$2" >>"$SLURM_CONF"
}

# conf_broken CHECK RESTART-OR-RECONFIGURE: slurmctld takes the file, the finding is there, and its lines are put into the
# file. That it mends is seen when the next one is broken, and nothing else is found.
conf_broken()
{
	local mend

	conf_taken "$2" && finds_at_last "$1" || return 1
	while IFS= read -r mend; do
		conf_line "${mend%%=*}" "$mend"
	done < <(jq -r '.rows[0].mend' <<<"$rows")
}

conf_taken()
{
	case $1 in
	restart)	cluster_restart slurmctld ;;
	reconfigure)	scontrol reconfigure ;;
	esac
}

# plugin_made FILE NUMBER: a plugin that says it was built for that version of Slurm.
plugin_made()
{
	echo "const unsigned plugin_version = $2; const char plugin_name[] = \"x\";" | cc -shared -fPIC -x c -o "$1" -
}

# lied FROM TO CHECK: budgetd's answer is changed on its way.
lied()
{
	local fake=$BATS_TEST_TMPDIR/fake pid rv=0

	perl "$CLUSTER_LIB/liar.perl" "$CLUSTER_DIR/run/budgetd.socket" "$fake" "$1" "$2" >"$BATS_TEST_TMPDIR/liar" 3>&- &
	pid=$!
	doctor_options=(--socket "$fake")
	eventually grep -q ready "$BATS_TEST_TMPDIR/liar" && finds "$3" || rv=1
	doctor_options=()
	kill "$pid"
	wait "$pid" || true
	rm -f "$fake"
	return $rv
}

# As SLURM_VERSION_NUM has it.
slurm_number()
{
	local version

	version=$(slurmctld -V) && version=${version##* } && set -- ${version//[.-]/ }
	echo $((10#$1 << 16 | 10#$2 << 8 | 10#$3))
}

setup()
{
	doctor_options=()
	version_of_slurm=$(slurm_number)
}

# --- an empty slurmdbd ------------------------------------------------------------------------------

@test "in an empty slurmdbd the QOS and the accounts of the projects are missing, and setup says so" {
	eventually finds qos-exist project-accounts
	output=$(budgetctl setup)
	[[ $output != *slurm.conf* && $output != *plugstack.conf* ]]
	[[ $output == *"sacctmgr -i add qos free set Priority=0 PreemptMode=requeue"* ]]
	[[ $output == *"sacctmgr -i modify account root set DefaultQOS=free"* ]]
	[[ $output == *"sacctmgr -i add account speech parent=root"* ]]
}

@test "setup --apply does what is missing, and a second one has nothing to do" {
	output=$(budgetctl setup --apply)
	[[ $output == *"sacctmgr -i add qos funded set "* ]]
	is_clean
	[[ $(budgetctl setup --apply) == "# nothing is missing in slurmdbd" ]]
	[[ $(budgetctl setup) == "# nothing is missing in slurm.conf, plugstack.conf and slurmdbd" ]]
	sacctmgr -i >/dev/null <<-END
		add user gpb-ada,gpb-bob account=vision
		add user gpb-bob,gpb-carol account=speech
	END
	is_clean
}

@test "setup --all prints every line, and they are what this cluster has" {
	output=$(budgetctl setup --all)
	for key in JobSubmitPlugins PreemptType PriorityType SelectType AccountingStorageType AuthInfo; do
		grep -qxF -- "$(grep "^$key=" "$SLURM_CONF")" <<<"$output" || { echo "$key: $output" >&2; return 1; }
	done
	grep -q "^optional .*/gpubudget.so max_min_runtime=8h$" <<<"$output"
}

@test "a job can be submitted in what setup made" {
	as ada submit train --gpus=1 --gpu-min-runtime=1h
	eventually job_is train RUNNING
	is_clean
	cluster_clear
}

@test "whoever is neither root nor SlurmUser is told so, by both" {
	local rv=0
	output=$(as ada budgetctl doctor 2>&1) || rv=$?
	[[ $rv == 4 && $output == *"run it as root or as SlurmUser"* ]]
	rv=0
	output=$(as ada budgetctl setup --apply 2>&1) || rv=$?
	[[ $rv == 4 && $output == *"run it as root or as SlurmUser"* ]]
}

@test "people see what is well only when they ask, and then every check" {
	[[ $(budgetctl doctor) == *" checks: 0 errors, 0 warnings, "*" ok" ]]
	[[ $(budgetctl doctor --all | grep -c "^ok  ") == $(($(budgetctl doctor --all | wc -l) - 1)) ]]
	[[ $(budgetctl doctor --all -n -o parsable | wc -l) == $(($(budgetctl doctor --all | wc -l) - 1)) ]]
}

# --- QOS, associations, jobs ------------------------------------------------------------------------

@test "a QOS is missing" {
	sacctmgr -i delete qos funded-still >/dev/null
	finds qos-exist
	mends_with "sacctmgr -i add qos funded-still set Priority=1000 PreemptMode=requeue"
	budgetctl setup --apply
	is_clean
}

@test "the free QOS has the priority of the funded one" { broken qos-priority modify qos free set Priority=1000; }

@test "a funded job would cancel, not requeue" { broken qos-preempt-mode modify qos free set PreemptMode=cancel; }

@test "funded jobs displace nobody" { broken qos-preempt modify qos funded set "Preempt="; }

@test "a QOS of the site displaces what nobody may displace" {
	sacctmgr -i add qos urgent set Preempt=funded-still >/dev/null
	finds qos-preempt
	tells "urgent has Preempt=funded-still"
	mend_is_done
	sacctmgr -i delete qos urgent >/dev/null
}

@test "Slurm protects runs for another time than budgetd" {
	broken qos-exempt-time modify qos funded set PreemptExemptTime=00:05:00
}

@test "a displaced run would keep its GPUs for a while" { broken qos-grace modify qos free set GraceTime=60; }

@test "the root account may not use a QOS" { broken root-qos modify account root set qos-=funded-still; }

@test "jobs would begin in another QOS" { broken root-default-qos modify account root set DefaultQOS=normal; }

@test "one account may not use the funded QOS, and its users are not told one by one" {
	broken account-qos modify account speech set qos=normal,free
}

@test "one user begins in another QOS" {
	broken account-default-qos modify user gpb-ada set DefaultQOS=normal
}

@test "a project is no account" {
	budgetctl project add robotics --parent ai --share 1 >/dev/null
	finds project-accounts
	tells "robotics"
	mend_is_done
	budgetctl project remove robotics >/dev/null
	sacctmgr -i delete account robotics >/dev/null
}

@test "a job with GPUs is in an account that is no project" {
	sacctmgr -i >/dev/null <<-END
		add account other parent=root
		add user gpb-carol account=other
	END
	as carol submit stray --account=other --gpus=1
	eventually job_is stray RUNNING
	finds_at_last job-accounts
	mends_with "budgetctl project add other"
	cluster_clear
	eventually is_clean
	sacctmgr -i >/dev/null <<-END
		delete user gpb-carol account=other
		delete account other
	END
}

@test "a job with GPUs runs in a QOS of no tier" {
	cluster_stop budgetd
	as bob submit stray --account=vision --gpus=1 --qos=normal
	eventually job_is stray RUNNING normal
	cluster_start budgetd
	finds_at_last job-qos
	mends_with "scontrol requeue $(job stray)"
	cluster_clear
	eventually is_clean
}

# --- budgetd and this host --------------------------------------------------------------------------

@test "a line of budgetd.conf is wrong" {
	echo "default_min_runtime = soon" >>"$GPUBUDGET_CONF"
	finds settings
	tells "budgetd.conf:"
	sed -i '$d' "$GPUBUDGET_CONF"
	is_clean
}

@test "enforce_partitions names a partition that there is not" {
	echo 'enforce_partitions = "batch=on gpux=off"' >>"$GPUBUDGET_CONF"
	finds enforce
	tells "gpux=off (no such partition)"
	mends_with 'enforce_partitions = "batch=on"'
	sed -i '$d' "$GPUBUDGET_CONF"
	is_clean
}

@test "budgetd does not run" {
	cluster_stop budgetd
	finds budgetd-answers
	cluster_start budgetd
	eventually is_clean
}

@test "budgetd is of another version" { lied '"version": *"0\.1\.0"' '"version":"0.0.9"' budgetd-version; }

@test "budgetd has trouble with Slurm" { lied '"slurm": *"ok"' '"slurm":"no"' budgetd-slurm; }

@test "budgetd made no pass for an hour" {
	lied '"last_pass_at": *\d+' "\"last_pass_at\":$(($(date +%s) - 3600))" budgetd-pass
}

@test "a second budgetd took the plugin's socket" {
	local dir=$BATS_TEST_TMPDIR pid
	sed -e "s|^socket = .*|socket = $dir/people|; s|^database = .*|database = $dir/budget.db|" "$GPUBUDGET_CONF" >"$dir/conf"
	budgetd -c "$dir/conf" --init
	rm "$CLUSTER_DIR/run/budgetd-slurm.socket"
	budgetd -c "$dir/conf" >"$dir/log" 2>&1 3>&- &
	pid=$!
	eventually budgetctl health --socket "$dir/people"
	finds budgetd-alone
	tells "process $pid at slurm_socket"
	kill "$pid"
	wait "$pid" || true
	cluster_restart budgetd
	eventually is_clean
}

@test "users cannot connect to budgetd" {
	chmod 600 "$CLUSTER_DIR/run/budgetd.socket"
	finds socket-users
	mend_is_done
	chmod o-x "$CLUSTER_DIR/run"
	finds socket-users
	mends_with "chmod o+x $CLUSTER_DIR/run"
	mend_is_done
}

@test "every user can connect to the plugin's socket" {
	chmod 666 "$CLUSTER_DIR/run/budgetd-slurm.socket"
	finds socket-slurm
	chmod 600 "$CLUSTER_DIR/run/budgetd-slurm.socket"
	is_clean
}

@test "this host's clock is wrong" {
	local lib=$BATS_TEST_TMPDIR/late.so
	cc -shared -fPIC -x c -o "$lib" - <<-END
		#include <sys/time.h>
		#include <time.h>
		time_t time(time_t *t)
		{
			struct timespec now;

			clock_gettime(CLOCK_REALTIME, &now);
			if (t)
				*t = now.tv_sec - 20;
			return now.tv_sec - 20;
		}
	END
	LD_PRELOAD=$lib finds clock
	tells " s behind that of slurmctld"
}

# --- plugins ----------------------------------------------------------------------------------------

@test "the job_submit plugin is not where slurmctld looks" {
	mv "$CLUSTER_DIR/lib/job_submit_gpubudget.so" "$BATS_TEST_TMPDIR"
	finds plugin-file
	mv "$BATS_TEST_TMPDIR/job_submit_gpubudget.so" "$CLUSTER_DIR/lib"
	is_clean
}

@test "the job_submit plugin is built for another micro version" {
	local file=$CLUSTER_DIR/lib/job_submit_gpubudget.so
	mv "$file" "$BATS_TEST_TMPDIR"
	plugin_made "$file" "$((version_of_slurm ^ 1))"
	finds plugin-version
	echo "no plugin at all" >"$file"
	finds plugin-version
	tells "is no plugin of Slurm"
	mv "$BATS_TEST_TMPDIR/job_submit_gpubudget.so" "$file"
	is_clean
}

@test "plugstack.conf does not name the SPANK plugin, lives elsewhere, or includes the line" {
	local file=$CLUSTER_DIR/etc/plugstack.conf line
	line=$(<"$file")
	echo "# nothing" >"$file"
	finds plugstack
	mends_with "optional gpubudget.so max_min_runtime=8h" || mends_with "optional $CLUSTER_DIR/lib/gpubudget.so max_min_runtime=8h"
	mkdir "$CLUSTER_DIR/etc/plugstack.d"
	echo "include plugstack.d/*.conf" >"$file"
	echo "$line" >"$CLUSTER_DIR/etc/plugstack.d/budget.conf"
	is_clean
	rm -r "$file" "$CLUSTER_DIR/etc/plugstack.d"
	finds plugstack
	tells "plugstack.conf: No such file"
	echo "$line" >"$file"
	is_clean
}

@test "plugstack.conf names a file that is not there, one of another minor version, another limit" {
	local file=$CLUSTER_DIR/etc/plugstack.conf line other=$CLUSTER_DIR/lib/other
	line=$(<"$file")
	mkdir "$other"
	echo "required $other/gpubudget.so" >"$file"
	finds spank-file
	plugin_made "$other/gpubudget.so" "$((version_of_slurm ^ 0x100))"
	finds spank-version
	echo "$line max_min_runtime=4h" >"$file"
	finds spank-limit
	tells "max_min_runtime is 4h in plugstack.conf, 8h in budgetd.conf"
	echo "$line max_min_runtime=8h" >"$file"
	is_clean
	echo "$line" >"$file"
}

# --- Slurm's daemons and slurm.conf -----------------------------------------------------------------

@test "munged, slurmdbd or slurmctld does not run" {
	cluster_stop munged
	finds munge
	cluster_start munged
	eventually is_clean
	cluster_stop slurmdbd
	finds slurmdbd-answers
	cluster_start slurmdbd
	eventually is_clean
	cluster_stop slurmctld
	finds slurmctld-answers
	run budgetctl setup
	[[ $status == 1 && $output == *"while slurmctld does not answer"* ]]
	cluster_start slurmctld
	eventually is_clean
}

@test "slurm.conf: each line that is wrong is found alone, and the line that is printed mends it" {
	local whole=$BATS_TEST_TMPDIR/slurm.conf
	cp "$SLURM_CONF" "$whole"
	conf_line JobRequeue JobRequeue=0
	conf_broken job-requeue reconfigure
	conf_line MinJobAge MinJobAge=2
	conf_broken min-job-age reconfigure
	conf_line SchedulerParameters SchedulerParameters=bf_interval=5,batch_sched_delay=1
	conf_broken backfill-age reconfigure
	conf_line AuthInfo "AuthInfo=socket=$CLUSTER_DIR/run/munge.socket"
	conf_broken cred-expire restart
	conf_line JobSubmitPlugins ""
	conf_broken job-submit restart
	conf_line PriorityType PriorityType=priority/basic
	conf_broken priority-type restart
	conf_line PreemptMode PreemptMode=CANCEL
	conf_broken preempt-mode restart
	conf_line PreemptType PreemptType=preempt/none
	conf_line PreemptMode PreemptMode=OFF
	conf_broken preempt-type restart		# both lines, or slurmctld would not start
	conf_line AccountingStorageEnforce AccountingStorageEnforce=associations
	conf_broken accounting-enforce restart
	conf_line AccountingStorageTRES ""
	conf_broken accounting-tres restart
	conf_line SelectType SelectType=select/linear
	conf_line SelectTypeParameters SelectTypeParameters=CR_Memory
	conf_broken select-type restart
	conf_line SelectTypeParameters SelectTypeParameters=CR_Core
	conf_line AccountingStorageTRES ""
	conf_line AccountingStorageEnforce ""
	conf_line AccountingStorageType AccountingStorageType=accounting_storage/none
	conf_broken accounting-type restart
	cp "$whole" "$SLURM_CONF"
	cluster_restart slurmctld
	eventually is_clean
}

# The last one: the cluster is another one afterwards.
@test "with a SlurmUser of its own: it can ask, it may run doctor, and settings closed to it are found" {
	local name
	for name in budgetd slurmctld slurmdbd g1 g2; do
		cluster_stop $name
	done
	sed -i 's/^SlurmUser=.*/SlurmUser=gpb-bob/' "$SLURM_CONF" "$CLUSTER_DIR/etc/slurmdbd.conf"
	chown -R gpb-bob "$CLUSTER_DIR"/{etc/slurmdbd.conf,state,log}
	for name in slurmdbd slurmctld g1 g2 budgetd; do
		cluster_start $name
	done
	eventually is_clean
	as ada submit train --gpus=1 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	[[ $(as bob budgetctl doctor) == *" 0 errors, 0 warnings, "* ]]

	chmod 600 "$GPUBUDGET_CONF"
	finds settings-readable
	tells "gpb-bob cannot read"
	mend_is_done
	taken_away()
	{
		local socket=$CLUSTER_DIR/run/budgetd-slurm.socket

		chown root "$socket" && finds socket-slurm && mends_with "chown gpb-bob $socket; chmod 0600 $socket"
	}
	eventually taken_away		# each pass of budgetd gives it back
}
