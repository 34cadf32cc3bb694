/* SPDX-License-Identifier: GPL-2.0-or-later
 * breaker.c - one number decides: the time until which nobody asks
 *
 * Whoever moves an expired time forward is the one who probes; all others still see a time in the future.
 * A probe that is never reported (its thread died) blocks nothing for longer than open_ms. */
#include "client/breaker.h"

/* Never 0: that means closed, and a clock may begin there. */
static int64_t open_until(const struct breaker *b, int64_t now_ms)
{
	int64_t until = now_ms + b->open_ms;

	return until ? until : 1;
}

bool breaker_allows(struct breaker *b, int64_t now_ms)
{
	int64_t until = atomic_load(&b->open_until_ms);

	if (until == 0)
		return true;
	if (now_ms < until)
		return false;
	return atomic_compare_exchange_strong(&b->open_until_ms, &until, open_until(b, now_ms)) ||
		until == 0;	/* closed by somebody's success in between */
}

void breaker_report(struct breaker *b, bool ok, int64_t now_ms)
{
	atomic_store(&b->open_until_ms, ok ? 0 : open_until(b, now_ms));
}
