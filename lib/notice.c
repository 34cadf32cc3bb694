/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice.c - when people are told, of what (notice.h). */
#include "lib/notice.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/utf8.h"

#define HOUR 3600
#define PERCENT_MAX 1000
#define WORD_MAX 32

const struct notice_kind_row notice_kinds[NOTICE_KINDS] = {
	[NOTICE_BUDGET] = { "budget", "the owners of the project",
		"So much of a project's GPU-hours is charged and held: thresholds of notice_levels" },
	[NOTICE_EXPIRY] = { "expiry", "the owners of the project",
		"An allocation ends within notice_expiry and has GPU-hours left" },
	[NOTICE_DISPLACED] = { "displaced", "the user of the job",
		"A run gave way, and why" },
	[NOTICE_IDLE] = { "idle", "the user of the job",
		"A job does not use its GPUs: it is told, warned, and loses its protection in the end" },
	[NOTICE_TEST] = { "test", "who sent it", "Sent by budgetctl notice test" },
};

static const char *const severity_names[NOTICE_SEVERITIES] = { "info", "warning", "critical" };

const char *notice_severity_name(enum notice_severity s)
{
	return severity_names[s];
}

/* The next word of a list, cut where it is too long to be one of ours; false behind the last. */
static bool next_word(const char **at, char word[WORD_MAX])
{
	size_t n;

	*at += strspn(*at, ", \t");
	n = strcspn(*at, ", \t");
	snprintf(word, WORD_MAX, "%.*s", (int)n, *at);
	*at += n;
	return n > 0;
}

int notice_kinds_parse(const char *text, unsigned *out, struct fault *why)
{
	unsigned kinds = 1u << NOTICE_TEST;
	char word[WORD_MAX];
	int k;

	while (next_word(&text, word)) {
		for (k = 0; k < NOTICE_TEST && strcmp(word, notice_kinds[k].name); k++)
			;
		if (k == NOTICE_TEST)
			return fault_errno(why, EINVAL, "\"%s\" is no kind of notice: budget, expiry, displaced and idle are",
				word);
		kinds |= 1u << k;
	}
	*out = kinds;
	return 0;
}

/* --- a budget that is used up ---------------------------------------------------------------------- */

int notice_levels_parse(const char *text, int64_t rearm_points, struct notice_levels *out, struct fault *why)
{
	struct notice_levels l = { .rearm_points = rearm_points };
	char word[WORD_MAX];

	while (next_word(&text, word)) {
		size_t n = strlen(word);
		int percent = 0;

		if (n > 4 || strspn(word, "0123456789") != n || sscanf(word, "%d", &percent) != 1 ||
			percent < 1 || percent > PERCENT_MAX)
			return fault_errno(why, EINVAL, "\"%s\" is no percentage from 1 to %d", word, PERCENT_MAX);
		if (l.count == NOTICE_LEVELS_MAX)
			return fault_errno(why, EINVAL, "more than %d thresholds", NOTICE_LEVELS_MAX);
		if (l.count && percent <= l.percent[l.count - 1])
			return fault_errno(why, EINVAL, "%d does not come after %jd: thresholds rise", percent,
				(intmax_t)l.percent[l.count - 1]);
		l.percent[l.count++] = percent;
	}
	*out = l;
	return 0;
}

/* Where nothing is granted nothing can be used up. A product of the largest amounts has no room in 64 bits. */
static bool reaches(amount_t used, amount_t amount, int64_t percent)
{
	return amount > 0 && (__int128)used * 100 >= (__int128)amount * percent;
}

static int64_t highest_reached(const struct notice_levels *l, amount_t used, amount_t amount, int64_t up_to,
	int64_t points)
{
	int64_t highest = 0;

	for (size_t i = 0; i < l->count && l->percent[i] <= up_to; i++)
		if (reaches(used, amount, l->percent[i] - points))
			highest = l->percent[i];
	return highest;
}

int64_t notice_budget_next(const struct notice_levels *l, struct notice_budget *b, const struct notice_use *u)
{
	int64_t now = highest_reached(l, u->used, u->amount, PERCENT_MAX, 0), before = b->told;
	/* after a deposit the way up begins anew */
	int64_t points = u->amount - u->refunded > b->amount ? 0 : l->rearm_points;

	b->amount = u->amount;
	b->told = now > before ? now : highest_reached(l, u->used, u->amount, before, points);
	return now > before ? now : 0;
}

int64_t notice_percent(amount_t used, amount_t amount)
{
	return amount > 0 && used > 0 ? (int64_t)((__int128)used * 100 / amount) : 0;
}

enum notice_severity notice_budget_severity(int64_t percent)
{
	return percent < 95 ? NOTICE_INFO : percent < 100 ? NOTICE_WARNING : NOTICE_CRITICAL;
}

/* --- an allocation that ends, and telling it ------------------------------------------------------- */

bool notice_expiry_due(int64_t ends, amount_t left, int64_t told_ends, int64_t within_s, int64_t now)
{
	return within_s > 0 && ends > now && ends - now <= within_s && left > 0 && told_ends != ends;
}

int64_t notice_pause_s(int64_t failures, int64_t first_s)
{
	int64_t most = first_s > HOUR ? first_s : HOUR, pause = first_s;

	for (int64_t i = 1; i < failures && pause < most; i++)
		pause *= 2;
	return pause < most ? pause : most;
}

bool notice_is_stale(int64_t at, int64_t keep_s, int64_t now)
{
	return now - at > keep_s;
}

/* --- texts ----------------------------------------------------------------------------------------- */

/* U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069, and the line ends U+2028, U+2029; C1: U+0080 to U+009F. */
static bool turns_or_controls(const unsigned char *c, int bytes)
{
	if (bytes == 1)
		return c[0] < ' ' || c[0] == 0x7f;
	if (bytes == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	return bytes == 3 && c[0] == 0xe2 && ((c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f ||
		(c[2] >= 0xa8 && c[2] <= 0xae))) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

const char *notice_line(const char *text, char *out, size_t size)
{
	size_t used = 0;

	while (*text) {
		int bytes = utf8_character(text), step = bytes ? bytes : 1;
		bool bad = !bytes || turns_or_controls((const unsigned char *)text, bytes);

		if (used + (bad ? 1 : (size_t)step) >= size)
			break;
		memcpy(out + used, bad ? "?" : text, bad ? 1 : (size_t)step);
		used += bad ? 1 : (size_t)step;
		text += step;
	}
	out[used] = '\0';
	return out;
}

int notice_url_place(const char *url, char place[static NOTICE_PLACE_MAX], struct fault *why)
{
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
	size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;

	if (!scheme)
		return fault_errno(why, EINVAL, "it does not begin with https:// or http://");
	for (const unsigned char *c = (const unsigned char *)url; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			return fault_errno(why, EINVAL, "character %td is not one of a URL",
				c - (const unsigned char *)url + 1);
	if (host == 0 || url[scheme] == ':')
		return fault_errno(why, EINVAL, "it names no host");
	if (memchr(url + scheme, '@', host))
		return fault_errno(why, EINVAL, "it has a user before the host: none is taken");
	if (scheme + host >= NOTICE_PLACE_MAX)
		return fault_errno(why, EINVAL, "its host has %zu characters", host);
	snprintf(place, NOTICE_PLACE_MAX, "%.*s", (int)(scheme + host), url);
	return 0;
}
