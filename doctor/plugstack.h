/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugstack.h - the line of plugstack.conf that names our SPANK plugin
 *
 * Threads  any */
#ifndef DOCTOR_PLUGSTACK_H
#define DOCTOR_PLUGSTACK_H
#include <stdint.h>
#include "lib/fault.h"

struct plugstack_line {
	char *text; /* the line without blanks around it; NULL: no line names gpubudget.so */
	char *plugin;			/* as it names the file: a path, or a name in PluginDir */
	char *limit;			/* what follows max_min_runtime=, NULL = not given */
};

/* Read `path` and what it includes. 0 and *out filled, to be freed with plugstack_line_free; or -1, `out`
 * cleared, errno of the file that cannot be read, or ENOMEM. */
int plugstack_find(const char *path, struct plugstack_line *out, struct fault *why);
void plugstack_line_free(struct plugstack_line *l);

#endif
