/* SPDX-License-Identifier: GPL-2.0-or-later
 * picture.h - who had which GPU when: a row a GPU, time to the right, a colour a project; free runs are pale
 *
 * Unit     pixels
 * Threads  one */
#ifndef SIMULATE_PICTURE_H
#define SIMULATE_PICTURE_H
#include <stdio.h>
#include "simulate/engine.h"

/* SVG. What is shorter than a pixel is drawn when it lasted longest there. 0; or -1 and ENOMEM: errors of the
 * stream are left to ferror(). */
int picture_draw(FILE *to, const struct sim_setup *setup, const struct sim_result *result);

#endif
