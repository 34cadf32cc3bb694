/* SPDX-License-Identifier: GPL-2.0-or-later
 * check.c - words of the site and of the user, and what is done for one task (check.h) */
#include "config.h"
#include "spank/check.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "gpu_check/backend_names.h"
#include "lib/number.h"
#include "locality/devices.h"

enum {
	DEADLINE_S = 20,
	DEADLINE_MAX_S = 3600,
	OWNER_MS = 5000,	/* beyond the deadline: what ends a helper, and a slow node */
	RENDER_FIRST = 128	/* the kernel numbers /dev/dri/renderD* from there on */
};

/* --- words of plugstack.conf -------------------------------------------------------------------------- */

void check_site_init(struct check_site *s)
{
	*s = (struct check_site){.words = "auto",
		.backend = "auto",
		.least = LEVEL_OFF,
		.policy = CHECK_REQUIRED,
		.deadline_ms = DEADLINE_S * 1000,
		.root = "/",
		.helper = GPU_CHECK_HELPER};
}

static int text_keep(char *buf, size_t size, const char *text, struct fault *why)
{
	if (!text[0] || strlen(text) >= size)
		return fault_errno(why, EINVAL, "plugstack.conf: \"%.60s\" has to have 1 to %zu characters",
			text, size - 1);
	strcpy(buf, text);
	return 1;
}

static int words_take(struct check_site *s, const char *text, struct fault *why)
{
	return text_keep(s->words, sizeof(s->words), text, why);
}

static bool backend_is_known(const char *name)
{
	return !strcmp(name, "auto") || backend_of(name) >= 0;
}

static int backend_fault(const char *name, struct fault *why)
{
	char list[BACKEND_LIST_MAX];

	return fault_errno(why, EINVAL, "\"%.40s\" is none of auto, %s", name, backend_list(list));
}

static int backend_take(struct check_site *s, const char *text, struct fault *why)
{
	return backend_is_known(text) ? text_keep(s->backend, sizeof(s->backend), text, why)
				      : backend_fault(text, why);
}

static int least_take(struct check_site *s, const char *text, struct fault *why)
{
	int level = level_of(text);

	if (level < 0)
		return fault_errno(why, EINVAL,
			"plugstack.conf: gpu_check_least=%.40s is none of off, enum, copy, kernel, bandwidth",
			text);
	s->least = (enum level)level;
	return 1;
}

static int policy_take(struct check_site *s, const char *text, struct fault *why)
{
	static const char *const names[CHECK_POLICIES] = { "optional", "required", "strict" };

	for (int p = 0; p < CHECK_POLICIES; p++)
		if (!strcmp(names[p], text)) {
			s->policy = (enum check_policy)p;
			return 1;
		}
	return fault_errno(why, EINVAL,
		"plugstack.conf: gpu_check_policy=%.40s is none of optional, required and strict", text);
}

static int at_take(struct check_site *s, const char *text, struct fault *why)
{
	static const char *const names[CHECK_PLACES] = { "auto", "hook", "program" };

	for (int p = 0; p < CHECK_PLACES; p++)
		if (!strcmp(names[p], text)) {
			s->at = (enum check_at)p;
			return 1;
		}
	return fault_errno(
		why, EINVAL, "plugstack.conf: gpu_check_at=%.40s is none of auto, hook and program", text);
}

static int deadline_take(struct check_site *s, const char *text, struct fault *why)
{
	int64_t seconds;

	if (number_parse(text, DEADLINE_MAX_S, &seconds) < 0 || seconds == 0)
		return fault_errno(why, EINVAL, "plugstack.conf: gpu_check_deadline=%.40s is not 1 to %d "
			"seconds",
			text, DEADLINE_MAX_S);
	s->deadline_ms = seconds * 1000;
	return 1;
}

static int path_take(char *buf, size_t size, const char *text, struct fault *why)
{
	if (text[0] != '/')
		return fault_errno(
			why, EINVAL, "plugstack.conf: \"%.100s\" is no path that begins with /", text);
	return text_keep(buf, size, text, why);
}

static int helper_take(struct check_site *s, const char *text, struct fault *why)
{
	return path_take(s->helper, sizeof(s->helper), text, why);
}

static int root_take(struct check_site *s, const char *text, struct fault *why)
{
	return path_take(s->root, sizeof(s->root), text, why);
}

/* check_NAME=PATH */
static int check_take(struct check_site *s, const char *name, size_t n, const char *path, struct fault *why)
{
	struct site_check c = { "", "" };

	snprintf(c.name, sizeof(c.name), "%.*s", (int)n, name);
	for (const char *at = c.name; *at; at++)
		if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at))
			n = 0;
	if (n == 0 || n >= sizeof(c.name) || level_of(c.name) >= 0)
		return fault_errno(why, EINVAL,
			"plugstack.conf: check_%s: a check is named by up to %zu small letters and digits, "
			"and not as a level",
			c.name, sizeof(c.name) - 1);
	if (s->checks == SITE_CHECKS_MAX)
		return fault_errno(
			why, EINVAL, "plugstack.conf: check_%s: %d checks are the most", c.name,
			SITE_CHECKS_MAX);
	if (path_take(c.path, sizeof(c.path), path, why) < 0)
		return -1;
	s->check[s->checks++] = c;
	return 1;
}

int check_site_argument(struct check_site *s, const char *argument, struct fault *why)
{
	static const struct {
		const char *name;
		int (*take)(struct check_site *s, const char *text, struct fault *why);
	} words[] = { { "gpu_check", words_take }, { "gpu_backend", backend_take },
		{ "gpu_check_least", least_take }, { "gpu_check_policy", policy_take },
		{ "gpu_check_at", at_take }, { "gpu_check_deadline", deadline_take },
		{ "gpu_check_helper", helper_take }, { "gpu_root", root_take } };
	const char *value = strchr(argument, '=');
	size_t n = value ? (size_t)(value - argument) : 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (n == strlen(words[i].name) && !strncmp(argument, words[i].name, n))
			return words[i].take(s, value + 1, why);
	if (n >= 6 && !strncmp(argument, "check_", 6))
		return check_take(s, argument + 6, n - 6, value + 1, why);
	return 0;
}

/* --- the order of a step ------------------------------------------------------------------------------ */

static int word_fault(const struct check_site *s, const char *word, struct fault *why)
{
	char names[SITE_CHECKS_MAX * 18] = "";
	size_t n = 0;

	for (int i = 0; i < s->checks; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, ", %s", s->check[i].name);
	return fault_errno(why, EINVAL, "\"%.40s\" is none of auto, off, enum, copy, kernel, bandwidth%s",
		word, names);
}

static int word_take(
	const struct check_site *s, const char *word, bool *has_level, struct check_order *o,
	struct fault *why)
{
	int level = level_of(word);

	if (level >= 0) {
		o->level = (enum level)level;
		*has_level = true;
		return 0;
	}
	for (int i = 0; i < s->checks; i++)
		if (!strcmp(s->check[i].name, word)) {
			if (o->checks < SITE_CHECKS_MAX)
				o->check[o->checks++] = s->check[i];
			return 0;
		}
	return word_fault(s, word, why);
}

/* `preset` is the level when none is among the words. */
static int words_read(const struct check_site *s, const char *words, enum level preset, struct check_order *o,
	struct fault *why)
{
	bool has_level = false;
	char word[CHECK_WORDS_MAX];

	o->checks = 0;
	while (*words) {
		size_t n = strcspn(words, ",");

		snprintf(word, sizeof(word), "%.*s", (int)n, words);
		if (word_take(s, word, &has_level, o, why) < 0)
			return -1;
		words += n + (words[n] == ',');
	}
	if (!has_level)
		o->level = preset;
	return 0;
}

int check_order_make(const struct check_site *s, const char *words, const char *backend,
	struct check_order *out, struct fault *why)
{
	struct check_order o = { .policy = s->policy, .deadline_ms = s->deadline_ms };

	strcpy(o.root, s->root);
	strcpy(o.helper, s->helper);
	if (backend && !backend_is_known(backend))
		return backend_fault(backend, why);
	snprintf(o.backend, sizeof(o.backend), "%s", backend ? backend : s->backend);
	if (words_read(s, s->words, LEVEL_PRESET, &o, why) < 0 ||
		(words && words_read(s, words, o.level, &o, why) < 0))
		return -1;
	if (words && o.level < s->least)
		return fault_errno(why, EINVAL, "level %s is less than what this site allows, %s",
			level_name[o.level], level_name[s->least]);
	*out = o;
	return 0;
}

const char *check_program(const struct check_site *s, char buf[CHECK_PROGRAM_MAX])
{
	snprintf(buf, CHECK_PROGRAM_MAX, "%.*sgpu-check-task", (int)(strrchr(s->helper, '/') + 1 - s->helper),
		s->helper);
	return buf;
}

bool check_order_empty(const struct check_order *o)
{
	return o->level == LEVEL_OFF && o->checks == 0;
}

/* --- one task ----------------------------------------------------------------------------------------- */

/* Whether this process may use them, as letters: of files NAME<from> on. faccessat asks the device
 * cgroup, too, and opens nothing. */
static void usable_text(int root, const char *name, int from, char buf[GPUS_MAX + 1])
{
	char one[64];

	for (int i = 0; i < GPUS_MAX; i++) {
		snprintf(one, sizeof(one), "dev/%s%d", name, from + i);
		buf[i] = faccessat(root, one, R_OK | W_OK, AT_EACCESS) == 0 ? 'y' : 'n';
	}
	buf[GPUS_MAX] = '\0';
}

/* What names a set of GPUs: tasks in which all of these are the same have the same. The variables alone do
 * not: with ConstrainDevices and --gpus-per-task Slurm (22.05 to 26.05, by its sources) keeps each task to
 * its own devices by the cgroup, and tells each "0". */
static void key_make(const char *root, char *const *environment, char buf[PROOF_KEY_MAX + 1])
{
	static const char *const names[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES",
		"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL"};
	char nvidia[GPUS_MAX + 1] = "", render[GPUS_MAX + 1] = "";
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n;

	if (fd >= 0) {
		usable_text(fd, "nvidia", 0, nvidia);
		usable_text(fd, "dri/renderD", RENDER_FIRST, render);
		close(fd);
	}
	n = (size_t)snprintf(buf, PROOF_KEY_MAX + 1, "%s;%s;", nvidia, render);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && n <= PROOF_KEY_MAX; i++) {
		const char *value = environment_value(environment, names[i]);

		n += (size_t)snprintf(buf + n, PROOF_KEY_MAX + 1 - n, "%s;", value ? value : "-");
	}
}

const struct proof_of_backend *proof_worst(const struct proof *p)
{
	for (int i = 0; i < p->backends; i++)
		if (p->of[i].verdict.outcome == p->outcome)
			return &p->of[i];
	return NULL;
}

/* What could not be looked at because its helper is not here (a container) is not known to be broken. */
static void look_at_helper(struct proof *p)
{
	const struct proof_of_backend *b = proof_worst(p);

	for (int i = 0; i < p->backends; i++)
		if (p->of[i].verdict.outcome == OUTCOME_FAILED && p->of[i].verdict.cause != CAUSE_NO_HELPER)
			return;
	if (!b || p->outcome != OUTCOME_FAILED)
		return;
	for (int i = 0; i < p->backends; i++)
		if (p->of[i].verdict.outcome == OUTCOME_FAILED)
			p->of[i].verdict.outcome = OUTCOME_UNCHECKED;
	p->outcome = OUTCOME_UNCHECKED;
}

/* Told to the user: a failure; what he can change; and what nobody looked at though it was asked for. That
 * there is nothing to make a kernel with would be told at every step of a site. */
static bool is_told(const struct proof *p, const struct proof_of_backend *b, bool ends)
{
	return ends || p->outcome == OUTCOME_FAILED ||
	       (p->outcome == OUTCOME_WARNED && b && b->verdict.cause != CAUSE_NO_KERNEL) ||
	       (p->outcome == OUTCOME_UNCHECKED && b && b->verdict.cause == CAUSE_NO_HELPER);
}

static void judge(const struct check_order *o, int task, struct proof *p, struct proof_result *r)
{
	const struct proof_of_backend *b;
	char line[VERDICT_LINE_MAX];

	look_at_helper(p);
	b = proof_worst(p);
	r->outcome = p->outcome;
	r->ends_task = (p->outcome == OUTCOME_FAILED && o->policy != CHECK_OPTIONAL) ||
		(p->outcome == OUTCOME_UNCHECKED && o->policy == CHECK_STRICT);
	check_json(o, task, p, r->json);
	if (!is_told(p, b, r->ends_task))
		return;
	if (b)
		snprintf(r->say, sizeof(r->say), "%s%s", verdict_line(&b->verdict, b->name, line),
			r->ends_task ? "" : " The task runs all the same.");
	else
		snprintf(r->say, sizeof(r->say), "not checked: %s", p->why_nothing);
}

static void prove_task(
	const struct check_order *o, int task, char *const *environment, struct proof_result *r)
{
	struct prove_request q = { .helper = o->helper, .backend = o->backend, .level = o->level,
		.deadline_ms = o->deadline_ms, .root = o->root, .expected = -1, .environment = environment,
		.check = o->check, .checks = o->checks };
	struct fault why = { "" };
	struct proof p;

	memset(r, 0, sizeof(*r));
	if (prove(&q, &p, &why) < 0) {
		r->outcome = OUTCOME_UNCHECKED;
		r->ends_task = o->policy == CHECK_STRICT;
		snprintf(r->say, sizeof(r->say), "not checked: %s", why.text);
		return;
	}
	judge(o, task, &p, r);
	proof_free(&p);
}

static void not_told(const struct check_order *o, struct proof_result *r)
{
	memset(r, 0, sizeof(*r));
	r->outcome = OUTCOME_FAILED;
	r->ends_task = o->policy != CHECK_OPTIONAL;
	snprintf(r->say, sizeof(r->say),
		"FAIL: the task that checks the same GPUs has not told a result within %jd s; it may have "
		"been "
		"killed. To do: look at the other tasks",
		(intmax_t)(o->deadline_ms + OWNER_MS) / 1000);
}

int check_task(struct proofs *p, int task, char *const *environment, struct proof_result *result, bool *own)
{
	const struct check_order *o = proofs_extra(p);
	char key[PROOF_KEY_MAX + 1];
	int slot;

	key_make(o->root, environment, key);
	slot = proofs_claim(p, key, own);
	if (slot < 0 || *own)
		prove_task(o, task, environment, result);
	if (slot < 0)
		*own = true;		/* its own, that nobody else waits for */
	else if (*own)
		proofs_put(p, slot, result);
	else if (proofs_wait(p, slot, o->deadline_ms + OWNER_MS, result) < 0)
		not_told(o, result);
	else if (!result->ends_task)
		result->say[0] = '\0';	/* told once */
	return result->ends_task ? -1 : 0;
}
