#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The standard job: it says what it was given, computes nothing for JOB_SECONDS (an hour), and when it is asked to go
# (SIGTERM) takes JOB_CHECKPOINT_SECONDS (3) to write its checkpoint, as a training run does.
checkpoint()
{
	echo "checkpoint: begun"
	sleep "${JOB_CHECKPOINT_SECONDS:-3}"
	echo "checkpoint: written"
	kill "$work"
	exit 0
}

echo "job=$SLURM_JOB_ID restarts=${SLURM_RESTART_COUNT:-0} nodes=$SLURM_JOB_NODELIST gpus=${CUDA_VISIBLE_DEVICES:-none}"
trap checkpoint TERM
sleep "${JOB_SECONDS:-3600}" &
work=$!
wait "$work"
echo "done"
