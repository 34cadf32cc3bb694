# SPDX-License-Identifier: GPL-2.0-or-later
# quote: what a researcher is told before submitting is what sbatch is then told; nothing is written, and nobody learns more than a submission tells.
# time: 180 s
bats_require_minimum_version 1.5.0
load cluster

setup_file()
{
	cluster_up --conf "PartitionName=short Nodes=ALL MaxTime=30"
	deposit vision 8
	printf '#!/bin/bash\n#SBATCH --gpus=2 --time=2:00:00\n#SBATCH --gpu-min-runtime=3h\nsrun ./train\n' >"$CLUSTER_DIR/train.sh"
	chmod 644 "$CLUSTER_DIR/train.sh"
	eventually default_account_known
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; eventually balance_is vision "held=0.00"; }

# Who may use which account is read from slurmdbd by the first passes.
default_account_known()	{ [[ $(quoted .account as ada --gpus=1) == vision ]]; }

# quoted FILTER as USER OPTION...
quoted()
{
	local filter=$1

	shift
	as "$2" budgetctl quote -o json "${@:3}" | jq -r "$filter"
}

# The text that sbatch prints is the reason of the quote, line by line.
told_as_quoted()
{
	local line

	while read -r line; do
		grep -qF -- "$line" <(said) || return 1
	done <<<"$1"
}

@test "a script is quoted with its own lines, by the default account of who asks" {
	output=$(quoted '[.gpus, .array_tasks, .time_limit_s, .min_runtime_s, .hold_gpu_seconds, .tier, .accepted, .account] | @csv' \
		as ada "$CLUSTER_DIR/train.sh")
	[[ $output == '2,1,7200,7200,14400,"funded",true,"vision"' ]]
	output=$(quoted '[.gpus, .types.h100, .hold_gpu_seconds] | @csv' as ada --gpus=h100:4 "$CLUSTER_DIR/train.sh")
	[[ $output == "4,4,28800" ]]
}

@test "what is quoted is what a submission is told, to the letter, and a quote writes nothing" {
	local before options reason

	before=$(budgetctl journal vision -o json; budgetctl hold list --all -o json)
	while read -r options; do
		reason=$(quoted .reason as ada $options)
		as ada submit job $options || true
		told_as_quoted "$reason" || { echo "quote: $reason"; echo "sbatch: $(said)"; return 1; } >&2
		as ada cancel job || true
		eventually balance_is vision "held=0.00"
	done <<-'END'
		--gpus=2 --gpu-min-runtime=3h --time=8:00:00
		--gpus=8 --gpu-min-runtime=3h --time=8:00:00
		--gpus=8 --gpu-min-runtime=3h --time=8:00:00 --gpu-tier=funded
		--gpus=1 --gpu-tier=free --time=60
		--gpus=1 --account=visoin --time=60
		--gpus=1 --array=0-3 --time=60
		--gpus=1 --partition=short
		--gpus=1 --time=60 --no-requeue
		--gpus=1 --time=60 --signal=B:USR1@120
		--gpus=1 --time=60 --hold
	END
	quoted .tier as ada --gpus=2 --gpu-min-runtime=1h --time=60
	[[ $(budgetctl hold list -o json | jq -c .rows) == "[]" && $(units vision held) == 0 ]]
	[[ $before == *'"rows"'* ]]
}

@test "the partition's own time limit counts where none is given" {
	[[ $(quoted .time_limit_s as ada --gpus=1 --partition=short) == 1800 ]]
	[[ $(quoted '.whole_units' as ada --gpus=1 --partition=short) == 1800000 ]]
}

@test "whole nodes are priced whole, which only the cluster knows" {
	[[ $(quoted '[.gpus_min, .gpus_max] | @csv' as ada --gpus=2 --exclusive --nodes=1 --time=10) == *8 ]]
	[[ $(budgetctl quote --offline -o json --gpus=2 --exclusive --nodes=1 --time=10 | jq .gpus) == 2 ]]
}

@test "the components of a het job are quoted together: each fits alone, not both" {
	[[ $(quoted .tier as ada --gpus=2 --time=3:00:00 --gpu-min-runtime=3h) == funded ]]
	[[ $(quoted .tier as ada --gpus=2 --time=3:00:00 --gpu-min-runtime=3h : --gpus=2) == free ]]
	[[ $(quoted .gpus as ada --gpus=2 --time=3:00:00 : --gpus=3) == 5 ]]
}

@test "who is not in an account is not told what it has left" {
	run -0 as carol budgetctl quote --gpus=2 --account=vision
	[[ $output == *"Slurm does not know gpb-carol in account vision"* && $output != *"GPU-h available"* && $output != *"set aside"* ]]
	[[ $(quoted .accepted as carol --gpus=2 --account=vision) == false ]]
	[[ $(quoted .account as carol --gpus=2) == speech ]]
	[[ $(quoted .account as bob --gpus=2 --account=speech) == speech ]]
}

@test "the uid is the caller's, whatever the body says" {
	output=$(as carol curl -s --unix-socket "$CLUSTER_DIR/run/budgetd.socket" http://budgetd/v1/quotes \
		-d '{"uid":0,"account":"vision","tres_per_job":"gres/gpu:2","time_limit_min":60}')
	[[ $(jq .accepted <<<"$output") == false && $(jq -r .reason <<<"$output") == *gpb-carol* ]]
}

@test "a typo of a project is met with the project that was meant" {
	run -0 as ada budgetctl quote --gpus=1 --account=vison
	[[ $output == *"there is no project vison in the budget tree; did you mean vision?"* ]]
	run -1 budgetctl balance spech
	[[ $output == *"did you mean speech?"* ]]
	run -1 budgetctl balance chemistry
	[[ $output == *"budgetctl project list"* ]]
}

@test "a request that makes no sense ends with 1 and says why, in JSON too" {
	run -1 --separate-stderr as ada budgetctl quote -o json --gpus=1 --gpu-min-runtime=9h
	[[ $(jq .gpus <<<"$output") == null && $(jq -r .error <<<"$output") == *"maximum of 8 h"* && $stderr == *"maximum of 8 h"* ]]
	run -1 as ada budgetctl quote --gres=gpu:x:y
	run -2 as ada budgetctl quote --gpuss=1
	run -0 as ada budgetctl quote --ntasks=4
	[[ $output == *"asks for no GPU"* ]]
}

# on_terminal COLUMNS COMMAND...
on_terminal() { env COLUMNS="$1" LANG="${LANG:-C.UTF-8}" script -qec "${*:2}" /dev/null </dev/null | tr -d '\r'; }

widest() { awk '{ if (length($0) > w) w = length($0) } END { print w + 0 }' <<<"$1"; }

@test "on a terminal of 40 columns sentences are wrapped and nothing is lost, in a pipe they are not" {
	local piped narrow

	for command in "quote --gpus=8 --gpu-min-runtime=3h --time=8:00:00 --account=vision" "quote --help" "--help" "balance visoin"; do
		piped=$(budgetctl $command 2>&1 || true)
		narrow=$(on_terminal 40 budgetctl $command || true)
		(($(widest "$narrow") <= 40)) || { echo "$narrow"; return 1; } >&2
		[[ $(tr -s ' \n' '\n\n' <<<"$piped") == "$(tr -s ' \n' '\n\n' <<<"$narrow")" ]]
	done
	(($(widest "$(budgetctl quote --gpus=8 --gpu-min-runtime=3h --time=8:00:00 --account=vision)") > 100))
}

@test "a table that is wider than such a terminal is printed row by row, line by line" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	has_run() { [[ $(budgetctl why "$(job train)" -o json | jq '.runs | length') == 1 ]]; }
	eventually has_run
	for command in "why $(job train)" balance "journal vision" "hold list" "project list" "project show vision" health; do
		output=$(on_terminal 40 budgetctl $command)
		(($(widest "$output") <= 40)) || { echo "$output"; return 1; } >&2
	done
	output=$(on_terminal 40 budgetctl why "$(job train)")
	grep -q "^Covered until  *20" <<<"$output"
	grep -q "^vision  *0.60 " <<<"$output"
	(($(widest "$(budgetctl hold list)") > 80))		# a pipe gets the table
}

@test "LANG=C draws trees in ASCII, and NO_COLOR has nothing to take away" {
	[[ -z $(LC_ALL=C LANG=C budgetctl project list | LC_ALL=C tr -d '\n -~') ]]
	LC_ALL=C LANG=C budgetctl project list | grep -q '^[|`]-'
	[[ $(on_terminal 80 budgetctl project list) != *$'\e'* ]]
	[[ $(NO_COLOR=1 on_terminal 80 budgetctl balance) != *$'\e'* ]]
}

@test "a pipe that is closed early ends it in silence" {
	for command in "quote --gpus=1 --account=vision" "project list" "--help"; do
		output=$( (budgetctl $command | true) 2>&1)
		[[ -z $output ]]
	done
}
