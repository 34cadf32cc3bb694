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

static void draw(struct progress *p, int64_t at, int64_t rows)
{
	static const char full[WIDTH + 1] = "########################################";
	int part = p->whole > 0 && at >= 0 ? (int)(at * WIDTH / p->whole) : 0;

	part = part > WIDTH ? WIDTH : part;
	if (p->whole > 0)
		fprintf(stderr, "\r[%.*s%*s] %3d %%  %" PRId64 " rows", part, full, WIDTH - part, "",
			part * 100 / WIDTH, rows);
	else
		fprintf(stderr, "\r%" PRId64 " rows", rows);
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
	draw(p, ftello(file), rows);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
