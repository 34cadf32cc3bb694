# SPDX-License-Identifier: GPL-2.0-or-later
# GPUs that nobody uses, as a Prometheus tells that is fed by an exporter of the test. Minutes are seconds here.
# time: 90 s
load cluster
load accounting
load prometheus

setup_file()
{
	cluster_up --nodes 2 --gpus 4 --budgetd "prometheus_step = 2s" --budgetd "idle_note = 6s" --budgetd "idle_warning = 10s" \
		--budgetd "idle_last_warning = 14s" --budgetd "idle_unprotected = 18s"
	deposit vision 100
	for gpu in 0 1 2 3; do gpu_is g1 $gpu 0 0; gpu_is g2 $gpu 0 0; done
	prometheus_up
	cluster_restart budgetd
}
teardown_file()	{ cluster_down; }

health() { budgetctl health -o json | jq -r "[.. | objects | .$1?][0]"; }
health_is() { [[ $(health "$1") == "$2" ]] || { budgetctl health >&2; return 1; }; }
doctor_says() { [[ $(budgetctl doctor --all) == *"$1"* ]]; }

@test "a job whose GPUs are all idle is one, and one of which a single GPU works is none" {
	eventually health_is gpus_watched 8
	as ada submit parked --gpus=2 --gpu-min-runtime=1h --time=2:00:00
	as ada submit works --gpus=2 --gpu-min-runtime=1h --time=2:00:00
	eventually job_is works RUNNING
	gpu=$(scontrol -d show job "$(job works)" | sed -n 's/.*IDX:\([0-9]*\).*/\1/p')
	gpu_is "$(squeue -h -j "$(job works)" -o %N)" "${gpu%%-*}" 37 1000
	eventually health_is gpus_unseen 0
	eventually health_is idle_jobs 1
	health_is prometheus ok
}

idle_events() { books "SELECT group_concat(what, ' ') FROM (SELECT what FROM event WHERE job = $(job "$1") AND reason = 'IDLE' ORDER BY id)"; }
events_are() { [[ $(idle_events "$1") == "$2" ]] || { echo "events: $(idle_events "$1")" >&2; return 1; }; }

@test "it is told so in its output, is warned twice, and then is not protected any more; who works is not" {
	eventually wrote parked "gpubudget: 2 GPUs were not used for [0-9]+ s. Unless they are used, the run loses its protection in"
	[[ $(why parked) == *"Its GPUs were not used for "* ]]
	eventually wrote parked "gpubudget: last warning: 2 GPUs were not used for"
	eventually wrote parked "The run is not protected any more: any funded job may displace it."
	events_are parked "noted warned warned unprotected"
	events_are works ""
	[[ $(why works) != *"not used"* ]]
	books_are_right
}

@test "a Prometheus that does not answer is told by health and doctor, and no pass waits for it" {
	local begun

	kill -STOP "$(cluster_pid prometheus)"
	begun=$(health last_pass_at)
	later() { (($(health last_pass_at) > begun + 1)); }
	eventually later
	kill -CONT "$(cluster_pid prometheus)"
	cluster_stop prometheus
	not_there() { [[ $(health prometheus) == "nobody listens at http://127.0.0.1:$PROMETHEUS_PORT" ]]; }
	eventually not_there
	[[ $(budgetctl doctor || true) == *"budgetd says of Prometheus: nobody listens at"* ]]
	cluster_start prometheus
	eventually health_is prometheus ok
}

@test "a query that Prometheus does not understand is told with its own words" {
	echo 'gpu_utilization = "max_over_time(nonsense["' >>"$CLUSTER_DIR/etc/budgetd.conf"
	kill -HUP "$(cluster_pid budgetd)"
	refused() { [[ $(health prometheus) == *'refuses "max_over_time(nonsense["'*"parse error"* ]]; }
	eventually refused
	sed -i '$d' "$CLUSTER_DIR/etc/budgetd.conf"
	kill -HUP "$(cluster_pid budgetd)"
	eventually health_is prometheus ok
}
