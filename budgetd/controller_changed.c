/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_changed.c - a job in the queue that was changed: priced as it is now, moved to the project that
 * it is of now.
 *
 * A change that was accepted has its hours already (admit_change.c); it is waited for, and what it took goes
 * back when Slurm did not make it. */
#include "budgetd/admit.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/tres.h"
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

static void hash_text(struct sha256_ctx *c, const char *text)
{
	sha256_update(c, text ? strlen(text) + 1 : 1, (const uint8_t *)(text ? text : ""));
}

#define SIGNATURE_MAX (2 * SHA256_DIGEST_SIZE + 1)

/* The job as it is priced, whole: when this changes the job was modified, and the difference is checked
 * anew. */
static void signature(const struct job_view *j, char out[SIGNATURE_MAX])
{
	const char *gres = j->tres_req ? strstr(j->tres_req, "gres/") : NULL;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx c;
	char numbers[64];

	snprintf(numbers, sizeof(numbers), "%jd|%u-%u", (intmax_t)j->time_limit_s, j->request.min_nodes,
		j->request.max_nodes);
	sha256_init(&c);
	hash_text(&c, j->account);
	hash_text(&c, j->partition);
	hash_text(&c, gres);
	hash_text(&c, numbers);
	sha256_digest(&c, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		sprintf(out + 2 * i, "%02x", digest[i]);
}

/* Price the job as it is now, with the minimum runtime that was declared at submission. */
static int reprice(struct pass *p, struct waiting *w, struct admission *out, struct fault *why)
{
	struct question q;
	struct priced priced;
	struct admission_question aq;
	struct gpu_count asked;

	question_from_job(w->job, &q);
	q.comment = q.admin_comment = NULL;
	if (admit_price(p->b, &q, p->now, &priced, why) < 0)
		return -1;
	/* Slurm's own count, once it has one, is what it will give. */
	if (tres_read(w->job->tres_req, &asked, NULL) == 0 && asked.total > 0 &&
		admit_price_count(p->b, &q, &asked, p->now, &priced, why) < 0)
		return -1;
	priced.request.array_tasks = 1;
	priced.options.min_runtime_s = w->admission.min_runtime_s;
	aq = (struct admission_question){ .request = &priced.request, .options = &priced.options,
		.time_limit_s = priced.time_limit_s, .price = priced.price };
	return admission_price(&aq, &priced.rules, out, why);
}

static int move_project(struct pass *p, struct waiting *w, struct fault *why)
{
	struct project project;
	struct hold_row pool;
	int have;

	if (!w->job->account || pass_same_project(p, w->job, w->admission.project) ||
		project_find(p->b->ledger, w->job->account, &project, NULL) != 1)
		return 0;
	have = hold_pool(p->b->ledger, w->admission.id, &pool, why);
	if (have < 0 ||
		(have && hold_close(p->b->ledger, &pool, p->now, "moved to another project", why) < 0))
		return -1;
	w->admission.project = project.id;
	return 0;
}

static void price_as_it_is(struct pass *p, struct waiting *w)
{
	struct fault problem = {0};
	struct admission priced;

	if (reprice(p, w, &priced, &problem) < 0) {
		log_warning("job %u was changed to something that cannot be priced: %s", w->job->job_id,
			problem.text);
		return;
	}
	w->admission.per_task = priced.per_task;
	w->admission.min_runtime_s = priced.min_runtime_s;
}

bool pass_is_as_seen(const struct waiting *w)
{
	char now[SIGNATURE_MAX];

	signature(w->job, now);
	return strcmp(now, w->admission.seen) == 0;
}

/* A change was accepted and Slurm does not show it: the table may be older than the answer, or Slurm refused
 * it. Then it has its hours for as long as a submission of which no job came. */
static bool change_is_awaited(const struct pass *p, const struct admission_row *a, bool shown)
{
	if (a->changing_at >= p->now)
		return true;
	return !shown && a->changing_at > p->now - p->b->settings->unbound_hold_s;
}

/* The first look only remembers: the price was made a moment ago from the question itself. */
int pass_follow_change(struct pass *p, struct waiting *w, struct fault *why)
{
	struct admission_row *a = &w->admission;
	char now[SIGNATURE_MAX];
	bool shown;

	signature(w->job, now);
	shown = strcmp(now, a->seen) != 0;
	if ((!shown && !a->changing_at) || (a->changing_at && change_is_awaited(p, a, shown)))
		return 0;
	if (!shown)
		log_info("job %u: a change of it was accepted and Slurm did not make it, what it took goes back",
			w->job->job_id);
	if (a->seen[0])
		price_as_it_is(p, w);
	/* at the first look too: it may have been changed before we saw it */
	if (move_project(p, w, why) < 0)
		return -1;
	a->changing_at = 0;
	memcpy(a->seen, now, sizeof(now));
	return admission_update(p->b->ledger, a, why);
}
