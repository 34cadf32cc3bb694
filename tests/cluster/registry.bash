# SPDX-License-Identifier: GPL-2.0-or-later
# registry.bash - what clusters on one machine share: blocks of ports, and the local users ada, bob and carol
#
# A cluster takes a block of 100 ports below the ephemeral range and writes itself into a folder under /run; the last
# one to leave removes the users that were made for them. Everything here runs under one lock, on /run itself, so that
# no lock file is left behind. A cluster whose keeper died without leaving is swept out by the next one to come.

REGISTRY=/run/slurm-gpubudget-clusters
REGISTRY_FIRST_PORT=20000
REGISTRY_BLOCKS=100
USER_MARK='slurm-gpubudget test user'

# Run a function of this file under the lock.
registry_locked()
{
	local lock

	exec {lock}</run
	flock "$lock"
	"$@" {lock}<&-
	local rv=$?
	exec {lock}<&-
	return $rv
}

# process_id PID: "PID START", which no later process can have. Fails when there is no such process.
process_id()
{
	local stat

	read -r stat <"/proc/$1/stat" || return 1
	stat=${stat##*) }		# the name of a program may hold spaces and brackets
	set -- "$1" $stat
	[[ $2 != Z ]] && echo "$1 ${21}"
} 2>/dev/null

process_is() { [[ $(process_id "$1") == "$1 $2" ]]; }

ports_are_free()
{
	local port

	for ((port = $1; port < $1 + 100; port++)); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return 1
	done
	return 0
}

registry_sweep()
{
	local entry pid start dir

	for entry in "$REGISTRY"/block-*; do
		[[ -e $entry ]] && read -r pid start dir <"$entry" || continue
		process_is "$pid" "$start" || rm -f "$entry"
	done
}

# registry_enter PID DIR: take a block for the process PID; prints its first port.
registry_enter()
{
	local block port

	mkdir -p "$REGISTRY"
	registry_sweep
	for ((block = 0; block < REGISTRY_BLOCKS; block++)); do
		port=$((REGISTRY_FIRST_PORT + 100 * block))
		[[ ! -e $REGISTRY/block-$block ]] && ports_are_free $port || continue
		echo "$(process_id "$1") $2" >"$REGISTRY/block-$block"
		echo $port
		return 0
	done
	echo "cluster: all $REGISTRY_BLOCKS blocks of ports from $REGISTRY_FIRST_PORT are taken" >&2
	return 1
}

# registry_leave PID: give the block back; the last one turns off the light.
registry_leave()
{
	local entry pid rest

	for entry in "$REGISTRY"/block-*; do
		[[ -e $entry ]] && read -r pid rest <"$entry" && [[ $pid == "$1" ]] && rm -f "$entry"
	done
	registry_sweep
	compgen -G "$REGISTRY/block-*" >/dev/null && return 0
	users_remove
	rm -rf "$REGISTRY"
}

# users_add NAME...: local accounts without a home or a password. One that exists is used as it is.
users_add()
{
	local name

	for name; do
		getent passwd "$name" >/dev/null && continue
		useradd --no-create-home --home-dir /nonexistent --shell /bin/bash --user-group \
			--comment "$USER_MARK" "$name" || return 1
	done
}

users_remove()
{
	local name mark

	while IFS=: read -r name _ _ _ mark _; do
		[[ $mark != "$USER_MARK" ]] || userdel "$name" 2>/dev/null
	done </etc/passwd
	return 0
}
