/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote.c - what a submission would get and cost (quote.h) */
#include "lib/quote.h"
#include "lib/duration.h"
#include <errno.h>

void quote_init(struct quote *q)
{
	*q = (struct quote){.clear = true,
		.array_tasks = 1,
		.time_limit_s = QUOTE_NOT_KNOWN,
		.rule = "no GPU is asked for"};
}

static int64_t longer(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Two options that exclude each other are not clear even where they agree. */
static bool is_clear(const struct gpu_request *r)
{
	return r->exact || (r->at_least && r->gpus_min == r->gpus_max);
}

static int add_gpus(struct quote *q, const struct gpu_request *r, struct fault *why)
{
	for (int i = 0; i < r->gpus.ntypes; i++)
		if (gpu_count_add(&q->gpus, r->gpus.types[i].type, r->gpus.types[i].count) < 0)
			return fault_set(why, "more types of GPUs than can be told apart");
	q->gpus.shards += r->gpus.shards;
	q->gpus.mps += r->gpus.mps;
	q->gpus_min += r->gpus_min;
	q->gpus_max += r->gpus_max;
	q->array_tasks = longer(q->array_tasks, r->array_tasks);
	if ((q->clear || !is_clear(r)) &&
		(r->gpus_max > 0 || r->gpus.shards > 0 || r->gpus.mps > 0 || r->at_least))
		q->rule = r->rule; /* what is not clear needs the explanation most */
	q->clear = q->clear && is_clear(r);
	return 0;
}

/* The price of all tasks when each runs into its time limit. */
static int price_whole(const struct quote_part *part, const struct admission *a, amount_t *out)
{
	amount_t per_task;

	if (a->tier == TIER_FREE) {
		*out = 0;
		return 0;
	}
	if (amount_price(1, part->time_limit_s, part->price, &per_task) < 0)
		return -1;
	errno = EOVERFLOW;
	return __builtin_mul_overflow(per_task, part->request->array_tasks, out) ? -1 : 0;
}

static int add_price(struct quote *q, const struct quote_part *part, const struct admission *a)
{
	bool limited = part->time_limit_s != QUOTE_NOT_KNOWN && part->time_limit_s != DURATION_UNLIMITED;
	amount_t whole = 0;

	if (limited && price_whole(part, a, &whole) < 0)
		return -1;
	if (!limited && part->request->gpus_max > 0)
		q->whole = QUOTE_NOT_KNOWN;
	else if (q->whole != QUOTE_NOT_KNOWN && amount_add(q->whole, whole, &q->whole) < 0)
		return -1;
	if (amount_add(q->hold, a->hold, &q->hold) < 0)
		return -1;
	/* Seconds times tasks: the price of both is the same. */
	return part->price == 0 ? 0 : amount_add(q->hold_gpu_seconds,
		a->hold / part->price * part->request->gpus_max, &q->hold_gpu_seconds);
}

int quote_add(struct quote *q, const struct quote_part *part, const struct admission_rules *rules,
	struct fault *why)
{
	struct admission_question question = {.request = part->request,
		.options = part->options,
		.price = part->price,
		.time_limit_s =
			part->time_limit_s == QUOTE_NOT_KNOWN ? DURATION_UNLIMITED : part->time_limit_s};
	struct quote sum = *q;
	struct admission a;

	if (admission_price(&question, rules, &a, why) < 0 || add_gpus(&sum, part->request, why) < 0)
		return -1;
	if (add_price(&sum, part, &a) < 0)
		return fault_errno(
			why, EOVERFLOW, "the job costs more GPU-hours than can be counted; ask for fewer");
	sum.time_limit_s = longer(sum.time_limit_s, part->time_limit_s);
	sum.min_runtime_s = longer(sum.min_runtime_s, part->request->gpus_max > 0 ? a.min_runtime_s : 0);
	*q = sum;
	return 0;
}
