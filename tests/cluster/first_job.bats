# SPDX-License-Identifier: GPL-2.0-or-later
# The last hours of a budget: what fits is funded, what does not runs free, nothing is overdrawn.
load cluster

setup_file()	{ cluster_up; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

@test "a project that spends its last hours is told so, and gets back what an early end did not use" {
	deposit vision 8
	as ada submit train --gpus=2 --gpu-min-runtime=3h	# 2 GPUs x 3 h: 6 GPU-h set aside
	eventually job_is train RUNNING funded
	balance_is vision "held=6.00 available=2.00"

	as ada submit sweep --gpus=2 --gpu-min-runtime=3h
	says "the job needs 6.00 GPU-h (2 GPUs x 3 h minimum runtime), vision has 2.00 of 8.00 GPU-h available"
	eventually job_is sweep RUNNING free

	as ada cancel train
	eventually balance_is vision "held=0.00"
	[[ $(units vision charged) -gt 0 ]]
}
