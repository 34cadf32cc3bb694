/* SPDX-License-Identifier: GPL-2.0-or-later
 * progress.c - a bar on the terminal while a file is read (progress.h) */
#include "budgetctl/progress.h"
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CALLS_BETWEEN 1024 /* looks at the clock */
#define AFTER_MS      1000
#define EVERY_MS      100
#define WIDTH         40

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void progress_start(struct progress *p, FILE *file)
{
	struct stat st;

	*p = (struct progress){.on = isatty(STDERR_FILENO)};
	if (!p->on)
		return;
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
		p->whole = st.st_size;
	p->since_ms = now_ms();
}

/* What is left takes as long as what was done, a byte as a byte. The clock starts with the first row: the
 * rate is that of the whole so far, which does not jump as that of the last moment does. */
static void draw_rest(const struct progress *p, int64_t at, int64_t took_ms)
{
	int64_t left_s = (int64_t)((double)took_ms * (double)(p->whole - at) / (double)at / 1000) + 1;

	if (left_s >= 3600)
		fprintf(stderr, ", %" PRId64 ":%02d:%02d left", left_s / 3600, (int)(left_s / 60 % 60),
			(int)(left_s % 60));
	else
		fprintf(stderr, ", %d:%02d left", (int)(left_s / 60), (int)(left_s % 60));
}

/* After AFTER_MS: `took_ms` is not 0. The line before it may have been longer: its rest is wiped. */
static void draw(struct progress *p, int64_t at, int64_t rows, int64_t took_ms)
{
	static const char full[WIDTH + 1] = "########################################";
	int part = p->whole > 0 && at >= 0 ? (int)(at * WIDTH / p->whole) : 0;

	part = part > WIDTH ? WIDTH : part;
	fputc('\r', stderr);
	if (p->whole > 0)
		fprintf(stderr, "[%.*s%*s] %3d %%  ", part, full, WIDTH - part, "",
			(int)(at * 100 / p->whole));
	fprintf(stderr, "%" PRId64 " rows, %" PRId64 " a second", rows, rows * 1000 / took_ms);
	if (at > 0 && at < p->whole)
		draw_rest(p, at, took_ms);
	fputs("\033[K", stderr);
	p->shown = true;
}

void progress_step(struct progress *p, FILE *file, int64_t rows)
{
	int64_t now;

	if (!p->on || ++p->calls % CALLS_BETWEEN)
		return;
	now = now_ms();
	if (now - p->since_ms < AFTER_MS || now - p->drawn_ms < EVERY_MS)
		return;
	p->drawn_ms = now;
	draw(p, ftello(file), rows, now - p->since_ms);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
