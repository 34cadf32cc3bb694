/* SPDX-License-Identifier: GPL-2.0-or-later
 * money.h - what commands that move GPU-hours share
 *
 * Threads  one */
#ifndef BUDGETCTL_MONEY_H
#define BUDGETCTL_MONEY_H
#include <json-c/json.h>

/* The argument GPU-HOURS as "amount_units" of a body. DONE; USAGE after a complaint when it makes no sense
 * or is nothing. */
int amount_put(struct json_object *body, const char *text);

#endif
