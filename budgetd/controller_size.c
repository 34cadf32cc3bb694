/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_size.c - the GPUs that a run has: as AllocTRES or the GRES details name them, and as they change
 * while it goes on. */
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/rates.h"
#include "lib/tres.h"
#include <errno.h>
#include <string.h>

static bool names_gpus(const struct gpu_count *c)
{
	return c->total + c->shards + c->mps > 0;
}

int pass_gpus_given(const struct job_view *j, struct gpu_count *out, const char **told, struct fault *why)
{
	*told = j->tres_alloc;
	if (j->tres_alloc && tres_read(j->tres_alloc, out, why) < 0)
		return -1;
	if (j->tres_alloc && (names_gpus(out) || !j->gres_detail))
		return 0;
	*told = j->gres_detail ? j->gres_detail : "";
	return tres_read(j->gres_detail, out, why);
}

struct resizing {
	struct run *run;
	int64_t at, gpus;
	amount_t price;
	const char *tres;
};

static int resize_run(struct pass *p, void *arg, struct fault *why)
{
	struct resizing *x = arg;

	return run_resize(p->b->ledger, x->run, x->at, x->gpus, x->price, x->tres, p->now, why) < 0 ? -1 : 0;
}

/* A job that changed its size pays for each size: the parts are of one run, with one start (doc/model.md, 4).
 * What it costs tells a change, not the whole GPUs: shards and MPS have a price, and a job that gave all back
 * has none. */
static int follow_size(struct pass *p, struct run *r, const struct gpu_count *given, const char *tres,
	int64_t at, struct fault *why)
{
	struct resizing x = { .run = r, .at = at, .gpus = given->total, .tres = tres };
	int64_t before = r->gpus;
	amount_t was = r->price;

	/* the rate of a run is that of its start */
	if (rates_price(p->b->rates, given, r->start, &x.price) < 0)
		return fault_errno(why, EOVERFLOW, "the price of job %s is more than can be counted",
			r->label);
	if (x.gpus == r->gpus && x.price == r->price)
		return 0;
	if (pass_write(p, LEDGER_MONEY, resize_run, &x, why) < 0)
		return -1;
	if (before != x.gpus || was != x.price)
		log_info("job %s went from %jd to %jd GPUs, from %jd to %jd units a second", r->label,
			(intmax_t)before, (intmax_t)x.gpus, (intmax_t)was, (intmax_t)x.price);
	return 0;
}

/* Where the site does not track GPUs no AllocTRES names any, and the GRES details are gone with the end: that
 * there are none is a size only when what the run had was read from AllocTRES. */
static bool tells_a_size(const struct run *r, const struct gpu_count *given)
{
	return names_gpus(given) || strchr(r->tres, '=');
}

int pass_follow_size(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	struct gpu_count given = {0};
	const char *told;

	if (j->resized <= r->start || !(j->tres_alloc || j->gres_detail))
		return 0;
	if (pass_gpus_given(j, &given, &told, why) < 0)
		return -1;
	return tells_a_size(r, &given) ? follow_size(p, r, &given, told, j->resized, why) : 0;
}

int pass_follow_size_by_row(struct pass *p, struct run *r, const struct run_row *row, struct fault *why)
{
	struct gpu_count given = {0};

	if (row->effective_start <= r->start || !row->tres_alloc)
		return 0;
	if (tres_read(row->tres_alloc, &given, why) < 0)
		return -1;
	return tells_a_size(r, &given) ? follow_size(p, r, &given, row->tres_alloc, row->effective_start, why)
		: 0;
}
