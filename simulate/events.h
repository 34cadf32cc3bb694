/* SPDX-License-Identifier: GPL-2.0-or-later
 * events.h - what will happen, the next first
 *
 * Threads  one */
#ifndef SIMULATE_EVENTS_H
#define SIMULATE_EVENTS_H
#include <stddef.h>
#include <stdint.h>

enum event_kind { EVENT_END, EVENT_LEAVE, EVENT_MINIMUM, EVENT_BACK };

struct event {
	int64_t at;
	uint64_t number; /* of two at one time the first that was added goes first */
	enum event_kind kind;
	uint32_t job, run; /* the job's run number: an event of another run is old */
};

struct events {
	struct event *heap;
	size_t count, room;
	uint64_t added;
};

int events_add(
	struct events *h, int64_t at, enum event_kind kind, uint32_t job, uint32_t run); /* 0, -1 ENOMEM */
const struct event *events_next(const struct events *h);                                 /* NULL: none */
struct event events_take(struct events *h); /* there must be one */
void events_free(struct events *h);

#endif
