/* SPDX-License-Identifier: GPL-2.0-or-later
 * svg.h - pictures: a few shapes, in pixels, with what they are in words
 *
 * `look` is our own: attributes as they are written, class="held" or fill="white"; "" = none. Texts are
 * escaped (markup.h).
 *
 * Threads  pure but for the stream; errors of the stream are left to ferror() */
#ifndef LIB_SVG_H
#define LIB_SVG_H
#include <stdio.h>

/* A picture that a reader of the screen is told of by its title; where `title` is NULL it says nothing that
 * does not stand beside it, and is passed over. Its size is that of its coordinates. */
void svg_begin(FILE *to, int width, int height, const char *look, const char *title);
void svg_end(FILE *to);

/* At least 1 wide and high: what there is little of is seen all the same. */
void svg_rect(FILE *to, int x, int y, int width, int height, const char *look);
/* The same with a text for who points at it. */
void svg_rect_titled(FILE *to, int x, int y, int width, int height, const char *look, const char *title);
void svg_line(FILE *to, int x1, int y1, int x2, int y2, const char *look);
void svg_text(FILE *to, int x, int y, const char *look, const char *text);

/* A line through points; svg_path_to for each, the first one begins it. */
struct svg_path {
	FILE *to;
	int points;
};
struct svg_path svg_path_begin(FILE *to, const char *look);
void svg_path_to(struct svg_path *p, int x, int y);
void svg_path_end(struct svg_path *p);

#endif
