# SPDX-License-Identifier: GPL-2.0-or-later
# Moving GPU-hours by hand: who may, what it does, what it says, and that a dry run does nothing. One daemon, without a Slurm.
load alone

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR/m PEOPLE=$BATS_FILE_TMPDIR/m/people
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$DIR"
	alone_start "$DIR"
	ctl project add ai --owners nobody
	ctl project add vision --parent ai
	ctl project add speech --parent ai
	ctl allocation add ai 100 -r grant
	ctl allocation add vision 20 -r grant
	ctl allocation add speech 10 -r grant
}

teardown_file()	{ stop; }

# alone_stop waits for a child; this daemon is one of setup_file's.
stop()		{ kill -TERM "$(<"$DIR/pid")" && eventually gone; }
gone()		{ ! process_id "$(<"$DIR/pid")" >/dev/null; }
teardown()	{ alone_answers "$DIR"; }

ctl()		{ "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" "$@"; }
amount()	{ ctl -o json balance "$1" | jq '.rows[0].amount_units / 3600000'; }
journal()	{ ctl -o json journal --limit 0 | jq '.rows | length'; }
entry()		{ ctl -o json journal "$1" | jq '.rows[0].id'; }
# refused EXIT TEXT COMMAND...
refused()
{
	local want=$1 text=$2 rv=0 said

	shift 2
	said=$("$@" 2>&1) || rv=$?
	[[ $rv == "$want" && $said == *"$text"* ]] || { echo "$* gave $rv: $said" >&2; return 1; }
}

@test "every write can be tried without being done" {
	local before
	before=$(journal)
	ctl deposit vision 5 -r try --dry-run
	ctl allocation add vision 5 -r try --dry-run
	ctl withdraw vision 5 -r try --dry-run
	ctl adjust vision -5 -r try --dry-run
	ctl transfer vision speech 5 -r try --dry-run
	ctl void "$(entry vision)" -r try --dry-run
	ctl allocation set 1 --burst 0 --dry-run
	refused 1 "20.00 GPU-h" ctl withdraw vision 21 -r try --dry-run
	[[ $(ctl deposit vision 5 -r $'ours\nBalance  9,999.00' --dry-run 2>/dev/null | grep -c ^Balance) == 1 ]]
	ctl deposit vision 5 -r $'ours\nBalance  9,999.00' --dry-run 2>/dev/null | grep -q "^Reason  *ours Balance"
	[[ $(journal) == "$before" && $(amount vision) == 20 && $(amount speech) == 10 ]]
	[[ $(ctl -o json allocation list vision | jq '.rows | length') == 1 ]]
	api "$PEOPLE" POST /v1/deposits -d '{"project":"vision","amount_units":1,"dry_run":true}'
	answered 200 '"dry_run":true'
}

@test "a transfer between siblings moves what they have and nothing above them, once for each request id" {
	ctl transfer vision speech 4 -r "speech has a deadline" --request-id once
	ctl transfer vision speech 4 -r "speech has a deadline" --request-id once
	[[ $(amount vision) == 16 && $(amount speech) == 14 && $(amount ai) == 100 ]]
	ctl -o json journal speech | jq -e '.rows[0] | .kind == "transfer" and .reason == "speech has a deadline" and .actor == "root"'
}

@test "one request id is one write, over all kinds, projects and people, and a refusal tells nothing of the other" {
	local said
	as_owner() { as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" "$@"; }
	ctl deposit vision 5 -r "a secret" --request-id K1
	ctl deposit vision 5 -r "the same again" --request-id K1
	[[ $(amount vision) == 21 ]]
	refused 1 "the request id K1 was used for another write" ctl withdraw vision 3 -r x --request-id K1
	refused 1 "the request id K1 was used for another write" ctl deposit speech 5 -r x --request-id K1
	refused 1 "the request id K1 was used for another write" ctl deposit vision 6 -r x --request-id K1
	refused 1 "the request id K1 was used for another write" ctl rate set k1 2 -r x --request-id K1
	refused 1 "the request id K1 was used for another write" ctl project set vision --share 7 --request-id K1
	refused 1 "the request id K1 was used for another write" ctl project add k1 --request-id K1
	refused 1 "the request id K1 was used for another write" ctl request vision 5 -r x --request-id K1
	ctl project set ai --remove-owners nobody
	ctl project set speech --add-members nobody
	said=$(as_owner request speech 5 -r x --request-id K1 2>&1) && return 1
	[[ $said == *"used for another write"* && $said != *secret* && $said != *vision* ]]
	ctl project set speech --remove-members nobody
	ctl project set ai --add-owners nobody
	refused 1 "those that begin with budgetd:" as_owner transfer vision speech 1 -r mine --request-id budgetd:run-1-charge-1
	refused 1 "those that begin with check:" as_owner transfer vision speech 1 -r mine --request-id check:1-2-end-0
	[[ $(amount vision) == 21 && $(amount speech) == 14 ]]
	ctl withdraw vision 5 -r "as before"
}

@test "a void reverses the whole transfer, once" {
	local id
	id=$(entry speech)
	ctl void "$id" -r "it was the wrong project"
	[[ $(amount vision) == 20 && $(amount speech) == 10 ]]
	refused 1 "voided already" ctl void "$id" -r again
	refused 1 "of kind void" ctl void "$(entry speech)" -r again
}

@test "an adjustment goes up and down, and a withdrawal takes what is there" {
	ctl adjust vision 1.5 -r "counted twice"
	ctl adjust vision -2.5 -r "counted thrice"
	[[ $(amount vision) == 19 ]]
	ctl withdraw vision 9 -r "back to the pool"
	[[ $(amount vision) == 10 ]]
	refused 1 "10.00 GPU-h that are neither charged nor held, 11.00 were asked for" ctl withdraw vision 11 -r more
	ctl deposit vision 10 -r "as before"
}

@test "a write without a reason, of nothing, or of what is not there is refused" {
	refused 2 "reason" ctl withdraw vision 1
	refused 2 "reason" ctl transfer vision speech 1
	refused 2 "reason" ctl refund 1
	refused 2 "nothing" ctl withdraw vision 0 -r x
	refused 2 "2x" ctl void 2x -r x
	refused 1 "no charge 1" ctl refund 1 -r x
	refused 1 "no journal entry 9999" ctl void 9999 -r x
	refused 1 "allocation 1 is not one of vision" ctl withdraw vision 1 --allocation 1 -r x
	api "$PEOPLE" POST /v1/withdrawals -d '{"project":"vision","amount_units":1}'
	answered 400 '\"reason\" is missing'
}

@test "the owner of a project moves what is below it, and nothing else" {
	as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" transfer vision speech 1 -r mine
	as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" withdraw speech 1 -r mine
	ctl deposit vision 1 -r "as before"
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" withdraw ai 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" deposit vision 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" adjust vision 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" refund 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" void 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" allocation set 1 --burst 1
	ctl project set ai --remove-owners nobody
	ctl project set vision --add-owners nobody
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" transfer vision speech 1 -r mine
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" withdraw vision 1 -r mine
	[[ $(amount vision) == 20 && $(amount speech) == 10 ]]
}

@test "an allocation that vests can be used little by little, and one without an end cannot vest" {
	local id
	ctl project add slow --parent ai
	id=$(ctl -o json allocation add slow 100 --starts now --ends now+100d --vests yes --burst 10 --carry-over 20 -r grant | jq .id)
	ctl -o json balance slow | jq -e '.rows[0] | .available_units >= 36000000 and .available_units < 36100000 and .amount_units == 360000000'
	ctl allocation set "$id" --vests no
	ctl -o json balance slow | jq -e '.rows[0].available_units == 360000000'
	ctl -o json allocation show "$id" | jq -e '.carry_over_percent == 20 and .vests == false'
	refused 1 "without an end cannot vest" ctl allocation set 1 --vests yes
	refused 2 "percentage" ctl allocation set "$id" --carry-over 101
}

# hold TYPE=N: units that a job of an hour would set aside.
would_hold()
{
	api "$DIR/slurm" POST /v1/verdicts -d "{\"kind\":\"submit\",\"uid\":0,\"account\":\"rates\",\"tres_per_job\":\"$1\",\"num_tasks\":1,
		\"min_nodes\":1,\"time_limit_min\":60,\"min_runtime\":\"1h\"}"
	answered 200 accept
	ctl -o json hold list rates | jq '.rows[0].units'
}
would_hold_is() { [[ $(would_hold "$1") == "$2" ]]; }

@test "a job is set aside for by the rate of its type, and a rate is never set for the past" {
	ctl project add rates
	ctl allocation add rates 1000 -r grant
	[[ $(would_hold gres:gpu:h100:2) == 7200000 ]]
	ctl rate set h100 2.5 -r "list price" --dry-run
	[[ $(would_hold gres:gpu:h100:2) == 7200000 ]]
	ctl rate set h100 2.5 -r "list price"
	ctl rate set default 0.5 -r "list price"
	ctl rate set h100 9 --starts now+1d -r "from tomorrow"
	eventually would_hold_is gres:gpu:h100:2 18000000		# from the next second on
	eventually would_hold_is gres:gpu:2 3600000
	[[ $(ctl -o json rate list | jq -c '[.rows[].thousandths]') == "[2500,500,9000]" ]]
	refused 1 "before now" ctl rate set h100 1 --starts 2020-01-01 -r x
	refused 1 "from 0.001" ctl rate set h100 0 -r x
	refused 2 "three decimals" ctl rate set h100 1.2345 -r x
	refused 4 "administrator" as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" rate set h100 1 -r x
}

@test "shards cost nothing until they have a rate, and then each its own" {
	api "$DIR/slurm" POST /v1/verdicts -d '{"kind":"submit","uid":0,"account":"rates","tres_per_job":"gres:shard:4","num_tasks":1,"min_nodes":1,"time_limit_min":60,"min_runtime":"1h"}'
	answered 200 '"tier":"none"'
	ctl rate set shard 0.125 -r "an eighth"
	eventually would_hold_is gres:shard:4 1800000
}

@test "rates outlive a restart" {
	local before
	before=$(ctl -o json rate list)
	stop
	alone_start "$DIR"
	[[ $(ctl -o json rate list) == "$before" && $(would_hold gres:gpu:h100:2) == 18000000 ]]
}

@test "a member asks for GPU-hours, and who stands above decides once, in the open" {
	local id
	as_member() { as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" "$@"; }
	refused 4 "not a member" as_member request rates 5 -r please
	ctl project set vision --remove-owners nobody
	ctl project set vision --add-members nobody
	id=$(as_member -o json request vision 5 -r "a deadline in May" | jq .id)
	refused 2 "reason" as_member request vision 5
	refused 4 "administrator" as_member request approve "$id" -r "I allow it myself"
	ctl -o json request list vision | jq -e '.rows | length == 1 and .[0].state == "open" and .[0].actor == "nobody"'
	ctl request approve "$id" 3 -r "three must do" --dry-run
	[[ $(amount vision) == 20 ]]
	ctl request approve "$id" 3 -r "three must do" --request-id d
	ctl request approve "$id" 3 -r "three must do" --request-id d
	[[ $(amount vision) == 23 ]]
	ctl -o json journal vision | jq -e '.rows[0] | .kind == "deposit" and (.reason | contains("a deadline in May"))'
	refused 1 "was approved before, by root: three must do" ctl request refuse "$id" -r "no"
	ctl project set ai --add-owners nobody
	id=$(ctl -o json request vision 50 -r more | jq .id)
	as_member request refuse "$id" -r "not this month"
	as_member -o json request list --all vision | jq -e '.rows | map(.state) == ["refused", "approved"]'
	[[ $(amount vision) == 23 && $(ctl -o json request list | jq '.rows | length') == 0 ]]
	refused 1 "no request 99" ctl request approve 99 -r x
}

@test "a cap bounds one user of a project, and its owner sets it" {
	local ask='"kind":"submit","uid":65534,"account":"capped","tres_per_job":"gres:gpu:4","num_tasks":1,"min_nodes":1,"time_limit_min":240,"min_runtime":"2h"'
	as_member() { as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" "$@"; }
	ctl project add capped
	refused 1 "no allocation" ctl cap set capped nobody 6
	ctl allocation add capped 100 -r grant
	refused 4 "administrator" as_member cap set capped nobody 6
	refused 1 "there is no user nemo" ctl cap set capped nemo 6
	ctl cap set capped nobody 6 -r "until he has learned it" --dry-run
	[[ $(ctl -o json cap list capped | jq '.rows | length') == 0 ]]
	ctl cap set capped nobody 6 -r "until he has learned it" --request-id c
	ctl cap set capped nobody 6 -r "until he has learned it" --request-id c
	refused 1 "used for another write" ctl cap set capped nobody 60 -r "until he has learned it" --request-id c
	api "$DIR/slurm" POST /v1/verdicts -d "{$ask}"
	answered 200 '2.00 of 6.00 GPU-h of your cap in capped left'
	api "$DIR/slurm" POST /v1/verdicts -d "{$ask}"
	answered 200 'your cap of 6.00 GPU-h in capped leaves 2.00 (4.00 held, 0.00 charged)'
	api "$DIR/slurm" POST /v1/verdicts -d "{${ask/65534/0}}"
	answered 200 'funded: 4.00 GPU-h of capped set aside'
	ctl -o json cap list capped | jq -e '.rows == [{project: "capped", user: "nobody", cap_units: 21600000, charged_units: 0,
		held_units: 14400000, left_units: 7200000}]'
	ctl project set capped --add-owners nobody
	as_member -o json balance capped | jq -e '.rows[0] | .cap_units == 21600000 and .cap_left_units == 7200000'
	as_member cap set capped nobody none -r "he has"
	[[ $(as_member -o json cap list capped | jq '.rows | length') == 0 ]]
	ctl -o json changes capped | jq -e '[.rows[] | select(.what == "cap_units")] | .[0].change == "cap of nobody: 6.00 GPU-h -> none" and
		.[0].actor == "nobody" and .[1].change == "cap of nobody: none -> 6.00 GPU-h" and .[1].reason == "until he has learned it" and length == 2'
}

@test "nothing is put into an allocation that has ended, and a project can begin with 0" {
	local end id
	end=$(($(date +%s) + 2))
	ctl project add zero
	ctl allocation add zero 0 -r "to begin with"
	ctl -o json balance zero | jq -e '.rows[0] | .metered and .available_units == 0'
	api "$PEOPLE" POST /v1/allocations -d "{\"project\":\"zero\",\"amount_units\":3600000,\"ends\":$end}"
	id=$(jq .id <<<"$reply")
	ctl -o json request zero 5 -r please >"$BATS_TEST_TMPDIR/request"
	has_ended() { ctl -o json allocation show "$id" | jq -e '.state == "expired"' >/dev/null; }
	eventually has_ended
	refused 1 "allocation $id of zero has ended, at 20" ctl deposit zero 5 --allocation "$id" -r late
	refused 1 "budgetctl allocation add zero GPU-HOURS" ctl request approve "$(jq .id "$BATS_TEST_TMPDIR/request")" --allocation "$id" -r late
	[[ $(amount zero) == 0 ]]
}

@test "credit that is in use stays, whatever the project is to get later" {
	local future
	ctl project add lent --credit 2
	ctl allocation add lent 1 -r now
	future=$(ctl -o json allocation add lent 100 --starts now+10d -r later | jq .id)
	api "$DIR/slurm" POST /v1/verdicts -d '{"kind":"submit","uid":0,"account":"lent","tres_per_job":"gres:gpu:l4:6","num_tasks":1,"min_nodes":1,"time_limit_min":60,"min_runtime":"1h"}'
	answered 200 "3.00 GPU-h of lent set aside"
	refused 1 "has 2.00 GPU-h of its credit in use" ctl project set lent --credit 0
	refused 1 "0.00 GPU-h" ctl withdraw lent 1 -r more
	ctl withdraw lent 100 --allocation "$future" -r "they do not need it"
	"$BUILD/budgetctl/budgetctl" verify "$DIR/budget.db"
}

@test "a project that is set unmetered bounds nothing, whatever it has, and its credit does nothing" {
	local ask='{"kind":"submit","uid":0,"account":"loose","tres_per_job":"gres:gpu:l4:4","num_tasks":1,"min_nodes":1,"time_limit_min":60,"min_runtime":"1h"}' said
	said=$(ctl project add loose --credit 1 2>&1)
	[[ $said == *"loose has no allocation, so its credit has no effect"* ]]
	ctl allocation add loose 0 -r "metered from the first day"
	ctl project set loose --credit 0
	api "$DIR/slurm" POST /v1/verdicts -d "$ask"
	answered 200 '"tier":"free"'
	refused 2 "it is yes or no" ctl project set loose --unmetered maybe
	ctl project set loose --unmetered yes -r "a guest"
	ctl -o json project show loose | jq -e .unmetered
	ctl -o json balance loose | jq -e '.rows[0] | .metered == false and .available_units == null'
	[[ $(ctl balance loose) == *unmetered* ]]
	api "$DIR/slurm" POST /v1/verdicts -d "$ask"
	answered 200 '"tier":"funded"'
	said=$(ctl project set loose --credit 5 2>&1)
	[[ $said == *"loose is set unmetered, so its credit has no effect"* ]]
	ctl project set loose --unmetered no
	ctl -o json balance loose | jq -e '.rows[0] | .metered and .held_units == 0'
	ctl -o json changes loose | jq -e '[.rows[] | select(.what == "unmetered") | .change] == ["unmetered: yes -> none", "unmetered: none -> yes"]'
	"$BUILD/budgetctl/budgetctl" verify "$DIR/budget.db"
}

@test "hours that are unspent are not removed with their project in silence, and its journal stays to be read" {
	as_owner() { as_nobody "$BUILD/budgetctl/budgetctl" --socket "$PEOPLE" "$@"; }
	ctl project add left --parent ai --members nobody
	ctl allocation add left 7 -r grant
	ctl allocation add left 5 --starts now+10d -r later
	refused 1 "left has 12.00 GPU-h unspent" ctl project remove left
	ctl project remove left --force --dry-run -r done
	ctl project show left
	[[ $(ctl project remove left --force -r "the group has moved" --request-id r1) == *"12.00 GPU-h are withdrawn"* ]]
	ctl project remove left --force --request-id r1
	refused 1 "used for another write" ctl project remove speech --request-id r1
	ctl -o json journal left | jq -e '[.rows[] | .kind] == ["withdrawal", "withdrawal", "deposit", "deposit"] and
		.rows[0].reason == "the group has moved" and .rows[0].first == .rows[1].id and .rows[0].charge == null'
	as_owner journal left
	ctl -o json changes left | jq -e '.rows[0].change == "project: there -> none"'
	ctl project set ai --remove-owners nobody
	refused 4 "administrator" as_owner journal left
	refused 1 "no project left" ctl balance left
	refused 1 "no project never" ctl journal never
	"$BUILD/budgetctl/budgetctl" verify "$DIR/budget.db"
}

changes()	{ ctl -o json changes "$1" | jq -c '[.rows[] | .change]'; }

@test "every change of a project or an allocation is kept: who, when, from, to, why; once, and not when it is tried" {
	local id
	ctl project add kept --share 3 --owners root -r "a new group" --request-id k1
	ctl project add kept --share 3 --owners root -r "a new group" --request-id k1
	[[ $(changes kept) == '["role of root: none -> owner","credit: none -> 0.00 GPU-h","share: none -> 3","project: none -> there"]' ]]
	ctl project set kept --share 5 --on-exhausted wait --credit 2 -r "they grew" --dry-run
	ctl project set kept --share 5 --on-exhausted wait --credit 2 -r "they grew" --request-id k2
	ctl project set kept --share 5 --on-exhausted wait --credit 2 -r "they grew" --request-id k2
	refused 1 "used for another write" ctl project set kept --share 9 --request-id k2
	[[ $(ctl -o json project show kept | jq .share) == 5 ]]
	ctl project set kept --remove-owners root --add-members root -r "she left"
	ctl project set kept --share 5
	[[ $(ctl -o json changes kept | jq -c '.rows[:5] | map(.change)') == '["role of root: none -> member","role of root: owner -> none",'\
'"credit: 0.00 GPU-h -> 2.00 GPU-h","on_exhausted: none -> wait","share: 3 -> 5"]' ]]
	ctl -o json changes kept | jq -e '.rows[4] | .actor == "root" and .reason == "they grew" and .was == "3" and .became == "5" and .allocation == null'
	id=$(TZ=UTC ctl -o json allocation add kept 100 --ends 2100-01-01 -r "for the century" | jq .id)
	TZ=UTC ctl allocation set "$id" --ends 2100-02-01 --carry-over 10 --vests yes --burst 5 --comment "and a month" -r "it was late"
	[[ $(ctl -o json changes kept | jq -c '.rows[:5] | map(.change | gsub("Z$"; ""))') == '["comment: for the century -> and a month","burst: 0.00 GPU-h -> 5.00 GPU-h",'\
'"vests: no -> yes","carry_over_percent: 0 -> 10","ends: 2100-01-01T00:00:00Z -> 2100-02-01T00:00:00"]' ]]
	refused 1 "without an end" ctl allocation set "$id" --ends none
	ctl allocation set "$id" --ends none --vests no --carry-over 0 -r "for ever"
	ctl -o json allocation show "$id" | jq -e '.ends == null and .comment == "and a month"'
	refused 1 "has begun: its start stays" ctl allocation set "$id" --starts now+1d
	refused 1 "must end after it starts" ctl allocation set "$id" --ends 2020-01-01
	ctl project add gone
	ctl project remove gone --dry-run
	ctl project show gone
	ctl project remove gone -r "by mistake"
	ctl -o json changes | jq -e '.rows[0] | .project == "gone" and .change == "project: there -> none" and .reason == "by mistake"'
}

# The daemon expires what has ended before it writes anything else of money.
expired()
{
	ctl deposit ai 1 -r "one more"
	ctl -o json journal short | jq -e '[.rows[] | .kind] == ["carry-over", "carry-over", "expiry", "deposit", "deposit"]' >/dev/null
}

@test "what is left of an allocation expires at its end, and a part of it is carried over" {
	local end
	end=$(($(date +%s) + 2))
	ctl project add short
	ctl allocation add short 1 -r "the next one"
	api "$PEOPLE" POST /v1/allocations -d "{\"project\":\"short\",\"amount_units\":36000000,\"ends\":$end,\"carry_over_percent\":20,\"reason\":\"x\"}"
	answered 201 '"carry_over_percent":20'
	eventually expired
	[[ $(amount short) == 3 ]]
	ctl -o json journal short | jq -e "[.rows[] | select(.kind == \"expiry\")] | length == 1 and .[0].at == $end and .[0].units == -28800000"
}
