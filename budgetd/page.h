/* SPDX-License-Identifier: GPL-2.0-or-later
 * page.h - what people look at in a browser: HTML that says what the calls of routes.c say, for reading only
 *
 * A view asks those calls as the caller would (page_ask), with the caller's rights, and writes down what they
 * answer: nothing is read or judged a second time, and who may not ask for something does not see it. There
 * is no script in it, and nothing of it comes from elsewhere. Addresses are relative and all of one level, so
 * that a proxy may put the whole below any path.
 *
 * Threads  page_start and page_stop from one; all else belongs to the thread of the port, which has a reader
 *          of the books of its own: who looks at a long page delays nobody but others who do */
#ifndef BUDGETD_PAGE_H
#define BUDGETD_PAGE_H
#include <stdio.h>
#include "budgetd/request.h"

/* --- the port -------------------------------------------------------------------------------------- */

struct page_door;
/* Listens at `page_listen`; where that is empty *out is NULL. `b` must outlive it. 0, or -1. */
int page_start(const struct budgetd *b, struct page_door **out, struct fault *why);
void page_stop(struct page_door *d);	/* NULL is fine */

/* --- who looks ------------------------------------------------------------------------------------- */

/* What is known of a request without believing it. NULL = not there. */
struct page_sender {
	const char *peer;		/* the address of the other end, a number */
	const char *user, *secret;	/* of the headers `page_user_header` and X-Gpubudget-Secret */
	int headers;			/* how many there are of the first of them */
};

/* The name of who asks, as a proxy says that is named in `page_proxies` and knows the secret. 1 and *name,
 * borrowed; 0: nobody says it, and the page shows what anybody may see; -1 and EACCES: it is said by somebody
 * who is not believed. `secret` is that of page_secret_read. */
int page_user(const struct settings *s, const char *secret, const struct page_sender *from, const char **name,
	struct fault *why);

/* The first line of `page_secret_file`, to be freed: at least 16 characters, of a file that others can
 * neither read nor write. 0, or -1. */
int page_secret_read(const char *path, char **out, struct fault *why);

/* --- writing --------------------------------------------------------------------------------------- */

struct page {
	struct request *rq;
	bool known;			/* it is known who asks; else rq->uid is nobody's */
	FILE *to;
	struct fault *why;
};

/* A row of the one list of views (page.c). */
struct page_view {
	const char *path, *title;
	bool in_menu;
	int (*write)(struct page *p);	/* what is in <main>; 0, or -1 with errno and p->why */
};
const struct page_view *page_view_find(const char *path);	/* NULL = there is none */

/* What does not change: NULL = there is nothing at `path`. */
struct page_file {
	const char *path, *type, *text;
};
const struct page_file *page_file_find(const char *path);

/* The whole document. 0, or -1 with errno and p->why: what was written is to be thrown away. */
int page_write(struct page *p, const struct page_view *v);
/* A document that says what went wrong. */
void page_write_fault(struct page *p, const char *text);

/* What the call answers to this caller, to be freed with json_object_put: "/v1/jobs/12"; its query is that of
 * the page. NULL, errno and p->why. */
struct json_object *page_ask(struct page *p, const char *path);

/* The views, one file each. */
int page_tree(struct page *p);
int page_queue(struct page *p);
int page_project(struct page *p);
int page_job(struct page *p);

/* --- pieces of views ------------------------------------------------------------------------------- */

/* Of a row of an answer; 0 and "" when it is null or not there. */
int64_t page_int(struct json_object *o, const char *key);
const char *page_string(struct json_object *o, const char *key);
bool page_has(struct json_object *o, const char *key);	/* and it is not null */
/* the array, or NULL; and how many are in it, 0 of NULL */
struct json_object *page_rows(struct json_object *o, const char *key);
size_t page_count(struct json_object *rows);

/* Cells of a table; the last argument is escaped. */
void page_cell_hours(struct page *p, struct json_object *o, const char *units_key);	/* GPU-hours */
void page_cell_ppm(struct page *p, struct json_object *o, const char *ppm_key);
void page_cell_text(struct page *p, const char *text);
void page_cell_time(struct page *p, int64_t at);	/* 0 = an empty cell */

/* A moment, as <time>: in the time zone of the settings. */
void page_time(struct page *p, int64_t at);
/* The same as text: "2026-11-30 21:53". Returns buf. */
#define PAGE_TIME_MAX 48
const char *page_time_text(const struct page *p, int64_t at, char buf[PAGE_TIME_MAX]);

/* The beginning of a table that can be moved sideways where it does not fit, with its caption and the heads
 * of its columns, "Share|Ratio|"; one that begins with # is of numbers. And its end. */
void page_table_begin(struct page *p, const char *id, const char *caption, const char *columns);
void page_table_end(struct page *p);

/* A link to a job, or to a project. */
void page_link(struct page *p, const char *view, const char *key, const char *name);

#endif
