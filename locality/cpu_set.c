/* SPDX-License-Identifier: GPL-2.0-or-later
 * cpu_set.c - sets of CPUs as words of bits (cpu_set.h) */
#include "locality/cpu_set.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/number.h"

#define WORDS (CPUS_MAX / 64)

void cpu_set_clear(struct cpu_set *s)
{
	memset(s, 0, sizeof(*s));
}

void cpu_set_add(struct cpu_set *s, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MAX)
		s->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

void cpu_set_remove(struct cpu_set *s, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MAX)
		s->word[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}

bool cpu_set_has(const struct cpu_set *s, int cpu)
{
	return cpu >= 0 && cpu < CPUS_MAX && s->word[cpu / 64] >> cpu % 64 & 1;
}

int cpu_set_count(const struct cpu_set *s)
{
	int n = 0;

	for (int i = 0; i < WORDS; i++)
		n += __builtin_popcountll(s->word[i]);
	return n;
}

bool cpu_set_empty(const struct cpu_set *s)
{
	return cpu_set_next(s, 0) < 0;
}

int cpu_set_next(const struct cpu_set *s, int cpu)
{
	for (int i = cpu / 64; i < WORDS; i++) {
		uint64_t w = s->word[i];

		if (i == cpu / 64)
			w &= ~UINT64_C(0) << cpu % 64;
		if (w)
			return i * 64 + __builtin_ctzll(w);
	}
	return -1;
}

void cpu_set_and(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b)
{
	for (int i = 0; i < WORDS; i++)
		out->word[i] = a->word[i] & b->word[i];
}

void cpu_set_or(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b)
{
	for (int i = 0; i < WORDS; i++)
		out->word[i] = a->word[i] | b->word[i];
}

void cpu_set_without(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b)
{
	for (int i = 0; i < WORDS; i++)
		out->word[i] = a->word[i] & ~b->word[i];
}

bool cpu_set_equal(const struct cpu_set *a, const struct cpu_set *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool cpu_set_within(const struct cpu_set *a, const struct cpu_set *b)
{
	for (int i = 0; i < WORDS; i++)
		if (a->word[i] & ~b->word[i])
			return false;
	return true;
}

bool cpu_set_meets(const struct cpu_set *a, const struct cpu_set *b)
{
	for (int i = 0; i < WORDS; i++)
		if (a->word[i] & b->word[i])
			return true;
	return false;
}

static int range_read(const char **p, int64_t *first, int64_t *last)
{
	if (number_read(p, first) < 0)
		return -1;
	*last = *first;
	if (**p == '-') {
		++*p;
		if (number_read(p, last) < 0)
			return -1;
	}
	if (*last < *first) {
		errno = EINVAL;
		return -1;
	}
	if (*last >= CPUS_MAX) {
		errno = ERANGE;
		return -1;
	}
	return 0;
}

int cpu_set_parse(const char *text, struct cpu_set *out)
{
	struct cpu_set s = { { 0 } };
	int64_t first, last;

	while (*text && *text != '\n') {
		if (range_read(&text, &first, &last) < 0)
			return -1;
		for (int64_t c = first; c <= last; c++)
			cpu_set_add(&s, (int)c);
		if (*text == ',' && text[1] && text[1] != '\n')
			text++;
		else if (*text && *text != '\n') {
			errno = EINVAL;
			return -1;
		}
	}
	*out = s;
	return 0;
}

const char *cpu_set_text(const struct cpu_set *s, char buf[static CPU_LIST_MAX])
{
	size_t used = 0;

	buf[0] = '\0';
	for (int c = cpu_set_next(s, 0); c >= 0; ) {
		int last = c;
		char item[32];
		size_t n;

		while (cpu_set_has(s, last + 1))
			last++;
		n = (size_t)snprintf(item, sizeof(item), last == c ? "%s%d" : "%s%d-%d", used ? "," : "", c,
			last);
		if (used + n + sizeof(",...") > CPU_LIST_MAX) {
			memcpy(buf + used, ",...", sizeof(",..."));
			break;
		}
		memcpy(buf + used, item, n + 1);
		used += n;
		c = cpu_set_next(s, last + 1);
	}
	return buf;
}
