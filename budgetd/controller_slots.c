/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_slots.c - projects inside a weekly slot of theirs go first, until they hold its share
 * (doc/model.md, 6)
 *
 * A slot of a project is for all below it. What they hold are the GPUs of their runs and of those that were
 * put first before, in the order by share; nothing is set aside, and what runs inside a slot is charged and
 * counted as always. */
#include "budgetd/ledger_slot.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "lib/slot.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdlib.h>

struct open_slot {
	struct slot rule;
	int64_t project;
	int64_t running, held;		/* GPUs: of what runs; and of what was put first besides */
};

/* The slots that are open in this pass, and whose each project is: parents come before what is below them. */
struct pass_slots {
	struct pass *p;
	struct open_slot *slots;
	size_t count;
	struct member_project {
		int64_t project;
		size_t slot;		/* index: a project below two slots is there twice */
	} *members;
	size_t nmembers, members_room;
	size_t filling;
};

static int add_open(const struct slot_row *s, void *arg)
{
	struct pass_slots *x = arg;
	int64_t local = x->p->now + zone_offset(x->p->b->zone, x->p->now);
	struct open_slot o = { .rule = { s->starts_s, s->length_s, s->boosted_percent * SLOT_PERCENT_PPM },
		.project = s->project };
	struct open_slot *grown;

	if (!slot_is_open(&o.rule, local))
		return 0;
	grown = reallocarray(x->slots, x->count + 1, sizeof(*grown));
	if (!grown)
		return -1;
	x->slots = grown;
	grown[x->count++] = o;
	return 0;
}

static int add_member(const struct project *project, int depth, void *arg)
{
	struct pass_slots *x = arg;

	(void)depth;
	if (x->nmembers == x->members_room) {
		size_t room = x->members_room ? x->members_room * 2 : 16;
		struct member_project *grown = reallocarray(x->members, room, sizeof(*grown));

		if (!grown)
			return -1;
		x->members = grown;
		x->members_room = room;
	}
	x->members[x->nmembers++] = (struct member_project){ project->id, x->filling };
	return 0;
}

static int by_project(const void *a, const void *b)
{
	const struct member_project *x = a, *y = b;

	return (x->project > y->project) - (x->project < y->project);
}

/* The first entry of the project, or NULL; the others follow it. */
static const struct member_project *first_of(const struct pass_slots *x, int64_t project)
{
	struct member_project key = { .project = project };
	const struct member_project *m = x->nmembers
		? bsearch(&key, x->members, x->nmembers, sizeof(key), by_project) : NULL;

	while (m && m > x->members && m[-1].project == project)
		m--;
	return m;
}

#define EACH_SLOT(x, m, of) \
	for (const struct member_project *m = first_of(x, of); m && m < (x)->members + (x)->nmembers && m->project == (of); m++)

bool pass_slot_is_open(const struct pass *p, int64_t project)
{
	return p->slots && first_of(p->slots, project);
}

static void hold(struct pass_slots *x, int64_t project, int64_t gpus)
{
	EACH_SLOT(x, m, project)
		x->slots[m->slot].held += gpus;
}

static void add_running(int64_t project, int64_t gpus, void *arg)
{
	struct pass_slots *x = arg;

	EACH_SLOT(x, m, project)
		x->slots[m->slot].running += gpus;
}

/* In the writer, which knows the runs that this pass opened; submissions wait meanwhile, so only the sums,
 * and once in a pass. */
static int read_runs(struct pass *p, void *arg, struct fault *why)
{
	return slot_walk_running(p->b->ledger, p->facts.cluster, add_running, arg, why);
}

static int read_members(struct pass_slots *x, struct fault *why)
{
	for (x->filling = 0; x->filling < x->count; x->filling++)
		if (project_walk(x->p->books, x->slots[x->filling].project, add_member, x, why) < 0)
			return -1;
	if (x->nmembers)
		qsort(x->members, x->nmembers, sizeof(*x->members), by_project);
	return 0;
}

void pass_slots_free(struct pass_slots *x)
{
	if (!x)
		return;
	free(x->slots);
	free(x->members);
	free(x);
}

static int know_slots(struct pass *p, struct fault *why)
{
	if (!p->slots) {
		p->slots = calloc(1, sizeof(*p->slots));
		if (!p->slots)
			return fault_errno(why, ENOMEM, "out of memory");
		p->slots->p = p;
		if (slot_walk(p->books, 0, add_open, p->slots, why) < 0 || read_members(p->slots, why) < 0)
			return why->text[0] ? -1 : fault_errno(why, ENOMEM, "out of memory");
		if (p->slots->count && pass_write(p, LEDGER_HOLDS, read_runs, p->slots, why) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->slots->count; i++)
		p->slots->slots[i].held = p->slots->slots[i].running;
	return 0;
}

static bool goes_first(const struct pass_slots *x, const struct waiting *w)
{
	const struct pass *p = x->p;
	int64_t local = p->now + zone_offset(p->b->zone, p->now);

	EACH_SLOT(x, m, w->admission.project)
		if (slot_goes_first(&x->slots[m->slot].rule, local, x->slots[m->slot].held,
			p->cluster->healthy.total))
			return true;
	return false;
}

/* The funded ones that are below a slot, by share. Their number, or -1. */
static ssize_t order_members(struct pass *p, struct order_job *out, struct fault *why)
{
	const struct ranking *ranking = pass_ranking(p, why);
	size_t n = 0;

	if (!ranking)
		return -1;
	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting *w = &p->waiting[i];

		if (w->admission.tier == TIER_FUNDED && first_of(p->slots, w->admission.project))
			out[n++] = pass_order_job(w, ranking);
	}
	return order_sort(out, n) < 0 ? fault_errno(why, ENOMEM, "out of memory") : (ssize_t)n;
}

/* How many of its tasks the slot puts first; the GPUs of those are held. */
static int64_t put_first(struct pass_slots *x, const struct waiting *w, int64_t tasks)
{
	int64_t first = 0;

	while (first < tasks && goes_first(x, w)) {
		hold(x, w->admission.project, w->admission.gpus);
		first++;
	}
	return first;
}

/* A record has one place, whatever tasks it stands for: between two passes more of them may get what is idle.
 * Nobody gives way to more. */
static void give_slots(struct pass_slots *x, const struct order_job *jobs, size_t n, bool paid)
{
	for (size_t i = 0; i < n; i++) {
		struct waiting *w = jobs[i].data;
		int64_t tasks = paid ? w->paid : w->tasks;

		if (tasks <= 0)
			continue;
		if (w->front == ORDER_BY_SHARE)
			w->first_tasks = put_first(x, w, tasks);
		else
			hold(x, w->admission.project, tasks * w->admission.gpus);
		if (w->first_tasks)
			w->front = ORDER_SLOT;
	}
}

int pass_choose_slots(struct pass *p, bool paid, struct fault *why)
{
	struct order_job *jobs;
	ssize_t n;

	if (know_slots(p, why) < 0)
		return -1;
	if (!p->slots->count)
		return 0;
	jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	n = jobs ? order_members(p, jobs, why) : fault_errno(why, ENOMEM, "out of memory");
	if (n >= 0)
		give_slots(p->slots, jobs, (size_t)n, paid);
	free(jobs);
	return n < 0 ? -1 : 0;
}
