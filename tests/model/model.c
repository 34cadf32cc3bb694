/* SPDX-License-Identifier: GPL-2.0-or-later
 * model.c - random histories through budgetd and through an oracle: equal to the unit
 *
 * 	model [--seed N] [--histories N] [--story]
 *
 * History i has the seed N + i, and everything follows from it. At the first difference the history is told
 * from its beginning, with what budgetd logged, and both sides' numbers; a crash is told as well, and each
 * with the one command that repeats it. What a history leaves in the file is wiped before the next one; a
 * difference is told from a new file, so that it is known to be its own.
 *
 * What there is in a history: projects that refuse, let wait or let run free what they cannot pay;
 * * allocations, transfers, refunds, voids, rates, credit, caps of users, months that are closed; jobs (through the plugin and past
 * it), arrays and het jobs (through it) that are held and released by their users and by budgetd, cancelled,
 * started, requeued; all but het jobs are suspended and resized, single ones changed as well; slurmctld,
 * slurmdbd and budgetd that come and go. Not in it: displacement, drains, the debug lane, slots, team ranks,
 * divided and unmetered projects, changes of arrays and het jobs, shards (sizes.c has them).
 *
 * That it finds what is wrong is shown by `tests/model/mutations BUILD`: lines of budgetd, each broken
 * on purpose (a second too few, a hold that is kept, a rate of another time, an ancestor that is not
 * asked...). */
#include "tests/model/history.h"
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted; /* the folder is removed even so */
static char repeat[96]; /* the command; a handler may only write what is ready */

static void say_history(void)
{
	ssize_t n = write(STDOUT_FILENO, repeat, strlen(repeat));

	(void)n;
}

/* It may hang: who ends it after too long a time wants to know where. */
static void interrupt(int number)
{
	if (number == SIGTERM)
		say_history();
	interrupted = 1;
}

/* An assertion, a crash: once more, and it ends the program. */
static void crash(int number)
{
	say_history();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};

	signal(SIGTERM, interrupt);
	signal(SIGINT, interrupt);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], crash);
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

static void name_history(uint64_t seed)
{
	snprintf(repeat, sizeof(repeat),
		"repeat it with tests/model/model --seed %ju --histories 1 --story\n", (uintmax_t)seed);
}

/* Told anew with a listener: the same seed is the same history. */
static void tell_difference(struct history *h, struct bench *b, uint64_t seed, uint64_t first)
{
	char difference[sizeof(h->difference)];

	memcpy(difference, h->difference, sizeof(difference));
	bench_close(b);
	bench_open(b);
	if (history_run(h, b, seed, stdout) == 0)
		printf("\nDIFFERENCE in %s\nnot by itself: repeat it with tests/model/model --seed %ju --histories %ju\n",
			difference, (uintmax_t)first, (uintmax_t)(seed - first + 1));
	else
		printf("\nDIFFERENCE in %s\n%s", h->difference, repeat);
}

/* 0, or -1: it differs, which is told. */
static int tell_history(struct history *h, struct bench *b, const struct run *r, uint64_t seed)
{
	name_history(seed);
	if (history_run(h, b, seed, r->story ? stdout : NULL) == 0)
		return 0;
	if (r->story)
		printf("\nDIFFERENCE in %s\n%s", h->difference, repeat);
	else
		tell_difference(h, b, seed, r->seed);
	return -1;
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
	catch_signals();
	bench_open(&b);
	for (i = 0; i < r.histories && !interrupted; i++) {
		if (tell_history(h, &b, &r, r.seed + i) < 0)
			break;
		steps += (uint64_t)h->step;
	}
	bench_close(&b);
	free(h);
	printf("%ju of %ju histories from seed %ju are equal, %ju steps\n", (uintmax_t)i,
		(uintmax_t)r.histories, (uintmax_t)r.seed, (uintmax_t)steps);
	return i == r.histories ? 0 : 1;
}
