# SPDX-License-Identifier: GPL-2.0-or-later
# A real Prometheus scrapes budgetd of a live cluster: what it is told is what the books say, and no query of the rules or the
# dashboard is without an answer.
# time: 60 s
load cluster
load accounting
load prometheus

setup_file()
{
	export FILES=$BATS_TEST_DIRNAME/../../contrib/prometheus
	cluster_up --nodes 1 --gpus 4 --budgetd "notice_command = /usr/bin/true"	# for the rules of notices
	deposit vision 100
	prometheus_up "$(realpath "$FILES/gpubudget.rules.yml")"
	cluster_restart budgetd
}
teardown_file()	{ cluster_down; }

metrics() { curl -fsS "$@" "http://127.0.0.1:$METRICS_PORT/metrics"; }
ask() { curl -fsS --data-urlencode "query=$1" "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/query"; }
value() { ask "$1" | jq -er '.data.result[0].value[1]'; }
value_is() { [[ $(value "$1") == "$2" ]] || { echo "$1 is $(ask "$1"), not $2" >&2; return 1; }; }
# As people see it: a metric's last sample may be a second old.
has_data() { [[ $(ask "$1" | jq '.data.result | length') -gt 0 ]] || { echo "no data: $1" >&2; return 1; }; }

@test "promtool has nothing to say, and Prometheus is given OpenMetrics" {
	metrics >"$BATS_TEST_TMPDIR/metrics"
	promtool check metrics <"$BATS_TEST_TMPDIR/metrics"
	[[ $(metrics -H 'Accept: application/openmetrics-text;version=1.0.0' | tail -n 1) == "# EOF" ]]
	eventually value_is 'up{job="budgetd"}' 1
}

@test "what is held, charged and decided is told as it is" {
	eventually value_is 'gpubudget_project_available_gpu_seconds{project="vision"}' 360000
	as ada submit first --gpus=2 --gpu-min-runtime=1h --time=2:00:00
	eventually job_is first RUNNING
	eventually value_is 'gpubudget_project_held_gpu_seconds{project="vision"}' 7200
	eventually value_is 'gpubudget_decisions_total{decision="funded"}' 1
	eventually value_is 'gpubudget_job_gpus{tier="funded"}' 2
	eventually value_is 'gpubudget_jobs{tier="funded",state="running"}' 1
	as ada cancel first
	charged() { (($(units vision charged) > 0)); }
	eventually charged
	eventually value_is 'gpubudget_project_charged_gpu_seconds{project="vision"} * 1000' "$(units vision charged)"
	eventually value_is 'gpubudget_wait_seconds_count{tier="funded"}' 1
}

@test "the plugin tells what nobody answered: while budgetd was away, and what it met then" {
	cluster_stop budgetd
	as ada submit alone --gpus=1 --time=1:00:00 --begin=now+1hour
	eventually has_data 'absent(gpubudget_build_info)'
	cluster_start budgetd
	eventually has_data 'gpubudget_build_info'
	eventually value_is 'gpubudget_jobs_without_answer_total' 1
	as ada submit told --gpus=1 --time=1:00:00
	eventually value_is 'gpubudget_unanswered_questions_total{cause="other"}' 1
}

# The left side of each alert: what it is about, above or below its threshold.
rules_queries() { sed -n 's/^ *expr: //p' "$FILES/gpubudget.rules.yml" | grep -v '^absent' | sed -E 's/ (<|>|>=|==) [0-9.]+( < [0-9.]+)?$//'; }
dashboard_queries() { jq -r '.panels[].targets[].expr' "$FILES/gpubudget.dashboard.json" | sed 's/\$__rate_interval/1m/; s/\$project/.*/'; }

@test "every query of the rules and of the dashboard has data" {
	local query n=0

	while IFS= read -r query; do
		eventually has_data "$query"
		n=$((n + 1))
	done < <(rules_queries; dashboard_queries)
	((n > 35))
	[[ $(curl -fsS "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/rules" | jq -r '.data.groups[].rules[] | select(.health != "ok") | .name + .lastError') == "" ]]
}

@test "there is nothing but /metrics, and nothing is taken" {
	[[ $(curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:$METRICS_PORT/v1/health") == 404 ]]
	[[ $(curl -sS -o /dev/null -w '%{http_code}' -d x=1 "http://127.0.0.1:$METRICS_PORT/metrics") == 405 ]]
	books_are_right
}
