/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_count.c - how many GPUs of which type; a type stands in the list once. */
#include "lib/gpu_count.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct gpu_type_count *find(struct gpu_count *c, const char *type)
{
	for (int i = 0; i < c->ntypes; i++)
		if (!strcmp(c->types[i].type, type))
			return &c->types[i];
	return NULL;
}

static int fail(int err)
{
	errno = err;
	return -1;
}

int gpu_count_add(struct gpu_count *c, const char *type, int64_t count)
{
	struct gpu_type_count *t = find(c, type);
	int64_t total;

	if (count < 0)
		return fail(EINVAL);
	if (strlen(type) >= GPU_TYPE_MAX)
		return fail(E2BIG);
	if (count == 0)
		return 0;
	if (__builtin_add_overflow(c->total, count, &total))
		return fail(EOVERFLOW);
	if (!t) {
		if (c->ntypes == GPU_TYPES_MAX)
			return fail(E2BIG);
		t = &c->types[c->ntypes++];
		snprintf(t->type, sizeof(t->type), "%s", type);
		t->count = 0;
	}
	t->count += count;	/* never above total, which did not overflow */
	c->total = total;
	return 0;
}

/* A buffer that is filled from the left and cut when it is full. */
struct sentence {
	char *buf;
	size_t len;
};

static void append(struct sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->buf + s->len, GPU_COUNT_TEXT_MAX - s->len, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
	if (s->len >= GPU_COUNT_TEXT_MAX)
		s->len = GPU_COUNT_TEXT_MAX - 1;
}

/* Between the i-th and the next of n things: "a, b and c". */
static const char *joint(int i, int n)
{
	return i == 0 ? "" : i == n - 1 ? " and " : ", ";
}

static void append_gpus(struct sentence *s, const struct gpu_count *c)
{
	for (int i = 0; i < c->ntypes; i++) {
		const struct gpu_type_count *t = &c->types[i];

		append(s, "%s%" PRId64, joint(i, c->ntypes), t->count);
		if (t->type[0])
			append(s, " %s", t->type);
		else if (c->ntypes > 1)
			append(s, " untyped");
	}
	append(s, c->total == 1 ? " GPU" : " GPUs");
}

const char *gpu_count_text(const struct gpu_count *c, char buf[GPU_COUNT_TEXT_MAX])
{
	struct sentence s = { .buf = buf };
	int parts = (c->total > 0) + (c->shards > 0) + (c->mps > 0);
	int done = 0;

	buf[0] = '\0';
	if (parts == 0)
		append(&s, "0 GPUs");
	if (c->total > 0) {
		append_gpus(&s, c);
		done++;
	}
	if (c->shards > 0)
		append(&s, "%s%" PRId64 " shard%s", joint(done++, parts), c->shards,
			c->shards == 1 ? "" : "s");
	if (c->mps > 0)
		append(&s, "%s%" PRId64 " mps", joint(done, parts), c->mps);
	return buf;
}
