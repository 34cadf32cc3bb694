# SPDX-License-Identifier: GPL-2.0-or-later
# A run that is held or suspended is given away by Slurm, and a nice value or a priority moves a job: who may do what, and what the loop mends.
load cluster
load accounting

setup_file()	{ cluster_up --nodes 1 --conf KillWait=2 && deposit vision 1000; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && books_are_right; }

has_priority() { (($(job_field "$1" Priority) > 0)); }
reason_is() { [[ $(job_field "$1" Reason) == "$2" ]]; }
tasks_run() { [[ $(squeue -h -r -t RUNNING -j "$(job "$1")" | wc -l) == "$2" ]]; }
seen() { budgetctl why "$(job "$1")" >/dev/null && [[ $(books "SELECT count(*) FROM run WHERE job = $(job "$1") AND ended IS NULL") == 1 ]]; }
# Has budgetd met these runs of the job (or tasks of the array)? Those of the story before may still be open.
runs_seen() { [[ $(books "SELECT count(*) FROM run WHERE ended IS NULL AND label || '_' LIKE '$(job "$1")\_%' ESCAPE '\'") == "$2" ]]; }

@test "a user's hold of a run is refused, funded and free; what waits can be held and released" {
	as ada submit train --gpus=4
	as ada submit loose --gpus=4 --gpu-tier=free
	eventually job_is train RUNNING funded
	eventually job_is loose RUNNING free
	as ada submit later --gpus=8
	eventually runs_seen train 1
	eventually runs_seen loose 1
	cannot as ada scontrol hold "$(job train)"
	cannot as ada scontrol hold "$(job loose)"
	has_priority train
	has_priority loose
	as ada scontrol hold "$(job later)"
	eventually reason_is later JobHeldUser
	as ada scontrol release "$(job later)"
	eventually has_priority later
}

@test "a hold of an array is refused while a task runs, one of its waiting tasks is not" {
	as ada submit sweep --array=1-6%2 --gpus=1
	eventually tasks_run sweep 2
	eventually runs_seen sweep 2
	cannot as ada scontrol hold "$(job sweep)"
	tasks_run sweep 2
	[[ $(squeue -h -r -t RUNNING -j "$(job sweep)" -o %Q | sort -n | head -n 1) != 0 ]]
	cannot as ada scontrol hold "$(job sweep)_1"
	as ada scontrol hold "$(job sweep)_[5-6]"
	[[ $(squeue -h -r -t PENDING -j "$(job sweep)" -o '%K %r' | grep -c JobHeldUser) == 2 ]]
}

@test "nice and priority by hand are refused, and nice of a submission is taken out" {
	as ada submit train --gpus=4 --nice=1000
	says "--nice has no effect"
	eventually job_is train RUNNING funded
	[[ $(job_field train Nice) == 0 ]]
	as ada submit later --gpus=8
	cannot as ada scontrol update jobid="$(job train)" nice=100000
	cannot as ada scontrol update jobid="$(job later)" nice=10
	cannot as ada scontrol update jobid="$(job train)" priority=1
	[[ $(job_field train Nice)$(job_field later Nice) == 00 ]]
	as ada scontrol update jobid="$(job later)" nice=0
}

@test "an administrator's hold of a run is taken back by the next pass" {
	as ada submit train --gpus=8
	eventually job_is train RUNNING funded
	scontrol hold "$(job train)"
	eventually has_priority train
	job_is train RUNNING
	requeued train 0
}

@test "a run that its user held while budgetd was away is back in the queue when budgetd is, not held" {
	as ada submit train --gpus=8
	eventually job_is train RUNNING funded
	eventually seen train
	sacctmgr -i modify qos funded set PreemptExemptTime=00:00:01 >/dev/null
	as carol submit next --gpus=8 --gpu-min-runtime=1h
	eventually job_is next PENDING
	cluster_stop budgetd
	as ada scontrol hold "$(job train)"
	eventually requeued train 1
	eventually job_is train PENDING
	cluster_start budgetd
	sacctmgr -i modify qos funded set PreemptExemptTime=00:15:00 >/dev/null
	eventually has_priority train
}

@test "a suspended run is given away, and its administrator is told so" {
	as ada submit loose --gpus=8 --gpu-tier=free
	eventually job_is loose RUNNING free
	eventually runs_seen loose 1
	scontrol suspend "$(job loose)"
	eventually job_is loose SUSPENDED
	eventually why_says loose "suspended"
}
why_says() { why "$1" | grep -qF -- "$2"; }
