/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_policy.c - gpu-node.conf (node_policy.h) */
#include "gpu_check/node_policy.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_check/trusted.h"
#include "lib/number.h"

#define BLANKS " \t"

enum { XID_MAX = 100000, RATE_MAX = 1000000000 };

void node_policy_preset(struct node_policy *p)
{
	*p = (struct node_policy){.corrected_per_hour = CORRECTED_PER_HOUR};
	for (int i = 0; i < EVIDENCES; i++)
		p->of[i] = evidence_table[i].policy;
}

/* A kind of the log. -2: no such. */
static int kind_take(const char *name)
{
	int kind = name ? evidence_of(name) : -1;

	if (name && !strcmp(name, "nothing"))
		return LOG_NOTHING;
	return kind < 0 ? -2 : kind;
}

static int row_add(struct log_table *t, int kind, int xid, const char *pattern)
{
	struct log_row *r = &t->row[t->rows];

	if (t->rows == LOG_ROWS_MAX || strlen(pattern) >= sizeof(r->pattern)) {
		errno = t->rows == LOG_ROWS_MAX ? ENOSPC : ENAMETOOLONG;
		return -1;
	}
	*r = (struct log_row){.kind = kind, .xid = xid};
	strcpy(r->pattern, pattern);
	t->rows++;
	return 0;
}

static int xid_take(struct node_policy *p, char **save)
{
	int kind = kind_take(strtok_r(NULL, BLANKS, save)), n = 0;
	int64_t xid;

	for (char *word; kind != -2 && (word = strtok_r(NULL, BLANKS, save)); n++)
		if (number_parse(word, XID_MAX, &xid) < 0 || row_add(&p->log, kind, (int)xid, "") < 0)
			return -1;
	return n > 0 ? 0 : -1;
}

static int log_take(struct node_policy *p, char **save)
{
	int kind = kind_take(strtok_r(NULL, BLANKS, save));
	char *pattern = strtok_r(NULL, "", save);

	if (kind == -2 || !pattern)
		return -1;
	pattern += strspn(pattern, BLANKS);
	return *pattern ? row_add(&p->log, kind, XID_ANY, pattern) : -1;
}

static int rate_take(struct node_policy *p, char **save)
{
	char *word = strtok_r(NULL, BLANKS, save);

	return word && !strtok_r(NULL, BLANKS, save) ? number_parse(word, RATE_MAX, &p->corrected_per_hour)
						     : -1;
}

static int policy_take(struct node_policy *p, const char *name, char **save)
{
	int kind = evidence_of(name), policy;
	char *word = strtok_r(NULL, BLANKS, save);

	if (kind < 0 || !word || (policy = policy_of(word)) < 0 || strtok_r(NULL, BLANKS, save))
		return -1;
	p->of[kind] = (enum policy)policy;
	return 0;
}

static int line_take(struct node_policy *p, char *text)
{
	char *save = NULL, *name;

	text[strcspn(text, "\n")] = '\0';
	name = strtok_r(text, BLANKS, &save);
	if (!name || name[0] == '#')
		return 0;
	if (!strcmp(name, "xid"))
		return xid_take(p, &save);
	if (!strcmp(name, "log"))
		return log_take(p, &save);
	if (!strcmp(name, "corrected-per-hour"))
		return rate_take(p, &save);
	return policy_take(p, name, &save);
}

/* errno tells why line_take did not want it. */
static int line_fault(const char *path, int number, struct fault *why)
{
	if (errno == ENOSPC)
		return fault_errno(why, EINVAL,
			"/%s:%d: this file may name %d Xids and patterns, and this is one more: name what "
			"is not "
			"as gpu-check(8) has it, or join patterns with *",
			path, number, LOG_ROWS_MAX);
	if (errno == ENAMETOOLONG)
		return fault_errno(why, EINVAL, "/%s:%d: a pattern has at most %d characters", path, number,
			LOG_PATTERN_MAX - 1);
	return fault_errno(why, EINVAL,
		"/%s:%d: a line is \"link-width drain\", \"corrected-per-hour 60\", \"xid gpu-reset 109\" or "
		"\"log gpu-error *text*\"; gpu-check(8) has the names",
		path, number);
}

int node_policy_read(int root, const char *path, struct node_policy *out, struct fault *why)
{
	FILE *from;
	char *text = NULL;
	size_t room = 0;
	int number = 0, rv = 0;

	node_policy_preset(out);
	from = trusted_open(root, path, why);
	if (!from)
		return errno == ENOENT ? 0 : -1;
	while (rv == 0 && getline(&text, &room, from) >= 0) {
		number++;
		errno = EINVAL;
		rv = line_take(out, text);
	}
	if (rv < 0)
		line_fault(path, number, why);
	else if (ferror(from))
		rv = fault_set(why, "/%s: %s", path, strerror(errno));
	free(text);
	fclose(from);
	if (rv < 0)
		node_policy_preset(out);
	return rv;
}
