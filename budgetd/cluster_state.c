/* SPDX-License-Identifier: GPL-2.0-or-later
 * cluster_state.c - what the last pass saw. */
#include "budgetd/cluster_state.h"
#include "lib/duration.h"
#include "lib/place.h"
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>

struct account_user {
	uid_t uid;
	const char *name;		/* in accounts */
};

struct cluster_state {
	pthread_rwlock_t lock;		/* guards everything below */
	struct slurm_facts facts;
	struct cluster_view *view;
	struct job_table *jobs;
	uint32_t newest_job;
	struct account_table *accounts;
	struct account_user *users;	/* of accounts, sorted by uid */
	size_t nusers;
	int64_t last_pass_at;
	struct pass_times last_pass;
	size_t lost_runs, names_left_out, differences;
	int32_t last_place, gap;	/* gap 0 = no pass yet */
	struct idle_jobs idle;
	struct turn_table turns;
	struct gang_guard guard;
	char error[FAULT_TEXT_MAX];
};

struct cluster_state *cluster_state_new(void)
{
	struct cluster_state *s = calloc(1, sizeof(*s));

	if (s)
		pthread_rwlock_init(&s->lock, NULL);
	return s;
}

void cluster_state_free(struct cluster_state *s)
{
	if (!s)
		return;
	cluster_view_free(s->view);
	job_table_free(s->jobs);
	account_table_free(s->accounts);
	free(s->users);
	free(s->idle.jobs);
	turn_table_free(&s->turns);
	pthread_rwlock_destroy(&s->lock);
	free(s);
}

void cluster_state_publish(struct cluster_state *s, const struct slurm_facts *facts,
	struct cluster_view *view, struct job_table *jobs)
{
	struct cluster_view *old_view = NULL;
	struct job_table *old_jobs = NULL;

	pthread_rwlock_wrlock(&s->lock);
	if (facts)
		s->facts = *facts;
	if (view) {
		old_view = s->view;
		s->view = view;
	}
	if (jobs) {
		old_jobs = s->jobs;
		s->jobs = jobs;
		if (jobs->count && jobs->jobs[jobs->count - 1].job_id > s->newest_job)
			s->newest_job = jobs->jobs[jobs->count - 1].job_id;
	}
	pthread_rwlock_unlock(&s->lock);
	cluster_view_free(old_view);
	job_table_free(old_jobs);
}

uint32_t cluster_state_newest_job(struct cluster_state *s)
{
	uint32_t newest;

	pthread_rwlock_rdlock(&s->lock);
	newest = s->newest_job;
	pthread_rwlock_unlock(&s->lock);
	return newest;
}

void cluster_state_pass_done(struct cluster_state *s, int64_t at, const struct pass_times *took,
	const char *error)
{
	pthread_rwlock_wrlock(&s->lock);
	if (!error) {
		s->last_pass_at = at;
		s->last_pass = *took;
	}
	snprintf(s->error, sizeof(s->error), "%s", error ? error : "");
	pthread_rwlock_unlock(&s->lock);
}

/* Of several partitions the job may get the longest and the largest (doc/model.md, 4). */
static void add_partition(struct partition_answer *a, const struct partition_view *p)
{
	int64_t limit = p->default_time_s == JOB_TIME_LIMIT_UNSET ? p->max_time_s : p->default_time_s;

	if (!a->known)
		snprintf(a->name, sizeof(a->name), "%s", p->name);
	a->known = true;
	if (limit > a->time_limit_s)
		a->time_limit_s = limit;
	if (p->gpus_per_node > a->gpus_per_node)
		a->gpus_per_node = p->gpus_per_node;
	a->exclusive = a->exclusive || p->exclusive;
	for (int i = 0; i < p->gpus.ntypes; i++)
		gpu_count_add(&a->gpus, p->gpus.types[i].type, p->gpus.types[i].count);
}

struct partition_answer cluster_state_partitions(struct cluster_state *s, const char *names)
{
	struct partition_answer a = {0};
	const struct partition_view *p;
	char one[256];

	pthread_rwlock_rdlock(&s->lock);
	if (s->view && !names) {
		p = cluster_view_partition(s->view, NULL);
		if (p)
			add_partition(&a, p);
	}
	while (s->view && names && *names) {
		size_t n = strcspn(names, ",");

		snprintf(one, sizeof(one), "%.*s", (int)n, names);
		p = cluster_view_partition(s->view, one);
		if (p)
			add_partition(&a, p);
		names += n + (names[n] == ',');
	}
	pthread_rwlock_unlock(&s->lock);
	return a;
}

static int by_uid(const void *a, const void *b)
{
	const struct account_user *x = a, *y = b;

	return (x->uid > y->uid) - (x->uid < y->uid);
}

/* Users that this machine does not know cannot submit from it either. */
static struct account_user *resolve_users(const struct account_table *accounts, size_t *count)
{
	struct account_user *users = calloc(accounts->count + 1, sizeof(*users));
	char scratch[4096];
	size_t n = 0;

	for (size_t i = 0; users && i < accounts->count; i++) {
		const char *name = accounts->rows[i].user;
		struct passwd pw, *found = NULL;

		if (i > 0 && strcmp(name, accounts->rows[i - 1].user) == 0)
			continue;
		if (getpwnam_r(name, &pw, scratch, sizeof(scratch), &found) == 0 && found)
			users[n++] = (struct account_user){ pw.pw_uid, name };
	}
	if (users)
		qsort(users, n, sizeof(*users), by_uid);
	*count = n;
	return users;
}

void cluster_state_publish_accounts(struct cluster_state *s, struct account_table *accounts)
{
	size_t nusers = 0;
	struct account_user *users = resolve_users(accounts, &nusers), *old_users;
	struct account_table *old;

	pthread_rwlock_wrlock(&s->lock);
	old = s->accounts;
	old_users = s->users;
	s->accounts = accounts;
	s->users = users;
	s->nusers = nusers;
	pthread_rwlock_unlock(&s->lock);
	account_table_free(old);
	free(old_users);
}

bool cluster_state_may_submit(struct cluster_state *s, uid_t uid, const char *account, bool *known)
{
	struct account_user key = { .uid = uid };
	const struct account_user *user;
	bool may = false;

	pthread_rwlock_rdlock(&s->lock);
	*known = s->accounts && s->users;
	if (*known && s->nusers) {
		user = bsearch(&key, s->users, s->nusers, sizeof(key), by_uid);
		may = user && account_table_find(s->accounts, user->name, account);
	}
	pthread_rwlock_unlock(&s->lock);
	return may;
}

bool cluster_state_may_use(struct cluster_state *s, const char *user, const char *account)
{
	bool may;

	pthread_rwlock_rdlock(&s->lock);
	may = s->accounts && account_table_find(s->accounts, user, account);
	pthread_rwlock_unlock(&s->lock);
	return may;
}

void cluster_state_default_account(struct cluster_state *s, const char *user, char *buf, size_t size)
{
	const struct account_row *row;

	pthread_rwlock_rdlock(&s->lock);
	row = s->accounts ? account_table_find(s->accounts, user, NULL) : NULL;
	snprintf(buf, size, "%s", row ? row->account : "");
	pthread_rwlock_unlock(&s->lock);
}

void cluster_state_set_last_place(struct cluster_state *s, int32_t last, int32_t gap)
{
	pthread_rwlock_wrlock(&s->lock);
	s->last_place = last;
	s->gap = gap;
	pthread_rwlock_unlock(&s->lock);
}

bool cluster_state_next_place(struct cluster_state *s, int32_t *out)
{
	bool known;

	pthread_rwlock_wrlock(&s->lock);
	known = s->gap > 0;
	if (known)
		*out = s->last_place = place_behind(s->last_place, s->gap);
	pthread_rwlock_unlock(&s->lock);
	return known;
}

void cluster_state_set_lost(struct cluster_state *s, size_t runs)
{
	pthread_rwlock_wrlock(&s->lock);
	s->lost_runs = runs;
	pthread_rwlock_unlock(&s->lock);
}

void cluster_state_set_names_left_out(struct cluster_state *s, size_t jobs)
{
	pthread_rwlock_wrlock(&s->lock);
	s->names_left_out = jobs;
	pthread_rwlock_unlock(&s->lock);
}

void cluster_state_set_differences(struct cluster_state *s, size_t runs)
{
	pthread_rwlock_wrlock(&s->lock);
	s->differences = runs;
	pthread_rwlock_unlock(&s->lock);
}

void cluster_state_publish_idle(struct cluster_state *s, const struct idle_jobs *idle)
{
	struct idle_job *old;

	pthread_rwlock_wrlock(&s->lock);
	old = s->idle.jobs;
	s->idle = *idle;
	pthread_rwlock_unlock(&s->lock);
	free(old);
}

int64_t cluster_state_idle_until(struct cluster_state *s)
{
	int64_t until;

	pthread_rwlock_rdlock(&s->lock);
	until = s->idle.until;
	pthread_rwlock_unlock(&s->lock);
	return until;
}

int64_t cluster_state_idle_since(struct cluster_state *s, uint32_t job_id, int64_t *until)
{
	int64_t since = 0;

	pthread_rwlock_rdlock(&s->lock);
	*until = s->idle.until;
	for (size_t i = 0; i < s->idle.count && !since; i++)
		if (s->idle.jobs[i].job_id == job_id)
			since = s->idle.jobs[i].since;
	pthread_rwlock_unlock(&s->lock);
	return since;
}

void cluster_state_health(struct cluster_state *s, struct cluster_health *out)
{
	*out = (struct cluster_health){0};
	pthread_rwlock_rdlock(&s->lock);
	memcpy(out->cluster, s->facts.cluster, sizeof(out->cluster));
	memcpy(out->version, s->facts.version, sizeof(out->version));
	out->last_pass_at = s->last_pass_at;
	out->last_pass = s->last_pass;
	out->jobs = s->jobs ? s->jobs->count : 0;
	out->lost_runs = s->lost_runs;
	out->names_left_out = s->names_left_out;
	out->differences = s->differences;
	out->idle_jobs = s->idle.count;
	out->used_gpus = s->idle.used;
	out->unseen_gpus = s->idle.unseen;
	out->gpus = s->view ? s->view->gpus.total : 0;
	out->healthy = s->view ? s->view->healthy : (struct gpu_count){0};
	out->healthy_gpus = out->healthy.total;
	memcpy(out->error, s->error, sizeof(out->error));
	pthread_rwlock_unlock(&s->lock);
}

struct node_answer cluster_state_node(struct cluster_state *s, const char *name)
{
	struct node_answer a = {0};

	pthread_rwlock_rdlock(&s->lock);
	a.asked = s->view != NULL;
	for (size_t i = 0; s->view && i < s->view->node_count && !a.known; i++) {
		const struct node_view *n = &s->view->nodes[i];

		if (strcmp(n->name, name))
			continue;
		a.known = true;
		a.draining = n->draining;
		snprintf(a.reason, sizeof(a.reason), "%s", n->reason ? n->reason : "");
	}
	pthread_rwlock_unlock(&s->lock);
	return a;
}

char *cluster_state_draining(struct cluster_state *s)
{
	char *names = NULL;
	size_t size;
	FILE *to = open_memstream(&names, &size);
	bool bad;

	if (!to)
		return NULL;
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; s->view && i < s->view->node_count; i++)
		if (s->view->nodes[i].draining)
			fprintf(to, "%s%s", ftell(to) ? "," : "", s->view->nodes[i].name);
	pthread_rwlock_unlock(&s->lock);
	bad = ferror(to);
	if (fclose(to) != 0 || bad) {
		free(names);
		return NULL;
	}
	return names;
}

void cluster_state_each_job(struct cluster_state *s, job_fn each, void *arg)
{
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; s->jobs && i < s->jobs->count; i++)
		each(&s->jobs->jobs[i], arg);
	pthread_rwlock_unlock(&s->lock);
}

void cluster_state_job(struct cluster_state *s, uint32_t job_id, job_fn each, void *arg)
{
	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; s->jobs && i < s->jobs->count; i++) {
		const struct job_view *j = &s->jobs->jobs[i];

		if (j->job_id == job_id || j->array_job_id == job_id || j->het_job_id == job_id)
			each(j, arg);
	}
	pthread_rwlock_unlock(&s->lock);
}

void turn_table_free(struct turn_table *t)
{
	free(t->turns);
	free(t->nodes);
	*t = (struct turn_table){0};
}

void cluster_state_publish_turns(struct cluster_state *s, const struct turn_table *t)
{
	struct turn_table old;

	pthread_rwlock_wrlock(&s->lock);
	old = s->turns;
	s->turns = *t;
	pthread_rwlock_unlock(&s->lock);
	turn_table_free(&old);
}

int cluster_state_turns(struct cluster_state *s, struct turn_table *out)
{
	struct turn_table t;
	bool copied;

	pthread_rwlock_rdlock(&s->lock);
	t = s->turns;
	t.turns = malloc((t.nturns + 1) * sizeof(*t.turns));
	t.nodes = malloc((t.nnodes + 1) * sizeof(*t.nodes));
	copied = t.turns && t.nodes;
	if (copied && t.nturns)
		memcpy(t.turns, s->turns.turns, t.nturns * sizeof(*t.turns));
	if (copied && t.nnodes)
		memcpy(t.nodes, s->turns.nodes, t.nnodes * sizeof(*t.nodes));
	pthread_rwlock_unlock(&s->lock);
	if (!copied) {
		turn_table_free(&t);
		errno = ENOMEM;
		return -1;
	}
	*out = t;
	return 0;
}

bool cluster_state_turn(struct cluster_state *s, uint32_t job, uint32_t record, struct job_turn *out)
{
	bool found = false, exact = false;

	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; i < s->turns.nturns && !exact; i++) {
		if (s->turns.turns[i].job != job)
			continue;
		exact = s->turns.turns[i].record == record;
		if (exact || !found)
			*out = s->turns.turns[i];
		found = true;
	}
	pthread_rwlock_unlock(&s->lock);
	return found;
}

void cluster_state_set_guard(struct cluster_state *s, const struct gang_guard *g)
{
	pthread_rwlock_wrlock(&s->lock);
	s->guard = *g;
	pthread_rwlock_unlock(&s->lock);
}

struct gang_guard cluster_state_guard(struct cluster_state *s)
{
	struct gang_guard g;

	pthread_rwlock_rdlock(&s->lock);
	g = s->guard;
	pthread_rwlock_unlock(&s->lock);
	return g;
}
