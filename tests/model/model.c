/* SPDX-License-Identifier: GPL-2.0-or-later
 * model.c - random histories through budgetd and through an oracle: equal to the unit
 *
 *	model [--seed N] [--histories N] [--story]
 *
 * History i has the seed N + i, and everything follows from it. At the first difference the history is told
 * from its beginning, with what budgetd logged, and both sides' numbers; the same words repeat it.
 *
 * That it finds what is wrong is shown by `tests/model/mutations BUILD`: twelve lines of budgetd, each broken on
 * purpose (a second too few, a hold that is kept, a rate of another time, an ancestor that is not asked...). */
#include "tests/model/history.h"
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t interrupted; /* what is in memory is removed even so */

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct run {
	uint64_t seed, histories;
	bool story;
};

static const struct option options[] = {
	{"seed", required_argument, NULL, 's'},
	{"histories", required_argument, NULL, 'n'},
	{"story", no_argument, NULL, 't'},
	{0},
};

static int read_options(int argc, char **argv, struct run *r)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			r->seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			r->histories = strtoull(optarg, NULL, 0);
		else if (c == 't')
			r->story = true;
		else
			return -1;
	}
	return optind == argc ? 0 : -1;
}

/* Told anew with a listener: the same seed is the same history. */
static void tell_difference(struct history *h, struct bench *b, uint64_t seed)
{
	history_run(h, b, seed, stdout);
	printf("\nDIFFERENCE in %s\nrepeat it with --seed %ju --histories 1 --story\n", h->difference,
		(uintmax_t)seed);
}

int main(int argc, char **argv)
{
	struct run r = {.seed = 1, .histories = 200};
	struct history *h = malloc(sizeof(*h));
	struct bench b;
	uint64_t steps = 0, i;

	if (!h || read_options(argc, argv, &r) < 0) {
		fprintf(stderr, "usage: model [--seed N] [--histories N] [--story]\n");
		free(h);
		return 2;
	}
	/* Memory goes round and round: it is not given back to the system between two passes. */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 26);
	signal(SIGTERM, interrupt);
	signal(SIGINT, interrupt);
	bench_open(&b);
	for (i = 0; i < r.histories && !interrupted; i++) {
		if (history_run(h, &b, r.seed + i, r.story ? stdout : NULL) < 0) {
			if (r.story)
				printf("\nDIFFERENCE in %s\n", h->difference);
			else
				tell_difference(h, &b, r.seed + i);
			break;
		}
		steps += (uint64_t)h->step;
	}
	bench_close(&b);
	free(h);
	printf("%ju of %ju histories from seed %ju are equal, %ju steps\n", (uintmax_t)i,
		(uintmax_t)r.histories, (uintmax_t)r.seed, (uintmax_t)steps);
	return i == r.histories ? 0 : 1;
}
