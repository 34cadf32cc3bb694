/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_options_table.h - the options of sbatch(1), 22.05 to 26.05, and which of them concern us
 *
 * Options that do not concern us stand here too, because only who knows whether an option has a value can
 * skip it.
 *
 * Threads  static data */
#ifndef LIB_SUBMIT_OPTIONS_TABLE_H
#define LIB_SUBMIT_OPTIONS_TABLE_H
#include <stddef.h>

/* OPTIONAL: only as --name=value or -nvalue. */
enum submit_argument { ARGUMENT_NONE, ARGUMENT_NEEDED, ARGUMENT_OPTIONAL };

/* What an option sets. The first group is kept as text, the second as a number. */
enum submit_field {
	FIELD_ACCOUNT,
	FIELD_PARTITION,
	FIELD_QOS,
	FIELD_COMMENT,
	FIELD_DEPENDENCY,
	FIELD_ARRAY,
	FIELD_GPUS,
	FIELD_GPUS_PER_NODE,
	FIELD_GPUS_PER_SOCKET,
	FIELD_GPUS_PER_TASK,
	FIELD_GRES,
	FIELD_TRES_PER_TASK,
	SUBMIT_TEXTS,
	FIELD_NTASKS = SUBMIT_TEXTS,
	FIELD_NTASKS_PER_NODE,
	FIELD_NTASKS_PER_SOCKET,
	FIELD_SOCKETS_PER_NODE,
	FIELD_CPUS_PER_TASK,
	FIELD_NTASKS_PER_TRES,
	SUBMIT_NUMBERS_END,
	FIELD_NODES = SUBMIT_NUMBERS_END,
	FIELD_TIME,
	FIELD_EXCLUSIVE,
	FIELD_HOLD,
	FIELD_REQUEUE,
	FIELD_SIGNAL,
	FIELD_EXTRA_NODE_INFO,
	FIELD_MIN_RUNTIME,
	FIELD_TIER,
	FIELD_TEAM_RANK,
	FIELD_NONE,
	SUBMIT_FIELDS
};

struct submit_option {
	const char *name;	/* without "--" */
	char letter;		/* '\0' = there is only the long form */
	enum submit_argument argument;
	enum submit_field field;
};

/* By long name of `len` bytes, whole or an abbreviation of one option only. NULL when there is none, with
 * *ambiguous (not NULL) naming two candidates when there are several, else both NULL. */
const struct submit_option *submit_option_long(const char *name, size_t len, const char *ambiguous[2]);

/* All of them, i from 0 up; NULL behind the last. */
const struct submit_option *submit_option_at(size_t i);

/* By letter, or NULL. */
const struct submit_option *submit_option_short(char letter);

#endif
