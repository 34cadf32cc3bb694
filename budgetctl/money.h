/* SPDX-License-Identifier: GPL-2.0-or-later
 * money.h - what commands that move GPU-hours share
 *
 * Threads  one */
#ifndef BUDGETCTL_MONEY_H
#define BUDGETCTL_MONEY_H
#include <json-c/json.h>
#include "budgetctl/session.h"

/* The argument GPU-HOURS as "amount_units" of a body. DONE; USAGE after a complaint when it makes no sense
 * or is nothing. */
int amount_put(struct json_object *body, const char *text);
/* The same, but nothing is fine: a project can begin with 0. */
int amount_or_zero_put(struct json_object *body, const char *text);
/* As amount_put, with a sign in front or without. */
int signed_amount_put(struct json_object *body, const char *text);

/* The option --allocation, and --reason, which is needed: `what` needs one ("a deposit"). DONE; USAGE after a
 * complaint. */
int allocation_put(const struct session *s, struct json_object *body);
int reason_put(const struct session *s, const char *what, struct json_object *body);
/* An id that was typed. DONE; USAGE after a complaint that says where ids are shown. */
int id_put(struct json_object *body, const char *key, const char *text, const char *shown_by);

/* Write `body` (it is put) if `rv` is DONE, and print the entries that it made: one object, or "rows". */
int entries_write(struct session *s, int rv, const char *path, struct json_object *body);

#endif
