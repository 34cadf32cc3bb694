# SPDX-License-Identifier: GPL-2.0-or-later
# Every shape that a job can have and every way it can end: what is set aside fits, and each run is charged once, to the second.
# time: 300 s
load cluster
load accounting

setup_file()	{ cluster_up && deposit vision 1000; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && eventually balance_is vision "held=0.00" && books_are_right; }

# task NAME N: the record of one task of an array.
task_is() { [[ $(scontrol -o show job "$(job "$1")_$2" | grep -o ' JobState=[A-Z]*') == " JobState=$3" ]]; }

task_has_run() { [[ $(scontrol -o show job "$(job "$1")_$2" | grep -o ' RunTime=[0-9:]*') != " RunTime=00:00:00" ]]; }

running_tasks() { [[ $(squeue -h -r -t RUNNING -j "$(job "$1")" | wc -l) == "$2" ]]; }

@test "an array holds for all of its tasks, gives back for those cancelled, and charges each once" {
	as ada submit sweep --array=1-6%2 --gpus=1 --gpu-min-runtime=1h
	says "funded: 6.00 GPU-h of vision set aside (6 tasks x 1 GPU x 1 h minimum runtime)"
	eventually running_tasks sweep 2
	balance_is vision "held=6.00"
	as ada scancel "$(job sweep)_5" "$(job sweep)_6"
	eventually balance_is vision "held=4.00"
	eventually task_has_run sweep 1
	as ada scancel -s KILL --full "$(job sweep)_1"
	eventually task_is sweep 3 RUNNING
	eventually balance_is vision "held=3.00"
	eventually task_has_run sweep 3
	as ada cancel sweep
	eventually accounted sweep funded funded funded
}

@test "a job of two nodes, and one that takes its node whole, pay for all GPUs they keep from others" {
	as ada submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=1h
	says "funded: 8.00 GPU-h of vision set aside (8 GPUs x 1 h minimum runtime)"
	eventually job_is gang RUNNING funded
	eventually has_run gang
	as ada cancel gang
	eventually accounted gang funded
	as ada submit whole --exclusive --nodes=1 --gpus=1 --gpu-min-runtime=1h
	says "funded: 8.00 GPU-h of vision set aside"
	eventually job_is whole RUNNING funded
	eventually has_run whole
	as ada cancel whole
	eventually accounted whole funded
	[[ $(charged_units whole) -ge 8000 && $(($(charged_units whole) % 8000)) == 0 ]]
}

@test "a het job pays for the sum of its components" {
	as ada submit het --gpus=1 --gpu-min-runtime=1h : --gpus=2 --gpu-min-runtime=30m
	says "1.00 GPU-h of vision set aside (1 GPU x 1 h"
	says "(2 GPUs x 30 min"
	eventually job_is het RUNNING funded-still
	balance_is vision "held=2.00"
	eventually has_run het
	as ada cancel het
	eventually accounted het funded funded
}

@test "a job that is cancelled in the queue costs nothing and gives all back" {
	as ada submit filler --nodes=2 --gpus-per-node=8
	eventually job_is filler RUNNING funded
	as ada submit train --gpus=8 --gpu-min-runtime=1h
	eventually balance_is vision "held=12.00"
	as ada cancel train
	eventually balance_is vision "held=4.00"
	eventually has_run filler
	as ada cancel filler
	eventually accounted filler funded
}

@test "a job that ends between two looks is charged all the same" {
	as ada submit short --gpus=3 --export=JOB_SECONDS=1
	as ada submit shorter --gpus=2 --export=JOB_SECONDS=0
	eventually job_is short COMPLETED
	eventually accounted short funded
	eventually accounted shorter
}

@test "a requeued job pays for its first run by slurmdbd's row, and is funded and charged again for the second" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	as ada scontrol requeue "$(job train)"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	eventually balance_is vision "held=2.00"
	eventually has_run train
	as ada cancel train
	eventually accounted train funded funded
}

@test "a run that slurmctld takes back within the second is not lost" {
	as ada submit train --gpus=2 --export=JOB_CHECKPOINT_SECONDS=0
	eventually job_is train RUNNING
	scontrol requeue "$(job train)"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	as ada cancel train
	eventually accounted train
}

@test "when a node fails its run is charged up to then and given back, and the job is funded again for the next" {
	local node given

	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	node=$(job_field train NodeList)
	scontrol update nodename="$node" state=down reason="power supply"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	eventually balance_is vision "held=2.00"
	scontrol update nodename="$node" state=resume 2>/dev/null || true	# its slurmd may have said already that it is well
	eventually has_run train
	as ada cancel train
	eventually accounted train funded funded
	given=$(books "SELECT sum(j.units) FROM journal j JOIN charge c ON c.id = j.charge JOIN run r ON r.id = c.run
		WHERE j.kind = 'refund' AND j.actor = 'budgetd' AND r.state = 'NODE_FAIL' AND r.job = $(job train)")
	[[ $given -gt 0 && $given == "$(books "SELECT sum(c.units) FROM charge c JOIN run r ON r.id = c.run
		WHERE r.state = 'NODE_FAIL' AND r.job = $(job train)")" ]]
	budgetctl journal vision | grep -F "its node failed: the last"
}

paused() { (($(date +%s) - $(date -d "$(job_field train SuspendTime)" +%s) >= 3)); }

@test "GPUs stay with a suspended job, and so does their price" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	scontrol suspend "$(job train)"
	job_is train SUSPENDED
	eventually paused
	scontrol resume "$(job train)"
	job_is train RUNNING
	eventually has_run train
	as ada cancel train
	eventually accounted train funded
	[[ $(charged_units train) -ge 6000 ]]
}

# What slurmdbd counts as Elapsed is what was charged.
charged_elapsed()
{
	local elapsed charged

	elapsed=$(slurmdbd_rows "$1" | awk -F'|' '{ match($8, /gres\/gpu=[0-9]+/); sum += substr($8, RSTART + 9, RLENGTH - 9) * $6 } END { print sum }')
	charged=$(books "SELECT sum(c.gpus * (c.part_end - c.part_start)) FROM charge c JOIN run r ON r.id = c.run WHERE c.kind = 'funded'
		AND r.ended IS NOT NULL AND r.job = $(job "$1")")
	[[ $elapsed == "$charged" ]] || { echo "$1: slurmdbd has $elapsed GPU-s without suspensions, charged are $charged" >&2; return 1; }
}

@test "where suspended time is not charged, what is charged is what slurmdbd has left of the run" {
	echo 'charge_suspended = no' >>"$CLUSTER_DIR/etc/budgetd.conf"
	kill -HUP "$(cluster_pid budgetd)"
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	as ada submit gone --gpus=1 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	eventually has_run gone
	scontrol suspend "$(job train)"
	scontrol suspend "$(job gone)"
	eventually paused
	scontrol resume "$(job train)"
	job_is train RUNNING
	eventually has_run train
	as ada cancel train
	as ada cancel gone		# it ended, for Slurm, when it was suspended
	eventually charged_elapsed train
	eventually charged_elapsed gone
	[[ $(books "SELECT sum(part_end - part_start) FROM charge WHERE kind = 'suspended'") -ge 3 ]]
	agrees() { budgetctl check | grep -q " 0 differences"; }
	eventually agrees
	sed -i '$d' "$CLUSTER_DIR/etc/budgetd.conf"
	kill -HUP "$(cluster_pid budgetd)"
}

@test "a run that gives up a node is charged for each of its sizes" {
	as ada submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=1h
	as ada submit quick --nodes=2 --gpus-per-node=4 --gpu-min-runtime=1h
	eventually job_is gang RUNNING funded
	eventually job_is quick RUNNING funded
	as ada scontrol update jobid="$(job quick)" NumNodes=1	# most likely before budgetd has seen it run
	eventually has_run gang
	as ada scontrol update jobid="$(job gang)" NumNodes=1
	[[ $(job_tres gang) == *gres/gpu=4* ]]
	smaller() { (($(date +%s) - $(date -d "$(job_field gang StartTime)" +%s) >= 6)); }
	eventually smaller
	as ada cancel gang
	as ada cancel quick
	eventually accounted gang
	eventually accounted quick
}

@test "a run that outlives its hold is extended before the time comes, and charged for all of it" {
	as ada submit train --gpus=2 --gpu-min-runtime=5s
	says "2 GPUs x 5 s minimum runtime"
	extended() { (($(units vision held) >= 130000)); }
	eventually extended
	outlived() { (($(date +%s) - $(date -d "$(job_field train StartTime)" +%s) >= 8)); }
	eventually outlived
	as ada cancel train
	eventually accounted train funded
}

@test "when the money runs out in mid-run the job runs on, free, and is charged up to the second that was paid" {
	budgetctl allocation add speech 10s --reason "ten GPU-seconds" >/dev/null
	as carol submit train --gpus=2 --gpu-min-runtime=5s
	says "funded:"
	outlived() { (($(date +%s) - $(date -d "$(job_field train StartTime)" +%s) >= 8)); }
	eventually outlived
	job_is train RUNNING funded
	as carol cancel train
	eventually accounted train funded free
	[[ $(charged_units train) == 10000 ]]
	[[ $(units speech available) == 0 ]]
	as carol submit next --gpus=1
	says "free tier: the job needs 0.25 GPU-h"
	says "speech has 0.00 of 0.00 GPU-h available"
}

@test "money that returns in mid-run pays for what follows, never for the time that was free" {
	budgetctl deposit speech 10s --reason "ten GPU-seconds more" >/dev/null
	as carol submit train --gpus=2 --gpu-min-runtime=5s
	says "funded:"
	free_by_now() { (($(date +%s) - $(date -d "$(job_field train StartTime)" +%s) >= 8)); }
	eventually free_by_now
	budgetctl deposit speech 0.5 --reason "half an hour" >/dev/null
	paid_again() { (($(books "SELECT covered_until - start FROM run WHERE job = $(job train)") >= 60)); }
	eventually paid_again
	paid=$(date +%s)
	ran_on() { (($(date +%s) >= paid + 2)); }
	eventually ran_on
	[[ $(budgetctl hold list speech -o json | jq '.rows[0] | .accrued_units >= 4000 and .accrued_units < .units') == true ]]
	as carol cancel train
	eventually accounted train funded free funded
	[[ $(units speech held) == 0 ]]
}

@test "a job that may not start yet holds nothing until it may" {
	as ada submit later --gpus=1 --gpu-min-runtime=1h --begin=now+1hour
	says "will be set aside when the job becomes eligible"
	as ada submit held --gpus=1 --gpu-min-runtime=2h --hold
	says "will be set aside when the job becomes eligible"
	as ada submit first --gpus=1 --gpu-min-runtime=0
	as ada submit second --gpus=1 --gpu-min-runtime=4h --dependency="after:$(job later)"
	says "will be set aside when the job becomes eligible"
	eventually job_is first RUNNING free
	balance_is vision "held=0.00"
	as ada scontrol release "$(job held)"
	eventually job_is held RUNNING funded
	eventually balance_is vision "held=2.00"
	as ada scontrol update jobid="$(job later)" StartTime=now
	eventually job_is later RUNNING funded
	eventually job_is second RUNNING funded
	eventually balance_is vision "held=7.00"
	as ada cancel later
	eventually accounted later
}

@test "slurmctld may be restarted and reconfigured under running and waiting jobs" {
	as ada submit filler --nodes=2 --gpus-per-node=8 --gpu-min-runtime=1h
	as ada submit train --gpus=8 --gpu-min-runtime=1h
	eventually job_is filler RUNNING funded
	cluster_restart slurmctld
	scontrol reconfigure
	eventually job_is filler RUNNING funded
	eventually balance_is vision "held=24.00"
	as ada submit next --gpus=1 --gpu-min-runtime=1h
	says "funded:"
	as ada cancel filler
	eventually job_is train RUNNING funded
	eventually has_run train
	as ada cancel train
	eventually accounted train funded
	eventually accounted filler funded
}

@test "budgetd may be killed at any moment: what it had set aside stays, and every run is charged once" {
	as ada submit filler --nodes=2 --gpus-per-node=8 --gpu-min-runtime=1h
	eventually job_is filler RUNNING funded
	eventually has_run filler
	as ada submit train --gpus=8 --gpu-min-runtime=1h
	says "funded:"
	kill -KILL "$(cluster_pid budgetd)"
	as ada cancel filler
	eventually job_is train RUNNING funded
	cluster_start budgetd
	eventually accounted filler funded
	eventually balance_is vision "held=8.00"
	kill -KILL "$(cluster_pid budgetd)"
	eventually has_run train
	cluster_start budgetd
	cluster_restart budgetd
	balance_is vision "held=8.00"
	as ada cancel train
	eventually accounted train funded
}

@test "a run that began and ended while budgetd was away is in the books when it is back" {
	as ada submit filler --nodes=2 --gpus-per-node=8
	eventually job_is filler RUNNING funded
	as ada submit train --gpus=2
	cluster_stop budgetd
	as ada cancel filler
	eventually job_is train RUNNING funded
	eventually has_run train
	scontrol requeue "$(job train)"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	cluster_start budgetd
	as ada cancel train
	eventually accounted train
	eventually accounted filler
}
