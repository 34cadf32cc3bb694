/* SPDX-License-Identifier: GPL-2.0-or-later
 * accounts.c - who may use which account, and which one is the default, as slurmdbd has it
 *
 * At submission slurmctld's own cache tells the plugin; a quote is asked for outside of slurmctld. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

static bool is_user(const slurmdb_assoc_rec_t *r)
{
	return r->user && *r->user && r->acct && *r->acct;
}

/* Called twice, see internal.h. */
static void fill_rows(struct account_table *t, list_t *associations, struct strings *s)
{
	list_itr_t *it = slurm_list_iterator_create(associations);
	const slurmdb_assoc_rec_t *r;

	s->used = 0;
	t->count = 0;
	while ((r = slurm_list_next(it))) {
		if (!is_user(r))
			continue;
		t->rows[t->count++] = (struct account_row){.user = strings_keep(s, r->user),
			.account = strings_keep(s, r->acct),
			.is_default = r->is_def == 1};
	}
	slurm_list_iterator_destroy(it);
}

static int by_user(const void *a, const void *b)
{
	const struct account_row *x = a, *y = b;
	int order = strcmp(x->user, y->user);

	return order ? order : strcasecmp(x->account, y->account);
}

/* Associations that are limited to a partition are several of one user in one account. */
static void merge_rows(struct account_table *t)
{
	size_t n = 0;

	qsort(t->rows, t->count, sizeof(*t->rows), by_user);
	for (size_t i = 0; i < t->count; i++) {
		if (n && by_user(&t->rows[n - 1], &t->rows[i]) == 0)
			t->rows[n - 1].is_default |= t->rows[i].is_default;
		else
			t->rows[n++] = t->rows[i];
	}
	t->count = n;
}

static struct account_table *table_from(list_t *associations)
{
	struct account_table *t = calloc(1, sizeof(*t));
	struct strings s = {0};

	if (!t)
		return NULL;
	t->rows = calloc((size_t)slurm_list_count(associations) + 1, sizeof(*t->rows));
	if (!t->rows)
		goto fail;
	fill_rows(t, associations, &s);
	t->strings = s.at = malloc(s.used + 1);
	if (!s.at)
		goto fail;
	fill_rows(t, associations, &s);
	merge_rows(t);
	return t;
fail:
	account_table_free(t);
	return NULL;
}

/* NULL and errno: Slurm gives an empty list, never none, when there is nobody. */
static list_t *associations_of(void *connection, char *cluster)
{
	slurmdb_assoc_cond_t cond;
	list_t *rows;
	int saved;

	memset(&cond, 0, sizeof(cond));
	compat_without_parents(&cond);
	cond.cluster_list = slurm_list_create(NULL);
	slurm_list_append(cond.cluster_list, cluster);
	errno = 0;
	rows = slurmdb_associations_get(connection, &cond);
	saved = errno;
	slurm_list_destroy(cond.cluster_list);
	errno = saved;
	return rows;
}

int slurm_link_accounts(struct slurm_link *l, struct account_table **out, struct fault *why)
{
	struct account_table *t;
	void *connection;
	list_t *rows;

	if (dbd_own_cluster(l, why) < 0 || dbd_connection(l, &connection, why) < 0)
		return -1;
	rows = associations_of(connection, l->cluster);
	if (!rows) {
		slurm_link_fail(why, "cannot read the accounts of users from slurmdbd");
		dbd_drop(l);
		return -1;
	}
	t = table_from(rows);
	slurm_list_destroy(rows);
	if (!t)
		return fault_errno(why, ENOMEM, "out of memory for the accounts of users");
	*out = t;
	return 0;
}
