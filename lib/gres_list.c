/* SPDX-License-Identifier: GPL-2.0-or-later
 * gres_list.c - the one reader of Slurm's comma lists of resources
 *
 * Tolerant of spelling (prefix, separators, suffixes), strict about sense: what cannot be understood is never
 * skipped, because a skipped item would be a GPU that nobody pays for. */
#include "lib/gres_list.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/number.h"

static const char *const kind_names[GRES_KINDS] = {
	[GRES_GPU] = "gpu", [GRES_SHARD] = "shard", [GRES_MPS] = "mps"
};

int gres_list_fault(const char *list, const char *at, int err, struct fault *why, const char *what)
{
	return fault_errno(why, err, "\"%.300s%s\": %s at character %td", list,
		strlen(list) > 300 ? "..." : "", what, at - list + 1);
}

/* Where the item that begins at p ends: its comma or NUL; NULL after a fault. Brackets do not nest. */
static const char *item_end(const char *list, const char *p, struct fault *why)
{
	const char *open = NULL;

	for (; *p && (open || *p != ','); p++) {
		if (!isgraph((unsigned char)*p)) {
			gres_list_fault(list, p, EINVAL, why, "a blank or an unprintable character");
			return NULL;
		}
		if ((*p == '(' && open) || (*p == ')' && !open)) {
			gres_list_fault(list, p, EINVAL, why, "a bracket too many");
			return NULL;
		}
		if (*p == '(')
			open = p;
		else if (*p == ')')
			open = NULL;
	}
	if (open) {
		gres_list_fault(list, open, EINVAL, why, "a bracket that is never closed");
		return NULL;
	}
	return p;
}

/* Cut "(IDX:0-3)" and the like: behind the first bracket there may be only brackets. */
static int cut_brackets(const char *list, const char *start, const char **end, struct fault *why)
{
	const char *open = memchr(start, '(', (size_t)(*end - start));

	for (const char *p = open; p && p < *end; ) {
		if (*p != '(')
			return gres_list_fault(list, p, EINVAL, why, "something unexpected behind a bracket");
		p = (const char *)memchr(p, ')', (size_t)(*end - p)) + 1;
	}
	if (open)
		*end = open;
	return 0;
}

static bool is_suffix(char c)
{
	return c && strchr("kmgtp", tolower((unsigned char)c));
}

/* Does [p, end) have the form of a count? Its size is not looked at. */
static bool looks_counted(const char *p, const char *end)
{
	const char *s = p;

	while (s < end && isdigit((unsigned char)*s))
		s++;
	return s > p && (s == end || (s + 1 == end && is_suffix(*s)));
}

static int read_count(const char *list, const char *p, const char *end, int64_t *count, struct fault *why)
{
	static const char suffixes[] = "kmgtp";
	const char *s = p;
	int64_t n;

	if (s == end)
		return gres_list_fault(list, s, EINVAL, why, "a count is missing");
	if (*s == '-')
		return gres_list_fault(list, s, EINVAL, why, "a negative count");
	if (number_read(&s, &n) < 0)
		return gres_list_fault(
			list, p, errno, why, errno == EOVERFLOW ? "a count too large" : "not a count");
	if (s < end && is_suffix(*s)) {
		int power = (int)(strchr(suffixes, tolower((unsigned char)*s)) - suffixes) + 1;

		if (__builtin_mul_overflow(n, (int64_t)1 << (10 * power), &n))
			return gres_list_fault(list, p, EOVERFLOW, why, "a count too large");
		s++;
	}
	if (s != end)
		return gres_list_fault(list, s, EINVAL, why, "not a count");
	*count = n;
	return 0;
}

/* The name of a type: letters, digits, "_", "-", "."; "1g.10gb" begins with a digit, nothing begins with a
 * sign. */
static int read_type(
	const char *list, const char *p, const char *end, char type[GPU_TYPE_MAX], struct fault *why)
{
	if (p == end)
		return gres_list_fault(list, p, EINVAL, why, "a type or a count is missing");
	if (end - p >= GPU_TYPE_MAX)
		return gres_list_fault(list, p, EINVAL, why, "the name of a type too long");
	for (const char *s = p; s < end; s++)
		if (!isalnum((unsigned char)*s) && (s == p || !strchr("_-.", *s)))
			return gres_list_fault(list, s, EINVAL, why,
				s == p ? "neither a type nor a count" : "not part of a type's name");
	snprintf(type, GPU_TYPE_MAX, "%.*s", (int)(end - p), p);
	return 0;
}

/* Behind "gpu:" one word is a count when it looks like one, else a type; a number that is no count ("1.5") is
 * neither. */
static int read_word(
	const char *list, const char *p, const char *end, struct gres_item *item, struct fault *why)
{
	const char *s = p;

	while (s < end && (isdigit((unsigned char)*s) || *s == '.'))
		s++;
	if (looks_counted(p, end) || (s == end && p < end)) {
		item->counted = true;
		return read_count(list, p, end, &item->count, why);
	}
	return read_type(list, p, end, item->type, why);
}

/* [:type][:=]count of a device, `sep` being the separator behind its name. */
static int read_device(
	const char *list, const char *sep, const char *end, struct gres_item *item, struct fault *why)
{
	const char *word = sep + 1;
	const char *next = word;

	item->count = 1;
	if (sep == end)
		return 0;
	while (next < end && *next != ':' && *next != '=')
		next++;
	if (*sep == ':' && next == end)
		return read_word(list, word, end, item, why);
	if (*sep == ':') {
		if (read_type(list, word, next, item->type, why) < 0)
			return -1;
		word = next + 1;
	}
	item->counted = true;
	return read_count(list, word, end, &item->count, why);
}

/* Anything else: a name and, behind the separator, a value that is not ours to judge, unless it is a change
 * or a limit. */
static int read_other(
	const char *list, const char *sep, const char *end, struct gres_item *item, struct fault *why)
{
	if (sep == item->name)
		return gres_list_fault(list, sep, EINVAL, why, "a name is missing");
	if (sep == end)
		return 0;
	if (*sep == '=' && (sep[-1] == '+' || sep[-1] == '-'))
		return gres_list_fault(list, sep - 1, EINVAL, why, "a change, not an amount,");
	if (sep + 1 == end)
		return gres_list_fault(list, end, EINVAL, why, "a value is missing");
	if (sep[1] == '-')
		return gres_list_fault(list, sep + 1, EINVAL, why, "a negative count");
	item->counted = true;
	return 0;
}

static enum gres_kind kind_of(const char *name, size_t len)
{
	for (enum gres_kind k = GRES_GPU; k < GRES_KINDS; k++)
		if (strlen(kind_names[k]) == len && !strncasecmp(name, kind_names[k], len))
			return k;
	return GRES_OTHER;
}

/* One item, [p, end), brackets cut. */
static int read_item(
	const char *list, const char *p, const char *end, struct gres_item *item, struct fault *why)
{
	const char *sep;

	*item = (struct gres_item){ .kind = GRES_OTHER };
	if (end - p >= 5 && !strncasecmp(p, "gres", 4) && (p[4] == '/' || p[4] == ':'))
		p += 5;
	for (sep = p; sep < end && *sep != ':' && *sep != '='; sep++)
		;
	item->name = p;
	item->name_len = (size_t)(sep - p);
	item->kind = kind_of(p, item->name_len);
	item->id = item->name_len > 0 && strspn(p, "0123456789") >= item->name_len;
	if (sep < end) {
		item->value = sep + 1;
		item->value_len = (size_t)(end - sep - 1);
	}
	if (item->kind == GRES_OTHER)
		return read_other(list, sep, end, item, why);
	return read_device(list, sep, end, item, why);
}

int gres_list_next(const char *list, const char **cursor, struct gres_item *item, struct fault *why)
{
	const char *start = *cursor ? *cursor : list;
	const char *comma, *end;

	if (*cursor ? start[-1] != ',' : *start == '\0')
		return 0;
	comma = item_end(list, start, why);
	if (!comma)
		return -1;
	end = comma;
	if (start == end)
		return gres_list_fault(list, start, EINVAL, why, "an item is missing");
	if (cut_brackets(list, start, &end, why) < 0 || read_item(list, start, end, item, why) < 0)
		return -1;
	*cursor = comma + 1;	/* one past the comma, or one past the NUL: start[-1] tells which */
	return 1;
}
