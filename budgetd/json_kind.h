/* SPDX-License-Identifier: GPL-2.0-or-later
 * json_kind.h - what a JSON value is, in words for people who wrote one of the wrong kind
 *
 * Threads  static texts */
#ifndef BUDGETD_JSON_KIND_H
#define BUDGETD_JSON_KIND_H
#include <json-c/json.h>

/* With its article: "a text", "a whole number", "a number with a fraction", "true or false", "a list", "an
 * object", "null". */
const char *json_kind(enum json_type type);

#endif
