/* SPDX-License-Identifier: GPL-2.0-or-later
 * project.h - a write of a project, for the commands that make one
 *
 * Threads  one */
#ifndef BUDGETCTL_PROJECT_H
#define BUDGETCTL_PROJECT_H
#include "budgetctl/session.h"

/* The weight that `text` says, under `key`; a complaint begins with `name`. The exit code. */
int weight_put(struct json_object *body, const char *key, const char *name, const char *text);

/* Write it, and print the project as it is then. `path` and `body` may be NULL (no memory); both are freed.
 * The exit code. */
int project_write(struct session *s, const char *method, char *path, struct json_object *body);

#endif
