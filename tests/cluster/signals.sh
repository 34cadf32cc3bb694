#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job that says which of its processes gets which signal, and when: its script, what that started by itself, and what srun started.
listen='
	for s in TERM USR1; do
		trap "echo \$0: $s \$EPOCHSECONDS" $s
	done
	echo "$0: ready"
	end=$((SECONDS + 3600))
	while ((SECONDS < end)); do
		sleep 0.2
	done'
bash -c "$listen" child &
srun --overlap --ntasks=1 bash -c "$listen" step &
eval "${listen//'$0'/script}"
