# SPDX-License-Identifier: GPL-2.0-or-later
# Tasks next to their GPUs, in a real slurmstepd: a machine of two nodes is made up as files (gpu_root), its CPUs are real. Slurm gives
# task 0 the first CPU and the first GPU, and that GPU is at the second CPU.
load cluster

setup_file()
{
	cluster_up --nodes 1 --gpus 2 --cpus 2 --conf TaskPlugin=task/affinity
	deposit vision 1000
	machine_write "$CLUSTER_DIR/machine"
	plugin_told
}

teardown_file()	{ cluster_down; }
teardown()	{ plugin_told; cluster_clear; }

# plugin_told [ARGUMENT...]: of the plugin in plugstack.conf, which each command and each slurmstepd reads anew.
plugin_told() { echo "required $CLUSTER_DIR/lib/gpubudget.so gpu_root=$CLUSTER_DIR/machine gpu_check=off $*" >"$CLUSTER_DIR/etc/plugstack.conf"; }

machine_write()
{
	local i gpu

	for i in 0 1; do
		mkdir -p "$1/sys/devices/system/node/node$i"
		echo $i >"$1/sys/devices/system/node/node$i/cpulist"
		echo $((10 + 10 * i)) $((20 - 10 * i)) >"$1/sys/devices/system/node/node$i/distance"
		gpu=$1/sys/bus/pci/devices/0000:0$((i + 1)):00.0
		mkdir -p "$gpu"
		echo 0x030200 >"$gpu/class"
		echo 0x10de >"$gpu/vendor"
		echo 0x2330 >"$gpu/device"
		echo $((1 - i)) >"$gpu/numa_node"
	done
	echo 0-1 | tee "$1/sys/devices/system/node/online" >"$1/sys/devices/system/node/has_memory"
}

# Of each task its number, GPU and CPUs, and what it is told.
placed()
{
	set -o pipefail
	as ada srun --account=vision --time=1:00:00 --gpu-min-runtime=10m "$@" /bin/sh -c \
		'PATH=/usr/bin:/bin; echo "$SLURM_LOCALID gpu=$CUDA_VISIBLE_DEVICES cpus=$(sed -n "s/^Cpus_allowed_list:\t//p" /proc/self/status) ${GPUBUDGET_GPU_NUMA-}"' | sort
}

@test "tasks whose GPUs are across change places" {
	run placed -n 2 --gpus-per-task=1
	((status == 0))
	[[ $output == *"0 gpu=0 cpus=1 0000:01:00.0=1
1 gpu=1 cpus=0 0000:02:00.0=0" ]]
	[[ $output != *"is next to"* ]]
}

@test "off leaves them where Slurm put them, and so do report and a binding that the user wants" {
	run placed -n 2 --gpus-per-task=1 --gpu-numa=off
	[[ $output == *"0 gpu=0 cpus=0 
1 gpu=1 cpus=1 " ]]
	run placed -n 2 --gpus-per-task=1 --gpu-numa=report
	[[ $output == *"0 gpu=0 cpus=0 0000:01:00.0=1"* ]]
	[[ $output == *"task 0: none of its CPUs 0 is next to its GPU 0000:01:00.0, whose CPUs are 1; other tasks of the job have some of these."* ]]
	run placed -n 2 --gpus-per-task=1 --cpu-bind=map_cpu:0,1
	[[ $output == *"0 gpu=0 cpus=0 0000:01:00.0=1"* ]]
	run placed -n 2 --gpus-per-task=1 --cpu-bind=mask_cpu:0x1,0x2	# on the node this looks as what Slurm does itself
	[[ $output == *"0 gpu=0 cpus=0 0000:01:00.0=1"* ]]
	run placed -n 2 --gpus-per-task=1 --export=NONE --cpu-bind=mask_cpu:0x1,0x2
	[[ $output == *"0 gpu=0 cpus=0 0000:01:00.0=1"* ]]
}

@test "strict fails the task with the option that mends it, and the node stays up" {
	run placed -n 2 --gpus-per-task=1 --cpu-bind=map_cpu:0,1 --gpu-numa=strict
	((status != 0))
	[[ $output == *"gpubudget: task 0: none of its CPUs 0 is next to its GPU 0000:01:00.0"*"without --cpu-bind"* ]]
	[[ $output != *"gpu=0 cpus="* ]]
	run placed -n 2 --gpus-per-task=1 --cpu-bind=map_cpu:1,0 --gpu-numa=strict
	((status == 0))
	[[ $output == *"0 gpu=0 cpus=1"* ]]
	[[ $(sinfo -h -o %T) != *drain* ]]
}

@test "the site's word holds where the user says nothing, also inside a batch job" {
	plugin_told gpu_numa=off
	run placed -n 2 --gpus-per-task=1
	[[ $output == *"0 gpu=0 cpus=0 "* ]]
	run placed -n 2 --gpus-per-task=1 --gpu-numa=auto
	[[ $output == *"0 gpu=0 cpus=1 0000:01:00.0=1"* ]]
	as ada sbatch --wait --account=vision --time=1:00:00 --gpu-min-runtime=10m -n 2 --gpus-per-task=1 --gpu-numa=auto --output=out \
		--wrap 'srun -n 2 sh -c "echo \$SLURM_LOCALID cpus=\$(sed -n s/^Cpus_allowed_list:.//p /proc/self/status)" | sort'
	[[ $(cat "$CLUSTER_DIR"/home/gpb-ada/out) == "0 cpus=1
1 cpus=0" ]]
}

@test "steps without GPUs are not touched, and a wrong word ends the command" {
	run as ada srun --account=vision -n 2 sh -c 'echo "${GPUBUDGET_GPU_NUMA-nothing}"'
	((status == 0))
	[[ $output == *nothing*nothing* ]]
	run as ada srun --account=vision --gpus=1 --gpu-numa=near true
	((status != 0))
	[[ $output == *'--gpu-numa: "near" is none of auto, strict, report and off'* ]]
}
