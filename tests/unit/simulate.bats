# SPDX-License-Identifier: GPL-2.0-or-later
# budgetctl simulate: the program itself over traces. No cluster and no daemon.
bats_require_minimum_version 1.5.0

setup()
{
	export GPUBUDGET_CONF=$BATS_FILE_TMPDIR/none.conf
	PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetctl:$PATH
	cd "$BATS_TEST_TMPDIR"
}

scenario() { awk -f "$BATS_TEST_DIRNAME/../bench/scenario" "$@"; }
simulate() { budgetctl simulate "$@"; }

two_projects()
{
	cat >trace.csv <<-'END'
	submit_s,duration_s,gpus,project,user,min_runtime_s,resumable
	0,20000,8,vision,ada,3600,1
	61,3600,8,text,bob,3600,1
	62,600,8,bio,cy,0,1
	END
}

@test "the figures of a small trace, in JSON and as a table" {
	two_projects
	simulate --trace trace.csv --nodes 1 --gpus-per-node 8 -o json >json
	[[ $(jq -c '[.jobs, .displacements, .lost_gpu_s, .cancelled, .gpus]' json) == "[3,1,960,0,8]" ]]
	[[ $(jq -c '[.projects[] | .name, .owed_gpu_s, .delivered_gpu_s, .free_gpu_s]' json) == '["vision",64853,160960,0,"text",28800,28800,0,"bio",0,0,4800]' ]]
	[[ $(jq -c '.wait_s["5-8"].jobs, (.delivered_over_owed == 1), (.occupancy > 0.9 and .occupancy <= 1), (.wall_s >= 0)' json | tr '\n' ' ') == "3 true true true " ]]
	run -0 simulate --trace trace.csv --nodes 1
	[[ $output == *"contract"*"vision"*"3 jobs, 8 GPUs"* ]]
	[[ $(simulate --trace trace.csv --nodes 1 -n -o csv | cut -d, -f1,2,8 | tr -d '\r' | tr '\n' ' ') == "contract,vision,1 contract,text,0 contract,bio,0 " ]]
}

@test "in projects that are divided the user who had less goes first, and each project is owed the same" {
	cat >users.csv <<-'END'
	submit_s,duration_s,gpus,project,user,min_runtime_s,resumable
	0,20000,8,vision,ada,3600,1
	61,3600,8,vision,bob,3600,1
	END
	simulate --trace users.csv --nodes 1 -o json >whole
	simulate --trace users.csv --nodes 1 --user-shares yes -o json >divided
	[[ $(jq -c '[.displacements, .wait_all_s.p90 > 15000]' whole) == "[0,true]" ]] || { cat whole; false; }
	[[ $(jq -c '[.displacements >= 1, .wait_all_s.p90 < 5000]' divided) == "[true,true]" ]] || { cat divided; false; }
	[[ $(jq -c '[.projects[] | .name, .owed_gpu_s]' whole) == "$(jq -c '[.projects[] | .name, .owed_gpu_s]' divided)" ]]
	[[ $(jq -c '[.projects[].name]' divided) == '["vision"]' ]]
	run -2 simulate --trace users.csv --user-shares maybe
	[[ $output == *"neither yes nor no"* ]]
}

@test "the same seed gives the same figures, and baselines stand beside them" {
	scenario -v kind=honest -v days=2 >trace.csv
	simulate --trace trace.csv --seed 7 --baseline priority,fifo --baseline fairtree,fifo -o json | jq 'del(.. | .wall_s?)' >a
	simulate --trace trace.csv --seed 7 --baseline priority,fifo,fairtree -o json | jq 'del(.. | .wall_s?)' >b
	cmp a b
	[[ $(jq -c '[.scheduler, .baselines[].scheduler]' a) == '["contract","priority","fifo","fairtree"]' ]]
	[[ $(jq -c '[.until_s, .baselines[].until_s] | unique | length' a) == 1 && $(jq -c '[.baselines[].displacements] | add' a) == 0 ]]
	[[ $(jq -c '[.projects[].owed_gpu_s] == [.baselines[0].projects[].owed_gpu_s]' a) == true ]]
}

@test "at 2.5 times the supply each project gets what it is owed, and no GPU is idle" {
	scenario -v kind=honest -v days=7 >trace.csv
	simulate --trace trace.csv --baseline priority -o json >json
	jq -e '.delivered_over_owed >= 0.98 and .worst_project >= 0.95 and .occupancy >= 0.97' json
	jq -e '.baselines[0].worst_project < 0.9' json
}

@test "a debug job starts within a pass where free runs can give way" {
	scenario -v kind=day -v days=2 >trace.csv
	simulate --trace trace.csv -o json >json
	jq -e '.wait_lane_s.p90 <= 30 and .wait_lane_s.jobs > 500 and .free_reclaimed > 0 and .free_share > 0.1' json
}

@test "no adversary gets more than its share" {
	local kind

	for kind in eight-hours chains own-requeue parked split squatter; do
		scenario -v kind=$kind -v days=7 >trace.csv
		simulate --trace trace.csv -o json >json
		jq -e '[.projects[] | select(.name == "p5") | .delivered_gpu_s] [0] / .delivered_gpu_s < 0.21' json || { echo "$kind"; cat json; return 1; }
		jq -e '[.projects[] | .ratio] | min > 0.95' json || { echo "$kind"; cat json; return 1; }
	done
}

@test "shares on the command line, with decimals, and as a tree" {
	two_projects
	simulate --trace trace.csv --nodes 1 --until 100s --share vision=0.25 --share text=.75 --share bio=0 -o json >json
	[[ $(jq -c '[.projects[].owed_gpu_s]' json) == "[200,312,0]" ]]
	printf '%s\n' project,parent,share ai,,3 vision,ai,1 text,ai,1 bio,,1 >tree
	simulate --trace trace.csv --nodes 1 --until 100s --tree tree -o json >json
	[[ $(jq -c '[.projects[].owed_gpu_s]' json) == "[300,300,0]" ]]
}

@test "what sacct gave is a trace, too" {
	printf '%s\n' 'JobIDRaw|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES' \
		'1|vision|ada|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=4' \
		'1.batch|vision||COMPLETED|2026-07-01T01:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=4' \
		'2|text|bob|COMPLETED|2026-07-01T00:30:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|cpu=1' \
		'3|text|bob|RUNNING|2026-07-01T00:30:00|2026-07-01T01:00:00|Unknown|3600|gres/gpu=1' >rows
	run -0 --separate-stderr simulate --trace rows -o json
	[[ $(jq -c '[.jobs, .projects[0].delivered_gpu_s]' <<<"$output") == "[1,14400]" && $stderr == *"1 row is set aside in rows"*"not ended"* ]]
}

@test "the picture has a row a GPU and is drawn for each scheduler" {
	two_projects
	simulate --trace trace.csv --nodes 1 --svg x.svg --baseline fifo >/dev/null
	xmllint --noout x.svg x-fifo.svg
	[[ $(grep -c '<rect' x.svg) -ge 24 && $(<x.svg) == *"vision"*"bio"* && $(<x-fifo.svg) == *"<title>fifo"* ]]
}

@test "what is wrong is said, with what to do" {
	two_projects
	run -2 simulate
	[[ $output == *"--trace FILE"* ]]
	run -1 simulate --trace none.csv
	[[ $output == *"No such file"* ]]
	run -2 simulate --trace trace.csv --share vision=1
	[[ $output == *"project text of the trace has no weight"*"--share text=WEIGHT"* ]]
	run -2 simulate --trace trace.csv --share vision
	[[ $output == *"PROJECT=WEIGHT"* ]]
	run -2 simulate --trace trace.csv --baseline lottery
	[[ $output == *"none of priority, fifo and fairtree"* ]]
	run -2 simulate --trace trace.csv --nodes 0
	[[ $output == *"--nodes"*"not a number from 1"* ]]
	run -2 simulate --trace trace.csv --share vision=0x10
	[[ $output == *"PROJECT=WEIGHT"* ]]
	run -2 simulate --trace trace.csv --until 0
	[[ $output == *"--until: 0 leaves nothing to replay"* ]]
	run -2 simulate --trace trace.csv --baseline ""
	[[ $output == *"--baseline: nothing is named"* ]]
	sed '1s/resumable/resumeable/' trace.csv >bad.csv
	run -1 simulate --trace bad.csv
	[[ $output == *"a column resumeable: did you mean resumable?"* ]]
	echo "a,b" >bad.csv
	run -1 simulate --trace bad.csv
	[[ $output == *"columns are missing"* ]]
	printf '%s\n' project,parent,share vision,ai,1 >tree
	run -2 simulate --trace trace.csv --tree tree
	[[ $output == *"line 2 of the tree: ai does not stand before vision"* ]]
}

@test "a trace from a pipe, and the tree as budgetctl lists it" {
	two_projects
	printf '%s\r\n' name,parent,path,depth,share,on_exhausted,owners ai,,ai,0,3,inherit,'"eve,mia"' vision,ai,ai.vision,1,1,inherit, \
		text,ai,ai.text,1,1,inherit, bio,,bio,0,1,reject, >tree
	simulate --trace - --nodes 1 --until 100s --tree tree -o json <trace.csv >a
	simulate --trace <(cat trace.csv) --nodes 1 --until 100s --tree tree -o json >b
	[[ $(jq -c '[.projects[].owed_gpu_s]' a) == "[300,300,0]" ]]
	cmp <(jq 'del(.wall_s)' a) <(jq 'del(.wall_s)' b)
	{ printf '\xef\xbb\xbf'; cat trace.csv; } >bom.csv
	simulate --trace bom.csv --nodes 1 --until 100s --tree tree -o json >b
	cmp <(jq 'del(.wall_s)' a) <(jq 'del(.wall_s)' b)
}
