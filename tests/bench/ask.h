/* SPDX-License-Identifier: GPL-2.0-or-later
 * ask.h - one submission's question, as the plugin would put it
 *
 * Threads  pure but for the client that is given: any thread */
#ifndef TESTS_BENCH_ASK_H
#define TESTS_BENCH_ASK_H
#include <json-c/json.h>
#include "client/client.h"

#define ASK_GPUS 1		/* each question is for so many, with a minimum runtime of an hour */
#define ASK_UNITS 3600000	/* what that sets aside */

/* To be put by the caller. NULL: out of memory. */
struct json_object *ask_question(const char *account);

/* Put it to budgetd. 1 = funded, 0 = accepted in another tier or refused, -1 = no verdict, and why. */
int ask(struct client *c, struct json_object *question, struct fault *why);

#endif
