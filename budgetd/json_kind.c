/* SPDX-License-Identifier: GPL-2.0-or-later
 * json_kind.c - what a JSON value is, in words (json_kind.h) */
#include "budgetd/json_kind.h"

static const char *const words[] = {
	[json_type_null] = "null",
	[json_type_boolean] = "true or false",
	[json_type_double] = "a number with a fraction",
	[json_type_int] = "a whole number",
	[json_type_object] = "an object",
	[json_type_array] = "a list",
	[json_type_string] = "a text",
};

const char *json_kind(enum json_type type)
{
	return words[type];
}
