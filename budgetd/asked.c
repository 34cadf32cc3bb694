/* SPDX-License-Identifier: GPL-2.0-or-later
 * asked.c - a table of jobs by their id; the place of one is the first free after its own. */
#include "budgetd/asked.h"
#include <stdlib.h>
#include <string.h>

#define PLACES 131072			/* a power of two */
#define JOBS_MAX (PLACES / 2)

struct asked {
	size_t count;
	struct {
		uint32_t job;		/* 0 = free */
		int64_t submit;
	} places[PLACES];
};

struct asked *asked_new(void)
{
	return calloc(1, sizeof(struct asked));
}

void asked_free(struct asked *a)
{
	free(a);
}

static size_t place_of(const struct asked *a, uint32_t job)
{
	size_t i = job & (PLACES - 1);	/* ids follow each other: they spread by themselves */

	while (a->places[i].job && a->places[i].job != job)
		i = (i + 1) & (PLACES - 1);
	return i;
}

bool asked_about(const struct asked *a, uint32_t job, int64_t submit)
{
	size_t i = place_of(a, job);

	return a->places[i].job == job && a->places[i].submit == submit;
}

void asked_put(struct asked *a, uint32_t job, int64_t submit)
{
	size_t i = place_of(a, job);

	if (!a->places[i].job && a->count == JOBS_MAX) {
		memset(a, 0, sizeof(*a));
		i = place_of(a, job);
	}
	a->count += !a->places[i].job;
	a->places[i].job = job;
	a->places[i].submit = submit;
}
