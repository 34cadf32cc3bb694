/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass.h - one pass of the loop, shared by the controller_*.c; private to them
 *
 * The tables are of one moment: jobs first, then a snapshot of the books. An answer is in the books before
 * its job can be in the table, so every token that is seen in the table is found. */
#ifndef BUDGETD_PASS_H
#define BUDGETD_PASS_H
#include "budgetd/admit.h"
#include "budgetd/asked.h"
#include "budgetd/budgetd.h"
#include "slurm_link/job_view.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_guard.h"
#include "slurm_link/link.h"
#include "lib/order.h"
#include "settings/enforce.h"

struct ranking;
struct lane_user;
struct pass_slots;

/* A run that was told to go. */
struct leaving_run {
	struct leaving x;
	struct run run;
	const struct job_view *job;	/* of this very run; NULL: slurmctld knows it no more */
	char detail[384];		/* told in this pass */
	bool may_stay;			/* its node need not be empty any more; once pass_follow_drains */
};

/* The tasks of one admission that wait in the queue. */
struct waiting {
	struct admission_row admission;
	const struct job_view *job;	/* the first record */
	const struct job_view **records;	/* all of them, by their first task; once complete */
	size_t nrecords;
	int64_t tasks;			/* eligible ones: only these reserve money */
	int64_t loose;			/* of those: what nothing holds, Slurm may start it at any moment */
	int64_t held_by_user;		/* tasks among all that the user holds */
	/* once settled */
	int64_t paid;			/* tasks that have their hours now */
	int64_t kept_for_user;		/* of those: what its user holds, for a while */
	bool asks;			/* it needs more than it has */
	bool settled;			/* nothing of it has changed */
	int32_t place;			/* once published */
	enum order_front front;		/* once chosen (pass_choose_fronts) */
	int64_t first_tasks;		/* likewise, with front ORDER_SLOT: as many of its tasks go first */
	/* it may not start on the nodes that are cleared for another one (pass_keep_off) */
	bool kept_off;
	bool nowhere;			/* and there are no others for it: it is held */
	bool not_yet;			/* Slurm has not been told all of it: what is held stays so */
	/* likewise: a job for several nodes that waited so long that nodes are cleared for it */
	bool cleared;
};

struct pass {
	struct budgetd *b;
	struct ledger *books;		/* the snapshot: read only */
	struct asked *asked;		/* the controller's */
	struct slurm_facts facts;
	struct job_table *jobs;
	struct cluster_view *cluster;
	int64_t now;
	struct waiting *waiting;	/* sorted by admission once complete */
	size_t nwaiting, waiting_room;
	/* a run was opened out of what was held for the queue: the snapshot does not know */
	bool pool_taken;
	const struct job_view **records;	/* those of waiting, one after the other */
	/* those that were told to go, this pass's last; once pass_know_leaving */
	struct leaving_run *leaving;
	size_t nleaving, leaving_room;
	struct ranking *ranking;	/* of this pass: made when it is first needed */
	struct ranking **kept;		/* the controller's, with what the last pass read; or NULL in it */
	struct lane_user *lane_users;	/* by uid; once lane_known */
	size_t nlane_users;
	bool lane_known;
	struct pass_slots *slots;	/* that are open; once fronts were chosen */
	int64_t month_began;		/* the last edge of a month that has gone by for sure */
	size_t interims;		/* runs charged for what lies before it: bounded */
	bool slurmdbd_away;		/* it did not answer in this pass: not asked again in it */
	size_t lost;			/* runs without an end that last */
	size_t names_left_out;		/* jobs whose nodes by name were not looked at; once room was made */
	char lost_jobs[128];		/* the first of them */
	struct guard guard;		/* as the last pass left it; once pass_keep_off */
	struct guard next_guard;	/* as this pass leaves it; once room was made */
	size_t updates;			/* RPCs spent on places: bounded */
	bool all_seen;			/* no run can have been missed: a job that is nowhere has not run */
};

/* --- controller_jobs.c: pending jobs --- */
bool job_concerns_us(const struct job_view *j);
int pass_meet_pending(struct pass *p, const struct job_view *j, struct fault *why);

typedef int (*admit_fn)(struct budgetd *b, const struct question *q, const char *request, int64_t job,
	int64_t now, struct verdict *out, struct fault *why);
int pass_admit(struct pass *p, const struct question *q, const struct job_view *j, admit_fn how,
	struct verdict *v, struct fault *why);

/* is the job of it? */
bool pass_same_project(struct pass *p, const struct job_view *j, int64_t project);

/* The admission of a job by the token in its AdminComment, else by its id. 1 found, 0 none, -1. */
int pass_admission(struct pass *p, const struct job_view *j, struct admission_row *out, struct fault *why);

/* --- controller_changed.c: what waits was changed --- */
bool pass_is_as_seen(const struct waiting *w);	/* is the job what its admission was last priced for? */
/* in a transaction, before its hold is looked at */
int pass_follow_change(struct pass *p, struct waiting *w, struct fault *why);

/* --- controller_waiting.c: holds of what waits --- */
/* opened, resized, given back; who waits for money, and who need not any more */
int pass_settle_waiting(struct pass *p, struct fault *why);

/* Those who ask for more than they have, one after the other in their order: the line is theirs. */
struct wait_line;
struct turn {
	struct waiting *w;
	struct wait_line *line;
};
/* The pool of `tasks` tasks, of which there may be none yet (`have`). */
int pass_set_pool(struct pass *p, struct waiting *w, struct hold_row *pool, bool have, int64_t tasks,
	const struct path *path, struct fault *why);
/* It waits for money no more. In a transaction; nothing is written when it did not wait. */
int pass_unpark(struct pass *p, struct waiting *w, struct fault *why);
struct wait_answer;
/* What the line has for it (wait_line_ask): `credited` is its path without its own `pool` (hold_credit). */
int pass_ask_line(struct wait_line *line, const struct waiting *w, const struct hold_row *pool, bool stands,
	const struct path *credited, struct wait_answer *got, struct fault *why);
/* It does not fit as a whole: it waits (`stays`, or it has some tasks), or goes to the free tier. */
int pass_fall_short(struct pass *p, struct waiting *w, bool stays, const struct wait_answer *got,
	const struct path *path, struct fault *why);
/* What has hours set aside keeps them: its change that cannot be paid waits, whatever its project does with
 * jobs that it cannot pay. */
bool pass_never_goes_free(const struct pass *p, const struct admission_row *a, const struct hold_row *pool,
	const struct path *path);

/* --- controller_het.c: the components of a het job together --- */
/* Its components are in one tier: one that is free, asked for or not, is it for all. */
int pass_het_in_one_tier(struct pass *p, struct fault *why);
/* The turn of all components (a write_fn; arg is a struct turn with any of them): all have their hours, or
 * none. */
int pass_het_take_turn(struct pass *p, void *arg, struct fault *why);

/* --- controller_held.c: what waits for money is held, what is paid for is released --- */
void pass_follow_held(struct pass *p, const struct waiting *w);
 /* no hold of ours any more: nothing is enforced where it is to run */
void pass_let_go(struct pass *p, const struct job_view *j);
void pass_mend_running(struct pass *p, const struct job_view *j);	/* it runs and is held */
/* it was displaced because its user held it */
int pass_release_displaced(struct pass *p, const struct job_view *j, struct fault *why);
/* Our hold on a record or its end, with what its comment and QOS are to be besides. `token` and `qos` may be
 * NULL. */
int pass_mark(struct pass *p, const struct job_view *j, const char *token, const char *qos, bool held,
	struct fault *why);

/* --- controller_runs.c: what runs and what ended --- */
int pass_meet_run(struct pass *p, const struct job_view *j, struct fault *why);	/* running, or ended since */
/* extend those that live, settle those that are gone */
int pass_follow_runs(struct pass *p, struct fault *why);

/* --- controller_size.c: the GPUs that a run has; *r becomes what the books have --- */
/* AllocTRES; or what is in the GRES details when the site does not track GPUs: never a silent 0. *told: which
 * of the two, borrowed of the job. 0; or -1 and the errno of tres_read. */
int pass_gpus_given(const struct job_view *j, struct gpu_count *out, const char **told, struct fault *why);
/* A job that runs with another size than it has in the books: as slurmctld has it, and as a row of slurmdbd
 * has it. */
int pass_follow_size(struct pass *p, struct run *r, const struct job_view *j, struct fault *why);
int pass_follow_size_by_row(struct pass *p, struct run *r, const struct run_row *row, struct fault *why);

/* --- controller_suspend.c: suspended time, where the site does not charge it --- */
/* As slurmctld has it; *r becomes what the books have. */
int pass_suspend(struct pass *p, struct run *r, const struct job_view *j, struct fault *why);
/* As slurmdbd has it: `total_s` by `until`, where a piece of the run ended. */
int pass_suspend_by_row(struct pass *p, struct run *r, int64_t total_s, int64_t until, struct fault *why);

/* --- controller_extend.c: a run that outlives its hold --- */
int pass_extend_if_due(struct pass *p, struct run *r, const struct job_view *j, struct fault *why);
/* `hold = time_limit`: what it has beyond its limit, because that became shorter or a longer one did not come
 * about. */
int pass_give_excess_back(struct pass *p, struct run *r, const struct job_view *j, struct fault *why);

/* --- controller_missed.c: what no pass saw, from slurmdbd --- */
/* Runs that ended after `since`, while the daemon was away. */
int pass_find_missed(struct pass *p, int64_t since, struct fault *why);
/* Earlier runs of a job that was requeued, as many as its restarts say there are. */
int pass_find_restarted(struct pass *p, const struct job_view *j, struct fault *why);

/* A run that goes on in the books, is gone from slurmctld, and slurmdbd does not tell its end: it is marked,
 * and counted once that lasts. Nothing is guessed: its hold stays, and nothing more is charged. */
int pass_note_lost(struct pass *p, struct run *r, struct fault *why);
int pass_note_found(struct pass *p, struct run *r, struct fault *why);	/* slurmctld has it again */

/* --- controller_agree.c: do the books and slurmdbd say the same? --- */
/* Runs that ended in [from, to]; what differs is logged and counted. */
int pass_compare(struct pass *p, int64_t from, int64_t to, size_t *differences, struct fault *why);

/* NULL = it is not in the queue; once complete */
struct waiting *pass_find_waiting(struct pass *p, int64_t admission);

/* --- controller_fronts.c: what goes before the path of ratios --- */
/* waiting.front and .cleared of all. Before money is given, whoever it may be given to; `paid`, then: of
 * those that can start. */
int pass_choose_fronts(struct pass *p, bool paid, struct fault *why);
/* --- controller_slots.c: projects inside a slot of theirs --- */
/* for pass_choose_fronts, after the lane */
int pass_choose_slots(struct pass *p, bool paid, struct fault *why);
/* of it or of one above; once fronts were chosen */
bool pass_slot_is_open(const struct pass *p, int64_t project);
void pass_slots_free(struct pass_slots *x);	/* NULL is fine */


/* --- controller_places.c: the order --- */
int pass_publish_places(struct pass *p, struct fault *why);
struct order_job pass_order_job(struct waiting *w, const struct ranking *ranking);	/* data is w */

/* --- controller_room.c: room for the first jobs that do not fit --- */
int pass_make_room(struct pass *p, struct fault *why);

/* --- controller_kept_off.c: who may not start on the nodes of a gang --- */
/* Who may not is kept off, and who may again is let back. Before what is held is released. */
int pass_keep_off(struct pass *p, struct fault *why);

/* --- controller_guard.c: the nodes of a gang that has waited long --- */
int pass_guard_load(struct pass *p, struct fault *why);	/* p->guard */
/* The gang `w` keeps the nodes of `c`, which it is promised from `promised` on; 0: it is promised none, and
 * keeps those that it will get first. 0; or -1 and ENOMEM. */
struct room;
struct placement_choice;
struct placement_job;
struct placement_rules;
int pass_guard_choose(struct pass *p, struct room *room, const struct placement_rules *rules,
	const struct placement_job *shape, const struct waiting *w, struct placement_choice *c,
	int64_t promised);
/* `w` keeps the nodes of these `n` choices; not when their names are too long: those of a gang on very many
 * nodes. */
void pass_guard_nodes(struct pass *p, const struct waiting *w, const struct placement_choice *c, size_t n,
	int64_t at);
/* The gang `w` had what it needs for long enough, and did not start: it needs something that is not known
 * here, and its nodes are given up for a while. `has_nodes`: it has them, or is to have them by its planned
 * start. 1, it has none kept for it now; 0; or -1. */
int pass_guard_gives_up(struct pass *p, const struct waiting *w, bool has_nodes, struct fault *why);
int pass_guard_note(struct pass *p, struct fault *why);	/* for the next pass, and for those who ask */

/* --- controller_displace.c: runs that give way --- */
/* The run has to go: told in the books now; its processes at the end of this pass, together with all others
 * that are told in it; gone after the grace. `critical`: at once, and what it had is given back when that is
 * inside its minimum runtime. Said again, only a sooner end counts. `detail` is a sentence for its user. 1 =
 * told before, 0, -1. */
int pass_tell_to_go(struct pass *p, int64_t run, enum event_reason reason, const char *detail, bool critical,
	struct fault *why);
/* The same for the sake of a job (0 = of none), with its own time. */
struct going {
	int64_t run;
	enum event_reason reason;
	const char *detail;
	int64_t for_job, grace_s;
};
int pass_tell(struct pass *p, const struct going *g, struct fault *why);
int pass_know_leaving(struct pass *p, struct fault *why);	/* p->leaving, out of the snapshot */
/* its time is over: it does not stand above what waits any more */
bool pass_has_lost_place(const struct pass *p, int64_t run);
int64_t pass_next_due(const struct pass *p);	/* of a run that is not due yet; 0 = there is none */
/* who was told is signalled, who is due goes; behind the places */
int pass_follow_leaving(struct pass *p, struct fault *why);

/* --- controller_ranking.c: who got how much of their share --- */
const struct ranking *pass_ranking(struct pass *p, struct fault *why);	/* of this pass; NULL on failure */
/* how many GPUs can be given work, when that is not what it was */
int pass_note_capacity(struct pass *p, struct fault *why);

/* --- controller_idle.c: jobs whose GPUs nobody uses --- */
int pass_look_at_idle(struct pass *p, struct fault *why);	/* when there are new samples */

/* --- controller_drain.c: nodes that are to be empty --- */
int pass_follow_drains(struct pass *p, struct fault *why);

/* --- controller_shadow.c: partitions where nothing in Slurm is changed --- */
enum enforcement pass_mode(const struct pass *p, const struct job_view *j);
/* a job without an admission of its own */
int pass_meet_shadow(struct pass *p, const struct job_view *j, struct fault *why);
/* who would have given way; forget answers that no job claimed */
int pass_follow_shadow(struct pass *p, struct fault *why);

/* --- one write, one transaction --- */
typedef int (*write_fn)(struct pass *p, void *arg, struct fault *why);
int pass_write(struct pass *p, enum ledger_durability d, write_fn apply, void *arg, struct fault *why);

/* The name of exactly this record for an update: the pending record of an array without its running tasks.
 * Returns buf. */
#define RECORD_MAX 16
const char *pass_record(const struct job_view *j, char buf[RECORD_MAX]);
uint32_t pass_array_or_job_id(const struct job_view *j);
/* job_is_eligible, as the job table was taken: what was submitted as the pass began is younger than the
 * pass. */
bool pass_is_eligible(const struct pass *p, const struct job_view *j);

#endif
