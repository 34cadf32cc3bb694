/* SPDX-License-Identifier: GPL-2.0-or-later
 * events.c - a binary heap. */
#include "simulate/events.h"
#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

int events_add(struct events *h, int64_t at, enum event_kind kind, uint32_t job, uint32_t run)
{
	struct event e = {at, h->added, kind, job, run};
	size_t i = h->count;

	if (h->count == h->room) {
		size_t room = h->room ? 2 * h->room : 256;
		struct event *heap = reallocarray(h->heap, room, sizeof(*heap));

		if (!heap)
			return -1;
		h->heap = heap;
		h->room = room;
	}
	h->added++;
	h->count++;
	for (; i > 0 && before(&e, &h->heap[(i - 1) / 2]); i = (i - 1) / 2)
		h->heap[i] = h->heap[(i - 1) / 2];
	h->heap[i] = e;
	return 0;
}

const struct event *events_next(const struct events *h)
{
	return h->count ? h->heap : NULL;
}

struct event events_take(struct events *h)
{
	struct event first = h->heap[0], last = h->heap[--h->count];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count && before(&h->heap[child + 1], &h->heap[child]))
			child++;
		if (!before(&h->heap[child], &last))
			break;
		h->heap[i] = h->heap[child];
	}
	h->heap[i] = last;
	return first;
}

void events_free(struct events *h)
{
	free(h->heap);
	*h = (struct events){0};
}
