# SPDX-License-Identifier: GPL-2.0-or-later
# cluster.bash - a throwaway Slurm in a temporary folder: for tests (bats: `load cluster`), demo and benches
#
#   cluster_up [--nodes N] [--gpus N] [--cpus N] [--type T] [--plain] [--conf LINE]... [--budgetd LINE]...
#                           root only. Two nodes of 8 GPUs and 32 CPUs if not told otherwise. --plain is Slurm alone,
#                           else the product of $BUILD (a build folder) is loaded and budgetd runs. --conf adds a line to
#                           slurm.conf, --budgetd one to budgetd.conf. What was said last is the current cluster.
#   cluster_use DIR         makes another one current, by exported CLUSTER_DIR, SLURM_CONF, GPUBUDGET_CONF and PATH
#   cluster_down            every process and every file of it is gone when this returns
#   cluster_stop NAME       ends one daemon by its process id (munged, mariadbd, slurmdbd, slurmctld, g1, g2.., budgetd)
#   cluster_start NAME      starts it again and waits until it answers
#   cluster_restart NAME
#   cluster_clear           cancels what is left of a test and waits until the nodes are idle
#   cluster_forget          the owner may end, the cluster stays up (demo --keep)
#
# Whatever happens to the process that called cluster_up (its $$), its keeper takes the cluster down within a second or
# two. Clusters do not meet: own folder, own ports, own munge key. CLUSTER_LOGS=FOLDER keeps the logs of each.

CLUSTER_LIB=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
source "$CLUSTER_LIB/registry.bash"
source "$CLUSTER_LIB/config.bash"
source "$CLUSTER_LIB/story.bash"
source "$CLUSTER_LIB/budget.bash"

# What is needed, and the Debian package it is in: a missing tool is an error at once, never a skipped test.
cluster_need()
{
	local tool missing=

	for tool in slurmctld slurmd slurmdbd sacctmgr sbatch munged mariadbd mariadb-install-db perl flock setpriv ps useradd; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[[ -z $missing ]] || { echo "cluster: not installed:$missing (see contrib/packages)" >&2; return 1; }
	((EUID == 0)) || { echo "cluster: only root can start Slurm's daemons for several users" >&2; return 1; }
}

cluster_up()
{
	local nodes=2 gpus=8 cpus=32 gpu_type=h100 plain= slurm_conf=() budgetd_conf=()

	cluster_options "$@" && cluster_need || return 1
	[[ -n $plain ]] || product_need || return 1
	cluster_use "$(mktemp -d "${TMPDIR:-/tmp}/gpubudget.XXXXXX")"
	if ! cluster_begin || ! cluster_start_all; then
		cluster_down
		return 1
	fi
}

cluster_use()
{
	[[ -n $1 ]] || return 1
	: "${CLUSTER_OUTER_PATH:=$PATH}"
	export CLUSTER_DIR=$1 CLUSTER_OUTER_PATH PATH=$1/bin:$CLUSTER_OUTER_PATH
	export SLURM_CONF=$1/etc/slurm.conf GPUBUDGET_CONF=$1/etc/budgetd.conf
}

cluster_options()
{
	while (($# > 0)); do
		case $1 in
		--nodes)	nodes=$2; shift ;;
		--gpus)		gpus=$2; shift ;;
		--cpus)		cpus=$2; shift ;;
		--type)		gpu_type=$2; shift ;;
		--conf)		slurm_conf+=("$2"); shift ;;
		--budgetd)	budgetd_conf+=("$2"); shift ;;
		--plain)	plain=1 ;;
		*)		echo "cluster_up: no such option: $1" >&2; return 1 ;;
		esac
		shift
	done
}

# Folders, keeper, ports, users, files: all that must be there before a daemon starts.
cluster_begin()
{
	local dir=$CLUSTER_DIR port name

	chmod 755 "$dir"
	mkdir -m 755 "$dir"/{etc,run,log,state,spool,db,db_tmp,dev,home,job}
	chmod 1777 "$dir/job"
	cluster_keeper_start && port=$(registry_locked registry_enter "$(<"$dir/run/keeper.pid")" "$dir") &&
		registry_locked users_add "${SCENE_USERS[@]}" || return 1
	for name in "${SCENE_USERS[@]}"; do
		install -d -m 700 -o "$name" -g "$name" "$dir/home/$name"
	done
	(umask 077 && head -c 128 /dev/urandom >"$dir/etc/munge.key")
	: >"$dir/etc/plugstack.conf"
	config_write "$dir" "$port" || return 1
	[[ -n $plain ]] || { product_copy "$dir" && budgetd_write "$dir"; } || return 1
	starters_write "$dir"
}

# 36 is PR_SET_CHILD_SUBREAPER. The keeper must hold nothing of ours open: bats waits for the end of its pipes.
cluster_keeper_start()
{
	local dir=$CLUSTER_DIR nr

	case $(uname -m) in
	x86_64)		nr=157 ;;
	aarch64|riscv64) nr=167 ;;
	*)		echo "cluster: the number of prctl() on $(uname -m) is not known here" >&2; return 1 ;;
	esac
	mkfifo -m 600 "$dir/run/keeper"
	setsid perl -MPOSIX -e 'syscall(shift, 36, 1, 0, 0, 0) == 0 or die "prctl: $!"; POSIX::close($_) for 3 .. 255; exec @ARGV' \
		$nr bash "$CLUSTER_LIB/keeper.bash" "$dir" $(process_id $$) </dev/null >"$dir/log/keeper.out" 2>&1 &
	echo $! >"$dir/run/keeper.pid"
}

# One file a daemon; the keeper runs them. All stay in the foreground.
starters_write()
{
	local dir=$1 run=$1/run i

	echo "exec munged --foreground --key-file=$dir/etc/munge.key --socket=$run/munge.socket --pid-file=$run/munge.own.pid" \
		"--seed-file=$run/munge.seed --num-threads=4" >"$run/munged.start"
	echo "exec mariadbd --no-defaults --user=root --datadir=$dir/db --tmpdir=$dir/db_tmp --socket=$run/mariadb.socket --skip-networking" \
		"--pid-file=$run/mariadb.own.pid --innodb-log-file-size=8M --innodb-buffer-pool-size=64M" \
		"--innodb-flush-log-at-trx-commit=0 --innodb-lock-wait-timeout=900" >"$run/mariadbd.start"
	echo "export SLURM_CONF=$SLURM_CONF MYSQL_UNIX_PORT=$run/mariadb.socket; exec slurmdbd -D" >"$run/slurmdbd.start"
	echo "export SLURM_CONF=$SLURM_CONF GPUBUDGET_CONF=$dir/etc/budgetd.conf; exec slurmctld -D -f $SLURM_CONF" \
		>"$run/slurmctld.start"
	for ((i = 1; i <= nodes; i++)); do
		mkdir -p "$dir/spool/g$i"
		echo "export SLURM_CONF=$SLURM_CONF; exec slurmd -D -N g$i -f $SLURM_CONF" >"$run/g$i.start"
	done
}

# A MariaDB that starts removes every temporary table in its folder for them, also those of one that runs, which then
# ends by a segfault: each has its own.
database_make()
{
	mariadb-install-db --no-defaults --rpm --user=root --datadir="$CLUSTER_DIR/db" --tmpdir="$CLUSTER_DIR/db_tmp" \
		--innodb-log-file-size=8M --skip-test-db --auth-root-authentication-method=normal
}

# slurmdbd would make its database, but connects anew with a handle that failed; with the client library of MariaDB 11.8.9
# such a one takes no answer any more ("maxmimum allowed number of columns (=0)"), and slurmdbd ends.
database_add() { mariadb --no-defaults --socket="$CLUSTER_DIR/run/mariadb.socket" -e "CREATE DATABASE slurm"; }

# Things that do not wait for each other go side by side; the order is that of who asks whom.
cluster_start_all()
{
	local node

	cluster_tell start munged
	database_make >"$CLUSTER_DIR/log/mariadb-install-db.out" 2>&1 || { head -n 20 "$CLUSTER_DIR/log/mariadb-install-db.out" >&2; return 1; }
	cluster_start mariadbd && database_add && cluster_start slurmdbd || return 1
	eventually scene_accounts || { cluster_tell_why mariadbd; cluster_tell_why slurmdbd; return 1; }
	for node in "$CLUSTER_DIR"/spool/*; do
		cluster_tell start "${node##*/}"
	done
	cluster_start slurmctld && eventually nodes_are idle || { cluster_tell_why; return 1; }
	[[ ! -e $CLUSTER_DIR/run/budgetd.start ]] || { cluster_start budgetd && scene_projects; }
}

cluster_tell() { echo "$*" >"$CLUSTER_DIR/run/keeper"; }

cluster_forget() { cluster_tell forget; }

cluster_start()
{
	rm -f "$CLUSTER_DIR/run/$1.pid"
	cluster_tell start "$1"
	eventually answers "$1" || { echo "cluster: $1 does not answer" >&2; cluster_tell_why "$1"; return 1; }
}

# SIGTERM, and SIGKILL for one that does not end in time.
cluster_stop()
{
	local pid

	pid=$(<"$CLUSTER_DIR/run/$1.pid")
	kill -TERM "$pid"
	EVENTUALLY_S=20 eventually is_gone "$pid" || { kill -KILL "$pid"; eventually is_gone "$pid"; }
}

cluster_restart() { cluster_stop "$1" && cluster_start "$1"; }

cluster_pid() { cat "$CLUSTER_DIR/run/$1.pid"; }

# SIGKILL, for a checkpoint of a job that nobody needs any more would only cost time. scancel fails for one that has ended meanwhile.
cluster_clear() { eventually is_cleared || { squeue; sinfo -N -o '%n %T %E'; return 1; } >&2; }

# Asked for each time: a slurmctld that has just been started may not answer yet, or has jobs that it met on the nodes.
is_cleared()
{
	local jobs

	jobs=$(squeue -h -o %A | sort -u)
	[[ -z $jobs ]] || scancel --signal=KILL --full $jobs 2>/dev/null || true
	[[ -z $jobs ]] || scancel $jobs 2>/dev/null || true
	nodes_are idle
}

is_gone() { ! process_id "$1" >/dev/null; }

# Does the daemon do its work? A process that has ended never will, and the wait ends too.
answers()
{
	local run=$CLUSTER_DIR/run

	[[ -s $run/$1.pid ]] || return 1
	process_id "$(<"$run/$1.pid")" >/dev/null || return $GIVE_UP
	case $1 in
	munged)		[[ -S $run/munge.socket ]] ;;
	mariadbd)	mariadb --no-defaults --socket="$run/mariadb.socket" -e "SELECT 1" >/dev/null 2>&1 ;;
	slurmdbd)	slurmdbd_answers ;;
	slurmctld)	scontrol ping | grep -q "is UP" ;;
	budgetd)	budgetd_answers ;;
	exporter | prometheus)	"$1_answers" ;;
	*)		[[ $(sinfo -h -n "$1" -o %T 2>/dev/null) =~ ^(idle|mixed|allocated|completing)$ ]] ;;
	esac
}

# sacctmgr ends with 0 also where slurmdbd listens and has no database yet: only its words tell.
slurmdbd_answers() { local said; said=$(sacctmgr -n list cluster 2>&1 >/dev/null) && [[ -z $said ]]; }

nodes_are() { [[ $(sinfo -h -N -o %T 2>/dev/null | sort -u) == "$1" ]]; }

# When something did not start: the last lines of the logs of NAME, of all without one.
cluster_tell_why()
{
	local log

	for log in "$CLUSTER_DIR/log/${1-}"*; do
		[[ -s $log ]] && { echo "--- ${log##*/}"; tail -n 20 "$log"; } >&2
	done
}

cluster_down()
{
	local keeper

	[[ -n ${CLUSTER_DIR-} && -d $CLUSTER_DIR ]] || return 0
	keeper=$(cat "$CLUSTER_DIR/run/keeper.pid" 2>/dev/null) || { rm -rf "$CLUSTER_DIR"; return 0; }
	kill -TERM "$keeper" 2>/dev/null
	EVENTUALLY_S=60 eventually is_gone "$keeper" || { echo "cluster: the keeper $keeper does not end" >&2; return 1; }
	wait "$keeper" 2>/dev/null
	[[ ! -d $CLUSTER_DIR ]]
}
