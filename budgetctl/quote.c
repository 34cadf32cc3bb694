/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote.c - quote: what a submission would get and cost, without submitting it
 *
 * budgetd gives the figures and its verdict. With --offline the same rules give the figures here, with the
 * site's settings as far as they can be read, and nothing is known of partitions, nodes and budgets. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/quote_question.h"
#include "budgetctl/sbatch_line.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/quote_json.h"
#include "lib/submit_options.h"
#include "settings/settings.h"

#define SCRIPT_MAX ((size_t)16 << 20) /* bytes; Slurm's own limit is 4 MiB unless the site changed it */

/* --- the script ------------------------------------------------------------------------------------- */

/* All of it, malloced; NULL and a text. */
static char *stream_read(FILE *from, const char *name, struct fault *why)
{
	size_t room = 64 << 10, used = 0;
	char *text = malloc(room), *grown;

	while (text && (used += fread(text + used, 1, room - used - 1, from)) == room - 1 &&
		room < SCRIPT_MAX) {
		grown = realloc(text, room *= 2);
		if (!grown)
			free(text);
		text = grown;
	}
	if (!text)
		fault_set(why, "out of memory");
	else if (ferror(from))
		fault_set(why, "%s cannot be read: %s", name, strerror(errno));
	else if (used == room - 1)
		fault_set(why, "%s is no batch script: it has more than %zu MiB", name, SCRIPT_MAX >> 20);
	else if (memchr(text, '\0', used) || strncmp(used > 1 ? text : "", "#!", used > 1 ? 2 : 1) != 0)
		fault_set(why, "%s is no batch script: it does not begin with #! and an interpreter", name);
	if (text && !why->text[0]) {
		text[used] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

static char *script_read(const char *path, struct fault *why)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *text;

	if (!from) {
		fault_set(why, "%s cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	text = stream_read(from, path, why);
	if (from != stdin)
		fclose(from);
	return text;
}

/* --- what is asked ---------------------------------------------------------------------------------- */

/* The index of the script among the words, or their number; -1. */
static int script_index(int n, const char *const *words, struct fault *why)
{
	struct submit_options *scratch = submit_options_new();
	int at = 0, rc = -1;

	if (!scratch)
		return fault_set(why, "out of memory");
	rc = submit_options_words(scratch, n, words, &at, why);
	submit_options_free(scratch);
	return rc < 0 ? -1 : at;
}

static void tell_ignored(int n, const char *const *words)
{
	for (int i = 0; i < n; i++)
		if (words[i][0] == '-' && words[i][1]) {
			complain(DONE,
				"%s stands behind the script: it is an argument of the script's and not "
				"looked at, "
				"as with sbatch",
				words[i]);
			return;
		}
}

/* sbatch refuses the whole script when no plugin brings the option, so silence would be a wrong promise. */
static void tell_unknown(const struct submit_options *o)
{
	const char *name;
	int line;

	for (size_t i = 0; submit_options_unknown(o, i, &line, &name); i++) {
		char near[NEAREST_TEXT_MAX];

		if (*sbatch_nearest(name, near))
			complain(DONE, "script line %d: sbatch has no option --%s. Did you mean %s?", line,
				name, near);
		else
			complain(DONE,
				"script line %d: --%s is not known here and not looked at: if it is not another "
				"plugin's, sbatch refuses the script",
				line, name);
	}
}

/* sbatch's own variables, those of the options that concern us. */
static const struct {
	const char *name, *option;
	bool flag; /* its value, if it has one, says nothing */
} variables[] = {
	{"SBATCH_ACCOUNT", "account", false},
	{"SBATCH_ARRAY_INX", "array", false},
	{"SBATCH_EXCLUSIVE", "exclusive", false},
	{"SBATCH_GPUS", "gpus", false},
	{"SBATCH_GPUS_PER_NODE", "gpus-per-node", false},
	{"SBATCH_GPUS_PER_SOCKET", "gpus-per-socket", false},
	{"SBATCH_GPUS_PER_TASK", "gpus-per-task", false},
	{"SBATCH_GRES", "gres", false},
	{"SBATCH_NO_REQUEUE", "no-requeue", true},
	{"SBATCH_PARTITION", "partition", false},
	{"SBATCH_QOS", "qos", false},
	{"SBATCH_REQUEUE", "requeue", true},
	{"SBATCH_SIGNAL", "signal", false},
	{"SBATCH_TIMELIMIT", "time", false},
};

static int environment_read(struct submit_options *o, struct fault *why)
{
	static const char place[] = "argument 1: "; /* of the word that is made here: it says nothing */

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i].name);
		struct fault detail = {""};
		char *word;
		int rc;

		if (!value)
			continue;
		if (asprintf(&word, "--%s%s%s", variables[i].option, variables[i].flag || !*value ? "" : "=",
			    variables[i].flag ? "" : value) < 0)
			return fault_set(why, "out of memory");
		rc = submit_options_words(o, 1, (const char *const[]){word}, NULL, &detail);
		free(word);
		if (rc < 0)
			return fault_set(why, "%s=%.80s in the environment: %s", variables[i].name, value,
				detail.text + (strncmp(detail.text, place, strlen(place)) ? 0 : strlen(place)));
	}
	return 0;
}

/* As sbatch does: the script's lines first, over them the environment, over both the command line. */
static int options_read(const struct session *s, struct submit_options *o, struct fault *why)
{
	const char *const *words = (const char *const *)s->arguments->words;
	int n = s->arguments->nwords, at = script_index(n, words, why), rc = 0;
	char *script = NULL;

	if (at < 0)
		return -1;
	if (at < n) {
		script = script_read(words[at], why);
		rc = script ? submit_options_script(o, script, why) : -1;
		free(script);
		tell_unknown(o);
		tell_ignored(n - at - 1, words + at + 1);
	}
	return rc < 0 || environment_read(o, why) < 0 ? -1 : submit_options_words(o, n, words, NULL, why);
}

/* --- without budgetd -------------------------------------------------------------------------------- */

static int component_add(struct quote *q, const struct submit_component *c,
	const struct admission_rules *rules, struct fault *why)
{
	struct job_options options = c->options;
	struct gpu_request request;
	struct quote_part part = {.request = &request,
		.options = &options,
		.time_limit_s = c->time_limit_s};

	_Static_assert((int)TIME_LIMIT_UNSET == (int)QUOTE_NOT_KNOWN, "a time limit is handed on as it is");
	if (job_options_from_comment(&options, c->comment, why) < 0 ||
		gpu_request_read(&c->gpus, NULL, &request, why) < 0)
		return -1;
	part.price = request.gpus_max * AMOUNT_RATE_ONE; /* the rates are in the books of budgetd */
	return quote_add(q, &part, rules, why);
}

static int offline_quote(
	struct session *s, const struct submit_options *o, struct json_object **out, struct fault *why)
{
	struct settings *settings;
	struct admission_rules rules;
	struct quote q;
	int rv = session_settings(s, &settings, why);

	if (rv != DONE)
		return rv;
	rules = (struct admission_rules){.default_min_runtime_s = settings->default_min_runtime_s,
		.max_min_runtime_s = settings->max_min_runtime_s,
		.hold_time_limit = settings->hold == HOLD_TIME_LIMIT};
	settings_free(settings);
	quote_init(&q);
	for (size_t i = 0; i < submit_options_components(o); i++)
		if (component_add(&q, submit_options_component(o, i), &rules, why) < 0)
			return REFUSED;
	*out = quote_json(&q);
	if (!*out)
		fault_set(why, "out of memory");
	return *out ? DONE : REFUSED;
}

static int budgetd_quote(
	struct session *s, const struct submit_options *o, struct json_object **out, struct fault *why)
{
	struct json_object *body = quote_question(o);
	int rv = body ? session_ask(s, "POST", "/v1/quotes", body, out, why) : out_of_memory();

	json_object_put(body);
	if (rv == UNREACHABLE)
		complain(rv, "--offline gives the figures without it");
	return rv;
}

/* --- printing --------------------------------------------------------------------------------------- */

#define OFFLINE_COLUMNS 11 /* the first ones need nobody's answer */

static const struct column columns[] = {
	{"gpus_text", "GPUs", KIND_TEXT, NULL, false},
	{"gpus", NULL, KIND_COUNT, NULL, false},
	{"gpus_min", NULL, KIND_COUNT, NULL, false},
	{"gpus_max", NULL, KIND_COUNT, NULL, false},
	{"rule", "Counted as", KIND_TEXT, NULL, false},
	{"array_tasks", "Array tasks", KIND_COUNT, NULL, false},
	{"time_limit_s", "Time limit", KIND_DURATION, "none, or not known", false},
	{"min_runtime_s", "Minimum runtime", KIND_DURATION, NULL, false},
	{"hold_gpu_seconds", NULL, KIND_COUNT, NULL, false},
	{"hold_units", "Held if funded", KIND_AMOUNT, NULL, false},
	{"whole_units", "To its time limit", KIND_AMOUNT, "not known", false},
	{"account", "Account", KIND_TEXT, "none", false},
	{"tier", "Tier", KIND_TEXT, "none", false},
	{"accepted", "Accepted", KIND_YESNO, NULL, false},
	{"reason", NULL, KIND_TEXT, NULL, false},
};

static int64_t number_of(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_object_object_get(o, key));
}

/* "4", "8 to 16", "8, perhaps" (two options exclude each other); with types "4 v100", "6 (4 v100, 2 a100)".
 */
static void gpus_text(struct json_object *quote, FILE *to)
{
	int64_t min = number_of(quote, "gpus_min"), max = number_of(quote, "gpus_max");
	struct json_object *types = json_object_object_get(quote, "types");
	bool one = types && json_object_object_length(types) == 1;
	const char *mark = " (";

	if (min == max)
		fprintf(to, "%" PRId64, max);
	else
		fprintf(to, "%" PRId64 " to %" PRId64, min, max);
	if (min == max && !json_object_object_get(quote, "gpus"))
		fputs(", perhaps", to);
	if (!types || (one && json_object_object_get(types, "untyped")))
		return;
	json_object_object_foreach(types, type, count)
	{
		if (one)
			fprintf(to, " %s", type);
		else
			fprintf(to, "%s%" PRId64 " %s", mark, json_object_get_int64(count), type);
		mark = ", ";
	}
	fputs(!one && json_object_object_length(types) ? ")" : "", to);
}

static int gpus_text_put(struct json_object *quote)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct json_object *value = NULL;

	if (to) {
		gpus_text(quote, to);
		value = fclose(to) == 0 ? json_object_new_string(text) : NULL;
	}
	free(text);
	return value && json_object_object_add(quote, "gpus_text", value) == 0 ? 0 : -1;
}

static int quote_print(const struct session *s, struct json_object *quote, bool offline)
{
	bool people = s->style.format == FORMAT_TABLE;
	struct json_object *reason = json_object_object_get(quote, "reason");
	size_t skip = people ? 0 : 1;

	if ((people && gpus_text_put(quote) < 0) ||
		table_object(columns + skip, (offline ? OFFLINE_COLUMNS : ARRAY_SIZE(columns)) - skip,
			&s->style, quote) < 0)
		return out_of_memory();
	if (people && reason) {
		putchar('\n');
		say_line(stdout, 0, json_object_get_string(reason));
	}
	return DONE;
}

/* A request that makes no sense. A program that reads JSON gets an object all the same. */
static int nonsense(const struct session *s, int outcome, const struct fault *why)
{
	struct json_object *o = s->style.format == FORMAT_JSON ? json_object_new_object() : NULL;

	if (o) {
		json_object_object_add(o, "gpus", NULL);
		json_object_object_add(o, "error", json_object_new_string(why->text));
		table_object(columns, 0, &s->style, o);
		json_object_put(o);
	}
	return complain(outcome, "%s", why->text);
}

int cmd_quote(struct session *s)
{
	bool offline = session_option(s, OPT_OFFLINE);
	struct submit_options *o = submit_options_new();
	struct json_object *quote = NULL;
	struct fault why = {""};
	int rv = REFUSED;

	if (!o)
		return out_of_memory();
	if (options_read(s, o, &why) == 0)
		rv = (offline ? offline_quote : budgetd_quote)(s, o, &quote, &why);
	if (why.text[0])
		rv = nonsense(s, rv, &why);
	else if (rv == DONE)
		rv = quote_print(s, quote, offline);
	json_object_put(quote);
	submit_options_free(o);
	return rv;
}
