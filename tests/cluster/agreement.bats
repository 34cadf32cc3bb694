# SPDX-License-Identifier: GPL-2.0-or-later
# The books beside slurmdbd and slurmctld: they agree, what differs is found and named, and put right by corrections.
# time: 180 s
load cluster
load accounting

setup_file()	{ cluster_up && deposit vision 1000; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash; }

# agrees: a condition; nothing differs and nothing is too young to be judged.
agrees()
{
	local told rv=0

	told=$(budgetctl check "$@") || rv=$?
	[[ $rv == 0 && $told == *" 0 differences; 0 too young"* ]] || { echo "exit $rv: $told" >&2; return 1; }
}

# differs KIND NAME: a condition; the job has this difference.
differs() { budgetctl check --job "$(job "$2")" -o json | jq -e --arg d "$1" '[.rows[].difference] | index($d)' >/dev/null; }

over() { [[ -n $(slurmdbd_rows "$1") ]] && slurmdbd_gpu_seconds "$1" >/dev/null; }

@test "after a busy minute the three agree, run by run" {
	local name

	as ada submit train --gpus=2 --gpu-min-runtime=1h
	as ada submit gang --nodes=2 --gpus-per-node=1 --gpu-min-runtime=1h
	as ada submit sweep --array=1-3 --gpus=1 --export=JOB_SECONDS=1
	as bob submit spare --gpus=1 --gpu-tier=free --account=vision
	as ada submit het --gpus=1 : --gpus=1
	for name in train gang spare het; do eventually has_run $name; done
	as ada scontrol update jobid="$(job gang)" NumNodes=1
	scontrol suspend "$(job spare)"
	scontrol resume "$(job spare)"
	as ada scontrol requeue "$(job train)"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	eventually has_run train
	for name in train gang het; do as ada cancel $name; done
	as bob cancel spare
	for name in train gang sweep spare het; do eventually accounted $name; done
	eventually agrees
	[[ $(budgetctl check --all -o json | jq '.rows | length') -ge 9 ]]
	[[ $(budgetctl check --all -o json | jq -c '[.rows[] | .gpu_seconds_books == .gpu_seconds_slurmdbd] | unique') == "[true]" ]]
}
