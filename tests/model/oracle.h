/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle.h - what the books must say after a history, worked out the slow and plain way
 *
 * Written from the rules (doc/model.md, 2-4 and 7) and not from the ledger: lists, sums over all of them, no
 * SQL, no cache, no transaction. It is told what the daemon could see and when it looked, and keeps who holds
 * what and what was charged.
 *
 * Unit     amounts in units (GPU-seconds x thousandths), times in seconds
 * Threads  one at a time */
#ifndef TESTS_MODEL_ORACLE_H
#define TESTS_MODEL_ORACLE_H
#include <stdbool.h>
#include <stdint.h>

#define O_NODES       8
#define O_ALLOCATIONS 64
#define O_JOBS        64
#define O_RUNS        256
#define O_PIECES      2048
#define O_PARTS       1024
#define O_RATES       32
#define O_ENTRIES     1024
#define O_TYPES       3
#define O_USERS       3
#define O_ANY_TYPE    (-1)
#define O_NONE        (-1)

enum o_policy { O_FREE, O_REJECT, O_WAIT };
enum o_tier { O_REFUSED, O_FUNDED_TIER, O_FREE_TIER };
enum o_kind { O_FUNDED, O_UNPAID, O_UNCOVERED, O_PAUSED, O_KINDS }; /* of a part; UNPAID is "free" */

struct o_node {
	int parent; /* O_NONE: a root */
	enum o_policy policy;
	int64_t credit;
	bool metered; /* had an allocation, ever */
	int64_t cap[O_USERS]; /* of each user; O_NONE: none */
};

struct o_allocation {
	int node;
	int64_t amount, charged, held;
	int64_t from, until; /* until 0: open */
	int carry;           /* percent of what is left at its end */
	bool vests;
	int64_t burst;
};

/* What somebody has of an allocation: a hold, or a charge that was paid from it. */
struct o_piece {
	int allocation;
	int hold; /* O_NONE: it is a charge */
	int part; /* the charge; O_NONE: it is a hold */
	int64_t units, refunded;
};

enum o_stage { O_PENDING, O_RUNNING, O_ENDED };

/* A job as slurmctld's table or a row of slurmdbd has it. Its type is as given once it runs. */
struct o_seen {
	int job; /* a record: a number of ours, below O_JOBS, in the order of Slurm's */
	int answer; /* the job that was asked about: of a task the first record of its array, else `job` */
	int tasks; /* of an array that it stands for; 1 of all else */
	int het;   /* a number that the components of a het job have in common; 0: it is none */
	enum o_stage stage;
	int node, user;
	int64_t minimum; /* as declared */
	bool loose; /* pending, and nothing keeps Slurm from starting it */
	bool suspended, insists, held_by_user, eligible, in_funded_qos, in_free_qos, free_tier;
	int64_t submit, start, end, limit;
	int64_t resized; /* when the GPUs changed, 0 = never */
	int64_t paused, paused_first; /* seconds that it was suspended, before its GPUs changed */
	int64_t paused_at; /* when it was last suspended or resumed; of a row 0, slurmdbd does not say */
	int first_gpus;  /* before that */
	int gpus, restarts;
	int type; /* asked for while pending, given while it runs */
	int asked_gpus, asked_type;
};

struct o_job {
	bool known; /* an answer exists */
	int node, user;
	bool insists;
	enum o_tier tier;
	int64_t minimum, limit; /* the minimum is cut to the limit at each answer */
	int gpus, type;
	bool bound, bound_before; /* seen in the table; by an earlier pass */
	bool just_met;            /* answered by this pass, so looked at by the next */
	int hold;                 /* of the queue, one share a task; O_NONE */
	int paid, kept;           /* tasks that have their share; of those, for tasks that the user holds */
	int wants;                /* tasks that are to have one */
	int64_t at, per_task, user_held_at;
	int64_t changing_at; /* a change that costs more was let through, and is not seen yet; 0: none */
	bool parked;         /* its money was not there when its turn came: it waits, and is never free */
	int waits_at, waits_user; /* then: the project that refused, and whom: of a cap its user, else O_NONE */
	int turn;                 /* of the answers: so many were given before */
	int runs;  /* before this pass */
	int looks; /* passes that saw it wait */
};

struct o_hold {
	bool open;
	int user;
	int64_t units;
};

struct o_run {
	int job, answer, node, user, gpus, type;
	int64_t submit, start, ended; /* ended 0: it runs */
	bool funded;
	int64_t minimum, price;
	int64_t paid_to;   /* what the hold covers */
	int64_t free_from; /* 0: nobody decided that it is free now */
	int64_t part_from; /* what is before was posted */
	int64_t paused, posted_paused; /* suspended seconds that cost nothing, and those that were posted */
	int hold;
};

struct o_part {
	int run;
	enum o_kind kind;
	int64_t from, to, units;
	int gpus;
	int64_t at; /* when it is booked */
};

struct o_rate {
	int type; /* O_ANY_TYPE: the default */
	int64_t from, rate;
};

struct o_entry { /* of the journal, charges apart */
	int group, allocation;
	int64_t units;
	char kind; /* d w t a: can be voided; r e c v: cannot */
	bool voided;
	int64_t at; /* its date */
};

struct oracle {
	int64_t lead, unbound, user_held, max_minimum, away, again; /* settings, seconds */
	bool pauses_are_free;
	int types;                                                  /* that the nodes have */
	int passes;                                                 /* in a row without trouble */
	int64_t now;    /* of what is told */
	int64_t closed; /* all months are closed up to then, 0: none is */
	int64_t rank[O_NODES];		/* of the projects, the order of their jobs: told before each pass */
	int64_t seen_at, ask_again_at; /* when all rows were asked for, as far as there was need */
	int nnodes, nallocations, npieces, nholds, nruns, nparts, nrates, nentries, ngroups;
	struct o_node nodes[O_NODES];
	struct o_allocation allocations[O_ALLOCATIONS];
	struct o_job jobs[O_JOBS];
	struct o_piece pieces[O_PIECES];
	struct o_hold holds[O_PIECES];
	struct o_run runs[O_RUNS];
	struct o_part parts[O_PARTS];
	struct o_rate rates[O_RATES];
	struct o_entry entries[O_ENTRIES];
	int64_t told[O_JOBS]; /* the requeue that slurmdbd was asked about long after it: not again */
	int nanswers;
	int nbefore, npieces_before;
	struct o_allocation before[O_ALLOCATIONS]; /* when the pass began */
	struct o_piece pieces_before[O_PIECES];
	const char *wrong;                         /* a rule of the oracle itself was broken */
};

int oracle_node(struct oracle *o, int parent, enum o_policy policy);

/* --- money: 0, or -1 when it must be refused. The group of what was written is o->ngroups - 1 --- */
int oracle_rate(struct oracle *o, int64_t now, int type, int64_t from, int64_t rate);
int oracle_credit(struct oracle *o, int node, int64_t credit);
int oracle_cap(struct oracle *o, int64_t now, int node, int user, int64_t cap); /* O_NONE: none any more */
int oracle_allocate(struct oracle *o, int node, int64_t units, int64_t from, int64_t until); /* its number */
void oracle_vest(struct oracle *o, int allocation, int64_t burst, int carry, bool vests);
int oracle_deposit(struct oracle *o, int64_t now, int allocation, int64_t units);
int oracle_change(struct oracle *o, int64_t now, int allocation, int64_t units,
	char kind); /* withdrawal or adjustment */
int oracle_transfer(struct oracle *o, int64_t now, int from, int to, int64_t units);
int64_t oracle_refundable(const struct oracle *o, int part);
int oracle_refund(struct oracle *o, int64_t now, int part, int64_t units);
int oracle_void(struct oracle *o, int64_t now, int group);
void oracle_expire(struct oracle *o, int64_t now);
/* A month that ends then; `seen`: up to when nothing of Slurm's can have been missed. */
int oracle_close(struct oracle *o, int64_t now, int64_t ends, int64_t seen, bool force);
/* What an allocation had before that moment, by the dates of what was booked. */
int64_t oracle_balance_at(const struct oracle *o, int allocation, int64_t at);
/* The entries of a kind (o_entry) of an allocation from one moment to another; sign: 0 = all, 1 = what came, -1 =
 * what went. And its charges. */
int64_t oracle_moved(const struct oracle *o, int allocation, char kind, int sign, int64_t from, int64_t to);
int64_t oracle_charged(const struct oracle *o, int allocation, int64_t from, int64_t to);
int64_t oracle_available(const struct oracle *o, int node, int64_t now);

/* --- jobs --- */
/* The question of a submission. */
enum o_tier oracle_ask(struct oracle *o, int64_t now, const struct o_seen *want);
/* Is a change of a job in the queue let through? Then it has its money from now on. */
bool oracle_change_job(struct oracle *o, int64_t now, const struct o_seen *want);
/* budgetd starts anew, or slurmctld could not be asked. */
void oracle_trouble(struct oracle *o, bool restarted);
/* budgetd looks: the table of slurmctld in the order of jobs; the rows of slurmdbd, NULL while it cannot be
 * asked. */
void oracle_pass(struct oracle *o, int64_t now, const struct o_seen *table, int n, const struct o_seen *rows,
	int nrows);

#endif
