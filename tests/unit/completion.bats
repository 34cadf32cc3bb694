# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of budgetctl in bash, from what the program itself prints of its tables.
bats_require_minimum_version 1.5.0

setup()
{
	PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetctl:$PATH
	compopt() { :; }		# bash has it only while it really completes
	source "$BATS_TEST_DIRNAME/../../contrib/completion/budgetctl"
}

# completed WORD... : the last one is what the cursor stands behind
completed()
{
	COMP_WORDS=(budgetctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_budgetctl
	echo "${COMPREPLY[*]}"
}

@test "commands, and the verbs of a noun" {
	[[ $(completed al) == allocation ]]
	[[ $(completed project s) == "set show" ]]
	[[ $(completed job "") == "set show" ]]
	[[ $(completed "") == *balance*quote*why* ]]
}

@test "options of the command, and the words that may follow one" {
	[[ $(completed job set 12 --t) == "--tier= --team-rank=" || $(completed job set 12 --t) == "--team-rank= --tier=" ]]
	[[ $(completed job set 12 --tier = fu) == funded ]]
	[[ $(completed journal -o js) == json ]]
	[[ $(completed journal --output = "") == "table json csv parsable" ]]
	[[ $(completed project set vision --on-exhausted re) == reject ]]
	[[ $(completed project set vision --on-exhausted w) == wait ]]
	[[ $(completed health --o) == --output= ]]
	[[ $(completed journal --limit "") == "" ]]
	[[ $(completed quote --gpus-per-t) == --gpus-per-task= ]]
}

@test "a script for quote" {
	cd "$BATS_TEST_TMPDIR"
	touch train.sh
	[[ $(completed quote --gpus=2 tr) == train.sh ]]
}

@test "projects, as budgetctl lists them for this user" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/budgetctl" <<-END
		#!/bin/bash
		[[ \$* != "project list -n -o csv" ]] || { printf 'ai,,ai\r\nvision,ai,ai/vision\r\n'; exit; }
		exec $(command -v budgetctl) "\$@"
	END
	chmod 755 "$BATS_TEST_TMPDIR/bin/budgetctl"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	[[ $(completed balance vi) == vision ]]
	[[ $(completed project list --project "") == "ai vision" ]]
	[[ $(completed deposit a) == ai ]]
}
