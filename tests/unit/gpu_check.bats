# SPDX-License-Identifier: GPL-2.0-or-later
# gpu-check proves backends, or says why it cannot: against stubs of vendors' libraries (tests/stubs, no GPU anywhere), against
# real libraries on a machine without GPUs, and with PoCL, on which a kernel really runs. No cluster.
bats_require_minimum_version 1.5.0

setup_file()
{
	export TOP=$BATS_TEST_DIRNAME/../.. STUBS=$BATS_FILE_TMPDIR/stubs NODE=$BATS_FILE_TMPDIR/node
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/gpu_check:$PATH
	stub cuda libcuda.so.1 libcuda_stub.c
	stub cuda-no-fill libcuda.so.1 libcuda_stub.c -DSTUB_NO_FILL
	stub hip libamdhip64.so.7 libamdhip64_stub.c
	stub hip-no-compiler libamdhip64.so.7 libamdhip64_stub.c -DSTUB_NO_COMPILER
	stub level-zero libze_loader.so.1 libze_stub.c
	stub kill kill.so kill_stub.c
	mkdir "$STUBS/empty" "$STUBS/text"
	: >"$STUBS/empty/libcuda.so.1"
	printf 'not a library %.0s' {1..20} >"$STUBS/text/libcuda.so.1"
	gpus nvidia 0x10de c1 c2 c3 c4
	gpus amd 0x1002 c1 c2
	gpus intel 0x8086 c1
	cp -r "$NODE/nvidia" "$NODE/mixed"
	cp -r "$NODE"/amd/sys "$NODE/mixed/"		# c1 and c2 are AMD's there, c3 and c4 NVIDIA's
	gpus none 0x1af4 01
}

# stub FOLDER LIBRARY SOURCE [OPTION]
stub()
{
	mkdir -p "$STUBS/$1"
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -I"$TOP" -shared -fPIC "${@:4}" "$TOP/tests/stubs/$3" "$TOP/gpu_check/pattern.c" -o "$STUBS/$1/$2"
}

# gpus NODE VENDOR BUS...: a node's /sys with these GPUs, and a network card
gpus()
{
	local bus dir

	for bus in "${@:3}" 05; do
		dir=$NODE/$1/sys/bus/pci/devices/0000:$bus:00.0
		mkdir -p "$dir"
		echo 0x030200 >"$dir/class"
		echo "$2" >"$dir/vendor"
	done
	echo 0x020000 >"$dir/class"
	mkdir -p "$NODE/$1/sys/bus/pci/devices/0000:00:00.0"		# a bridge
	echo 0x060000 >"$NODE/$1/sys/bus/pci/devices/0000:00:00.0/class"
	echo 0x8086 >"$NODE/$1/sys/bus/pci/devices/0000:00:00.0/vendor"
}

setup()
{
	unset "${!SLURM_@}" "${!CUDA_@}" "${!HIP_@}" "${!ROCR_@}" "${!ZE_@}" "${!GPU_@}" "${!OCL_@}"
	export HOME=$BATS_TEST_TMPDIR/home TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$HOME" "$TMPDIR"
}

# on FOLDER OF STUBS [VARIABLE=VALUE]... OPTION...: what gpu-check finds on a node with NVIDIA's GPUs, unless --root says another
on()
{
	local stubs=$STUBS/$1 variables=()

	shift
	while [[ ${1-} == [A-Z]*=* ]]; do variables+=("$1"); shift; done
	env LD_LIBRARY_PATH="$stubs" "${variables[@]}" gpu-check --helper "$BUILD/gpu_check/gpu-check-helper" --root "$NODE/nvidia" "$@"
}

real() { gpu-check --helper "$BUILD/gpu_check/gpu-check-helper" "$@"; }

# of FIELD: of the first backend in the JSON of $output, which has the sentences of stderr before it. json FILTER: of the whole.
of() { json ".backends[0].$1"; }
# told: its verdict, cause, stage, whether there is advice, evidence
told() { json '.backends[0] | "\(.verdict) \(.cause) \(.stage) \((.text | length > 20) and (.advice | length > 15)) \(.evidence)"'; }
json() { grep '^{' <<<"$output" | jq -r "$1"; }

gone() { local n; for ((n = 0; n < 500; n++)); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.02; done; echo "process $1 is still there"; return 1; }

# --- what works -------------------------------------------------------------------------------------

@test "a kernel runs on every GPU, and each stage has its time" {
	GPU_STUB_DEVICES=4 run -0 on cuda -o json --all
	[[ $(json .verdict) == ok && $(of seen) == 4 && $(of on_bus) == 4 ]]
	[[ $(of 'devices | map(.bus_id) | join(" ")') == "0000:c1:00.0 0000:c2:00.0 0000:c3:00.0 0000:c4:00.0" ]]
	[[ $(of 'stages | keys | sort | join(" ")') == "context copy count fill identity init kernel load" ]]
	[[ $(of 'devices[3].stages.kernel > 0') == true && $(of 'devices[0].uuid') == GPU-10101010-1010-1010-1010-101010101010 ]]
	[[ $(of library) == "$STUBS/cuda/libcuda.so.1" && $(of version) == "CUDA 12.4" ]]

	GPU_STUB_DEVICES=4 run -0 on cuda --all
	[[ $output == *"gpu-check: ok cuda: 4 devices (stub, no GPU at 0000:c1:00.0, ...), a kernel ran on each"* ]]
	[[ $output == *"0000:c4:00.0"* ]]
}

@test "a level goes as far as it says" {
	for row in "enum:count identity init load" "copy:context copy count fill identity init load" \
		"bandwidth:bandwidth context copy count fill identity init kernel load"; do
		run -0 on cuda -o json --level "${row%%:*}"
		[[ $(of 'stages | keys | sort | join(" ")') == "${row#*:}" ]]
	done
	[[ $(of 'devices[0].to_device_mb_s > 0 and .backends[0].devices[0].from_device_mb_s > 0') != false ]]
	GPU_STUB=wrong-kernel run -0 on cuda --level copy
	run -5 on cuda --level off
	[[ $output == "gpu-check: not checked: the level is off" ]]
}

@test "every backend is led through its own library, up to the kernel" {
	run -0 on hip -o json --root "$NODE/amd" --level bandwidth
	[[ $(of backend) == hip && $(of 'devices[0].stages.kernel > 0') == true && $(of version) == "HIP 6.0" ]]
	run -0 on level-zero -o json --root "$NODE/intel" --level bandwidth
	[[ $(of backend) == level-zero && $(of 'devices[0].stages.kernel > 0') == true && $(of version) == "Level Zero 1.3" ]]
}

@test "without a compiler AMD's memory is filled and read back, and that is said" {
	run -0 on hip-no-compiler --root "$NODE/amd"
	[[ $output == *"warning hip: 1 device"*"memory filled and copied on each"*"there is nothing here to make a kernel with"* ]]
}

# --- what a driver can do wrong ---------------------------------------------------------------------

@test "each fault of a driver has its own cause, the stage, and what to do" {
	while IFS='|' read -r library variable cause stage text; do
		run -4 on "$library" ${variable:+"$variable"} -o json --backend "${library%%-no*}" --deadline 30
		echo "$library $variable: $output"
		[[ $(told) == "fail $cause $stage true "*"$text"* ]]
	done <<-'END'
		cuda|GPU_STUB_INIT=34|stub-library|init|CUDA_ERROR_STUB_LIBRARY (34)
		cuda|GPU_STUB_INIT=100|no-device|init|CUDA_ERROR_NO_DEVICE (100)
		cuda|GPU_STUB_INIT=802|fabric-manager|init|CUDA_ERROR_SYSTEM_NOT_READY (802)
		cuda|GPU_STUB_INIT=803|driver-mismatch|init|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)
		cuda|GPU_STUB_INIT=805|mps|init|CUDA_ERROR_MPS_CONNECTION_FAILED (805)
		cuda|GPU_STUB_INIT=2|no-memory|init|CUDA_ERROR_OUT_OF_MEMORY (2)
		cuda|GPU_STUB_INIT=777|refused|init|cuInit: error 777
		cuda|GPU_STUB=crash|crash|init|signal 11 (Segmentation fault) while initialising
		cuda|GPU_STUB=crash-kernel|crash|kernel|running a kernel on the device (device 0, 0000:c1:00.0)
		cuda|GPU_STUB=exit|silent|init|ended with status 0 while initialising
		cuda|GPU_STUB=garbage|garbage|init|a line that is none of a report
		cuda|GPU_STUB=nothing|wrong-fill|fill|4096 of 4096 words of filled memory are wrong
		cuda|GPU_STUB=wrong-fill|wrong-fill|fill|1 of 4096 words of filled memory are wrong: word 17
		cuda|GPU_STUB=wrong-copy|wrong-copy|copy|1 of 4096 words of copied memory are wrong: word 25
		cuda|GPU_STUB=wrong-kernel|wrong-kernel|kernel|4096 of 4096 words of the kernel's result are wrong
		cuda|GPU_STUB=busy-for-long|busy|context|CUDA_ERROR_DEVICE_UNAVAILABLE (46)
		cuda|GPU_STUB_KERNEL=218|kernel-unsuited|kernel|CUDA_ERROR_INVALID_PTX (218)
		cuda|GPU_STUB_KERNEL=221|compiler|kernel|CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)
		cuda|GPU_STUB=no-bus|not-on-bus|null|at 0000:00:00.0
		cuda-no-fill||missing-symbol|load|has no cuMemsetD32_v2
		hip|GPU_STUB_INIT=35|driver-mismatch|init|hipErrorInsufficientDriver (35)
		hip|GPU_STUB=wrong-kernel|wrong-kernel|kernel|of the kernel's result are wrong
		hip|GPU_STUB=no-compiler|compiler|kernel|hiprtcCompileProgram failed
		level-zero|GPU_STUB_INIT=0x70010000|forbidden|init|ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS (0x70010000)
		level-zero|GPU_STUB=nothing|wrong-fill|fill|4096 of 4096 words
		level-zero|GPU_STUB=wrong-kernel|wrong-kernel|kernel|of the kernel's result are wrong
		level-zero|GPU_STUB_KERNEL=0x70000004|compiler|kernel|ZE_RESULT_ERROR_MODULE_BUILD_FAILURE (0x70000004)
		level-zero|GPU_STUB=cpu|cpu|null|device 0 of 1 is "stub, no GPU"
	END
}

@test "a library that is missing, empty or none is told apart" {
	run -4 on empty -o json --backend cuda
	[[ $(of cause) == bad-library && $(of evidence) == *"$STUBS/empty/libcuda.so.1: file too short"* ]]
	run -4 on text -o json --backend cuda
	[[ $(of cause) == bad-library && $(of evidence) == *"invalid ELF header"* ]]
	if ! ldconfig -p | grep -qF libcuda.so.1; then		# else this machine has NVIDIA's driver
		run -4 on empty-folder -o json --backend cuda
		[[ $(of cause) == no-library ]]
	fi
}

@test "a driver that hangs costs its deadline and no more, and leaves nothing behind" {
	local fault

	for fault in hang:hang hang-d:hang-in-kernel close:hang hang-kernel:hang; do
		SECONDS=0
		GPU_STUB=${fault%:*} GPU_STUB_PID=$BATS_TEST_TMPDIR/pid run -4 on cuda -o json --deadline 1
		echo "$output"
		((SECONDS < 10))
		[[ $(of cause) == "${fault#*:}" && $(of 'seconds > 0.9 and .backends[0].seconds < 5') == true ]]
		gone "$(tail -n 1 "$BATS_TEST_TMPDIR/pid")"
	done
	[[ $(of stage) == kernel && $(of evidence) == *"device 0, 0000:c1:00.0"* ]]
}

@test "a process that no signal ends is left behind, and the caller goes on" {
	SECONDS=0
	GPU_STUB=hang GPU_STUB_PID=$BATS_TEST_TMPDIR/pid LD_PRELOAD=$STUBS/kill/kill.so run -4 on cuda -o json --deadline 1
	((SECONDS < 10))
	[[ $(of cause) == hang-in-kernel && $(of evidence) == *"process $(<"$BATS_TEST_TMPDIR/pid") is in state "*" and does not end"* ]]
	gone "$(<"$BATS_TEST_TMPDIR/pid")"		# with its parent
}

@test "what a driver starts is ended with the helper, and holds nobody up" {
	local pid

	SECONDS=0
	GPU_STUB=fork GPU_STUB_PID=$BATS_TEST_TMPDIR/pid run -0 on cuda --deadline 30
	((SECONDS < 20))
	[[ $(wc -l <"$BATS_TEST_TMPDIR/pid") == 2 ]]
	for pid in $(<"$BATS_TEST_TMPDIR/pid"); do gone "$pid"; done
}

@test "what libraries print never comes into the output as it is" {
	GPU_STUB=print run -0 on cuda
	[[ $output != *$'\033'* && $output != *"loading GPU"* ]]
	GPU_STUB=print run -0 on cuda -o json
	[[ $(of printed) == "?[31mloading GPU?driver..." ]]
}

@test "two tasks that prove one exclusive GPU wait for each other" {
	GPU_STUB=busy run -0 on cuda -o json
	[[ $(of 'stages.context >= 0.2') == true ]]
}

# --- which and how many -----------------------------------------------------------------------------

@test "the number of devices is held against the allocation" {
	while IFS='|' read -r rc devices variables verdict cause text; do
		GPU_STUB_DEVICES=$devices run "-$rc" on cuda $variables -o json
		echo "$devices $variables: $output"
		[[ $(told) == "$verdict $cause null "*" "*"$text"* ]]
	done <<-'END'
		0|4|SLURM_STEP_GPUS=0,1,2,3 CUDA_VISIBLE_DEVICES=0,1,2,3|ok|null|
		0|1|SLURM_JOB_GPUS=0,1,2,3 SLURM_STEP_GPUS=2 CUDA_VISIBLE_DEVICES=0|ok|null|
		0|4|SLURM_JOB_GPUS=0-3|ok|null|
		4|3|SLURM_STEP_GPUS=0,1,2,3 CUDA_VISIBLE_DEVICES=0,1,2,3|fail|fewer|4 given by Slurm, 4 in CUDA_VISIBLE_DEVICES, 3 seen
		4|1|CUDA_VISIBLE_DEVICES=0,9|fail|fewer|2 in CUDA_VISIBLE_DEVICES, 1 seen
		4|0|SLURM_STEP_GPUS=0|fail|no-device|1 given by Slurm, 0 seen
		0|2|SLURM_STEP_GPUS=0,1,2,3 CUDA_VISIBLE_DEVICES=0,1|warn|narrowed|4 given by Slurm, 2 in CUDA_VISIBLE_DEVICES, 2 seen
		0|4|SLURM_STEP_GPUS=2|warn|more|1 given by Slurm, 4 seen
		0|0|SLURM_STEP_GPUS=2 CUDA_VISIBLE_DEVICES=|warn|narrowed|1 given by Slurm, 0 in CUDA_VISIBLE_DEVICES
		5|0|CUDA_VISIBLE_DEVICES=NoDevFiles|unchecked|hidden|0 in CUDA_VISIBLE_DEVICES
		0|1|SLURM_STEP_GPUS=0,1 CUDA_VISIBLE_DEVICES=MIG-a,MIG-b GPU_STUB=mig|ok|null|
		0|1|SLURM_STEP_GPUS=0 SLURM_SHARDS_ON_NODE=4 CUDA_VISIBLE_DEVICES=0|ok|null|
	END
}

@test "a node's own GPUs, a number given by hand, and the task's bus ids are held against as well" {
	GPU_STUB_DEVICES=3 run -4 on cuda --all
	[[ $output == *"FAIL cuda: 4 on the node's bus, 3 seen by the backend"* ]]
	GPU_STUB_DEVICES=3 run -0 on cuda --expect 3
	GPU_STUB_DEVICES=3 run -4 on cuda --expect 4
	[[ $output == *"FAIL cuda: 4 expected, 3 seen by the backend"* ]]
	# all of them fell off the bus: whoever said how many there are to be hears that they are not
	run -4 on cuda --expect 2 --root "$NODE/none"
	[[ $output == *"FAIL auto: 2 expected, none of a known vendor is on the node's bus. Cause: "* ]]
	run -4 on cuda --gpus 0000:c9:00.0 -o json
	[[ $(of cause) == fewer && $(of evidence) == "0000:c9:00.0 is not on the node's bus" && $(of seen) == null ]]
	run -5 on cuda --expect 0 --root "$NODE/none"
	GPU_STUB_DEVICES=2 run -0 on cuda --gpus 00000000:C2:00.0,0000:c1:00.0
	GPU_STUB_DEVICES=2 run -4 on cuda --gpus 0000:c1:00.0,0000:c3:00.0 -o json
	[[ $(of cause) == other-gpu && $(of evidence) == "0000:c3:00.0 belongs to the task and is not among the 2 that it sees" ]]
}

@test "AMD's two variables work one behind the other, and the tiles of a card are one" {
	run -4 on hip ROCR_VISIBLE_DEVICES=2,3 HIP_VISIBLE_DEVICES=0,1 --root "$NODE/amd" -o json
	[[ $(of cause) == fewer && $(of evidence) == "2 in ROCR_VISIBLE_DEVICES, 1 seen by the backend" ]]
	run -0 on level-zero SLURM_STEP_GPUS=3 GPU_STUB_TILES=2 --root "$NODE/intel" -o json
	[[ $(of seen) == 2 && $(of verdict) == ok ]]
}

@test "the vendors of the GPUs say which backends are proven" {
	run -0 on hip --root "$NODE/amd" -o json --level enum
	[[ $(json '.backends | map(.backend) | join(" ")') == hip ]]
	# of a mixed node nobody knows whose GPUs the task has: those that answer have to be as many as were given
	LD_LIBRARY_PATH=$STUBS/cuda:$STUBS/hip GPU_STUB_DEVICES=2 SLURM_STEP_GPUS=0,1,2,3 run -0 real --root "$NODE/mixed" -o json --level enum
	[[ $(json '.backends | map(.backend) | join(" ")') == "hip cuda" ]]
	for number in "--expect 4" "--all --expect 4"; do
		LD_LIBRARY_PATH=$STUBS/cuda:$STUBS/hip GPU_STUB_DEVICES=2 run -0 real --root "$NODE/mixed" --level enum $number
	done
	LD_LIBRARY_PATH=$STUBS/cuda:$STUBS/hip GPU_STUB_DEVICES=2 run -4 real --root "$NODE/mixed" --level enum --expect 5
	[[ $output == *"FAIL cuda: 5 expected, 4 seen by the 2 backends together. Cause: "* ]]
	run -4 on cuda --gpus 0000:c1:00.0 --root "$NODE/mixed" -o json --level enum
	[[ $(of backend) == hip ]]
	run -5 on cuda --root "$NODE/none"
	[[ $output == *"not checked: no GPU of a known vendor is on this node's bus"* ]]
}

# --- real libraries ---------------------------------------------------------------------------------

@test "the real libraries of AMD and Intel, without a device, are judged right" {
	run -4 real --backend hip -o json
	[[ $(of cause) == no-device && $(of stage) == init && $(of evidence) == hipInit:* && $(of library) == *libamdhip64.so.* ]]
	run -4 real --backend level-zero -o json
	[[ $(of cause) == no-driver && $(of evidence) == *ZE_RESULT_ERROR_UNINITIALIZED* && $(of library) == *libze_loader.so.1 ]]
}

@test "OpenCL with a processor only is no GPU" {
	run -4 real --backend opencl
	[[ $output == *"FAIL opencl: device 0 of 1 is "*"a GPU was asked for and what answers is a processor"*"--backend=opencl-cpu"* ]]
	OCL_ICD_VENDORS=$BATS_TEST_TMPDIR run -4 real --backend opencl -o json
	[[ $(of cause) == no-icd ]]
}

@test "a kernel really runs on PoCL, is read back, and leaves no file" {
	run -0 real --backend opencl-cpu -o json --level bandwidth --deadline 120
	[[ $(of verdict) == ok && $(of 'devices[0].kind') == cpu && $(of 'devices[0].stages.kernel > 0') == true ]]
	[[ $(of 'devices[0].to_device_mb_s > 0') == true ]]
	[[ -z $(find "$HOME" "$TMPDIR" -mindepth 1) ]]
}

@test "interrupted, the check leaves no folder and no helper behind" {
	local signal pid n

	printf '#!/bin/sh\necho $$ >%s\nexec sleep 300\n' "$BATS_TEST_TMPDIR/helper.pid" >"$BATS_TEST_TMPDIR/sleeps"
	chmod +x "$BATS_TEST_TMPDIR/sleeps"
	for signal in INT TERM HUP; do
		rm -f "$BATS_TEST_TMPDIR/helper.pid"
		env --default-signal gpu-check --backend opencl-cpu --helper "$BATS_TEST_TMPDIR/sleeps" --deadline 300 >&- 2>&- 3>&- &
		pid=$!
		for ((n = 0; n < 3000; n++)); do [[ -s $BATS_TEST_TMPDIR/helper.pid ]] && break; sleep 0.02; done
		[[ -d $(echo "$TMPDIR"/gpu-check-*) ]]
		kill -s $signal $pid
		status=0
		wait $pid || status=$?
		((status == 128 + $(kill -l $signal)))
		[[ -z $(find "$TMPDIR" -mindepth 1) ]]
		gone "$(<"$BATS_TEST_TMPDIR/helper.pid")"
	done
}

@test "the kernel for Level Zero is the one whose text stands beside it" {
	spirv-as --target-env opencl1.2 "$TOP/gpu_check/level_zero_kernel.spvasm" -o "$BATS_TEST_TMPDIR/kernel.spv"
	spirv-val --target-env opencl1.2 "$BATS_TEST_TMPDIR/kernel.spv"
	[[ $(grep -oE '0x[0-9a-f]{8}' "$TOP/gpu_check/level_zero_kernel.h" | cut -c3-) == $(od -An -v -tx4 -w4 "$BATS_TEST_TMPDIR/kernel.spv" | tr -d ' ') ]]
}

# --- the program ------------------------------------------------------------------------------------

@test "optional tells and goes on, required ends with 4" {
	GPU_STUB_INIT=802 run -0 on cuda --optional
	[[ $output == *"FAIL cuda: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)"* ]]
	GPU_STUB_INIT=802 run -4 on cuda
	GPU_STUB_INIT=802 run -0 --separate-stderr on cuda -o json --optional
	[[ $stderr == *"FAIL cuda"* ]]
	[[ $(jq -s length <<<"$output") == 1 && $(wc -l <<<"$output") == 1 ]]
}

@test "a soak proves again and again, and ends with the first failure" {
	run -0 on cuda --soak 2s
	[[ $output =~ "gpu-check: "([0-9]+)" proofs in "[0-9]+" s, the slowest took "[0-9.]+" s" ]]
	((BASH_REMATCH[1] > 1))
	GPU_STUB_COUNT=$BATS_TEST_TMPDIR/count run -4 on cuda --soak 5 -o json
	[[ $(json .proofs) == 3 && $(of cause) == wrong-kernel && $(json '.soak_seconds > 0 and .slowest_seconds > 0') == true ]]
	run -2 gpu-check --soak never
	run -2 gpu-check --soak 0
}

@test "a helper that is missing, silent or another program is told" {
	run -4 gpu-check --backend cuda --helper "$BATS_TEST_TMPDIR/nothing" -o json
	[[ $(of cause) == no-helper && $(of evidence) == *"No such file"* ]]
	run -4 gpu-check --backend cuda --helper /bin/true -o json
	[[ $(of cause) == no-helper && $(of evidence) == *"ended with status 0 before its first word"* ]]
	printf '#!/bin/sh\nyes x >&3\n' >"$BATS_TEST_TMPDIR/talks"
	printf '#!/bin/sh\nyes\n' >"$BATS_TEST_TMPDIR/prints"
	chmod +x "$BATS_TEST_TMPDIR"/{talks,prints}
	run -4 gpu-check --backend cuda --helper "$BATS_TEST_TMPDIR/talks" -o json
	[[ $(of cause) == garbage ]]
	run -4 gpu-check --backend cuda --helper "$BATS_TEST_TMPDIR/prints" --deadline 2 -o json
	[[ $(of cause) == @(no-helper|hang) ]]
	run -2 gpu-check-helper
	[[ $output == *"not by hand"* ]]
}

@test "a command line that makes no sense is refused with what would" {
	run -2 gpu-check --backend metal
	[[ $output == *"auto, cuda, hip, level-zero, opencl, opencl-cpu"* ]]
	run -2 gpu-check --level most
	[[ $output == *"auto, off, enum, copy, kernel, bandwidth"* ]]
	run -2 gpu-check --deadline 0
	run -2 gpu-check --deadline soon
	run -2 gpu-check --expect -1
	run -2 gpu-check --gpus here
	run -2 gpu-check --gpus ""			# as of a variable that is empty: not "all"
	[[ $output == *"the list of GPUs names none" ]]
	run -2 gpu-check --gpus "$(printf '0000:c1:00.0,%.0s' {1..65})"
	[[ $output == *"more than 64 GPUs are named" ]]
}
