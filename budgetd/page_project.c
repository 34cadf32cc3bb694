/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_project.c - the view of one project: what it was entitled to and got over time, how its balance burns
 * down, and its allocations (page.h). */
#include "budgetd/page.h"
#include "lib/duration.h"
#include "lib/fairshare.h"
#include "lib/markup.h"
#include "lib/svg.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 900
#define HEIGHT 260
#define LEFT 90			/* for the amounts beside the axis */
#define TOP 12
#define BOTTOM 30		/* for the times below it */
#define GRID 4			/* lines across */
#define ROWS_SHOWN 14		/* of the table that says the same */

struct chart {
	struct page *p;
	int64_t from, to;
	amount_t top;
};

static int at_x(const struct chart *c, int64_t at)
{
	double part = (double)(at - c->from) / (double)(c->to > c->from ? c->to - c->from : 1);

	return LEFT + (int)((part < 0 ? 0 : part > 1 ? 1 : part) * (WIDTH - LEFT - 4));
}

static int at_y(const struct chart *c, amount_t units)
{
	double part = c->top > 0 ? (double)units / (double)c->top : 0;

	return TOP + (int)((1 - (part < 0 ? 0 : part > 1 ? 1 : part)) * (HEIGHT - TOP - BOTTOM));
}

static void chart_begin(const struct chart *c, const char *title)
{
	char text[AMOUNT_TEXT_MAX], from[PAGE_TIME_MAX], to[PAGE_TIME_MAX];
	FILE *out = c->p->to;

	svg_begin(out, WIDTH, HEIGHT, "class=\"wide\"", title);
	for (int i = 0; i <= GRID; i++) {
		amount_t units = c->top / GRID * i;
		int y = at_y(c, units);

		svg_line(out, LEFT, y, WIDTH - 4, y, "class=\"rule\"");
		svg_text(out, LEFT - 6, y + 4, "text-anchor=\"end\"", amount_text(units, text));
	}
	svg_text(out, LEFT, HEIGHT - 8, "", page_time_text(c->p, c->from, from));
	svg_text(out, WIDTH - 4, HEIGHT - 8, "text-anchor=\"end\"", page_time_text(c->p, c->to, to));
}

/* Of the rows, what stands under `key`; from 0 at the beginning where that is known, and never a point alone. */
static void draw_line(const struct chart *c, struct json_object *rows, const char *key, bool from_zero, const char *look)
{
	struct svg_path path = svg_path_begin(c->p->to, look);

	if (from_zero || page_count(rows) == 1)
		svg_path_to(&path, at_x(c, c->from),
			at_y(c, from_zero ? 0 : page_int(json_object_array_get_idx(rows, 0), key)));
	for (size_t i = 0; i < page_count(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		svg_path_to(&path, at_x(c, page_int(row, "at")), at_y(c, page_int(row, key)));
	}
	svg_path_end(&path);
}

static amount_t largest(struct json_object *rows, const char *const *keys, size_t n)
{
	amount_t most = 0;

	for (size_t i = 0; i < page_count(rows); i++)
		for (size_t k = 0; k < n; k++) {
			amount_t units = page_int(json_object_array_get_idx(rows, i), keys[k]);

			most = units > most ? units : most;
		}
	return most;
}

/* --- entitled and delivered ------------------------------------------------------------------------- */

static void write_share_rows(struct page *p, struct json_object *rows)
{
	static const char *const keys[] = { "entitled_units", "occupied_units", "owed_units", "delivered_units" };
	size_t n = page_count(rows), step = n / ROWS_SHOWN + 1;

	page_table_begin(p, "share", "The same in numbers: sums from the beginning on", "Up to|#Entitled|#Had|#Owed|#Delivered");
	for (size_t i = (n - 1) % step; i < n; i += step) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		fputs("<tr>", p->to);
		page_cell_time(p, page_int(row, "at"));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			page_cell_hours(p, row, keys[k]);
		fputs("</tr>\n", p->to);
	}
	page_table_end(p);
}

static void write_share(struct page *p, struct json_object *series)
{
	static const char *const keys[] = { "entitled_units", "delivered_units", "owed_units" };
	struct json_object *rows = page_rows(series, "rows");
	struct chart c = { .p = p, .from = p->rq->now - page_int(series, "window_s"), .to = p->rq->now,
		.top = largest(rows, keys, 3) };
	char window[DURATION_TEXT_MAX], title[200];

	fprintf(p->to, "<h2>Entitled and delivered, the last %s</h2>\n", duration_text(page_int(series, "window_s"), window));
	if (!page_count(rows)) {
		fputs("<p>It has no share in this time.</p>\n", p->to);
		return;
	}
	snprintf(title, sizeof(title), "GPU-hours since %s ago: entitled, owed and delivered, summed up; the table below says the same", window);
	chart_begin(&c, title);
	draw_line(&c, rows, "entitled_units", true, "class=\"a\"");
	draw_line(&c, rows, "owed_units", true, "class=\"b\"");
	draw_line(&c, rows, "delivered_units", true, "class=\"c\"");
	svg_end(p->to);
	fputs("<p class=\"quiet\"><span class=\"key\">full line: entitled by its share</span><span class=\"key\">long dashes: owed, as far as it had jobs</span>"
		"<span class=\"key\">dots: delivered of it</span></p>\n", p->to);
	write_share_rows(p, rows);
}

/* --- burn-down -------------------------------------------------------------------------------------- */

static void write_balance_rows(struct page *p, struct json_object *rows)
{
	size_t n = page_count(rows), step = n / ROWS_SHOWN + 1;

	page_table_begin(p, "burn", "The same in numbers", "Up to|#Balance");
	for (size_t i = (n - 1) % step; i < n; i += step) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		fputs("<tr>", p->to);
		page_cell_time(p, page_int(row, "at"));
		page_cell_hours(p, row, "balance_units");
		fputs("</tr>\n", p->to);
	}
	page_table_end(p);
}

/* The line of an even use goes from what it was at its highest to nothing at the end. */
static void write_balance(struct page *p, struct json_object *series)
{
	static const char *const keys[] = { "balance_units" };
	struct json_object *rows = page_rows(series, "balance");
	int64_t now = p->rq->now, ends = page_int(series, "ends"), starts = page_int(series, "starts");
	struct chart c = { .p = p, .from = starts, .to = ends > now ? ends : now, .top = largest(rows, keys, 1) };

	fputs("<h2>Its balance</h2>\n", p->to);
	if (!page_count(rows)) {
		fputs("<p>It has no allocation of its own that is live.</p>\n", p->to);
		return;
	}
	if (page_int(json_object_array_get_idx(rows, 0), "at") - starts > 86400)
		c.from = page_int(json_object_array_get_idx(rows, 0), "at");	/* longer ago than is shown */
	chart_begin(&c, "The balance of its live allocations over time, in GPU-hours; the table below says the same");
	if (ends)
		svg_line(p->to, at_x(&c, c.from), at_y(&c, c.top), at_x(&c, ends), at_y(&c, 0), "class=\"line\" stroke-dasharray=\"2 4\"");
	draw_line(&c, rows, "balance_units", false, "class=\"a\"");
	svg_end(p->to);
	fprintf(p->to, "<p class=\"quiet\"><span class=\"key\">full line: balance, what was given less what was charged</span>%s</p>\n",
		ends ? "<span class=\"key\">dots: an even use up to the end</span>" : "<span class=\"key\">it has no end</span>");
	write_balance_rows(p, rows);
}

/* --- allocations ------------------------------------------------------------------------------------ */

static void write_allocations(struct page *p, struct json_object *allocations, const char *project)
{
	struct json_object *rows = page_rows(allocations, "rows");

	fputs("<h2>Allocations</h2>\n", p->to);
	page_table_begin(p, "allocations", "Its own, the expired ones too", "Allocation|State|From|Until|#Amount|#Charged|#Held|#Left|Comment");
	for (size_t i = 0; i < page_count(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(page_string(row, "project"), project) != 0)
			continue;
		fprintf(p->to, "<tr><th scope=\"row\">%jd</th>", (intmax_t)page_int(row, "id"));
		page_cell_text(p, page_string(row, "state"));
		page_cell_time(p, page_int(row, "starts"));
		page_cell_time(p, page_int(row, "ends"));
		page_cell_hours(p, row, "amount_units");
		page_cell_hours(p, row, "charged_units");
		page_cell_hours(p, row, "held_units");
		page_cell_hours(p, row, "free_units");
		fputs("<td class=\"text\">", p->to);
		markup_text(p->to, page_string(row, "comment"));
		fputs("</td></tr>\n", p->to);
	}
	page_table_end(p);
}

int page_project(struct page *p)
{
	const char *name = request_query(p->rq, "project");
	struct json_object *series, *allocations;

	if (!name || !*name)
		return fault_errno(p->why, EINVAL, "Say which project: choose one of the tree.");
	series = page_ask(p, "/v1/series");
	allocations = series ? page_ask(p, "/v1/allocations") : NULL;
	if (allocations) {
		fputs("<h1>Project ", p->to);
		markup_text(p->to, name);
		fputs("</h1>\n<p><a href=\"./?project=", p->to);
		markup_query(p->to, name);
		fputs("\">Its part of the tree</a> · <a href=\"queue?project=", p->to);
		markup_query(p->to, name);
		fputs("\">its jobs in the queue</a></p>\n", p->to);
		write_share(p, series);
		write_balance(p, series);
		write_allocations(p, allocations, name);
	}
	json_object_put(allocations);
	json_object_put(series);
	return allocations ? 0 : -1;
}
