/* SPDX-License-Identifier: GPL-2.0-or-later
 * command.c - the tables of commands, options and exit codes (command.h) */
#include "budgetctl/command.h"
#include <stdio.h>

const char *const outcome_text[OUTCOMES] = {
	[DONE] = "done",
	[REFUSED] = "budgetd refused or knows no such thing, the books are not sound, check found differences, or the output "
		"could not be written",
	[USAGE] = "wrong usage: an unknown command or option, a value that makes no sense",
	[UNREACHABLE] = "budgetd cannot be reached, or did not answer in time",
	[FORBIDDEN] = "you are not allowed to",
	[WARNED] = "doctor found something to warn of, and no error",
	[ILL] = "doctor found an error",
};

const struct option_row option_table[OPTIONS] = {
	[OPT_OUTPUT] = { 'o', "output", "FORMAT",
		"table (default), json, csv or parsable (bars between, as sacct -P)" },
	[OPT_NOHEADER] = { 'n', "noheader", NULL, "no line of headings" },
	[OPT_AMOUNTS] = { 't', "amounts", "UNIT",
		"print amounts in hours (default), seconds or units; JSON is always in units" },
	[OPT_SOCKET] = { 0, "socket", "PATH", "the socket of budgetd, instead of the one in budgetd.conf" },
	[OPT_SERVER] = { 0, "server", "URL",
		"ask budgetd over the network: http://HOST:PORT or https://HOST (default: server in budgetd.conf)" },
	[OPT_HELP] = { 'h', "help", NULL, "print this help; after a command, the help of the command" },
	[OPT_VERSION] = { 0, "version", NULL, "print the version" },
	[OPT_PROJECT] = { 'p', "project", "PROJECT", "only this project and what is below it" },
	[OPT_JOB] = { 'j', "job", "JOB", "only this job" },
	[OPT_ALL] = { 'a', "all", NULL, "closed and decided ones too; of doctor, setup, check and shadow: what is well too" },
	[OPT_LIMIT] = { 0, "limit", "N", "at most N rows, the newest (default 1000; 0 = all)" },
	[OPT_PARENT] = { 0, "parent", "PROJECT", "the project above it; \"\" is the root" },
	[OPT_SHARE] = { 0, "share", "N", "its weight among its siblings" },
	[OPT_ON_EXHAUSTED] = { 0, "on-exhausted", "POLICY",
		"a job that does not fit: free (runs unfunded), reject, wait (for money), inherit" },
	[OPT_CREDIT] = { 0, "credit", "GPU-HOURS", "how far below zero it may go" },
	[OPT_OWNERS] = { 0, "owners", "USER,...", "who owns its budget" },
	[OPT_MEMBERS] = { 0, "members", "USER,...", "who may see it" },
	[OPT_ADD_OWNERS] = { 0, "add-owners", "USER,...", "make these users owners" },
	[OPT_REMOVE_OWNERS] = { 0, "remove-owners", "USER,...", "these users are no longer owners" },
	[OPT_ADD_MEMBERS] = { 0, "add-members", "USER,...", "make these users members" },
	[OPT_REMOVE_MEMBERS] = { 0, "remove-members", "USER,...", "these users are no longer members" },
	[OPT_ALLOCATION] = { 0, "allocation", "ID",
		"the allocation, when the project has several live ones" },
	[OPT_STARTS] = { 0, "starts", "WHEN",
		"valid from (default: now): 2026-12-31, 2026-12-31T12:00, now+30d; a date is its 00:00" },
	[OPT_ENDS] = { 0, "ends", "WHEN",
		"valid until, that moment not included; none: it does not expire (default)" },
	[OPT_REASON] = { 'r', "reason", "TEXT", "why, for the journal or the history of changes" },
	[OPT_REQUEST_ID] = { 0, "request-id", "ID",
		"the same ID said twice is done once (default: a random one)" },
	[OPT_OFFLINE] = { 0, "offline", NULL, "ask neither budgetd nor Slurm: the figures only" },
	[OPT_DECLARE_MIN_RUNTIME] = { 0, "min-runtime", "TIME",
		"what it declares as its minimum runtime: 2h, 90m, 1-00:00; 0 asks for the free tier" },
	[OPT_DECLARE_TIER] = { 0, "tier", "TIER", "funded or free" },
	[OPT_DECLARE_TEAM_RANK] = { 0, "team-rank", "N",
		"its rank among the jobs of its own project: 1 goes first, 0 = no rank" },
	[OPT_DRY_RUN] = { 0, "dry-run", NULL, "show what it would do, and do nothing" },
	[OPT_CARRY_OVER] = { 0, "carry-over", "PERCENT",
		"of what is left at its end, into the next allocation of the project" },
	[OPT_VESTS] = { 0, "vests", "YESNO", "yes: usable little by little from its start to its end" },
	[OPT_BURST] = { 0, "burst", "GPU-HOURS", "usable before they have vested" },
	[OPT_COMMENT] = { 0, "comment", "TEXT", "what it is for" },
	[OPT_SINCE] = { 0, "since", "WHEN",
		"runs that went on or ended since then: 2026-12-31, now-30d (check without it: now-1d)" },
	[OPT_REPAIR] = { 0, "repair", NULL, "put right what can be, by corrections that are dated now" },
	[OPT_AT] = { 0, "at", "WHEN", "the moment that is meant: 2026-12-31T12:00:30, now-2h" },
	[OPT_FORCE] = { 0, "force", NULL, "take names of users whom the host of budgetd does not know" },
	[OPT_APPLY] = { 0, "apply", NULL, "have sacctmgr do its part" },
	[OPT_TZ] = { 0, "tz", "ZONE",
		"the zone of the times in the file and of its months: UTC (default), Europe/Berlin" },
};

#define PAGED   (OPTION_BIT(OPT_PROJECT) | OPTION_BIT(OPT_LIMIT))
#define PEOPLE                                                                                               \
	(OPTION_BIT(OPT_ADD_OWNERS) | OPTION_BIT(OPT_REMOVE_OWNERS) | OPTION_BIT(OPT_ADD_MEMBERS) |          \
		OPTION_BIT(OPT_REMOVE_MEMBERS))
#define PROJECT                                                                                              \
	(OPTION_BIT(OPT_PARENT) | OPTION_BIT(OPT_SHARE) | OPTION_BIT(OPT_ON_EXHAUSTED) |                     \
		OPTION_BIT(OPT_CREDIT))
#define WRITE   (OPTION_BIT(OPT_REASON) | OPTION_BIT(OPT_REQUEST_ID) | OPTION_BIT(OPT_DRY_RUN))
#define TERMS   (OPTION_BIT(OPT_CARRY_OVER) | OPTION_BIT(OPT_VESTS) | OPTION_BIT(OPT_BURST))

const struct command command_table[] = {
	{ "project", "add", "PROJECT", 1, 1, "add a project (a Slurm account of the same name) to the tree",
		PROJECT | OPTION_BIT(OPT_OWNERS) | OPTION_BIT(OPT_MEMBERS) | OPTION_BIT(OPT_FORCE) | WRITE,
		cmd_project_add },
	{ "project", "list", "[PROJECT]", 0, 1, "the tree of projects", OPTION_BIT(OPT_PROJECT),
		cmd_project_list },
	{ "project", "show", "PROJECT", 1, 1, "one project, line by line", 0, cmd_project_show },
	{ "project", "set", "PROJECT", 1, 1, "change a project",
		PROJECT | PEOPLE | OPTION_BIT(OPT_FORCE) | WRITE, cmd_project_set },
	{ "project", "remove", "PROJECT", 1, 1, "remove a project; its journal stays",
		OPTION_BIT(OPT_REASON) | OPTION_BIT(OPT_DRY_RUN),
		cmd_project_remove },
	{ "allocation", "add", "PROJECT GPU-HOURS", 2, 2, "give a project GPU-hours, valid from and until",
		OPTION_BIT(OPT_STARTS) | OPTION_BIT(OPT_ENDS) | TERMS | WRITE, cmd_allocation_add },
	{ "allocation", "set", "ID", 1, 1, "change its dates, how it vests, and what of it is carried over at its end",
		OPTION_BIT(OPT_STARTS) | OPTION_BIT(OPT_ENDS) | OPTION_BIT(OPT_COMMENT) | TERMS | WRITE,
		cmd_allocation_set },
	{ "allocation", "list", "[PROJECT]", 0, 1, "allocations, what is used of them and when they expire",
		OPTION_BIT(OPT_PROJECT), cmd_allocation_list },
	{ "allocation", "show", "ID", 1, 1, "one allocation, line by line", 0, cmd_allocation_show },
	{ "deposit", NULL, "PROJECT GPU-HOURS", 2, 2, "add GPU-hours to an allocation, with a reason",
		OPTION_BIT(OPT_ALLOCATION) | WRITE, cmd_deposit },
	{ "withdraw", NULL, "PROJECT GPU-HOURS", 2, 2, "take back what is neither charged nor held",
		OPTION_BIT(OPT_ALLOCATION) | WRITE, cmd_withdraw },
	{ "transfer", NULL, "FROM TO GPU-HOURS", 3, 3, "move GPU-hours from one project to another", WRITE,
		cmd_transfer },
	{ "adjust", NULL, "PROJECT GPU-HOURS", 2, 2, "correct an amount, up (5) or down (-5)",
		OPTION_BIT(OPT_ALLOCATION) | WRITE, cmd_adjust },
	{ "refund", NULL, "CHARGE [GPU-HOURS]", 1, 2, "give back a charge, or a part of it", WRITE, cmd_refund },
	{ "void", NULL, "ENTRY", 1, 1, "reverse a deposit, withdrawal, transfer or adjustment of the journal",
		WRITE, cmd_void },
	{ "request", "list", "[PROJECT]", 0, 1, "GPU-hours that were asked for and wait for an answer",
		PAGED | OPTION_BIT(OPT_ALL), cmd_request_list },
	{ "request", "approve", "ID [GPU-HOURS]", 1, 2, "deposit what a project asked for, or another amount",
		OPTION_BIT(OPT_ALLOCATION) | WRITE, cmd_request_approve },
	{ "request", "refuse", "ID", 1, 1, "refuse what a project asked for, with a reason", WRITE, cmd_request_refuse },
	{ "request", NULL, "PROJECT GPU-HOURS", 2, 2, "ask for GPU-hours; an owner above or an administrator decides",
		WRITE, cmd_request },
	{ "cap", "list", "[PROJECT]", 0, 1, "what one user may take of a project, and has taken",
		OPTION_BIT(OPT_PROJECT), cmd_cap_list },
	{ "cap", "set", "PROJECT USER GPU-HOURS|none", 3, 3,
		"the most that the jobs of one user may hold and be charged of its live allocations", WRITE, cmd_cap_set },
	{ "changes", NULL, "[PROJECT]", 0, 1, "settings and terms that were changed: by whom, from, to, why", PAGED, cmd_changes },
	{ "rate", "list", "", 0, 0, "what a GPU-hour of a type costs, and from when on", 0, cmd_rate_list },
	{ "rate", "set", "GPU-TYPE RATE", 2, 2,
		"set the rate of a type (as Slurm names it; default, shard, mps) for what starts from then on",
		OPTION_BIT(OPT_STARTS) | WRITE, cmd_rate_set },
	{ "balance", NULL, "[PROJECT...]", 0, -1, "amount, charges, held and available by project",
		OPTION_BIT(OPT_PROJECT), cmd_balance },
	{ "journal", NULL, "[PROJECT]", 0, 1, "every movement of GPU-hours, newest first",
		PAGED | OPTION_BIT(OPT_JOB), cmd_journal },
	{ "hold", "list", "[PROJECT]", 0, 1, "GPU-hours set aside for jobs and not yet charged",
		PAGED | OPTION_BIT(OPT_ALL), cmd_hold_list },
	{ "charge", "list", "[PROJECT]", 0, 1, "what was charged for which run, newest first",
		PAGED | OPTION_BIT(OPT_JOB), cmd_charge_list },
	{ "run", "list", "[PROJECT]", 0, 1, "runs, what they used and what was charged for them, newest first",
		PAGED | OPTION_BIT(OPT_JOB) | OPTION_BIT(OPT_SINCE), cmd_run_list },
	{ "run", "end", "JOB", 1, 1, "say when a run ended that is gone from Slurm without an end",
		OPTION_BIT(OPT_AT) | WRITE, cmd_run_end },
	{ "why", NULL, "JOB", 1, 1, "why a job is where it is: its tier, its funding, who is ahead", 0,
		cmd_why },
	{ "job", "show", "JOB", 1, 1, "the same as why", 0, cmd_why },
	{ "job", "set", "JOB", 1, 1,
		"change what a pending job declares; it is priced and checked anew",
		OPTION_BIT(OPT_DECLARE_MIN_RUNTIME) | OPTION_BIT(OPT_DECLARE_TIER) |
			OPTION_BIT(OPT_DECLARE_TEAM_RANK) | OPTION_BIT(OPT_REQUEST_ID),
		cmd_job_set },
	{ "quote", NULL, "[SBATCH-OPTION...] [SCRIPT]", 1, SBATCH_LINE,
		"what a submission would get and cost, without submitting it", OPTION_BIT(OPT_OFFLINE), cmd_quote },
	{ "doctor", NULL, "", 0, 0, "what is wrong with this installation, and the line that mends it",
		OPTION_BIT(OPT_ALL), cmd_doctor },
	{ "setup", NULL, "", 0, 0, "the lines that slurm.conf, plugstack.conf and slurmdbd still need",
		OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_APPLY), cmd_setup },
	{ "shadow", "report", "[PROJECT]", 0, 1, "what would have been refused, moved to the free tier or displaced",
		PAGED | OPTION_BIT(OPT_ALL), cmd_shadow_report },
	{ "import", "sacct", "FILE", 1, 1,
		"GPU-seconds by month, account and user, of what sacct -P or --json gave; - is stdin",
		OPTION_BIT(OPT_DRY_RUN) | OPTION_BIT(OPT_TZ), cmd_import_sacct },
	{ "check", NULL, "", 0, 0, "the runs of the books, of slurmdbd and of slurmctld side by side, and what differs",
		OPTION_BIT(OPT_SINCE) | OPTION_BIT(OPT_JOB) | OPTION_BIT(OPT_ALL) | OPTION_BIT(OPT_REPAIR) | OPTION_BIT(OPT_REASON) |
			OPTION_BIT(OPT_DRY_RUN), cmd_check },
	{ "verify", NULL, "[FILE]", 0, 1, "recompute the books from their rows; the first row that is wrong is named",
		OPTION_BIT(OPT_ALL), cmd_verify },
	{ "backup", NULL, "FILE", 1, 1, "a sound copy of the books as they are now, while budgetd goes on", 0,
		cmd_backup },
	{ "restore", NULL, "FILE", 1, 1, "put a backup in the place of the books, while budgetd is stopped", 0,
		cmd_restore },
	{ "health", NULL, "", 0, 0, "is budgetd well", 0, cmd_health },
};

const size_t command_count = ARRAY_SIZE(command_table);

const char *command_text(const struct command *c, bool arguments, char buf[COMMAND_TEXT_MAX])
{
	const char *words = arguments ? c->arguments : "";

	snprintf(buf, COMMAND_TEXT_MAX, "%s%s%s%s%s", c->noun, c->verb ? " " : "", c->verb ? c->verb : "",
		*words ? " " : "", words);
	return buf;
}
