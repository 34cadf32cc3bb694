#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [--stub] - the whole CUDA path of gpu-check on a machine with an NVIDIA GPU: what it finds, what it costs, what it catches
#
# Builds with a C compiler and nothing else: no CUDA toolkit, no Slurm, no configure. Takes well under 3 minutes. Prints a table of stage
# times at the levels enum, kernel and bandwidth, and the ratio of a whole check to a program that does cuInit and a
# context only. The last line is "N passed, N failed"; the exit status is 0 only for 0 failed.
# --stub takes tests/stubs/libcuda_stub.c instead of a driver: that tries this script and says nothing about any GPU.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
runs=5
passed=0
failed=0
stub=
[[ ${1-} != --stub ]] || stub=1

# --- build ------------------------------------------------------------------------------------------

compile() { ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -I"$top" "$@"; }

build()
{
	local room=$top/gpu_check

	compile -o "$work/gpu-check-helper" "$room"/{helper,stages,backend,library,pattern,cuda,hip,level_zero,opencl}.c $shared -ldl
	compile -o "$work/prove" "$top/tests/gpu/prove.c" "$room"/{prove,prove_view,verdict,allocation,node_gpus,deadline,scratch}.c \
		$shared
	compile -o "$work/bare" "$top/tests/gpu/bare.c" -ldl
	compile -shared -fPIC -o "$work/libcuda.so.1" "$top/tests/stubs/libcuda_stub.c" "$room/pattern.c"
}
shared="$(printf "$top/gpu_check/%s.c " lines report stage cause backend_names) $(echo "$top"/locality/*.c) $top/lib/number.c $top/lib/duration.c $top/lib/fault.c"

# --- time -------------------------------------------------------------------------------------------

now_us() { echo $((${EPOCHREALTIME/[.,]/})); }

# median COMMAND...: microseconds of the middle one of $runs runs, as processes
median()
{
	local start i

	for ((i = 0; i < runs; i++)); do
		start=$(now_us)
		"$@" >/dev/null 2>&1 || true
		echo $(($(now_us) - start))
	done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

ms() { awk -v us="$1" 'BEGIN { printf "%.1f", us / 1000 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf("%.2f", (b > 0) ? a / b : 0) }'; }

# --- what is right ----------------------------------------------------------------------------------

# expect TITLE EXIT-STATUS WORDS COMMAND...: the words are somewhere in the output
expect()
{
	local title=$1 wanted=$2 words=$3 rc=0 out

	shift 3
	out=$("$@" 2>&1) || rc=$?
	if [[ $rc == "$wanted" && $out == *"$words"* ]]; then
		passed=$((passed + 1))
		echo "passed  $title"
	else
		failed=$((failed + 1))
		printf 'FAILED  %s: status %s instead of %s\n%s\n' "$title" "$rc" "$wanted" "$out"
	fi
}

check() { "${prove[@]}" "$@"; }
with() { env "${@:1:1}" "${prove[@]}" "${@:2}"; }
one_gpu() { env CUDA_VISIBLE_DEVICES="$first" "$@"; }

table()
{
	local level whole bare

	bare=$(median one_gpu "$work/bare")
	echo "one GPU, the middle of $runs runs, whole processes"
	echo "cuInit and a context, nothing else: $(ms "$bare") ms"
	for level in enum copy kernel; do
		whole=$(median one_gpu "${prove[@]}" --level "$level")
		echo "gpu-check, level $level: $(ms "$whole") ms, $(ratio "$whole" "$bare") of it"
	done
	echo
	check --level enum || true
	echo
	check --level bandwidth || true
	echo
}

build
unset "${!SLURM_@}"
prove=("$work/prove" --helper "$work/gpu-check-helper" --backend cuda)
first=${CUDA_VISIBLE_DEVICES-0}
first=${first%%,*}
if [[ -n $stub ]]; then
	mkdir "$work/node"			# nothing is on its bus, so nothing has to be
	prove+=(--root "$work/node")
	export LD_LIBRARY_PATH=$work
	echo "STUB: no driver and no GPU; the figures are those of a stub"
else
	nvidia-smi -L 2>/dev/null || echo "nvidia-smi does not answer"
	nvidia-smi --query-gpu=driver_version,persistence_mode,compute_mode --format=csv,noheader 2>/dev/null || true
fi
echo
table
count=$(check --level enum | sed -n 's/^gpu-check: [a-z]* cuda: \([0-9]*\) device.*/\1/p')
expect "a kernel runs on every GPU" 0 "a kernel ran on each" check
expect "so many as were given" 0 "ok cuda" check --expect "$count"
expect "one less than given is told" 4 "seen by the backend" check --expect $((count + 1))
expect "a stub library in LD_LIBRARY_PATH is caught" 4 "CUDA_ERROR_STUB_LIBRARY" with GPU_STUB_INIT=34 --library "$work"
expect "an emulation that copies and runs no kernel is caught" 4 "kernel's result are wrong" with GPU_STUB=wrong-kernel --library "$work"
expect "a driver that hangs ends with the deadline" 4 "no answer in" with GPU_STUB=hang --library "$work" --deadline 2
if [[ -z $stub ]]; then
	expect "no device is visible" 5 "not checked" with CUDA_VISIBLE_DEVICES=
	expect "a wrong entry ends the list" 4 "FAIL cuda" with CUDA_VISIBLE_DEVICES=0,99
	expect "one GPU chosen by its number" 0 "1 device" with CUDA_VISIBLE_DEVICES=0
fi
echo "$passed passed, $failed failed"
((failed == 0))
