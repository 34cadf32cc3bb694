# SPDX-License-Identifier: GPL-2.0-or-later
# What a researcher may write at submission, in every way Slurm has for it, and what is answered when it makes no sense.
# time: 180 s
load cluster
load accounting

setup_file()
{
	cluster_up --conf "PartitionName=short Nodes=ALL MaxTime=30" --conf "PartitionName=endless Nodes=ALL MaxTime=UNLIMITED"
	sacctmgr -i >/dev/null <<-END
		add account other parent=root
		add user gpb-ada account=other
		modify user gpb-ada set defaultaccount=vision
	END
	deposit vision 1000
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && nothing_held; }

nothing_held()	{ eventually balance_is vision "held=0.00"; }

@test "an account that is no project is refused by its name, and so is one that Slurm does not know" {
	refused ada --gpus=1 --account=other
	says "there is no project other in the budget tree"
	refused ada --gpus=1 --account=visoin
	says "there is no project visoin in the budget tree"
	cannot says "balance"
}

@test "without --account it is the default account that pays" {
	as ada submit train --gpus=1
	says "of vision set aside"
	eventually job_is train RUNNING funded
	[[ $(job_field train Account) == vision ]]
}

@test "an option that makes no sense ends sbatch before anything is sent, and says what is allowed" {
	local option text

	while IFS='|' read -r option text; do
		refused ada --gpus=1 "$option" && says "$text" || { echo "for $option" >&2; return 1; }
	done <<-'END'
		--gpu-min-runtime=9h|longer than this site's maximum of 8 h; ask for 8 h or less
		--gpu-min-runtime=-2h|--gpu-min-runtime
		--gpu-min-runtime=99999999999999999999h|--gpu-min-runtime
		--gpu-min-runtime=2000000h|--gpu-min-runtime
		--gpu-min-runtime=soon|--gpu-min-runtime
		--gpu-min-runtime=|--gpu-min-runtime
		--gpu-min-runtime=UNLIMITED|a minimum runtime has an end
		--gpu-tier=Funded|write funded or free
		--gpu-tier=|write funded or free
		--gpu-team-rank=-1|not a whole number from 0 to 1000
		--gpu-team-rank=1001|not a whole number from 0 to 1000
		--gpu-team-rank=first|not a whole number from 0 to 1000
	END
	refused ada --gpus=1 --gpu-min-runtime=0 --gpu-tier=funded
	says contradict
}

@test "the same options in --comment are judged by budgetd, for users without our options" {
	local comment text

	while IFS='|' read -r comment text; do
		refused ada --gpus=1 --comment="$comment" && says "$text" || { echo "for $comment" >&2; return 1; }
	done <<-'END'
		gpu-min-runtime=9h|longer than this site's maximum of 8 h
		gpu-min-runtime=-2h|--gpu-min-runtime
		gpu-min-runtime=99999999999999999999h|--gpu-min-runtime
		gpu-tier=gold|write funded or free
		paper gpu-team-rank=x figure|not a whole number from 0 to 1000
		gpu-min-runtime=0,gpu-tier=funded|contradict
	END
	as ada submit train --gpus=1 --comment="figure 3, gpu-min-runtime=30m gpu-team-rank=7"
	says "funded: 0.50 GPU-h of vision set aside (1 GPU x 30 min minimum runtime)"
	as ada submit sweep --gpus=1 --comment="gpu-tier=free" --gpu-tier=funded
	says "funded:"
}

@test "GPUs that make no sense, or more than can be counted, are refused and never taken for none" {
	refused ada --gpus=1000000000000
	refused ada --gpus-per-node=1000000000000 --nodes=1
	refused ada --gres=gpu:a100:N
	refused ada --gres=gpu:h100:-1
	refused ada --gres=gpu:99999999999999999999
	asked_of_budgetd 1000000000000 "more than"
	asked_of_budgetd h100:N "N"
	asked_of_budgetd -1 "gpu:-1"
}

# What sbatch itself refuses may still come over REST: the plugin's question is asked by hand.
asked_of_budgetd()
{
	local text

	text=$(curl -s --unix-socket "$CLUSTER_DIR/run/budgetd-slurm.socket" http://localhost/v1/verdicts -d \
		"{\"kind\":\"submit\",\"uid\":$(id -u gpb-ada),\"account\":\"vision\",\"tres_per_node\":\"gres:gpu:$1\",\"min_nodes\":1,\"time_limit_min\":60}")
	[[ $(jq -r .verdict <<<"$text") == reject ]] && grep -qF -- "$2" <<<"$text" || { echo "$text" >&2; return 1; }
}

@test "a minimum runtime above the time limit is cut to it" {
	as ada submit train --gpus=2 --time=30 --gpu-min-runtime=4h
	says "funded: 1.00 GPU-h of vision set aside (2 GPUs x 30 min minimum runtime)"
}

@test "without a time limit the partition's default counts, and where there is none its maximum" {
	as ada submit train --gpus=1 --gpu-min-runtime=8h
	says "(1 GPU x 8 h minimum runtime)"
	as ada submit short --gpus=1 --gpu-min-runtime=8h --partition=short
	says "(1 GPU x 30 min minimum runtime)"
	as ada submit either --gpus=1 --gpu-min-runtime=8h --partition=short,batch
	says "(1 GPU x 8 h minimum runtime)"
}

@test "a job without any time limit runs free, and is refused when it insists on being funded" {
	as ada submit train --gpus=1 --time=UNLIMITED
	says "free tier: the job has no time limit, and only a job with one can be funded; give --time"
	as ada submit sweep --gpus=1 --partition=endless
	says "free tier: the job has no time limit"
	eventually job_is sweep RUNNING free
	refused ada --gpus=1 --partition=endless --gpu-tier=funded
	says "give --time"
	refused ada --gpus=1 --time=UNLIMITED --gpu-tier=funded
	as ada submit timed --gpus=1 --partition=endless --time=60
	says "funded:"
}

@test "the options are the same in sbatch, #SBATCH, srun and salloc, and the job finds them in its environment" {
	local said=$CLUSTER_DIR/job/said

	printf '%s\n' '#!/bin/bash' '#SBATCH --gpus=1 --gpu-min-runtime=20m' '#SBATCH --gpu-tier=funded --gpu-team-rank=3' \
		'env | grep ^GPUBUDGET_[MT]; srun env | grep ^GPUBUDGET_[MT]' |
		as ada sbatch --parsable -o "$CLUSTER_DIR/job/script.out" >"$CLUSTER_DIR/job/script" 2>"$said"
	says "(1 GPU x 20 min minimum runtime)"
	eventually job_is script COMPLETED
	[[ $(sort "$CLUSTER_DIR/job/script.out" | uniq -c | awk '{ print $1, $2 }' | paste -sd' ') == \
		"2 GPUBUDGET_MIN_RUNTIME=20m 2 GPUBUDGET_TEAM_RANK=3 2 GPUBUDGET_TIER=funded" ]]
	as ada srun --gpus=1 --gpu-min-runtime=10m bash -c 'echo "in srun: $GPUBUDGET_MIN_RUNTIME"' >"$said" 2>&1
	says "(1 GPU x 10 min minimum runtime)"
	says "in srun: 10m"
	says "if it is displaced it is cancelled"
	as ada salloc --gpus=1 --gpu-min-runtime=12m bash -c 'echo "in salloc: $GPUBUDGET_MIN_RUNTIME"; srun bash -c "echo its srun: \$GPUBUDGET_MIN_RUNTIME"' >"$said" 2>&1
	says "(1 GPU x 12 min minimum runtime)"
	says "in salloc: 12m"
	says "its srun: 12m"
	says "if it is displaced it is cancelled"
	as ada srun --gpus=1 --gpu-min-runtime=9h true 2>"$said" && return 1
	says "maximum of 8 h"
	as ada salloc --gpus=1 --gpu-tier=gold true 2>"$said" && return 1
	says "write funded or free"
}

@test "with --export=NONE the job still finds its options, and none that its user's shell had" {
	as ada env GPUBUDGET_TIER=stale sbatch --parsable --export=NONE --gpus=1 --gpu-min-runtime=20m -o "$CLUSTER_DIR/job/none.out" \
		--wrap 'env | grep ^GPUBUDGET_[MT]' >"$CLUSTER_DIR/job/none" 2>/dev/null
	as ada env GPUBUDGET_TIER=stale sbatch --parsable --gpus=1 -o "$CLUSTER_DIR/job/stale.out" \
		--wrap 'echo "tier=$GPUBUDGET_TIER"' >"$CLUSTER_DIR/job/stale" 2>/dev/null
	eventually job_is none COMPLETED
	eventually job_is stale COMPLETED
	[[ $(<"$CLUSTER_DIR/job/none.out") == GPUBUDGET_MIN_RUNTIME=20m ]]
	[[ $(<"$CLUSTER_DIR/job/stale.out") == "tier=" ]]
}

@test "who asks for the free tier gets it and is not charged, and who cannot be requeued is told what that means" {
	as ada submit train --gpus=1 --gpu-tier=free --export=JOB_SECONDS=1
	says "free tier, as asked"
	cannot says "cancelled"
	as ada submit sweep --gpus=1 --gpu-min-runtime=0 --no-requeue
	says "free tier, as asked"
	says "if it is displaced it is cancelled"
	eventually job_is sweep RUNNING free
	as ada submit still --gpus=1 --no-requeue
	says "funded:"
	says "if it is displaced it is cancelled"
	eventually accounted train free
	[[ $(charged_units train) == 0 ]]
}

@test "a job without GPUs is not asked about" {
	local before

	before=$(submissions_answered)
	as ada submit prepare --cpus-per-task=2
	as carol srun true
	eventually job_is prepare RUNNING free
	[[ $(submissions_answered) == "$before" ]]
	[[ ! -s $CLUSTER_DIR/job/said ]]
}

@test "a test that starts no job leaves no hold behind" {
	as ada submit x --gpus=2 --gpu-min-runtime=1h --test-only
	says "of vision set aside"
	eventually balance_is vision "held=0.00"
	[[ -z $(squeue -h) ]]
}

@test "a job that Slurm refuses after the budget agreed leaves no hold behind" {
	refused ada --gpus=2 --gpu-min-runtime=1h --partition=nowhere
	refused ada --gpus=2 --gpu-min-runtime=1h --nodes=99
	refused ada --gpus=2 --gpu-min-runtime=1h --reservation=none
	refused ada --gpus=2 --gpu-min-runtime=1h --dependency=afterok:the_other
	refused ada --gpus=2 --gpu-min-runtime=1h --begin=whenever
	[[ -z $(squeue -h) ]]
	eventually balance_is vision "held=0.00 available=1000.00"
}

@test "the rank inside a team orders its own jobs and nobody else's" {
	deposit speech 100
	as bob submit filler --account=vision --nodes=2 --gpus-per-node=8
	eventually job_is filler RUNNING funded
	as ada submit later --gpus=8 --gpu-team-rank=9
	as ada submit sooner --gpus=8 --gpu-team-rank=1
	as bob submit other --gpus=8 --account=speech --gpu-team-rank=500
	ordered() { (($(place other) > $(place sooner) && $(place sooner) > $(place later))); }
	eventually ordered
}

place()	{ local p; p=$(budgetctl why "$(job "$1")" -o json | jq '[.. | objects | .place?][0]') && [[ $p != null ]] && echo "$p"; }

@test "who does not belong to a project can neither lock up its hours nor read them" {
	deposit speech 4
	before=$(units speech held)
	refused ada -A speech --gpus=8 --gpu-min-runtime=20m
	[[ $(said) != *GPU-h* ]]
	[[ $(units speech held) == "$before" ]]
}
