/* SPDX-License-Identifier: GPL-2.0-or-later
 * deal_cycles.h - how many pieces of each class each task has best; inside this room only (deal.h)
 *
 * A transport problem: tasks have fixed numbers of pieces, classes too, and a piece of a class costs each
 * task something. Beginning with what is, pieces are handed round in circles (t1 gives one of class a for one
 * of b, t2 one of b for one of c, ...) as long as a circle makes the sum smaller. When none does, the sum is
 * the smallest there is (Klein 1967).
 *
 * Threads  pure function; allocates and frees */
#ifndef LOCALITY_DEAL_CYCLES_H
#define LOCALITY_DEAL_CYCLES_H
#include <stdbool.h>
#include <stdint.h>

struct deal_counts {
	int tasks, classes;
	const int *kind_of;	/* by task: its row in cost */
	const int *size;	/* by class: pieces change hands only for ones of the same size */
	const int64_t *cost;	/* cost[kind * room + class] */
	const bool *local;	/* local[kind * room + class]: the piece is next to the GPUs */
	int room;
	int *has;		/* has[task * classes + class], changed in place */
};

/* 0; or -1 and ENOMEM, `has` unchanged. */
int deal_cycles(const struct deal_counts *d);

/* Exchanges that leave the sum as it is and make tasks that need the same CPUs more alike (deal.h, 5). */
void deal_level(const struct deal_counts *d);

#endif
