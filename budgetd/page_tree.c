/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_tree.c - the view of the tree: shares, ratios, what each got, and what is left of budgets (page.h). */
#include "budgetd/page.h"
#include "lib/duration.h"
#include "lib/markup.h"
#include "lib/svg.h"
#include <stdio.h>

#define BAR_WIDTH 100
#define BAR_HEIGHT 12
#define RATIO_SHOWN_PPM 2000000		/* the end of the scale: twice its share */

/* How far along a bar; a part that is not there has no width. */
static int along(amount_t part, amount_t whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	return part >= whole ? BAR_WIDTH : (int)((double)part / (double)whole * BAR_WIDTH);
}

/* The mark is where a project has had just its share. */
static void draw_ratio(struct page *p, int64_t ratio_ppm)
{
	svg_begin(p->to, BAR_WIDTH, BAR_HEIGHT, "", NULL);
	svg_rect(p->to, 0, 0, BAR_WIDTH, BAR_HEIGHT, "class=\"ground\"");
	if (ratio_ppm > 0)
		svg_rect(p->to, 0, 2, along(ratio_ppm, RATIO_SHOWN_PPM), BAR_HEIGHT - 4,
			ratio_ppm > 1000000 ? "class=\"held\"" : "class=\"funded\"");
	svg_rect(p->to, BAR_WIDTH / 2, 0, 1, BAR_HEIGHT, "class=\"mark\"");
	svg_end(p->to);
}

/* Charged, held and available of what was given. */
static void draw_budget(struct page *p, struct json_object *balance)
{
	amount_t charged = page_int(balance, "charged_units"), held = page_int(balance, "held_units"),
		whole = page_int(balance, "amount_units") + page_int(balance, "credit_units");
	int a = along(charged, whole), b = along(charged + held, whole);

	svg_begin(p->to, BAR_WIDTH, BAR_HEIGHT, "", NULL);
	svg_rect(p->to, 0, 0, BAR_WIDTH, BAR_HEIGHT, whole > 0 ? "class=\"left\"" : "class=\"ground\"");
	if (a)
		svg_rect(p->to, 0, 0, a, BAR_HEIGHT, "class=\"charged\"");
	if (b > a)
		svg_rect(p->to, a, 0, b - a, BAR_HEIGHT, "class=\"held\"");
	svg_end(p->to);
}

/* Of what it was owed; nothing was owed: all was delivered. */
static void cell_delivered(struct page *p, struct json_object *row)
{
	amount_t owed = page_int(row, "owed_units"), delivered = page_int(row, "delivered_units");

	if (owed)
		fprintf(p->to, "<td class=\"number\">%.1f %%</td>", 100.0 * (double)delivered / (double)owed);
	else
		fputs("<td class=\"number\"></td>", p->to);
}

static void cells_budget(struct page *p, struct json_object *balance)
{
	if (!page_has(balance, "amount_units")) {
		fputs("<td class=\"quiet\" colspan=\"4\">no budget: bounded by its share alone</td>", p->to);
		return;
	}
	page_cell_hours(p, balance, "charged_units");
	page_cell_hours(p, balance, "held_units");
	page_cell_hours(p, balance, "available_units");
	fputs("<td>", p->to);
	draw_budget(p, balance);
	fputs("</td>", p->to);
}

/* `balance` NULL: a user's row. */
static void write_row(struct page *p, struct json_object *row, struct json_object *balance)
{
	int64_t depth = page_int(row, "depth"), ratio = page_int(row, "ratio_ppm");
	bool user = page_has(row, "user");

	fprintf(p->to, "<tr class=\"d%d%s\"><th scope=\"row\">", (int)(depth > 5 ? 5 : depth), user ? " user" : "");
	if (user)
		markup_text(p->to, page_string(row, "name"));
	else
		page_link(p, "project", "project", page_string(row, "name"));
	fputs("</th>", p->to);
	page_cell_ppm(p, row, "share_ppm");
	page_cell_ppm(p, row, "ratio_ppm");
	fputs("<td>", p->to);
	draw_ratio(p, page_has(row, "ratio_ppm") ? ratio : 0);
	fputs("</td>", p->to);
	page_cell_hours(p, row, "entitled_units");
	page_cell_hours(p, row, "occupied_units");
	page_cell_hours(p, row, "owed_units");
	cell_delivered(p, row);
	page_cell_hours(p, row, "free_units");
	if (balance)
		cells_budget(p, balance);
	else
		fputs("<td colspan=\"4\"></td>", p->to);
	fputs("</tr>\n", p->to);
}

static void write_rows(struct page *p, struct json_object *tree, struct json_object *balances)
{
	struct json_object *rows = page_rows(tree, "rows"), *money = page_rows(balances, "rows"),
		*by_name = json_object_new_object();

	for (size_t i = 0; i < page_count(money); i++) {
		struct json_object *row = json_object_array_get_idx(money, i);

		json_object_object_add(by_name, page_string(row, "project"), json_object_get(row));
	}
	for (size_t i = 0; i < page_count(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i), *balance = NULL;

		if (!page_has(row, "user"))
			json_object_object_get_ex(by_name, page_string(row, "project"), &balance);
		write_row(p, row, balance);
	}
	json_object_put(by_name);
}

static void write_table(struct page *p, struct json_object *tree, struct json_object *balances)
{
	char window[DURATION_TEXT_MAX], caption[320];

	snprintf(caption, sizeof(caption),
		"The last %s. Ratio: what a project had over what its share entitled it to, the mark in the bar is 1.00; the smaller goes first. "
		"Delivered is of what it was owed, which is its share as far as it had jobs for it.",
		duration_text(page_int(tree, "window_s"), window));
	page_table_begin(p, "tree", caption,
		"Project|#Share|#Ratio|Ratio, drawn|#Entitled|#Had|#Owed|#Delivered|#In the free tier|#Charged|#Held|#Available|Budget, drawn");
	write_rows(p, tree, balances);
	page_table_end(p);
	fputs("<p class=\"quiet\">Budget, drawn: charged, then held, then what is left.</p>\n", p->to);
}

static int write_cluster(struct page *p)
{
	struct json_object *health = page_ask(p, "/v1/health");

	if (!health)
		return -1;
	fputs("<p>", p->to);
	markup_text(p->to, page_has(health, "cluster") ? page_string(health, "cluster") : "The cluster");
	if (page_has(health, "last_pass_at")) {
		fprintf(p->to, " has %jd GPUs, %jd of them healthy, and %jd jobs; budgetd looked at it last at ",
			(intmax_t)page_int(health, "gpus"), (intmax_t)page_int(health, "healthy_gpus"),
			(intmax_t)page_int(health, "jobs"));
		page_time(p, page_int(health, "last_pass_at"));
		fputs(".</p>\n", p->to);
	} else {
		fputs(" was not seen yet.</p>\n", p->to);
	}
	json_object_put(health);
	return 0;
}

/* What a GPU-hour costs: anybody may know. */
static int write_rates(struct page *p)
{
	struct json_object *rates = page_ask(p, "/v1/rates"), *rows = rates ? page_rows(rates, "rows") : NULL;

	if (!rates)
		return -1;
	if (page_count(rows)) {
		page_table_begin(p, "rates", "Rates: what one GPU-hour of a type costs in GPU-hours of a budget", "GPU type|#Rate|From");
		for (size_t i = 0; i < page_count(rows); i++) {
			struct json_object *row = json_object_array_get_idx(rows, i);

			fputs("<tr>", p->to);
			page_cell_text(p, page_string(row, "gpu_type"));
			fprintf(p->to, "<td class=\"number\">%.3f</td>", (double)page_int(row, "thousandths") / 1000);
			page_cell_time(p, page_int(row, "valid_from"));
			fputs("</tr>\n", p->to);
		}
		page_table_end(p);
	} else {
		fputs("<p>Each GPU-hour costs one GPU-hour: no rates are set.</p>\n", p->to);
	}
	json_object_put(rates);
	return 0;
}

int page_tree(struct page *p)
{
	struct json_object *tree, *balances;
	int rc = -1;

	fputs("<h1>Projects</h1>\n", p->to);
	if (write_cluster(p) < 0)
		return -1;
	tree = page_ask(p, "/v1/tree");
	balances = tree ? page_ask(p, "/v1/balances") : NULL;
	if (balances) {
		if (page_count(page_rows(tree, "rows")))
			write_table(p, tree, balances);
		else
			fprintf(p->to, "<p>%s</p>\n", p->known
				? "You are an owner or a member of no project; an owner can add you."
				: "You are not signed in. Projects are shown to their owners and members.");
		rc = write_rates(p);
	}
	json_object_put(balances);
	json_object_put(tree);
	return rc;
}
