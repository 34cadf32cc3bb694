/* SPDX-License-Identifier: GPL-2.0-or-later
 * stages.c - load, init, count, identity, context, fill, copy, kernel, bandwidth (stages.h)
 *
 * Every stage is announced before it begins: what hangs or crashes is then known. What comes back from the
 * device is compared here, for all backends alike; buffers are overwritten before, so that nothing is found
 * that was not brought. */
#include "gpu_check/stages.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_check/lines.h"
#include "gpu_check/pattern.h"

#define BANDWIDTH_BYTES (64u << 20)	/* long enough that the start of a copy does not count */

struct walk {
	struct session s;
	enum level level;
	uint32_t seed;
	int fd;
	int count;
	bool version_told;
	struct device_report device;	/* the one at hand */
	uint32_t *sent, *got;		/* PATTERN_WORDS each */
};

typedef int stage_fn(struct walk *w, int device);

/* --- the stages ------------------------------------------------------------------------------------- */

static int do_load(struct walk *w, int device)
{
	const struct backend *b = w->s.backend;
	enum cause cause;
	char text[REPORT_TEXT_MAX];
	const char *missing;

	(void)device;
	for (const char *const *e = b->environment; *e; e++)
		putenv((char *)*e);
	if (library_open(&w->s.library, b->libraries, &cause, text, sizeof(text)) < 0)
		return backend_fault(&w->s, cause, "%s", text);
	line_library(w->fd, w->s.library.path);
	if (library_symbols(&w->s.library, b->symbols, b->symbol_count, w->s.state, &missing) < 0)
		return backend_fault(&w->s, CAUSE_SYMBOL, "%s has no %s", w->s.library.path, missing);
	return 0;
}

static int do_init(struct walk *w, int device)
{
	(void)device;
	return w->s.backend->init(&w->s);
}

static int do_count(struct walk *w, int device)
{
	int n = 0, rv = w->s.backend->count(&w->s, &n);

	(void)device;
	if (rv == 0 && n < 0)
		return backend_fault(&w->s, CAUSE_API, "%d devices were counted", n);
	if (rv == 0)
		line_count(w->fd, n);
	w->count = n;
	return rv;
}

static int do_identity(struct walk *w, int device)
{
	memset(&w->device, 0, sizeof(w->device));
	return w->s.backend->identify(&w->s, device, &w->device);
}

static int do_context(struct walk *w, int device)
{
	return w->s.backend->context(&w->s, device);
}

/* Compare what came back, and say where it differs first. */
static int compare(struct walk *w, uint32_t (*expected)(uint32_t, uint32_t), enum cause cause,
	const char *what)
{
	size_t first = 0, wrong = pattern_wrong(w->got, PATTERN_WORDS, expected, w->seed, &first);

	if (!wrong)
		return 0;
	return backend_fault(&w->s, cause,
		"%zu of %d words of %s are wrong: word %zu is %08" PRIx32 " instead of %08" PRIx32, wrong,
		PATTERN_WORDS, what, first, w->got[first], expected(w->seed, (uint32_t)first));
}

/* Nothing that is expected: the complement of it. */
static void spoil(struct walk *w, uint32_t (*expected)(uint32_t, uint32_t))
{
	for (uint32_t i = 0; i < PATTERN_WORDS; i++)
		w->got[i] = ~expected(w->seed, i);
}

static int do_fill(struct walk *w, int device)
{
	(void)device;
	spoil(w, pattern_filled);
	if (w->s.backend->fill(&w->s, pattern_fill(w->seed), w->got) < 0)
		return -1;
	return compare(w, pattern_filled, CAUSE_WRONG_FILL, "filled memory");
}

static int do_copy(struct walk *w, int device)
{
	(void)device;
	for (uint32_t i = 0; i < PATTERN_WORDS; i++)
		w->sent[i] = pattern_copy(w->seed, i);
	spoil(w, pattern_copy);
	if (w->s.backend->copy(&w->s, w->sent, w->got) < 0)
		return -1;
	return compare(w, pattern_copy, CAUSE_WRONG_COPY, "copied memory");
}

static int do_kernel(struct walk *w, int device)
{
	int rv;

	(void)device;
	spoil(w, pattern_kernel);
	rv = w->s.backend->kernel(&w->s, w->seed, w->got);
	if (rv != 0)
		return rv;
	return compare(w, pattern_kernel, CAUSE_WRONG_KERNEL, "the kernel's result");
}

static int do_bandwidth(struct walk *w, int device)
{
	int64_t up_us = 0, down_us = 0;
	int rv = w->s.backend->bandwidth(&w->s, BANDWIDTH_BYTES, &up_us, &down_us);

	if (rv == 0 && up_us > 0 && down_us > 0)	/* bytes a microsecond are 10^6 bytes a second */
		line_rate(w->fd, device, BANDWIDTH_BYTES / up_us, BANDWIDTH_BYTES / down_us);
	return rv;
}

static stage_fn *const stage_run[STAGES] = {
	[STAGE_LOAD] = do_load,       [STAGE_INIT] = do_init, [STAGE_COUNT] = do_count,
		[STAGE_IDENTITY] = do_identity,
	[STAGE_CONTEXT] = do_context, [STAGE_FILL] = do_fill, [STAGE_COPY] = do_copy,
		[STAGE_KERNEL] = do_kernel,
	[STAGE_BANDWIDTH] = do_bandwidth,
};

/* --- the way through ---------------------------------------------------------------------------------- */

/* As soon as it is known, also where the driver then fails. */
static void tell_version(struct walk *w)
{
	if (w->s.version[0] && !w->version_told)
		line_version(w->fd, w->s.version);
	w->version_told = w->s.version[0];
}

static int one_stage(struct walk *w, enum stage stage, int device)
{
	int64_t start;
	int rv;

	line_begin(w->fd, stage, device);
	start = backend_now_us();
	rv = stage_run[stage](w, device);
	if (stage == STAGE_INIT || stage == STAGE_COUNT)
		tell_version(w);
	if (rv < 0) {
		line_fail(w->fd, stage, device, w->s.cause, w->s.text);
		return -1;
	}
	line_end(w->fd, stage, device, backend_now_us() - start);
	if (rv == CANNOT && stage == STAGE_KERNEL)
		line_no_kernel(w->fd);
	return 0;
}

/* A processor that nobody asked for is told of and not used: that is for the verdict. */
static int one_device(struct walk *w, int device)
{
	bool usable;
	int rv = 0;

	if (one_stage(w, STAGE_IDENTITY, device) < 0)
		return -1;
	line_device(w->fd, device, &w->device);
	usable = w->s.any_kind || w->device.kind != DEVICE_CPU;
	for (int s = STAGE_CONTEXT; usable && rv == 0 && s < STAGES; s++)
		if (w->level >= stage_table[s].from)
			rv = one_stage(w, s, device);
	if (rv == 0 && usable && w->level >= stage_table[STAGE_CONTEXT].from)
		w->s.backend->release(&w->s);
	return rv;
}

static void all_stages(struct walk *w)
{
	for (int s = 0; s < STAGE_IDENTITY; s++)
		if (one_stage(w, s, REPORT_NONE) < 0)
			return;
	for (int d = 0; d < w->count && d < REPORT_DEVICES_MAX; d++)
		if (one_device(w, d) < 0)
			return;
}

void stages_run(const struct backend *b, enum level level, bool any_kind, uint32_t seed, int fd)
{
	struct walk w = { .s = { .backend = b, .any_kind = any_kind }, .level = level, .seed = seed,
		.fd = fd };

	w.s.state = calloc(1, b->state_size);
	w.sent = malloc(PATTERN_WORDS * sizeof(*w.sent));
	w.got = malloc(PATTERN_WORDS * sizeof(*w.got));
	line_hello(fd, b->name);
	if (w.s.state && w.sent && w.got) {
		all_stages(&w);
		line_done(fd);
	}
	free(w.s.state);
	free(w.sent);
	free(w.got);
}
