# SPDX-License-Identifier: GPL-2.0-or-later
# alone.bash - budgetd without a Slurm: for what it does before it has seen a cluster, and for what anybody may send it
#
#   alone_prepare DIR          settings, an empty database and a slurm.conf of a slurmctld that is not there
#   alone_start DIR, alone_stop DIR     its process id is in DIR/pid, its log in DIR/log
#   api SOCKET METHOD PATH [CURL OPTION...]   the reply is in $reply, its status in $status
#   answered STATUS [TEXT]     what api got
#   as_nobody COMMAND...       as a user who is nobody here

ALONE_LIB=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
source "$ALONE_LIB/registry.bash"
source "$ALONE_LIB/story.bash"

alone_prepare()
{
	mkdir -p "$1"
	chmod 755 "$1"
	printf '%s\n' ClusterName=alone "SlurmctldHost=$(hostname -s)(127.0.0.1)" SlurmctldPort=1 SlurmUser=root \
		AuthType=auth/munge >"$1/slurm.conf"
	printf '%s\n' "socket = $1/people" "slurm_socket = $1/slurm" "database = $1/budget.db" >"$1/budgetd.conf"
	"$BUILD/budgetd/budgetd" -c "$1/budgetd.conf" --init
}

# Nothing of ours stays open in it: bats waits for the end of its pipes.
alone_start()
{
	SLURM_CONF=$1/slurm.conf "$BUILD/budgetd/budgetd" -c "$1/budgetd.conf" >>"$1/log" 2>&1 </dev/null 3>&- &
	echo $! >"$1/pid"
	eventually alone_answers "$1" || { cat "$1/log" >&2; return 1; }
}

alone_answers()
{
	process_id "$(<"$1/pid")" >/dev/null || return $GIVE_UP
	curl -sf -o /dev/null --max-time 5 --unix-socket "$1/people" http://localhost/v1/health
}

alone_stop()
{
	local pid

	pid=$(cat "$1/pid") && rm "$1/pid" && kill -TERM "$pid" && alone_is_over "$pid"
}

alone_is_over() { local rv=0; wait "$1" || rv=$?; ((rv == 0)) || { echo "budgetd ended with $rv" >&2; return 1; }; }

api()
{
	local socket=$1 method=$2 path=$3 body=${BATS_TEST_TMPDIR:-/tmp}/reply.$BASHPID

	shift 3
	status=$(curl -s -o "$body" -w '%{http_code}' --max-time 20 -X "$method" --unix-socket "$socket" "$@" "http://localhost$path")
	reply=$(cat "$body" 2>/dev/null)
	rm -f "$body"
}

answered()
{
	[[ $status == "$1" ]] && grep -qF -- "${2-}" <<<"$reply" && return 0
	echo "wanted $1 ${2-}, got $status $reply" >&2
	return 1
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
