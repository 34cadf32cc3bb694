# SPDX-License-Identifier: GPL-2.0-or-later
# The plugin where Slurm can put a program before the task's own (23.11): by a stub of slurmstepd, over stubs of libcuda. The hooks of a
# real slurmstepd are in tests/cluster/gpu_check.bats.
bats_require_minimum_version 1.5.0

setup_file()
{
	local top=$BATS_TEST_DIRNAME/../..

	export W=$BATS_FILE_TMPDIR TOP=$top
	cd "$W"
	mkdir stub libexec machine
	stub slurmstepd
	stub slurmstepd-old -DSTUB_OLD
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -I"$top" -shared -fPIC "$top/tests/stubs/libcuda_stub.c" "$top/gpu_check/pattern.c" -o stub/libcuda.so.1
	cp "${BUILD:?set BUILD to the folder in which the project was built}"/{gpu_check/gpu-check-helper,spank/gpu-check-task} libexec
	for bus in c1 c2; do
		mkdir -p "machine/sys/bus/pci/devices/0000:$bus:00.0"
		echo 0x030200 >"machine/sys/bus/pci/devices/0000:$bus:00.0/class"
		echo 0x10de >"machine/sys/bus/pci/devices/0000:$bus:00.0/vendor"
	done
}

stub() { ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -rdynamic "${@:2}" "$TOP/tests/stubs/slurmstepd_stub.c" -o "$1" -ldl; }

setup()
{
	unset "${!SLURM_@}" "${!CUDA_@}" "${!GPU_@}"
	export SLURM_STEP_GPUS=0,1 SLURM_JOB_GPUS=0,1 CUDA_VISIBLE_DEVICES=0,1 GPU_STUB_DEVICES=2 LD_LIBRARY_PATH=$W/stub
	export STUB_LOG=$BATS_TEST_TMPDIR/log GPU_STUB_PID=$BATS_TEST_TMPDIR/pids
}

# step STUB "ARGUMENT..." TASKS PROGRAM...
step() { "$W/$1" "$BUILD/spank/.libs/gpubudget.so" "gpu_root=$W/machine gpu_numa=off gpu_check_helper=$W/libexec/gpu-check-helper $2" "${@:3}"; }

has() { [[ $output == *"$1"* ]] || { echo "not there: $1"; echo "$output"; return 1; }; }
proofs() { wc -l <"$GPU_STUB_PID"; }

@test "sound GPUs: one proof for all tasks, then the program in its own process, with its words and nothing left open" {
	run step slurmstepd "" 3 sh -c 'echo "ran $GPUBUDGET_GPU_CHECK $0 $1"' "two words" '*'
	((status == 0))
	[[ $(grep -c '^ran ok two words \*' <<<"$output ") == 3 && $(proofs) == 1 && $output != *"task "* ]]
	run step slurmstepd "" 1 sh -c 'ls -l /proc/self/fd'
	[[ $output != *gpubudget-proofs* ]]
	[[ $(grep -c '^verbose: gpubudget: {"gpu_check":"ok","step":"7.0",' "$STUB_LOG") == 2 ]]
}

@test "a check of the site's does not get the page on which the proofs stand" {
	printf '#!/bin/sh\nls -l /proc/self/fd >%s\n' "$BATS_TEST_TMPDIR/fds" >"$BATS_TEST_TMPDIR/check"
	chmod +x "$BATS_TEST_TMPDIR/check"
	run step slurmstepd "check_site=$BATS_TEST_TMPDIR/check gpu_check=kernel,site" 1 echo ran
	((status == 0))
	grep -q /dev/null "$BATS_TEST_TMPDIR/fds"
	! grep gpubudget-proofs "$BATS_TEST_TMPDIR/fds"
}

@test "GPUs that do not work: no program starts, each task says why, the log has one line" {
	GPU_STUB=wrong-kernel run step slurmstepd "" 2 echo ran
	((status == 1))
	[[ $output != *ran$'\n'* && $(grep -c 'gpubudget: task [01]: FAIL cuda: ' <<<"$output") == 2 ]]
	[[ $(sed -n 's/^info: gpubudget: //p' "$STUB_LOG" | jq -r '"\(.gpu_check) \(.cause) \(.level)"') == "fail wrong-kernel kernel" ]]
	GPU_STUB=wrong-kernel run step slurmstepd "gpu_check_policy=optional" 1 sh -c 'echo "ran $GPUBUDGET_GPU_CHECK"'
	((status == 0))
	has "ran fail"
}

@test "what a TaskProlog exports is seen, as it is not in the hook" {
	STUB_PROLOG=GPU_STUB=hang run step slurmstepd "gpu_check_deadline=1" 1 echo ran
	((status == 1))
	has "no answer in 1."
	STUB_PROLOG=GPU_STUB=hang run step slurmstepd "gpu_check_deadline=1 gpu_check_at=hook" 1 echo ran
	((status == 0))
}

@test "a page that is none, a program that is none, a command line by hand" {
	run "$W/libexec/gpu-check-task" 99 0 echo ran
	((status == 0))
	has "task 0: GPUs are not checked: descriptor 99 is no page of proofs"
	has "ran"
	run "$W/libexec/gpu-check-task" 99 0 /nowhere/program
	((status == 2))			# ENOENT, as slurmstepd would end
	run -2 "$W/libexec/gpu-check-task"
}

@test "the hook does it in an older Slurm, when the site wants so, in a bundle, and where the program is not there" {
	run step slurmstepd-old "" 2 sh -c 'echo "ran $GPUBUDGET_GPU_CHECK $(tr "\0" " " </proc/$$/cmdline)"'
	((status == 0))
	[[ $(grep -c '^ran ok sh -c' <<<"$output") == 2 && $(proofs) == 1 ]]
	[[ $(grep -c gpu_check "$STUB_LOG") == 1 ]]
	GPU_STUB=crash run step slurmstepd "gpu_check_at=hook" 1 echo ran
	((status == 1))
	has "slurmstepd: error: gpubudget: task 0: FAIL cuda: signal 11"
	GPU_STUB=crash SLURM_CONTAINER=/bundle run step slurmstepd "" 1 echo ran
	has "slurmstepd: error: gpubudget: task 0: FAIL cuda: signal 11"
	mkdir "$W/alone"
	cp "$W/libexec/gpu-check-helper" "$W/alone"
	GPU_STUB=crash run step slurmstepd "gpu_check_helper=$W/alone/gpu-check-helper" 1 echo ran
	has "slurmstepd: error: gpubudget: task 0: FAIL cuda: signal 11"
	GPU_STUB=crash run step slurmstepd "" 1 /tmp/	# Slurm fills in a name behind it
	has "slurmstepd: error: gpubudget: task 0: FAIL cuda: signal 11"
}

@test "a step without GPUs runs as it is" {
	unset SLURM_STEP_GPUS CUDA_VISIBLE_DEVICES
	GPU_STUB=crash run step slurmstepd "" 2 sh -c 'echo "ran ${GPUBUDGET_GPU_CHECK-unset}"'
	((status == 0))
	[[ $(grep -c 'ran unset' <<<"$output") == 2 && ! -e $GPU_STUB_PID ]]
}

@test "of a helper that is not there the site is told where to name it" {
	run step slurmstepd gpu_check_helper=/nowhere/helper 1 echo ran
	[[ $output == *"not checked cuda: /nowhere/helper: No such file or directory"*"gpu_check_helper= in plugstack.conf"* && $output == *ran* ]]
}
