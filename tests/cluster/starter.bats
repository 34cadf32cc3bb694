# SPDX-License-Identifier: GPL-2.0-or-later
# The starter itself: a plain Slurm of two nodes comes up, does what the tests rely on, and leaves nothing behind.
load cluster

setup_file()	{ cluster_up --plain; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

# processes_of DIR: everything that has the folder in its command line or stands under its keeper.
processes_of() { ps -eo pid=,args= | grep -F -- "$1" | grep -v grep; }

@test "a job of an ordinary user runs with the GPUs it asked for, in the tier it asked for" {
	as ada submit train --gpus=2 --qos=funded
	eventually job_is train RUNNING funded
	eventually wrote train "gpus=0,1$"
	[[ $(job_tres train) == *gres/gpu=2* ]]
	[[ $(job_tres train) == *gres/gpu:h100=2* ]]
	[[ $(job_field train UserId) == gpb-ada* ]]
	as ada cancel train
	eventually job_is train CANCELLED
	wrote train "checkpoint: written"
}

@test "an array, a job of two nodes and one without GPUs run side by side" {
	as ada submit sweep --array=1-3 --gpus=1
	as bob submit gang --nodes=2 --gpus-per-node=4 --account=vision
	as carol submit prepare --cpus-per-task=2
	eventually job_is sweep RUNNING free
	eventually job_is gang RUNNING free
	eventually job_is prepare RUNNING free
	[[ $(job_tres gang) == *gres/gpu=8* ]]
	eventually wrote prepare "gpus=none$"
}

@test "a free run is displaced by a funded job: it writes its checkpoint, waits and begins anew" {
	as bob submit filler --nodes=2 --gpus-per-node=8
	eventually job_is filler RUNNING free
	as ada submit train --gpus=8 --qos=funded
	eventually job_is train RUNNING funded
	eventually wrote filler "checkpoint: written"
	as ada cancel train
	eventually job_is filler RUNNING free
	requeued filler 1
}

@test "slurmdbd knows what a run was given" {
	as ada submit short --gpus=3 --export=JOB_SECONDS=0
	eventually job_is short COMPLETED
	recorded() { sacct -nPX -j "$(job short)" -o State,AllocTRES | grep -q "^COMPLETED|.*gres/gpu=3"; }
	eventually recorded
}

@test "slurmctld can be restarted, and its jobs run on" {
	as ada submit train --gpus=1
	eventually job_is train RUNNING
	cluster_restart slurmctld
	eventually job_is train RUNNING
	requeued train 0
}

@test "two clusters stand side by side and know nothing of each other, and one ends alone" {
	local first=$CLUSTER_DIR second
	cluster_up --plain --nodes 1 --gpus 4
	second=$CLUSTER_DIR
	[[ $(sinfo -h -o "%D %G") == "1 gpu:h100:4" ]]
	as carol submit other --gpus=4
	eventually job_is other RUNNING
	[[ $(SLURM_CONF=$first/etc/slurm.conf squeue -h | wc -l) == 0 ]]
	cluster_down
	[[ ! -e $second ]]
	[[ -z $(processes_of "$second") ]]
	getent passwd gpb-ada
	cluster_use "$first"
	eventually nodes_are idle
}

# One of its jobs has a child that left its session, so that no process group leads to it.
@test "a cluster whose owner is killed is taken down by its keeper, jobs included" {
	local told=$BATS_TEST_TMPDIR/told lost runaway="sleep 4242.$$"
	bash "$CLUSTER_LIB/orphan.bash" "$told" "$runaway" 3>&- || true
	lost=$(<"$told")
	gone() { [[ ! -e $lost && -z $(processes_of "$lost") && -z $(processes_of "$runaway") ]]; }
	eventually gone
	eventually nodes_are idle
}
