/* SPDX-License-Identifier: GPL-2.0-or-later
 * simulate.c - simulate: a trace replayed on a cluster, with the rules that budgetd works by
 *
 * Asks nobody and changes nothing. The figures are those of doc/fairness.md; baselines stand beside them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/amount.h"
#include "lib/duration.h"
#include "lib/number.h"
#include "simulate/divide.h"
#include "simulate/owed.h"
#include "simulate/picture.h"
#include "simulate/report.h"

#define PPM 1000000

struct replay {
	struct sim_result result;
	struct report report;
	int64_t *owed;
};

struct simulation {
	struct zone *zone;
	struct trace trace;
	struct shares shares;
	bool by_user; /* each project is divided among its users */
	struct divided divided;
	struct sim_setup
		setup[SIM_SCHEDULERS]; /* the contract first, then the baselines that are asked for */
	struct replay replay[SIM_SCHEDULERS];
	int count;
};

/* --- what is asked ---------------------------------------------------------------------------------- */

/* A whole number from `least` on. DONE, with *out as it was where the option is not given. */
static int number_option(
	const struct session *s, enum command_option o, int64_t least, int64_t most, int64_t *out)
{
	const char *text = session_option(s, o);
	int64_t n;

	if (!text)
		return DONE;
	if (number_parse(text, most, &n) < 0 || n < least)
		return complain(USAGE, "--%s: \"%s\" is not a number from %" PRId64 " to %" PRId64,
			option_table[o].name, text, least, most);
	*out = n;
	return DONE;
}

static int length_option(const struct session *s, enum command_option o, int64_t *out)
{
	const char *text = session_option(s, o);
	struct fault why = {""};

	if (!text)
		return DONE;
	return duration_parse(text, out, &why) == 0
		       ? DONE
		       : complain(USAGE, "--%s: %s", option_table[o].name, why.text);
}

static int baseline_add(struct simulation *m, const char *name, size_t length)
{
	for (int k = 0; k < SIM_SCHEDULERS; k++) {
		if (strlen(sim_scheduler_name[k]) != length ||
			strncmp(sim_scheduler_name[k], name, length) != 0)
			continue;
		for (int i = 0; i < m->count; i++)
			if (m->setup[i].scheduler == (enum sim_scheduler)k)
				return DONE;
		m->setup[m->count] = m->setup[0];
		m->setup[m->count++].scheduler = (enum sim_scheduler)k;
		return DONE;
	}
	return complain(
		USAGE, "--baseline: \"%.*s\" is none of priority, fifo and fairtree", (int)length, name);
}

static int baselines_read(const struct session *s, struct simulation *m)
{
	int rv = DONE;

	for (int i = 0; rv == DONE && i < s->arguments->ngiven; i++) {
		const char *p = s->arguments->given[i].value;

		if (s->arguments->given[i].option != OPT_BASELINE)
			continue;
		if (!*p)
			return complain(USAGE, "--baseline: nothing is named; it is priority, fifo, fairtree, or several with commas");
		for (size_t n; rv == DONE && *p; p += n + (p[n] == ',')) {
			n = strcspn(p, ",");
			rv = baseline_add(m, p, n);
		}
	}
	return rv;
}

static int by_user_read(const struct session *s, bool *out)
{
	const char *text = session_option(s, OPT_USER_SHARES);

	*out = text && !strcmp(text, "yes");
	return !text || *out || !strcmp(text, "no")
		? DONE : complain(USAGE, "--user-shares: \"%s\" is neither yes nor no", text);
}

static int setup_read(const struct session *s, struct simulation *m)
{
	struct sim_setup *x = &m->setup[0];
	int64_t nodes, per_node, seed, margin;
	int rv;

	*x = sim_defaults();
	nodes = x->nodes;
	per_node = x->gpus_per_node;
	seed = (int64_t)x->seed;
	margin = x->h_ppm / (PPM / 100);
	x->until = 0;
	rv = number_option(s, OPT_NODES, 1, 100000, &nodes);
	if (rv == DONE)
		rv = number_option(s, OPT_GPUS_PER_NODE, 1, 1000, &per_node);
	if (rv == DONE)
		rv = number_option(s, OPT_SEED, 0, INT64_MAX, &seed);
	if (rv == DONE)
		rv = number_option(s, OPT_MARGIN, 0, 100, &margin);
	if (rv == DONE)
		rv = length_option(s, OPT_UNTIL, &x->until);
	if (rv == DONE && session_option(s, OPT_UNTIL) && !x->until)
		rv = complain(USAGE, "--until: 0 leaves nothing to replay; leave it out for the default");
	if (rv == DONE)
		rv = length_option(s, OPT_CLEAR_AFTER, &x->guard_after_s);
	x->nodes = (int)nodes;
	x->gpus_per_node = (int)per_node;
	x->seed = (uint64_t)seed;
	x->h_ppm = margin * (PPM / 100);
	x->picture = session_option(s, OPT_SVG);
	m->count = 1;
	if (rv == DONE)
		rv = by_user_read(s, &m->by_user);
	return rv == DONE ? baselines_read(s, m) : rv;
}

/* --- files ------------------------------------------------------------------------------------------ */

static int trace_open(const struct session *s, struct simulation *m)
{
	const char *file = session_option(s, OPT_TRACE), *tz = session_option(s, OPT_TZ);
	struct fault why = {""};
	FILE *from;
	int rv;

	if (!file)
		return complain(USAGE, "which jobs? --trace FILE: CSV with submit_s,duration_s,gpus,project, "
				       "or what sacct -P gave. "
				       "See budgetctl simulate --help");
	m->zone = zone_new(tz ? tz : "UTC", &why);
	if (!m->zone)
		return complain(errno == ENOENT ? USAGE : REFUSED, "--tz: %s", why.text);
	from = strcmp(file, "-") ? fopen(file, "r") : stdin;
	if (!from)
		return complain(REFUSED, "%s cannot be read: %s", file, strerror(errno));
	rv = trace_read(&m->trace, from, m->zone, m->setup[0].seed, &why);
	if (from != stdin)
		fclose(from);
	if (rv < 0)
		return complain(REFUSED, "%s cannot be read as a trace: %s", file, why.text);
	if (m->trace.aside)
		complain(DONE, "%zu row%s set aside in %s; the first: %s", m->trace.aside,
			m->trace.aside == 1 ? " is" : "s are", file, m->trace.first_aside.text);
	return DONE;
}

static int shares_open(const struct session *s, struct simulation *m)
{
	const char *file = session_option(s, OPT_TREE);
	struct fault why = {""};
	FILE *from = file ? fopen(file, "r") : NULL;
	int rv = 0;

	if (file && !from)
		return complain(REFUSED, "%s cannot be read: %s", file, strerror(errno));
	if (from) {
		rv = shares_read(&m->shares, from, &why);
		fclose(from);
	}
	for (int i = 0; rv == 0 && i < s->arguments->ngiven; i++)
		if (s->arguments->given[i].option == OPT_SHARE)
			rv = shares_add_text(&m->shares, s->arguments->given[i].value, &why);
	if (rv == 0)
		rv = shares_finish(&m->shares, &m->trace, &why);
	if (rv == 0 && m->by_user)
		rv = divide_make(&m->divided, &m->trace, &m->shares);
	return rv < 0 && !why.text[0] ? out_of_memory() : rv < 0 ? complain(errno == ENOMEM ? REFUSED : USAGE, "%s", why.text) : DONE;
}

/* "x.svg" for the contract, "x-fifo.svg" for a baseline. */
static int picture_write(
	const struct session *s, const struct sim_setup *setup, const struct sim_result *result)
{
	const char *file = session_option(s, OPT_SVG), *dot = file ? strrchr(file, '.') : NULL;
	int stem = dot ? (int)(dot - file) : file ? (int)strlen(file) : 0;
	char path[4096];
	FILE *to;
	int rv;

	if (!file)
		return DONE;
	if (setup->scheduler == SIM_CONTRACT)
		snprintf(path, sizeof(path), "%s", file);
	else
		snprintf(path, sizeof(path), "%.*s-%s%s", stem, file, sim_scheduler_name[setup->scheduler],
			dot ? dot : "");
	to = fopen(path, "w");
	if (!to)
		return complain(REFUSED, "%s cannot be written: %s", path, strerror(errno));
	rv = picture_draw(to, setup, result);
	if (fclose(to) == EOF && rv == 0)
		return complain(REFUSED, "%s cannot be written: %s", path, strerror(errno));
	return rv < 0 ? out_of_memory() : DONE;
}

/* --- replay ----------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(const struct simulation *m, const struct sim_setup *setup, struct sim_result *result,
	struct fault *why)
{
	struct sim_setup by_user = *setup;

	if (!m->by_user)
		return sim_run(setup, result, why);
	by_user.trace = &m->divided.trace;
	by_user.shares = &m->divided.shares;
	if (sim_run(&by_user, result, why) < 0)
		return -1;
	return divide_fold(&m->divided, m->trace.projects.count, result) < 0
		? fault_set(why, "out of memory") : 0;
}

static int replay_one(struct simulation *m, int i)
{
	struct sim_setup *setup = &m->setup[i];
	struct replay *x = &m->replay[i];
	struct fault why = {""};
	double began = seconds_now();

	if (run(m, setup, &x->result, &why) < 0)
		return complain(REFUSED, "the trace cannot be replayed: %s", why.text);
	x->owed = calloc(m->trace.projects.count + 1, sizeof(*x->owed));
	if (!x->owed || owed_count(&m->trace, &m->shares, (int64_t)setup->nodes * setup->gpus_per_node,
				x->result.from, x->result.until, x->owed) < 0)
		return out_of_memory();
	return report_make(&x->report, setup, &x->result, x->owed, seconds_now() - began) < 0
		? out_of_memory() : DONE;
}

/* Figures of all stop where those of the contract do. */
static int replay_all(struct simulation *m)
{
	int64_t from = m->trace.jobs[0].submit_s, until = m->setup[0].until;
	int rv = DONE;

	for (int i = 0; rv == DONE && i < m->count; i++) {
		m->setup[i].trace = &m->trace;
		m->setup[i].shares = &m->shares;
		m->setup[i].until = i ? m->replay[0].result.until : until ? from + until : SIM_UNTIL_AUTO;
		rv = replay_one(m, i);
	}
	return rv;
}

/* --- printing --------------------------------------------------------------------------------------- */

static const struct column schedulers[] = {
	{"scheduler", "Scheduler", KIND_TEXT, NULL, false},
	{"delivered_over_owed", "Delivered/owed", KIND_TEXT, NULL, false},
	{"worst_project", "Worst project", KIND_TEXT, NULL, false},
	{"occupancy", "Occupancy", KIND_TEXT, NULL, false},
	{"p50", "Wait p50", KIND_DURATION, NULL, false},
	{"p90", "p90", KIND_DURATION, NULL, false},
	{"lane_p90", "Lane p90", KIND_DURATION, NULL, false},
	{"displacements", "Displaced", KIND_COUNT, NULL, false},
	{"free_reclaimed", "Free reclaimed", KIND_COUNT, NULL, false},
	{"lost_units", "Lost", KIND_AMOUNT, NULL, false},
};

static const struct column projects[] = {
	{"scheduler", NULL, KIND_TEXT, NULL, false},
	{"name", "Project", KIND_TEXT, NULL, false},
	{"owed_units", "Owed", KIND_AMOUNT, NULL, false},
	{"delivered_units", "Delivered", KIND_AMOUNT, NULL, false},
	{"ratio", "Ratio", KIND_TEXT, NULL, false},
	{"free_units", "Free", KIND_AMOUNT, NULL, false},
	{"lost_units", "Lost", KIND_AMOUNT, NULL, false},
	{"displacements", "Displaced", KIND_COUNT, NULL, false},
};

static const struct column waits[] = {
	{"gpus", "GPUs", KIND_TEXT, NULL, false},
	{"jobs", "Jobs", KIND_COUNT, NULL, false},
	{"p50", "Wait p50", KIND_DURATION, NULL, false},
	{"p90", "p90", KIND_DURATION, NULL, false},
};

static bool put(struct json_object *o, const char *key, struct json_object *value)
{
	return value && json_object_object_add(o, key, value) == 0;
}

static bool put_ratio(struct json_object *o, const char *key, double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", x);
	return put(o, key, json_object_new_string(text));
}

static bool put_number(struct json_object *o, const char *key, int64_t n)
{
	return put(o, key, json_object_new_int64(n));
}

/* One more row, when it is whole; else the array is given up. */
static struct json_object *row_end(struct json_object *rows, struct json_object *row, bool whole)
{
	if (whole && json_object_array_add(rows, row) == 0)
		return rows;
	json_object_put(row);
	json_object_put(rows);
	return NULL;
}

static struct json_object *scheduler_row(struct json_object *rows, const struct report *r)
{
	struct json_object *o = json_object_new_object();

	return row_end(rows, o,
		o && put(o, "scheduler", json_object_new_string(sim_scheduler_name[r->setup->scheduler])) &&
			put_ratio(o, "delivered_over_owed", report_ratio(r->served_gpu_s, r->owed_gpu_s)) &&
			put_ratio(o, "worst_project", report_worst(r)) &&
			put_ratio(o, "occupancy", report_occupancy(r)) &&
			put_number(o, "p50", r->wait_all.p50) && put_number(o, "p90", r->wait_all.p90) &&
			put_number(o, "lane_p90", r->wait_lane.p90) &&
			put_number(o, "displacements", r->displaced) &&
			put_number(o, "free_reclaimed", r->reclaimed) &&
			put_number(o, "lost_units", r->lost_gpu_s * AMOUNT_RATE_ONE));
}

static struct json_object *project_row(struct json_object *rows, const struct report *r, size_t i)
{
	const struct sim_project *p = &r->result->projects[i];
	struct json_object *o = json_object_new_object();

	return row_end(rows, o,
		o && put(o, "scheduler", json_object_new_string(sim_scheduler_name[r->setup->scheduler])) &&
			put(o, "name", json_object_new_string(r->setup->trace->projects.name[i])) &&
			put_number(o, "owed_units", r->owed[i] * AMOUNT_RATE_ONE) &&
			put_number(o, "delivered_units", p->delivered_gpu_s * AMOUNT_RATE_ONE) &&
			put_ratio(o, "ratio", report_ratio(p->delivered_gpu_s, r->owed[i])) &&
			put_number(o, "free_units", p->free_gpu_s * AMOUNT_RATE_ONE) &&
			put_number(o, "lost_units", p->lost_gpu_s * AMOUNT_RATE_ONE) &&
			put_number(o, "displacements", p->displaced));
}

static struct json_object *wait_row(struct json_object *rows, const struct report *r, int class)
{
	const struct report_wait *w = &r->wait[class];
	struct json_object *o = json_object_new_object();

	return row_end(rows, o,
		o && put(o, "gpus", json_object_new_string(report_class[class])) &&
			put_number(o, "jobs", w->jobs) && put_number(o, "p50", w->p50) &&
			put_number(o, "p90", w->p90));
}

static int rows_print(
	const struct session *s, const struct column *columns, size_t n, struct json_object *rows)
{
	struct table *t = rows ? table_new(columns, n, &s->style, false) : NULL;
	int rv = t && table_add(t, rows) == 0 && table_print(t) == 0 ? DONE : out_of_memory();

	table_free(t);
	json_object_put(rows);
	return rv;
}

static struct json_object *projects_rows(const struct simulation *m, int from, int to)
{
	struct json_object *rows = json_object_new_array();

	for (int k = from; k < to; k++)
		for (size_t i = 0; rows && i < m->trace.projects.count; i++)
			rows = project_row(rows, &m->replay[k].report, i);
	return rows;
}

/* People: schedulers side by side, then the projects and the waits of the contract. */
static int tables_print(const struct session *s, const struct simulation *m)
{
	const struct report *r = &m->replay[0].report;
	struct json_object *rows = json_object_new_array();
	int rv;

	for (int i = 0; rows && i < m->count; i++)
		rows = scheduler_row(rows, &m->replay[i].report);
	rv = rows_print(s, schedulers, ARRAY_SIZE(schedulers), rows);
	if (rv == DONE) {
		putchar('\n');
		rv = rows_print(s, projects, ARRAY_SIZE(projects), projects_rows(m, 0, 1));
	}
	rows = json_object_new_array();
	for (int c = 0; rows && c < REPORT_CLASSES; c++)
		rows = wait_row(rows, r, c);
	if (rv != DONE) {
		json_object_put(rows);
		return rv;
	}
	putchar('\n');
	rv = rows_print(s, waits, ARRAY_SIZE(waits), rows);
	printf("\n%zu jobs, %d GPUs, %.1f days, free share %.3f, %.3f of all GPU time used; replayed in %.1f "
	       "s\n",
		m->trace.count, r->setup->nodes * r->setup->gpus_per_node,
		(double)(r->result->until - r->result->from) / 86400, report_free_share(r),
		report_occupancy_of_all(r), r->wall_s);
	if (r->result->too_large)
		complain(DONE, "%" PRId64 " job%s larger than the cluster", r->result->too_large,
			r->result->too_large == 1 ? " is" : "s are");
	return rv;
}

static int json_print(const struct session *s, const struct simulation *m)
{
	struct json_object *o = report_json(&m->replay[0].report), *baselines = json_object_new_array();
	int rv = o && baselines ? 0 : -1;

	for (int i = 1; rv == 0 && i < m->count; i++) {
		struct json_object *b = report_json(&m->replay[i].report);

		if (!b || json_object_array_add(baselines, b) != 0) {
			json_object_put(b);
			rv = -1;
		}
	}
	if (rv == 0 && json_object_object_add(o, "baselines", json_object_get(baselines)) == 0)
		rv = table_object(projects, 0, &s->style, o);
	json_object_put(baselines);
	json_object_put(o);
	return rv < 0 ? out_of_memory() : DONE;
}

static int all_print(const struct session *s, const struct simulation *m)
{
	int rv = DONE;

	for (int i = 0; rv == DONE && i < m->count; i++)
		rv = picture_write(s, &m->setup[i], &m->replay[i].result);
	if (rv != DONE)
		return rv;
	switch (s->style.format) {
	case FORMAT_JSON:
		return json_print(s, m);
	case FORMAT_TABLE:
		return tables_print(s, m);
	default:
		return rows_print(s, projects, ARRAY_SIZE(projects), projects_rows(m, 0, m->count));
	}
}

int cmd_simulate(struct session *s)
{
	struct simulation *m = calloc(1, sizeof(*m));
	int rv = m ? setup_read(s, m) : out_of_memory();

	if (rv == DONE)
		rv = trace_open(s, m);
	if (rv == DONE)
		rv = shares_open(s, m);
	if (rv == DONE)
		rv = replay_all(m);
	if (rv == DONE)
		rv = all_print(s, m);
	for (int i = 0; m && i < SIM_SCHEDULERS; i++) {
		sim_result_free(&m->replay[i].result);
		free(m->replay[i].owed);
	}
	if (m) {
		divide_free(&m->divided);
		shares_free(&m->shares);
		trace_free(&m->trace);
		zone_free(m->zone);
	}
	free(m);
	return rv;
}
