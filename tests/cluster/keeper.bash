# SPDX-License-Identifier: GPL-2.0-or-later
# keeper.bash DIR OWNER START - the parent of every process of one cluster
#
# It starts what it is told to through a pipe (DIR/run/keeper), watches the process that owns the cluster, and takes all
# down when it is told to or when the owner is gone, however that ended. cluster.bash makes it a "child subreaper": a
# process whose parent dies becomes the keeper's, so that slurmstepd and the jobs are found by descent, not by name.
#
# Words on the pipe: start NAME (runs DIR/run/NAME.start), stop, forget (the owner may go, the cluster stays).

set -u
source "${BASH_SOURCE[0]%/*}/registry.bash"
dir=$1
owner=$2
owner_start=$3
ended=

descendants()
{
	ps -eo pid=,ppid= | awk -v root=$$ '
		{ parent[$1] = $2 }
		END { for (p in parent) { for (q = p; q in parent && q != root; q = parent[q]); if (q == root && p != root) print p } }'
}

start()
{
	setsid bash "$dir/run/$1.start" </dev/null >>"$dir/log/$1.out" 2>&1 7<&- &
	echo $! >"$dir/run/$1.pid.new"
	mv "$dir/run/$1.pid.new" "$dir/run/$1.pid"
}

living()
{
	local pid

	for pid; do
		process_id "$pid" >/dev/null && echo "$pid"
	done
}

# 0 when the process is gone within the given tenths of a second.
gone_within()
{
	local left

	for ((left = $2; left > 0; left--)); do
		process_id "$1" >/dev/null || return 0
		read -r -t 0.1 -u 7
	done
	return 1
}

# budgetd is asked first, because an orderly end is part of what is tested (a sanitizer reports at exit).
# The rest is thrown away: SIGKILL until nobody is left, for a process may fork while it is hunted.
take_down()
{
	local pids budgetd

	if budgetd=$(cat "$dir/run/budgetd.pid" 2>/dev/null) && kill -TERM "$budgetd" 2>/dev/null; then
		gone_within "$budgetd" 100
	fi
	while pids=$(descendants); pids=$(living $pids); [[ -n $pids ]]; do
		kill -KILL $pids 2>/dev/null
		read -r -t 0.05 -u 7
	done
}

trap ended=1 TERM INT HUP
exec 7<>"$dir/run/keeper"
line=
while [[ -z $ended ]]; do
	# What was read before the time was up is the beginning of a line: it is kept.
	if read -r -t 0.5 -u 7 part; then
		read -r verb name <<<"$line$part"
		line=
		case $verb in
		start)	start "$name" ;;
		stop)	ended=1 ;;
		forget)	owner= ;;
		esac
	else
		line+=$part
		[[ -z $owner ]] || process_is "$owner" "$owner_start" || ended=1
	fi
done
take_down
[[ -z ${CLUSTER_LOGS-} ]] || cp -r "$dir/log" "$CLUSTER_LOGS/$(basename "$dir")"
rm -rf "$dir"
registry_locked registry_leave $$
