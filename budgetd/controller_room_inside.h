/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_room_inside.h - how jobs are served one after the other; private to controller_room*.c
 *
 * Threads  the loop's */
#ifndef BUDGETD_CONTROLLER_ROOM_INSIDE_H
#define BUDGETD_CONTROLLER_ROOM_INSIDE_H
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "budgetd/room.h"

/* nobody is told to go again that soon for a job that could not use it */
#define IN_VAIN_S 600

/* Jobs of one project, or of one user of it, that are alike: what holds for one of them in a pass holds for
 * all. In their order. */
struct kind {
	struct placement_job shape;
	/* a het job is a kind of its own: all components with its first one; 0 = it is none */
	uint32_t het_job;
	struct order_job *jobs;		/* of the pass's sorted list */
	size_t njobs, served;
	int64_t tasks;			/* served of jobs[served] */
	bool given_up;
};

enum served { FAILED = -1, NO, YES };

struct serving {
	struct pass *p;
	struct room *room;
	struct ranking *ranking;
	struct placement_choice choice;	/* scratch */
	struct order_job *jobs;		/* of all kinds, one kind after the other */
	size_t njobs;
	struct kind *kinds;
	size_t nkinds;
	struct order_job *heads;	/* scratch: the first of each kind that is left */
	int64_t tried;			/* kinds that room was looked for in vain */
	int64_t grace_s;		/* of who is told */
	bool looked;			/* room was looked for the last one */
	struct fault *why;
};

/* All components get room or none, and only one job at a time has nodes kept: without that others would begin
 * where room was made, again and again. */
enum served serve_het(struct serving *v, struct kind *k);

/* The run that placement calls `name` leaves, for the sake of `w`: of a het job all components, whichever of
 * them was picked. One that began just now stays. 0, or -1 with v->why. */
int serve_tell_victim(struct serving *v, uint32_t name, const struct waiting *w);

/* Was a promise or a displacement for this job in vain a moment ago? It needs something that is not known
 * here. 1, 0, or -1 with v->why. */
int serve_was_in_vain(struct serving *v, const struct waiting *w);

struct placement_rules serve_rules(const struct serving *v);	/* by the ratios as they are now */
enum served serve_out_of_memory(const struct serving *v);	/* FAILED, with v->why and ENOMEM */

#endif
