# SPDX-License-Identifier: GPL-2.0-or-later
# A node that is to be empty: who leaves it, when, and that it is told beforehand.
# time: 120 s
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 2 --gpus 4 --budgetd "grace = 2s"
	deposit vision 100
}
teardown_file()	{ cluster_down; }

drain_of() { budgetctl drains -o json | jq -r --arg n "$1" --arg k "$2" '[.rows[] | select(.node == $n)][0][$k]'; }
drain_is() { [[ $(drain_of "$1" "$2") == "$3" ]] || { budgetctl drains >&2; return 1; }; }
node_state() { sinfo -h -n "$1" -o %T; }
node_is() { [[ $(node_state "$1") == $2 ]] || { sinfo -N >&2; return 1; }; }
node_reason() { scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
runs_on() { [[ $(job_field "$1" NodeList) == "$2" ]] && job_is "$1" RUNNING; }
told_of() { books "SELECT count(*) FROM event WHERE job = $(job "$1") AND what = 'told' AND reason = '$2'"; }
was_told() { (($(told_of "$1" "$2") == 1)); }
is_in_books() { [[ -n $(books "SELECT id FROM run WHERE job = $(job "$1") AND ended IS NULL") ]]; }
# As if the run had begun longer ago: its minimum is what the books have.
minimum_is_over() { sqlite3 -cmd '.timeout 10000' "$CLUSTER_DIR/budgetd/budget.db" "UPDATE run SET min_runtime = 1 WHERE job = $(job "$1") AND ended IS NULL"; }

@test "users cannot drain, and a node that Slurm does not have is told so" {
	run as ada budgetctl drain g1 -r "mine"
	[[ $status == 4 ]]
	is_no_node() { run budgetctl drain g9 -r "typo"; [[ $status == 1 && $output == *"Slurm has no node g9"* ]]; }
	eventually is_no_node		# before its first pass budgetd knows of none
	run budgetctl drain 'g[1-2]' -r "both"
	[[ $status == 1 && $output == *"each is drained by itself"*"scontrol show hostnames 'g[1-2]'"* ]]
	run budgetctl drain g1
	[[ $status == 2 && $output == *"needs a reason"* ]]
}

@test "a drain says by when the node is empty; runs inside their minimum stay, free ones leave, nothing new starts there" {
	as ada submit filler --gpus=4 --gpu-tier=free --time=8:00:00 --nodelist=g2
	eventually runs_on filler g2
	as ada submit train --gpus=4 --gpu-min-runtime=1h --time=8:00:00
	eventually runs_on train g1
	eventually is_in_books train
	run budgetctl drain g1 -r "fan 3 is loud" -o json
	[[ $status == 0 ]]
	start=$(books "SELECT start FROM run WHERE job = $(job train)")
	empty_at=$(jq -r "[.. | objects | .empty_at?][0]" <<<"$output")
	[[ $empty_at == $((start + 3602)) ]] || { echo "empty at $empty_at, started $start, answer $output" >&2; false; }
	eventually node_is g1 "draining*"
	[[ $(node_reason g1) == "gpubudget: fan 3 is loud (root)" ]]
	drain_is g1 last_job "$(job train)"
	budgetctl drain g2 -r "and this one" >/dev/null
	eventually was_told filler NODE_DRAIN
	eventually node_is g2 "drained*"
	runs_on train g1
	as ada submit later --gpus=1 --gpu-min-runtime=1h
	eventually job_is later PENDING
}

@test "undrain gives a node back" {
	budgetctl undrain g2 >/dev/null
	eventually runs_on later g2
	[[ $(node_reason g2) == "" || $(node_state g2) != *drain* ]]
	drain_is g2 node null
}

@test "past its minimum a run is told, has its grace, and goes on elsewhere; the node is empty then" {
	minimum_is_over train
	as ada cancel later
	eventually requeued train 1
	eventually wrote train "checkpoint: begun"
	was_told train NODE_DRAIN
	eventually node_is g1 "drained*"
	eventually runs_on train g2
	eventually is_in_books train
	budgetctl undrain g1 >/dev/null
	eventually node_is g1 idle
}

@test "critical spares nobody, and what the run had is given back" {
	eventually runs_on train g2
	budgetctl drain g2 --critical -r "smoke" >/dev/null
	eventually was_told train HEALTH
	eventually runs_on train g1
	refunded() { [[ $(budgetctl run list -o json | jq --arg j "$(job train)" '[.rows[] | select(.job == $j and .refunded_units > 0)] | length') -ge 1 ]]; }
	eventually refunded
	budgetctl undrain g2 >/dev/null
	eventually node_is g2 idle
}

@test "what an administrator drains with scontrol empties too, and budgetctl tells so but does not end it" {
	eventually is_in_books train
	minimum_is_over train
	scontrol update nodename=g1 state=drain reason="by hand"
	eventually drain_is g1 reason "by hand"
	eventually runs_on train g2
	eventually node_is g1 "drained*"
	run budgetctl undrain g1
	[[ $status == 1 && $output == *"is not drained by budgetctl"* ]]
	scontrol update nodename=g1 state=resume
	eventually node_is g1 idle
	books_are_right
}
