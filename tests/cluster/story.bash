# SPDX-License-Identifier: GPL-2.0-or-later
# story.bash - the words that tests, demo and benches are told in: who does what, and what is to come of it
#
#   as USER COMMAND...      as one of the scene's users, with a clean environment; COMMAND may be a word of this file
#   submit NAME [OPTION...] sbatch of the standard job under a short name; fails when Slurm refuses
#   cancel NAME             scancel
#   job NAME                its id
#   says TEXT               what the last submit printed holds TEXT
#   job_is NAME STATE [QOS] a condition, for eventually; so are requeued, wrote
#   eventually COMMAND...   true within EVENTUALLY_S (180) seconds: never wait for a time, wait for a state

SCENE_USERS=(gpb-ada gpb-bob gpb-carol)
GIVE_UP=99		# a condition returns it when it can never become true

# What the condition complains of is shown once, when the time is over.
eventually()
{
	local begun=$SECONDS rv=0 complaint

	while :; do
		complaint=$("$@" 2>&1 >/dev/null) && return 0
		rv=$?
		if ((rv == GIVE_UP || SECONDS - begun >= ${EVENTUALLY_S:-180})); then
			echo "not so after $((SECONDS - begun)) s: $*${complaint:+
$complaint}" >&2
			return 1
		fi
		sleep 0.1
	done
}

as()
{
	local STORY_USER=gpb-$1

	shift
	if declare -F "$1" >/dev/null; then
		"$@"
	else
		as_story_user "$@"
	fi
}

# The environment is made new, so that no test depends on who runs it.
as_story_user()
{
	local home=$CLUSTER_DIR/home/$STORY_USER

	(cd "$home" && exec setpriv --reuid="$STORY_USER" --regid="$STORY_USER" --init-groups \
		env -i HOME="$home" USER="$STORY_USER" LOGNAME="$STORY_USER" PATH="$PATH" SLURM_CONF="$SLURM_CONF" \
		LANG="${LANG:-C.UTF-8}" GPUBUDGET_CONF="$CLUSTER_DIR/etc/budgetd.conf" "$@")
}

# The job goes to sbatch by its standard input: the tree that the library lies in may be closed to ordinary users.
submit()
{
	local name=$1 rv=0

	shift
	as_story_user sbatch --parsable --job-name="$name" "$@" <"$CLUSTER_LIB/${JOB_SCRIPT:-job.sh}" \
		>"$CLUSTER_DIR/job/$name" 2>"$CLUSTER_DIR/job/said" || rv=$?
	return $rv
}

cancel() { as_story_user scancel "$(job "$1")"; }

job()
{
	local id

	id=$(<"$CLUSTER_DIR/job/$1") && echo "${id%%;*}"
}

said() { cat "$CLUSTER_DIR/job/said"; }

says()
{
	grep -qF -- "$1" "$CLUSTER_DIR/job/said" && return 0
	{ echo "wanted: $1"; echo "said:   $(said)"; } >&2
	return 1
}

# job_field NAME FIELD: of `scontrol show job`, the first record of an array.
job_field()
{
	scontrol -o show job "$(job "$1")" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

# What the job was given, "cpu=2,...,gres/gpu=2"; scontrol has other names for it since 23.02, squeue has not.
job_tres() { squeue -h -j "$(job "$1")" -O tres-alloc:400 | head -n 1; }

job_is()
{
	[[ $(job_field "$1" JobState) == "$2" ]] && [[ -z ${3-} || $(job_field "$1" QOS) == "$3" ]]
}

# requeued NAME N: it has begun anew N times.
requeued() { [[ $(job_field "$1" Restarts) == "$2" ]]; }

# What the job's own script wrote.
job_output() { cat "$CLUSTER_DIR/home"/*/"slurm-$(job "$1").out"; }
wrote() { job_output "$1" | grep -qE -- "$2" || { job_output "$1" >&2; return 1; }; }

# The three tiers as QOS, the accounts of the standard scene and who may use them. sacctmgr reads its commands from
# standard input, one start instead of a dozen; but it knows a new QOS only when it is started again. What is there already is
# left alone, so that it can be said again while the database is not ready.
scene_accounts()
{
	sacctmgr -i >"$CLUSTER_DIR/log/sacctmgr.out" 2>&1 <<-END
		add cluster gpubudget
		add qos free set Priority=0 PreemptMode=requeue
		add qos funded-still set Priority=1000 PreemptMode=requeue
		add qos funded set Priority=1000 PreemptMode=requeue,within PreemptExemptTime=00:15:00 Preempt=free
	END
	sacctmgr -i >>"$CLUSTER_DIR/log/sacctmgr.out" 2>&1 <<-END
		modify account root set qos=normal,free,funded,funded-still DefaultQOS=free
		add account ai parent=root
		add account vision,speech parent=ai
		add user gpb-ada,gpb-bob account=vision
		add user gpb-bob,gpb-carol account=speech
	END
	[[ $(sacctmgr -nP list assoc format=user,defaultqos | grep -c '^gpb-.*|free$') == 4 ]] && return 0
	cat "$CLUSTER_DIR/log/sacctmgr.out" >&2
	return 1
}
