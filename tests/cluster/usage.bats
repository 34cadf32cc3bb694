# SPDX-License-Identifier: GPL-2.0-or-later
# report, usage and forecast, over books that were filled by an import: sums are exact, in the zone that is asked for, at any width.
bats_require_minimum_version 1.5.0
load alone

setup_file()
{
	export HOME_DIR=$BATS_FILE_TMPDIR/b PEOPLE=$BATS_FILE_TMPDIR/b/people GPUBUDGET_CONF=$BATS_FILE_TMPDIR/b/budgetd.conf
	export PATH=$BUILD/budgetctl:$PATH
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$HOME_DIR" && alone_start "$HOME_DIR"
	budgetctl project add lab
	budgetctl project add vision --parent lab
	# 2 h100 for 3 h over midnight of UTC; 4 GPUs for an hour over midnight of Berlin; 8 free ones
	printf '%s\n' 'JobIDRaw|JobID|Cluster|Account|User|Partition|QOS|State|Submit|Start|End|AllocTRES' \
		'11|11|alone|vision|root|gpu|normal|COMPLETED|2026-03-01T00:00:00|2026-03-01T22:30:00|2026-03-02T01:30:00|gres/gpu:h100=2,gres/gpu=2' \
		'12|12|alone|vision|daemon|gpu|normal|COMPLETED|2026-03-05T00:00:00|2026-03-05T22:30:00|2026-03-05T23:30:00|gres/gpu=4' \
		'13|13|alone|lab|root|debug|free|COMPLETED|2026-03-07T00:00:00|2026-03-07T02:00:00|2026-03-07T03:00:00|gres/gpu=8' \
		>"$BATS_FILE_TMPDIR/rows"
	budgetctl import sacct "$BATS_FILE_TMPDIR/rows"
}
teardown_file()	{ [[ ! -e $HOME_DIR/pid ]] || alone_stop "$HOME_DIR"; }

march=(--from 2026-03-01 --to 2026-04-01 --tz UTC)
report() { budgetctl report "${march[@]}" "$@"; }
# NAME USED FREE CHARGED, in GPU-hours
is() { [[ $output == "$1" ]] || { printf '%s\n' "$output" >&2; return 1; }; }

@test "what was used adds up whatever it is grouped by" {
	output=$(report --group-by project -n -o parsable); is $'lab|1|8.00|8.00|0.00|0.00\nvision|2|10.00|0.00|10.00|0.00'
	output=$(report --group-by user -n -o parsable); is $'daemon|1|4.00|0.00|4.00|0.00\nroot|2|14.00|8.00|6.00|0.00'
	output=$(report --group-by gpu_type -n -o parsable); is $'gpu|2|12.00|8.00|4.00|0.00\nh100|1|6.00|0.00|6.00|0.00'
	output=$(report --group-by partition -n -o parsable); is $'debug|1|8.00|8.00|0.00|0.00\ngpu|2|10.00|0.00|10.00|0.00'
	[[ $(report --group-by day -o json | jq '[.rows[] | .gpu_units] | [length, add]' -c) == "[31,64800000]" ]]
	[[ $(report vision --group-by user -o json | jq -c '[.rows[].charged_units] | add') == 36000000 ]]
}

@test "a day is one of the zone that is asked for" {
	day() { jq -r --arg d "$1" '.rows[] | select(.name == $d) | .gpu_units / 3600000'; }
	[[ $(report --group-by day -o json | day 2026-03-01) == 3 ]]
	[[ $(report --group-by day -o json | day 2026-03-02) == 3 ]]
	[[ $(report --group-by day -o json | day 2026-03-05) == 4 ]]
	[[ $(report --group-by day --tz Europe/Berlin -o json | day 2026-03-05) == 2 ]]
	[[ $(report --group-by day --tz Europe/Berlin -o json | day 2026-03-06) == 2 ]]
	output=$(report --tz Europe/Berlin | tail -n 1); is "2026-03-01T00:00:00+01:00 to 2026-04-01T00:00:00+02:00, Europe/Berlin"
}

@test "bars fit a terminal of 40 columns, in ASCII too" {
	output=$(LC_ALL=C budgetctl usage --plot --from 2026-03-01 --to 2026-03-08 --tz UTC)
	[[ $(head -n 1 <<<"$output") =~ ^2026-03-01\ +3\.00\ #+$ ]]
	[[ $(sed -n 7p <<<"$output") =~ ^2026-03-07\ +8\.00\ \.+$ ]]
	! grep -qP '[^\x00-\x7F]|\x1b' <<<"$output"
	command -v script >/dev/null
	output=$(LC_ALL=C COLUMNS=40 script -qec "budgetctl usage --plot --from 2026-03-01 --to 2026-03-08 --tz UTC" /dev/null | tr -d '\r' | head -n 7)
	[[ $(awk '{ if (length($0) > 40) print }' <<<"$output") == "" ]]
	[[ $(sed -n 7p <<<"$output") =~ ^03-07\ +8\.00\ \.+$ ]]
}

@test "a forecast tells when it ends, and whose end it is" {
	output=$(budgetctl forecast vision); [[ $output == *"it does not run out"* ]]
	budgetctl allocation add lab 100 --reason "the grant" --ends 2099-01-01T00:00Z
	output=$(TZ=UTC budgetctl forecast vision)
	[[ $(head -n 1 <<<"$output") == "As it runs now (0.00 GPU-hours an hour): lab loses what is left, as its allocation ends, at 2099-01-01T00:00:00." ]]
	[[ $(budgetctl forecast vision -o json | jq -c '.rows[] | [.basis, .end, .at, .decided_by]' | head -n 1) == '["running","expired",4070908800,"lab"]' ]]
}

@test "a digest tells the week of each project, and leaves out those of which there is nothing to tell" {
	local end start

	start=$(date -u -d '2 hours ago' +%FT%TZ) end=$(date -u -d '1 hour ago' +%FT%TZ)
	budgetctl project add quiet
	printf '%s\n' 'JobIDRaw|JobID|Cluster|Account|User|Partition|QOS|State|Submit|Start|End|AllocTRES' \
		"21|21|alone|vision|daemon|gpu|normal|COMPLETED|${start%Z}|${start%Z}|${end%Z}|gres/gpu=3" >"$BATS_TEST_TMPDIR/rows"
	budgetctl import sacct "$BATS_TEST_TMPDIR/rows"
	output=$(budgetctl digest)
	[[ $output == *$'lab/vision\n  used 3.00 GPU-hours, 0.00 of them in the free tier; 0.00 in the week before\n  most by daemon (3.00)'* ]]
	# what is below it as well, as of its balance
	[[ $output == *$'\nlab\n  used 3.00 GPU-hours, 0.00 of them in the free tier; 0.00 in the week before\n'* ]]
	[[ $output == *$'\nlab\n'*"can spend "*" of 100.00 GPU-hours; 0.00 are held for jobs"* ]]
	[[ $output != *quiet* ]]
	run ! budgetctl digest -o json; [[ $output == *"a digest is text"* ]]
}

@test "what makes no sense is said" {
	run ! report --group-by colour; [[ $output == *"--group-by takes project, user, gpu_type, partition or day, not \"colour\""* ]]
	run ! budgetctl report --from 2026-04-01 --to 2026-03-01; [[ $output == *"--from has to be before --to"* ]]
	run ! budgetctl report --tz Mars; [[ $output == *"--tz: "* ]]
	run ! budgetctl usage --plot -o json; [[ $output == *"leave out -o, or --plot"* ]]
}
