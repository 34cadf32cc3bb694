# SPDX-License-Identifier: GPL-2.0-or-later
# prometheus.bash - a Prometheus beside a throwaway cluster, and an exporter that says what a test tells it
#
#   prometheus_up [RULES]   both on ports of the cluster's block, ended by its keeper; the exporter is scraped every second, and so is
#                           budgetd once it was started again; RULES is a file of rules that are followed
#   gpu_is NODE INDEX UTILIZATION MEMORY   what the exporter says from now on, as dcgm-exporter would
#   gpu_is_gone NODE INDEX  it says nothing more of that GPU

prometheus_up()
{
	local dir=$CLUSTER_DIR port

	command -v prometheus >/dev/null || { echo "prometheus is not installed (see contrib/packages)" >&2; return 1; }
	port=$(sed -n 's/^SlurmctldPort=//p' "$SLURM_CONF")
	export EXPORTER_PORT=$((port + 90)) PROMETHEUS_PORT=$((port + 91)) METRICS_PORT=$((port + 92))
	mkdir -p "$dir/metrics"
	cat >"$dir/etc/prometheus.yml" <<-END
		global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
		rule_files: [ ${1:+"$1"} ]
		scrape_configs:
		- { job_name: gpus, static_configs: [ { targets: [ "127.0.0.1:$EXPORTER_PORT" ] } ] }
		- { job_name: budgetd, static_configs: [ { targets: [ "127.0.0.1:$METRICS_PORT" ] } ] }
	END
	echo "metrics_listen = 127.0.0.1:$METRICS_PORT" >>"$dir/etc/budgetd.conf"
	echo "exec perl $CLUSTER_LIB/exporter.perl $EXPORTER_PORT $dir/metrics" >"$dir/run/exporter.start"
	echo "exec prometheus --config.file=$dir/etc/prometheus.yml --storage.tsdb.path=$dir/db/prometheus" \
		"--web.listen-address=127.0.0.1:$PROMETHEUS_PORT --log.level=warn" >"$dir/run/prometheus.start"
	echo 'prometheus = "http://127.0.0.1:'$PROMETHEUS_PORT'"' >>"$dir/etc/budgetd.conf"
	cluster_start exporter && cluster_start prometheus
}

exporter_answers() { curl -fsS -o /dev/null "http://127.0.0.1:$EXPORTER_PORT/metrics"; }
prometheus_answers() { curl -fsS -o /dev/null "http://127.0.0.1:$PROMETHEUS_PORT/-/ready"; }

gpu_is()
{
	local file=$CLUSTER_DIR/metrics/$1-$2 labels="gpu=\"$2\",UUID=\"GPU-$1-$2\",device=\"nvidia$2\",modelName=\"pretended\",Hostname=\"$1\""

	mkdir -p "$CLUSTER_DIR/metrics"
	printf 'DCGM_FI_DEV_GPU_UTIL{%s} %s\nDCGM_FI_DEV_FB_USED{%s} %s\n' "$labels" "$3" "$labels" "$4" >"$file.new"
	mv "$file.new" "$file"
}

gpu_is_gone() { rm "$CLUSTER_DIR/metrics/$1-$2"; }
