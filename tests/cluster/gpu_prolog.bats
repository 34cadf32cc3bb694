# SPDX-License-Identifier: GPL-2.0-or-later
# Root looks at a node before each job with GPUs starts on it: gpu-check-node as Prolog, and the same by a hook of gpubudget_node.so. A node
# at fault is drained with the reason, the job does not start there and runs elsewhere. Each node is made up as files.
# only: full
# time: 180 s
bats_require_minimum_version 1.5.0
load cluster
load accounting

setup_file()
{
	export NODES=$BATS_FILE_TMPDIR/nodes
	node_write g1
	node_write g2
	cat >"$BATS_FILE_TMPDIR/look" <<-END
		#!/bin/bash
		# looks at the node that is made up as files
		echo "\$SLURMD_NODENAME" >>"$BATS_FILE_TMPDIR/looks"
		export GPU_CHECK=$BUILD/gpu_check/gpu-check
		exec $BATS_TEST_DIRNAME/../../contrib/gpu-check-node --root "$NODES/\$SLURMD_NODENAME"
	END
	printf '#!/bin/bash\n[[ -e %q ]] || exit 0\nexec %q\n' "$BATS_FILE_TMPDIR/as-prolog" "$BATS_FILE_TMPDIR/look" >"$BATS_FILE_TMPDIR/prolog"
	chmod -R go+rX "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_FILE_TMPDIR"/{look,prolog}
	cluster_up --nodes 2 --gpus 1 --cpus 2 --budgetd "grace = 1s" --conf "Prolog=$BATS_FILE_TMPDIR/prolog" --conf PrologFlags=Alloc \
		--conf SchedulerParameters=nohold_on_prolog_fail
	install -m 755 "$BUILD/spank/.libs/gpubudget_node.so" "$CLUSTER_DIR/lib"
	hook_is off
	cluster_restart g1		# only a slurmd that knew the hook when it started has it called
	cluster_restart g2
	deposit vision 100
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

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
	put "$NODES/$1/proc/sys/kernel/random/boot_id" "boot-of-$1"
	mkdir -p "$NODES/$1/sys/bus/pci/devices"
	ln -s ../../../devices/pci0000:c0/0000:c0:01.1 "$NODES/$1/sys/bus/pci/devices/0000:c0:01.1"
	ln -s ../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0 "$NODES/$1/sys/bus/pci/devices/0000:c1:00.0"
	"$BUILD/gpu_check/gpu-check" --learn --root "$NODES/$1"
}

# hook_is WORD: plugstack.conf is read anew for each job
hook_is()
{
	printf '%s\n' "required $CLUSTER_DIR/lib/gpubudget.so gpu_numa=off gpu_check=off" \
		"required $CLUSTER_DIR/lib/gpubudget_node.so node_check=$1 node_check_program=$BATS_FILE_TMPDIR/look" >"$CLUSTER_DIR/etc/plugstack.conf"
}

width_is() { echo "$2" >"$NODES/$1/sys/bus/pci/devices/0000:c1:00.0/current_link_width"; }
node_is() { [[ $(sinfo -h -n "$1" -o %T) == $2 ]] || { sinfo -N >&2; return 1; }; }
node_reason() { scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
runs_on() { [[ $(job_field "$1" NodeList) == "$2" ]] && job_is "$1" RUNNING; }
repair() { width_is "$1" 16; scontrol update nodename="$1" state=resume; eventually node_is "$1" "idle*"; }
looks() { [[ -e $BATS_FILE_TMPDIR/looks ]] && wc -l <"$BATS_FILE_TMPDIR/looks" || echo 0; }

# g1 is at fault: the job goes there first, by weight and name, and ends up on g2
fault_story()
{
	local reason="gpubudget: gpu-check: link-width 0000:c1:00.0: the link to 0000:c0:01.1 runs at 32 GT/s x8, 32 GT/s x16 were learned"

	width_is g1 8
	as ada submit "$1" --gpus=1 --gpu-tier=free --time=1:00:00
	eventually node_is g1 "drain*"
	[[ $(node_reason g1) == "$reason" ]] || { node_reason g1 >&2; false; }
	eventually runs_on "$1" g2
	[[ $(node_reason g1) == "$reason" ]] || { node_reason g1 >&2; false; }
	eventually node_is g1 "drained*"
	repair g1
}

@test "as Prolog: the node is drained with the reason, not with Slurm's own words, and the job runs elsewhere" {
	: >"$BATS_FILE_TMPDIR/as-prolog"
	fault_story prolog
	rm "$BATS_FILE_TMPDIR/as-prolog"
}

@test "as a hook of the plugin the same" {
	hook_is drain
	fault_story hook
	hook_is off
}

@test "the hook that only warns keeps nothing back, and a job without GPUs is not looked at" {
	local before

	hook_is warn
	width_is g1 8
	before=$(looks)
	as ada submit warned --gpus=1 --gpu-tier=free --time=1:00:00 --nodelist=g1
	eventually runs_on warned g1
	(($(looks) == before + 1))
	as ada submit plain --time=1:00:00 --nodelist=g1
	eventually runs_on plain g1
	(($(looks) == before + 1))
	node_is g1 "[am][li]*"
	width_is g1 16
	hook_is off
}
