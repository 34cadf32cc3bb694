# SPDX-License-Identifier: GPL-2.0-or-later
# GPUs are proven in a task before its program starts, in a real slurmstepd: a machine with two NVIDIA GPUs is made up as files
# (gpu_root), and what a task finds as libcuda is a stub (tests/stubs) that fails as it is told to. Whatever it does, the task fails
# within the deadline with the sentence, the node stays up and other jobs run.
# only: full
# time: 300 s
bats_require_minimum_version 1.5.0
load cluster

setup_file()
{
	cluster_up --nodes 1 --gpus 2 --cpus 4
	deposit vision 1000
	machine_write "$CLUSTER_DIR/machine"
	install -m 755 "$BUILD/gpu_check/gpu-check-helper" "$BUILD/spank/gpu-check-task" "$CLUSTER_DIR/bin"
	stub_build
	printf '#!/bin/sh\necho "torch $TORCH sees $CUDA_VISIBLE_DEVICES"\ntest "$TORCH" = fine\n' >"$CLUSTER_DIR/bin/torch_check"
	chmod 755 "$CLUSTER_DIR/bin/torch_check"
}

teardown_file()	{ cluster_down; }
setup()		{ plugin_told; NOTE=$CLUSTER_DIR/job/note.$BATS_TEST_NUMBER; }
teardown()	{ cluster_clear; }

# plugin_told [ARGUMENT...]: of the plugin in plugstack.conf, which each command and each slurmstepd reads anew.
plugin_told() { plugin_is required "$@"; }
plugin_is()
{
	echo "$1 $CLUSTER_DIR/lib/gpubudget.so gpu_root=$CLUSTER_DIR/machine gpu_numa=off gpu_check_helper=$CLUSTER_DIR/bin/gpu-check-helper" \
		"gpu_check_deadline=20 check_torch=$CLUSTER_DIR/bin/torch_check ${*:2}" >"$CLUSTER_DIR/etc/plugstack.conf"
}

machine_write()
{
	local bus dir

	for bus in c1 c2; do
		dir=$1/sys/bus/pci/devices/0000:$bus:00.0
		mkdir -p "$dir"
		echo 0x030200 >"$dir/class"
		echo 0x10de >"$dir/vendor"
		echo 0x2330 >"$dir/device"
	done
}

stub_build()
{
	local top=$BATS_TEST_DIRNAME/../..

	mkdir "$CLUSTER_DIR/stub"
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -I"$top" -shared -fPIC "$top/tests/stubs/libcuda_stub.c" "$top/gpu_check/pattern.c" \
		-o "$CLUSTER_DIR/stub/libcuda.so.1"
}

# task [VARIABLE=VALUE]... SRUN-OPTION...: one that says that it ran, with the stub as its libcuda unless said otherwise
task()
{
	local variables=(LD_LIBRARY_PATH="$CLUSTER_DIR/stub")

	while [[ ${1-} == [A-Z]*=* ]]; do variables+=("$1"); shift; done
	as ada env "${variables[@]}" srun --account=vision --time=1:00:00 --gpu-min-runtime=10m "$@" \
		/bin/sh -c 'echo "ran $SLURM_LOCALID gpu=$CUDA_VISIBLE_DEVICES $GPUBUDGET_GPU_CHECK"'
}

# refused: the last task did not run, and the node did not suffer.
refused()
{
	((status != 0)) && [[ $output != *"ran "* ]] || { echo "$output"; return 1; }
	eventually nodes_are idle || { sinfo -N -o '%T %E'; return 1; }
}

passed() { ((status == 0)) || { echo "$output"; return 1; }; }

has() { [[ $output == *"$1"* ]] || { echo "not there: $1"; echo "$output"; return 1; }; }

# logged PATTERN: a line of JSON in the node's log, the last that fits
logged() { grep -h "gpubudget: {\"gpu_check\".*$1" "$CLUSTER_DIR/log/g1.log" | tail -n 1 | sed 's/^[^{]*//'; }

@test "sound GPUs: the program starts and is told nothing, the log has one line" {
	run task --gpus=1
	passed
	has "ran 0 gpu=0 ok"
	[[ $output != *"task 0:"* ]]
	[[ $(logged ok | jq -r '"\(.gpu_check) \(.level) \(.task) \(.of) \(.seen) \(.allocated)"') == "ok kernel 0 cuda 1 1" ]]
}

@test "a wrong result, a crash, garbage, no device, no library: the task fails with the sentence, the node stays up" {
	local fault

	for fault in wrong-kernel:"FAIL cuda: "*"Cause: it said that a kernel ran, and its result is not there" \
		nothing:"Cause: it said that memory was filled and it was not" \
		crash:"FAIL cuda: signal 11 "*"while initialising" garbage:"a line that is none of a report"; do
		run task GPU_STUB="${fault%%:*}" --gpus=1
		[[ $output == *"gpubudget: task 0: "*${fault#*:}* ]] || { echo "$fault: $output"; return 1; }
		has "To do: "
		refused
	done
	run task GPU_STUB_INIT=100 --gpus=1
	has "CUDA_ERROR_NO_DEVICE (100), while initialising"
	refused
	[[ $(logged no-device | jq -r '"\(.gpu_check) \(.cause) \(.stage) \(.step | test("^[0-9]+[.]0$"))"') == "fail no-device init true" ]]
	run task LD_LIBRARY_PATH=/nowhere --gpus=1
	has "the library of the driver is not where this process looks for it"
	refused
	run task GPU_STUB_DEVICES=1 --gpus=2
	has "FAIL cuda: 2 given by Slurm, 2 in CUDA_VISIBLE_DEVICES, 1 seen by the backend"
	refused
	run task --gpus=1
	passed
}

@test "a driver that hangs, also inside the kernel, fails the task within the deadline; other jobs run meanwhile" {
	plugin_told gpu_check_deadline=3
	task GPU_STUB=hang --gpus=1 >"$NOTE" 2>&1 &
	pid=$!
	run task --gpus=1
	passed
	! wait "$pid"
	[[ $(<"$NOTE") == *"task 0: FAIL cuda: no answer in 3."*" s while initialising"*"the driver did not come back"* ]]
	[[ $(<"$NOTE") != *"ran "* ]]
	run task GPU_STUB=hang-d --gpus=1
	has "the process was in state D"
	refused
}

@test "one proof for each set of GPUs, and every task is told when it is not sound" {
	run task GPU_STUB_PID="$NOTE" GPU_STUB_DEVICES=2 -n 4 --gpus=2
	passed
	[[ $(grep -c "^ran [0-3] gpu=0,1 ok" <<<"$output") == 4 && $(wc -l <"$NOTE") == 1 ]]
	rm "$NOTE"
	run task GPU_STUB_PID="$NOTE" -n 2 --gpus-per-task=1
	passed
	[[ $(grep -c "^ran [01] gpu=[01] ok" <<<"$output") == 2 && $(wc -l <"$NOTE") == 2 ]]
	rm "$NOTE"
	run task GPU_STUB_PID="$NOTE" -n 4 --gpus=2 --gpu-bind=single:2
	passed
	[[ $(grep -c "^ran [0-3] gpu=[01] ok" <<<"$output") == 4 && $(wc -l <"$NOTE") == 2 ]]
	run task GPU_STUB=wrong-copy GPU_STUB_DEVICES=2 -n 4 --gpus=2
	[[ $(grep -c "task [0-3]: FAIL cuda: " <<<"$output") == 4 ]]
	refused
}

@test "steps without GPUs, and levels: off proves nothing, enum counts only" {
	run task GPU_STUB=crash GPU_STUB_PID="$NOTE" -n 2
	passed
	has "ran 1 gpu= "
	run task GPU_STUB=crash GPU_STUB_PID="$NOTE" --gpus=1 --gpu-check=off
	passed
	[[ ! -e $NOTE ]]
	run task GPU_STUB=wrong-copy --gpus=1 --gpu-check=enum
	passed
	run task GPU_STUB=wrong-copy --gpus=1 --gpu-check=copy
	refused
	run task --gpus=1 --gpu-check=fast
	has '--gpu-check: "fast" is none of auto, off, enum, copy, kernel, bandwidth, torch'
	refused
	plugin_told gpu_check_least=enum gpu_check=copy
	run task --gpus=1 --gpu-check=off
	has "level off is less than what this site allows, enum"
	refused
	run task GPU_STUB=wrong-kernel --gpus=1
	passed
}

@test "a batch job and the steps inside it have the word of its submission" {
	as ada env LD_LIBRARY_PATH="$CLUSTER_DIR/stub" GPU_STUB=wrong-kernel sbatch --wait --account=vision --time=1:00:00 --gpu-min-runtime=10m \
		--gpus=1 --gpu-check=copy --output=batch.out --wrap 'echo script; srun echo step; srun --gpu-check=kernel echo never; srun --gpus=0 --gpu-check=kernel echo plain; srun --gpus=1 sh -c "srun --overlap --gpus=0 --gpu-check=kernel echo inner"'
	output=$(<"$CLUSTER_DIR/home/gpb-ada/batch.out")
	has script
	has step
	has plain
	has inner
	[[ $output != *never* ]]
	[[ $(grep -c "task 0: FAIL cuda" <<<"$output") == 1 ]]
	run -1 as ada env LD_LIBRARY_PATH="$CLUSTER_DIR/stub" GPU_STUB=wrong-kernel sbatch --wait --account=vision --time=1:00:00 --gpu-min-runtime=10m \
		--gpus=1 --output=batch.out --wrap 'echo script'
	output=$(<"$CLUSTER_DIR/home/gpb-ada/batch.out")
	has "task 0: FAIL cuda"
	[[ $output != *script* ]]
	nodes_are idle
}

@test "optional, as a policy or in plugstack.conf, tells and lets run; strict refuses what nobody could look at" {
	plugin_told gpu_check_policy=optional
	run task GPU_STUB=wrong-kernel --gpus=1
	passed
	has "task 0: FAIL cuda"
	has "The task runs all the same."
	has "ran 0 gpu=0 fail"
	plugin_is optional
	run task GPU_STUB=wrong-kernel --gpus=1
	passed
	has "task 0: FAIL cuda"
	has "ran 0"
	plugin_told gpu_check_helper=/nowhere/helper
	run task --gpus=1
	passed
	has "not checked cuda: /nowhere/helper: No such file or directory"
	has "gpu_check_helper= in plugstack.conf"
	plugin_told gpu_check_helper=/nowhere/helper gpu_check_policy=strict
	run task --gpus=1
	refused
}

@test "a check of the site's own has to succeed in the task's environment" {
	run task TORCH=fine --gpus=1 --gpu-check=torch
	passed
	has "ran 0 gpu=0 ok"
	run task TORCH=slow --gpus=1 --gpu-check=enum,torch
	has "FAIL torch: $CLUSTER_DIR/bin/torch_check: status 1 after "
	has 'it printed "torch slow sees 0"'
	refused
}

@test "OpenCL really runs, and a processor in the place of a GPU is caught" {
	run task --gpus=1 --gpu-backend=opencl-cpu
	passed
	has "ran 0 gpu=0 ok"
	[[ $(logged opencl-cpu | jq -r '"\(.gpu_check) \(.level)"') == "ok kernel" ]]
	run task --gpus=1 --gpu-backend=opencl
	has "FAIL opencl: "
	has "a GPU was asked for and what answers is a processor"
	refused
	run task --gpus=1 --gpu-backend=vulkan
	has '--gpu-backend: "vulkan" is none of auto, cuda, hip, level-zero, opencl, opencl-cpu'
}

# container_is before|behind HIDDEN=INSIDE...: the plugin that plays one for containers stands there, seen from ours
container_is()
{
	local file=$CLUSTER_DIR/etc/plugstack.conf line="required $CLUSTER_DIR/lib/container_plugin.so ${*:2}"

	[[ -e $CLUSTER_DIR/lib/container_plugin.so ]] ||
		${CC:-cc} -std=gnu17 -D_GNU_SOURCE -shared -fPIC "$BATS_TEST_DIRNAME/../stubs/container_plugin.c" -o "$CLUSTER_DIR/lib/container_plugin.so"
	plugin_told
	if [[ $1 == before ]]; then
		sed -i "1i $line" "$file"
	else
		echo "$line" >>"$file"
	fi
}

@test "behind a plugin that makes a container of the task the proof sees what the program will see, before it the host" {
	mkdir -p "$CLUSTER_DIR"/inside/{empty,helpers}
	chmod -R go+rX "$CLUSTER_DIR/inside"
	container_is before "$CLUSTER_DIR/stub=$CLUSTER_DIR/inside/empty"	# an image without the driver's library
	run task --gpus=1
	has "the library of the driver is not where this process looks for it"
	refused
	container_is behind "$CLUSTER_DIR/stub=$CLUSTER_DIR/inside/empty"
	run as ada env LD_LIBRARY_PATH="$CLUSTER_DIR/stub" srun --account=vision --gpus=1 --time=10 --gpu-min-runtime=5m \
		sh -c 'echo "ran $GPUBUDGET_GPU_CHECK $(ls "$LD_LIBRARY_PATH" | wc -l)"'
	passed
	has "ran ok 0"				# proven on the host, and there is no library in the container
	mkdir -p "$CLUSTER_DIR/helper"
	install -m 755 "$BUILD/gpu_check/gpu-check-helper" "$CLUSTER_DIR/helper"
	container_is before "$CLUSTER_DIR/helper=$CLUSTER_DIR/inside/helpers"	# an image without the helper
	sed -i "s#gpu_check_helper=[^ ]*#gpu_check_helper=$CLUSTER_DIR/helper/gpu-check-helper#" "$CLUSTER_DIR/etc/plugstack.conf"
	run task --gpus=1
	passed
	has "not checked cuda: $CLUSTER_DIR/helper/gpu-check-helper: No such file or directory"
	has "ran 0 gpu=0 unchecked"
	install -m 755 "$BUILD/gpu_check/gpu-check-helper" "$CLUSTER_DIR/inside/helpers"
	run task --gpus=1
	passed
	has "ran 0 gpu=0 ok"
}
