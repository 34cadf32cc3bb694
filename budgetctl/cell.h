/* SPDX-License-Identifier: GPL-2.0-or-later
 * cell.h - one value of a reply as text, in each of the formats
 *
 * A column is a row of a static const table: the key of the API, the heading people read, the kind of value.
 *   table          GPU-hours "1,234.50", local times, "2 h", "yes"
 *   csv, parsable  the same values for programs: no comma in numbers, times with offset, lengths in seconds
 *   json           what the API says: units, epoch seconds, numbers as numbers
 *
 * Threads  one */
#ifndef BUDGETCTL_CELL_H
#define BUDGETCTL_CELL_H
#include <json-c/json.h>
#include <stdbool.h>

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_PARSABLE, FORMATS };
enum amount_unit { IN_HOURS, IN_SECONDS, IN_UNITS, AMOUNT_UNITS };
enum kind {
	KIND_TEXT, KIND_LONG_TEXT, KIND_LIST, KIND_YESNO,
	KIND_AMOUNT, KIND_TIME, KIND_DURATION, KIND_COUNT, KIND_RATIO,
	KINDS
};

extern const char *const format_name[FORMATS];
extern const char *const amount_unit_name[AMOUNT_UNITS];	/* as -t takes them */

struct column {
	const char *key;		/* of the API; of an amount it ends in "_units" */
	const char *heading;		/* NULL = not in a table for people, only in the other formats */
	enum kind kind;
	const char *none;		/* what a table shows for null; NULL = nothing */
	bool detail;			/* in a table only when details are asked for (--all) */
};

struct style {
	enum format format;
	enum amount_unit unit;
	bool headings;			/* of columns: table, csv and parsable */
	bool detail;
};

bool cell_right(enum kind kind);	/* a number: to the right of its column */

/* The value of `row` (an object) at the column, as text of the style's format: in JSON the value as JSON,
 * quotes and all, "null" for none; "" for none in csv and parsable. A value of an unexpected type is shown
 * as it came. Malloced, the caller's; NULL and ENOMEM. */
char *cell_text(const struct column *c, struct json_object *row, const struct style *style);

/* What stands above the column: the heading for people (`unit` tells the unit of an amount in it), the key
 * for programs ("amount_units" is "amount_hours" when it holds hours). Malloced, the caller's; NULL and
 * ENOMEM. */
char *cell_heading(const struct column *c, const struct style *style, bool unit);

const char *cell_unit(const struct style *style);	/* "GPU-hours": what amounts are printed in; static */

#endif
