-- Schema 1. Amounts are integer units (3,600,000 = 1 GPU-hour at rate 1.000), times are UTC epoch seconds.
-- What happened (journal, charge, ended runs, closed holds) is append-only, the database itself refuses to change it, and it is chained.
-- What is set aside (hold, hold_draw, allocation_sum) is present state and can be rebuilt from the jobs and the journal.

CREATE TABLE project (
	id           INTEGER PRIMARY KEY,
	name         TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63 AND name = lower(name)),
	parent       INTEGER REFERENCES project(id) CHECK (parent <> id),
	share        INTEGER NOT NULL DEFAULT 1 CHECK (share BETWEEN 0 AND 1000000),
	on_exhausted TEXT CHECK (on_exhausted IN ('free', 'reject', 'wait')),		-- NULL = inherited
	credit       INTEGER NOT NULL DEFAULT 0 CHECK (credit >= 0),
	unmetered    INTEGER NOT NULL DEFAULT 0 CHECK (unmetered IN (0, 1)),		-- 1 = it bounds nothing, whatever it was given
	created_at   INTEGER NOT NULL,
	removed_at   INTEGER,							-- a removed project keeps its journal
	user_shares  INTEGER CHECK (user_shares IN (0, 1))			-- 1 = a leaf is divided among its users; NULL = inherited
) STRICT;
CREATE UNIQUE INDEX project_by_name ON project(name) WHERE removed_at IS NULL;
CREATE INDEX project_by_parent ON project(parent);
CREATE INDEX project_by_user_shares ON project(id) WHERE user_shares = 1;

-- The weight of a user among those of a leaf that is divided; who has no row has 1. The past is in `change`.
CREATE TABLE user_share (
	project INTEGER NOT NULL REFERENCES project(id),
	uid     INTEGER NOT NULL,
	user    TEXT NOT NULL CHECK (length(user) BETWEEN 1 AND 255),
	share   INTEGER NOT NULL CHECK (share BETWEEN 0 AND 1000000),
	PRIMARY KEY (project, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
	project INTEGER NOT NULL REFERENCES project(id),
	user    TEXT NOT NULL CHECK (length(user) BETWEEN 1 AND 255),
	role    TEXT NOT NULL CHECK (role IN ('owner', 'member')),
	PRIMARY KEY (project, user)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_user ON member(user);

CREATE TABLE allocation (
	id         INTEGER PRIMARY KEY,
	project    INTEGER NOT NULL REFERENCES project(id),
	starts     INTEGER NOT NULL,
	ends       INTEGER CHECK (ends > starts),				-- NULL = open
	comment    TEXT NOT NULL DEFAULT '',
	carry_over INTEGER NOT NULL DEFAULT 0 CHECK (carry_over BETWEEN 0 AND 100),	-- percent of what is left at its end
	vests      INTEGER NOT NULL DEFAULT 0 CHECK (vests IN (0, 1) AND (vests = 0 OR ends IS NOT NULL)),
	burst      INTEGER NOT NULL DEFAULT 0 CHECK (burst >= 0),		-- units usable before they have vested
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX allocation_by_project ON allocation(project);

-- The running sums of an allocation: amount from the journal without charges, charged from the charges, held from hold_draw.
CREATE TABLE allocation_sum (
	allocation INTEGER PRIMARY KEY REFERENCES allocation(id),
	amount     INTEGER NOT NULL DEFAULT 0,
	charged    INTEGER NOT NULL DEFAULT 0,
	held       INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0)
) STRICT;

-- What one user may take of the allocations of a project, and what each has taken of an allocation: held, and charged less what was refunded.
CREATE TABLE cap (
	project INTEGER NOT NULL REFERENCES project(id),
	uid     INTEGER NOT NULL,
	user    TEXT NOT NULL CHECK (length(user) BETWEEN 1 AND 255),
	units   INTEGER NOT NULL CHECK (units >= 0),
	PRIMARY KEY (project, uid)
) STRICT, WITHOUT ROWID;
CREATE TABLE user_sum (
	allocation INTEGER NOT NULL REFERENCES allocation(id),
	uid        INTEGER NOT NULL,
	charged    INTEGER NOT NULL DEFAULT 0,
	held       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (allocation, uid)
) STRICT, WITHOUT ROWID;

-- Which write a request id was said for, hashed: what is said again is the same write, or refused.
CREATE TABLE said (
	request_id TEXT PRIMARY KEY CHECK (length(request_id) BETWEEN 1 AND 64),
	at         INTEGER NOT NULL,
	write      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER said_is_never_replaced BEFORE INSERT ON said WHEN EXISTS (SELECT 1 FROM said WHERE request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'what a request id was said for never changes'); END;
CREATE TRIGGER said_is_never_changed BEFORE UPDATE ON said
BEGIN SELECT RAISE(ABORT, 'what a request id was said for never changes'); END;
CREATE TRIGGER said_is_never_deleted BEFORE DELETE ON said
BEGIN SELECT RAISE(ABORT, 'what a request id was said for is never forgotten'); END;

-- The answer given to one submission, with or without money behind it.
CREATE TABLE admission (
	id            INTEGER PRIMARY KEY,
	token         TEXT NOT NULL UNIQUE,
	at            INTEGER NOT NULL,
	uid           INTEGER NOT NULL,
	project       INTEGER NOT NULL REFERENCES project(id),
	tier          TEXT NOT NULL CHECK (tier IN ('funded', 'free')),
	min_runtime   INTEGER NOT NULL CHECK (min_runtime >= 0),
	team_rank     INTEGER NOT NULL CHECK (team_rank >= 0),
	gpus          INTEGER NOT NULL CHECK (gpus >= 0),			-- of one task, the upper bound
	tasks         INTEGER NOT NULL CHECK (tasks >= 1),
	per_task      INTEGER NOT NULL CHECK (per_task >= 0),			-- units one task sets aside
	job           INTEGER,							-- (array) job id, NULL until the loop has seen it
	seen          TEXT,							-- the job as it was priced: a change is a new check
	insists       INTEGER NOT NULL CHECK (insists IN (0, 1)),			-- --gpu-tier=funded: never the free tier instead
	parked_at     INTEGER,							-- tasks of it wait for money since then, held in the queue by the daemon
	waits_at      INTEGER REFERENCES project(id) CHECK ((waits_at IS NULL) = (parked_at IS NULL)),	-- the project that has no more
	waits_user    INTEGER CHECK (waits_user IS NULL OR waits_at IS NOT NULL),	-- whose cap it is that leaves no more; NULL = the project itself
	waits_behind  INTEGER CHECK (waits_behind IS NULL OR waits_at IS NOT NULL),	-- the job in front that is not overtaken; NULL = it is the first
	user_held_at  INTEGER,							-- its user holds tasks of it since then
	changing_at   INTEGER,							-- a change was accepted then and has its hours; Slurm has not shown it yet
	request       TEXT NOT NULL						-- the question as it came, for later modifications
) STRICT;
CREATE INDEX admission_by_job ON admission(job) WHERE job IS NOT NULL;
CREATE INDEX admission_waits ON admission(waits_at) WHERE waits_at IS NOT NULL;

-- Runs that were taken from Slurm's accounting, as many as one transaction wrote: rows that follow each other, final as one.
CREATE TABLE import (
	id           INTEGER PRIMARY KEY,
	at           INTEGER NOT NULL,
	actor        TEXT NOT NULL,
	first_run    INTEGER,
	last_run     INTEGER,
	first_charge INTEGER,							-- their parts
	last_charge  INTEGER,
	hash         BLOB CHECK (length(hash) = 32)				-- over those rows (books/chain.h); NULL only until they are written
) STRICT;
CREATE TRIGGER import_is_never_replaced BEFORE INSERT ON import WHEN EXISTS (SELECT 1 FROM import WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an import is never replaced'); END;
CREATE TRIGGER import_is_never_changed BEFORE UPDATE ON import WHEN OLD.hash IS NOT NULL OR NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'an import is never changed'); END;
CREATE TRIGGER import_is_never_deleted BEFORE DELETE ON import
BEGIN SELECT RAISE(ABORT, 'imports are never deleted'); END;

-- One start-to-end of a job. A requeued job has several.
CREATE TABLE run (
	id            INTEGER PRIMARY KEY,
	cluster       TEXT NOT NULL,
	job           INTEGER NOT NULL,						-- the raw job id of Slurm
	submit        INTEGER NOT NULL,
	start         INTEGER NOT NULL,
	label         TEXT NOT NULL,						-- as people write it: 12, 12_3, 12+1
	admission     INTEGER REFERENCES admission(id),
	project       INTEGER NOT NULL REFERENCES project(id),
	uid           INTEGER NOT NULL,
	partition     TEXT NOT NULL,
	tier          TEXT NOT NULL CHECK (tier IN ('funded', 'free')),
	min_runtime   INTEGER NOT NULL,
	gpus          INTEGER NOT NULL,
	tres          TEXT NOT NULL,						-- AllocTRES as Slurm gave it
	price         INTEGER NOT NULL CHECK (price >= 0),			-- units a second, fixed at the start
	covered_until INTEGER NOT NULL,						-- the hold pays up to here
	free_since    INTEGER,							-- an extension did not fit: free from here on
	ended         INTEGER,							-- NULL = running
	state         TEXT,							-- Slurm's word for the end
	lost_at       INTEGER,							-- gone from slurmctld, and slurmdbd did not tell its end
	import        INTEGER REFERENCES import(id),				-- taken from Slurm's accounting; NULL = seen by the loop
	unprotected_at  INTEGER,						-- its minimum runtime protects it no more since then
	unprotected_why TEXT CHECK ((unprotected_why IS NULL) = (unprotected_at IS NULL)),	-- a reason as in event
	-- seconds of it that were suspended and cost nothing; NULL = that time is charged like any other
	suspended     INTEGER CHECK (suspended >= 0),
	UNIQUE (job, cluster, submit, start)					-- in this order it serves who looks for a job alone, too
) STRICT;
CREATE INDEX run_open ON run(cluster, job) WHERE ended IS NULL;
CREATE INDEX run_by_admission ON run(admission) WHERE admission IS NOT NULL;	-- the tasks of an array
CREATE INDEX run_by_end ON run(ended);

-- Weekly windows in which a project goes first. Never changed: added, and removed.
CREATE TABLE slot (
	id         INTEGER PRIMARY KEY,
	project    INTEGER NOT NULL REFERENCES project(id),
	starts     INTEGER NOT NULL CHECK (starts BETWEEN 0 AND 604799 AND starts % 60 = 0),	-- local seconds of the week, from Monday 00:00
	length     INTEGER NOT NULL CHECK (length BETWEEN 60 AND 604800 AND length % 60 = 0),
	percent    INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 100),			-- of the healthy GPUs, up to which it goes first
	created_at INTEGER NOT NULL,
	removed_at INTEGER
) STRICT;
CREATE INDEX slot_by_project ON slot(project) WHERE removed_at IS NULL;
CREATE TRIGGER slot_is_never_replaced BEFORE INSERT ON slot WHEN EXISTS (SELECT 1 FROM slot WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a slot is never changed: remove it and add another one'); END;
CREATE TRIGGER slot_is_only_removed BEFORE UPDATE ON slot WHEN OLD.removed_at IS NOT NULL
	OR (NEW.id, NEW.project, NEW.starts, NEW.length, NEW.percent, NEW.created_at)
		IS NOT (OLD.id, OLD.project, OLD.starts, OLD.length, OLD.percent, OLD.created_at)
BEGIN SELECT RAISE(ABORT, 'a slot is never changed: remove it and add another one'); END;
CREATE TRIGGER slot_is_never_deleted BEFORE DELETE ON slot
BEGIN SELECT RAISE(ABORT, 'slots are never deleted'); END;

-- The debug lane: jobs in the queue that go first now (present state), and runs that began so: what a user had of it today.
CREATE TABLE lane_job (
	admission INTEGER PRIMARY KEY REFERENCES admission(id)
) STRICT;
CREATE TABLE lane_run (
	run INTEGER PRIMARY KEY REFERENCES run(id)
) STRICT;

CREATE TABLE hold (
	id         INTEGER PRIMARY KEY,
	admission  INTEGER NOT NULL REFERENCES admission(id),
	project    INTEGER NOT NULL REFERENCES project(id),
	run        INTEGER REFERENCES run(id),					-- NULL = waits in the queue
	tasks      INTEGER NOT NULL CHECK (tasks >= 0),
	units      INTEGER NOT NULL CHECK (units >= 0),
	opened_at  INTEGER NOT NULL,
	closed_at  INTEGER,
	closed_why TEXT
) STRICT;
CREATE INDEX hold_open_by_admission ON hold(admission) WHERE closed_at IS NULL;
CREATE INDEX hold_open_by_run ON hold(run) WHERE closed_at IS NULL AND run IS NOT NULL;

-- Which allocations, at the project and at each metered ancestor, an open hold is drawn on.
CREATE TABLE hold_draw (
	hold       INTEGER NOT NULL REFERENCES hold(id),
	allocation INTEGER NOT NULL REFERENCES allocation(id),
	units      INTEGER NOT NULL CHECK (units > 0),
	PRIMARY KEY (hold, allocation)
) STRICT, WITHOUT ROWID;

-- How a run was paid for, piece by piece. Parts of a run add up to the run exactly.
CREATE TABLE charge (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES run(id),
	seq        INTEGER NOT NULL CHECK (seq >= 0),
	kind       TEXT NOT NULL CHECK (kind = 'funded' OR kind = 'free' OR kind = 'uncovered' OR kind = 'imported' OR kind = 'suspended'),	-- for IN, SQLite makes a table at each INSERT
	project    INTEGER NOT NULL REFERENCES project(id),
	at         INTEGER NOT NULL,
	part_start INTEGER NOT NULL,
	part_end   INTEGER NOT NULL CHECK (part_end >= part_start),
	gpus       INTEGER NOT NULL,
	price      INTEGER NOT NULL CHECK (price >= 0),				-- units a second, of the size that the run had in this part
	units      INTEGER NOT NULL CHECK (units = CASE WHEN kind IN ('funded', 'imported') THEN (part_end - part_start) * price ELSE 0 END),
	dated      INTEGER CHECK (dated <= at),				-- of the month that it is booked in; NULL = that of `at`
	ends_run   INTEGER CHECK (ends_run = 1),				-- the run ended with it; NULL = not known as it was written
	tres       TEXT,							-- what was allocated in this part; NULL = the run's, which is final with it
	UNIQUE (run, seq)
) STRICT;
CREATE INDEX charge_by_project ON charge(project, part_end);

-- What of a charge does not count in the ratio (doc/model.md, 5), whether somebody paid it or not. Append-only, and chained.
CREATE TABLE uncounted (
	id     INTEGER PRIMARY KEY,
	at     INTEGER NOT NULL,
	charge INTEGER NOT NULL REFERENCES charge(id),
	units  INTEGER NOT NULL CHECK (units > 0),
	cause  TEXT NOT NULL CHECK (cause IN ('node failure', 'displaced', 'correction'))
) STRICT;
CREATE INDEX uncounted_by_charge ON uncounted(charge);
CREATE TRIGGER uncounted_is_never_replaced BEFORE INSERT ON uncounted WHEN EXISTS (SELECT 1 FROM uncounted WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'what does not count in the ratio is append-only'); END;
CREATE TRIGGER uncounted_is_never_changed BEFORE UPDATE ON uncounted
BEGIN SELECT RAISE(ABORT, 'what does not count in the ratio is append-only'); END;
CREATE TRIGGER uncounted_is_never_deleted BEFORE DELETE ON uncounted
BEGIN SELECT RAISE(ABORT, 'what does not count in the ratio is append-only'); END;

CREATE TABLE journal (
	id         INTEGER PRIMARY KEY,
	at         INTEGER NOT NULL,
	kind       TEXT NOT NULL CHECK (kind = 'charge' OR kind = 'deposit' OR kind = 'withdrawal' OR kind = 'transfer' OR kind = 'adjustment'
		OR kind = 'refund' OR kind = 'expiry' OR kind = 'carry-over' OR kind = 'void'),		-- no IN: as in charge
	allocation INTEGER NOT NULL REFERENCES allocation(id),
	project    INTEGER NOT NULL REFERENCES project(id),			-- the owner of the allocation
	units      INTEGER NOT NULL CHECK (kind <> 'charge' OR units <= 0),
	balance    INTEGER NOT NULL,						-- of the allocation, after this entry
	charge     INTEGER REFERENCES charge(id) CHECK (kind <> 'charge' OR charge IS NOT NULL),
	actor      TEXT NOT NULL,
	reason     TEXT NOT NULL DEFAULT '',
	request_id TEXT,
	first      INTEGER REFERENCES journal(id),				-- the first entry of the same write; NULL = this one
	corrects   INTEGER REFERENCES journal(id) CHECK ((kind = 'void') = (corrects IS NOT NULL))
) STRICT;
CREATE INDEX journal_by_first ON journal(first) WHERE first IS NOT NULL;
CREATE UNIQUE INDEX journal_voided_once ON journal(corrects) WHERE corrects IS NOT NULL;
CREATE INDEX journal_by_project ON journal(project, id);
CREATE INDEX journal_refunds ON journal(charge, project) WHERE kind = 'refund';
CREATE INDEX journal_by_charge ON journal(charge) WHERE charge IS NOT NULL;
CREATE UNIQUE INDEX journal_by_request ON journal(request_id) WHERE request_id IS NOT NULL;

-- What a GPU-hour of a type costs, in thousandths, from when on. Never changed: the next row follows it.
CREATE TABLE rate (
	id          INTEGER PRIMARY KEY,
	at          INTEGER NOT NULL,
	gpu_type    TEXT NOT NULL CHECK (length(gpu_type) <= 63),		-- '' = the default; 'shard', 'mps': each of them
	valid_from  INTEGER NOT NULL,
	thousandths INTEGER NOT NULL CHECK (thousandths BETWEEN 0 AND 1000000),
	actor       TEXT NOT NULL,
	reason      TEXT NOT NULL DEFAULT '',
	request_id  TEXT UNIQUE
) STRICT;
CREATE TRIGGER rate_is_never_replaced BEFORE INSERT ON rate
	WHEN EXISTS (SELECT 1 FROM rate WHERE id = NEW.id OR request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'rates are append-only: set the next one'); END;
CREATE TRIGGER rate_is_never_changed BEFORE UPDATE ON rate
BEGIN SELECT RAISE(ABORT, 'rates are append-only: set the next one'); END;
CREATE TRIGGER rate_is_never_deleted BEFORE DELETE ON rate
BEGIN SELECT RAISE(ABORT, 'rates are append-only: set the next one'); END;

-- GPU-hours that a project asks for. What was asked and what was answered is never changed.
CREATE TABLE request (
	id          INTEGER PRIMARY KEY,
	at          INTEGER NOT NULL,
	project     INTEGER NOT NULL REFERENCES project(id),
	units       INTEGER NOT NULL CHECK (units > 0),
	actor       TEXT NOT NULL,
	reason      TEXT NOT NULL,
	request_id  TEXT UNIQUE,
	decision    TEXT CHECK (decision IN ('approved', 'refused')),		-- NULL = open
	decided_at  INTEGER,
	decided_by  TEXT,
	answer      TEXT,
	decision_id TEXT,							-- the request id of the decision
	entry       INTEGER REFERENCES journal(id) CHECK ((entry IS NOT NULL) = (decision IS 'approved'))
) STRICT;
CREATE INDEX request_open ON request(project) WHERE decision IS NULL;
CREATE TRIGGER request_is_never_replaced BEFORE INSERT ON request
	WHEN EXISTS (SELECT 1 FROM request WHERE id = NEW.id OR request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'a request is decided once and never changed'); END;
CREATE TRIGGER request_is_decided_once BEFORE UPDATE ON request
	WHEN OLD.decision IS NOT NULL OR (NEW.id, NEW.at, NEW.project, NEW.units, NEW.actor, NEW.reason, NEW.request_id)
		IS NOT (OLD.id, OLD.at, OLD.project, OLD.units, OLD.actor, OLD.reason, OLD.request_id)
BEGIN SELECT RAISE(ABORT, 'a request is decided once and never changed'); END;
CREATE TRIGGER request_is_never_deleted BEFORE DELETE ON request
BEGIN SELECT RAISE(ABORT, 'requests are never deleted'); END;

-- What Slurm's accounting says of a run otherwise than its row does, or than there was no row. Dated now; the last one of a run counts.
CREATE TABLE correction (
	id          INTEGER PRIMARY KEY,
	at          INTEGER NOT NULL,
	run         INTEGER NOT NULL REFERENCES run(id),
	kind        TEXT NOT NULL CHECK (kind IN ('missing', 'end', 'gpus', 'twice', 'tier', 'project', 'by hand')),
	ended       INTEGER NOT NULL,						-- when it ended
	gpu_seconds INTEGER NOT NULL CHECK (gpu_seconds >= 0),			-- what it used; 0 = it was no run
	tier        TEXT NOT NULL CHECK (tier IN ('funded', 'free')),
	project     INTEGER NOT NULL REFERENCES project(id),			-- whose account it was in
	refunded    INTEGER NOT NULL CHECK (refunded >= 0),			-- units given back by it; the journal has the entries
	actor       TEXT NOT NULL,
	reason      TEXT NOT NULL,
	request_id  TEXT UNIQUE
) STRICT;
CREATE INDEX correction_by_run ON correction(run);
CREATE TRIGGER correction_is_never_changed BEFORE UPDATE ON correction
BEGIN SELECT RAISE(ABORT, 'corrections are append-only: the next one counts'); END;
CREATE TRIGGER correction_is_never_deleted BEFORE DELETE ON correction
BEGIN SELECT RAISE(ABORT, 'corrections are append-only: the next one counts'); END;

-- What was done about a run beside money, and why: for its user, and for everybody who asks. Append-only, and chained.
CREATE TABLE event (
	id      INTEGER PRIMARY KEY,
	at      INTEGER NOT NULL,
	cluster TEXT NOT NULL,
	job     INTEGER NOT NULL,						-- the raw job id of Slurm
	run     INTEGER REFERENCES run(id),					-- NULL = the job was in the queue
	what    TEXT NOT NULL CHECK (what IN ('told', 'displaced', 'noted', 'warned', 'unprotected', 'spared')),
	reason  TEXT NOT NULL CHECK (reason IN ('ROTATED', 'FREE_RECLAIMED', 'NODE_DRAIN', 'HEALTH', 'IDLE', 'OVERDRAWN', 'USER')),
	for_job INTEGER,							-- who gets its GPUs
	detail  TEXT NOT NULL							-- a sentence for people
) STRICT;
CREATE INDEX event_by_job ON event(job);
CREATE INDEX event_by_run ON event(run, what) WHERE run IS NOT NULL;
CREATE INDEX event_spared ON event(for_job) WHERE what = 'spared';
CREATE TRIGGER event_is_never_replaced BEFORE INSERT ON event WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

-- Runs that were told to go and are not gone yet: present state.
CREATE TABLE leaving (
	run         INTEGER PRIMARY KEY REFERENCES run(id),
	told_at     INTEGER NOT NULL,
	due         INTEGER NOT NULL CHECK (due >= told_at),			-- then it has to go
	reason      TEXT NOT NULL,						-- as in event
	for_job     INTEGER,							-- who gets its GPUs; NULL = nobody in particular
	signalled_at INTEGER,							-- its processes were told
	made_to_go_at INTEGER							-- it lost its place, was requeued or cancelled
) STRICT;

-- The gang whose nodes are being cleared, at most one, and those that gave theirs up: present state.
CREATE TABLE guard (
	admission INTEGER PRIMARY KEY REFERENCES admission(id),
	at        INTEGER NOT NULL,						-- its planned start
	nodes     TEXT NOT NULL,						-- names with commas between; '' = given up at that time
	together  INTEGER NOT NULL CHECK (together IN (0, 1))			-- of a het job: free jobs are kept off as well
) STRICT;

-- What was written into the excluded nodes of jobs that are kept off such nodes, and what was there before, to be put back.
CREATE TABLE kept_off (
	admission INTEGER NOT NULL REFERENCES admission(id),
	written   TEXT NOT NULL,						-- into its excluded nodes
	own       TEXT NOT NULL,						-- its user's
	at        INTEGER NOT NULL,
	nowhere   INTEGER NOT NULL DEFAULT 0 CHECK (nowhere IN (0, 1)),		-- Slurm found no other node for it: it is held instead
	PRIMARY KEY (admission, written)
) STRICT, WITHOUT ROWID;

-- Nodes that an administrator wants empty. Who said what stays; one of a node is open at a time.
CREATE TABLE drain (
	id       INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL,
	node     TEXT NOT NULL CHECK (length(node) BETWEEN 1 AND 63),
	actor    TEXT NOT NULL,
	reason   TEXT NOT NULL,
	critical INTEGER NOT NULL CHECK (critical IN (0, 1)),
	set_at   INTEGER,							-- Slurm was told
	ended_at INTEGER,
	ended_by TEXT CHECK ((ended_by IS NULL) = (ended_at IS NULL))
) STRICT;
CREATE INDEX drain_by_node ON drain(node);
CREATE UNIQUE INDEX drain_open ON drain(node) WHERE ended_at IS NULL;

-- Shadow mode: what would have been done, for whom. A submission's row is bound to its job as the job turns up.
CREATE TABLE shadow (
	id        INTEGER PRIMARY KEY,
	at        INTEGER NOT NULL,
	job       INTEGER,							-- NULL until the loop has seen it
	kind      TEXT NOT NULL CHECK (kind IN ('funded', 'free', 'refused', 'displaced')),
	admission INTEGER REFERENCES admission(id),				-- NULL: refused
	account   TEXT NOT NULL,						-- as it was given: it may be no project
	partition TEXT NOT NULL,
	uid       INTEGER NOT NULL,
	gpus      INTEGER NOT NULL,
	for_job   INTEGER,							-- displaced for that one
	text      TEXT NOT NULL,
	UNIQUE (job, kind)
) STRICT;
CREATE INDEX shadow_unbound ON shadow(uid, at) WHERE job IS NULL;

-- INSERT OR REPLACE deletes a row without its DELETE trigger: an id that is there is never inserted again.
CREATE TRIGGER journal_is_never_replaced BEFORE INSERT ON journal
	WHEN EXISTS (SELECT 1 FROM journal WHERE id = NEW.id OR request_id = NEW.request_id OR corrects = NEW.corrects)
BEGIN SELECT RAISE(ABORT, 'the journal is append-only: correct an entry by a new one'); END;
CREATE TRIGGER charge_is_never_replaced BEFORE INSERT ON charge
	WHEN EXISTS (SELECT 1 FROM charge WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM charge WHERE run = NEW.run AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER run_is_never_replaced BEFORE INSERT ON run
	WHEN EXISTS (SELECT 1 FROM run WHERE id = NEW.id) OR EXISTS
		(SELECT 1 FROM run WHERE cluster = NEW.cluster AND job = NEW.job AND submit = NEW.submit AND start = NEW.start)
BEGIN SELECT RAISE(ABORT, 'runs are never replaced'); END;
CREATE TRIGGER hold_is_never_replaced BEFORE INSERT ON hold WHEN EXISTS (SELECT 1 FROM hold WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'holds are never replaced'); END;
-- Nor does what is open take the place of what is final: UPDATE OR REPLACE.
CREATE TRIGGER run_keeps_its_name BEFORE UPDATE OF id, cluster, job, submit, start ON run
	WHEN (NEW.id, NEW.cluster, NEW.job, NEW.submit, NEW.start) IS NOT (OLD.id, OLD.cluster, OLD.job, OLD.submit, OLD.start)
BEGIN SELECT RAISE(ABORT, 'a run keeps its job and its start'); END;
CREATE TRIGGER hold_keeps_its_name BEFORE UPDATE OF id ON hold WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a hold keeps its number'); END;
CREATE TRIGGER correction_is_never_replaced BEFORE INSERT ON correction
	WHEN EXISTS (SELECT 1 FROM correction WHERE id = NEW.id OR request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'corrections are append-only: the next one counts'); END;
CREATE TRIGGER journal_is_never_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only: correct an entry by a new one'); END;
CREATE TRIGGER journal_is_never_deleted BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only: correct an entry by a new one'); END;
CREATE TRIGGER charge_is_never_changed BEFORE UPDATE ON charge
BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER charge_is_never_deleted BEFORE DELETE ON charge
BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER ended_run_is_never_changed BEFORE UPDATE ON run WHEN OLD.ended IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an ended run is never changed'); END;
CREATE TRIGGER run_is_never_deleted BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'runs are never deleted'); END;
CREATE TRIGGER closed_hold_is_never_changed BEFORE UPDATE ON hold WHEN OLD.closed_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a closed hold is never changed'); END;
CREATE TRIGGER closed_hold_is_never_deleted BEFORE DELETE ON hold WHEN OLD.closed_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a closed hold is never deleted'); END;

-- Settings of projects and terms of allocations as they were changed: who, when, from, to, why. Append-only, and chained.
CREATE TABLE change (
	id         INTEGER PRIMARY KEY,
	at         INTEGER NOT NULL,
	project    INTEGER NOT NULL REFERENCES project(id),
	allocation INTEGER REFERENCES allocation(id),				-- NULL = a setting of the project
	what       TEXT NOT NULL,						-- share, cap_units, ends...: as the API has them
	user       TEXT,							-- whose, where it is a user's
	was        TEXT,							-- NULL = there was none
	became     TEXT,							-- NULL = there is none
	actor      TEXT NOT NULL,
	reason     TEXT NOT NULL DEFAULT '',
	request_id TEXT,
	first      INTEGER REFERENCES change(id)				-- the first row of the same write; NULL = this one
) STRICT;
CREATE UNIQUE INDEX change_by_request ON change(request_id) WHERE request_id IS NOT NULL;
CREATE INDEX change_by_project ON change(project, id);
CREATE TRIGGER change_is_never_replaced BEFORE INSERT ON change
	WHEN EXISTS (SELECT 1 FROM change WHERE id = NEW.id OR request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END;
CREATE TRIGGER change_is_never_changed BEFORE UPDATE ON change
BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END;
CREATE TRIGGER change_is_never_deleted BEFORE DELETE ON change
BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END;

-- The tree as it was: shares, parents, additions and removals, and weights of users.
CREATE INDEX change_of_tree ON change(at) WHERE what IN ('share', 'parent', 'project', 'user_share');

-- What the GPUs that can be given work are worth, from when on: for what projects are entitled to. A row when it changed. Append-only, and chained.
CREATE TABLE capacity (
	id    INTEGER PRIMARY KEY,
	at    INTEGER NOT NULL,
	units INTEGER NOT NULL CHECK (units >= 0)				-- a second: 1000 for each GPU at rate 1.000
) STRICT;
CREATE INDEX capacity_by_time ON capacity(at);
CREATE TRIGGER capacity_is_never_replaced BEFORE INSERT ON capacity WHEN EXISTS (SELECT 1 FROM capacity WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'what there was of GPUs is append-only'); END;
CREATE TRIGGER capacity_is_never_changed BEFORE UPDATE ON capacity
BEGIN SELECT RAISE(ABORT, 'what there was of GPUs is append-only'); END;
CREATE TRIGGER capacity_is_never_deleted BEFORE DELETE ON capacity
BEGIN SELECT RAISE(ABORT, 'what there was of GPUs is append-only'); END;

-- What the journal was written about: an allocation keeps its owner from its first entry on, and its start once it was charged.
CREATE TRIGGER allocation_is_never_replaced BEFORE INSERT ON allocation WHEN EXISTS (SELECT 1 FROM allocation WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'allocations are never replaced'); END;
CREATE TRIGGER allocation_is_never_deleted BEFORE DELETE ON allocation
BEGIN SELECT RAISE(ABORT, 'allocations are never deleted'); END;
CREATE TRIGGER allocation_keeps_its_owner BEFORE UPDATE OF id, project ON allocation
	WHEN (NEW.id, NEW.project) IS NOT (OLD.id, OLD.project)
	AND EXISTS (SELECT 1 FROM journal WHERE project = OLD.project AND allocation = OLD.id)
BEGIN SELECT RAISE(ABORT, 'an allocation that the journal names keeps its project'); END;
CREATE TRIGGER allocation_keeps_its_start BEFORE UPDATE OF starts ON allocation
	WHEN NEW.starts <> OLD.starts AND EXISTS (SELECT 1 FROM journal WHERE project = OLD.project AND allocation = OLD.id AND kind = 'charge')
BEGIN SELECT RAISE(ABORT, 'an allocation that was charged keeps its start'); END;

-- Months that are closed: nothing is dated in them any more, nor before the first one. Each follows the one before. Append-only, and chained.
CREATE TABLE period (
	id         INTEGER PRIMARY KEY,						-- the month (of UTC): year * 12 + month - 1
	starts     INTEGER NOT NULL,
	ends       INTEGER NOT NULL CHECK (ends > starts),
	closed_at  INTEGER NOT NULL CHECK (closed_at >= ends),
	entries    INTEGER NOT NULL,						-- the last row of the journal as it was closed
	charges    INTEGER NOT NULL,						-- and of charge
	actor      TEXT NOT NULL,
	reason     TEXT NOT NULL DEFAULT '',
	request_id TEXT UNIQUE,
	forced     TEXT								-- what was open and was closed over; NULL = nothing
) STRICT;
-- What allocations had held as a month was closed: holds are present state. Append-only, and chained.
CREATE TABLE period_held (
	id         INTEGER PRIMARY KEY,
	period     INTEGER NOT NULL REFERENCES period(id),
	allocation INTEGER NOT NULL REFERENCES allocation(id),
	units      INTEGER NOT NULL CHECK (units > 0),
	UNIQUE (period, allocation)
) STRICT;
CREATE TRIGGER period_is_never_replaced BEFORE INSERT ON period
	WHEN EXISTS (SELECT 1 FROM period WHERE id = NEW.id OR request_id = NEW.request_id)
BEGIN SELECT RAISE(ABORT, 'a month is closed once'); END;
CREATE TRIGGER periods_follow_each_other BEFORE INSERT ON period WHEN NEW.id <> (SELECT max(id) + 1 FROM period)
BEGIN SELECT RAISE(ABORT, 'months are closed one after the other'); END;
CREATE TRIGGER period_is_never_changed BEFORE UPDATE ON period
BEGIN SELECT RAISE(ABORT, 'a closed month is never changed'); END;
CREATE TRIGGER period_is_never_deleted BEFORE DELETE ON period
BEGIN SELECT RAISE(ABORT, 'a closed month is never opened again'); END;
CREATE TRIGGER period_held_is_never_replaced BEFORE INSERT ON period_held
	WHEN EXISTS (SELECT 1 FROM period_held WHERE id = NEW.id OR (period = NEW.period AND allocation = NEW.allocation))
BEGIN SELECT RAISE(ABORT, 'a closed month is never changed'); END;
CREATE TRIGGER period_held_is_never_changed BEFORE UPDATE ON period_held
BEGIN SELECT RAISE(ABORT, 'a closed month is never changed'); END;
CREATE TRIGGER period_held_is_never_deleted BEFORE DELETE ON period_held
BEGIN SELECT RAISE(ABORT, 'a closed month is never changed'); END;
CREATE TRIGGER journal_is_dated_in_an_open_month BEFORE INSERT ON journal
	WHEN NEW.at < (SELECT ends FROM period ORDER BY id DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'that month is closed: entries are dated in the open one'); END;
CREATE TRIGGER charge_is_dated_in_an_open_month BEFORE INSERT ON charge
	WHEN coalesce(NEW.dated, NEW.at) < (SELECT ends FROM period ORDER BY id DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'that month is closed: charges are dated in the open one'); END;
CREATE TRIGGER correction_is_dated_in_an_open_month BEFORE INSERT ON correction
	WHEN NEW.at < (SELECT ends FROM period ORDER BY id DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'that month is closed: corrections are dated in the open one'); END;

-- Up to when the loop has seen all that ran: what it has to ask slurmdbd for after it was away.
CREATE TABLE look (
	id          INTEGER PRIMARY KEY CHECK (id = 1),
	all_seen_at INTEGER NOT NULL
) STRICT;

-- What is final, link by link: books/chain.h. The links are made by the connection that budgetd writes by.
CREATE TABLE chain (
	link INTEGER PRIMARY KEY,						-- 1, 2, 3...
	kind TEXT NOT NULL,							-- the table
	row  INTEGER NOT NULL,							-- its id
	hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TABLE chain_head (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	links INTEGER NOT NULL,
	hash  BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
INSERT INTO chain_head VALUES (1, 0, zeroblob(32));
CREATE TRIGGER chain_is_never_replaced BEFORE INSERT ON chain WHEN EXISTS (SELECT 1 FROM chain WHERE link = NEW.link)
BEGIN SELECT RAISE(ABORT, 'the chain is append-only'); END;
CREATE TRIGGER chain_is_never_changed BEFORE UPDATE ON chain
BEGIN SELECT RAISE(ABORT, 'the chain is append-only'); END;
CREATE TRIGGER chain_is_never_deleted BEFORE DELETE ON chain
BEGIN SELECT RAISE(ABORT, 'the chain is append-only'); END;
