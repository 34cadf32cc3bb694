/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_drain.h - nodes that an administrator wants empty: who said so, when and why
 *
 * One drain of a node is open at a time. The loop carries it out (controller_drain.c): what stands here is
 * the wish.
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_DRAIN_H
#define BUDGETD_LEDGER_DRAIN_H
#include <stdbool.h>
#include "budgetd/ledger_money.h"

struct drain {
	int64_t id, at;
	char node[64];
	char actor[USER_NAME_MAX], reason[256];
	bool critical;
	int64_t set_at;			/* Slurm was told; 0 = not yet */
	int64_t ended_at;		/* 0 = it is open */
};

/* d->id is set. A second one of the same node: the open one gets its reason, and becomes critical if this one
 * is; 1; else 0; -1. */
int drain_add(struct ledger *l, struct drain *d, struct fault *why);
int drain_set(struct ledger *l, int64_t id, int64_t at, struct fault *why);	/* Slurm drains it */
int drain_end(struct ledger *l, int64_t id, const char *by, int64_t at, struct fault *why);

/* the last one of the node. 1, 0, -1 */
int drain_of(struct ledger *l, const char *node, struct drain *out, struct fault *why);
typedef int (*drain_fn)(const struct drain *d, void *arg);
int drain_walk_open(struct ledger *l, drain_fn each, void *arg, struct fault *why);	/* by node */

/* What Slurm's reason for it is; by it a drain of ours is told from others. Returns buf. */
#define DRAIN_TEXT_MAX 640
const char *drain_text(const struct drain *d, char buf[static DRAIN_TEXT_MAX]);

#endif
