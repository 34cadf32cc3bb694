/* SPDX-License-Identifier: GPL-2.0-or-later
 * room.c - the cluster of one pass for lib/placement (room.h). */
#include "budgetd/room.h"
#include "budgetd/node_kinds.h"
#include "budgetd/ranking.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_RUN UINT32_MAX

/* Nodes by name: those that a job must have, as many as it wants, or all but those that it may not have. */
struct by_name {
	const char *excluded, *required;	/* of the pass's job table */
	bool *may_use, *only_required;	/* by the index in the pass's table of nodes */
	int64_t required_nodes;
};

#define BY_NAME_MAX 64			/* different ones of a pass; of further jobs names are not looked at */

struct room {
	struct pass *p;
	struct by_name by_name[BY_NAME_MAX];
	size_t by_names, names_left_out;
	struct placement *placement;
	struct node_kinds *kinds;
	uint32_t *node_at;		/* by the index in Slurm's table: which of ours */
	size_t node_ats;
	struct room_run *runs;
	size_t nruns, runs_room;
	uint32_t *run_of_job;		/* by its position in the job table, or NO_RUN */
	uint32_t *run_of_name;		/* as placement calls them */
	size_t names;
};

/* --- nodes -------------------------------------------------------------------------------------- */

static int add_nodes(struct room *r)
{
	const struct cluster_view *c = r->p->cluster;
	struct placement_node *nodes = calloc(c->node_count + 1, sizeof(*nodes));

	for (size_t i = 0; i < c->node_count; i++)
		if (c->nodes[i].index >= r->node_ats)
			r->node_ats = c->nodes[i].index + 1;
	r->node_at = calloc(r->node_ats + 1, sizeof(*r->node_at));
	r->kinds = node_kinds_new(c);
	if (nodes && r->node_at && r->kinds) {
		memset(r->node_at, 0xff, r->node_ats * sizeof(*r->node_at));
		for (size_t i = 0; i < c->node_count; i++) {
			const struct node_view *n = &c->nodes[i];

			r->node_at[n->index] = (uint32_t)i;
			nodes[i] = (struct placement_node){ .gpus = n->healthy ? (int32_t)n->gpus : 0,
				node_kinds_of(r->kinds, i) };
		}
		r->placement = placement_new(nodes, c->node_count);
	}
	free(nodes);
	return r->placement ? 0 : -1;
}

/* Nobody can be given a GPU where no CPU is left, until one who has some goes. */
static void close_full_nodes(struct room *r)
{
	for (size_t i = 0; i < r->p->cluster->node_count; i++) {
		struct placement_part part = { (uint32_t)i, placement_idle(r->placement, (uint32_t)i) };

		if (part.gpus > 0 && r->p->cluster->nodes[i].cpus_idle <= 0 &&
			!placement_tie_idle(r->placement, (uint32_t)i))
			placement_promise(r->placement, &part, 1);
	}
}

/* --- runs --------------------------------------------------------------------------------------- */

static int know_run(const struct run *run, void *arg)
{
	struct room *r = arg;
	const struct job_view *j = job_table_find(r->p->jobs, (uint32_t)run->job);

	if (!j || j->start != run->start)
		return 0;
	if (r->nruns == r->runs_room) {
		size_t room = r->runs_room ? 2 * r->runs_room : 256;
		struct room_run *more = reallocarray(r->runs, room, sizeof(*more));

		if (!more)
			return -1;
		r->runs = more;
		r->runs_room = room;
	}
	r->run_of_job[j - r->p->jobs->jobs] = (uint32_t)r->nruns;
	r->runs[r->nruns++] = (struct room_run){ *run, j };
	return 0;
}

static bool is_leaving(const struct pass *p, int64_t run)
{
	for (size_t i = 0; i < p->nleaving; i++)
		if (p->leaving[i].x.run == run)
			return true;
	return false;
}

static bool must_stay(const struct pass *p, const struct room_run *x)
{
	const struct settings *s = p->b->settings;
	const char *qos = x->job->qos ? x->job->qos : "";

	/* Slurm never displaces what is in this QOS: it is requeued as a whole */
	if (x->job->het_job_id)
		return pass_mode(p, x->job) != ENFORCE_ON || !x->run.admission ||
			strcmp(qos, s->qos_funded_still);
	return pass_mode(p, x->job) != ENFORCE_ON || (x->run.tier == TIER_FUNDED && !x->run.admission) ||
	       (strcmp(qos, s->qos_funded) && strcmp(qos, s->qos_free));
}

const struct room_run *room_next_of_het(const struct room *r, uint32_t het_job, size_t *at)
{
	while (*at < r->nruns) {
		const struct room_run *x = &r->runs[(*at)++];

		if (x->job->het_job_id == het_job)
			return x;
	}
	return NULL;
}

/* The components of a het job run and go together: it is protected for as long as any of them. */
static int64_t safe_until(const struct room *r, const struct room_run *x)
{
	int64_t until = x->run.start + x->run.min_runtime_s;
	const struct room_run *other;

	for (size_t at = 0; x->job->het_job_id && (other = room_next_of_het(r, x->job->het_job_id, &at)); )
		if (other->run.start + other->run.min_runtime_s > until)
			until = other->run.start + other->run.min_runtime_s;
	return until;
}

static struct placement_run describe(const struct room *r, const struct room_run *x,
	const struct ranking *ranking)
{
	const struct run *run = &x->run;
	int64_t now = r->p->now;
	ssize_t project = ranking_node(ranking, run->project);

	return (struct placement_run){ .project = project < 0 ? 0 : (uint32_t)project,
		.user = ranking_user_of(ranking, run->project, run->uid), .free = run->tier == TIER_FREE,
		.lost_protection = (run->free_since && run->free_since <= now) || run->unprotected_at,
		.still = project < 0 || must_stay(r->p, x), .slot = pass_slot_is_open(r->p, run->project),
		.start = run->start, .safe_until = safe_until(r, x) };
}

/* A run that this very pass opened is not in the snapshot: what its answer says of it. Nobody can be told to
 * go yet, but it is known when it may be. */
static int describe_new(const struct room *r, const struct job_view *j, const struct ranking *ranking,
	struct placement_run *out)
{
	const struct settings *s = r->p->b->settings;
	const char *qos = j->qos ? j->qos : "";
	struct admission_row a = {0};
	struct fault why = {0};
	ssize_t project;
	int rc = 0;

	*out = (struct placement_run){ .still = true };
	if (j->stage == STAGE_RUNNING && !j->het_job_id &&
		(!strcmp(qos, s->qos_funded) || !strcmp(qos, s->qos_free)) &&
		pass_mode(r->p, j) == ENFORCE_ON)
		rc = pass_admission(r->p, j, &a, &why);
	project = rc == 1 ? ranking_node(ranking, a.project) : -1;
	if (project >= 0)
		*out = (struct placement_run){ .project = (uint32_t)project,
			.user = ranking_user_of(ranking, a.project, a.uid), .free = a.tier == TIER_FREE,
			.start = j->start, .slot = pass_slot_is_open(r->p, a.project),
			.safe_until = j->start + a.min_runtime_s };
	return rc;
}

static int remember_name(struct room *r, uint32_t name, uint32_t run)
{
	if (name >= r->names) {
		size_t names = 2 * (size_t)name + 64;
		uint32_t *more = reallocarray(r->run_of_name, names, sizeof(*more));

		if (!more)
			return -1;
		r->run_of_name = more;
		r->names = names;
	}
	r->run_of_name[name] = run;
	return 0;
}

/* Where it is, in our numbers; n is 0 when Slurm does not say. */
static size_t parts_of(const struct room *r, const struct job_view *j, struct placement_part *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < j->part_count; i++)
		if (j->parts[i].node < r->node_ats && r->node_at[j->parts[i].node] != UINT32_MAX)
			out[n++] = (struct placement_part){ r->node_at[j->parts[i].node], j->parts[i].gpus };
	return n;
}

static int add_job(struct room *r, size_t at, const struct ranking *ranking)
{
	const struct job_view *j = &r->p->jobs->jobs[at];
	struct placement_part *parts = calloc(j->part_count + 1, sizeof(*parts));
	uint32_t known = r->run_of_job[at], name;
	struct placement_run run;
	int rc = 0;

	if (!parts)
		return -1;
	if (known != NO_RUN)
		run = describe(r, &r->runs[known], ranking);
	else if (describe_new(r, j, ranking, &run) < 0) {
		free(parts);
		return -1;
	}
	run.nparts = parts_of(r, j, parts);
	run.parts = parts;
	if (run.nparts)
		rc = placement_add(r->placement, &run, &name) < 0 ? -1 : remember_name(r, name, known);
	if (run.nparts && rc == 0 && (j->stage == STAGE_COMPLETING ||
		(known != NO_RUN && is_leaving(r->p, r->runs[known].run.id))))
		placement_leave(r->placement, name);
	free(parts);
	return rc;
}

static int add_jobs(struct room *r, const struct ranking *ranking)
{
	int rc = 0;

	for (size_t i = 0; i < r->p->jobs->count && rc == 0; i++)
		if (r->p->jobs->jobs[i].part_count)
			rc = add_job(r, i, ranking);
	return rc;
}

int room_new(struct pass *p, const struct ranking *ranking, struct room **out, struct fault *why)
{
	struct room *r = calloc(1, sizeof(*r));

	if (!r)
		return fault_errno(why, ENOMEM, "out of memory");
	r->p = p;
	r->run_of_job = malloc((p->jobs->count + 1) * sizeof(*r->run_of_job));
	if (r->run_of_job)
		memset(r->run_of_job, 0xff, (p->jobs->count + 1) * sizeof(*r->run_of_job));
	errno = 0;
	if (!r->run_of_job || run_walk_open(p->books, p->facts.cluster, know_run, r, why) < 0 ||
		add_nodes(r) < 0 || add_jobs(r, ranking) < 0) {
		room_free(r);
		return why->text[0] ? -1 : fault_errno(why, ENOMEM, "out of memory");
	}
	close_full_nodes(r);
	*out = r;
	return 0;
}

void room_free(struct room *r)
{
	if (!r)
		return;
	placement_free(r->placement);
	node_kinds_free(r->kinds);
	for (size_t i = 0; i < r->by_names; i++)
		free(r->by_name[i].may_use);
	free(r->node_at);
	free(r->runs);
	free(r->run_of_job);
	free(r->run_of_name);
	free(r);
}

struct placement *room_placement(struct room *r)
{
	return r->placement;
}

const struct room_run *room_run(const struct room *r, uint32_t name)
{
	return r->run_of_name[name] == NO_RUN ? NULL : &r->runs[r->run_of_name[name]];
}

/* --- the shape of what waits -------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* NULL and ENOMEM. */
static const struct by_name *look_at_names(struct room *r, struct by_name x)
{
	const struct cluster_view *c = r->p->cluster;

	x.may_use = calloc(2 * c->node_count + 1, sizeof(*x.may_use));
	if (!x.may_use)
		return NULL;
	x.only_required = x.may_use + c->node_count;
	for (size_t i = 0; i < c->node_count; i++) {
		x.may_use[i] = !(x.excluded && slurm_link_has_node(x.excluded, c->nodes[i].name));
		x.only_required[i] = x.may_use[i] && x.required &&
			slurm_link_has_node(x.required, c->nodes[i].name);
		x.required_nodes += x.only_required[i];
	}
	r->by_name[r->by_names] = x;
	return &r->by_name[r->by_names++];
}

/* *out is NULL when all will do. Of who wants more nodes than it names the others are any. */
static int find_by_name(struct room *r, const struct job_view *j, int64_t nodes, const bool **out)
{
	const struct by_name *x = NULL;

	*out = NULL;
	if (!j->excluded && !j->required)
		return 0;
	for (size_t i = 0; i < r->by_names && !x; i++)
		if (same(j->excluded, r->by_name[i].excluded) && same(j->required, r->by_name[i].required))
			x = &r->by_name[i];
	if (!x && r->by_names == BY_NAME_MAX) {
		r->names_left_out++;
		return 0;
	}
	if (!x)
		x = look_at_names(r, (struct by_name){ .excluded = j->excluded, .required = j->required });
	if (!x)
		return -1;
	*out = x->required_nodes >= nodes ? x->only_required : x->may_use;
	return 0;
}

int room_shape(struct room *r, const struct waiting *w, const struct ranking *ranking,
	struct placement_job *out)
{
	ssize_t project = ranking_node(ranking, w->admission.project);
	struct gpu_request asked = {0};
	struct node_kinds_for kinds;
	const bool *may_use;
	int64_t nodes = w->job->node_count ? w->job->node_count : 1;
	int rc;

	if (project < 0 || w->admission.gpus <= 0 ||
		gpu_request_read(&w->job->request, NULL, &asked, NULL) < 0)
		return 0;
	rc = node_kinds_for(r->kinds, w->job, &asked.gpus, &kinds);
	if (rc != 1)
		return rc;
	if (nodes * kinds.largest < w->admission.gpus)	/* --gpus=16 says nothing of nodes */
		nodes = (w->admission.gpus + kinds.largest - 1) / kinds.largest;
	if (find_by_name(r, w->job, nodes, &may_use) < 0)
		return -1;
	*out = (struct placement_job){ .project = (uint32_t)project,
		.user = ranking_user_of(ranking, w->admission.project, w->admission.uid), .front = w->front,
		.cleared = w->cleared, .kinds = kinds.set, .may_use = may_use,
		.nodes = (uint32_t)(nodes < w->admission.gpus ? nodes : w->admission.gpus),
		.gpus = (int32_t)w->admission.gpus, .keeps_s = w->admission.min_runtime_s };
	return 1;
}

size_t room_names_left_out(const struct room *r)
{
	return r->names_left_out;
}

bool room_has_others(const struct room *r, const struct placement_job *shape, const bool *without,
	const char *excluded)
{
	const struct cluster_view *c = r->p->cluster;
	int64_t least = (shape->gpus + (int32_t)shape->nodes - 1) / (int32_t)shape->nodes;
	uint32_t found = 0;

	for (size_t i = 0; i < c->node_count && found < shape->nodes; i++)
		found += !without[i] && (!shape->kinds || shape->kinds[node_kinds_of(r->kinds, i)]) &&
			c->nodes[i].gpus >= least && c->nodes[i].healthy &&
			!(excluded && slurm_link_has_node(excluded, c->nodes[i].name));
	return found == shape->nodes;
}
