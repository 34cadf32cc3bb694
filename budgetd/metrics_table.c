/* SPDX-License-Identifier: GPL-2.0-or-later
 * metrics_table.c - the one list of metrics, and how a row of it is written
 *
 * OpenMetrics 1.0 (RFC-like text of the OpenMetrics project): a family is told once, its samples stand
 * together, its unit is the end of its name, the samples of a counter end in `_total` while the family does
 * not, and `# EOF` is last. In the older text format the family of a counter has the name of its samples. */
#include "config.h"
#include "budgetd/metrics.h"
#include "budgetd/tally.h"
#include "lib/roff.h"
#include <inttypes.h>
#include <stdlib.h>

#define PREFIX "gpubudget_"
#define SCALE_UNITS 3			/* decimals of a GPU-second: units are thousandths of it */
#define SCALE_PPM 6
#define SCALE_US 6
#define SCALE_MS 3

struct metric_writer {
	FILE *to;
	enum metrics_format format;
	const struct metric_row *row;
};

/* --- one sample ----------------------------------------------------------------------------------- */

/* Text of a label: only these three are escaped. */
static void put_label(FILE *to, const char *name, const char *value)
{
	fprintf(to, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			putc('\\', to);
		if (*value == '\n')
			fputs("\\n", to);
		else
			putc(*value, to);
	}
	putc('"', to);
}

/* `v` has `scale` decimals: exact, whatever a double can hold. */
static void put_value(FILE *to, int64_t v, int scale)
{
	int64_t one = 1;

	for (int i = 0; i < scale; i++)
		one *= 10;
	if (v % one == 0)
		fprintf(to, " %" PRId64 "\n", v / one);
	else
		fprintf(to, " %s%" PRId64 ".%0*" PRId64 "\n", v < 0 ? "-" : "", imaxabs(v / one), scale,
			(int64_t)imaxabs(v % one));
}

struct label {
	const char *name, *value;	/* name NULL: behind the last */
};

static void put_sample(struct metric_writer *w, const char *suffix, const struct label *labels, int64_t v,
	int scale)
{
	fprintf(w->to, "%s%s%s", PREFIX, w->row->name, suffix);
	for (const struct label *l = labels; l && l->name; l++) {
		putc(l == labels ? '{' : ',', w->to);
		put_label(w->to, l->name, l->value);
	}
	if (labels && labels->name)
		putc('}', w->to);
	put_value(w->to, v, scale);
}

static void put(struct metric_writer *w, int64_t v, int scale)
{
	put_sample(w, w->row->type == METRIC_COUNTER ? "_total" : "", NULL, v, scale);
}

static void put_for(struct metric_writer *w, const char *name, const char *value, int64_t v, int scale)
{
	const struct label labels[] = { { name, value }, { NULL, NULL } };

	put_sample(w, w->row->type == METRIC_COUNTER ? "_total" : "", labels, v, scale);
}

/* `tier` NULL: it has no label. */
static void put_histogram(struct metric_writer *w, const char *tier, const struct tally_histogram *h,
	const struct tally_bound bounds[TALLY_BOUNDS])
{
	const struct label none = { NULL, NULL }, of = tier ? (struct label){ "tier", tier } : none;
	uint64_t count = 0;

	for (int i = 0; i <= TALLY_BOUNDS; i++) {
		const struct label le = { "le", i < TALLY_BOUNDS ? bounds[i].le : "+Inf" };
		const struct label labels[] = { tier ? of : le, tier ? le : none, none };

		count += atomic_load(&h->in[i]);
		put_sample(w, "_bucket", labels, (int64_t)count, 0);
	}
	put_sample(w, "_sum", (const struct label[]){ of, none }, (int64_t)atomic_load(&h->sum_us), SCALE_US);
	/* of what was summed up above: the count is what the last bucket says, whoever observes meanwhile */
	put_sample(w, "_count", (const struct label[]){ of, none }, (int64_t)count, 0);
}

/* --- the daemon and its loop ------------------------------------------------------------------------ */

static void build_info(struct metric_writer *w, const struct metrics_view *v)
{
	const struct label labels[] = { { "version", PACKAGE_VERSION }, { "cluster", v->health.cluster },
		{ "slurm_version", v->health.version }, { NULL, NULL } };

	put_sample(w, "", labels, 1, 0);
}

static void last_pass_failed(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, v->health.error[0] != '\0', 0);
}

static void last_pass_at(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, v->health.last_pass_at, 0);
}

static void last_pass_phases(struct metric_writer *w, const struct metrics_view *v)
{
	put_for(w, "phase", "look", v->health.last_pass.looked_ms, SCALE_MS);
	put_for(w, "phase", "decide", v->health.last_pass.decided_ms, SCALE_MS);
	put_for(w, "phase", "publish", v->health.last_pass.published_ms, SCALE_MS);
}

static void passes(struct metric_writer *w, const struct metrics_view *v)
{
	put_for(w, "result", "done", (int64_t)atomic_load(&v->tally->passes), 0);
	put_for(w, "result", "failed", (int64_t)atomic_load(&v->tally->failed_passes), 0);
}

static void pass_duration(struct metric_writer *w, const struct metrics_view *v)
{
	put_histogram(w, NULL, &v->tally->passing, tally_pass_bounds);
}

static void books_read(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, v->books_read, 0);
}

static void books_written(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, v->books_written, 0);
}

/* --- decisions -------------------------------------------------------------------------------------- */

static void decisions(struct metric_writer *w, const struct metrics_view *v)
{
	static const char *const names[TALLY_DECISIONS] = { "funded", "free", "waits", "rejected", "left",
		"failed" };

	for (int i = 0; i < TALLY_DECISIONS; i++)
		put_for(w, "decision", names[i], (int64_t)atomic_load(&v->tally->decisions[i]), 0);
}

static void decision_duration(struct metric_writer *w, const struct metrics_view *v)
{
	put_histogram(w, NULL, &v->tally->deciding, tally_decision_bounds);
}

static void unanswered(struct metric_writer *w, const struct metrics_view *v)
{
	static const char *const names[TALLY_UNANSWERED] = { "deadline", "breaker", "other" };

	for (int i = 0; i < TALLY_UNANSWERED; i++)
		put_for(w, "cause", names[i], (int64_t)atomic_load(&v->tally->unanswered[i]), 0);
}

static void met_jobs(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, (int64_t)atomic_load(&v->tally->met), 0);
}

/* --- jobs and GPUs ---------------------------------------------------------------------------------- */

static const char *const tier_names[METRICS_TIERS] = { "funded", "free", "none" };

static void jobs(struct metric_writer *w, const struct metrics_view *v)
{
	static const char *const states[METRICS_STATES] = { "running", "pending", "waiting" };

	for (int t = 0; t < METRICS_TIERS; t++)
		for (int s = 0; s < METRICS_STATES; s++)
			put_sample(w, "", (const struct label[]){ { "tier", tier_names[t] },
				{ "state", states[s] }, { NULL, NULL } }, v->jobs.jobs[t][s], 0);
}

static void job_gpus(struct metric_writer *w, const struct metrics_view *v)
{
	for (int t = 0; t < METRICS_TIERS; t++)
		put_for(w, "tier", tier_names[t], v->jobs.gpus[t], 0);
}

static void longest_wait(struct metric_writer *w, const struct metrics_view *v)
{
	for (int t = 0; t < METRICS_TIERS; t++)
		put_for(w, "tier", tier_names[t], v->jobs.longest_wait_s[t], 0);
}

static void waits(struct metric_writer *w, const struct metrics_view *v)
{
	put_histogram(w, "funded", &v->tally->waiting[TALLY_FUNDED], tally_wait_bounds);
	put_histogram(w, "free", &v->tally->waiting[TALLY_FREE], tally_wait_bounds);
}

static void gpus(struct metric_writer *w, const struct metrics_view *v)
{
	put_for(w, "state", "all", v->health.gpus, 0);
	put_for(w, "state", "healthy", v->health.healthy_gpus, 0);
}

static void idle_jobs(struct metric_writer *w, const struct metrics_view *v)
{
	if (v->watches_gpus)
		put(w, (int64_t)v->health.idle_jobs, 0);
}

static void notices_waiting(struct metric_writer *w, const struct metrics_view *v)
{
	if (v->tells)
		put(w, v->notices_waiting, 0);
}

static void notices_failed(struct metric_writer *w, const struct metrics_view *v)
{
	if (v->tells)
		put(w, v->notices_failed, 0);
}

/* --- what differs ------------------------------------------------------------------------------------ */

static void differing_runs(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, (int64_t)v->health.differences, 0);
}

static void lost_runs(struct metric_writer *w, const struct metrics_view *v)
{
	put(w, (int64_t)v->health.lost_runs, 0);
}

/* --- projects ---------------------------------------------------------------------------------------- */

static void projects(struct metric_writer *w, const struct metrics_view *v)
{
	if (v->books_read)
		put(w, (int64_t)v->projects.live, 0);
}

/* A sample of each project that has a budget, or a share. */
#define OF_PROJECTS(function, has, value, scale) \
	static void function(struct metric_writer *w, const struct metrics_view *v) \
	{ \
		for (size_t i = 0; i < v->projects.count; i++) { \
			const struct metrics_project *m = &v->projects.rows[i]; \
\
			if (m->has) \
				put_for(w, "project", m->name, value, scale); \
		} \
	}

OF_PROJECTS(project_amount, metered, m->amount, SCALE_UNITS)
OF_PROJECTS(project_charged, metered, m->charged, SCALE_UNITS)
OF_PROJECTS(project_held, metered, m->held, SCALE_UNITS)
OF_PROJECTS(project_balance, metered, m->amount - m->charged, SCALE_UNITS)
OF_PROJECTS(project_available, metered, m->available, SCALE_UNITS)
OF_PROJECTS(project_credit, metered, m->credit, SCALE_UNITS)
OF_PROJECTS(project_share, shared, m->share_ppm, SCALE_PPM)
OF_PROJECTS(project_entitled, shared, m->entitled, SCALE_UNITS)
OF_PROJECTS(project_occupied, shared, m->occupied, SCALE_UNITS)
OF_PROJECTS(project_owed, shared, m->owed, SCALE_UNITS)
OF_PROJECTS(project_delivered, shared, m->delivered, SCALE_UNITS)
OF_PROJECTS(project_free, shared, m->free_used, SCALE_UNITS)
#undef OF_PROJECTS

/* A share of 0 has no ratio. */
static void project_ratio(struct metric_writer *w, const struct metrics_view *v)
{
	for (size_t i = 0; i < v->projects.count; i++) {
		const struct metrics_project *m = &v->projects.rows[i];

		if (m->shared && m->ratio_ppm >= 0)
			put_for(w, "project", m->name, m->ratio_ppm, SCALE_PPM);
	}
}

#define OF_LIVE " (of live allocations, in GPU-seconds at rate 1.000)"
#define OF_WINDOW " in the window of fair share, in GPU-seconds at rate 1.000"

static const struct metric_row metrics_table[] = {
	/* name, type, unit, help, samples */
	{ "build_info", METRIC_GAUGE, "", "Always 1: versions, and the cluster.", build_info },
	{ "last_pass_failed", METRIC_GAUGE, "",
		"1 when the last pass over Slurm's jobs failed; budgetctl health says why.",
		last_pass_failed },
	{ "last_pass_timestamp_seconds", METRIC_GAUGE, "seconds",
		"When the last pass that succeeded began; 0 = there was none since the start.", last_pass_at },
	{ "last_pass_phase_seconds", METRIC_GAUGE, "seconds",
		"Where the time of that pass went: reading Slurm, deciding and writing the books, telling Slurm.",
		last_pass_phases },
	{ "passes", METRIC_COUNTER, "", "Passes over Slurm's jobs.", passes },
	{ "pass_duration_seconds", METRIC_HISTOGRAM, "seconds", "How long passes took.", pass_duration },
	{ "books_readable", METRIC_GAUGE, "", "0 when the books could not be read: projects are missing here.",
		books_read },
	{ "books_writable", METRIC_GAUGE, "", "0 when the last write to the books failed: decisions are not kept, or wait.",
		books_written },
	{ "decisions", METRIC_COUNTER, "",
		"Answers to slurmctld: left = nothing of the job was changed, failed = no answer could be given.",
		decisions },
	{ "decision_duration_seconds", METRIC_HISTOGRAM, "seconds",
		"How long slurmctld waited for an answer, without the way there and back.", decision_duration },
	{ "unanswered_questions", METRIC_COUNTER, "",
		"Questions of slurmctld without an answer, as its plugin told later: deadline = it was missed and the "
		"breaker opened, breaker = that was open and nobody was asked, other = nobody listened, or an error.",
		unanswered },
	{ "jobs_without_answer", METRIC_COUNTER, "",
		"Jobs that were in the queue without an answer, and got one of a pass.", met_jobs },
	{ "jobs", METRIC_GAUGE, "",
		"Jobs and array tasks of the last pass, by tier; none = GPUs in a QOS that is none of ours. "
		"waiting = held until the project can pay.", jobs },
	{ "job_gpus", METRIC_GAUGE, "", "GPUs that running jobs have, by tier.", job_gpus },
	{ "longest_wait_seconds", METRIC_GAUGE, "seconds",
		"How long the first of those that could run has waited.", longest_wait },
	{ "wait_seconds", METRIC_HISTOGRAM, "seconds", "How long runs that began had waited since they could.",
		waits },
	{ "gpus", METRIC_GAUGE, "", "GPUs of the cluster, and of the nodes that can be given work.", gpus },
	{ "idle_jobs", METRIC_GAUGE, "", "Jobs all of whose GPUs are idle, where a Prometheus is asked.",
		idle_jobs },
	{ "differing_runs", METRIC_GAUGE, "",
		"Runs that slurmdbd has otherwise than the books, as compared every hour; see budgetctl check.",
		differing_runs },
	{ "lost_runs", METRIC_GAUGE, "", "Runs whose end nobody knows; see budgetctl run end.", lost_runs },
	{ "notices_waiting", METRIC_GAUGE, "", "Notices that wait to be told, where they are on.", notices_waiting },
	{ "notices_failed", METRIC_GAUGE, "",
		"Notices of the last month that could not be told; see budgetctl notice list --failed.", notices_failed },
	{ "projects", METRIC_GAUGE, "",
		"Projects that there are; those beyond metrics_projects are together in the project (others).",
		projects },
	{ "project_amount_gpu_seconds", METRIC_GAUGE, "seconds", "Granted to the project" OF_LIVE ".",
		project_amount },
	{ "project_charged_gpu_seconds", METRIC_GAUGE, "seconds", "Charged to it" OF_LIVE ".",
		project_charged },
	{ "project_held_gpu_seconds", METRIC_GAUGE, "seconds", "Set aside for its jobs" OF_LIVE ".",
		project_held },
	{ "project_balance_gpu_seconds", METRIC_GAUGE, "seconds", "Granted less charged" OF_LIVE ".",
		project_balance },
	{ "project_available_gpu_seconds", METRIC_GAUGE, "seconds",
		"What it can still spend: balance less held and not yet vested, and its credit" OF_LIVE ".",
		project_available },
	{ "project_credit_gpu_seconds", METRIC_GAUGE, "seconds", "Its credit limit" OF_LIVE ".",
		project_credit },
	{ "project_share_ratio", METRIC_GAUGE, "ratio", "Its share of the cluster, 0 to 1.", project_share },
	{ "project_usage_ratio", METRIC_GAUGE, "ratio",
		"What the queue is sorted by: what it had (and is about to have) over what it is entitled to.",
		project_ratio },
	{ "project_entitled_gpu_seconds", METRIC_GAUGE, "seconds", "What its share is worth" OF_WINDOW ".",
		project_entitled },
	{ "project_occupied_gpu_seconds", METRIC_GAUGE, "seconds", "What it was charged" OF_WINDOW ".",
		project_occupied },
	{ "project_owed_gpu_seconds", METRIC_GAUGE, "seconds",
		"What its share is worth, no more than it asked for" OF_WINDOW ".", project_owed },
	{ "project_delivered_gpu_seconds", METRIC_GAUGE, "seconds", "What it got of that" OF_WINDOW ".",
		project_delivered },
	{ "project_free_gpu_seconds", METRIC_GAUGE, "seconds", "What it used of the free tier" OF_WINDOW ".",
		project_free },
};

const struct metric_row *metric_at(size_t i)
{
	return i < sizeof(metrics_table) / sizeof(*metrics_table) ? &metrics_table[i] : NULL;
}

/* --- all of it ---------------------------------------------------------------------------------------- */

const char *metrics_content_type(enum metrics_format f)
{
	return f == METRICS_OPENMETRICS ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		: "text/plain; version=0.0.4; charset=utf-8";
}

static const char *const type_names[] = { "gauge", "counter", "histogram" };

void metrics_print_manual(FILE *to)
{
	const struct metric_row *row;

	fputs(".Bl -tag -width Ds\n", to);
	for (size_t i = 0; (row = metric_at(i)); i++) {
		fprintf(to, ".It Ic %s%s%s Pq %s\n", PREFIX, row->name,
			row->type == METRIC_COUNTER ? "_total" : "", type_names[row->type]);
		roff_text(to, row->help);
	}
	fputs(".El\n", to);
}

void metrics_print(const struct metrics_view *v, enum metrics_format f, FILE *to)
{
	struct metric_writer w = { .to = to, .format = f };

	for (size_t i = 0; (w.row = metric_at(i)); i++) {
		const char *suffix = f == METRICS_TEXT && w.row->type == METRIC_COUNTER ? "_total" : "";

		fprintf(to, "# TYPE " PREFIX "%s%s %s\n", w.row->name, suffix,
			type_names[w.row->type]);
		if (f == METRICS_OPENMETRICS && *w.row->unit)
			fprintf(to, "# UNIT " PREFIX "%s %s\n", w.row->name, w.row->unit);
		/* the formats escape a quote differently: no help has one (test_metrics.c) */
		fprintf(to, "# HELP " PREFIX "%s%s %s\n", w.row->name, suffix, w.row->help);
		w.row->samples(&w, v);
	}
	if (f == METRICS_OPENMETRICS)
		fputs("# EOF\n", to);
}
