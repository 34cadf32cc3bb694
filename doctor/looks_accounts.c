/* SPDX-License-Identifier: GPL-2.0-or-later
 * looks_accounts.c - QOS and associations in slurmdbd, and the jobs that are there now
 *
 * What is wrong at an account is wrong for all below it that inherit: only the place where it begins is told
 * and mended. Lines go to sacctmgr word by word, so none holds a blank or a quote: names of QOS and accounts
 * cannot. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "doctor/looks.h"

#define FUNDED_PRIORITY 1000
#define ROOT "root"

/* --- the QOS ---------------------------------------------------------------------------------------- */

enum tier { FREE, STILL, FUNDED, TIERS };	/* funded comes last: it names free */

static const char *tier_name(const struct facts *f, enum tier t)
{
	const char *const names[TIERS] = { f->settings->qos_free, f->settings->qos_funded_still,
		f->settings->qos_funded };

	return names[t];
}

static const struct {
	int64_t priority;
	const char *mode;
} tier_table[TIERS] = {
	[FREE] = { 0, "requeue" },
	[STILL] = { FUNDED_PRIORITY, "requeue" },
	[FUNDED] = { FUNDED_PRIORITY, "requeue,within" },
};

/* NULL when it is not there. */
static const struct site_qos *tier_qos(const struct facts *f, enum tier t)
{
	for (size_t i = 0; f->accounts && i < f->accounts->qos_count; i++)
		if (f->accounts->qos[i].name && !strcasecmp(f->accounts->qos[i].name, tier_name(f, t)))
			return &f->accounts->qos[i];
	return NULL;
}

static bool tiers_there(const struct facts *f)
{
	for (int t = 0; t < TIERS; t++)
		if (!tier_qos(f, t))
			return false;
	return true;
}

/* As sacctmgr takes it: 00:15:00, 1-00:00:00. */
static void print_time(FILE *to, int64_t s)
{
	if (s >= 86400)
		fprintf(to, "%" PRId64 "-", s / 86400);
	fprintf(to, "%02d:%02d:%02d", (int)(s / 3600 % 24), (int)(s / 60 % 60), (int)(s % 60));
}

static void print_new_qos(const struct facts *f, enum tier t, FILE *mend)
{
	fprintf(mend, "add qos %s set Priority=%" PRId64 " PreemptMode=%s", tier_name(f, t),
		tier_table[t].priority, tier_table[t].mode);
	if (t == FUNDED) {
		fprintf(mend, " Preempt=%s PreemptExemptTime=", tier_name(f, FREE));
		print_time(mend, f->settings->default_min_runtime_s);
	}
	fputc('\n', mend);
}

enum look look_qos_exist(const struct facts *f, FILE *found, FILE *mend)
{
	bool all = tiers_there(f);
	size_t missing = 0;

	if (!f->accounts)
		return LOOK_UNKNOWN;
	fputs(all ? "the QOS are there: " : "no QOS ", found);
	for (int t = 0; t < TIERS; t++) {
		if (!all && tier_qos(f, t))
			continue;
		names_add(found, missing++, tier_name(f, t));
		print_new_qos(f, t, mend);
	}
	return all ? LOOK_FINE : LOOK_BAD;
}

/* One attribute of each of the three: `good` says whether the tier's is right, after printing its value. */
typedef bool attribute_fn(
	const struct facts *f, enum tier t, const struct site_qos *q, FILE *found, FILE *mend);

static enum look each_tier(const struct facts *f, attribute_fn *good, FILE *found, FILE *mend)
{
	enum look rv = LOOK_FINE;

	if (!tiers_there(f))
		return LOOK_UNKNOWN;
	for (int t = 0; t < TIERS; t++) {
		if (t)
			fputs(", ", found);
		fprintf(found, "%s has ", tier_name(f, t));
		if (!good(f, t, tier_qos(f, t), found, mend))
			rv = LOOK_BAD;
	}
	return rv;
}

/* Any numbers do, as long as the funded ones are equal and above the free one. */
static bool priority_good(
	const struct facts *f, enum tier t, const struct site_qos *q, FILE *found, FILE *mend)
{
	const struct site_qos *funded = tier_qos(f, FUNDED), *free = tier_qos(f, FREE);
	bool above = funded->priority > free->priority,
	     good = above && (t != STILL || q->priority == funded->priority);
	int64_t want = above ? funded->priority : tier_table[t].priority;

	fprintf(found, "Priority=%" PRId64, q->priority);
	if (!good && q->priority != want)
		fprintf(mend, "modify qos %s set Priority=%" PRId64 "\n", q->name, want);
	return good;
}

enum look look_qos_priority(const struct facts *f, FILE *found, FILE *mend)
{
	return each_tier(f, priority_good, found, mend);
}

/* What Slurm displaces by itself must come back to the queue; within only where the daemon plans for it. */
static bool mode_good(const struct facts *f, enum tier t, const struct site_qos *q, FILE *found, FILE *mend)
{
	bool requeue = list_has(q->preempt_mode, "requeue"), within = list_has(q->preempt_mode, "within");

	(void)f;
	fprintf(found, "PreemptMode=%s", q->preempt_mode ? q->preempt_mode : "cluster");
	if (requeue && within == (t == FUNDED))
		return true;
	fprintf(mend, "modify qos %s set PreemptMode=%s\n", q->name, tier_table[t].mode);
	return false;
}

enum look look_qos_mode(const struct facts *f, FILE *found, FILE *mend)
{
	return each_tier(f, mode_good, found, mend);
}

/* funded displaces free; the others nobody of ours; a QOS of the site none of the protected ones. */
static bool displaces_as_planned(const struct facts *f, const struct site_qos *q)
{
	bool funded = q == tier_qos(f, FUNDED),
	     ours = funded || q == tier_qos(f, FREE) || q == tier_qos(f, STILL);

	if (list_has(q->preempt, tier_name(f, STILL)) || list_has(q->preempt, tier_name(f, FUNDED)))
		return false;
	return list_has(q->preempt, tier_name(f, FREE)) == funded || !ours;
}

/* "-=" takes one name of a list, "+=" adds one: what a site has beside them stays. */
static void mend_preempt(const struct facts *f, const struct site_qos *q, FILE *mend)
{
	bool funded = q == tier_qos(f, FUNDED);

	for (int t = 0; t < TIERS; t++)
		if (list_has(q->preempt, tier_name(f, t)) && (t != FREE || q == tier_qos(f, STILL) ||
			q == tier_qos(f, FREE)))
			fprintf(mend, "modify qos %s set Preempt-=%s\n", q->name, tier_name(f, t));
	if (funded && !list_has(q->preempt, tier_name(f, FREE)))
		fprintf(mend, "modify qos %s set Preempt+=%s\n", q->name, tier_name(f, FREE));
}

enum look look_qos_preempt(const struct facts *f, FILE *found, FILE *mend)
{
	size_t wrong = 0;

	if (!tiers_there(f))
		return LOOK_UNKNOWN;
	for (size_t i = 0; i < f->accounts->qos_count; i++) {
		const struct site_qos *q = &f->accounts->qos[i];

		if (displaces_as_planned(f, q))
			continue;
		fprintf(found, "%s%s has Preempt=%s", wrong++ ? ", " : "", q->name,
			q->preempt ? q->preempt : "(none)");
		mend_preempt(f, q, mend);
	}
	if (!wrong)
		fprintf(found, "%s has Preempt=%s", tier_name(f, FUNDED), tier_qos(f, FUNDED)->preempt);
	return wrong ? LOOK_BAD : LOOK_FINE;
}

enum look look_qos_exempt(const struct facts *f, FILE *found, FILE *mend)
{
	const struct site_qos *q = tier_qos(f, FUNDED);
	int64_t want = f->settings->default_min_runtime_s;

	if (!q || f->settings_error)
		return LOOK_UNKNOWN;
	fprintf(found, "%s has PreemptExemptTime=", q->name);
	if (q->exempt_s == SITE_UNSET)
		fputs("(none)", found);
	else
		print_time(found, q->exempt_s);
	fputs(", default_min_runtime is ", found);
	print_time(found, want);
	fprintf(mend, "modify qos %s set PreemptExemptTime=", q->name);
	print_time(mend, want);
	return q->exempt_s == want ? LOOK_FINE : LOOK_BAD;
}

static bool grace_good(const struct facts *f, enum tier t, const struct site_qos *q, FILE *found, FILE *mend)
{
	(void)f;
	(void)t;
	fputs("GraceTime=", found);
	print_time(found, q->grace_s);
	if (q->grace_s)
		fprintf(mend, "modify qos %s set GraceTime=0\n", q->name);
	return q->grace_s == 0;
}

enum look look_qos_grace(const struct facts *f, FILE *found, FILE *mend)
{
	return each_tier(f, grace_good, found, mend);
}

/* --- associations ----------------------------------------------------------------------------------- */

static bool may_use_tiers(const struct facts *f, const struct site_association *a)
{
	for (int t = 0; t < TIERS; t++)
		if (!list_has(a->qos, tier_name(f, t)))
			return false;
	return true;
}

static bool begins_free(const struct facts *f, const struct site_association *a)
{
	return a->default_qos && !strcasecmp(a->default_qos, tier_name(f, FREE));
}

static const struct site_association *account_row(const struct facts *f, const char *account)
{
	for (size_t i = 0; account && f->accounts && i < f->accounts->count; i++) {
		const struct site_association *a = &f->accounts->rows[i];

		if (!a->user && a->account && !strcasecmp(a->account, account))
			return a;
	}
	return NULL;
}

/* The row that this one inherits from; NULL for root. */
static const struct site_association *row_above(const struct facts *f, const struct site_association *a)
{
	return account_row(f, a->user ? a->account : a->parent);
}

static void modify_words(const struct site_association *a, FILE *mend)
{
	if (a->user)
		fprintf(mend, "modify user %s where account=%s", a->user, a->account);
	else
		fprintf(mend, "modify account %s", a->account);
	if (a->user && a->partition)
		fprintf(mend, " partition=%s", a->partition);
	fputs(" set ", mend);
}

/* Only what is missing, with "+=": other QOS of the site stay. */
static void mend_access(const struct facts *f, const struct site_association *a, FILE *mend)
{
	size_t missing = 0;

	modify_words(a, mend);
	fputs("qos+=", mend);
	for (int t = 0; t < TIERS; t++)
		if (!list_has(a->qos, tier_name(f, t)))
			fprintf(mend, "%s%s", missing++ ? "," : "", tier_name(f, t));
	if (!missing)
		fprintf(mend, "%s,%s,%s", tier_name(f, FREE), tier_name(f, STILL), tier_name(f, FUNDED));
	fputc('\n', mend);
}

static void mend_default(const struct facts *f, const struct site_association *a, FILE *mend)
{
	modify_words(a, mend);
	fprintf(mend, "DefaultQOS=%s\n", tier_name(f, FREE));
}

/* Before its QOS are there nothing can be said of the root account, but the line can be told. */
enum look look_root_qos(const struct facts *f, FILE *found, FILE *mend)
{
	const struct site_association *root = account_row(f, ROOT);

	if (!root)
		return LOOK_UNKNOWN;
	fprintf(found, "account root has qos=%s", root->qos ? root->qos : "(none)");
	mend_access(f, root, mend);
	return may_use_tiers(f, root) ? LOOK_FINE : tiers_there(f) ? LOOK_BAD : LOOK_UNKNOWN;
}

enum look look_root_default(const struct facts *f, FILE *found, FILE *mend)
{
	const struct site_association *root = account_row(f, ROOT);

	if (!root)
		return LOOK_UNKNOWN;
	fprintf(found, "account root has DefaultQOS=%s", root->default_qos ? root->default_qos : "(none)");
	mend_default(f, root, mend);
	return begins_free(f, root) ? LOOK_FINE : tiers_there(f) ? LOOK_BAD : LOOK_UNKNOWN;
}

typedef bool row_good_fn(const struct facts *f, const struct site_association *a);
typedef void row_mend_fn(const struct facts *f, const struct site_association *a, FILE *mend);

/* All rows below root where something begins to be wrong: the row above is still right. */
static enum look each_row_below(const struct facts *f, row_good_fn *good, row_mend_fn *mend_row,
	const char *all_well, FILE *found, FILE *mend)
{
	const struct site_association *root = account_row(f, ROOT);
	size_t wrong = 0;

	if (!root || !good(f, root))
		return LOOK_UNKNOWN;
	for (size_t i = 0; i < f->accounts->count; i++) {
		const struct site_association *a = &f->accounts->rows[i], *above = row_above(f, a);
		char name[256];

		if (good(f, a) || (above && !good(f, above)))
			continue;
		snprintf(name, sizeof(name), "%s%s %s%s", a->user ? "user " : "account",
			a->user ? a->user : "", a->user ? "in account " : "", a->account);
		names_add(found, wrong++, name);
		mend_row(f, a, mend);
	}
	names_end(found, wrong);
	if (!wrong)
		fputs(all_well, found);
	return wrong ? LOOK_BAD : LOOK_FINE;
}

enum look look_account_qos(const struct facts *f, FILE *found, FILE *mend)
{
	enum look rv = each_row_below(
		f, may_use_tiers, mend_access, "all may use the QOS of the tiers", found, mend);

	if (rv == LOOK_BAD)
		fputs(" may not use all QOS of the tiers", found);
	return rv;
}

enum look look_account_default(const struct facts *f, FILE *found, FILE *mend)
{
	enum look rv = each_row_below(
		f, begins_free, mend_default, "all have the QOS of the free tier", found, mend);

	if (rv == LOOK_BAD)
		fprintf(found, " has another DefaultQOS than %s", tier_name(f, FREE));
	return rv;
}

/* --- projects and jobs ------------------------------------------------------------------------------ */

static const struct fact_project *project_named(const struct facts *f, const char *name)
{
	for (size_t i = 0; name && i < f->project_count; i++)
		if (!strcasecmp(f->projects[i].name, name))
			return &f->projects[i];
	return NULL;
}

/* The nearest project above that is an account already. */
static const char *account_above(const struct facts *f, const struct fact_project *p)
{
	for (const char *above = p->parent; above;) {
		const struct fact_project *next = project_named(f, above);

		if (account_row(f, above))
			return above;
		above = next ? next->parent : NULL;
	}
	return ROOT;
}

enum look look_project_accounts(const struct facts *f, FILE *found, FILE *mend)
{
	size_t missing = 0;

	if (!f->accounts || !f->projects_known)
		return LOOK_UNKNOWN;
	for (size_t i = 0; i < f->project_count; i++) {
		const struct fact_project *p = &f->projects[i];

		if (!p->leaf || account_row(f, p->name))
			continue;
		fputs(missing ? "" : "no Slurm account for project ", found);
		names_add(found, missing++, p->name);
		fprintf(mend, "add account %s parent=%s\n", p->name, account_above(f, p));
	}
	names_end(found, missing);
	if (!missing)
		fprintf(found, "%zu projects, and each that can have jobs is an account", f->project_count);
	return missing ? LOOK_BAD : LOOK_FINE;
}

static bool account_met_before(const struct facts *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (f->jobs[i].account && !strcasecmp(f->jobs[i].account, f->jobs[n].account))
			return true;
	return false;
}

enum look look_job_accounts(const struct facts *f, FILE *found, FILE *mend)
{
	size_t unknown = 0;

	if (!f->conf || !f->projects_known)
		return LOOK_UNKNOWN;
	for (size_t i = 0; i < f->job_count; i++) {
		const char *account = f->jobs[i].account;

		if (!account || project_named(f, account) || account_met_before(f, i))
			continue;
		fputs(unknown ? "" : "jobs with GPUs in an account that is no project: ", found);
		names_add(found, unknown++, account);
		fprintf(mend, "budgetctl project add %s\n", account);
	}
	names_end(found, unknown);
	if (!unknown)
		fprintf(found, "%zu jobs with GPUs, all of projects", f->job_count);
	return unknown ? LOOK_BAD : LOOK_FINE;
}

static bool in_a_tier(const struct facts *f, const struct fact_job *j)
{
	for (int t = 0; t < TIERS; t++)
		if (j->qos && !strcasecmp(j->qos, tier_name(f, t)))
			return true;
	return false;
}

/* A requeued job is met by budgetd in the queue, and gets its tier there. */
enum look look_job_qos(const struct facts *f, FILE *found, FILE *mend)
{
	size_t other = 0;

	if (!f->conf)
		return LOOK_UNKNOWN;
	for (size_t i = 0; i < f->job_count; i++) {
		const struct fact_job *j = &f->jobs[i];
		char name[128];

		if (!j->running || in_a_tier(f, j))
			continue;
		snprintf(name, sizeof(name), "job %u in %.80s", j->id, j->qos ? j->qos : "no QOS");
		names_add(found, other++, name);
		fprintf(mend, "scontrol requeue %u\n", j->id);
	}
	names_end(found, other);
	if (!other)
		fputs("all running jobs with GPUs are in the QOS of a tier", found);
	return other ? LOOK_BAD : LOOK_FINE;
}
