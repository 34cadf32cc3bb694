/* SPDX-License-Identifier: GPL-2.0-or-later
 * divide.h - every project of a trace divided among its users, as `user_shares` does it (doc/model.md, 5)
 *
 * Below the node of each project stands one for each user who has a job in it, with the weight 1. They are the
 * projects of the engine then; what it counted is put together again by project.
 *
 * Threads  one */
#ifndef SIMULATE_DIVIDE_H
#define SIMULATE_DIVIDE_H
#include "simulate/engine.h"

struct divided {
	struct trace trace;   /* a job's project is a user of a project; names are not there */
	struct shares shares; /* nodes, leaf and divided only */
	uint32_t *project_of; /* of each of those, as the trace that was divided has them */
};

/* Of `t`, which is to live as long, and its finished shares. 0, or -1 and ENOMEM; to be freed in any case. */
int divide_make(struct divided *d, const struct trace *t, const struct shares *s);
/* A result over d->trace becomes one over the trace that was divided. 0, or -1 and ENOMEM: as it was. */
int divide_fold(const struct divided *d, size_t projects, struct sim_result *r);
void divide_free(struct divided *d);

#endif
