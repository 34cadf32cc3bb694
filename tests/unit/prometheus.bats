# SPDX-License-Identifier: GPL-2.0-or-later
# The rules and the dashboard for Prometheus: sound, right of what is made up, and of metrics that budgetd has.
# time: 20 s

setup()
{
	top=$BATS_TEST_DIRNAME/../..
	files=$top/contrib/prometheus
	PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetd:$PATH
}

@test "promtool finds nothing wrong with the rules" {
	promtool check rules "$files/gpubudget.rules.yml"
}

@test "alerts come when they should, with the numbers in their text, and not before" {
	cp "$files/gpubudget.rules.yml" "$BATS_TEST_DIRNAME/gpubudget.rules.test.yml" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	promtool test rules gpubudget.rules.test.yml
}

@test "what the rules and the dashboard ask for is a metric of budgetd, or recorded by a rule" {
	local name names known

	names=$({ jq -r '.. | objects | .expr? // empty' "$files/gpubudget.dashboard.json"; sed -n 's/^ *expr: //p' "$files/gpubudget.rules.yml"; } |
		grep -oE 'gpubudget[_:][a-z0-9_:]+' | sort -u)
	(($(wc -l <<<"$names") > 25))
	known=$(budgetd --manual metrics | sed -n 's/^\.It Ic \([a-z_]*\) .*/\1/p'; sed -n 's/^ *- record: //p' "$files/gpubudget.rules.yml")
	for name in $names; do
		grep -qx -e "$name" -e "${name%_bucket}" <<<"$known" || { echo "there is no $name"; return 1; }
	done
}
