/* SPDX-License-Identifier: GPL-2.0-or-later
 * cell.c - one value of a reply as text (cell.h) */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/cell.h"
#include "budgetctl/when.h"
#include "lib/amount.h"
#include "lib/duration.h"
#include "lib/fairshare.h"

#define NUMBER_MAX 64

const char *const format_name[FORMATS] = { "table", "json", "csv", "parsable" };
const char *const amount_unit_name[AMOUNT_UNITS] = { "hours", "seconds", "units" };
static const char *const amount_unit_text[AMOUNT_UNITS] = { "GPU-hours", "GPU-seconds", "units" };

typedef void number_fn(int64_t v, const struct style *style, char buf[NUMBER_MAX]);

static void plain(int64_t v, char buf[NUMBER_MAX])
{
	snprintf(buf, NUMBER_MAX, "%" PRId64, v);
}

static void commas_drop(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ',')
			*to++ = *from;
	*to = '\0';
}

static void amount_number(int64_t v, const struct style *style, char buf[NUMBER_MAX])
{
	uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;

	_Static_assert(NUMBER_MAX >= AMOUNT_TEXT_MAX, "an amount fits");
	if (style->unit == IN_UNITS) {
		plain(v, buf);
	} else if (style->unit == IN_SECONDS) {
		snprintf(buf, NUMBER_MAX, "%s%" PRIu64 ".%03" PRIu64, v < 0 ? "-" : "",
			magnitude / AMOUNT_RATE_ONE, magnitude % AMOUNT_RATE_ONE);
	} else {
		amount_text(v, buf);
		if (style->format != FORMAT_TABLE)
			commas_drop(buf);
	}
}

static void time_number(int64_t v, const struct style *style, char buf[NUMBER_MAX])
{
	_Static_assert(NUMBER_MAX >= WHEN_TEXT_MAX, "a time fits");
	when_text(v, style->format != FORMAT_TABLE, buf);
}

static void duration_number(int64_t v, const struct style *style, char buf[NUMBER_MAX])
{
	_Static_assert(NUMBER_MAX >= DURATION_TEXT_MAX, "a length fits");
	if (style->format == FORMAT_TABLE)
		duration_text(v, buf);
	else
		plain(v, buf);
}

static void count_number(int64_t v, const struct style *style, char buf[NUMBER_MAX])
{
	(void)style;
	plain(v, buf);
}

/* Parts per million; people see "0.80". A ratio is never negative. */
static void ratio_number(int64_t v, const struct style *style, char buf[NUMBER_MAX])
{
	_Static_assert(NUMBER_MAX >= FAIRSHARE_TEXT_MAX, "a ratio fits");
	if (style->format == FORMAT_TABLE)
		fairshare_text(v, buf);
	else
		plain(v, buf);
}

static const struct {
	bool right;
	number_fn *number;		/* NULL: not a number */
} kinds[KINDS] = {
	[KIND_TEXT] = { false, NULL },
	[KIND_LONG_TEXT] = { false, NULL },
	[KIND_AMOUNT] = { true, amount_number },
	[KIND_TIME] = { false, time_number },
	[KIND_DURATION] = { true, duration_number },
	[KIND_COUNT] = { true, count_number },
	[KIND_RATIO] = { true, ratio_number },
	[KIND_LIST] = { false, NULL },
	[KIND_YESNO] = { false, NULL },
};

const char *cell_unit(const struct style *style)
{
	return amount_unit_text[style->unit];
}

bool cell_right(enum kind kind)
{
	return kinds[kind].right;
}

/* json-c returns NULL for a text that it has no memory for. */
static char *copy(const char *text)
{
	if (text)
		return strdup(text);
	errno = ENOMEM;
	return NULL;
}

/* "ada,bob" */
static char *list_text(struct json_object *list)
{
	size_t size = 1, n = json_object_array_length(list);
	char *text, *end;

	for (size_t i = 0; i < n; i++) {
		const char *element = json_object_get_string(json_object_array_get_idx(list, i));

		if (!element)
			return copy(NULL);
		size += strlen(element) + 1;
	}
	text = end = malloc(size);
	if (!text)
		return NULL;
	*end = '\0';
	for (size_t i = 0; i < n; i++) {
		end = stpcpy(end, i ? "," : "");
		end = stpcpy(end, json_object_get_string(json_object_array_get_idx(list, i)));
	}
	return text;
}

char *cell_text(const struct column *c, struct json_object *row, const struct style *style)
{
	struct json_object *value = NULL;
	char buf[NUMBER_MAX];

	json_object_object_get_ex(row, c->key, &value);
	if (style->format == FORMAT_JSON)
		return copy(json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
	if (!value)
		return strdup(style->format == FORMAT_TABLE && c->none ? c->none : "");
	switch (json_object_get_type(value)) {
	case json_type_int:
		if (!kinds[c->kind].number)
			break;
		kinds[c->kind].number(json_object_get_int64(value), style, buf);
		return strdup(buf);
	case json_type_boolean:
		return strdup(json_object_get_boolean(value) ? "yes" : "no");
	case json_type_array:
		return list_text(value);
	default:
		break;
	}
	return copy(json_object_get_string(value));
}

char *cell_heading(const struct column *c, const struct style *style, bool unit)
{
	const char *name = style->format == FORMAT_TABLE ? c->heading : c->key;
	const char *held = amount_unit_name[style->unit];
	size_t size = strlen(name) + strlen(cell_unit(style)) + strlen(held) + 4;	/* any form */
	size_t stem = strlen(c->key) - strlen("units");
	char *text = malloc(size);

	if (!text)
		return NULL;
	if (style->format == FORMAT_TABLE && unit)
		snprintf(text, size, "%s (%s)", name, cell_unit(style));
	else if (style->format != FORMAT_TABLE && style->format != FORMAT_JSON && c->kind == KIND_AMOUNT)
		snprintf(text, size, "%.*s%s", (int)stem, name, held);
	else
		strcpy(text, name);
	return text;
}
