# SPDX-License-Identifier: GPL-2.0-or-later
# Whose turn it is: the debug lane, weekly slots, and what people are told of it.
# time: 75 s
load cluster

setup_file()
{
	cluster_up --nodes 1 --gpus 4 && deposit vision 100 && deposit speech 100
}

teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

# goes_before A B: by the places that are published.
goes_before()
{
	local a b

	a=$(job_field "$1" Priority) b=$(job_field "$2" Priority)
	((a > b)) || { echo "$1 has $a, $2 has $b" >&2; return 1; }
}

@test "a debug job goes before all others, in a pass, and of one user one at a time" {
	as ada submit train --gpus=4 --time=240
	eventually job_is train RUNNING
	as carol submit big --gpus=4 --time=240			# speech has used nothing: by share it is first
	as bob submit try --account=vision --gpus=1 --gpu-min-runtime=5m --time=30
	as bob submit again --account=vision --gpus=1 --gpu-min-runtime=5m --time=30
	eventually goes_before try big
	eventually goes_before big again
	as ada cancel train
	eventually job_is try RUNNING funded
	# The others are idle, and a gang that waits in front does not have them.
	as ada salloc --gpus=1 --gpu-min-runtime=5m --time=30 true
	job_is try RUNNING
	job_is big PENDING
	goes_before big again
}

@test "inside its weekly slot a project goes first" {
	local at slot

	# Since up to a minute ago, for as long as the test takes.
	at=(--day "$(date -u +%a)" --from "$(date -u +%H:%M)" --hours 1 --share 100)
	as ada submit train --gpus=2 --time=240
	as carol submit listen --gpus=2 --time=240
	eventually job_is train RUNNING
	eventually job_is listen RUNNING
	as ada submit theirs --gpus=4 --time=240		# they have the larger share
	as carol submit ours --gpus=4 --time=240
	eventually goes_before theirs ours
	[[ $(budgetctl slot add speech "${at[@]}" --dry-run -o json | jq .dry_run) == true ]]
	[[ $(budgetctl slot list -n -o parsable | wc -l) == 0 ]]
	rv=0; as carol budgetctl slot add speech "${at[@]}" 2>/dev/null || rv=$?	# it is theirs who stand above
	((rv == 4))
	budgetctl project add bare --parent ai --share 0 >/dev/null
	[[ $(budgetctl slot add bare "${at[@]}" --dry-run 2>&1) == *"bare has share 0"*"no effect"*"budgetctl share set bare"* ]]
	budgetctl slot add speech "${at[@]}" --reason "the deadline" --request-id s1 >/dev/null
	slot=$(budgetctl slot add speech "${at[@]}" --reason "the deadline" --request-id s1 -o json | jq .id)
	as carol budgetctl slot list speech | grep -qE "speech .*for 1 h up to 100 % +UTC +yes"
	eventually goes_before ours theirs
	why ours | grep -qF "inside a weekly slot of its own"
	[[ $(why ours) != *"has used less"* ]]
	rv=0; said=$(budgetctl slot remove 99999999999999999999 2>&1) || rv=$?
	((rv == 1))
	[[ $said == *'"99999999999999999999" is not the id of a slot'* ]]
	budgetctl slot remove "$slot" --reason "it is over" >/dev/null
	eventually goes_before theirs ours
	[[ $(budgetctl changes speech -o json | jq -r '[.rows[] | select(.what | startswith("slot ")) | .reason] | join(",")') == "it is over,the deadline" ]]
	budgetctl verify >/dev/null
}

@test "in a project that is divided among its users the one who had less goes first" {
	as ada submit train --gpus=4 --time=240
	eventually job_is train RUNNING
	as ada submit hers --gpus=4 --time=240
	as bob submit his --account=vision --gpus=4 --time=240
	eventually goes_before hers his				# who came first
	budgetctl project set vision --user-shares=yes --reason "everybody has a turn" >/dev/null
	eventually goes_before his hers
	why hers | grep -qF "gpb-bob has used less of theirs and goes first."
	budgetctl -o json why "$(job hers)" | jq -e '.levels[-1] | .user == "gpb-ada" and .ahead == "gpb-bob" and .project == "vision"' >/dev/null
	as bob budgetctl tree vision -o json | jq -e '[.rows[] | select(.user) | .name] == ["gpb-ada", "gpb-bob"]' >/dev/null
	budgetctl share set vision/gpb-bob 0 --reason "next week again" >/dev/null
	eventually goes_before hers his
	budgetctl share list vision -n -o parsable | grep -qE "^gpb-bob\|.*\|0\|?$"
	budgetctl share set vision/gpb-bob 1 >/dev/null
	rv=0; said=$(budgetctl share set ai/gpb-bob 3 2>&1) || rv=$?
	((rv == 1))
	[[ $said == *"it has projects below it"* ]]
	rv=0; as bob budgetctl share set vision/gpb-bob 3 2>/dev/null || rv=$?
	((rv == 4))
	budgetctl project set vision --user-shares=inherit >/dev/null
	budgetctl verify >/dev/null
}

@test "why tells whose turn it is and who may give way, and a submission what displacement will mean" {
	as ada submit train --gpus=4 --time=240
	says "When it has run for 15 min it may be displaced: what srun started in it gets SIGTERM (its script only with --signal=B:USR1), and 2 min later it is requeued."
	eventually job_is train RUNNING
	as carol submit big --gpus=4 --time=240
	as carol submit gift --gpus=1 --gpu-tier=free --time=240
	says "When it is displaced all its processes get SIGTERM, and it is requeued."
	as bob submit try --account=vision --gpus=1 --gpu-min-runtime=5m --time=30
	eventually goes_before try big
	eventually goes_before big gift
	why big | grep -qF "It is number 2 of 2 funded jobs in the order."
	why big | grep -qE "The first that may give way to it is .*\(4 GPUs\), whose minimum runtime ends in 1[0-9] min"
	budgetctl -o json why "$(job big)" | jq -e '.victim.project == "vision" and .turn.front == "share" and .requeueable' >/dev/null
	why try | grep -qF "it is in the debug lane, which goes first"
	why try | grep -qF "Of the debug lane its user has had 0.00 of 2.00 GPU-h today."
	why gift | grep -qF "It is number 1 of 1 free jobs in the order"
	why train | grep -qF "The run of job $(job train) is protected for"
}

@test "a job's environment says what its run is, also after it went to another tier while it waited" {
	local out=$CLUSTER_DIR/job/facts.out id

	id=$(as bob sbatch --parsable --account=vision --gpus=1 --gpu-min-runtime=5m --time=30 -o "$out" --open-mode=append \
		--wrap 'env | grep ^GPUBUDGET_JOB | sort | tr "\n" " "; echo; exec sleep 3600' 2>/dev/null)
	echo "$id" >"$CLUSTER_DIR/job/facts"
	tells() { grep -qF -- "$1" "$out" || { cat "$out" >&2; return 1; }; }
	eventually tells "GPUBUDGET_JOB_GRACE=120 GPUBUDGET_JOB_MIN_RUNTIME=300 GPUBUDGET_JOB_PROJECT=vision GPUBUDGET_JOB_RUN=1 GPUBUDGET_JOB_TIER=funded "
	eventually tier_is facts funded		# a pass has seen it
	scontrol requeuehold "$id"
	eventually job_is facts PENDING
	eventually as bob budgetctl job set "$id" --tier free		# once a pass has seen that it waits
	eventually job_is facts PENDING free
	scontrol release "$id"
	eventually tells "GPUBUDGET_JOB_GRACE=0 GPUBUDGET_JOB_MIN_RUNTIME=0 GPUBUDGET_JOB_PROJECT=vision GPUBUDGET_JOB_RUN=2 GPUBUDGET_JOB_TIER=free "
	as bob srun --account=vision --gpus=1 --gpu-min-runtime=5m bash -c 'echo "$GPUBUDGET_JOB_TIER $GPUBUDGET_JOB_MIN_RUNTIME"' 2>/dev/null |
		grep -qx "funded 300"
	as bob srun --account=vision --gpus=1 bash -c 'echo "$GPUBUDGET_JOB_TIER $GPUBUDGET_JOB_MIN_RUNTIME"' 2>/dev/null | grep -qx "funded 900"
}
