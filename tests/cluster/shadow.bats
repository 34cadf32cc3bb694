# SPDX-License-Identifier: GPL-2.0-or-later
# Shadow mode: the site sees what the budget would do before it does anything, and what it sees is what it then gets.
load cluster

setup_file()	{ cluster_up --budgetd "enforce = warn"; }
teardown_file()	{ cluster_down; }

# The scene of the demo, once in shadow mode and once for real: the same submissions by the same users.
scene()
{
	deposit vision 10
	deposit speech 4
	budgetctl project set speech --on-exhausted reject >/dev/null
	submit_as ada train --gpus=4 --gpu-min-runtime=2h
	submit_as bob eval --gpus=2 --gpu-min-runtime=2h
	submit_as bob insist --gpus=2 --gpu-min-runtime=2h --gpu-tier=funded
	submit_as carol big --gpus=8 --gpu-min-runtime=2h
}

# The settings of the running daemon, replaced by those given: KEY = VALUE each.
budgetd_set()
{
	local conf=$CLUSTER_DIR/etc/budgetd.conf line reloads

	reloads=$(grep -c "settings read again" "$(budgetd_log)" || true)
	for line; do
		sed -i "/^${line%% =*} =/d" "$conf"
		echo "$line" >>"$conf"
	done
	kill -HUP "$(cluster_pid budgetd)"
	eventually reloaded "$reloads"
}
reloaded() { (($(grep -c "settings read again" "$(budgetd_log)") > $1)); }
budgetd_log() { ls "$CLUSTER_DIR"/log/budgetd.*; }

# New books for the same cluster.
budgetd_fresh()
{
	cluster_stop budgetd
	rm "$CLUSTER_DIR"/budgetd/budget.db*
	"$CLUSTER_DIR/bin/budgetd" -c "$CLUSTER_DIR/etc/budgetd.conf" --init
	cluster_start budgetd
	scene_projects
}

# A submission that may be refused; what it was told is kept by name.
submit_as()
{
	local user=$1 name=$2

	as "$user" submit "$name" "${@:3}" || true
	said >"$BATS_FILE_TMPDIR/$name.$MODE"
}

# The sentences that begin with the verdict: what follows is advice.
verdict_of() { grep -ohE '(funded|free tier|refused): .*' "$BATS_FILE_TMPDIR/$1.$2" | head -n 1; }

report_has() { budgetctl shadow report --all -o json | jq -e --argjson j "$(job "$1")" --arg k "$2" \
	'.rows[] | select(.job == $j and .kind == $k)' >/dev/null; }

untouched()
{
	local name

	for name; do
		[[ $(job_field "$name" QOS) == "$(default_qos)" && $(job_field "$name" AdminComment) != *gpubudget* ]] || return 1
		[[ $(job_field "$name" Priority) != 0 ]] || return 1
	done
}
default_qos() { sacctmgr -nP show assoc where account=root user= format=defaultqos; }

@test "in shadow mode every job runs as it was submitted, and its user is told what would be" {
	MODE=warn scene
	[[ $(verdict_of train warn) == "funded: 8.00 GPU-h of vision"* ]]
	[[ $(verdict_of eval warn) == "free tier: the job needs 4.00 GPU-h"* ]]
	[[ $(verdict_of insist warn) == "refused: the job needs 4.00 GPU-h"* ]]
	[[ $(verdict_of big warn) == "refused: the job needs 16.00 GPU-h"* ]]
	grep -q "not enforced yet" "$BATS_FILE_TMPDIR/big.warn"
	untouched train eval insist big
}

@test "the report has every decision under its job, for an owner those of the own project" {
	eventually report_has train funded
	eventually report_has eval free
	eventually report_has insist refused
	eventually report_has big refused
	run as ada budgetctl shadow report vision -n -o parsable
	[[ $status == 0 && $(wc -l <<<"$output") == 2 ]]
	run as ada budgetctl shadow report speech
	[[ $status == 4 ]]
}

@test "a free run that a funded job would have displaced is in the report, and runs on" {
	cluster_clear
	MODE=warn submit_as bob fill --gpus=2 --gpu-tier=free
	eventually job_is fill RUNNING
	MODE=warn submit_as ada two --nodes=2 --gpus-per-node=8 --gpu-min-runtime=1m
	eventually report_has fill displaced
	job_is fill RUNNING
	untouched fill two
}

@test "a partition that is off is not asked about" {
	budgetd_set 'enforce = on' 'enforce_partitions = "batch=off"'
	MODE=off submit_as bob quiet --gpus=2 --gpu-min-runtime=2h --gpu-tier=funded
	[[ $(<"$BATS_FILE_TMPDIR/quiet.off") != *gpubudget* ]]
	cluster_stop budgetd			# who is asked now gets no answer, and that is in the log
	MODE=off submit_as bob silent --partition=batch --gpus=2
	[[ $(<"$CLUSTER_DIR/log/slurmctld.log") != *"when_unreachable applies"* ]]
	cluster_start budgetd
}

@test "switched on, the same scene gets the very answers that shadow mode announced" {
	cluster_clear
	budgetd_set 'enforce = on' 'enforce_partitions = ""'
	budgetd_fresh
	MODE=on scene
	for name in train eval insist big; do
		[[ -n $(verdict_of $name on) ]]
		[[ $(verdict_of $name on) == "$(verdict_of $name warn)" ]]
	done
}
