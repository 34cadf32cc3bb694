/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_queue.c - the view of the queue in its order: the key of each job, and why the one above is above
 * (page.h).
 *
 * A row for each job, without a picture: 10,000 of them are one table that a browser still scrolls. */
#include "budgetd/page.h"
#include "lib/fairshare.h"
#include "lib/markup.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *front, *told;
} fronts[] = {
	{ "lane", "debug lane" }, { "slot", "in its slot" }, { "share", "by share" }, { "free", "free tier" },
};

static const char *front_told(const char *front)
{
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
		if (strcmp(fronts[i].front, front) == 0)
			return fronts[i].told;
	return front;
}

/* "vision 0.80 / ada 1.20": the ratios by which it is compared, from the top. */
static void cell_path(struct page *p, struct json_object *path)
{
	char ratio[FAIRSHARE_TEXT_MAX];

	fputs("<td>", p->to);
	for (size_t i = 0; i < page_count(path); i++) {
		struct json_object *level = json_object_array_get_idx(path, i);

		fputs(i ? " / " : "", p->to);
		markup_text(p->to, page_string(level, "name"));
		fprintf(p->to, " <b>%s</b>",
			page_has(level, "ratio_ppm") ? fairshare_text(page_int(level, "ratio_ppm"), ratio) : "no share");
	}
	fputs("</td>", p->to);
}

/* The path of a project that has no other below ends above that of another: both begin alike. */
static void write_ratio(struct page *p, struct json_object *b)
{
	char own[FAIRSHARE_TEXT_MAX], other[FAIRSHARE_TEXT_MAX];

	if (!page_has(b, "ahead")) {
		fputs("further down the tree the one above has had less of its share", p->to);
		return;
	}
	markup_text(p->to, page_string(b, "ahead"));
	if (page_has(b, "ahead_ratio_ppm"))
		fprintf(p->to, " has %s", fairshare_text(page_int(b, "ahead_ratio_ppm"), other));
	else
		fputs(" has had less of its share", p->to);
	fputs(", ", p->to);
	markup_text(p->to, page_string(b, "name"));
	if (page_has(b, "ratio_ppm"))
		fprintf(p->to, " %s", fairshare_text(page_int(b, "ratio_ppm"), own));
	else
		fputs(" has no share", p->to);
}

static void cell_behind(struct page *p, struct json_object *row)
{
	struct json_object *b = NULL;
	const char *because;

	fputs("<td class=\"text\">", p->to);
	if (json_object_object_get_ex(row, "behind", &b) && b) {
		because = page_string(b, "because");
		if (strcmp(because, "ratio") == 0)
			write_ratio(p, b);
		else
			fputs(strcmp(because, "front") == 0 ? "the one above goes before the order by share"
				: strcmp(because, "team_rank") == 0 ? "its own team put that one first"
				: "same ratios: that one was submitted first, or its team put it in that turn", p->to);
	}
	fputs("</td>", p->to);
}

static void write_row(struct page *p, struct json_object *row)
{
	char number[24];

	fprintf(p->to, "<tr><td class=\"number\">%jd</td><th scope=\"row\">", (intmax_t)page_int(row, "position"));
	snprintf(number, sizeof(number), "%jd", (intmax_t)page_int(row, "job"));
	page_link(p, "job", "id", number);
	fputs("</th>", p->to);
	page_cell_text(p, page_string(row, "user"));
	fprintf(p->to, "<td class=\"number\">%jd</td>", (intmax_t)page_int(row, "gpus"));
	fprintf(p->to, "<td class=\"number\">%jd</td>", (intmax_t)page_int(row, "tasks"));
	page_cell_text(p, front_told(page_string(row, "front")));
	cell_path(p, page_rows(row, "path"));
	snprintf(number, sizeof(number), "%jd", (intmax_t)page_int(row, "team_rank"));
	fprintf(p->to, "<td class=\"number\">%s</td>", page_int(row, "team_rank") ? number : "");
	page_cell_time(p, page_int(row, "asked_at"));
	cell_behind(p, row);
	fputs("</tr>\n", p->to);
}

/* Jobs between two rows that the caller does not see. */
static void write_gap(struct page *p, int64_t jobs)
{
	if (jobs > 0)
		fprintf(p->to, "<tr><td></td><td class=\"quiet\" colspan=\"9\">%jd %s of projects that you do not see, or did not ask for</td></tr>\n",
			(intmax_t)jobs, jobs == 1 ? "job" : "jobs");
}

/* Rows of one tier, from *i on. */
static void write_tier(struct page *p, struct json_object *rows, size_t *i, bool free, int64_t all)
{
	int64_t last = 0;

	if (!all)
		return;
	fprintf(p->to, "<h2>%s: %jd</h2>\n", free ? "In the free tier" : "Funded", (intmax_t)all);
	page_table_begin(p, free ? "free" : "funded", free
		? "Behind all funded jobs; those projects first that had least of the free tier for their share"
		: "The first goes first. Compared is what goes before the ratios, then the path of ratios level by level, then the team's own order, "
		"then the time of submission",
		"#Place|Job|User|#GPUs|#Tasks|Goes|Ratios from the top|#Team rank|Submitted|Why it is behind the one above");
	for (; *i < page_count(rows); ++*i) {
		struct json_object *row = json_object_array_get_idx(rows, *i);

		if (!free && strcmp(page_string(row, "front"), "free") == 0)
			break;
		write_gap(p, page_int(row, "position") - last - 1);
		write_row(p, row);
		last = page_int(row, "position");
	}
	write_gap(p, all - last);
	page_table_end(p);
}

int page_queue(struct page *p)
{
	struct json_object *queue = page_ask(p, "/v1/queue"), *rows = queue ? page_rows(queue, "rows") : NULL;
	size_t i = 0;

	if (!queue)
		return -1;
	fputs("<h1>Queue</h1>\n", p->to);
	if (!page_has(queue, "at")) {
		fputs("<p>budgetd has not looked at Slurm yet.</p>\n", p->to);
	} else {
		fputs("<p>As it was at ", p->to);
		page_time(p, page_int(queue, "at"));
		fprintf(p->to, ": %jd funded jobs wait and %jd in the free tier.%s</p>\n", (intmax_t)page_int(queue, "funded"),
			(intmax_t)page_int(queue, "free"), p->known ? "" : " You are not signed in, so none of them is shown.");
	}
	if (p->known) {
		write_tier(p, rows, &i, false, page_int(queue, "funded"));
		write_tier(p, rows, &i, true, page_int(queue, "free"));
	}
	json_object_put(queue);
	return 0;
}
