/* SPDX-License-Identifier: GPL-2.0-or-later
 * verdict.c - JSON to job description.
 *
 * The daemon is trusted to decide, not to be well: a wrong type, an unknown word or a number that Slurm
 * would read as NO_VAL is treated like no answer at all. Whatever slurmctld frees later is allocated by
 * Slurm's own allocator. */
#include "job_submit/verdict.h"
#include <errno.h>
#include <string.h>
#include "lib/token.h"

#define WORD_MAX 256			/* bytes of a QOS or an account */
/* far inside NICE_OFFSET, so that no value meets NO_VAL or INFINITE */
#define SITE_FACTOR_MAX 1000000000
#define TELL_BYTES_MAX 8192		/* a terminal's worth; the user's sbatch prints it all */

/* --- read ------------------------------------------------------------------------------------------ */

/* 0 with *out the string, or NULL when it is absent or null; -1 when it is something else. */
static int read_string(struct json_object *reply, const char *key, const char **out, struct fault *why)
{
	struct json_object *value;

	*out = NULL;
	if (!json_object_object_get_ex(reply, key, &value) || !value)
		return 0;
	if (!json_object_is_type(value, json_type_string))
		return fault_errno(why, EPROTO, "the verdict's \"%s\" is not a string", key);
	*out = json_object_get_string(value);
	if (strlen(*out) != (size_t)json_object_get_string_len(value))
		return fault_errno(why, EPROTO, "the verdict's \"%s\" has a NUL byte", key);
	return 0;
}

static int read_word(struct json_object *reply, const char *key, const char **out, struct fault *why)
{
	if (read_string(reply, key, out, why) < 0)
		return -1;
	if (!*out)
		return 0;
	for (const char *c = *out; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return fault_errno(
				why, EPROTO, "the verdict's \"%s\" has a blank or a control character", key);
	if (!**out || strlen(*out) > WORD_MAX)
		return fault_errno(why, EPROTO, "the verdict's \"%s\" is empty or too long", key);
	return 0;
}

/* One of `words`, which must be there. Its index in *out. */
static int read_choice(
	struct json_object *reply, const char *key, const char *const *words, int *out, struct fault *why)
{
	const char *text;

	if (read_string(reply, key, &text, why) < 0)
		return -1;
	for (int i = 0; text && words[i]; i++)
		if (!strcmp(text, words[i])) {
			*out = i;
			return 0;
		}
	return fault_errno(why, EPROTO, text ? "the verdict's \"%s\" is the unknown word \"%.40s\"" :
		"the verdict has no \"%s\"", key, text);
}

static int read_site_factor(struct json_object *reply, struct verdict *v, struct fault *why)
{
	struct json_object *value;
	int64_t n;

	v->has_site_factor = false;
	if (!json_object_object_get_ex(reply, "site_factor", &value) || !value)
		return 0;
	n = json_object_get_int64(value);
	if (!json_object_is_type(value, json_type_int) || n < -SITE_FACTOR_MAX || n > SITE_FACTOR_MAX)
		return fault_errno(why, EPROTO, "the verdict's \"site_factor\" is not a number within %d",
			SITE_FACTOR_MAX);
	v->has_site_factor = true;
	v->site_factor = (int32_t)n;
	return 0;
}

static int read_held(struct json_object *reply, struct verdict *v, struct fault *why)
{
	struct json_object *value;

	if (!json_object_object_get_ex(reply, "held", &value) || !value)
		return 0;
	if (!json_object_is_type(value, json_type_boolean))
		return fault_errno(why, EPROTO, "the verdict's \"held\" is neither true nor false");
	v->held = json_object_get_boolean(value);
	return 0;
}

int verdict_read(struct json_object *reply, struct verdict *v, struct fault *why)
{
	static const char *const verdicts[] = { "reject", "accept", NULL };
	static const char *const tiers[] = { "funded", "free", "none", NULL };
	struct verdict got = { .reply = reply };
	int accepted, tier;

	if (read_choice(reply, "verdict", verdicts, &accepted, why) < 0)
		return -1;
	/* a refused job has no tier, but a word that is none is garbage in either case */
	if ((accepted || json_object_object_get(reply, "tier")) &&
		read_choice(reply, "tier", tiers, &tier, why) < 0)
		return -1;
	if (read_word(reply, "qos", &got.qos, why) < 0 ||
		read_word(reply, "account", &got.account, why) < 0 ||
		read_word(reply, "token", &got.token, why) < 0 ||
		read_string(reply, "text", &got.text, why) < 0 || read_site_factor(reply, &got, why) < 0 ||
		read_held(reply, &got, why) < 0)
		return -1;
	if (got.token && !token_valid(got.token))
		return fault_errno(why, EPROTO,
			"the verdict's \"token\" is \"%.64s\": it must begin with " TOKEN_PREFIX, got.token);
	got.accepted = accepted;
	*v = got;
	return 0;
}

void verdict_clear(struct verdict *v)
{
	json_object_put(v->reply);
	memset(v, 0, sizeof(*v));
}

/* --- apply ----------------------------------------------------------------------------------------- */

void verdict_set(char **field, const char *text)
{
	slurm_xfree((void **)field);
	*field = slurm_xstrdup(text);
}

static void comment_add(job_desc_msg_t *job_desc, const char *word)
{
	slurm_xstrfmtcat(&job_desc->admin_comment, "%s%s",
		job_desc->admin_comment && job_desc->admin_comment[0] ? " " : "", word);
}

void verdict_apply(const struct verdict *v, job_desc_msg_t *job_desc)
{
	if (!v->accepted)
		return;
	if (v->account)
		verdict_set(&job_desc->account, v->account);
	if (v->qos)
		verdict_set(&job_desc->qos, v->qos);
	if (v->has_site_factor)
		job_desc->site_factor = (uint32_t)((int64_t)NICE_OFFSET + v->site_factor);
	if (v->token)
		comment_add(job_desc, v->token);
	if (v->token && v->held) {
		/* Slurm takes this for a hold of the user's; the loop makes it one that the user cannot
		 * undo */
		job_desc->priority = 0;
		comment_add(job_desc, WAITS_WORD);
	}
}

static void tell_line(const char *line, size_t bytes, char **err_msg)
{
	char clean[512];		/* slurmctld's threads have small stacks; longer lines are cut */
	size_t n = bytes < sizeof(clean) - 1 ? bytes : sizeof(clean) - 1;

	for (size_t i = 0; i < n; i++)
		clean[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i];
	clean[n] = '\0';
	if (err_msg)
		slurm_xstrfmtcat(err_msg, "%sgpubudget: %s", *err_msg && **err_msg ? "\n" : "", clean);
	else
		slurm_info("gpubudget: %s", clean);
}

void verdict_tell(const char *text, char **err_msg)
{
	size_t told = 0;

	while (text && *text && told < TELL_BYTES_MAX) {
		size_t n = strcspn(text, "\n");

		if (n)
			tell_line(text, n, err_msg);
		told += n + 1;
		text += n + (text[n] == '\n');
	}
}

void verdict_clear_nice(job_desc_msg_t *job_desc, char **err_msg)
{
	if (job_desc->nice == NO_VAL || job_desc->nice == NICE_OFFSET)
		return;
	job_desc->nice = NICE_OFFSET;
	verdict_tell("--nice has no effect: the order of jobs follows from what their projects got. "
		"The order of your own jobs in a project is set by --gpu-team-rank.", err_msg);
}
