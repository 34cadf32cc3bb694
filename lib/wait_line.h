/* SPDX-License-Identifier: GPL-2.0-or-later
 * wait_line.h - which of the jobs that wait for money may start with what there is
 *
 * Rule (doc/model.md, 4): in the order of their places each gets as many tasks as fit. Where one does not get
 * all of its tasks, nobody behind it takes from the project that refused it: a small job does not overtake a
 * large one, at the project and everywhere below it. Where it is a cap of its user that refuses, that user's
 * jobs alone are behind it. What a job has already it keeps, in front of whomever.
 *
 * The caller asks job by job, in their order, each over the budgets as they are by then.
 *
 * Unit     amounts in units
 * Threads  one thread at a time for each line */
#ifndef LIB_WAIT_LINE_H
#define LIB_WAIT_LINE_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/budget.h"
#include "lib/fault.h"

#define WAIT_ANYBODY (-1)

/* All 0 is a line in which nobody stands yet. */
struct wait_line {
	struct wait_head {
		int64_t project;	/* that refused it */
		int64_t user;		/* whose jobs are behind it; WAIT_ANYBODY */
		int64_t job;
	} *heads;
	size_t count, room;
};

void wait_line_clear(struct wait_line *l);

struct wait_job {
	int64_t job;			/* any number that names it */
	int64_t user;
	int64_t tasks;			/* that are to be paid for in all */
	int64_t paid;			/* tasks that have their hours now */
	amount_t per_task;
	/* what is set aside for it now: the tasks that this pays for stay paid, also when there is less than
	 * nothing left */
	amount_t has;
	/* in the line. false: it takes what it gets and does not wait, so it is behind nobody and in front of
	 * nobody */
	bool stands;
};

struct wait_answer {
	/* that may be paid for now, of all: fewer than before when each costs more now */
	int64_t tasks;
	/* index into the path of the project that has no more, -1 when all are paid for */
	int refused_at;
	int64_t behind;			/* the job in front that is not overtaken, 0 = there is none */
	int64_t user;			/* whose cap it is that refuses; WAIT_ANYBODY */
};

/* `path` and `projects` (their numbers): from the job's own project up, as if what the job has were given
 * back. 0; or -1 and ENOMEM, nothing changed. */
int wait_line_ask(struct wait_line *l, const struct wait_job *j, const struct budget_node *path,
	const int64_t *projects, int depth, struct wait_answer *out, struct fault *why);

#endif
