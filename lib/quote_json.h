/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote_json.h - a quote as both budgetd and `budgetctl quote --offline` write it (doc/api.md, quote)
 *
 * Beside lib/quote because it needs json-c, which the plugins must not be loaded with for nothing.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_QUOTE_JSON_H
#define LIB_QUOTE_JSON_H
#include <json-c/json.h>
#include "lib/quote.h"

/* To be put by the caller. NULL and ENOMEM. */
struct json_object *quote_json(const struct quote *q);

#endif
