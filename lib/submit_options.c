/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_options.c - sbatch's own command line and the #SBATCH lines of a script
 *
 * getopt_long cannot be used: it keeps its place in global variables, and options of other plugins, which are
 * unknown here, must be stepped over. As in sbatch the words of all #SBATCH lines of a component are one
 * command line. */
#include "config.h"
#include "lib/submit_options.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/submit_part.h"

#define COMPONENTS_MAX 128	/* Slurm's limit for het jobs */

struct unknown {
	int line;
	char *name;
};

struct submit_options {
	size_t n;
	struct submit_part part[COMPONENTS_MAX];
	struct unknown *unknown;	/* of the script; they are told, not refused */
	size_t nunknown;
};

/* The words of one command line, with the script's line of each; lines is NULL for a real command line. */
struct words {
	const char *const *word;
	const int *line;
	int n, next;
};

struct submit_options *submit_options_new(void)
{
	struct submit_options *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	for (size_t i = 0; i < COMPONENTS_MAX; i++)
		submit_part_init(&s->part[i]);
	s->n = 1;
	s->unknown = NULL;
	s->nunknown = 0;
	if (submit_part_build(&s->part[0], NULL, NULL) < 0) {
		submit_options_free(s);
		return NULL;
	}
	return s;
}

void submit_options_free(struct submit_options *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		submit_part_clear(&s->part[i]);
	while (s->nunknown > 0)
		free(s->unknown[--s->nunknown].name);
	free(s->unknown);
	free(s);
}

/* Words that are read again begin at the first component: the command line wins over the script, component by
 * component. */
static struct submit_part *component(struct submit_options *s, size_t i, struct fault *why)
{
	if (i >= COMPONENTS_MAX) {
		fault_errno(why, EINVAL, "a het job has at most %d components", COMPONENTS_MAX);
		return NULL;
	}
	if (i >= s->n)
		s->n = i + 1;
	return &s->part[i];
}

static int build(struct submit_options *s, struct fault *why)
{
	for (size_t i = 0; i < s->n; i++)
		if (submit_part_build(&s->part[i], i > 0 ? &s->part[i - 1] : NULL, why) < 0)
			return -1;
	return 0;
}

/* --- words ------------------------------------------------------------------------------------------ */

/* The place of word `i` in front of `what`. */
static int fault_at(const struct words *w, int i, int err, struct fault *why, const char *what)
{
	if (w->line)
		return fault_errno(why, err, "script line %d: %s", w->line[i], what);
	return fault_errno(why, err, "argument %d: %s", i + 1, what);
}

static int fault_word(const struct words *w, int i, struct fault *why, const char *what)
{
	struct fault text = { "" };

	fault_set(&text, "%.200s: %s", w->word[i], what);
	return fault_at(w, i, EINVAL, why, text.text);
}

static int set(struct submit_part *p, const struct submit_option *o, const char *value, const struct words *w,
	int at, struct fault *why)
{
	struct fault reason = { "" };

	if (submit_part_set(p, o, value, &reason) < 0)
		return fault_at(w, at, errno, why, reason.text);
	return 0;
}

static int unknown_add(struct submit_options *s, const struct words *w, int at, struct fault *why)
{
	const char *name = w->word[at] + 2;
	struct unknown *grown = reallocarray(s->unknown, s->nunknown + 1, sizeof(*grown));
	char *copy = grown ? strndup(name, strcspn(name, "=")) : NULL;

	if (grown)
		s->unknown = grown;
	if (!copy)
		return fault_errno(why, ENOMEM, "out of memory");
	s->unknown[s->nunknown++] = (struct unknown){ .line = w->line[at], .name = copy };
	return 0;
}

/* An option of another plugin or of a later sbatch. Without "=" nobody here can tell whether the next word is
 * its value: in a script it can be nothing else, on a command line it may be the script. */
static int skip_unknown(struct submit_options *s, struct words *w, int at, struct fault *why)
{
	bool word = w->next < w->n && w->word[w->next][0] != '-';

	if (w->line && unknown_add(s, w, at, why) < 0)
		return -1;
	if (strchr(w->word[at], '=') || !word)
		return 0;
	if (!w->line)
		return fault_word(w, at, why,
			"not an option of sbatch that is known here; write its value behind \"=\"");
	if (w->line[w->next] == w->line[at])
		w->next++;
	return 0;
}

static int fault_ambiguous(const struct words *w, int at, const char *const two[2], struct fault *why)
{
	struct fault text = { "" };

	fault_set(&text, "may mean --%s or --%s", two[0], two[1]);
	return fault_word(w, at, why, text.text);
}

/* "--name", "--name=value", "--name value". */
static int take_long(struct submit_options *s, struct submit_part *p, struct words *w, struct fault *why)
{
	int at = w->next++;
	const char *name = w->word[at] + 2;
	const char *equals = strchr(name, '='), *value = equals ? equals + 1 : NULL, *two[2];
	const struct submit_option *o =
		submit_option_long(name, equals ? (size_t)(equals - name) : strlen(name), two);

	if (!o && two[0])
		return fault_ambiguous(w, at, two, why);
	if (!o)
		return skip_unknown(s, w, at, why);
	if (value && o->argument == ARGUMENT_NONE)
		return fault_word(w, at, why, "this option has no value");
	if (!value && o->argument == ARGUMENT_NEEDED) {
		if (w->next == w->n)
			return fault_word(w, at, why, "the value is missing");
		value = w->word[w->next++];
	}
	return set(p, o, value, w, at, why);
}

/* "-N2", "-N 2", "-HN2". */
static int take_short(struct submit_part *p, struct words *w, struct fault *why)
{
	int at = w->next++;

	for (const char *s = w->word[at] + 1; *s; s++) {
		const struct submit_option *o = submit_option_short(*s);
		const char *value = s[1] ? s + 1 : NULL;

		if (!o)
			return fault_word(w, at, why, "not an option of sbatch");
		if (o->argument == ARGUMENT_NONE) {
			if (set(p, o, NULL, w, at, why) < 0)
				return -1;
			continue;
		}
		if (!value && o->argument == ARGUMENT_NEEDED) {
			if (w->next == w->n)
				return fault_word(w, at, why, "the value is missing");
			value = w->word[w->next++];
		}
		return set(p, o, value, w, at, why);
	}
	return 0;
}

/* "(1)": footnotes of published examples. sbatch refuses them, but what is meant is clear. */
static bool is_footnote(const char *word)
{
	size_t digits = *word == '(' ? strspn(word + 1, "0123456789") : 0;

	return digits > 0 && !strcmp(word + 1 + digits, ")");
}

/* Options up to the first word that is none. */
static int take_options(struct submit_options *s, struct submit_part *p, struct words *w, struct fault *why)
{
	while (w->next < w->n) {
		const char *word = w->word[w->next];

		if (w->line && is_footnote(word)) {
			w->next++;
			continue;
		}
		if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
			return 0;
		if ((word[1] == '-' ? take_long(s, p, w, why) : take_short(p, w, why)) < 0)
			return -1;
	}
	return 0;
}

int submit_options_words(
	struct submit_options *s, int argc, const char *const *argv, int *script, struct fault *why)
{
	struct words w = { .word = argv, .n = argc };

	for (size_t i = 0;; i++) {
		struct submit_part *p = component(s, i, why);

		if (!p || take_options(s, p, &w, why) < 0)
			return -1;
		if (w.next == argc || strcmp(argv[w.next], ":") != 0)
			break;
		w.next++;
	}
	if (w.next < argc && !strcmp(argv[w.next], "--"))
		w.next++;
	if (build(s, why) < 0)
		return -1;
	if (script)
		*script = w.next;
	return 0;
}

/* --- the script ------------------------------------------------------------------------------------- */

/* The words of the #SBATCH lines of one component; they live in `room`. */
struct collected {
	char *room, *free;		/* as large as the script: a word is never longer than its source */
	const char **word;
	int *line;
	int n, size;
};

static int collect(struct collected *c, const char *word, int line, struct fault *why)
{
	if (c->n == c->size) {
		int size = c->size ? 2 * c->size : 64;
		const char **words = realloc(c->word, (size_t)size * sizeof(*words));
		int *lines;

		if (words)
			c->word = words;
		lines = words ? realloc(c->line, (size_t)size * sizeof(*lines)) : NULL;
		if (!lines)
			return fault_errno(why, ENOMEM, "out of memory");
		c->line = lines;
		c->size = size;
	}
	c->word[c->n] = word;
	c->line[c->n++] = line;
	return 0;
}

/* One word, quotes and backslashes resolved, at *p, which moves behind it. NULL at the end of the line or at
 * its comment; *open_quote is set when a quote is never closed. An open "#" begins a comment. */
static const char *next_word(struct collected *c, const char **p, const char *end, char *open_quote)
{
	const char *s = *p, *start = c->free;
	char quote = '\0';

	while (s < end && isblank((unsigned char)*s))
		s++;
	if (s == end || *s == '#')
		return NULL;
	for (; s < end; s++) {
		if (!quote && (isblank((unsigned char)*s) || *s == '#'))
			break;
		if (*s == '\\' && s + 1 < end && !isblank((unsigned char)s[1]))
			*c->free++ = *++s;
		else if (quote ? *s == quote : *s == '"' || *s == '\'')
			quote = quote ? '\0' : *s;
		else
			*c->free++ = *s;
	}
	*c->free++ = '\0';
	*open_quote = quote;
	*p = s;
	return start;
}

static int collect_line(struct collected *c, const char *p, const char *end, int line, struct fault *why)
{
	char open_quote = '\0';
	const char *word;

	while ((word = next_word(c, &p, end, &open_quote))) {
		if (open_quote)
			return fault_errno(why, EINVAL, "script line %d: a quote (%c) that is never closed",
				line, open_quote);
		if (collect(c, word, line, why) < 0)
			return -1;
	}
	return 0;
}

/* What was collected is the command line of component i. */
static int take_collected(struct submit_options *s, size_t i, struct collected *c, struct fault *why)
{
	struct words w = { .word = c->word, .line = c->line, .n = c->n };
	struct submit_part *p = component(s, i, why);

	if (!p || take_options(s, p, &w, why) < 0)
		return -1;
	if (w.next < w.n && !strcmp(w.word[w.next], "--"))
		w.next++;
	if (w.next < w.n)
		return fault_word(&w, w.next, why, "not an option; sbatch refuses the script");
	c->n = 0;
	return 0;
}

/* "hetjob", or "packjob" as it was called before, begins the next component; the rest of that line is
 * ignored. */
static bool begins_component(const char *p, const char *end)
{
	while (p < end && isblank((unsigned char)*p))
		p++;
	return (end - p >= 6 && !strncmp(p, "hetjob", 6)) || (end - p >= 7 && !strncmp(p, "packjob", 7));
}

/* Is there a command, so that no option can follow? */
static bool is_command(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p < end && *p != '#';
}

static int read_script(struct submit_options *s, const char *text, struct collected *c, struct fault *why)
{
	static const char magic[] = "#SBATCH";
	size_t i = 0;
	int line = 1;

	for (const char *p = text, *end; *p; p = *end ? end + 1 : end, line++) {
		end = p + strcspn(p, "\n");
		if (end > p && end[-1] == '\r')
			return fault_errno(why, EINVAL,
				"script line %d: ends in a DOS line break (\\r\\n), which sbatch refuses",
				line);
		if (strncmp(p, magic, sizeof(magic) - 1) != 0) {
			if (is_command(p, end))
				break;
			continue;
		}
		if (begins_component(p + sizeof(magic) - 1, end)) {
			if (take_collected(s, i++, c, why) < 0)
				return -1;
		} else if (collect_line(c, p + sizeof(magic) - 1, end, line, why) < 0) {
			return -1;
		}
	}
	return take_collected(s, i, c, why);
}

int submit_options_script(struct submit_options *s, const char *text, struct fault *why)
{
	struct collected c = { .room = malloc(strlen(text) + 1) };
	int rv = -1;

	c.free = c.room;
	if (!c.room)
		fault_errno(why, ENOMEM, "out of memory");
	else if (read_script(s, text, &c, why) == 0)
		rv = build(s, why);
	free(c.room);
	free(c.word);
	free(c.line);
	return rv;
}

size_t submit_options_components(const struct submit_options *s)
{
	return s->n;
}

const struct submit_component *submit_options_component(const struct submit_options *s, size_t i)
{
	return &s->part[i].component;
}

bool submit_options_unknown(const struct submit_options *s, size_t i, int *line, const char **name)
{
	if (i >= s->nunknown)
		return false;
	*line = s->unknown[i].line;
	*name = s->unknown[i].name;
	return true;
}
