/* SPDX-License-Identifier: GPL-2.0-or-later
 * amount.h - GPU-hours as integers
 *
 * Unit     one GPU-second at rate 0.001; a GPU-hour at rate 1.000 is 3,600,000 (doc/model.md, 2)
 * Threads  pure functions: any thread, no lock, no clock, no I/O */
#ifndef LIB_AMOUNT_H
#define LIB_AMOUNT_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"

typedef int64_t amount_t;

#define AMOUNT_RATE_ONE 1000			/* rate 1.000 in thousandths */
#define AMOUNT_GPU_HOUR ((amount_t)3600 * AMOUNT_RATE_ONE)
#define AMOUNT_MAX      (INT64_MAX / 4)		/* that a person may name: sums of a few stay far from overflow */

/* Price of `gpus` devices during `seconds` at `rate` thousandths.
 * 0 and *out set; or -1, *out untouched, errno EINVAL (an argument is negative) or EOVERFLOW. */
int amount_price(int64_t gpus, int64_t seconds, int64_t rate, amount_t *out);

/* Sum; 0, or -1 and EOVERFLOW with *out untouched. */
int amount_add(amount_t a, amount_t b, amount_t *out);

/* GPU-hours as people write them: "8", "1.5", "1.5h", "90m", "3600s"; a bare number is hours; at most 3
 * decimals of the unit; commas between thousands are allowed ("1,234.5"). Never negative; a sign is an error.
 * 0 and *out set; or -1, *out untouched, errno EINVAL, `why` names the position of the bad character; or
 * EOVERFLOW (above AMOUNT_MAX), `why` names the most. */
int amount_parse(const char *text, amount_t *out, struct fault *why);

/* "1,234.50" (GPU-hours, two decimals, half rounded away from zero) in the caller's buffer. Returns buf;
 * cannot fail. */
#define AMOUNT_TEXT_MAX 40
const char *amount_text(amount_t a, char buf[AMOUNT_TEXT_MAX]);

#endif
