/* SPDX-License-Identifier: GPL-2.0-or-later
 * svg.c - pictures (svg.h). */
#include "lib/svg.h"
#include "lib/markup.h"

static void look_put(FILE *to, const char *look)
{
	fprintf(to, "%s%s", *look ? " " : "", look);
}

static void title_put(FILE *to, const char *title)
{
	fputs("<title>", to);
	markup_text(to, title);
	fputs("</title>", to);
}

void svg_begin(FILE *to, int width, int height, const char *look, const char *title)
{
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" %s", width,
		height, width, height, title ? "role=\"img\"" : "aria-hidden=\"true\"");
	look_put(to, look);
	fputs(">\n", to);
	if (title)
		title_put(to, title);
}

void svg_end(FILE *to)
{
	fputs("</svg>\n", to);
}

static void rect_begin(FILE *to, int x, int y, int width, int height, const char *look)
{
	fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x, y, width < 1 ? 1 : width,
		height < 1 ? 1 : height);
	look_put(to, look);
}

void svg_rect(FILE *to, int x, int y, int width, int height, const char *look)
{
	rect_begin(to, x, y, width, height, look);
	fputs("/>\n", to);
}

void svg_rect_titled(FILE *to, int x, int y, int width, int height, const char *look, const char *title)
{
	rect_begin(to, x, y, width, height, look);
	fputc('>', to);
	title_put(to, title);
	fputs("</rect>\n", to);
}

void svg_line(FILE *to, int x1, int y1, int x2, int y2, const char *look)
{
	fprintf(to, "<path d=\"M%d %dL%d %d\"", x1, y1, x2, y2);
	look_put(to, look);
	fputs("/>\n", to);
}

void svg_text(FILE *to, int x, int y, const char *look, const char *text)
{
	fprintf(to, "<text x=\"%d\" y=\"%d\"", x, y);
	look_put(to, look);
	fputc('>', to);
	markup_text(to, text);
	fputs("</text>\n", to);
}

struct svg_path svg_path_begin(FILE *to, const char *look)
{
	fputs("<path fill=\"none\"", to);
	look_put(to, look);
	fputs(" d=\"", to);
	return (struct svg_path){ .to = to };
}

void svg_path_to(struct svg_path *p, int x, int y)
{
	fprintf(p->to, "%c%d %d", p->points++ ? 'L' : 'M', x, y);
}

void svg_path_end(struct svg_path *p)
{
	fputs("\"/>\n", p->to);
}
