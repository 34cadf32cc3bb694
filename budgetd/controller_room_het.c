/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_room_het.c - room for a het job: all of its components together, or none.
 *
 * Slurm displaces nobody for one and looks at it only while it backfills: so free runs as well are told to
 * go, and its nodes are kept until it starts, or is given up. */
#include "budgetd/controller_room_inside.h"
#include "budgetd/log.h"
#include <stdlib.h>

#define COMPONENTS_MAX 128		/* Slurm's MAX_HET_JOB_COMPS */

struct together {
	const struct waiting *of[COMPONENTS_MAX];
	struct placement_job shapes[COMPONENTS_MAX];
	struct placement_choice choices[COMPONENTS_MAX];
	size_t n;
};

static int by_demand(const void *a, const void *b)
{
	const struct placement_job *x = a, *y = b;
	int64_t each_x = x->gpus / (int32_t)x->nodes, each_y = y->gpus / (int32_t)y->nodes;

	return each_x != each_y ? (each_x > each_y ? -1 : 1) : (x->gpus < y->gpus) - (x->gpus > y->gpus);
}

/* Its components, the most demanding first. 1; 0: one of them fits nowhere; -1. */
static int shape_together(const struct serving *v, const struct kind *k, struct together *t)
{
	int rc = 1;

	for (size_t i = 0; i < v->p->nwaiting && t->n < COMPONENTS_MAX && rc == 1; i++) {
		const struct waiting *w = &v->p->waiting[i];

		if (w->job->het_job_id != k->het_job)
			continue;
		rc = room_shape(v->room, w, v->ranking, &t->shapes[t->n]);
		t->of[t->n++] = w;
	}
	if (rc == 1)
		qsort(t->shapes, t->n, sizeof(t->shapes[0]), by_demand);
	return rc;
}

/* When the last of those who were told to go for it is gone. */
static int64_t due_for(const struct pass *p, const struct waiting *w)
{
	int64_t due = 0;

	for (size_t i = 0; i < p->nleaving; i++)
		if (p->leaving[i].x.for_job == pass_array_or_job_id(w->job) && !p->leaving[i].run.ended &&
			p->leaving[i].x.due > due)
			due = p->leaving[i].x.due;
	return due;
}

static bool is_funded(const struct room_run *x)
{
	return x && x->run.tier == TIER_FUNDED;
}

/* Free runs as well are told: in Slurm nobody gives way to a het job. All go together. */
static int tell_all(struct serving *v, const struct together *t, const struct waiting *w)
{
	int64_t close = GUARD_CLOSES_S(v->p->b->settings);

	v->grace_s = close;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->choices[i].nvictims; k++)
			if (is_funded(room_run(v->room, t->choices[i].victims[k])) &&
				v->p->b->settings->grace_s > close)
				v->grace_s = v->p->b->settings->grace_s;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->choices[i].nvictims; k++)
			if (serve_tell_victim(v, t->choices[i].victims[k], w) < 0)
				return -1;
	v->grace_s = v->p->b->settings->grace_s;
	return 0;
}

/* They are promised all that was chosen, and nothing else may begin there until it starts: Slurm looks at het
 * jobs only while it backfills. */
static int promise_all(struct serving *v, const struct together *t, const struct waiting *w, bool fits)
{
	struct pass *p = v->p;
	int64_t at = due_for(p, w), begun = p->guard.admission == w->admission.id ? p->guard.at
		: p->now + GUARD_CLOSES_S(p->b->settings);
	int rc = 0;

	for (size_t i = 0; i < t->n; i++)
		placement_promise(room_placement(v->room), t->choices[i].parts, t->choices[i].nparts);
	pass_guard_nodes(p, w, t->choices, t->n, fits || begun > at ? begun : at);
	for (size_t i = 0; i < t->n && rc == 0; i++)
		rc = ranking_add_entry(v->ranking, t->of[i]->admission.project, t->of[i]->admission.uid,
			t->of[i]->admission.per_task, v->why);
	return rc < 0 ? -1 : 0;
}

static enum served place_together(struct serving *v, struct together *t, const struct waiting *w)
{
	const struct placement_rules rules = serve_rules(v);
	struct placement *room = room_placement(v->room);
	int fits = placement_fit_together(room, t->shapes, t->n, v->p->now, t->choices), rc = fits;

	if (rc == 0 && v->tried < v->p->b->settings->displace_kinds) {
		rc = serve_was_in_vain(v, w);
		if (rc < 0)
			return FAILED;
		rc = rc ? 0
			: placement_make_room_together(room, &rules, t->shapes, t->n, v->p->now, t->choices);
		v->tried += rc == 0;
	}
	if (rc < 0)
		return serve_out_of_memory(v);
	if (rc == 0)
		return NO;
	if (!fits && tell_all(v, t, w) < 0)
		return FAILED;
	return promise_all(v, t, w, fits) < 0 ? FAILED : YES;
}

enum served serve_het(struct serving *v, struct kind *k)
{
	const struct waiting *w = k->jobs[0].data;
	struct together *t;
	enum served got;
	int rc;

	if (v->p->next_guard.nodes[0])
		return NO;
	rc = pass_guard_gives_up(v->p, w, true, v->why);
	if (rc != 0)
		return rc < 0 ? FAILED : NO;
	t = calloc(1, sizeof(*t));
	if (!t)
		return serve_out_of_memory(v);
	rc = shape_together(v, k, t);
	got = rc < 0 ? serve_out_of_memory(v) : rc ? place_together(v, t, w) : NO;
	for (size_t i = 0; i < t->n; i++)
		placement_choice_free(&t->choices[i]);
	free(t);
	k->served += got == YES;
	return got;
}
