# SPDX-License-Identifier: GPL-2.0-or-later
# gpu-check-pools asks Slurm for one GPU of each pool and tells which is not proven. srun is a script here.
bats_require_minimum_version 1.5.0

setup()
{
	pools=$BATS_TEST_DIRNAME/../../contrib/gpu-check-pools
	mkdir "$BATS_TEST_TMPDIR/bin"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	cat >"$BATS_TEST_TMPDIR/bin/srun" <<-'END'
		#!/bin/bash
		echo "$*" >>"$(dirname "$0")/asked"
		case $* in
		*=nvidia*)	echo "srun: job 7 queued"; echo "gpu-check: ok cuda: 1 device, a kernel ran on each" ;;
		*=amd*)		echo "gpu-check: FAIL hip: hipInit: hipErrorNoDevice (100). Cause: [...]"; exit 4 ;;
		*=full*)	exec sleep 60 ;;
		*)		echo "srun: error: invalid partition specified" >&2; exit 1 ;;
		esac
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/srun"
}

@test "every pool is asked for one GPU in the free tier, and the one that fails is told" {
	printf '# ours\n\nh100  --partition=nvidia --gpus=h100:1\nmi300 --partition=amd --gpus=1\nold --partition=gone\n' >"$BATS_TEST_TMPDIR/pools"
	run -1 "$pools" "$BATS_TEST_TMPDIR/pools"
	[[ ${lines[0]} == "h100: gpu-check: ok cuda: 1 device, a kernel ran on each" ]]
	[[ ${lines[1]} == "mi300: NOT PROVEN (status 4): gpu-check: FAIL hip: hipInit: hipErrorNoDevice (100). Cause: [...]" ]]
	[[ ${lines[2]} == "old: NOT PROVEN (status 1): srun: error: invalid partition specified" ]]
	[[ $(sed -n 1p "$BATS_TEST_TMPDIR/bin/asked") == *"--gpu-tier=free --partition=nvidia --gpus=h100:1 gpu-check --level bandwidth"* ]]
	printf 'h100 --partition=nvidia' >"$BATS_TEST_TMPDIR/pools"
	run -2 "$pools" "$BATS_TEST_TMPDIR/none"
	[[ $output == *"cannot be read"* ]]
}

@test "a pool without room is told, and the others still get their turn" {
	printf 'a --partition=full\nb --partition=nvidia\n' >"$BATS_TEST_TMPDIR/pools"
	GPU_CHECK_POOLS_WAIT=1 run -1 "$pools" "$BATS_TEST_TMPDIR/pools"
	[[ ${lines[0]} == "a: NOT CHECKED: no room within 1" && ${lines[1]} == "b: gpu-check: ok"* ]]
	echo "# none" >"$BATS_TEST_TMPDIR/pools"
	run -2 "$pools" "$BATS_TEST_TMPDIR/pools"
	[[ $output == *"names no pool"* ]]
}
