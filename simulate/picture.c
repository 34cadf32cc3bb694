/* SPDX-License-Identifier: GPL-2.0-or-later
 * picture.c - the timeline as SVG. */
#include "simulate/picture.h"
#include "lib/svg.h"
#include <stdlib.h>

#define WIDTH      1200
#define LEFT       60
#define TOP        30
#define HEIGHT_MAX 2000
#define LEGEND     18 /* a line of the legend */
#define ACROSS     4  /* names in a line */

struct cell {
	int64_t lasted; /* of the longest stretch in this pixel */
	uint32_t project;
	bool free;
};

struct picture {
	FILE *to;
	const struct sim_setup *setup;
	const struct sim_result *result;
	int rows, row_height;
	int64_t span;
	struct cell *cells; /* one row of pixels after the other */
};

/* Hues as far apart as a golden angle: any number of projects, neighbours never alike. Returns buf. */
#define FILL_MAX 48
static const char *fill(char buf[FILL_MAX], uint32_t project, bool free)
{
	snprintf(buf, FILL_MAX, "fill=\"hsl(%u,%d%%,%d%%)\"", project * 137 % 360, free ? 40 : 65,
		free ? 82 : 45 + (int)(project / 8 % 3) * 10);
	return buf;
}

static int64_t pixel_time(const struct picture *p, int x)
{
	return p->result->from + p->span * x / WIDTH;
}

static void segment_put(struct picture *p, const struct sim_segment *s)
{
	struct cell *row = &p->cells[(size_t)s->gpu * WIDTH];
	int x = (int)((s->from - p->result->from) * WIDTH / p->span);

	for (; x < WIDTH && pixel_time(p, x) < s->to; x++) {
		int64_t begin = pixel_time(p, x), end = pixel_time(p, x + 1);
		int64_t lasted = (s->to < end ? s->to : end) - (s->from > begin ? s->from : begin);

		if (lasted > row[x].lasted)
			row[x] = (struct cell){lasted, s->project, s->free};
	}
}

static bool alike(const struct cell *a, const struct cell *b)
{
	return !a->lasted == !b->lasted && (!a->lasted || (a->project == b->project && a->free == b->free));
}

static void row_draw(const struct picture *p, int gpu)
{
	const struct cell *row = &p->cells[(size_t)gpu * WIDTH];
	char look[FILL_MAX];

	for (int x = 0, end; x < WIDTH; x = end) {
		for (end = x + 1; end < WIDTH && alike(&row[x], &row[end]); end++)
			;
		if (!row[x].lasted)
			continue;
		svg_rect(p->to, LEFT + x, TOP + gpu * p->row_height, end - x, p->row_height,
			fill(look, row[x].project, row[x].free));
	}
}

static void legend_draw(const struct picture *p, int y)
{
	char look[FILL_MAX];

	for (uint32_t i = 0; i < p->setup->trace->projects.count; i++) {
		int x = LEFT + (int)(i % ACROSS) * (WIDTH / ACROSS), line = y + (int)(i / ACROSS) * LEGEND;

		svg_rect(p->to, x, line, 12, 12, fill(look, i, false));
		svg_text(p->to, x + 18, line + 11, "", p->setup->trace->projects.name[i]);
	}
}

/* Days, or hours where it is about few of them; at most a dozen. */
static void axis_draw(const struct picture *p, int height)
{
	int64_t unit = p->span > 2 * 86400 ? 86400 : 3600, step = unit;
	char text[40];

	while (p->span / step > 12)
		step += unit;
	for (int64_t t = 0; t <= p->span; t += step) {
		int x = LEFT + (int)(t * WIDTH / p->span);

		svg_line(p->to, x, TOP - 6, x, TOP + height, "stroke=\"#0004\"");
		snprintf(text, sizeof(text), "%jd %s", (intmax_t)(t / unit), unit == 3600 ? "h" : "d");
		svg_text(p->to, x + 3, TOP - 8, "", text);
	}
	for (int n = 0; n < p->setup->nodes; n++) {
		int y = TOP + n * p->setup->gpus_per_node * p->row_height;

		svg_line(p->to, LEFT, y, LEFT + WIDTH, y, "stroke=\"#0003\" stroke-width=\".5\"");
	}
}

static void draw(const struct picture *p)
{
	int height = p->rows * p->row_height;
	int lines = (int)(p->setup->trace->projects.count - 1) / ACROSS + 1;
	char title[256];

	snprintf(title, sizeof(title), "%s: %d nodes of %d GPUs; a row a GPU, a colour a project, pale is free",
		sim_scheduler_name[p->setup->scheduler], p->setup->nodes, p->setup->gpus_per_node);
	svg_begin(p->to, LEFT + WIDTH + 20, TOP + height + 20 + lines * LEGEND,
		"font-family=\"sans-serif\" font-size=\"11\"", title);
	svg_rect(p->to, 0, 0, LEFT + WIDTH + 20, TOP + height + 20 + lines * LEGEND, "fill=\"white\"");
	for (int gpu = 0; gpu < p->rows; gpu++)
		row_draw(p, gpu);
	axis_draw(p, height);
	legend_draw(p, TOP + height + 12);
	svg_end(p->to);
}

int picture_draw(FILE *to, const struct sim_setup *setup, const struct sim_result *result)
{
	struct picture p = {.to = to,
		.setup = setup,
		.result = result,
		.rows = setup->nodes * setup->gpus_per_node,
		.span = result->until - result->from};

	if (p.span <= 0)
		p.span = 1;
	p.row_height = HEIGHT_MAX / p.rows;
	p.row_height = p.row_height < 1 ? 1 : p.row_height > 10 ? 10 : p.row_height;
	p.cells = calloc((size_t)p.rows * WIDTH, sizeof(*p.cells));
	if (!p.cells)
		return -1;
	for (size_t i = 0; i < result->nsegments; i++)
		segment_put(&p, &result->segments[i]);
	draw(&p);
	free(p.cells);
	return 0;
}
