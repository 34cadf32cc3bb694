# SPDX-License-Identifier: GPL-2.0-or-later
# config.bash - the files of a throwaway cluster, for every Slurm from 22.05 to 26.05
#
# One set of lines; what a version wants otherwise stands in config_for_version and nowhere else. The part that a site
# would copy for its own cluster is config_contract: what the budgets need of Slurm (doc/model.md, the contract).

# 2205, 2311, 2605: comparable as a number.
slurm_version()
{
	local text

	text=$(slurmctld -V) || return 1
	text=${text##* }
	set -- ${text//./ }
	echo "$1$2"
}

config_write()		# DIR FIRST_PORT; the rest is in cluster_up's variables
{
	local dir=$1 port=$2

	{
		config_place "$dir" "$port"
		config_contract
		config_for_version "$(slurm_version)"
		[[ -n $plain ]] || config_product "$dir"
		printf '%s\n' "${slurm_conf[@]}"
	} >"$dir/etc/slurm.conf"
	config_gres "$dir" >"$dir/etc/gres.conf"
	config_slurmdbd "$dir" "$port" >"$dir/etc/slurmdbd.conf"
	chmod 600 "$dir/etc/slurmdbd.conf"	# slurmdbd refuses to read it otherwise
	if (($(slurm_version) >= 2405)); then
		echo "CgroupPlugin=disabled" >"$dir/etc/cgroup.conf"
	fi
}

# Where things are, and what keeps a cluster of one host away from cgroups and from the number of its real CPUs.
config_place()
{
	local dir=$1 port=$2 i

	cat <<-END
		ClusterName=gpubudget
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/run/munge.socket,cred_expire=5
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool/%n
		SlurmctldPidFile=$dir/run/slurmctld.own.pid
		SlurmdPidFile=$dir/run/%n.own.pid
		SlurmctldLogFile=$dir/log/slurmctld.log
		SlurmdLogFile=$dir/log/%n.log
		SlurmctldDebug=verbose
		SlurmdDebug=verbose
		PlugStackConfig=$dir/etc/plugstack.conf
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=127.0.0.1
		AccountingStoragePort=$((port + 1))
		AccountingStoragePass=$dir/run/munge.socket
		ProctrackType=proctrack/linuxproc
		SlurmdParameters=config_overrides
		PropagateResourceLimits=NONE
		MpiDefault=none
		ReturnToService=2
		KillWait=10
		MessageTimeout=20
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		GresTypes=gpu
	END
	for ((i = 1; i <= nodes; i++)); do
		echo "NodeName=g$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 10 + i))" \
			"Sockets=2 CoresPerSocket=$((cpus / 2)) ThreadsPerCore=1 RealMemory=1000 Gres=gpu:$gpu_type:$gpus"
	done
	echo "PartitionName=batch Nodes=ALL Default=YES DefaultTime=8:00:00 MaxTime=7-00:00:00 State=UP"
}

# cred_expire is in AuthInfo above: a displaced job is kept out for so many seconds. bf_interval and sched_interval are
# below their defaults only to shorten the tests.
config_contract()
{
	cat <<-END
		AccountingStorageTRES=gres/gpu,gres/gpu:$gpu_type
		AccountingStorageEnforce=associations,limits,qos
		PriorityType=priority/multifactor
		PreemptType=preempt/qos
		PreemptMode=REQUEUE
		JobRequeue=1
		SchedulerType=sched/backfill
		SchedulerParameters=bf_min_age_reserve=2592000,bf_interval=5,sched_interval=5,batch_sched_delay=1
	END
}

config_for_version()
{
	if (($1 < 2311)); then
		cat <<-END
			TaskPlugin=task/none
			JobAcctGatherType=jobacct_gather/none
			SwitchType=switch/none
		END
	fi
}

config_product()
{
	echo "JobSubmitPlugins=gpubudget"
	echo "PluginDir=$1/lib:$(system_plugin_dir)"
	# a GPU that this machine really has is none of the cluster's
	echo "required $1/lib/gpubudget.so gpu_check=off" >"$1/etc/plugstack.conf"
}

system_plugin_dir()
{
	local dir

	for dir in /usr/lib/*/slurm-wlm /usr/lib/*/slurm /usr/lib64/slurm /usr/lib/slurm; do
		[[ -e $dir/select_cons_tres.so ]] && echo "$dir" && return 0
	done
	echo "cluster: Slurm's plugins are in none of the usual folders" >&2
	return 1
}

# A GPU is a link to /dev/null: slurmd wants a character device before it sets CUDA_VISIBLE_DEVICES.
config_gres()
{
	local dir=$1 i

	for ((i = 0; i < gpus; i++)); do
		ln -s /dev/null "$dir/dev/gpu$i"
	done
	((gpus == 0)) || echo "Name=gpu Type=$gpu_type File=$dir/dev/gpu[0-$((gpus - 1))]"
}

config_slurmdbd()
{
	cat <<-END
		DbdHost=$(hostname -s)
		DbdAddr=127.0.0.1
		DbdPort=$(($2 + 1))
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$1/run/munge.socket
		LogFile=$1/log/slurmdbd.log
		PidFile=$1/run/slurmdbd.own.pid
		StorageType=accounting_storage/mysql
		StorageHost=localhost
		StorageUser=root
		StorageLoc=slurm
		DebugLevel=info
	END
}
