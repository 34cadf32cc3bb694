/* SPDX-License-Identifier: GPL-2.0-or-later
 * log_table.h - which lines of the kernel's log are evidence, and of what
 *
 * First the site's rows (node_policy.h), then those that are built in; the first that fits counts. A row is
 * for numbers of NVIDIA's Xid lines, or a pattern as of a shell for the whole text.
 *
 * The numbers are sorted by what NVIDIA's catalogue says to do, with 48 and 74: monitors of GPUs disagree
 * about 63, 68, 92 and 109, so a site can say otherwise. 13, 31, 43 and 45 are what a program gets that does
 * something wrong: nothing about the node.
 *
 * What users can have written there is never evidence: the kernel repeats names of programs and files, as in
 * "NAME[123]: segfault at ... in FILE". Lines that tell of a program fit no row, and rows that are built in
 * fit only what begins as a driver's line does.
 *
 * Threads  pure functions: any thread */
#ifndef GPU_CHECK_LOG_TABLE_H
#define GPU_CHECK_LOG_TABLE_H
#include <stdbool.h>
#include "gpu_check/finding.h"
#include "gpu_check/node_state.h"

#define LOG_NOTHING     (-1) /* the kind of a row that says: this is no evidence */
#define LOG_PATTERN_MAX 160
#define LOG_ROWS_MAX    128
#define XID_ANY         (-1)

struct log_row {
	int kind;                      /* enum evidence, or LOG_NOTHING */
	int xid;                       /* XID_ANY: every number; looked at where there is no pattern */
	char pattern[LOG_PATTERN_MAX]; /* "": of Xids */
};

struct log_table {
	int rows;
	struct log_row row[LOG_ROWS_MAX]; /* the site's */
};

struct log_hit {
	enum evidence kind;
	int xid; /* -1: none */
	bool bus_id;
	struct pci_address at; /* with bus_id: what the line is about */
};

/* Is this line evidence? Lines about the bus (AER) count only when they are about a device of `node`, lines
 * of drivers always. `table` may be NULL. */
bool log_classify(
	const struct log_table *table, const struct node_state *node, const char *text, struct log_hit *out);

/* All of the log as findings: lines of one kind about one device are one, with the number of them and the
 * last. */
#define LOG_GROUPS_MAX 64
struct log_group {
	struct log_hit hit;
	int count;
	char last[256];
};
struct log_groups {
	const struct log_table *table;
	const struct node_state *node;
	int count;
	struct log_group group[LOG_GROUPS_MAX];
};
void log_groups_take(const char *text, int64_t at_us, void *groups); /* for kernel_log_read */
void log_groups_tell(const struct log_groups *g, struct findings *out);

/* The built-in row at i; NULL: there are no more. For the manual. */
const struct log_row *log_builtin(int i);

#endif
