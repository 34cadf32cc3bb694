/* SPDX-License-Identifier: GPL-2.0-or-later
 * room.h - the cluster of one pass as lib/placement sees it: nodes, the runs on them, the shape of a job that
 * waits
 *
 * What no rule may touch stays where it is (`still`): runs that the books do not know, other QOS than those
 * of the tiers, free het jobs, partitions in which nothing is changed. A node that has GPUs and no CPU to go
 * with them has no room.
 *
 * Threads  one object belongs to the pass that made it */
#ifndef BUDGETD_ROOM_H
#define BUDGETD_ROOM_H
#include "budgetd/pass.h"
#include "lib/placement.h"

struct room;

struct room_run {
	struct run run;
	const struct job_view *job;
};

/* Out of the tables of the pass, its snapshot of the books and p->leaving. 0; or -1 with `why`. room_free
 * when done. */
int room_new(struct pass *p, const struct ranking *ranking, struct room **out, struct fault *why);
void room_free(struct room *r);		/* NULL is fine */

struct placement *room_placement(struct room *r);
/* The run that placement calls `name`; NULL for one that the books do not know. */
const struct room_run *room_run(const struct room *r, uint32_t name);

/* The runs of the components of a het job, one after the other; *at begins with 0. NULL when there are no
 * more. */
const struct room_run *room_next_of_het(const struct room *r, uint32_t het_job, size_t *at);

/* One task of what waits. 1; 0: it asks for no whole GPU, or for nodes that there are none of (node_kinds.h);
 * or -1 and ENOMEM. out->kinds and out->may_use live as long as the room. */
int room_shape(struct room *r, const struct waiting *w, const struct ranking *ranking,
	struct placement_job *out);

/* How often that was asked for a job whose nodes by name were not looked at: there are too many different lists
 * of them. */
size_t room_names_left_out(const struct room *r);

/* Are there enough healthy nodes for it, idle or not, beside those that are true in `without` (by the index
 * in the pass's table of nodes) and those that its user excluded (NULL = none)? */
bool room_has_others(const struct room *r, const struct placement_job *shape, const bool *without,
	const char *excluded);

#endif
