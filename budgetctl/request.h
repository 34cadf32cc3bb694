/* SPDX-License-Identifier: GPL-2.0-or-later
 * request.h - paths and bodies of requests, built from what was typed
 *
 * Ownership  returned strings and objects are the caller's
 * Threads    any */
#ifndef BUDGETCTL_REQUEST_H
#define BUDGETCTL_REQUEST_H
#include <json-c/json.h>
#include <stdint.h>

/* "/v1/journal?project=vision&job=12": `base`, and (key, value) pairs up to a NULL key; a NULL value leaves
 * its pair out; values are percent-encoded. Malloced; NULL and ENOMEM. */
char *request_query(const char *base, ...) __attribute__((sentinel));

/* `base` and one more segment, percent-encoded: "/v1/projects/" + "a b". Malloced; NULL and ENOMEM. */
char *request_path(const char *base, const char *segment);

/* Set one key of a body. A NULL text leaves the key out. 0; or -1 and ENOMEM. */
int request_text(struct json_object *body, const char *key, const char *text);
int request_number(struct json_object *body, const char *key, int64_t value);
int request_list(
	struct json_object *body, const char *key, const char *names); /* separated by commas or spaces */

#endif
