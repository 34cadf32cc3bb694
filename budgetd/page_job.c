/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_job.c - the view of one job: why it is where it is, and its life: waiting, runs with what was held and
 * charged for them, and what was done about them (page.h). */
#include "budgetd/page.h"
#include "lib/duration.h"
#include "lib/fairshare.h"
#include "lib/job_id.h"
#include "lib/markup.h"
#include "lib/svg.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIFE_WIDTH 900
#define LIFE_HEIGHT 96
#define LANE_Y 30
#define LANE_HEIGHT 26

/* --- in words --------------------------------------------------------------------------------------- */

static void write_lines(struct page *p, struct json_object *lines)
{
	fputs("<ul>\n", p->to);
	for (size_t i = 0; i < page_count(lines); i++) {
		fputs("<li>", p->to);
		markup_text(p->to, json_object_get_string(json_object_array_get_idx(lines, i)));
		fputs("</li>\n", p->to);
	}
	fputs("</ul>\n", p->to);
}

static void term(struct page *p, const char *name, const char *text)
{
	fprintf(p->to, "<dt>%s</dt><dd>", name);
	markup_text(p->to, text);
	fputs("</dd>\n", p->to);
}

static void write_facts(struct page *p, struct json_object *job)
{
	char text[AMOUNT_TEXT_MAX], time[DURATION_TEXT_MAX], number[24];

	snprintf(number, sizeof(number), "%jd", (intmax_t)page_int(job, "gpus"));
	fputs("<dl>\n", p->to);
	term(p, "User", page_string(job, "user"));
	term(p, "Project", page_string(job, "path"));
	term(p, "State", page_string(job, "state"));
	term(p, "Tier", page_string(job, "tier"));
	term(p, "GPUs", number);
	term(p, "Minimum runtime", duration_text(page_int(job, "min_runtime_s"), time));
	term(p, "Held", amount_text(page_int(job, "held_units"), text));
	term(p, "Charged", amount_text(page_int(job, "charged_units"), text));
	fputs("</dl>\n", p->to);
}

/* Its path: the key by which it is sorted, before its team rank and the time it was submitted. */
static void write_levels(struct page *p, struct json_object *levels)
{
	if (!page_count(levels))
		return;
	page_table_begin(p, "levels",
		"Its path from the top. Ratios are compared level by level; who is ahead is the sibling right in front.",
		"Level|#Share|#Ratio|Ahead");
	for (size_t i = 0; i < page_count(levels); i++) {
		struct json_object *row = json_object_array_get_idx(levels, i);

		fputs("<tr><th scope=\"row\">", p->to);
		markup_text(p->to, page_string(row, "name"));
		fputs("</th>", p->to);
		page_cell_ppm(p, row, "share_ppm");
		page_cell_ppm(p, row, "ratio_ppm");
		page_cell_text(p, page_has(row, "ahead") ? page_string(row, "ahead") : "");
		fputs("</tr>\n", p->to);
	}
	page_table_end(p);
}

/* --- its life as a picture -------------------------------------------------------------------------- */

struct life {
	struct page *p;
	int64_t from, to;		/* what is drawn */
	int64_t min_runtime_s;
	struct json_object *runs, *events;
};

static int at_x(const struct life *l, int64_t at)
{
	int64_t span = l->to > l->from ? l->to - l->from : 1;
	int64_t t = at < l->from ? l->from : at > l->to ? l->to : at;

	return (int)((double)(t - l->from) / (double)span * LIFE_WIDTH);
}

static int64_t run_end(const struct life *l, struct json_object *run)
{
	return page_has(run, "end") ? page_int(run, "end") : l->p->rq->now;
}

/* From when it was asked about, or its first run, to its last end, or now. */
static void measure(struct life *l, struct json_object *job)
{
	int64_t now = l->p->rq->now;
	bool over = strcmp(page_string(job, "state"), "GONE") == 0;

	l->from = page_has(job, "asked_at") ? page_int(job, "asked_at") : now;
	l->to = over ? l->from : now;
	for (size_t i = 0; i < page_count(l->runs); i++) {
		struct json_object *run = json_object_array_get_idx(l->runs, i);
		int64_t start = page_int(run, "start"), end = run_end(l, run);

		l->from = start < l->from ? start : l->from;
		l->to = end > l->to ? end : l->to;
	}
	if (l->to <= l->from)
		l->to = l->from + 1;
}

static void draw_run(const struct life *l, struct json_object *run)
{
	bool funded = strcmp(page_string(run, "tier"), "funded") == 0;
	int64_t start = page_int(run, "start"), end = run_end(l, run), safe = start + l->min_runtime_s;
	int x = at_x(l, start), right = at_x(l, end), until = at_x(l, safe < end ? safe : end);
	char title[256], from[PAGE_TIME_MAX], to[PAGE_TIME_MAX], charged[AMOUNT_TEXT_MAX];

	snprintf(title, sizeof(title), "%s: %s, %jd GPUs, %s to %s, %s GPU-h charged", page_string(run, "job"),
		page_string(run, "tier"), (intmax_t)page_int(run, "gpus"), page_time_text(l->p, start, from),
		page_has(run, "end") ? page_time_text(l->p, end, to) : "now",
		amount_text(page_int(run, "charged_units"), charged));
	svg_rect_titled(l->p->to, x, LANE_Y, right - x, LANE_HEIGHT, funded ? "class=\"funded\"" : "class=\"free\"", title);
	if (funded && l->min_runtime_s)
		svg_rect(l->p->to, x, LANE_Y + LANE_HEIGHT, until - x, 5, "class=\"protected\"");
}

static void draw_events(const struct life *l)
{
	for (size_t i = 0; i < page_count(l->events); i++) {
		struct json_object *e = json_object_array_get_idx(l->events, i);
		int x = at_x(l, page_int(e, "at"));

		svg_line(l->p->to, x, LANE_Y - 10, x, LANE_Y + LANE_HEIGHT + 10, "class=\"marked\"");
	}
}

static void draw(const struct life *l)
{
	char from[PAGE_TIME_MAX], to[PAGE_TIME_MAX], title[256];
	FILE *out = l->p->to;

	snprintf(title, sizeof(title), "From %s to %s: %zu runs and %zu events; the tables below say the same",
		page_time_text(l->p, l->from, from), page_time_text(l->p, l->to, to), page_count(l->runs),
		page_count(l->events));
	svg_begin(out, LIFE_WIDTH, LIFE_HEIGHT, "class=\"wide\"", title);
	svg_rect(out, 0, LANE_Y, LIFE_WIDTH, LANE_HEIGHT, "class=\"waits\"");
	for (size_t i = 0; i < page_count(l->runs); i++)
		draw_run(l, json_object_array_get_idx(l->runs, i));
	draw_events(l);
	svg_text(out, 0, LIFE_HEIGHT - 8, "", from);
	svg_text(out, LIFE_WIDTH, LIFE_HEIGHT - 8, "text-anchor=\"end\"", to);
	svg_end(out);
	fputs("<p class=\"quiet\"><span class=\"key\">blue: funded</span><span class=\"key\">grey: in the free tier</span>"
		"<span class=\"key\">pale: it waits</span><span class=\"key\">green below: protected</span>"
		"<span class=\"key\">red lines: events</span></p>\n", out);
}

/* --- its life in rows ------------------------------------------------------------------------------- */

static void cell_seconds(struct page *p, int64_t seconds)
{
	char text[DURATION_TEXT_MAX];

	fprintf(p->to, "<td class=\"number\">%s</td>", seconds ? duration_text(seconds, text) : "");
}

static void write_runs(const struct life *l)
{
	struct page *p = l->p;

	page_table_begin(p, "runs", "Its runs",
		"Run|Tier|State|#GPUs|From|To|Paid up to|#Charged|#Without charge|#Covered by no hold");
	for (size_t i = 0; i < page_count(l->runs); i++) {
		struct json_object *run = json_object_array_get_idx(l->runs, i);

		fputs("<tr><th scope=\"row\">", p->to);
		markup_text(p->to, page_string(run, "job"));
		fputs("</th>", p->to);
		page_cell_text(p, page_string(run, "tier"));
		page_cell_text(p, page_string(run, "state"));
		fprintf(p->to, "<td class=\"number\">%jd</td>", (intmax_t)page_int(run, "gpus"));
		page_cell_time(p, page_int(run, "start"));
		page_cell_time(p, page_int(run, "end"));
		page_cell_time(p, page_int(run, "covered_until"));
		page_cell_hours(p, run, "charged_units");
		cell_seconds(p, page_int(run, "free_s"));
		cell_seconds(p, page_int(run, "uncovered_s"));
		fputs("</tr>\n", p->to);
	}
	page_table_end(p);
}

static void write_events(const struct life *l)
{
	struct page *p = l->p;
	char job[24];

	page_table_begin(p, "events", "What was done about its runs, and why: the newest first", "When|What|Why|For job|More");
	for (size_t i = 0; i < page_count(l->events); i++) {
		struct json_object *e = json_object_array_get_idx(l->events, i);

		fputs("<tr>", p->to);
		page_cell_time(p, page_int(e, "at"));
		page_cell_text(p, page_string(e, "event"));
		page_cell_text(p, page_string(e, "reason"));
		snprintf(job, sizeof(job), "%jd", (intmax_t)page_int(e, "for_job"));
		page_cell_text(p, page_has(e, "for_job") ? job : "");
		fputs("<td class=\"text\">", p->to);
		markup_text(p->to, page_string(e, "detail"));
		fputs("</td></tr>\n", p->to);
	}
	page_table_end(p);
}

static void write_life(struct page *p, struct json_object *job, struct json_object *events)
{
	struct life l = { .p = p, .min_runtime_s = page_int(job, "min_runtime_s"), .runs = page_rows(job, "runs"),
		.events = page_rows(events, "rows") };

	fputs("<h2>Its life</h2>\n", p->to);
	measure(&l, job);
	draw(&l);
	if (page_count(l.runs))
		write_runs(&l);
	else
		fputs("<p>It has not run yet.</p>\n", p->to);
	if (page_count(l.events))
		write_events(&l);
	else
		fputs("<p>It was never displaced, and nothing else was done about it.</p>\n", p->to);
}

int page_job(struct page *p)
{
	const char *id = request_query(p->rq, "id");
	struct json_object *job, *events;
	struct job_name checked;
	char path[80];

	if (!id || !*id)
		return fault_errno(p->why, EINVAL, "Say which job: its id as squeue shows it, 123, 123_4 or 123+1.");
	if (job_id_parse(id, &checked, p->why) < 0)
		return -1;
	snprintf(path, sizeof(path), "/v1/jobs/%.60s", id);
	job = page_ask(p, path);
	if (!job)
		return -1;
	snprintf(path, sizeof(path), "/v1/events/%.60s", id);
	events = page_ask(p, path);
	if (events) {
		fputs("<h1>Job ", p->to);
		markup_text(p->to, page_string(job, "job"));
		fputs("</h1>\n", p->to);
		write_facts(p, job);
		write_lines(p, page_rows(job, "lines"));
		write_levels(p, page_rows(job, "levels"));
		write_life(p, job, events);
	}
	json_object_put(job);
	json_object_put(events);
	return events ? 0 : -1;
}
