/* SPDX-License-Identifier: GPL-2.0-or-later
 * site.c - slurmctld's configuration, and QOS and associations of slurmdbd, as plain text (site.h)
 *
 * Numbers of Slurm become the words that slurm.conf and sacctmgr take, so that what was found can stand
 * beside what is to be written. Bits that a newer Slurm adds are left out of the words. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include "slurm_link/site.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX 256

struct bit_word {
	uint16_t bit;
	const char *word;
};

static const struct bit_word preempt_words[] = {
	{ PREEMPT_MODE_SUSPEND, "suspend" }, { PREEMPT_MODE_REQUEUE, "requeue" },
	{ PREEMPT_MODE_CANCEL, "cancel" }, { PREEMPT_MODE_COND_OFF, "off" },
	{ PREEMPT_MODE_WITHIN, "within" }, { PREEMPT_MODE_GANG, "gang" },
};

/* In no public header; the same numbers from 22.05 to 26.05. */
static const struct bit_word enforce_words[] = {
	{1, "associations"},
	{2, "limits"},
	{4, "wckeys"},
	{8, "qos"},
	{16, "safe"},
	{32, "nojobs"},
	{64, "nosteps"},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "associations,limits,qos"; `none` when no bit is known. */
static const char *words_of(uint16_t bits, const struct bit_word *words, size_t count, const char *none,
	char buf[WORDS_MAX])
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (bits & words[i].bit)
			n += (size_t)snprintf(buf + n, WORDS_MAX - n, "%s%s", n ? "," : "", words[i].word);
	return n ? buf : none;
}

/* --- slurmctld -------------------------------------------------------------------------------------- */

/* Called twice, see internal.h. */
static void conf_fill(struct site_conf *v, const slurm_conf_t *c, struct strings *s)
{
	char words[WORDS_MAX];

	v->taken_at = c->last_update;
	v->slurm_uid = c->slurm_user_id;
	v->job_requeue = c->job_requeue;
	v->min_job_age_s = c->min_job_age;
	v->cluster = strings_keep(s, c->cluster_name);
	v->version = strings_keep(s, c->version);
	v->slurm_user = strings_keep(s, c->slurm_user_name);
	v->conf_path = strings_keep(s, c->slurm_conf);
	v->plugin_dir = strings_keep(s, c->plugindir);
	v->job_submit_plugins = strings_keep(s, c->job_submit_plugins);
	v->plugstack = strings_keep(s, c->plugstack);
	v->preempt_type = strings_keep(s, c->preempt_type);
	v->preempt_mode =
		strings_keep(s, words_of(c->preempt_mode, preempt_words, COUNT(preempt_words), "off", words));
	v->priority_type = strings_keep(s, c->priority_type);
	v->select_type = strings_keep(s, c->select_type);
	v->scheduler_parameters = strings_keep(s, c->sched_params);
	v->accounting_type = strings_keep(s, c->accounting_storage_type);
	v->accounting_tres = strings_keep(s, c->accounting_storage_tres);
	v->accounting_enforce = strings_keep(s, words_of(c->accounting_storage_enforce, enforce_words,
		COUNT(enforce_words), "none", words));
	v->auth_type = strings_keep(s, c->authtype);
	v->auth_info = strings_keep(s, c->authinfo);
}

int slurm_link_site_conf(struct slurm_link *l, struct site_conf **out, struct fault *why)
{
	struct site_conf *v = calloc(1, sizeof(*v));
	struct strings s = { 0 };
	slurm_conf_t *c = NULL;
	int rv = -1;

	(void)l;
	errno = 0;
	if (!v) {
		fault_errno(why, ENOMEM, "out of memory");
		goto out;
	}
	if (slurm_load_ctl_conf(0, &c) != SLURM_SUCCESS) {
		slurm_link_fail(why, "cannot read slurmctld's configuration");
		goto out;
	}
	conf_fill(v, c, &s);
	v->strings = s.at = malloc(s.used + 1);
	if (!s.at) {
		fault_errno(why, ENOMEM, "out of memory for slurmctld's configuration");
		goto out;
	}
	s.used = 0;
	conf_fill(v, c, &s);
	*out = v;
	v = NULL;
	rv = 0;
out:
	if (c)
		compat_free_conf(c);
	site_conf_free(v);
	return rv;
}

void site_conf_free(struct site_conf *c)
{
	int saved = errno;

	if (c)
		free(c->strings);
	free(c);
	errno = saved;
}

/* --- slurmdbd --------------------------------------------------------------------------------------- */

struct rows {
	list_t *qos, *associations;
};

static const char *name_of(list_t *qos, int64_t id)
{
	list_itr_t *it = slurm_list_iterator_create(qos);
	const char *name = NULL;
	slurmdb_qos_rec_t *r;

	while (!name && (r = slurm_list_next(it)))
		name = r->id == id ? r->name : NULL;
	slurm_list_iterator_destroy(it);
	return name;
}

/* One more name of a list that stands at the end of the block: over the NUL of the name before. */
static void list_keep(struct strings *s, size_t begin, const char *name)
{
	if (!name || !*name)
		return;
	if (s->used > begin && s->at)
		s->at[s->used - 1] = ',';
	strings_keep(s, name);
}

static const char *list_kept(const struct strings *s, size_t begin)
{
	return s->at && s->used > begin ? s->at + begin : NULL;
}

static const char *keep_preempted(struct strings *s, const slurmdb_qos_rec_t *of, list_t *qos)
{
	list_itr_t *it = slurm_list_iterator_create(qos);
	size_t begin = s->used;
	slurmdb_qos_rec_t *r;

	while ((r = slurm_list_next(it)))
		if (compat_qos_displaces(of, r->id))
			list_keep(s, begin, r->name);
	slurm_list_iterator_destroy(it);
	return list_kept(s, begin);
}

/* Slurm's list has ids as text. */
static const char *keep_qos_names(struct strings *s, list_t *ids, list_t *qos)
{
	list_itr_t *it = ids ? slurm_list_iterator_create(ids) : NULL;
	size_t begin = s->used;
	const char *id;

	while (it && (id = slurm_list_next(it)))
		list_keep(s, begin, name_of(qos, strtoll(id, NULL, 10)));
	if (it)
		slurm_list_iterator_destroy(it);
	return list_kept(s, begin);
}

static void qos_fill(struct site_qos *v, const slurmdb_qos_rec_t *r, list_t *qos, struct strings *s)
{
	char words[WORDS_MAX];

	memset(v, 0, sizeof(*v));
	v->name = strings_keep(s, r->name);
	v->priority = r->priority == NO_VAL || r->priority == INFINITE ? 0 : r->priority;
	v->preempt_mode = strings_keep(s, words_of(r->preempt_mode, preempt_words, COUNT(preempt_words),
		"cluster", words));
	v->preempt = keep_preempted(s, r, qos);
	v->exempt_s = r->preempt_exempt_time == NO_VAL || r->preempt_exempt_time == INFINITE ?
		SITE_UNSET : (int64_t)r->preempt_exempt_time;
	v->grace_s = r->grace_time == NO_VAL || r->grace_time == INFINITE ? 0 : r->grace_time;
}

static void association_fill(struct site_association *v, const slurmdb_assoc_rec_t *r, list_t *qos,
	struct strings *s)
{
	memset(v, 0, sizeof(*v));
	v->account = strings_keep(s, r->acct);
	v->user = strings_keep(s, r->user);
	v->parent = v->user ? NULL : strings_keep(s, r->parent_acct);
	v->partition = strings_keep(s, r->partition);
	v->qos = keep_qos_names(s, r->qos_list, qos);
	v->default_qos = strings_keep(s, r->def_qos_id && r->def_qos_id < INFINITE - 1 ?
		name_of(qos, r->def_qos_id) : NULL);
}

/* Called twice, see internal.h. */
static void accounts_fill(struct site_accounts *v, const struct rows *from, struct strings *s)
{
	list_itr_t *qos = slurm_list_iterator_create(from->qos);
	list_itr_t *rows = slurm_list_iterator_create(from->associations);
	slurmdb_assoc_rec_t *a;
	slurmdb_qos_rec_t *q;

	s->used = v->qos_count = v->count = 0;
	while ((q = slurm_list_next(qos)))
		qos_fill(&v->qos[v->qos_count++], q, from->qos, s);
	while ((a = slurm_list_next(rows)))
		association_fill(&v->rows[v->count++], a, from->qos, s);
	slurm_list_iterator_destroy(qos);
	slurm_list_iterator_destroy(rows);
}

static struct site_accounts *accounts_from(const struct rows *from)
{
	struct site_accounts *v = calloc(1, sizeof(*v));
	struct strings s = { 0 };

	if (!v)
		return NULL;
	v->qos = calloc((size_t)slurm_list_count(from->qos) + 1, sizeof(*v->qos));
	v->rows = calloc((size_t)slurm_list_count(from->associations) + 1, sizeof(*v->rows));
	if (!v->qos || !v->rows)
		goto fail;
	accounts_fill(v, from, &s);
	v->strings = s.at = malloc(s.used + 1);
	if (!s.at)
		goto fail;
	accounts_fill(v, from, &s);
	return v;
fail:
	site_accounts_free(v);
	return NULL;
}

static int rows_load(void *connection, char *cluster, struct rows *out, struct fault *why)
{
	slurmdb_assoc_cond_t of_cluster;
	slurmdb_qos_cond_t all;

	memset(&of_cluster, 0, sizeof(of_cluster));
	memset(&all, 0, sizeof(all));
	errno = 0;
	out->qos = slurmdb_qos_get(connection, &all);
	if (!out->qos)
		return slurm_link_fail(why, "cannot read the QOS from slurmdbd");
	of_cluster.cluster_list = slurm_list_create(NULL);
	slurm_list_append(of_cluster.cluster_list, cluster);
	out->associations = slurmdb_associations_get(connection, &of_cluster);
	if (!out->associations)
		slurm_link_fail(why, "cannot read the associations from slurmdbd");
	slurm_list_destroy(of_cluster.cluster_list);
	return out->associations ? 0 : -1;
}

/* errno is the caller's. */
static void rows_drop(struct rows *r)
{
	if (r->qos)
		slurm_list_destroy(r->qos);
	if (r->associations)
		slurm_list_destroy(r->associations);
}

static int accounts_ask(char *cluster, struct site_accounts **out, struct fault *why)
{
	struct rows rows = { NULL, NULL };
	void *connection;
	uint16_t flags = 0;
	int rv, saved;

	errno = 0;
	connection = slurmdb_connection_get(&flags);
	if (!connection)
		return slurm_link_fail(why, "cannot connect to slurmdbd");
	rv = rows_load(connection, cluster, &rows, why);
	if (rv == 0) {
		struct site_accounts *v = accounts_from(&rows);

		if (v)
			*out = v;
		else
			rv = fault_errno(why, ENOMEM, "out of memory for the associations");
	}
	saved = errno;
	rows_drop(&rows);
	slurmdb_connection_close(&connection);
	errno = saved;
	return rv;
}

int slurm_link_site_accounts(struct slurm_link *l, struct site_accounts **out, struct fault *why)
{
	struct slurm_facts facts;

	if (!l->cluster[0] && slurm_link_facts(l, &facts, why) < 0)
		return -1;
	return accounts_ask(l->cluster, out, why);
}

void site_accounts_free(struct site_accounts *a)
{
	int saved = errno;

	if (a) {
		free(a->qos);
		free(a->rows);
		free(a->strings);
	}
	free(a);
	errno = saved;
}
