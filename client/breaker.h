/* SPDX-License-Identifier: GPL-2.0-or-later
 * breaker.h - after a missed deadline, answer at once for a while
 *
 * Closed: every call is let through. A failure opens it for `open_ms`; then one call (and only one) is let
 * through to probe: its success closes the breaker, its failure opens it again.
 *
 * Unit     milliseconds of any clock that does not go back; time is an argument
 * Threads  all functions from any thread; lock-free */
#ifndef CLIENT_BREAKER_H
#define CLIENT_BREAKER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct breaker {
	int64_t open_ms;		/* set before first use, never after */
	_Atomic int64_t open_until_ms;	/* 0 = closed */
};

#define BREAKER_INIT(ms) { .open_ms = (ms), .open_until_ms = 0 }

bool breaker_allows(struct breaker *b, int64_t now_ms);	/* true: make the call, then report it */
void breaker_report(struct breaker *b, bool ok, int64_t now_ms);

#endif
