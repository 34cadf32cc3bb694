# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages and the guides: no linter complains, nothing that the programs have is missing, nothing is told of that
# they do not have.
bats_require_minimum_version 1.5.0

setup()
{
	top=$BATS_TEST_DIRNAME/../..
	pages=${BUILD:?set BUILD to the folder in which the project was built}/doc/man
	guides=("$top/README.md" "$top/doc/admin-guide.md" "$top/doc/researchers.md")
	PATH=$BUILD/budgetctl:$BUILD/budgetd:$BUILD/gpu_check:$PATH
}

# The page as a person reads it, in one line, so that where it is broken does not matter.
page() { mandoc -Tascii -O width=1000 "$pages/$1" | sed 's/.\x08//g' | tr -s ' \n' '  '; }

# tells PAGE WORDS...: all of them stand there; how many there must be at least is asked first, or an empty list would do.
tells()
{
	local text word

	text=" $(page "$1") "
	(($# - 2 >= $2)) || { echo "only $(($# - 2)) words for $1"; return 1; }
	for word in "${@:3}"; do
		[[ $text == *"$word"* ]] || { echo "$1 does not tell of $word"; return 1; }
	done
}

@test "mandoc and groff have nothing to complain of, and every list is filled" {
	local source page

	for source in "$top"/doc/man/*.in; do
		page=$pages/$(basename "$source" .in)
		[[ -z $(mandoc -Tlint -Wwarning "$page" 2>&1 | tee /dev/stderr) ]]
		[[ -z $(groff -mandoc -Tutf8 -ww -z "$page" 2>&1 | tee /dev/stderr) ]]
		run ! grep -nE '@[a-z-]+( [a-z-]+)?@' "$page"
	done
}

@test "budgetctl(1) tells of every command, every option, every exit code and every check of doctor" {
	local commands options checks codes

	mapfile -t commands < <(budgetctl --completion | grep -v '^=' | cut -f1)
	mapfile -t options < <(budgetctl --completion | grep -vE '^=|^quote' | cut -f3 | tr ' ' '\n' | grep '^--' | sort -u)
	mapfile -t checks < <(sed -n 's/^[[:blank:]]*{ *"\([a-z-]*\)", HEALTH_.*/\1 (/p' "$top/doctor/checks.c")
	tells budgetctl.1 20 "${commands[@]/#/ }"
	tells budgetctl.1 25 "${options[@]/#/ }"
	tells budgetctl.1 40 "${checks[@]/#/ }"
	mapfile -t codes < <(budgetctl --help | sed -n '/^Exit codes/,/^$/s/^  [0-9]  .//p')
	tells budgetctl.1 7 "${codes[@]/%/.}"
}

@test "budgetd(8) tells of every option, budgetd.conf(5) of every setting with its default" {
	local options settings defaults

	mapfile -t options < <(budgetd --help | grep -oE -- ' --[a-z]+ ')
	mapfile -t settings < <(budgetd --sample | sed -n 's/^#\([a-z_]*\) = .*/ \1 = /p')
	mapfile -t defaults < <(budgetd --sample | sed -n 's/^#[a-z_]* = "*\([^"]*\)"*$/Default: \1/p')
	tells budgetd.8 6 "${options[@]%% }"
	tells budgetd.conf.5 20 "${settings[@]}"
	tells budgetd.conf.5 20 "${defaults[@]}"
}

@test "gpu-check(1) tells of every command, every option, every exit code and every key of its JSON" {
	local commands options codes keys

	mapfile -t commands < <(gpu-check --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/ \1 /p')
	mapfile -t options < <(gpu-check --help | sed '/^Options of node/,/^$/d' | grep -oE -- ' --[a-z]+ ')
	mapfile -t codes < <(gpu-check --help | sed -n '/^Exit codes/,$s/^  [0-9]  \([a-z ]*\).*/\1/p')
	mapfile -t keys < <(sed -n 's/^.*add[a-z_]*(o, "\([a-z_]*\)".*/\1/p' "$top"/gpu_check/{locality,prove}_json.c | sort -u)
	tells gpu-check.1 1 "${commands[@]}"
	tells gpu-check.1 9 "${options[@]%% }"
	tells gpu-check.1 4 "${codes[@]}"
	tells gpu-check.1 20 "${keys[@]}"
}

@test "gpu-check(8) tells of every option of node, every kind of evidence and every key of its JSON" {
	local options kinds keys

	mapfile -t options < <(gpu-check --help | sed -n '/^Options of node/,/^$/p' | grep -oE -- ' --[a-z-]+ ')
	mapfile -t kinds < <(sed -n 's/^\t\[EVIDENCE_[A-Z_]*\] = { "\([a-z-]*\)".*/\1/p' "$top/gpu_check/evidence.c")
	mapfile -t keys < <(sed -n 's/^\tadd[a-z_]*(o, "\([a-z0-9_]*\)".*/\1/p' "$top"/gpu_check/{node_view,report_command}.c)
	tells gpu-check.8 7 "${options[@]%% }"
	tells gpu-check.8 13 "${kinds[@]/%/ }"
	tells gpu-check.8 28 "${keys[@]}"
}

@test "the options of sbatch stand in gpubudget(7) and in gpubudget_plugins(8), with their variables" {
	local options variables

	mapfile -t options < <(sed -n 's/^[[:blank:]]*\[OPT_[A-Z_]*\] = *{ *"\(gpu-[a-z-]*\)".*/--\1=/p' "$top/lib/job_options.c")
	mapfile -t variables < <(grep -oE 'GPUBUDGET_[A-Z_]+' "$top/lib/job_options.c")
	tells gpubudget.7 3 "${options[@]}"
	tells gpubudget.7 3 "${variables[@]}"
	tells gpubudget_plugins.8 3 "${options[@]}"
	mapfile -t variables < <(grep -oE '"GPUBUDGET_GPU_[A-Z]+"' "$top/spank/numa_hooks.c" | tr -d '"')
	tells gpubudget.7 4 "${variables[@]}" --gpu-numa=
	tells gpubudget_plugins.8 4 gpu_numa= gpu_memory= gpu_places= gpu_root=
	tells gpubudget.7 3 --gpu-check= --gpu-backend= GPUBUDGET_GPU_CHECK
	mapfile -t options < <(grep -oE '\{ "gpu_[a-z_]+", [a-z]+_take' "$top/spank/check.c" | grep -oE 'gpu_[a-z_]+')
	tells gpubudget_plugins.8 8 "${options[@]/%/=}"
}

@test "guides and pages name commands, options and settings that exist" {
	local word known named

	known=" $(budgetctl --completion | grep -v '^=' | cut -f1 | cut -d' ' -f1 | tr '\n' ' ')"
	named=$(grep -ohE '(^|[`#$] ?|as )budgetctl [a-z]+' "${guides[@]}" | grep -oE '[a-z]+$' | sort -u)
	[[ -n $named ]]
	for word in $named; do
		[[ $known == *" $word "* ]] || { echo "there is no budgetctl $word"; return 1; }
	done
	known=" $(budgetctl --completion | tr '\t=' '  ' | tr '\n' ' ') $(budgetd --help | tr '=,\n' '   ') "
	named=$(grep -ohE '(^|[`#$] ?)budget(ctl|d) .*' "${guides[@]}" | grep -oE -- ' --[a-z-]+' | sort -u)
	[[ -n $named ]]
	for word in $named; do
		[[ $known == *" $word "* ]] || { echo "neither program has $word"; return 1; }
	done
}

@test "links from one text to another lead somewhere" {
	local guide link

	for guide in "${guides[@]}"; do
		for link in $(grep -oE '\]\([^)#:]+' "$guide" | cut -c3-); do
			[[ -e $(dirname "$guide")/$link ]] || { echo "$guide: $link is not there"; return 1; }
		done
	done
}

@test "the guide's list of sections is whole, and so is what it shows of the settings" {
	local guide=$top/doc/admin-guide.md shown

	[[ $(sed -n 's/^## //p' "$guide") == "$(sed -nE 's/^([0-9]+\.) \[([^]]*)\]\(#.*/\1 \2/p' "$guide")" ]]
	shown=$(awk '/^    # budgetd -n$/ { on = 1; next } on && !/^    [a-z_]+ = / { exit } on { print $1 }' "$guide")
	[[ $shown == "$(budgetd --sample | sed -n 's/^#\([a-z_]*\) = .*/\1/p')" ]]
}
