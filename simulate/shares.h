/* SPDX-License-Identifier: GPL-2.0-or-later
 * shares.h - the tree that the projects of a trace stand in
 *
 * Weights may have decimals: they are scaled to whole numbers, all alike.
 *
 * Threads  one */
#ifndef SIMULATE_SHARES_H
#define SIMULATE_SHARES_H
#include <stdio.h>
#include "lib/fairshare.h"
#include "simulate/trace.h"

struct shares {
	struct trace_names names; /* of the nodes: parents before children */
	double *weights;
	int *parents;
	struct fairshare_node *nodes; /* made by shares_finish */
	size_t count, room;
	int *leaf; /* of each project of the trace: its node */
	/* NULL; or of each of them, which are users then, the node of their project (divide.h) */
	int *divided;
};

/* "PROJECT=WEIGHT", a node without a parent. 0, or -1 and EINVAL, EEXIST or ENOMEM. */
int shares_add_text(struct shares *s, const char *text, struct fault *why);

/* CSV with the columns project (or name), parent and share (or weight) in any order, others between them:
 * `budgetctl project list -o csv` is one. Parents before children; no parent: "" or "-". 0, or -1 and
 * EINVAL, EEXIST or ENOMEM. */
int shares_read(struct shares *s, FILE *from, struct fault *why);

/* All are there. A project of the trace without a weight is an error when others have one; when none has, all
 * are equal. */
int shares_finish(struct shares *s, const struct trace *t, struct fault *why);
void shares_free(struct shares *s);

#endif
