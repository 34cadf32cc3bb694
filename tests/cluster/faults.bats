# SPDX-License-Identifier: GPL-2.0-or-later
# The worst days of a disk and of the services around: what doc/reliability.md promises. Nothing is lost, nothing charged twice, no hold is
# promised that is not written, and a submission never waits longer than the deadline.
# only: full
# time: 400 s
load cluster
load accounting

DEADLINE_S=2			# forty times the default: a busy machine is no fault

setup_file()
{
	cluster_up --budgetd "ask_deadline = ${DEADLINE_S}s" --budgetd "breaker = 1s" && books_on_a_small_disk && deposit vision 1000
}

teardown_file()
{
	cluster_stop budgetd
	umount "$CLUSTER_DIR/budgetd"
	cluster_down
}

setup() { echo well >"$CLUSTER_DIR/etc/disk"; }

teardown()
{
	local name

	echo well >"$CLUSTER_DIR/etc/disk"
	rm -f "$CLUSTER_DIR/budgetd/fill"
	mount -o remount,rw "$CLUSTER_DIR/budgetd"
	for name in munged slurmctld budgetd; do
		! is_gone "$(cluster_pid $name)" || cluster_start $name
	done
	cluster_clear && no_crash && eventually balance_is vision "held=0.00" && books_are_right && budgetctl verify
}

# A file system of their own, and a budgetd whose writes and syncs can be made to fail (tests/stubs/disk_stub.c).
books_on_a_small_disk()
{
	local dir=$CLUSTER_DIR

	cluster_stop budgetd
	mv "$dir/budgetd" "$dir/budgetd.small" && mkdir -m 755 "$dir/budgetd" && mount -t tmpfs -o size=8m,mode=755 none "$dir/budgetd" &&
		mv "$dir/budgetd.small"/* "$dir/budgetd" &&
		${CC:-cc} -O2 -shared -fPIC -o "$dir/lib/disk_stub.so" "$CLUSTER_LIB/../stubs/disk_stub.c" -ldl || return 1
	echo "export LD_PRELOAD=$dir/lib/disk_stub.so DISK_STUB=$dir/etc/disk; $(<"$dir/run/budgetd.start")" >"$dir/run/budgetd.start"
	cluster_start budgetd
}

# ends_with STATUS COMMAND...
ends_with()
{
	run "${@:2}"
	[[ $status == "$1" ]] || { echo "ended with $status: $output"; return 1; }
}

health_of() { budgetctl health -o json | jq -r ".$1"; }
books_cannot_be_written() { [[ $(health_of books) == *"$1"* ]]; }
books_are_written() { [[ $(health_of books) == ok ]]; }

# Jobs that their users hold are submitted until the disk is in the way (its log may have room for some), and then some more: of all that were
# told that they are funded all but one are in the books, so that their hours are set aside.
one_answer_at_most_is_lost()
{
	local i told=0 after=0 written

	for ((i = 0; i < 500 && after < 5; i++)); do
		books_are_written || after=$((after + 1))
		as ada submit "bad$i" --gpus=1 --hold
		! says "funded:" 2>/dev/null || told=$((told + 1))
	done
	says "budgetd cannot be asked now"
	written=$(books "SELECT count(*) FROM admission WHERE id > $1 AND tier = 'funded'")
	echo "of $i jobs $told were told that they are funded, and $written are in the books"
	((after == 5 && told - written <= 1))
}

last_admission() { books "SELECT coalesce(max(id), 0) FROM admission"; }

deposit_is_refused()
{
	run budgetctl deposit vision 5 --reason "while the disk is ill" --request-id "$1"
	[[ $status == 1 && $output == *"$2"* ]]
}

# The same request as before is written once, whatever became of the first.
deposit_comes_once()
{
	local before

	before=$(units vision amount)
	budgetctl deposit vision 5 --reason "while the disk is ill" --request-id "$1"
	budgetctl deposit vision 5 --reason "while the disk is ill" --request-id "$1"
	(($(units vision amount) == before + 5 * 3600 * 1000))
}

@test "a full disk: jobs get what when_unreachable says, money is refused with the cause, and all goes on when there is room" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	before=$(last_admission)
	! dd if=/dev/zero of="$CLUSTER_DIR/budgetd/fill" bs=4k 2>/dev/null
	one_answer_at_most_is_lost "$before"
	deposit_is_refused full-1 "full"
	books_cannot_be_written "full"
	ends_with 6 budgetctl health
	rm "$CLUSTER_DIR/budgetd/fill"
	eventually books_are_written
	deposit_comes_once full-1
	as ada submit after --gpus=1
	says "funded:"
	as ada cancel train
	eventually accounted train funded
}

@test "a disk that fails: the same, and a run that ends meanwhile is charged to the second" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	before=$(last_admission)
	echo fail >"$CLUSTER_DIR/etc/disk"
	one_answer_at_most_is_lost "$before"
	deposit_is_refused io-1 "I/O"
	as ada cancel train
	eventually job_is train CANCELLED
	books_cannot_be_written "I/O"
	echo well >"$CLUSTER_DIR/etc/disk"
	eventually books_are_written
	deposit_comes_once io-1
	eventually accounted train funded
}

@test "a file system that turned read-only: the same, and budgetd does not start on it, with the reason" {
	before=$(last_admission)
	echo readonly >"$CLUSTER_DIR/etc/disk"
	one_answer_at_most_is_lost "$before"
	deposit_is_refused ro-1 "I/O"
	echo well >"$CLUSTER_DIR/etc/disk"
	cluster_stop budgetd
	mount -o remount,ro "$CLUSTER_DIR/budgetd"		# as it is when nobody has a file of it open
	run "$CLUSTER_DIR/bin/budgetd" -c "$CLUSTER_DIR/etc/budgetd.conf"
	[[ $status != 0 && $output == *"cannot be opened for writing: Read-only file system"* ]]
	mount -o remount,rw "$CLUSTER_DIR/budgetd"
	cluster_start budgetd
	deposit_comes_once ro-1
}

@test "a disk that stalls for longer than the deadline: a submission waits for it no longer than that" {
	local i took

	echo "stall $((DEADLINE_S * 2000))" >"$CLUSTER_DIR/etc/disk"
	budgetctl deposit vision 1 --reason "this one waits for the disk" &
	for i in 1 2 3 4; do
		took=$(date +%s%N)
		as ada submit "slow$i" --gpus=1 --hold
		took=$((($(date +%s%N) - took) / 1000000))
		echo "answered after $took ms"
		((took < DEADLINE_S * 1000 + 5000))
	done
	wait
	echo well >"$CLUSTER_DIR/etc/disk"
	eventually books_are_written
}

@test "a second budgetd on the same books does not start, and the first works on" {
	run "$CLUSTER_DIR/bin/budgetd" -c "$CLUSTER_DIR/etc/budgetd.conf"
	[[ $status != 0 && $output == *"in use by another budgetd"* ]]
	as ada submit probe --gpus=1 --hold
	says "funded:"
}

@test "sockets that somebody removed: people are told, and a restart brings them back" {
	rm "$CLUSTER_DIR"/run/budgetd*.socket
	ends_with 3 budgetctl balance
	cluster_restart budgetd
	as ada submit after --gpus=1 --hold
	says "funded:"
}

@test "munged gone: budgetd goes on answering on its host, and what Slurm cannot be told is told afterwards" {
	cluster_stop munged
	budgetctl balance vision >/dev/null
	slurm_cannot_be_asked() { [[ $(health_of slurm) != ok ]]; }
	eventually slurm_cannot_be_asked
	ends_with 6 budgetctl health
	cluster_start munged
	slurm_is_asked() { [[ $(health_of slurm) == ok ]]; }
	eventually slurm_is_asked
	as ada submit train --gpus=1
	eventually job_is train RUNNING funded
}

@test "slurmctld gone and back: nothing is charged for the time in between that slurmdbd does not have" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	eventually job_is train RUNNING funded
	eventually has_run train
	cluster_stop slurmctld
	slurm_cannot_be_asked() { [[ $(health_of slurm) != ok ]]; }
	eventually slurm_cannot_be_asked
	cluster_restart budgetd
	cluster_start slurmctld
	as ada cancel train
	eventually accounted train funded
}

@test "budgetd replaced while jobs come in: each has an answer, and each run is charged once" {
	local i

	for i in {1..30}; do
		((i % 10 != 5)) || { cluster_stop budgetd; cp "$BUILD/budgetd/budgetd" "$CLUSTER_DIR/bin/budgetd.new"; mv "$CLUSTER_DIR/bin/budgetd.new" "$CLUSTER_DIR/bin/budgetd"; cluster_start budgetd; }
		as ada submit "up$i" --gpus=1 --export=JOB_SECONDS=1,JOB_CHECKPOINT_SECONDS=0
	done
	for i in {1..30}; do
		eventually accounted "up$i"
	done
}
