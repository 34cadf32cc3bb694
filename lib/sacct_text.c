/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_text.c - rows out of what `sacct -P` printed (sacct_text.h)
 *
 * A line that is a whole row by itself, with the number and the times of a job in their columns, is never
 * joined to what stands before it: a row that was cut costs itself and not its neighbour. */
#include "lib/sacct_text.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COLUMNS_MAX 512
#define BARS_MAX    4096 /* of one row, those in texts included */
#define BLOCK       (64 << 10)

/* Columns in which users write what they like. */
static const char *const free_text[] = {"JobName", "Comment", "AdminComment", "SystemComment", "WorkDir",
	"SubmitLine", "Extra", "Constraints", "Container", "Licenses", "WCKey", "StdIn", "StdOut", "StdErr"};

struct buffer {
	char *text; /* SACCT_ROW_MAX + 1 bytes */
	size_t length;
	bool too_long; /* the rest was thrown away */
};

struct sacct_text {
	FILE *from;
	int columns;                   /* an empty last one of `sacct -p` included */
	int column[SACCT_FIELDS];      /* -1 = not there */
	int first_text;                /* the first column of free text; t->columns = there is none */
	int ntexts, text[COLUMNS_MAX]; /* all of them */
	char *header;                  /* as it stands, to skip its repetitions */
	struct buffer line, row;
	bool waiting;    /* `line` was read and not taken */
	bool open_ended; /* the row before may go on: its last column is free text */
	int64_t lines;   /* read so far */
	int nbars;
	uint32_t bar[BARS_MAX]; /* of `row` */
	size_t at, have;
	char block[BLOCK];
};

/* --- lines ------------------------------------------------------------------------------------------ */

static void append(struct buffer *b, const char *text, size_t n)
{
	if (n > SACCT_ROW_MAX - b->length) {
		n = SACCT_ROW_MAX - b->length;
		b->too_long = true;
	}
	memcpy(b->text + b->length, text, n);
	b->length += n;
	b->text[b->length] = '\0';
}

static void clear(struct buffer *b)
{
	b->length = 0;
	b->too_long = false;
	b->text[0] = '\0';
}

/* The next line into t->line, without its end. 1, 0 at the end of the file, -1. */
static int line_read(struct sacct_text *t)
{
	bool any = false, whole = false;

	clear(&t->line);
	while (!whole) {
		char *newline;
		size_t n;

		if (t->at == t->have) {
			t->at = 0;
			t->have = fread(t->block, 1, BLOCK, t->from);
			if (!t->have)
				break;
		}
		any = true;
		newline = memchr(t->block + t->at, '\n', t->have - t->at);
		whole = newline;
		n = newline ? (size_t)(newline - t->block) - t->at : t->have - t->at;
		append(&t->line, t->block + t->at, n);
		t->at += n + whole;
	}
	if (ferror(t->from))
		return -1;
	if (t->line.length && t->line.text[t->line.length - 1] == '\r')
		t->line.text[--t->line.length] = '\0';
	t->lines += any;
	return any;
}

static int line_wait(struct sacct_text *t)
{
	int rv = t->waiting ? 1 : line_read(t);

	t->waiting = rv > 0;
	return rv;
}

/* Where the bars of `b` are, up to BARS_MAX; their number. */
static int bars_find(const struct buffer *b, uint32_t bar[BARS_MAX])
{
	const char *p = b->text, *end = b->text + b->length;
	int n = 0;

	while (n < BARS_MAX && (p = memchr(p, '|', (size_t)(end - p))))
		bar[n++] = (uint32_t)(p++ - b->text);
	return n;
}

/* --- columns ---------------------------------------------------------------------------------------- */

struct slice {
	const char *text;
	size_t length;
};

/* Column `c` of a row whose bars that are too many are all in the column `wide`; t->columns = there are none.
 */
static struct slice column_of(
	const struct sacct_text *t, const struct buffer *b, const uint32_t *bar, int nbars, int c, int wide)
{
	int extra = c > wide ? nbars - (t->columns - 1) : 0;
	/* the wide column itself ends where the next one begins */
	int left = c - 1 + extra, right = c + (c == wide ? nbars - (t->columns - 1) : extra);
	size_t start = c ? bar[left] + 1 : 0, end = right < nbars ? bar[right] : b->length;

	return (struct slice){b->text + start, end - start};
}

static int job_column(const struct sacct_text *t)
{
	return t->column[SACCT_JOB_RAW] >= 0 ? t->column[SACCT_JOB_RAW] : t->column[SACCT_JOB];
}

/* A moment, or a word for none. */
static bool is_time(struct slice s)
{
	static const char *const words[] = {"Unknown", "None", "None assigned", "N/A"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == s.length && !strncasecmp(words[i], s.text, s.length))
			return true;
	for (size_t i = 0; i < s.length; i++)
		if (!strchr("0123456789-:T+Z ", s.text[i]))
			return false;
	return s.length > 0;
}

/* Nothing, or "cpu=8,..."; the end of a text that looks so would have to be meant. */
static bool is_tres(struct slice s)
{
	return !s.length || (memchr(s.text, '=', s.length) && !memchr(s.text, '\n', s.length));
}

/* What must be in every column that is needed and lies before `end`. */
static bool columns_fit(
	const struct sacct_text *t, const struct buffer *b, const uint32_t *bar, int nbars, int end, int wide)
{
	static const enum sacct_field times[] = {SACCT_SUBMIT, SACCT_START, SACCT_END};
	int job = job_column(t), tres = t->column[SACCT_ALLOC_TRES];

	if (job < end) {
		struct slice s = column_of(t, b, bar, nbars, job, wide);

		if (!sacct_job_is_valid(s.text, s.length))
			return false;
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int c = t->column[times[i]];

		if (c >= 0 && c < end && !is_time(column_of(t, b, bar, nbars, c, wide)))
			return false;
	}
	return tres < 0 || tres >= end || is_tres(column_of(t, b, bar, nbars, tres, wide));
}

/* Do both find every column that is needed at the same place? */
static bool same_places(const struct sacct_text *t, int wide, int other)
{
	for (int f = 0; f < SACCT_PARTITION; f++)
		if (t->column[f] >= 0 && (t->column[f] > wide) != (t->column[f] > other))
			return false;
	return true;
}

#define NOT_WHOLE (-1)
#define IN_DOUBT  (-2) /* a row, but more than one column may have the bars that are too many */

/* Which column of free text has the bars that are too many, when `b` is a row: what must be in its columns is
 * there. t->columns when none is too many. */
static int wide_column(const struct sacct_text *t, const struct buffer *b, const uint32_t *bar, int nbars)
{
	int found = NOT_WHOLE;

	if (nbars < t->columns - 1 || nbars == BARS_MAX)
		return NOT_WHOLE;
	if (nbars == t->columns - 1)
		return columns_fit(t, b, bar, nbars, t->columns, t->columns) ? t->columns : NOT_WHOLE;
	for (int i = 0; i < t->ntexts; i++) {
		if (!columns_fit(t, b, bar, nbars, t->columns, t->text[i]))
			continue;
		if (found >= 0 && !same_places(t, found, t->text[i]))
			return IN_DOUBT;
		found = t->text[i];
	}
	return found;
}

static bool is_whole(const struct sacct_text *t, const struct buffer *b, const uint32_t *bar, int nbars)
{
	return wide_column(t, b, bar, nbars) != NOT_WHOLE;
}

/* Is the line the head of a row? 1, 0, -1 cannot be told: the number of the job stands behind a free text. */
static int is_head(const struct sacct_text *t, const uint32_t *bar, int nbars)
{
	int c = job_column(t), end = t->first_text < nbars ? t->first_text : nbars;

	if (c > t->first_text)
		return -1;
	/* only a free text breaks a line: with none before the number, the number is there */
	return c <= nbars && columns_fit(t, &t->line, bar, nbars, end > c ? end : c + 1, t->columns);
}

/* The line does not go on with the row that is being read. */
static bool is_next(const struct sacct_text *t, const uint32_t *bar, int nbars)
{
	int wanted = t->columns - 1, sum = nbars + t->nbars;

	if (is_whole(t, &t->line, bar, nbars))
		return true;
	if (sum == wanted)
		return false;
	return (sum > wanted && !t->ntexts) || (nbars && is_head(t, bar, nbars) == 1);
}

/* --- the header ------------------------------------------------------------------------------------- */

static bool is_free_text(struct slice s)
{
	for (size_t i = 0; i < sizeof(free_text) / sizeof(free_text[0]); i++)
		if (strlen(free_text[i]) == s.length && !strncasecmp(free_text[i], s.text, s.length))
			return true;
	return false;
}

static void heading_note(struct sacct_text *t, struct slice s, int c)
{
	for (int f = 0; f < SACCT_FIELDS; f++)
		if (t->column[f] < 0 && sacct_field_is((enum sacct_field)f, s.text, s.length))
			t->column[f] = c;
	if (!is_free_text(s))
		return;
	if (!t->ntexts)
		t->first_text = c;
	t->text[t->ntexts++] = c;
}

static int header_read(struct sacct_text *t, struct fault *why)
{
	int there[SACCT_FIELDS], rv = line_read(t), skip;

	if (rv < 0)
		return fault_errno(why, errno, "%s", strerror(errno));
	if (!rv)
		return fault_errno(why, EINVAL, "there is nothing in it, not even the header of sacct -P");
	skip = !strncmp(t->line.text, "\xef\xbb\xbf", 3) ? 3 : 0;
	memmove(t->line.text, t->line.text + skip, t->line.length + 1 - (size_t)skip);
	t->line.length -= (size_t)skip;
	t->nbars = bars_find(&t->line, t->bar);
	if (t->nbars >= COLUMNS_MAX)
		return fault_errno(why, EINVAL, "the header has more than %d columns", COLUMNS_MAX);
	t->columns = t->nbars + 1;
	t->first_text = t->columns;
	for (int f = 0; f < SACCT_FIELDS; f++)
		t->column[f] = -1;
	for (int c = 0; c < t->columns; c++) {
		size_t start = c ? t->bar[c - 1] + 1 : 0, end = c < t->nbars ? t->bar[c] : t->line.length;

		heading_note(t, (struct slice){t->line.text + start, end - start}, c);
	}
	for (int f = 0; f < SACCT_FIELDS; f++)
		there[f] = t->column[f] >= 0;
	t->header = strdup(t->line.text);
	return t->header ? sacct_columns_check(there, why) : fault_errno(why, ENOMEM, "out of memory");
}

struct sacct_text *sacct_text_new(FILE *from, struct fault *why)
{
	struct sacct_text *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct sacct_text){.from = from,
			.line.text = malloc(SACCT_ROW_MAX + 1),
			.row.text = malloc(SACCT_ROW_MAX + 1)};
	if (!t || !t->line.text || !t->row.text)
		fault_errno(why, ENOMEM, "out of memory");
	else if (header_read(t, why) == 0)
		return t;
	sacct_text_free(t);
	return NULL;
}

void sacct_text_free(struct sacct_text *t)
{
	int err = errno;

	if (!t)
		return;
	free(t->line.text);
	free(t->row.text);
	free(t->header);
	free(t);
	errno = err;
}

/* --- rows ------------------------------------------------------------------------------------------- */

static enum sacct_got broken(struct fault *why, const char *text, int got, int wanted)
{
	fault_set(why, "%s: %d of %d columns", text, got, wanted);
	return SACCT_BROKEN;
}

static enum sacct_got row_finish(struct sacct_text *t, struct sacct_row *row, struct fault *why)
{
	int wide;

	if (t->row.too_long)
		return fault_set(why, "longer than %d bytes", SACCT_ROW_MAX), SACCT_BROKEN;
	if (memchr(t->row.text, '\0', t->row.length))
		return fault_set(why, "a NUL byte"), SACCT_BROKEN;
	wide = t->nbars == t->columns - 1 ? t->columns : wide_column(t, &t->row, t->bar, t->nbars);
	if (wide < 0)
		return broken(why, "bars or lines too many, in which column cannot be told", t->nbars + 1,
			t->columns);
	for (int f = 0; f < SACCT_FIELDS; f++) {
		struct slice s;

		row->field[f] = NULL;
		if (t->column[f] < 0)
			continue;
		s = column_of(t, &t->row, t->bar, t->nbars, t->column[f], wide);
		t->row.text[s.text + s.length - t->row.text] = '\0';
		row->field[f] = s.text;
	}
	t->open_ended = t->ntexts && t->text[t->ntexts - 1] == t->columns - 1;
	return SACCT_ROW;
}

/* Put the waiting line behind what the row has already. */
static void line_take(struct sacct_text *t, bool first)
{
	if (!first)
		append(&t->row, "\n", 1);
	append(&t->row, t->line.text, t->line.length);
	t->row.too_long = t->row.too_long || t->line.too_long;
	t->nbars = bars_find(&t->row, t->bar);
	t->waiting = false;
}

/* There are columns enough, but what is in them cannot be: with one more line it is a row, or the line waits.
 */
static void line_try(struct sacct_text *t, uint32_t bar[BARS_MAX])
{
	size_t length = t->row.length;
	int n;

	if (is_whole(t, &t->row, t->bar, t->nbars) || !t->ntexts || line_wait(t) <= 0)
		return;
	n = bars_find(&t->line, bar);
	if (is_whole(t, &t->line, bar, n) || is_head(t, bar, n) == 1)
		return;
	line_take(t, false);
	if (!t->row.too_long && is_whole(t, &t->row, t->bar, t->nbars))
		return;
	t->row.length = length;
	t->row.text[length] = '\0';
	t->row.too_long = false;
	t->nbars = bars_find(&t->row, t->bar);
	t->waiting = true;
}

/* Lines between rows that are none: empty ones, the header once more, the rest of a free text at the end of
 * the row before. */
static bool line_is_nothing(const struct sacct_text *t, bool head)
{
	return !t->line.length || !strcmp(t->line.text, t->header) || (!head && t->open_ended);
}

enum sacct_got sacct_text_next(struct sacct_text *t, struct sacct_row *row, struct fault *why)
{
	static const char cut[] = "cut short";
	uint32_t bar[BARS_MAX];
	bool first = true;
	int rv;

	clear(&t->row);
	t->nbars = 0;
	while ((rv = line_wait(t)) > 0) {
		int n = bars_find(&t->line, bar);
		bool head = is_head(t, bar, n) != 0;

		if (first && line_is_nothing(t, head)) {
			t->waiting = false;
			continue;
		}
		if (!first && is_next(t, bar, n))
			return broken(why, cut, t->nbars + 1, t->columns);
		if (first)
			row->line = t->lines;
		line_take(t, first);
		if (t->nbars >= t->columns - 1 && !t->row.too_long)
			line_try(t, bar);
		if (t->nbars >= t->columns - 1 || t->row.too_long)
			return row_finish(t, row, why);
		if (first && !head)
			return broken(why, "no row of sacct", t->nbars + 1, t->columns);
		first = false;
	}
	t->open_ended = false;
	if (rv < 0)
		return fault_errno(why, errno, "%s", strerror(errno)), SACCT_FAILED;
	return first ? SACCT_END_OF_FILE : broken(why, cut, t->nbars + 1, t->columns);
}
