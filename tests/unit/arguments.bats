# SPDX-License-Identifier: GPL-2.0-or-later
# What the programs say to a command line that makes no sense, or asks for help. No cluster and no daemon.
bats_require_minimum_version 1.5.0

setup_file()
{
	export TOP=$BATS_TEST_DIRNAME/../.. GPUBUDGET_CONF=$BATS_FILE_TMPDIR/budgetd.conf
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetctl:$PATH
	echo "socket = $BATS_FILE_TMPDIR/nobody.socket" >"$GPUBUDGET_CONF"
}

@test "an amount below zero is refused as an amount, not as an option" {
	for command in "deposit vision -5 --reason x" "deposit --reason x vision -- -5" "allocation add vision -3" "allocation add vision -1.5h" "withdraw vision -2 --reason x"; do
		run -2 budgetctl $command
		[[ $output == *": an amount of GPU-hours is never negative; budgetctl withdraw takes hours back"* ]]
	done
}

@test "a number below zero is a word of the command, letters are still options" {
	run -3 budgetctl why -1
	[[ $output != *"there is no option"* ]]
	run -2 budgetctl balance -x
	[[ $output == *"there is no option -x"* ]]
	run -2 budgetctl journal --limit -1
	[[ $output == *"--limit -1: give a number of rows"* ]]
}

@test "job set names the options as they were typed" {
	run -2 budgetctl job set 1 --min-runtime=-1
	[[ $output == "budgetctl: --min-runtime: "* ]]
	run -2 budgetctl share set vision 1000001
	[[ $output == *"1000001: give a whole number from 0 to 1000000"* ]]
	run -2 budgetctl job set 1 --tier cheap
	[[ $output == "budgetctl: --tier=cheap: there is no such tier"* ]]
	run -2 budgetctl job set 1 --team-rank 1.5
	[[ $output == "budgetctl: --team-rank=1.5: "* ]]
}

@test "what cannot be meant is refused before anybody is asked" {
	run -2 budgetctl why ""
	[[ $output == "budgetctl: an argument is empty. Usage: budgetctl why JOB" ]]
	run -2 budgetctl deposit "" 5 -r x
	run -2 budgetctl deposit vision 5 --reason $'caf\xe9'
	[[ $output == "budgetctl: --reason: "*"is not UTF-8."* ]]
	run -2 budgetctl balance $'\xff'
	[[ $output == *"is not UTF-8."* ]]
	run -1 budgetctl import sacct --dry-run $'\xff'
	[[ $output != *"UTF-8"* ]]
	for amount in 640511947004 99999999999999999999; do
		run -2 budgetctl deposit vision $amount -r x
		[[ $output == *"more GPU-hours than can be counted (at most 640,511,947,003.00)"* ]]
	done
}

@test "an option in the place of a value is a value that was forgotten" {
	run -2 budgetctl allocation add vision 5 --vests --burst 1
	[[ $output == "budgetctl: --vests needs an argument, and --burst follows. If that is it: --vests=--burst" ]]
	run -2 budgetctl deposit vision 5 -r --dry-run
	[[ $output == *"--reason needs an argument, and --dry-run follows. If that is it: --reason=--dry-run" ]]
	run -3 budgetctl deposit vision 5 --reason=--burst
	run -3 budgetctl deposit vision 5 --reason "--burst of the quarter"
}

@test "a time zone that is none is said, and a local time by it is refused" {
	TZ=Europe/Berln run -2 budgetctl allocation add vision 5 --ends 2027-01-01
	[[ $output == *"TZ=Europe/Berln is no time zone that this machine knows: times are those of UTC"* ]]
	[[ $output == *'so "2027-01-01" could be any hour'* ]]
	TZ=Europe/Berln run -3 budgetctl allocation add vision 5 --ends 2027-01-01T00:00Z
	TZ=Europe/Berlin run -3 budgetctl allocation add vision 5 --ends 2027-01-01
	[[ $output != *"time zone"* ]]
}

@test "the length of a slot is a number of hours" {
	for hours in nan inf 0 -1 200 4h ""; do
		run -2 budgetctl slot add vision --day mon --from 09:00 --share 50 --hours "$hours"
		[[ $output == "budgetctl: --hours $hours: how long it lasts, "* ]]
	done
}

@test "what looks at its own host takes no server" {
	run -2 budgetctl doctor --server http://head:6830
	[[ $output == "budgetctl: doctor looks at the host it runs on: --server has no place there" ]]
	run -2 budgetctl setup --server http://head:6830
}

@test "the scripts of contrib tell their usage" {
	for script in demo check; do
		run -0 --separate-stderr "$TOP/contrib/$script" --help
		[[ $output == "usage: contrib/$script "* && -z $stderr ]]
		run -2 "$TOP/contrib/$script" --bogus
	done
}

@test "an option that is none is answered with the nearest of its own command" {
	run -2 budgetctl balance --frob
	[[ $output == "budgetctl: there is no option --frob, or it is cut too short. See budgetctl balance --help" ]]
	run -2 budgetctl slot add vision --frob
	[[ $output == *"Did you mean --from? See budgetctl slot add --help" ]]
	run -2 budgetctl --frob
	[[ $output == *"Did you mean --from? See budgetctl --help" ]]
	run -2 budgetctl deposit vision 5 --reason
	[[ $output == "budgetctl: --reason needs an argument. See budgetctl deposit --help" ]]
}

@test "the help of a command that has others beside it names them" {
	run -0 budgetctl request --help
	for command in "request list" "request approve ID" "request refuse ID"; do
		[[ $output == *"  $command"* ]]
	done
}

@test "where nobody listens the next step is said, and a socket that was named is left at that" {
	run -3 budgetctl balance
	[[ $output == *"budgetd is not running: there is no socket $BATS_FILE_TMPDIR/nobody.socket. \`systemctl start budgetd\` starts it"* ]]
	run -3 budgetctl balance --socket "$BATS_FILE_TMPDIR/other"
	[[ $output == "budgetctl: budgetd is not running: there is no socket $BATS_FILE_TMPDIR/other" ]]
}
