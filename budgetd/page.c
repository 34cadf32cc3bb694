/* SPDX-License-Identifier: GPL-2.0-or-later
 * page.c - the frame around each view, the one list of them, and the pieces that they are made of (page.h). */
#include "budgetd/page.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/fairshare.h"
#include "lib/markup.h"
#include "lib/zone.h"
#include <errno.h>
#include <string.h>
#include <time.h>

static const struct page_view views[] = {
	{ "/", "Projects", true, page_tree },
	{ "/queue", "Queue", true, page_queue },
	{ "/project", "Project", false, page_project },
	{ "/job", "Job", false, page_job },
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

const struct page_view *page_view_find(const char *path)
{
	for (size_t i = 0; i < VIEWS; i++)
		if (strcmp(views[i].path, path) == 0)
			return &views[i];
	return NULL;
}

/* --- the frame -------------------------------------------------------------------------------------- */

static void write_menu(const struct page *p, const struct page_view *at)
{
	fputs("<nav aria-label=\"Views\"><ul>\n", p->to);
	for (size_t i = 0; i < VIEWS; i++)
		if (views[i].in_menu)
			fprintf(p->to, "<li><a href=\"%s\"%s>%s</a></li>\n", views[i].path[1] ? views[i].path + 1 : "./",
				&views[i] == at ? " aria-current=\"page\"" : "", views[i].title);
	fputs("</ul></nav>\n<form action=\"job\" role=\"search\"><label for=\"id\">Job</label>"
		"<input id=\"id\" name=\"id\" inputmode=\"numeric\" autocomplete=\"off\" required><button>Show</button></form>\n", p->to);
}

static void write_who(struct page *p)
{
	char name[PERSON_NAME_MAX];

	fputs("<p class=\"who\">", p->to);
	if (p->known) {
		fputs("As ", p->to);
		markup_text(p->to, people_name(p->rq->b->people, p->rq->uid, p->rq->now, name));
		fputs(p->rq->administrator ? ", administrator" : "", p->to);
	} else {
		fputs("Not signed in", p->to);
	}
	fputs("</p>\n", p->to);
}

/* `at` NULL: no view. */
static void write_begin(struct page *p, const struct page_view *at, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", p->to);
	markup_text(p->to, title);
	fputs(" – GPU budgets</title><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		"<link rel=\"stylesheet\" href=\"page.css\"><link rel=\"icon\" href=\"icon.svg\"></head>\n"
		"<body><a class=\"skip\" href=\"#main\">To the content</a>\n<header>\n", p->to);
	write_menu(p, at);
	write_who(p);
	fputs("</header>\n<main id=\"main\" tabindex=\"-1\">\n", p->to);
}

static void write_end(struct page *p)
{
	fputs("</main>\n<footer>As of ", p->to);
	page_time(p, p->rq->now);
	fputs(". Amounts are GPU-hours. Load the page again for what is new.</footer>\n</body></html>\n", p->to);
}

int page_write(struct page *p, const struct page_view *v)
{
	write_begin(p, v, v->title);
	if (v->write(p) < 0)
		return -1;
	write_end(p);
	return 0;
}

void page_write_fault(struct page *p, const char *text)
{
	write_begin(p, NULL, "Not shown");
	fputs("<h1>Not shown</h1>\n<p>", p->to);
	markup_text(p->to, text);
	fputs("</p>\n", p->to);
	write_end(p);
}

/* --- what is shown ---------------------------------------------------------------------------------- */

struct json_object *page_ask(struct page *p, const char *path)
{
	struct request rq = *p->rq;
	const struct route *r = route_find("GET", path, &rq.name);
	int err;

	if (!r) {
		fault_set(p->why, "there is nothing at %.80s", path);
		return NULL;
	}
	if (!p->known && r->who != WHO_ANYONE && r->who != WHO_LIST) {
		fault_errno(p->why, EACCES, "You are not signed in: this is shown to those whose it is.");
		return NULL;
	}
	rq.who = r->who;
	rq.route = r;
	rq.reply = NULL;
	if (route_allows(r, rq.administrator, false, p->why) == 0 && r->handle(&rq, p->why) == 0)
		return rq.reply;
	err = errno;
	json_object_put(rq.reply);
	errno = err;
	return NULL;
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *m = NULL;

	return json_object_object_get_ex(o, key, &m) ? m : NULL;
}

int64_t page_int(struct json_object *o, const char *key)
{
	return json_object_get_int64(member(o, key));	/* 0 of null */
}

const char *page_string(struct json_object *o, const char *key)
{
	struct json_object *m = member(o, key);

	return m ? json_object_get_string(m) : "";
}

bool page_has(struct json_object *o, const char *key)
{
	return member(o, key) != NULL;
}

struct json_object *page_rows(struct json_object *o, const char *key)
{
	struct json_object *m = member(o, key);

	return json_object_is_type(m, json_type_array) ? m : NULL;
}

size_t page_count(struct json_object *rows)
{
	return rows ? json_object_array_length(rows) : 0;
}

/* --- pieces ----------------------------------------------------------------------------------------- */

void page_cell_hours(struct page *p, struct json_object *o, const char *units_key)
{
	char text[AMOUNT_TEXT_MAX];

	fprintf(p->to, "<td class=\"number\">%s</td>",
		page_has(o, units_key) ? amount_text(page_int(o, units_key), text) : "");
}

void page_cell_ppm(struct page *p, struct json_object *o, const char *ppm_key)
{
	char text[FAIRSHARE_TEXT_MAX];

	fprintf(p->to, "<td class=\"number\">%s</td>",
		page_has(o, ppm_key) ? fairshare_text(page_int(o, ppm_key), text) : "");
}

void page_cell_text(struct page *p, const char *text)
{
	fputs("<td>", p->to);
	markup_text(p->to, text);
	fputs("</td>", p->to);
}

void page_cell_time(struct page *p, int64_t at)
{
	fputs("<td>", p->to);
	if (at)
		page_time(p, at);
	fputs("</td>", p->to);
}

const char *page_time_text(const struct page *p, int64_t at, char buf[PAGE_TIME_MAX])
{
	const struct zone *z = p->rq->b->zone;
	time_t local = (time_t)(at + (z ? zone_offset(z, at) : 0));
	struct tm tm;

	if (!gmtime_r(&local, &tm) || strftime(buf, PAGE_TIME_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
		buf[0] = '\0';
	return buf;
}

void page_time(struct page *p, int64_t at)
{
	char text[PAGE_TIME_MAX], machine[ZONE_TEXT_MAX];

	fprintf(p->to, "<time datetime=\"%s\">%s</time>", zone_utc_text(at, machine), page_time_text(p, at, text));
}

void page_table_begin(struct page *p, const char *id, const char *caption, const char *columns)
{
	size_t n;

	fprintf(p->to, "<div class=\"scroll\" role=\"region\" aria-labelledby=\"%s\" tabindex=\"0\"><table><caption id=\"%s\">",
		id, id);
	markup_text(p->to, caption);
	fputs("</caption><thead><tr>", p->to);
	for (const char *at = columns; *at; at += n + (at[n] == '|')) {
		bool number = *at == '#';

		n = strcspn(at, "|");
		fprintf(p->to, "<th scope=\"col\"%s>%.*s</th>", number ? " class=\"number\"" : "", (int)n - number,
			at + number);
	}
	fputs("</tr></thead><tbody>\n", p->to);
}

void page_table_end(struct page *p)
{
	fputs("</tbody></table></div>\n", p->to);
}

void page_link(struct page *p, const char *view, const char *key, const char *name)
{
	fprintf(p->to, "<a href=\"%s?%s=", view, key);
	markup_query(p->to, name);
	fputs("\">", p->to);
	markup_text(p->to, name);
	fputs("</a>", p->to);
}
