/* SPDX-License-Identifier: GPL-2.0-or-later
 * slot.c - slot add, list, remove: weekly windows in which a project goes first */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/number.h"

#define HOUR_S 3600
#define DAY_S  86400

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "when", "When", KIND_LONG_TEXT, NULL, false },
	{ "time_zone", "By the clock of", KIND_TEXT, NULL, false },
	{ "open", "Open now", KIND_YESNO, NULL, false },
	{ "starts_s", NULL, KIND_COUNT, NULL, false },
	{ "length_s", NULL, KIND_DURATION, NULL, false },
	{ "boosted_percent", NULL, KIND_COUNT, NULL, false },
	{ "created_at", NULL, KIND_TIME, NULL, false },
	{ "removed_at", NULL, KIND_TIME, NULL, false },
};

static const struct list slots = {
	.path = "/v1/slots", .columns = columns, .count = ARRAY_SIZE(columns),
		.what = "slots: projects go first by their share alone",
};

int cmd_slot_list(struct session *s)
{
	return session_list(s, &slots, NULL, NULL);
}

static int slot_write(struct session *s, int rv, const char *method, const char *path,
	struct json_object *body)
{
	struct json_object *slot = NULL, *note = NULL;

	if (rv == DONE && request_text(body, "reason", session_option(s, OPT_REASON)) < 0)
		rv = out_of_memory();
	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, method, path, body, &slot);
	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, slot) < 0)
		rv = out_of_memory();
	if (rv == DONE && json_object_object_get_ex(slot, "note", &note))
		complain(DONE, "%s", json_object_get_string(note));
	json_object_put(slot);
	return rv;
}

/* "mon", "Monday". The day of the week, 0 = Monday; or -1. */
static int day_of(const char *text)
{
	static const char *const days[] = { "monday", "tuesday", "wednesday", "thursday", "friday",
		"saturday", "sunday" };
	size_t n = strlen(text);

	for (int i = 0; i < (int)ARRAY_SIZE(days); i++)
		if (n >= 3 && n <= strlen(days[i]) && !strncasecmp(text, days[i], n))
			return i;
	return -1;
}

/* "09:00" or "9:30" in seconds of the day; or -1. */
static int64_t time_of_day(const char *text)
{
	int64_t hour, minute;

	if (number_read(&text, &hour) < 0 || *text++ != ':' || strlen(text) != 2 ||
		number_parse(text, 59, &minute) < 0 || hour > 23)
		return -1;
	return hour * HOUR_S + minute * 60;
}

static int starts_put(const struct session *s, struct json_object *body)
{
	const char *day = session_option(s, OPT_DAY), *from = session_option(s, OPT_FROM);
	int64_t time = from ? time_of_day(from) : -1;
	int n = day ? day_of(day) : -1;

	if (n < 0)
		return complain(USAGE, "--day %s: it is mon, tue, wed, thu, fri, sat or sun",
			day ? day : "is missing");
	if (time < 0)
		return complain(USAGE, "--from %s: a time of day, 09:00", from ? from : "is missing");
	return request_number(body, "starts_s", n * DAY_S + time) < 0 ? out_of_memory() : DONE;
}

static int length_put(const struct session *s, struct json_object *body)
{
	const char *hours = session_option(s, OPT_HOURS), *share = session_option(s, OPT_SHARE);
	char *end = NULL;
	double length = hours ? strtod(hours, &end) * HOUR_S : 0;
	int64_t percent;

	if (!hours || end == hours || *end || !(length >= 60 && length <= 7 * DAY_S))	/* nan is neither */
		return complain(USAGE, "--hours %s: how long it lasts, 0.5 to 168",
			hours ? hours : "is missing");
	if (!share || number_parse(share, 100, &percent) < 0 || percent < 1)
		return complain(USAGE,
			"--share %s: up to how much of the cluster it goes first, in percent, 1 to 100",
			share ? share : "is missing");
	if (request_number(body, "length_s", (int64_t)(length / 60 + 0.5) * 60) < 0 ||
		request_number(body, "boosted_percent", percent) < 0)
		return out_of_memory();
	return DONE;
}

int cmd_slot_add(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body && request_text(body, "project", session_word(s, 0)) == 0 ? DONE : out_of_memory();

	if (rv == DONE)
		rv = starts_put(s, body);
	if (rv == DONE)
		rv = length_put(s, body);
	return slot_write(s, rv, "POST", "/v1/slots", body);
}

int cmd_slot_remove(struct session *s)
{
	struct json_object *body = json_object_new_object();
	char *path = request_path("/v1/slots/", session_word(s, 0));
	int rv = body && path && json_object_object_add(body, "removed", json_object_new_boolean(1)) == 0
		? DONE : out_of_memory();

	rv = slot_write(s, rv, "PATCH", path, body);
	free(path);
	return rv;
}
