/* SPDX-License-Identifier: GPL-2.0-or-later
 * amount.c - GPU-hours as integers: 1 GPU-hour at rate 1.000 = 3,600,000 units (doc/model.md, 2)
 *
 * Three decimals of an hour, a minute or a second are whole units, so nothing is rounded on the way in. */
#include "lib/amount.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "lib/number.h"

int amount_price(int64_t gpus, int64_t seconds, int64_t rate, amount_t *out)
{
	int64_t price;

	if (gpus < 0 || seconds < 0 || rate < 0) {
		errno = EINVAL;
		return -1;
	}
	/* zero first: 0 GPUs for a very long time cost nothing, and the partial product must not say
	 * otherwise */
	if (gpus == 0 || seconds == 0 || rate == 0) {
		*out = 0;
		return 0;
	}
	if (__builtin_mul_overflow(gpus, seconds, &price) || __builtin_mul_overflow(price, rate, &price)) {
		errno = EOVERFLOW;
		return -1;
	}
	*out = price;
	return 0;
}

int amount_add(amount_t a, amount_t b, amount_t *out)
{
	amount_t sum;

	if (__builtin_add_overflow(a, b, &sum)) {
		errno = EOVERFLOW;
		return -1;
	}
	*out = sum;
	return 0;
}

static int bad(const char *text, const char *at, struct fault *why, const char *what)
{
	return fault_errno(why, EINVAL, "\"%.80s\" is not an amount of GPU-hours: %s at character %td "
		"(write 8, 1.5h, 90m or 3600s)", text, what, at - text + 1);
}

static int too_large(const char *text, struct fault *why)
{
	char most[AMOUNT_TEXT_MAX];

	amount_text(AMOUNT_MAX / AMOUNT_GPU_HOUR * AMOUNT_GPU_HOUR, most);
	return fault_errno(why, EOVERFLOW, "\"%.80s\": more GPU-hours than can be counted (at most %s)", text,
		most);
}

/* The digits before the point. "1,234,567": one to three digits, then groups of exactly three. */
static int whole_part(const char *text, const char **p, int64_t *whole, struct fault *why)
{
	const char *start = *p;

	if (number_read(p, whole) < 0)
		return errno == EOVERFLOW ? too_large(text, why) : bad(text, *p, why, "a digit is missing");
	if (**p == ',' && *p - start > 3)
		return bad(text, *p, why, "a comma that does not stand between thousands");
	while (**p == ',') {
		const char *group = *p + 1;
		const char *end = group;
		int64_t n;

		if (number_read(&end, &n) < 0 || end - group != 3)
			return bad(text, *p, why, "a comma that does not stand between thousands");
		if (__builtin_mul_overflow(*whole, (int64_t)1000, whole) ||
			__builtin_add_overflow(*whole, n, whole))
			return too_large(text, why);
		*p = end;
	}
	return 0;
}

/* ".5" as thousandths; nothing there is 0. */
static int decimals(const char *text, const char **p, int64_t *thousandths, struct fault *why)
{
	int digits = 0;

	*thousandths = 0;
	if (**p != '.')
		return 0;
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, digits++) {
		if (digits == 3)
			return bad(text, *p, why, "a fourth decimal");
		*thousandths = *thousandths * 10 + (**p - '0');
	}
	if (digits == 0)
		return bad(text, *p, why, "a digit is missing");
	for (; digits < 3; digits++)
		*thousandths *= 10;
	return 0;
}

/* Units of one thousandth of h, m or s; a bare number is hours. */
static int64_t unit_read(const char **p)
{
	switch (**p) {
	case 'h':
		(*p)++;
		return AMOUNT_GPU_HOUR / 1000;
	case 'm':
		(*p)++;
		return AMOUNT_GPU_HOUR / 60 / 1000;
	case 's':
		(*p)++;
		return AMOUNT_RATE_ONE / 1000;
	default:
		return AMOUNT_GPU_HOUR / 1000;
	}
}

int amount_parse(const char *text, amount_t *out, struct fault *why)
{
	const char *p = text;
	int64_t whole, thousandths, unit;
	amount_t a;

	if (whole_part(text, &p, &whole, why) < 0 || decimals(text, &p, &thousandths, why) < 0)
		return -1;
	unit = unit_read(&p);
	if (*p)
		return bad(text, p, why, "something unexpected");
	if (__builtin_mul_overflow(whole, (int64_t)1000, &a) || __builtin_add_overflow(a, thousandths, &a) ||
		__builtin_mul_overflow(a, unit, &a) || a > AMOUNT_MAX)
		return too_large(text, why);
	*out = a;
	return 0;
}

const char *amount_text(amount_t a, char buf[AMOUNT_TEXT_MAX])
{
	const uint64_t hundredth = AMOUNT_GPU_HOUR / 100;
	uint64_t size = a < 0 ? -(uint64_t)a : (uint64_t)a;	/* INT64_MIN has no positive counterpart */
	uint64_t n = (size + hundredth / 2) / hundredth;
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n / 100);
	char *w = buf;

	if (a < 0 && n > 0)
		*w++ = '-';
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*w++ = ',';
		*w++ = digits[i];
	}
	snprintf(w, (size_t)(buf + AMOUNT_TEXT_MAX - w), ".%02u", (unsigned)(n % 100));
	return buf;
}
