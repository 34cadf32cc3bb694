# SPDX-License-Identifier: GPL-2.0-or-later
# quote --offline: the program itself over every real script of gpu_scripts.tsv, and what it says when a request makes no sense.
# No cluster and no daemon: Slurm need not even be there.
bats_require_minimum_version 1.5.0

setup_file()
{
	export HERE=$BATS_TEST_DIRNAME GPUBUDGET_CONF=$BATS_FILE_TMPDIR/none.conf
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetctl:$PATH
	: >"$GPUBUDGET_CONF"
}

# script_of OPTIONS: "a | b" as #SBATCH lines; what stands behind the first command is no option.
script_of()
{
	echo "#!/bin/bash"
	sed 's/\\t/\t/g; s/ | /\n/g' <<<"$1" | sed 's/^/#SBATCH /'
	echo "srun ./train"
	echo "#SBATCH --gpus=99"
}

# The row's own figure, from what the program printed.
figure()
{
	jq -r '[ if .error then "error"
		elif .gpus_min != .gpus_max then "\(.gpus_min)..\(.gpus_max)"
		elif .gpus == null then "\(.gpus_max)??"
		else "\(.gpus)" end,
		([ .types | to_entries[]? | "\(.key)=\(.value)" ] + [ (.shards // empty) | "shards=\(.)" ] | sort | join(",")),
		.array_tasks, .time_limit_s ] | map(. // "" | tostring) | join("|")' <<<"$1"
}

wanted()
{
	local gpus=$1 types=$2 tasks=$3 limit=$4

	[[ $limit != - ]] || limit=
	[[ $gpus != *[0-9]\? ]] || gpus=${gpus%\?}
	echo "$gpus|$(tr , '\n' <<<"${types/#-/}" | sort | paste -sd,)|$tasks|$limit"
}

@test "every real script gets its figure" {
	local id gpus types tasks limit options said rv rows=0 wrong=0

	while IFS=$'\t' read -r id gpus types tasks limit options; do
		[[ $id != \#* && -n $id ]] || continue
		rows=$((rows + 1))
		rv=0
		script_of "$options" >"$BATS_TEST_TMPDIR/job.sh"
		said=$(budgetctl quote --offline -o json "$BATS_TEST_TMPDIR/job.sh" 2>"$BATS_TEST_TMPDIR/err") || rv=$?
		if [[ $gpus == error ]]; then
			[[ $rv == 1 && $(jq .gpus <<<"$said") == null ]] && jq -r .error <<<"$said" | grep -qF -- "$types" &&
				grep -qF -- "$types" "$BATS_TEST_TMPDIR/err" && continue
		else
			[[ $rv == 0 && $(figure "$said") == "$(wanted "$gpus" "$types" "$tasks" "$limit")" ]] && continue
		fi
		wrong=$((wrong + 1))
		echo "$id: exit $rv, $(figure "$said"), wanted $(wanted "$gpus" "$types" "$tasks" "$limit"): $options" >&2
	done <"$HERE/gpu_scripts.tsv"
	((rows > 100 && wrong == 0))
}

@test "the command line wins over the script, and sbatch's letters keep their meaning" {
	printf '#!/bin/sh\n#SBATCH --gpus=3 -t 60\n' >"$BATS_TEST_TMPDIR/job.sh"
	[[ $(budgetctl quote --offline -o json "$BATS_TEST_TMPDIR/job.sh" | jq -c '[.gpus, .time_limit_s]') == "[3,3600]" ]]
	[[ $(budgetctl quote --offline -o json --gpus=5 "$BATS_TEST_TMPDIR/job.sh" | jq -c '[.gpus, .time_limit_s]') == "[5,3600]" ]]
	[[ $(budgetctl -o json quote --offline --gpus-per-task=2 -n 4 -t 30 -o train.out -J train | jq -c '[.gpus, .time_limit_s]') == "[8,1800]" ]]
	[[ $(budgetctl quote --offline --output=json -G2 - <"$BATS_TEST_TMPDIR/job.sh" | jq -c .gpus) == 2 ]]
	run -0 --separate-stderr budgetctl quote --offline -o json "$BATS_TEST_TMPDIR/job.sh" --gpus=5
	[[ $(jq .gpus <<<"$output") == 3 && $stderr == *"--gpus=5 stands behind the script"* ]]
}

@test "sbatch's variables win over the script, and the command line over them" {
	script_of "--gpus=2 --time=60" >"$BATS_TEST_TMPDIR/job.sh"
	export SBATCH_GPUS=4 SBATCH_TIMELIMIT=30 SBATCH_ARRAY_INX=1-3 SBATCH_NO_REQUEUE=1 SBATCH_EXCLUSIVE=
	[[ $(budgetctl quote --offline -o json --time=20 "$BATS_TEST_TMPDIR/job.sh" | jq -c '[.gpus_min, .time_limit_s, .array_tasks]') == "[4,1200,3]" ]]
	export SBATCH_GPUS=four
	run -1 budgetctl quote --offline "$BATS_TEST_TMPDIR/job.sh"
	[[ $output == *"SBATCH_GPUS=four in the environment: --gpus: "* ]]
}

@test "minimum runtime, tier and price are those that a submission would have" {
	quoted() { budgetctl quote --offline -o json "$@" | jq -c '[.min_runtime_s, .hold_gpu_seconds, .hold_units, .whole_units]'; }

	[[ $(quoted --gpus=2 -t 60) == "[900,1800,1800000,7200000]" ]]
	[[ $(quoted --gpus=2 -t 5) == "[300,600,600000,600000]" ]]
	[[ $(quoted --gpus=2 --gpu-min-runtime=2h --array=0-9) == "[7200,144000,144000000,null]" ]]
	[[ $(quoted --gpus=2 -t 60 --comment="nightly gpu-min-runtime=30m") == "[1800,3600,3600000,7200000]" ]]
	[[ $(quoted --gpus=2 -t 60 --comment="gpu-min-runtime=30m" --gpu-min-runtime=10m) == "[600,1200,1200000,7200000]" ]]
	[[ $(quoted --gpus=2 -t 60 --gpu-tier=free) == "[0,0,0,0]" ]]
	[[ $(quoted --gpus=2 -t 60 : --gpus=1) == "[900,2700,2700000,10800000]" ]]
	[[ $(quoted --ntasks=1) == "[0,0,0,0]" ]]
}

@test "what makes no sense ends with 1, a mistyped option with 2, and JSON stays JSON" {
	run -1 --separate-stderr budgetctl quote --offline -o json --gpus=2 --gpu-min-runtime=100h
	[[ $(jq .gpus <<<"$output") == null && $(jq -r .error <<<"$output") == "${stderr#budgetctl: }" ]]
	run -1 budgetctl quote --offline --gpus=2 --gpu-tier=cheap
	run -1 budgetctl quote --offline --gpus=2 --comment=gpu-tier=cheap
	run -1 budgetctl quote --offline "$BATS_TEST_TMPDIR/missing.sh"
	[[ $output == *"missing.sh cannot be read: No such file"* ]]
	echo "no interpreter" >"$BATS_TEST_TMPDIR/text"
	run -1 budgetctl quote --offline "$BATS_TEST_TMPDIR/text"
	[[ $output == *"is no batch script"* ]]
	run -2 budgetctl quote --offline --gpuss=2
	[[ $output == *"Did you mean --gpus?"* ]]
	run -0 --separate-stderr budgetctl quote --offline --gpus=2 --container-image=pytorch
	[[ $stderr == *"--container-image is not known here and not looked at"* ]]
	run -2 budgetctl quote
	run -3 budgetctl quote --socket /nonexistent --gpus=2
	[[ $output == *"--offline gives the figures without it"* ]]
}

@test "an option that sbatch does not have is told with its line in the script, those that do not concern us are not" {
	printf '#!/bin/sh\n#SBATCH --gpus=3\n#SBATCH --mem=4G --job-name train\n#SBATCH --mail-typ=END\n#SBATCH --gpusss 4\n#SBATCH --container-image=x\n' \
		>"$BATS_TEST_TMPDIR/job.sh"
	run -0 --separate-stderr budgetctl quote --offline -o json "$BATS_TEST_TMPDIR/job.sh"
	[[ $(jq .gpus <<<"$output") == 3 ]]
	[[ $stderr == *"script line 5: sbatch has no option --gpusss. Did you mean --gpus?"* ]]
	[[ $stderr == *"script line 6: --container-image is not known here"* ]]
	[[ $stderr != *"line 2"* && $stderr != *"line 3"* && $stderr != *"line 4"* ]]
}

@test "a budgetd.conf that is named and not there is no reason to go on with the defaults" {
	export GPUBUDGET_CONF=$BATS_TEST_TMPDIR/missing.conf
	run -2 budgetctl quote --offline --gpus=2
	[[ $output == *"GPUBUDGET_CONF names $GPUBUDGET_CONF, which cannot be read: No such file"* ]]
	run -2 budgetctl balance
	[[ $output == *"$GPUBUDGET_CONF"* ]]
	run -2 budgetctl verify
	run -3 budgetctl balance --socket /nonexistent
	echo "default_min_runtime = soon" >"$GPUBUDGET_CONF"
	run -3 budgetctl balance
	[[ $output == *"$GPUBUDGET_CONF:1: "* ]]
}

@test "a reader that goes away ends it in silence" {
	output=$( (budgetctl quote --offline --gpus=2 | true) 2>&1)
	[[ -z $output ]]
}
