/* SPDX-License-Identifier: GPL-2.0-or-later
 * digest.c - digest: the week of each project as sentences, for a mail or a message
 *
 * Four lists of budgetd and a forecast for each project that has a budget of its own; nothing is computed here
 * that they do not say. */
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "budgetctl/usage.h"
#include "budgetctl/when.h"
#include "lib/amount.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WEEK_S     INT64_C(604800)
#define TOP_USERS  3
#define DIGEST_LINE_MAX 512

struct digest {
	struct usage_range week, before;
	struct json_object *balances, *used, *used_before;
};

static const char *text_of(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(row, key, &v);
	return v ? json_object_get_string(v) : "";
}

/* The row of that name; NULL: it used nothing. */
static struct json_object *row_of(struct json_object *rows, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		if (!strcmp(text_of(json_object_array_get_idx(rows, i), "name"), name))
			return json_object_array_get_idx(rows, i);
	return NULL;
}

static bool at_or_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]);
}

/* By the project and all below it, as its balance and its users are. */
static int64_t used_of(const struct digest *d, struct json_object *rows, const char *path, const char *key)
{
	int64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(d->balances); i++) {
		struct json_object *balance = json_object_array_get_idx(d->balances, i),
			*row = row_of(rows, text_of(balance, "project"));

		if (row && at_or_below(text_of(balance, "path"), path))
			sum += usage_number(row, key);
	}
	return sum;
}

/* --- of one project ---------------------------------------------------------------------------------- */

static void say_used(const struct digest *d, const char *path)
{
	char used[AMOUNT_TEXT_MAX], before[AMOUNT_TEXT_MAX], unpaid[AMOUNT_TEXT_MAX], line[DIGEST_LINE_MAX];

	snprintf(line, sizeof(line), "  used %s GPU-hours, %s of them in the free tier; %s in the week before",
		amount_text(used_of(d, d->used, path, "gpu_units"), used),
		amount_text(used_of(d, d->used, path, "free_gpu_units"), unpaid),
		amount_text(used_of(d, d->used_before, path, "gpu_units"), before));
	say_line(stdout, 0, line);
}

static void say_balance(struct json_object *balance)
{
	char left[AMOUNT_TEXT_MAX], held[AMOUNT_TEXT_MAX], amount[AMOUNT_TEXT_MAX], line[DIGEST_LINE_MAX];

	snprintf(line, sizeof(line), "  can spend %s of %s GPU-hours; %s are held for jobs",
		amount_text(usage_number(balance, "available_units"), left),
		amount_text(usage_number(balance, "amount_units"), amount),
		amount_text(usage_number(balance, "held_units"), held));
	say_line(stdout, 0, line);
}

static int say_forecast(struct session *s, const char *project)
{
	char *path = request_query("/v1/forecast", "project", project, (char *)NULL), at[WHEN_TEXT_MAX],
		line[DIGEST_LINE_MAX];
	struct json_object *rows = NULL, *row;
	int rv = session_fetch(s, path, &rows);

	free(path);
	row = rv == DONE ? json_object_array_get_idx(rows, 0) : NULL;
	if (row && *text_of(row, "decided_by")) {
		snprintf(line, sizeof(line), "  as it runs now: %s is %s at %s", text_of(row, "decided_by"),
			text_of(row, "end"), when_text(usage_number(row, "at"), false, at));
		say_line(stdout, 0, line);
	}
	json_object_put(rows);
	return rv;
}

/* Of two who used the same, by name. */
static int most_first(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
	int64_t m = usage_number(x, "gpu_units"), n = usage_number(y, "gpu_units");

	return m != n ? (m < n ? 1 : -1) : strcmp(text_of(x, "name"), text_of(y, "name"));
}

/* Those who used most, and how much of it. */
static int say_users(struct session *s, const struct digest *d, const char *project)
{
	struct usage_range r = d->week;
	struct json_object *rows = NULL;
	char line[DIGEST_LINE_MAX] = "  most by", amount[AMOUNT_TEXT_MAX];
	size_t told = 0;
	int rv;

	r.project = project;
	rv = usage_ask(s, &r, "user", &rows);
	if (rv == DONE)
		json_object_array_sort(rows, most_first);
	for (; rv == DONE && told < TOP_USERS && told < json_object_array_length(rows); told++) {
		struct json_object *row = json_object_array_get_idx(rows, told);
		int64_t n = usage_number(row, "gpu_units");

		if (n <= 0)
			break;
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s %.60s (%s)", told ? "," : "",
			text_of(row, "name"), amount_text(n, amount));
	}
	if (told)
		say_line(stdout, 0, line);
	json_object_put(rows);
	return rv;
}

/* Projects that neither have a budget nor used anything are left out. */
static int say_project(struct session *s, const struct digest *d, struct json_object *balance)
{
	const char *project = text_of(balance, "project");
	struct json_object *metered = NULL;
	bool has_budget;
	int rv = DONE;

	json_object_object_get_ex(balance, "metered", &metered);
	has_budget = json_object_get_boolean(metered);
	if (!has_budget && !row_of(d->used, project) && !row_of(d->used_before, project))
		return DONE;
	say_line(stdout, 0, text_of(balance, "path"));
	say_used(d, text_of(balance, "path"));
	if (has_budget) {
		say_balance(balance);
		rv = say_forecast(s, project);
	}
	return rv == DONE ? say_users(s, d, project) : rv;
}

/* --- all of it ---------------------------------------------------------------------------------------- */

static int ask_all(struct session *s, struct digest *d)
{
	char *path = request_query("/v1/balances", "project", d->week.project, (char *)NULL);
	int rv = session_fetch(s, path, &d->balances);

	free(path);
	if (rv == DONE)
		rv = usage_ask(s, &d->week, "project", &d->used);
	return rv == DONE ? usage_ask(s, &d->before, "project", &d->used_before) : rv;
}

int cmd_digest(struct session *s)
{
	struct digest d = { 0 };
	int rv = usage_range_read(s, "now-7d", &d.week);

	if (rv == DONE && s->style.format != FORMAT_TABLE)
		rv = complain(USAGE, "a digest is text: leave out -o; report and balance have the figures");
	if (rv != DONE)
		return rv;
	d.before = d.week;
	d.before.to = d.week.from;
	d.before.from = d.week.from - WEEK_S;
	rv = ask_all(s, &d);
	if (rv == DONE)
		usage_range_say(s, &d.week);
	for (size_t i = 0; rv == DONE && i < json_object_array_length(d.balances); i++)
		rv = say_project(s, &d, json_object_array_get_idx(d.balances, i));
	json_object_put(d.balances);
	json_object_put(d.used);
	json_object_put(d.used_before);
	return rv;
}
