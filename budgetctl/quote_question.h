/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote_question.h - the components of a submission as the body of POST /v1/quotes
 *
 * Threads  one */
#ifndef BUDGETCTL_QUOTE_QUESTION_H
#define BUDGETCTL_QUOTE_QUESTION_H
#include <json-c/json.h>
#include "lib/submit_options.h"

/* {"components": [question, ...]}, each with the keys that the plugin would send. To be put by the caller;
 * NULL and ENOMEM. */
struct json_object *quote_question(const struct submit_options *o);

#endif
