/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_options.c - what the researcher declares, from an option's text or from words of --comment
 *
 * The strings come from users, through SPANK or REST, and are read again wherever they arrive: nothing here
 * is trusted. */
#include "lib/job_options.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "lib/duration.h"
#include "lib/number.h"

const struct job_option_row job_option_table[JOB_OPTIONS] = {
	[OPT_MIN_RUNTIME] = { "gpu-min-runtime", "TIME", "GPUBUDGET_MIN_RUNTIME",
		"shortest run that makes progress (2h, 90m, D-HH:MM:SS; a number is minutes); protected in "
		"each run" },
	[OPT_TIER] = { "gpu-tier", "funded|free", "GPUBUDGET_TIER",
		"funded: pay from the budget or refuse the job; free: pay nothing, may be displaced at any "
		"time" },
	[OPT_TEAM_RANK] = { "gpu-team-rank", "N", "GPUBUDGET_TEAM_RANK",
		"order among the pending jobs of your own project, 1 to 1000, smaller goes first; 0 is no rank" },
};

static const char *const tier_names[] = {
	[TIER_UNSET] = "unset", [TIER_FUNDED] = "funded", [TIER_FREE] = "free"
};

const char *job_tier_name(enum job_tier t)
{
	return tier_names[t];
}

void job_options_init(struct job_options *o)
{
	*o = (struct job_options){ .min_runtime_s = MIN_RUNTIME_UNSET, .tier = TIER_UNSET };
}

static int set_min_runtime(struct job_options *o, const char *value, struct fault *why)
{
	struct fault reason = { "" };
	int64_t seconds;

	if (duration_parse(value, &seconds, &reason) < 0)
		return fault_set(why, "--gpu-min-runtime: %s", reason.text);
	if (seconds == DURATION_UNLIMITED)
		return fault_errno(why, EINVAL, "--gpu-min-runtime=%.80s: a minimum runtime has an end; "
			"write a length such as 2h", value);
	o->min_runtime_s = seconds;
	return 0;
}

static int set_tier(struct job_options *o, const char *value, struct fault *why)
{
	for (enum job_tier t = TIER_FUNDED; t <= TIER_FREE; t++)
		if (!strcmp(value, tier_names[t])) {
			o->tier = t;
			return 0;
		}
	return fault_errno(
		why, EINVAL, "--gpu-tier=%.80s: there is no such tier; write funded or free", value);
}

static int set_team_rank(struct job_options *o, const char *value, struct fault *why)
{
	int64_t rank;

	if (number_parse(value, TEAM_RANK_MAX, &rank) < 0)
		return fault_set(
			why, "--gpu-team-rank=%.80s: not a whole number from 0 to %d", value, TEAM_RANK_MAX);
	o->team_rank = (int)rank;
	return 0;
}

int job_options_set(struct job_options *o, enum job_option which, const char *value, struct fault *why)
{
	switch (which) {
	case OPT_MIN_RUNTIME:
		return set_min_runtime(o, value, why);
	case OPT_TIER:
		return set_tier(o, value, why);
	case OPT_TEAM_RANK:
		return set_team_rank(o, value, why);
	case JOB_OPTIONS:
		break;
	}
	return fault_errno(why, EINVAL, "option %d does not exist", (int)which);
}

static bool is_set(const struct job_options *o, enum job_option which)
{
	switch (which) {
	case OPT_MIN_RUNTIME:
		return o->min_runtime_s != MIN_RUNTIME_UNSET;
	case OPT_TIER:
		return o->tier != TIER_UNSET;
	case OPT_TEAM_RANK:
		return o->team_rank != 0;
	case JOB_OPTIONS:
		break;
	}
	return true;
}

/* One word of `len` bytes. A name without "=" is prose, not an option. */
static int comment_word(struct job_options *o, const char *word, size_t len, struct fault *why)
{
	for (enum job_option i = 0; i < JOB_OPTIONS; i++) {
		size_t name = strlen(job_option_table[i].name);
		struct job_options other = *o;
		char value[128];

		if (len <= name || word[name] != '=' || memcmp(word, job_option_table[i].name, name) != 0)
			continue;
		len -= name + 1;
		if (len >= sizeof(value))
			return fault_errno(why, EINVAL, "--comment: the value of %s is too long",
				job_option_table[i].name);
		memcpy(value, word + name + 1, len);
		value[len] = '\0';
		if (job_options_set(&other, i, value, why) < 0)
			return -1;	/* nonsense is told even where an option on the command line wins */
		if (!is_set(o, i))
			*o = other;
	}
	return 0;
}

int job_options_from_comment(struct job_options *o, const char *comment, struct fault *why)
{
	static const char blanks[] = " \t\n,;";
	struct job_options read = *o;

	for (const char *p = comment; p && *p; ) {
		size_t len;

		p += strspn(p, blanks);
		len = strcspn(p, blanks);
		if (len > 0 && comment_word(&read, p, len, why) < 0)
			return -1;
		p += len;
	}
	*o = read;
	return 0;
}

int job_options_check(const struct job_options *o, int64_t max_s, struct fault *why)
{
	char asked[DURATION_TEXT_MAX], most[DURATION_TEXT_MAX];

	if (o->min_runtime_s != MIN_RUNTIME_UNSET && o->min_runtime_s < 0)
		return fault_errno(why, EINVAL, "a minimum runtime of %s is negative",
			duration_text(o->min_runtime_s, asked));
	if (o->min_runtime_s > max_s)
		return fault_errno(why, EINVAL,
			"a minimum runtime of %s is longer than this site's maximum of %s; "
			"ask for %s or less and let the job write checkpoints",
			duration_text(o->min_runtime_s, asked), duration_text(max_s, most), most);
	if (o->tier == TIER_FUNDED && o->min_runtime_s == 0)
		return fault_errno(why, EINVAL,
			"--gpu-tier=funded and a minimum runtime of 0 contradict each other: "
			"0 asks for the free tier; leave one of them out");
	return 0;
}
