/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_health.c - is the daemon well, and what does it know of Slurm. */
#include "config.h"
#include "books/schema.h"
#include "budgetd/budgetd.h"
#include "budgetd/cluster_state.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/ledger.h"
#include "budgetd/notices.h"
#include "budgetd/routes.h"

/* How busy GPUs are, where somebody looks. */
static void put_gpus(struct request *rq, const struct cluster_health *h)
{
	struct gpu_watch_state w;

	gpu_watch_state(rq->b->gpus, &w);
	put_text(rq->reply, "prometheus", w.text[0] ? w.text : NULL);
	put_int_or_null(rq->reply, "gpus_watched", (int64_t)w.gpus, !w.text[0]);
	put_int_or_null(rq->reply, "gpus_used", h->used_gpus, !w.text[0]);
	put_int_or_null(rq->reply, "gpus_unseen", h->unseen_gpus, !w.text[0]);
	put_int_or_null(rq->reply, "idle_jobs", (int64_t)h->idle_jobs, !w.text[0]);
}

/* How telling people goes, where they are told. */
static void put_notices(struct request *rq)
{
	struct notices_state n;

	notices_state(rq->b->notices, &n);
	put_text(rq->reply, "notices", n.text[0] ? n.text : NULL);
	put_int_or_null(rq->reply, "notices_waiting", n.counts.waiting, !n.text[0]);
	put_int_or_null(rq->reply, "notices_failed", n.counts.failed, !n.text[0]);
}

int health_get(struct request *rq, struct fault *why)
{
	struct cluster_health h;
	struct fault unwritten;

	(void)why;
	cluster_state_health(rq->b->cluster, &h);
	rq->reply = json_object_new_object();
	put_text(rq->reply, "version", PACKAGE_VERSION);
	put_int(rq->reply, "schema", (int64_t)schema_steps.count);
	put_text(rq->reply, "cluster", h.cluster[0] ? h.cluster : NULL);
	put_text(rq->reply, "slurm_version", h.version[0] ? h.version : NULL);
	put_int_or_null(rq->reply, "last_pass_at", h.last_pass_at, h.last_pass_at == 0);
	put_int(rq->reply, "last_pass_ms", h.last_pass.all_ms);
	put_int(rq->reply, "last_pass_looked_ms", h.last_pass.looked_ms);
	put_int(rq->reply, "last_pass_decided_ms", h.last_pass.decided_ms);
	put_int(rq->reply, "last_pass_published_ms", h.last_pass.published_ms);
	put_int(rq->reply, "jobs", (int64_t)h.jobs);
	put_int(rq->reply, "lost_runs", (int64_t)h.lost_runs);
	put_int(rq->reply, "names_left_out", (int64_t)h.names_left_out);
	put_int(rq->reply, "differing_runs", (int64_t)h.differences);
	put_int(rq->reply, "gpus", h.gpus);
	put_int(rq->reply, "healthy_gpus", h.healthy_gpus);
	put_gpus(rq, &h);
	put_notices(rq);
	put_text(rq->reply, "books", ledger_writes(rq->b->ledger, &unwritten) < 0 ? unwritten.text : "ok");
	put_text(rq->reply, "slurm", h.error[0] ? h.error : h.last_pass_at ? "ok" : "not asked yet");
	return 0;
}
