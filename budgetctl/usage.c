/* SPDX-License-Identifier: GPL-2.0-or-later
 * usage.c - report and usage: who or what used how much of a range of time */
#include "budgetctl/usage.h"
#include "budgetctl/bar.h"
#include "budgetctl/range.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/when.h"
#include "budgetctl/wrap.h"
#include "lib/amount.h"
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- the range ------------------------------------------------------------------------------------ */

int usage_range_read(struct session *s, const char *since, struct usage_range *out)
{
	const char *from = session_option(s, OPT_FROM), *to = session_option(s, OPT_TO);
	struct fault why = { "" };
	int64_t now = time(NULL);
	int rv;

	*out = (struct usage_range){ .project = session_word(s, 0), .to = now };
	rv = range_zone(s, &out->zone);
	if (!out->project)
		out->project = session_option(s, OPT_PROJECT);
	if (rv != DONE)
		return rv;
	if (when_parse(from ? from : since, now, &out->from, &why) < 0)
		return complain(USAGE, "--from: %s", why.text);
	if (to && when_parse(to, now, &out->to, &why) < 0)
		return complain(USAGE, "--to: %s", why.text);
	if (out->to <= out->from)
		return complain(USAGE, "the range ends before it begins: --from has to be before --to");
	return DONE;
}

void usage_range_say(const struct session *s, const struct usage_range *r)
{
	char from[WHEN_TEXT_MAX], to[WHEN_TEXT_MAX];

	if (s->style.format != FORMAT_TABLE)
		return;
	when_text(r->from, true, from);
	when_text(r->to, true, to);
	printf("%s to %s, %s\n", from, to, r->zone);
}

/* --- asking --------------------------------------------------------------------------------------- */

int64_t usage_number(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(row, key, &v);
	return json_object_get_int64(v);
}

static int ask(struct session *s, const struct usage_range *r, const char *by, int64_t from, int64_t to,
	struct json_object **rows)
{
	char since[24], until[24], *path;
	int rv;

	snprintf(since, sizeof(since), "%" PRId64, from);
	snprintf(until, sizeof(until), "%" PRId64, to);
	path = request_query("/v1/usage", "by", by, "from", since, "to", until, "project", r->project,
		(char *)NULL);
	rv = session_fetch(s, path, rows);
	free(path);
	return rv;
}

/* The first moment of the next local day: its noon is safe from changes of the clocks. */
static int64_t next_day(int64_t at, char name[16])
{
	time_t t = at;
	struct tm day;

	localtime_r(&t, &day);
	strftime(name, 16, "%Y-%m-%d", &day);
	day.tm_mday++;
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return mktime(&day);
}

static const char *const summed[] = { "runs", "gpu_units", "free_gpu_units", "charged_units",
	"refunded_units" };

/* All projects of it in one row. */
static int day_add(struct json_object *days, const char *name, struct json_object *rows)
{
	struct json_object *o = json_object_new_object();

	if (!o || request_text(o, "name", name) < 0 || json_object_array_add(days, o) < 0)
		return out_of_memory();
	for (size_t k = 0; k < ARRAY_SIZE(summed); k++) {
		int64_t sum = 0;

		for (size_t i = 0; i < json_object_array_length(rows); i++)
			sum += usage_number(json_object_array_get_idx(rows, i), summed[k]);
		if (request_number(o, summed[k], sum) < 0)
			return out_of_memory();
	}
	return DONE;
}

static int ask_days(struct session *s, const struct usage_range *r, struct json_object *days)
{
	int rv = DONE, n = 0;

	for (int64_t at = r->from, next; rv == DONE && at < r->to; at = next) {
		struct json_object *rows = NULL;
		char name[16];

		next = next_day(at, name);
		if (++n > USAGE_DAYS_MAX)
			return complain(USAGE, "a range by day has at most %d days", USAGE_DAYS_MAX);
		rv = ask(s, r, "project", at, next < r->to ? next : r->to, &rows);
		if (rv == DONE)
			rv = day_add(days, name, rows);
		json_object_put(rows);
	}
	return rv;
}

int usage_ask(struct session *s, const struct usage_range *r, const char *by, struct json_object **rows)
{
	int rv;

	if (strcmp(by, "day"))
		return ask(s, r, by, r->from, r->to, rows);
	*rows = json_object_new_array();
	rv = *rows ? ask_days(s, r, *rows) : out_of_memory();
	if (rv != DONE) {
		json_object_put(*rows);
		*rows = NULL;
	}
	return rv;
}

/* --- as a table ------------------------------------------------------------------------------------ */

static const struct {
	const char *key, *heading;
} groups[] = {
	{ "project", "Project" }, { "user", "User" }, { "gpu_type", "GPU type" }, { "partition", "Partition" },
	{ "day", "Day" },
};

static int print_rows(struct session *s, const char *heading, const struct usage_range *r,
	struct json_object *rows)
{
	const struct column columns[] = {
		{ "name", heading, KIND_TEXT, NULL, false },
		{ "runs", "Runs", KIND_COUNT, NULL, false },
		{ "gpu_units", "Used", KIND_AMOUNT, NULL, false },
		{ "free_gpu_units", "of it free", KIND_AMOUNT, NULL, false },
		{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
		{ "refunded_units", "Refunded", KIND_AMOUNT, NULL, false },
	};
	const struct list l = { .what = "runs that ended in it", .columns = columns,
		.count = ARRAY_SIZE(columns) };
	struct table *t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
	int rv = t && table_add(t, rows) == 0 ? session_print(s, &l, t) : out_of_memory();

	table_free(t);
	if (rv == DONE)
		usage_range_say(s, r);
	return rv;
}

int cmd_report(struct session *s)
{
	const char *by = session_option(s, OPT_GROUP_BY);
	struct json_object *rows = NULL;
	struct usage_range r;
	size_t g = 0;
	int rv;

	while (by && g < ARRAY_SIZE(groups) && strcmp(by, groups[g].key))
		g++;
	if (g == ARRAY_SIZE(groups))
		return complain(USAGE, "--group-by takes project, user, gpu_type, partition or day, not \"%s\"", by);
	rv = usage_range_read(s, "today-30d", &r);
	if (rv == DONE)
		rv = usage_ask(s, &r, groups[g].key, &rows);
	if (rv == DONE)
		rv = print_rows(s, groups[g].heading, &r, rows);
	json_object_put(rows);
	return rv;
}

/* --- as bars ---------------------------------------------------------------------------------------- */

#define PLOT_COLUMNS 80			/* where no terminal says otherwise */

static int64_t most_of(struct json_object *rows)
{
	int64_t most = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		int64_t n = usage_number(json_object_array_get_idx(rows, i), "gpu_units");

		most = n > most ? n : most;
	}
	return most;
}

static void plot_day(struct json_object *row, int64_t most, int columns, bool utf8)
{
	int64_t used = usage_number(row, "gpu_units"), unpaid = usage_number(row, "free_gpu_units");
	struct json_object *name = NULL;
	char amount[AMOUNT_TEXT_MAX], bar[BAR_TEXT_MAX];
	const char *day;

	json_object_object_get_ex(row, "name", &name);
	day = json_object_get_string(name);
	if (columns < WRAP_NARROW)
		day += 5;		/* without the year */
	amount_text(used, amount);
	/* the amount's widest, and blanks between */
	columns -= (int)strlen(day) + 12;
	printf("%s %10s %s\n", day, amount,
		bar_text(used - unpaid, unpaid, most, columns > 1 ? columns : 1, utf8, bar));
}

static int plot(const struct session *s, const struct usage_range *r, struct json_object *rows)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	int columns = wrap_width(stdout);
	int64_t most = most_of(rows);

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		plot_day(json_object_array_get_idx(rows, i), most, columns ? columns : PLOT_COLUMNS, utf8);
	say_line(stdout, 0, utf8 ? "GPU-hours of a day: \u2588 funded, \u2591 free or not covered"
		: "GPU-hours of a day: # funded, . free or not covered");
	usage_range_say(s, r);
	return DONE;
}

int cmd_usage(struct session *s)
{
	bool bars = session_option(s, OPT_PLOT) != NULL;
	struct json_object *rows = NULL;
	struct usage_range r;
	int rv;

	if (bars && s->style.format != FORMAT_TABLE)
		return complain(USAGE, "--plot draws for people: leave out -o, or --plot");
	rv = usage_range_read(s, "today-13d", &r);
	if (rv == DONE)
		rv = usage_ask(s, &r, "day", &rows);
	if (rv == DONE)
		rv = bars ? plot(s, &r, rows) : print_rows(s, "Day", &r, rows);
	json_object_put(rows);
	return rv;
}
