/* SPDX-License-Identifier: GPL-2.0-or-later
 * picture.c - the timeline as SVG. */
#include "simulate/picture.h"
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

/* Hues as far apart as a golden angle: any number of projects, neighbours never alike. */
static void colour(FILE *to, uint32_t project, bool free)
{
	fprintf(to, "hsl(%u,%d%%,%d%%)", project * 137 % 360, free ? 40 : 65,
		free ? 82 : 45 + (int)(project / 8 % 3) * 10);
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

	for (int x = 0, end; x < WIDTH; x = end) {
		for (end = x + 1; end < WIDTH && alike(&row[x], &row[end]); end++)
			;
		if (!row[x].lasted)
			continue;
		fprintf(p->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"", LEFT + x,
			TOP + gpu * p->row_height, end - x, p->row_height);
		colour(p->to, row[x].project, row[x].free);
		fputs("\"/>\n", p->to);
	}
}

static void text_escape(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '<' || *text == '&' || *text == '>')
			fprintf(to, "&#%d;", *text);
		else
			fputc((unsigned char)*text < 0x20 ? '?' : *text, to);
}

static void legend_draw(const struct picture *p, int y)
{
	for (uint32_t i = 0; i < p->setup->trace->projects.count; i++) {
		int x = LEFT + (int)(i % ACROSS) * (WIDTH / ACROSS), line = y + (int)(i / ACROSS) * LEGEND;

		fprintf(p->to, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"", x, line);
		colour(p->to, i, false);
		fprintf(p->to, "\"/><text x=\"%d\" y=\"%d\">", x + 18, line + 11);
		text_escape(p->to, p->setup->trace->projects.name[i]);
		fputs("</text>\n", p->to);
	}
}

/* Days, or hours where it is about few of them; at most a dozen. */
static void axis_draw(const struct picture *p, int height)
{
	int64_t unit = p->span > 2 * 86400 ? 86400 : 3600, step = unit;

	while (p->span / step > 12)
		step += unit;
	for (int64_t t = 0; t <= p->span; t += step) {
		int x = LEFT + (int)(t * WIDTH / p->span);

		fprintf(p->to,
			"<path d=\"M%d %dV%d\" stroke=\"#0004\"/><text x=\"%d\" y=\"%d\">%jd %s</text>\n", x,
			TOP - 6, TOP + height, x + 3, TOP - 8, (intmax_t)(t / unit),
			unit == 3600 ? "h" : "d");
	}
	for (int n = 0; n < p->setup->nodes; n++) {
		int y = TOP + n * p->setup->gpus_per_node * p->row_height;

		fprintf(p->to, "<path d=\"M%d %dH%d\" stroke=\"#0003\" stroke-width=\".5\"/>\n", LEFT, y,
			LEFT + WIDTH);
	}
}

static void draw(const struct picture *p)
{
	int height = p->rows * p->row_height;
	int lines = (int)(p->setup->trace->projects.count - 1) / ACROSS + 1;

	fprintf(p->to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<title>%s: %d nodes of %d GPUs; a row a GPU, a colour a project, pale is free</title>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		LEFT + WIDTH + 20, TOP + height + 20 + lines * LEGEND,
		sim_scheduler_name[p->setup->scheduler], p->setup->nodes, p->setup->gpus_per_node);
	for (int gpu = 0; gpu < p->rows; gpu++)
		row_draw(p, gpu);
	axis_draw(p, height);
	legend_draw(p, TOP + height + 12);
	fputs("</svg>\n", p->to);
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
