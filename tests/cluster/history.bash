# SPDX-License-Identifier: GPL-2.0-or-later
# history.bash - a busy history of a cluster, and what is to come of it whatever was killed meanwhile
#
#   history_begin SEED      three workers go on until history_end: one submits, one cancels, requeues, holds, suspends and updates, one
#                           deposits and transfers, and says again what got no answer, under the same request id
#   history_end             waits for the workers, and ends all jobs
#   accounts_agree [TIME]   a condition: every run that ended by TIME (now) has in the books just what slurmdbd's rows say, run by run. But where
#                           Slurm contradicts itself: a job that is requeued just as it ends has the end moved that was told already (a check
#                           with --repair puts that right), and one that goes in the second in which it began has in slurmdbd no start
#   money_is_right          each deposit and transfer that was answered is in the journal, once
#
# A seed gives each worker the same words in the same order; how they interleave is up to the machine.

history_begin()
{
	local dir=$CLUSTER_DIR/history worker n=0

	mkdir -p "$dir"
	rm -f "$dir/answered"
	echo "history-$1" >"$dir/on"
	for worker in history_submit history_move history_pay; do
		n=$((n + 1))
		(RANDOM=$(($1 + n)); history_work $worker) </dev/null >>"$CLUSTER_DIR/log/$worker.out" 2>&1 3>&- &
		echo $! >"$dir/$worker.pid"
	done
}

history_end()
{
	rm -f "$CLUSTER_DIR/history/on"
	wait $(cat "$CLUSTER_DIR"/history/*.pid) || true
	cluster_clear
}

history_is_on() { [[ -e $CLUSTER_DIR/history/on ]]; }

history_work()
{
	local step=0

	while history_is_on; do
		step=$((step + 1))
		$1 $step || true	# what is refused, or gone meanwhile, is of the history
	done
}

# Jobs of 1 to 8 GPUs for some seconds: arrays, free ones, held ones, and ones that outlive their hold.
history_submit()
{
	local gpus=$((RANDOM % 8 * (RANDOM % 8) / 8 + 1)) seconds=$((RANDOM % 3)) user=${SCENE_USERS[RANDOM % 2]} kind=$((RANDOM % 10)) words=()

	(($(squeue -h -r -t PENDING | wc -l) < 12)) || { sleep 0.2; return; }	# few wait: it is runs that are to be counted
	case $kind in
	0 | 1)	words=(--array=1-3%2) gpus=$((gpus % 3 + 1)) ;;
	2)	words=(--gpu-min-runtime=2s) seconds=$((seconds + 5)) ;;
	3)	words=(--gpu-tier=free) ;;
	4)	words=(--hold) ;;
	5)	words=(--nodes=2 --gpus-per-node="$gpus") gpus= ;;
	*)	words=(--gpu-min-runtime=30m) ;;
	esac
	((kind == 2)) || words+=(--requeue)
	STORY_USER=$user as_story_user sbatch --job-name=history -o /dev/null -A vision ${gpus:+--gpus=$gpus} \
		--export="JOB_SECONDS=$seconds,JOB_CHECKPOINT_SECONDS=0" "${words[@]}" <"$CLUSTER_LIB/job.sh" >/dev/null
}

# Something happens to a job that is there.
history_move()
{
	local jobs line id state

	mapfile -t jobs < <(squeue -h -r -o '%i %T')
	((${#jobs[@]} > 0)) || { sleep 0.2; return; }		# a queue that is empty is not asked again at once
	line=${jobs[RANDOM % ${#jobs[@]}]}
	read -r id state <<<"$line"
	case $state:$((RANDOM % 6)) in
	SUSPENDED:*)	scontrol resume "${id%%_*}" ;;
	RUNNING:[01])	scontrol requeue "$id" ;;
	RUNNING:2)	scontrol suspend "$id" ;;
	RUNNING:*)	scancel "$id" ;;
	PENDING:0)	scontrol hold "$id" ;;
	PENDING:1)	scontrol update jobid="$id" TimeLimit=$((RANDOM % 50 + 10)) ;;
	PENDING:2)	scancel "$id" ;;
	PENDING:*)	scontrol release "$id" ;;
	esac
}

# A write whose answer was lost is said again, under the same id, until it is answered.
history_pay()
{
	local id=$(<"$CLUSTER_DIR/history/on")-$1 words=(deposit vision 0.01)

	((RANDOM % 2)) || words=(transfer vision speech 0.01)
	while ! budgetctl "${words[@]}" --reason "a busy history" --request-id "$id"; do
		history_is_on || return 1
		sleep 0.05
	done
	echo "$id ${words[0]}" >>"$CLUSTER_DIR/history/answered"
	((RANDOM % 4)) || budgetctl "${words[@]}" --reason "a busy history" --request-id "$id"
	sleep 0.1
}

# --- what is to come of it --------------------------------------------------------------------------

# JOB START END GPU-SECONDS STATE of each run that has ended, and JOB SUBMIT of each that has no start, as slurmdbd's rows tell: GPUs x (ElapsedRaw + Suspended). The parts of a run that
# changed its size have one start, and Elapsed counts from it.
#
# All jobs by their ids: without them sacct leaves out some of those that were held as they ran, whose time of eligibility is none.
recorded_runs()
{
	local last

	last=$(books "SELECT max(job) + 50 FROM run")
	TZ=UTC SLURM_TIME_FORMAT=%s sacct -anPX --duplicates -S 1970-01-01 -j "$(seq -s , 1 "${last:-50}")" -o JobIDRaw,Submit,Start,End,ElapsedRaw,Suspended,AllocTRES,State |
		awk -F'|' '
		function seconds(text,  n, part, days) {
			days = text ~ /-/ ? substr(text, 1, index(text, "-") - 1) : 0
			sub(/^[0-9]+-/, "", text)
			n = split(text, part, ":")
			return days * 86400 + (n == 3 ? part[1] * 3600 + part[2] * 60 + part[3] : part[1] * 60 + part[2])
		}
		$3 !~ /^[0-9]+$/ && $4 ~ /^[0-9]+$/ { print $1, $2 }
		$3 !~ /^[0-9]+$/ || !match($7, /gres\/gpu=[0-9]+/) { next }
		{
			run = $1 " " $3
			used = $5 + seconds($6) - ($2 > $3 ? $2 - $3 : 0)	# one that was cancelled before it began again has none
			sum[run] += substr($7, RSTART + 9, RLENGTH - 9) * (used > 0 ? used : 0)
			if ($4 !~ /^[0-9]+$/) open[run] = 1
			if ($4 >= end[run]) { end[run] = $4; state[run] = $8 }
		}
		END { for (run in sum) if (!open[run] && sum[run]) print run, end[run], sum[run], state[run] }' | sort
}

# Slurm's own words about the first jobs that differ.
recorded_rows()
{
	local jobs

	jobs=$(sed -n 's/^[<>] \([0-9]*\) .*/\1/p' <<<"$1" | sort -u | head -n 5 | paste -sd,)
	TZ=UTC SLURM_TIME_FORMAT=%s sacct -anPX --duplicates -S 1970-01-01 -j "$jobs" \
		-o JobIDRaw,State,Submit,Start,End,ElapsedRaw,Suspended,AllocTRES
}

# JOB START END GPU-SECONDS SUBMIT, after the last correction of each
booked_runs()
{
	books "SELECT r.job || ' ' || r.start || ' ' || coalesce(x.ended, r.ended) || ' ' ||
			coalesce(x.gpu_seconds, sum(c.gpus * (c.part_end - c.part_start))) || ' ' || r.submit
		FROM run r JOIN charge c ON c.run = r.id LEFT JOIN correction x ON x.id = (SELECT max(id) FROM correction WHERE run = r.id)
		WHERE r.ended <= $1 GROUP BY r.id HAVING sum(c.gpus * (c.part_end - c.part_start)) > 0" | sort
}

# differences RECORDED BOOKED TIME: of what had ended by then.
differences()
{
	awk -v by="$3" '
		NR == FNR && NF == 2 { unstarted[$1 " " $2] = 1; next }
		NR == FNR { end[$1 " " $2] = $3; seconds[$1 " " $2] = $4; state[$1 " " $2] = $5; next }
		{ run = $1 " " $2; booked[run] = 1 }
		!(run in end) { if (!unstarted[$1 " " $5]) print ">", $0; next }
		end[run] == $3 && seconds[run] == $4 { next }
		state[run] == "REQUEUED" && end[run] > $3 { next }
		{ print "<", run, end[run], seconds[run]; print ">", $0 }
		END { for (run in end) if (!booked[run] && end[run] <= by) print "<", run, end[run], seconds[run] }' "$1" "$2"
}

accounts_agree()
{
	local by=${1:-$(date +%s)} differ

	differ=$(differences <(recorded_runs) <(booked_runs "$by") "$by")
	[[ -n $differ ]] || return 0
	{ echo "job, start, end, GPU-seconds by $by: < slurmdbd, > the books"; echo "$differ"; recorded_rows "$differ"; } >&2
	return 1
}

# The last write may be there and its answer lost, when the history ended.
money_is_right()
{
	local ids answered written

	ids="request_id LIKE '$(head -n 1 "$CLUSTER_DIR/history/answered" | sed 's/-[0-9]* .*//')-%'"
	answered=$(sort "$CLUSTER_DIR/history/answered")
	written=$(books "SELECT request_id || ' ' || kind FROM journal WHERE $ids" | sort)
	[[ -z $(comm -23 <(echo "$answered") <(echo "$written")) ]] && (($(wc -l <<<"$written") - $(wc -l <<<"$answered") <= 1)) &&
		[[ -z $(books "SELECT 1 FROM journal WHERE kind = 'deposit' AND units <> 36000 AND $ids") ]] && return 0
	{ echo "< answered, > written"; diff <(echo "$answered") <(echo "$written"); } >&2
	return 1
}
