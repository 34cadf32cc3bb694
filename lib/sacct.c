/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct.c - one row of Slurm's accounting as a run (sacct.h)
 *
 * Nothing is guessed: a row whose times, owner or GPUs cannot be told is set aside with the reason, never
 * counted as 0. A local time that the clock showed twice is told apart by the length that sacct prints. */
#include "lib/sacct.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/number.h"
#include "lib/sacct_time.h"
#include "lib/tres.h"
#include "lib/utf8.h"

#define GPUS_MAX 1000000 /* of one run: more is a slip in the file, and sums stay far from overflow */

static const char *const names[SACCT_FIELDS] = {
	[SACCT_JOB_RAW] = "JobIDRaw",
	[SACCT_JOB] = "JobID",
	[SACCT_CLUSTER] = "Cluster",
	[SACCT_ACCOUNT] = "Account",
	[SACCT_USER] = "User",
	[SACCT_UID] = "UID",
	[SACCT_SUBMIT] = "Submit",
	[SACCT_START] = "Start",
	[SACCT_END] = "End",
	[SACCT_ELAPSED_RAW] = "ElapsedRaw",
	[SACCT_ELAPSED] = "Elapsed",
	[SACCT_SUSPENDED] = "Suspended",
	[SACCT_STATE] = "State",
	[SACCT_ALLOC_TRES] = "AllocTRES",
	[SACCT_ALLOC_GRES] = "AllocGRES",
	[SACCT_PARTITION] = "Partition",
	[SACCT_QOS] = "QOS",
};

/* One of each line must be there. */
static const struct {
	enum sacct_field field[3];
	const char *text;
} needed[] = {
	{{SACCT_JOB_RAW, SACCT_JOB, SACCT_JOB}, "JobIDRaw or JobID"},
	{{SACCT_ACCOUNT, SACCT_ACCOUNT, SACCT_ACCOUNT}, "Account"},
	{{SACCT_USER, SACCT_UID, SACCT_UID}, "User"},
	{{SACCT_SUBMIT, SACCT_SUBMIT, SACCT_SUBMIT}, "Submit"},
	{{SACCT_START, SACCT_START, SACCT_START}, "Start"},
	{{SACCT_END, SACCT_ELAPSED_RAW, SACCT_ELAPSED}, "End"},
	{{SACCT_ALLOC_TRES, SACCT_ALLOC_GRES, SACCT_ALLOC_GRES}, "AllocTRES"},
};

int sacct_field_is(enum sacct_field f, const char *name, size_t length)
{
	return strlen(names[f]) == length && !strncasecmp(names[f], name, length);
}

int sacct_columns_check(const int there[SACCT_FIELDS], struct fault *why)
{
	char text[200] = "";
	size_t length = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const enum sacct_field *f = needed[i].field;

		if (!there[f[0]] && !there[f[1]] && !there[f[2]])
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
				length ? ", " : "", needed[i].text);
	}
	return length ? fault_errno(why, EINVAL, "columns are missing: %s", text) : 0;
}

int sacct_job_is_valid(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] >= '0' && text[i] <= '9')
		i++;
	if (!i || i > 19)
		return 0;
	if (i < length && !strchr("_+.", text[i]))
		return 0;
	for (; i < length; i++)
		if (text[i] == ' ' || text[i] == '|' || (unsigned char)text[i] < 0x20)
			return 0;
	return 1;
}

/* --- text ------------------------------------------------------------------------------------------- */

static const char *text_of(const struct sacct_row *row, enum sacct_field f)
{
	return row->field[f] ? row->field[f] : "";
}

static bool is_clean(const char *text)
{
	for (int n; *text; text += n) {
		n = utf8_character(text);
		if (!n || (unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	}
	return true;
}

/* Only what is used must be readable: a job's name may be in any code. */
static int texts_check(const struct sacct_row *row, struct fault *why)
{
	for (int f = 0; f < SACCT_FIELDS; f++)
		if (row->field[f] && !is_clean(row->field[f]))
			return fault_set(why, "%s is not UTF-8, or has control characters", names[f]);
	return 0;
}

/* --- times ------------------------------------------------------------------------------------------ */

/* What the columns say; a length of -1 is not known. */
struct times {
	struct sacct_time submit, start, end;
	int64_t elapsed, suspended;
};

static int field_wrong(enum sacct_field f, const struct fault *what, struct fault *why)
{
	return fault_set(why, "%s: %s", names[f], what->text);
}

static int time_read(const struct sacct_row *row, enum sacct_field f, const struct zone *z,
	struct sacct_time *out, struct fault *why)
{
	struct fault what = {""};

	return sacct_time_read(text_of(row, f), z, out, &what) < 0 ? field_wrong(f, &what, why) : 0;
}

static int length_read(const struct sacct_row *row, enum sacct_field f, int64_t *out, struct fault *why)
{
	struct fault what = {""};

	if (sacct_is_none(text_of(row, f)))
		return 0;
	return sacct_length_read(row->field[f], out, &what) < 0 ? field_wrong(f, &what, why) : 0;
}

static int times_read(const struct sacct_row *row, const struct zone *z, struct times *t, struct fault *why)
{
	*t = (struct times){.elapsed = -1, .suspended = -1};
	if (time_read(row, SACCT_SUBMIT, z, &t->submit, why) < 0 ||
		time_read(row, SACCT_START, z, &t->start, why) < 0 ||
		time_read(row, SACCT_END, z, &t->end, why) < 0 ||
		length_read(row, SACCT_ELAPSED, &t->elapsed, why) < 0 ||
		length_read(row, SACCT_ELAPSED_RAW, &t->elapsed, why) < 0 ||
		length_read(row, SACCT_SUSPENDED, &t->suspended, why) < 0)
		return -1;
	return 0;
}

/* How far the length from `start` to `end` is from what sacct printed. */
static int64_t strangeness(const struct times *t, int64_t start, int64_t end)
{
	int64_t printed = t->elapsed + (t->suspended > 0 ? t->suspended : 0), length = end - start;

	return length > printed ? length - printed : printed - length;
}

static int twice(const struct sacct_row *row, enum sacct_field f, struct fault *why)
{
	return fault_set(why,
		"%s: the clock showed %.40s twice on that day, and no other column tells which it was",
		names[f], text_of(row, f));
}

/* Start and end, which may each be one of two moments. */
static int span_choose(
	const struct sacct_row *row, const struct times *t, int64_t *start, int64_t *end, struct fault *why)
{
	bool unsure = false, found = false;

	for (int s = 0; s < t->start.n; s++)
		for (int e = 0; e < t->end.n; e++) {
			int64_t a = t->start.at[s], b = t->end.at[e];

			if (b < a)
				continue;
			if (!found ||
				(t->elapsed >= 0 && strangeness(t, a, b) < strangeness(t, *start, *end))) {
				*start = a;
				*end = b;
				found = true;
			} else if (t->elapsed < 0 && b - a != *end - *start) {
				unsure = true;
			}
		}
	if (!found)
		return fault_set(why, "it ends before it starts");
	return unsure ? twice(row, t->start.n > 1 ? SACCT_START : SACCT_END, why) : 0;
}

/* The last moment that is not after the start; when all are, the job was resized, and it must be one. */
static int submit_choose(
	const struct sacct_row *row, const struct times *t, int64_t start, int64_t *submit, struct fault *why)
{
	*submit = t->submit.at[0];
	if (t->submit.n < 2)
		return 0;
	if (t->submit.at[0] > start)
		return twice(row, SACCT_SUBMIT, why);
	if (t->submit.at[1] <= start)
		*submit = t->submit.at[1];
	return 0;
}

/* Where the file has no End it is Start and what ran. */
static void end_reckon(const struct sacct_row *row, struct times *t)
{
	if (row->field[SACCT_END] || t->elapsed < 0)
		return;
	t->end.n = t->start.n;
	for (int i = 0; i < t->start.n; i++)
		t->end.at[i] = t->start.at[i] + t->elapsed + (t->suspended > 0 ? t->suspended : 0);
}

static int span_read(const struct sacct_row *row, struct times *t, struct sacct_run *run, struct fault *why)
{
	if (!t->submit.n)
		return fault_set(why, "Submit is not known");
	end_reckon(row, t);
	if (!t->end.n)
		return fault_set(why, "not ended");
	if (span_choose(row, t, &run->start, &run->end, why) < 0 ||
		submit_choose(row, t, run->start, &run->submit, why) < 0)
		return -1;
	run->from = run->start > run->submit ? run->start : run->submit;
	run->suspended = t->suspended > 0 ? t->suspended : 0;
	return run->from > run->end ? fault_set(why, "it ends before it was submitted") : 0;
}

/* --- states ----------------------------------------------------------------------------------------- */

/* "CANCELLED by 1000" is CANCELLED. */
static bool state_is(const struct sacct_row *row, const char *state)
{
	const char *text = text_of(row, SACCT_STATE);
	size_t n = strlen(state);

	return !strncasecmp(text, state, n) && (!text[n] || text[n] == ' ' || text[n] == '+');
}

/* A row without a start is no run, unless it says that something ran. */
static enum sacct_kind no_start(const struct sacct_row *row, const struct times *t, struct fault *why)
{
	if (t->elapsed > 0)
		return fault_set(why, "Start is not known, though it ran for %" PRId64 " s", t->elapsed),
		       SACCT_ASIDE;
	if (!sacct_is_none(text_of(row, SACCT_ALLOC_TRES)) && !state_is(row, "CANCELLED") &&
		!state_is(row, "PENDING"))
		return fault_set(why, "Start is not known, though something was allocated"), SACCT_ASIDE;
	return SACCT_NOT_STARTED;
}

/* Older versions print the end of a job that was cancelled in the queue as its start. */
static bool never_ran(const struct sacct_row *row, const struct sacct_run *run)
{
	return run->start == run->end && state_is(row, "CANCELLED") &&
	       sacct_is_none(text_of(row, SACCT_ALLOC_TRES)) && sacct_is_none(text_of(row, SACCT_ALLOC_GRES));
}

/* --- the row ---------------------------------------------------------------------------------------- */

static int gpus_read(const struct sacct_row *row, struct sacct_run *run, struct fault *why)
{
	const char *tres = text_of(row, SACCT_ALLOC_TRES), *gres = text_of(row, SACCT_ALLOC_GRES);
	struct gpu_count *out = &run->gpus;
	struct fault what = {""};

	*out = (struct gpu_count){0};
	run->tres = tres;
	if (!sacct_is_none(tres) && tres_read(tres, out, &what) < 0)
		return field_wrong(SACCT_ALLOC_TRES, &what, why);
	if (!out->total && !sacct_is_none(gres)) {
		run->tres = gres;
		if (tres_read(gres, out, &what) < 0)
			return field_wrong(SACCT_ALLOC_GRES, &what, why);
	}
	if (out->total > GPUS_MAX)
		return fault_set(why, "%" PRId64 " GPUs, which no cluster has", out->total);
	return 0;
}

static int owner_read(const struct sacct_row *row, struct sacct_run *run, struct fault *why)
{
	run->cluster = text_of(row, SACCT_CLUSTER);
	run->account = text_of(row, SACCT_ACCOUNT);
	run->user = text_of(row, SACCT_USER);
	if (!*run->user)
		run->user = text_of(row, SACCT_UID);
	if (!*run->account)
		return fault_set(why, "Account is empty");
	return *run->user ? 0 : fault_set(why, "User is empty");
}

#define CLOCKS_DIFFER_S 60

int sacct_ends_in_future(int64_t end, int64_t now)
{
	return end > now + CLOCKS_DIFFER_S;
}

enum sacct_kind sacct_run_read(
	const struct sacct_row *row, const struct zone *z, struct sacct_run *out, struct fault *why)
{
	const char *job = text_of(row, row->field[SACCT_JOB_RAW] ? SACCT_JOB_RAW : SACCT_JOB);
	struct sacct_run run = {.job = job,
		.label = row->field[SACCT_JOB] ? row->field[SACCT_JOB] : job,
		.uid = text_of(row, SACCT_UID),
		.partition = text_of(row, SACCT_PARTITION),
		.qos = text_of(row, SACCT_QOS),
		.state = text_of(row, SACCT_STATE)};
	struct times t;

	if (texts_check(row, why) < 0)
		return SACCT_ASIDE;
	if (!sacct_job_is_valid(job, strlen(job)))
		return fault_set(why, "\"%.40s\" is not the number of a job", job), SACCT_ASIDE;
	if (strchr(job, '.'))
		return SACCT_STEP;
	if (times_read(row, z, &t, why) < 0)
		return SACCT_ASIDE;
	if (!t.start.n)
		return no_start(row, &t, why);
	if (state_is(row, "RUNNING") || state_is(row, "SUSPENDED"))
		return fault_set(why, "not ended"), SACCT_ASIDE;
	if (span_read(row, &t, &run, why) < 0)
		return SACCT_ASIDE;
	if (never_ran(row, &run))
		return SACCT_NOT_STARTED;
	if (owner_read(row, &run, why) < 0 || gpus_read(row, &run, why) < 0)
		return SACCT_ASIDE;
	*out = run;
	return SACCT_RUN;
}
