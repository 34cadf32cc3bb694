# SPDX-License-Identifier: GPL-2.0-or-later
# A node with a link that was trained down: Slurm's health check drains it, says why, and budgetd empties it. Each node is made up as
# files, of which root's gpu-check reads what else the machine itself tells.
# only: full
# time: 120 s
bats_require_minimum_version 1.5.0
load cluster
load accounting

setup_file()
{
	export NODES=$BATS_FILE_TMPDIR/nodes
	node_write g1
	node_write g2
	cat >"$BATS_FILE_TMPDIR/health" <<-END
		#!/bin/bash
		export GPU_CHECK=$BUILD/gpu_check/gpu-check SLURM_CONF=\$(<"$BATS_FILE_TMPDIR/slurm_conf")	# slurmd gives it SLURMD_NODENAME only
		exec $BATS_TEST_DIRNAME/../../contrib/gpu-check-node --root "$NODES/\$SLURMD_NODENAME"
	END
	chmod -R go+rX "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_FILE_TMPDIR/health"
	cluster_up --nodes 2 --gpus 1 --cpus 2 --budgetd "grace = 1s" --conf "HealthCheckProgram=$BATS_FILE_TMPDIR/health" \
		--conf HealthCheckInterval=5 --conf HealthCheckNodeState=ANY
	echo "$SLURM_CONF" >"$BATS_FILE_TMPDIR/slurm_conf"
	deposit vision 100
}
teardown_file()	{ cluster_down; }

put() { mkdir -p "$(dirname "$1")"; printf '%s\n' "${@:2}" >"$1"; }

# node_write NAME: one GPU below a port, whose link is 32 GT/s x16, and learned so
node_write()
{
	local at=$NODES/$1/sys/devices/pci0000:c0/0000:c0:01.1 end

	for at in "$at" "$at/0000:c1:00.0"; do
		for end in current max; do
			put "$at/${end}_link_speed" "32.0 GT/s PCIe"
			put "$at/${end}_link_width" 16
		done
	done
	put "$at/class" 0x030200
	put "$at/vendor" 0x10de
	put "$at/device" 0x2330
	put "$NODES/$1/proc/sys/kernel/random/boot_id" "boot-of-$1"
	mkdir -p "$NODES/$1/sys/bus/pci/devices"
	ln -s ../../../devices/pci0000:c0/0000:c0:01.1 "$NODES/$1/sys/bus/pci/devices/0000:c0:01.1"
	ln -s ../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0 "$NODES/$1/sys/bus/pci/devices/0000:c1:00.0"
	"$BUILD/gpu_check/gpu-check" --learn --root "$NODES/$1"
}

width_is() { echo "$2" >"$NODES/$1/sys/bus/pci/devices/0000:c1:00.0/current_link_width"; }
node_is() { [[ $(sinfo -h -n "$1" -o %T) == $2 ]] || { sinfo -N >&2; return 1; }; }
node_reason() { scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
runs_on() { [[ $(job_field "$1" NodeList) == "$2" ]] && job_is "$1" RUNNING; }
drain_is() { [[ $(budgetctl drains -o json | jq -r --arg n "$1" '[.rows[] | select(.node == $n)][0].reason') == "$2" ]] || { budgetctl drains >&2; return 1; }; }

@test "what a user finds in a task fails the task, and drains nothing" {
	mkdir -p "$CLUSTER_DIR/mine"
	cp -r "$NODES/g2" "$CLUSTER_DIR/mine/"
	echo 8 >"$CLUSTER_DIR/mine/g2/sys/bus/pci/devices/0000:c1:00.0/current_link_width"
	chmod -R go+rX "$CLUSTER_DIR/mine"
	install -m 755 "$BUILD/gpu_check/.libs/gpu-check" "$CLUSTER_DIR/bin/gpu-check" 2>/dev/null ||
		install -m 755 "$BUILD/gpu_check/gpu-check" "$CLUSTER_DIR/bin/gpu-check"
	run as ada srun --account=vision --gpus=1 --time=10 --gpu-min-runtime=5m gpu-check node --drain-reason --root "$CLUSTER_DIR/mine/g2"
	[[ $status == 6 && $output == *"FAIL link-width 0000:c1:00.0"* && $output != *"gpubudget: gpu-check:"* ]] || { echo "$status: $output" >&2; false; }
	! scontrol -o show nodes | grep -q DRAIN
}

@test "the health check drains the node whose link was trained down, with the reason; its run goes on elsewhere" {
	local reason="gpubudget: gpu-check: link-width 0000:c1:00.0: the link to 0000:c0:01.1 runs at 32 GT/s x8, 32 GT/s x16 were learned"
	local bad good

	as ada submit train --gpus=1 --gpu-tier=free --time=8:00:00
	eventually job_is train RUNNING
	bad=$(job_field train NodeList)
	good=$([[ $bad == g1 ]] && echo g2 || echo g1)
	width_is "$bad" 8
	eventually node_is "$bad" "drain*"
	[[ $(node_reason "$bad") == "$reason" ]] || { node_reason "$bad" >&2; false; }
	eventually drain_is "$bad" "$reason"
	eventually node_is "$bad" "drained*"
	eventually runs_on train "$good"
	(($(books "SELECT count(*) FROM event WHERE job = $(job train) AND what = 'told' AND reason = 'NODE_DRAIN'") == 1))
	scontrol update nodename="$bad" reason="a technician looks at it"
	echo "$bad" >"$BATS_FILE_TMPDIR/bad"
}

@test "a reason that somebody wrote stays, and after the repair the node stays in use" {
	local bad

	bad=$(<"$BATS_FILE_TMPDIR/bad")
	[[ $(node_reason "$bad") == "a technician looks at it" ]]
	width_is "$bad" 16
	"$BUILD/gpu_check/gpu-check" node --acknowledge --root "$NODES/$bad"
	scontrol update nodename="$bad" state=resume
	eventually node_is "$bad" "idle*"
	as ada submit again --gpus=1 --gpu-tier=free --nodelist="$bad"
	eventually runs_on again "$bad"
}
