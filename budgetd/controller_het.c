/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_het.c - the components of a het job together: Slurm starts all of them or none, so all have
 * their hours or none has.
 *
 * They come one by one, each with an answer and a hold of its own; that they belong together only the queue
 * tells. */
#include "budgetd/admit.h"
#include "budgetd/admit_parts.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/wait_line.h"

#define COMPONENTS_MAX 128		/* Slurm's MAX_HET_JOB_COMPS */

struct het_job {
	size_t count;
	struct component {
		struct waiting *w;
		struct hold_row pool;
		bool have;
	} at[COMPONENTS_MAX];
	bool one_is_free, one_has_none, one_stays;
};

/* Its components that wait and ask for GPUs, as the books have them by now. */
static int load(struct pass *p, uint32_t het_job, struct het_job *h, struct fault *why)
{
	*h = (struct het_job){0};
	for (size_t i = 0; i < p->nwaiting && h->count < COMPONENTS_MAX; i++) {
		struct component *c = &h->at[h->count];
		int have, rc;

		if (p->waiting[i].job->het_job_id != het_job)
			continue;
		*c = (struct component){ .w = &p->waiting[i] };
		rc = admission_by_id(p->b->ledger, c->w->admission.id, &c->w->admission, why);
		have = rc < 0 ? -1 : hold_pool(p->b->ledger, c->w->admission.id, &c->pool, why);
		if (have < 0)
			return -1;
		c->have = have;
		h->one_is_free = h->one_is_free || c->w->admission.tier == TIER_FREE;
		h->one_has_none = h->one_has_none || !have;
		h->one_stays = h->one_stays || c->w->admission.insists || c->w->admission.parked_at;
		h->count++;
	}
	return 0;
}

static int make_free(struct pass *p, struct component *c, struct fault *why)
{
	struct admission_row *a = &c->w->admission;

	c->w->paid = 0;
	if (a->tier == TIER_FREE)
		return 0;
	if (c->have && hold_close(p->b->ledger, &c->pool, p->now, "its het job is free", why) < 0)
		return -1;
	log_info("job %u: another component of its het job is free, it goes to the free tier as well",
		c->w->job->job_id);
	a->tier = TIER_FREE;
	a->per_task = a->parked_at = a->waits_at = a->waits_behind = 0;
	return admission_update(p->b->ledger, a, why);
}

static int make_all_free(struct pass *p, struct het_job *h, struct fault *why)
{
	for (size_t i = 0; i < h->count; i++)
		if (make_free(p, &h->at[i], why) < 0)
			return -1;
	return 0;
}

static int follow_the_free_one(struct pass *p, void *arg, struct fault *why)
{
	struct het_job h;

	if (load(p, *(const uint32_t *)arg, &h, why) < 0)
		return -1;
	return h.one_is_free ? make_all_free(p, &h, why) : 0;
}

/* In the tables first: nearly always all are of one tier, and that writes nothing. */
static bool is_of_two_tiers(const struct pass *p, uint32_t het_job, enum job_tier tier)
{
	for (size_t i = 0; i < p->nwaiting; i++)
		if (p->waiting[i].job->het_job_id == het_job && p->waiting[i].admission.tier != tier)
			return true;
	return false;
}

int pass_het_in_one_tier(struct pass *p, struct fault *why)
{
	for (size_t i = 0; i < p->nwaiting; i++) {
		const struct waiting *w = &p->waiting[i];
		uint32_t het_job = w->job->het_job_id;

		if (het_job && w->admission.tier == TIER_FUNDED && is_of_two_tiers(p, het_job, TIER_FUNDED) &&
			pass_write(p, LEDGER_HOLDS, follow_the_free_one, &het_job, why) < 0)
			return -1;
	}
	return 0;
}

/* --- their turn --------------------------------------------------------------------------------- */

/* The path as if the whole het job had nothing, but what the components before this one would take. */
static int load_path(struct pass *p, const struct het_job *h, const struct waiting *w,
	const struct set_aside *aside, struct path *path, struct fault *why)
{
	if (path_load_for(p->b->ledger, w->admission.project, w->admission.uid, p->now, path, why) < 0)
		return -1;
	for (size_t i = 0; i < h->count; i++)
		if (h->at[i].have && hold_credit(p->b->ledger, &h->at[i].pool, path, why) < 0)
			return -1;
	path_set_aside(path, aside);
	return 0;
}

/* Does the whole fit? *got and *path are those of the component that does not; got->refused_at is -1 when all
 * do. */
static int ask_for_all(struct pass *p, struct het_job *h, struct wait_line *line, struct wait_answer *got,
	struct path *path, bool *stays, struct fault *why)
{
	struct set_aside aside = {0};

	*got = (struct wait_answer){ .refused_at = -1 };
	for (size_t i = 0; i < h->count && got->refused_at < 0; i++) {
		struct component *c = &h->at[i];

		if (load_path(p, h, c->w, &aside, path, why) < 0)
			return -1;
		*stays = !h->one_has_none || h->one_stays ||
			pass_never_goes_free(p, &c->w->admission, &(struct hold_row){0}, path);
		/* all of them may use what each has: that is no component's own */
		if (pass_ask_line(line, c->w, &(struct hold_row){ .tasks = c->pool.tasks }, *stays, path, got,
			why) < 0 ||
			set_aside_add(&aside, path, got->tasks * c->w->admission.per_task, why) < 0)
			return -1;
	}
	return 0;
}

/* Those that become smaller first: what they give back the others may need. */
static int pay_all(struct pass *p, struct het_job *h, struct fault *why)
{
	for (int grows = 0; grows <= 1; grows++)
		for (size_t i = 0; i < h->count; i++) {
			struct component *c = &h->at[i];
			int64_t tasks = c->w->tasks + c->w->kept_for_user;
			struct path path;

			if ((c->w->admission.per_task * tasks > c->pool.units) != (grows == 1))
				continue;
			if (path_load_for(p->b->ledger, c->w->admission.project, c->w->admission.uid, p->now,
				&path, why) < 0 ||
				pass_set_pool(p, c->w, &c->pool, c->have, tasks, &path, why) < 0 ||
				pass_unpark(p, c->w, why) < 0)
				return -1;
		}
	return 0;
}

/* A part of it is worth nothing: it goes back, but for a het job that had its hours and was changed, which
 * keeps them (doc/model.md, 4). */
static int pay_none(struct pass *p, struct het_job *h, bool stays, const struct wait_answer *refused,
	const struct path *path, struct fault *why)
{
	struct wait_answer none = *refused;

	none.tasks = 0;
	for (size_t i = 0; i < h->count; i++) {
		struct component *c = &h->at[i];

		c->w->paid = 0;
		if (h->one_has_none && c->have &&
			hold_close(p->b->ledger, &c->pool, p->now, "its het job waits for money", why) < 0)
			return -1;
		if (pass_fall_short(p, c->w, stays, &none, path, why) < 0)
			return -1;
	}
	return 0;
}

int pass_het_take_turn(struct pass *p, void *arg, struct fault *why)
{
	const struct turn *t = arg;
	struct wait_answer got;
	struct het_job h;
	struct path path;
	bool stays = false;

	if (!t->w->asks)
		return 0;	/* with another component of it, a moment ago */
	if (load(p, t->w->job->het_job_id, &h, why) < 0)
		return -1;
	for (size_t i = 0; i < h.count; i++)
		h.at[i].w->asks = false;
	if (h.one_is_free)	/* declared a moment ago */
		return make_all_free(p, &h, why);
	if (ask_for_all(p, &h, t->line, &got, &path, &stays, why) < 0)
		return -1;
	return got.refused_at < 0 ? pay_all(p, &h, why) : pay_none(p, &h, stays, &got, &path, why);
}
