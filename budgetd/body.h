/* SPDX-License-Identifier: GPL-2.0-or-later
 * body.h - the body of a request: what may come in from anybody who reaches a socket
 *
 * Threads  pure functions: any thread */
#ifndef BUDGETD_BODY_H
#define BUDGETD_BODY_H
#include <json-c/json.h>
#include <stddef.h>
#include "budgetd/routes.h"
#include "lib/fault.h"

/* `bytes` bytes, no NUL needed, as the object that a call of `r` is sent: JSON of UTF-8, not deep, each key once
 * and one of r->keys. 0 and *out, to be put by the caller; or -1, *out untouched, EINVAL and a text, or
 * ENOMEM. */
int body_read(const struct route *r, const char *text, size_t bytes, struct json_object **out, struct fault *why);

#endif
