/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_places.c - devices of nodes. */
#include "lib/gpu_places.h"
#include "lib/number.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------------- */

/* "N/A", and what would read as another node's devices behind these, are none. */
static bool is_list(const char *from, const char *end)
{
	return from < end && from + strspn(from, "0123456789-,") == end;
}

/* The "0-1,4" of the next whole GPUs in a gres detail, and its length; NULL behind the last. */
static const char *next_indices(const char **detail, size_t *length)
{
	const char *at = *detail, *open, *end;

	while (*at) {
		end = at + strcspn(at, ",(");
		open = *end == '(' ? end : NULL;
		if (open)
			end = open + strcspn(open, ")");
		*detail = end + strcspn(end, ",");
		*detail += **detail == ',';
		if (open && !strncmp(at, "gpu", 3) && (at[3] == ':' || at[3] == '(') &&
			!strncmp(open, "(IDX:", 5) && is_list(open + 5, end)) {
			*length = (size_t)(end - open) - 5;
			return open + 5;
		}
		at = *detail;
	}
	return NULL;
}

int gpu_places_add(char *buf, size_t size, const char *node, const char *detail)
{
	size_t begin = strlen(buf), used = begin, length;
	const char *indices;

	while ((indices = next_indices(&detail, &length))) {
		int n = used == begin ? snprintf(buf + used, size - used, "%s%s=%.*s", begin ? ";" : "", node,
						(int)length, indices)
				      : snprintf(buf + used, size - used, ",%.*s", (int)length, indices);

		if (n < 0 || (size_t)n >= size - used) {
			buf[begin] = '\0';
			errno = EMSGSIZE;
			return -1;
		}
		used += (size_t)n;
	}
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------------- */

static bool next_node(struct gpu_places *p)
{
	size_t n = strcspn(p->text, "=");

	if (n == 0 || n >= sizeof(p->node) || p->text[n] != '=')
		return false;
	memcpy(p->node, p->text, n);
	p->node[n] = '\0';
	p->text += n + 1;
	return true;
}

static bool next_range(struct gpu_places *p)
{
	if (number_read(&p->text, &p->index) < 0)
		return false;
	p->last = p->index;
	if (*p->text != '-')
		return true;
	p->text++;
	return number_read(&p->text, &p->last) == 0 && p->last >= p->index;
}

bool gpu_places_next(struct gpu_places *p)
{
	if (p->node[0] && p->index < p->last) {
		p->index++;
		return true;
	}
	if (!p->text || !*p->text)
		return false;
	if (p->node[0] && *p->text == ',') {
		p->text++;
		return next_range(p);
	}
	if (p->node[0] && *p->text != ';')
		return false;
	p->text += p->node[0] != '\0';
	return next_node(p) && next_range(p);
}
