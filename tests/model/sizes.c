/* SPDX-License-Identifier: GPL-2.0-or-later
 * sizes.c - what was allocated decides what a run costs, however Slurm tells it: shards, a size without GPUs,
 * a site that does not track GPUs. The random histories know whole GPUs only; these are told one by one.
 *
 * A run of ten minutes that changes its size after five, or does not; seen as it runs, or found in slurmdbd
 * after it left slurmctld's table. */
#include "tests/model/history.h"
#include <stdio.h>
#include <string.h>

#define EPOCH  (H_MONTH + 86400)
#define BEGIN  (EPOCH + 60)
#define CHANGE (BEGIN + 300)
#define END    (BEGIN + 600)

#define NO_GPUS "cpu=1,mem=2G,node=1"

static const struct story {
	const char *what, *first, *then; /* AllocTRES; then NULL: it stays as it is */
	const char *detail, *detail_then;
	bool seen; /* while it runs */
	int64_t units;
} stories[] = {
	{"shards that ran while nobody looked", NO_GPUS ",gres/shard=4", NULL, NULL, NULL, false, 600 * 1000},
	{"MPS that ran while nobody looked", NO_GPUS ",gres/mps=100", NULL, NULL, NULL, false, 600 * 100 * 10},
	{"shards, fewer of them", NO_GPUS ",gres/shard=4", NO_GPUS ",gres/shard=2", NULL, NULL, true,
		300 * 1000 + 300 * 500},
	{"fewer shards while nobody looked", NO_GPUS ",gres/shard=4", NO_GPUS ",gres/shard=2", NULL, NULL, false,
		300 * 1000 + 300 * 500},
	{"GPUs and shards, then GPUs alone", NO_GPUS ",gres/gpu=1,gres/shard=4", NO_GPUS ",gres/gpu=1", NULL, NULL,
		true, 300 * 2000 + 300 * 1000},
	{"all GPUs given back", NO_GPUS ",gres/gpu=2", NO_GPUS, NULL, NULL, true, 300 * 2000},
	{"all GPUs given back while nobody looked", NO_GPUS ",gres/gpu=2", NO_GPUS, NULL, NULL, false, 300 * 2000},
	{"no GPU in AllocTRES: the GRES details have them", NO_GPUS, NULL, "gpu:2(IDX:0-1)", NULL, true, 600 * 2000},
	{"no GPU in AllocTRES: a change of the GRES details", NO_GPUS, NO_GPUS, "gpu:2(IDX:0-1)", "gpu:1(IDX:0)", true,
		300 * 2000 + 300 * 1000},
};

static void look(struct bench *b, struct slurm_link *w, int64_t at)
{
	w->now = at;
	bench_pass(b, at);
}

/* It was asked about and answered, for a GPU: that is the hold, which what it gets is fitted to. */
static void submit(struct bench *b, struct w_job *j)
{
	struct question q = {.account = "p0", .partition = "gpu", .uid = W_UID, .time_limit_s = 3600,
		.requeueable = true};
	struct verdict v;

	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:1";
	q.gpus.min_nodes = q.gpus.max_nodes = 1;
	v = bench_ask(b, EPOCH + 30, &q);
	bench_write(b);
	snprintf(j->admin_comment, sizeof(j->admin_comment), "%s", v.token);
}

static void run(struct bench *b, struct slurm_link *w, const struct story *s)
{
	struct w_job *j = &w->jobs[0];

	*j = (struct w_job){.state = W_RUNNING,
		.gpus = 1,
		.type = O_ANY_TYPE,
		.limit = 3600,
		.submit = EPOCH + 30,
		.start = BEGIN,
		.alloc = s->first,
		.first_alloc = s->first,
		.detail = s->detail,
		.qos = "funded"};
	w->njobs = 1;
	submit(b, j);
	if (s->seen)
		look(b, w, BEGIN + 10);
	if (s->then) {
		j->resized = CHANGE;
		j->alloc = s->then;
		j->detail = s->detail_then;
	}
	if (s->seen)
		look(b, w, CHANGE + 10);
	w->now = END;
	world_end(w, 0, END, false, 0, false);
	if (s->seen)
		look(b, w, END + 10);
	for (int i = 1; i <= 3; i++)
		look(b, w, END + 10 * MIN_JOB_AGE_S + 60 * i);
}

static int64_t ask(struct bench *b, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(b->look, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return value;
}

static bool as_told(struct bench *b, const struct story *s)
{
	static const char open_sql[] = "SELECT count(*) FROM run WHERE ended IS NULL";
	int64_t units = ask(b, "SELECT coalesce(sum(units), 0) FROM charge"),
		runs = ask(b, "SELECT count(*) FROM run");
	const char *unsound = bench_verify(b);

	if (units == s->units && runs == 1 && ask(b, open_sql) == 0 && !unsound)
		return true;
	printf("%s: %jd units in %jd runs, %jd of them open; %jd units are due%s%s\n", s->what,
		(intmax_t)units, (intmax_t)runs, (intmax_t)ask(b, open_sql), (intmax_t)s->units,
		unsound ? "; verify: " : "", unsound ? unsound : "");
	return false;
}

static bool tell_story(struct bench *b, const struct story *s)
{
	const struct o_allocation terms = {.node = 0};
	struct slurm_link world = {.now = EPOCH};
	int64_t entry;
	bool ok;

	bench_log_to(NULL);
	bench_begin(b, &world, true);
	bench_project(b, 0, O_NONE, false);
	if (bench_rate(b, EPOCH - 1, BENCH_SHARD, EPOCH, 250) < 0 ||
		bench_rate(b, EPOCH - 1, BENCH_MPS, EPOCH, 10) < 0 ||
		bench_allocate(b, EPOCH, &terms, 100 * AMOUNT_GPU_HOUR, &entry) < 0) {
		printf("%s: %s\n", s->what, b->why.text);
		return false;
	}
	look(b, &world, EPOCH);
	run(b, &world, s);
	ok = as_told(b, s);
	bench_end(b);
	return ok;
}

int main(void)
{
	const size_t n = sizeof(stories) / sizeof(stories[0]);
	struct bench b;
	size_t told = 0;

	bench_open(&b);
	for (size_t i = 0; i < n; i++)
		told += tell_story(&b, &stories[i]);
	bench_close(&b);
	printf("%zu of %zu stories end as they are told\n", told, n);
	return told == n ? 0 : 1;
}
