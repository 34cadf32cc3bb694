/* SPDX-License-Identifier: GPL-2.0-or-later
 * command.h - the commands of budgetctl, their options and their exit codes, each as one table
 *
 * Parsing, usage, help, the manual and the completion read these rows; a command that is not here does not
 * exist. A command's function gets a session whose options and number of arguments are already checked. It
 * says what went wrong itself (say.h) and returns the exit code.
 *
 * Threads  one */
#ifndef BUDGETCTL_COMMAND_H
#define BUDGETCTL_COMMAND_H
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The exit code of the program. */
enum outcome { DONE = 0, REFUSED = 1, USAGE = 2, UNREACHABLE = 3, FORBIDDEN = 4, WARNED = 5, ILL = 6,
	AGAIN = 7, OUTCOMES };

extern const char *const outcome_text[OUTCOMES];	/* one line each, for help and the manual */

enum command_option {
	OPT_OUTPUT,
	OPT_NOHEADER,
	OPT_AMOUNTS,
	OPT_SOCKET,
	OPT_SERVER,
	OPT_HELP,
	OPT_VERSION, /* every command has these */
	OPT_PROJECT,
	OPT_JOB,
	OPT_ALL,
	OPT_LIMIT,
	OPT_PARENT,
	OPT_SHARE,
	OPT_ON_EXHAUSTED,
	OPT_CREDIT,
	OPT_OWNERS,
	OPT_MEMBERS,
	OPT_ADD_OWNERS,
	OPT_REMOVE_OWNERS,
	OPT_ADD_MEMBERS,
	OPT_REMOVE_MEMBERS,
	OPT_ALLOCATION,
	OPT_STARTS,
	OPT_ENDS,
	OPT_REASON,
	OPT_REQUEST_ID,
	OPT_OFFLINE,
	OPT_DECLARE_MIN_RUNTIME,
	OPT_DECLARE_TIER,
	OPT_DECLARE_TEAM_RANK,
	OPT_APPLY,
	OPT_DRY_RUN,
	OPT_TZ,
	OPT_CHARGE,
	OPT_CARRY_OVER,
	OPT_VESTS,
	OPT_BURST,
	OPT_TRACE,
	OPT_TREE,
	OPT_NODES,
	OPT_GPUS_PER_NODE,
	OPT_SEED,
	OPT_BASELINE,
	OPT_MARGIN,
	OPT_CLEAR_AFTER,
	OPT_UNTIL,
	OPT_SVG,
	OPT_SINCE,
	OPT_REPAIR,
	OPT_AT,
	OPT_FORCE,
	OPT_COMMENT,
	OPT_FROM_ALLOCATION,
	OPT_TO_ALLOCATION,
	OPT_UNMETERED,
	OPT_USER_SHARES,
	OPT_CRITICAL,
	OPT_DAY,
	OPT_FROM,
	OPT_HOURS,
	OPT_GROUP_BY,
	OPT_PLOT,
	OPT_TO,
	OPT_PERIOD,
	OPT_FILE,
	OPT_FAILED,
	OPTIONS
};

#define OPTIONS_OF_ALL OPT_PROJECT	/* every command has those before it */

struct option_row {
	char letter;			/* 'o' for -o; 0 = only the long form */
	const char *name;		/* "output" for --output */
	const char *argument;		/* "FORMAT"; NULL = takes none */
	const char *help;		/* one line */
};

extern const struct option_row option_table[OPTIONS];

struct session;

#define SBATCH_LINE (-2)		/* the words are sbatch's own, see sbatch_line.h */

struct command {
	const char *noun, *verb;	/* "project", "add"; verb NULL = the noun is the whole command */
	const char *arguments;		/* "PROJECT GPU-HOURS"; "" = none */
	int min_args, max_args;		/* max_args -1 = any number; or SBATCH_LINE */
	const char *help;		/* one line */
	/* beside OPTIONS_OF_ALL, behind the last of them OPTIONS; NULL = none */
	const enum command_option *options;
	int (*run)(struct session *s);	/* the exit code */
};

extern const struct command command_table[];
extern const size_t command_count;

bool command_takes(const struct command *c, enum command_option o);

/* "deposit PROJECT GPU-HOURS"; without `arguments` "deposit". Returns buf; cannot fail. */
#define COMMAND_TEXT_MAX 96
const char *command_text(const struct command *c, bool arguments, char buf[COMMAND_TEXT_MAX]);

int cmd_project_add(struct session *s);
int cmd_project_list(struct session *s);
int cmd_project_show(struct session *s);
int cmd_project_set(struct session *s);
int cmd_project_remove(struct session *s);
int cmd_allocation_add(struct session *s);
int cmd_allocation_list(struct session *s);
int cmd_allocation_show(struct session *s);
int cmd_deposit(struct session *s);
int cmd_allocation_set(struct session *s);
int cmd_withdraw(struct session *s);
int cmd_adjust(struct session *s);
int cmd_transfer(struct session *s);
int cmd_refund(struct session *s);
int cmd_void(struct session *s);
int cmd_cap_list(struct session *s);
int cmd_cap_set(struct session *s);
int cmd_drain(struct session *s);
int cmd_report(struct session *s);
int cmd_usage(struct session *s);
int cmd_forecast(struct session *s);
int cmd_digest(struct session *s);
int cmd_undrain(struct session *s);
int cmd_drains(struct session *s);
int cmd_notice_list(struct session *s);
int cmd_notice_test(struct session *s);
int cmd_slot_add(struct session *s);
int cmd_slot_list(struct session *s);
int cmd_slot_remove(struct session *s);
int cmd_changes(struct session *s);
int cmd_period_close(struct session *s);
int cmd_period_list(struct session *s);
int cmd_statement(struct session *s);
int cmd_export_jobs(struct session *s);
int cmd_export_journal(struct session *s);
int cmd_export_statement(struct session *s);
int cmd_rate_list(struct session *s);
int cmd_rate_set(struct session *s);
int cmd_request(struct session *s);
int cmd_request_list(struct session *s);
int cmd_request_approve(struct session *s);
int cmd_request_refuse(struct session *s);
int cmd_tree(struct session *s);
int cmd_share_list(struct session *s);
int cmd_share_set(struct session *s);
int cmd_balance(struct session *s);
int cmd_journal(struct session *s);
int cmd_hold_list(struct session *s);
int cmd_charge_list(struct session *s);
int cmd_why(struct session *s);
int cmd_events(struct session *s);
int cmd_job_set(struct session *s);
int cmd_quote(struct session *s);
int cmd_doctor(struct session *s);
int cmd_setup(struct session *s);
int cmd_shadow_report(struct session *s);
int cmd_import_sacct(struct session *s);
int cmd_simulate(struct session *s);
int cmd_run_list(struct session *s);
int cmd_run_end(struct session *s);
int cmd_check(struct session *s);
int cmd_verify(struct session *s);
int cmd_backup(struct session *s);
int cmd_restore(struct session *s);
int cmd_health(struct session *s);

#endif
