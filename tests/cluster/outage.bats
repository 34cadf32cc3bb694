# SPDX-License-Identifier: GPL-2.0-or-later
# Submissions while budgetd is away, hung, late or talks nonsense: the site's policy at once, and the loop puts it right afterwards.
# time: 180 s
load cluster
load accounting

DEADLINE_S=2	# forty times the default, so that a busy machine cannot be taken for a hung budgetd

setup_file()	{ cluster_up --budgetd "ask_deadline = ${DEADLINE_S}s" --budgetd "breaker = 2s" && deposit vision 1000; }
teardown_file()	{ cluster_down; }

setup()		{ policy free; }

teardown()
{
	local pid

	pid=$(cluster_pid budgetd)
	if is_gone "$pid"; then		# its process may still be there as a zombie, which takes signals
		cluster_start budgetd || return 1
	fi
	kill -CONT "$(cluster_pid budgetd)"
	cluster_clear && no_crash && eventually balance_is vision "held=0.00" && books_are_right
}

# The plugin looks at the file before each question: it needs no reconfigure.
policy()
{
	local conf=$CLUSTER_DIR/etc/budgetd.conf

	{ grep -v when_unreachable "$conf"; echo "when_unreachable = $1"; } >"$conf.new"
	mv "$conf.new" "$conf"
}

# seconds COMMAND...: how long it took, in milliseconds, in $took.
timed()
{
	local begun=${EPOCHREALTIME/./} rv=0

	"$@" || rv=$?
	took=$(((${EPOCHREALTIME/./} - begun) / 1000))
	return $rv
}

stopped() { kill -TERM "$1" && eventually is_gone "$1"; }

# fake_budgetd FILE: something that answers every question on the plugin's socket with the bytes of FILE. Its id is in $fake.
fake_budgetd()
{
	rm -f "$BATS_TEST_TMPDIR/fake.up"
	perl -MIO::Socket::UNIX -MSocket -e '
		my ($path, $file) = @ARGV; local $/; open F, $file; my $text = <F>;
		unlink $path; $SIG{PIPE} = "IGNORE";
		my $l = IO::Socket::UNIX->new(Local => $path, Listen => 64) or die "$!"; print "up\n"; STDOUT->flush;
		while (my $c = $l->accept) { sysread $c, my $b, 65536; syswrite $c, $text; close $c }' \
		"$CLUSTER_DIR/run/budgetd-slurm.socket" "$1" >"$BATS_TEST_TMPDIR/fake.up" 3>&- &
	fake=$!
	fake_is_up() { grep -q up "$BATS_TEST_TMPDIR/fake.up"; }
	eventually fake_is_up
}

# breaker_is_closed: the plugin asks again, and gets an answer.
breaker_is_closed() { as ada submit probe --gpus=1 --gpu-tier=free --test-only; says "free tier, as asked"; }

@test "without budgetd a job goes to the free tier and is told so, and is promoted when budgetd is back" {
	cluster_stop budgetd
	as ada submit filler --nodes=2 --gpus-per-node=8
	says "budgetd cannot be asked now, so this job goes to the free tier"
	eventually job_is filler RUNNING free
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	says "It is checked again while it waits in the queue"
	job_is train PENDING free
	refused ada --gpus=1 --gpu-tier=funded
	says "--gpu-tier=funded insists on the funded tier"
	cluster_start budgetd
	eventually job_is train RUNNING funded
	eventually balance_is vision "held=2.00"
	eventually has_run train
	as ada cancel train
	eventually accounted train funded
	as ada cancel filler
	eventually accounted filler
	[[ $(charged_units filler) == 0 ]]
}

@test "with the policy accept a job is left as it was asked for, and one that runs funded is charged from its start" {
	policy accept
	cluster_stop budgetd
	as ada submit train --gpus=2 --qos=funded
	[[ ! -s $CLUSTER_DIR/job/said ]]
	eventually job_is train RUNNING funded
	as ada submit short --gpus=1 --export=JOB_SECONDS=1,JOB_CHECKPOINT_SECONDS=0
	eventually job_is short COMPLETED
	cluster_start budgetd
	eventually tier_is train funded
	eventually balance_is vision "held=0.50"
	eventually has_run train
	as ada cancel train
	eventually accounted train funded
	[[ $(charged_units train) -gt 0 ]]
	eventually accounted short
}

@test "with the policy reject a job that asks for GPUs is refused, and one that does not is none of our business" {
	policy reject
	cluster_stop budgetd
	refused ada --gpus=1
	says "budgetd cannot be asked now, and this site then refuses jobs that ask for GPUs"
	as ada submit prepare --cpus-per-task=2
	eventually job_is prepare RUNNING
	[[ ! -s $CLUSTER_DIR/job/said ]]
	cluster_start budgetd
	as ada submit train --gpus=1
	says "funded:"
}

@test "a hung budgetd costs one submission the deadline, the next ones nothing, and is asked again when it wakes" {
	local pid

	pid=$(cluster_pid budgetd)
	kill -STOP "$pid"
	timed as ada submit train --gpus=1
	says "budgetd cannot be asked now"
	((took >= DEADLINE_S * 1000 && took < DEADLINE_S * 1000 + 5000))
	timed as ada submit sweep --gpus=1
	says "budgetd cannot be asked now"
	((took < DEADLINE_S * 1000))
	kill -CONT "$pid"
	eventually breaker_is_closed
	as ada submit third --gpus=1
	says "funded:"
}

# The question that the hung one had already read is answered when it wakes: to nobody, and the hold is given back.
@test "an answer that comes too late sets nothing aside for long" {
	local pid

	pid=$(cluster_pid budgetd)
	as ada submit filler --nodes=2 --gpus-per-node=8
	eventually job_is filler RUNNING funded
	kill -STOP "$pid"
	as ada submit train --gpus=1 --gpu-min-runtime=2h --hold
	says "budgetd cannot be asked now"
	kill -CONT "$pid"
	as ada cancel filler
	eventually balance_is vision "held=0.00"
	job_is train PENDING
}

@test "an answer that is none is treated as no answer, and slurmctld lives" {
	local answer ok='HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: '

	cluster_stop budgetd
	while IFS= read -r answer; do
		printf "$answer" >"$BATS_TEST_TMPDIR/answer"
		fake_budgetd "$BATS_TEST_TMPDIR/answer"
		as ada submit train --gpus=1 --hold
		says "budgetd cannot be asked now" || { echo "for $answer" >&2; return 1; }
		job_is train PENDING free
		kill "$fake"
		wait "$fake" || true
		as ada cancel train
	done <<-END
		garbage
		\\0\\0\\0\\0
		HTTP/1.1 200 OK\r\n\r\n
		${ok}2\r\n\r\n{}
		${ok}4\r\n\r\nnull
		${ok}2\r\n\r\n[]
		${ok}40\r\n\r\n{"verdict":"accept"
		${ok}20\r\n\r\n{"verdict":"accept"}
		${ok}20\r\n\r\n{"verdict":"perhaps"
		${ok}38\r\n\r\n{"verdict":"accept","tier":"platinum"}
		${ok}46\r\n\r\n{"verdict":"accept","tier":"funded","token":1}
		${ok}50\r\n\r\n{"verdict":"accept","tier":"funded","token":"gpb"}
		${ok}66\r\n\r\n{"verdict":"accept","tier":"funded","site_factor":999999999999999}
		HTTP/1.1 500 Internal Server Error\r\nContent-Length: 15\r\n\r\n{"error":"oh"}
		HTTP/1.1 301 Moved\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n
	END
	[[ $(scontrol ping) == *UP* ]]
}

@test "a settings file that was broken keeps what was in force" {
	cp "$CLUSTER_DIR/etc/budgetd.conf" "$BATS_TEST_TMPDIR/good"
	policy reject
	as ada submit train --gpus=1 --gpu-tier=free
	policy "nonsense"
	cluster_stop budgetd
	refused ada --gpus=1
	says "this site then refuses jobs"
	rm "$CLUSTER_DIR/etc/budgetd.conf"
	refused ada --gpus=1
	cp "$BATS_TEST_TMPDIR/good" "$CLUSTER_DIR/etc/budgetd.conf"
	as ada submit sweep --gpus=1
	says "goes to the free tier"
}

@test "slurmctld does not need budgetd to start, nor a reconfigure to find it" {
	cluster_stop budgetd
	cluster_restart slurmctld
	as ada submit train --gpus=1 --hold
	says "goes to the free tier"
	cluster_start budgetd
	as ada submit sweep --gpus=1
	says "funded:"
	scontrol reconfigure
	as ada submit third --gpus=1
	says "funded:"
	eventually job_is third RUNNING funded
}

# Asked to stop while it asks again and again for a slurmctld that is away, it ends with what it decided written.
@test "budgetd stops within seconds while slurmctld is away, and loses nothing" {
	local pid

	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	cluster_stop slurmctld
	is_away() { budgetctl health -o json | jq -e '.slurm | test("no slurmctld answers")' >/dev/null; }
	eventually is_away
	pid=$(cluster_pid budgetd)
	timed stopped "$pid"
	echo "it took $took ms"
	((took < 15000))	# the MessageTimeout of these clusters is 20 s
	cluster_start budgetd
	cluster_start slurmctld
	eventually job_is train RUNNING funded
	eventually balance_is vision "held=2.00"
}
