/* SPDX-License-Identifier: GPL-2.0-or-later
 * array_tasks.c - how many tasks a job array has, and which are the first: "0-3,7%2" names five, two at a
 * time
 *
 * A task that is named twice runs once. Lists in rising order, nearly all of them, are counted on the fly;
 * for the others the indices are marked in a bitmap, whose size the largest index that Slurm can be
 * configured for bounds. */
#include "lib/gpu_request.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"

#define INDEX_MOST 4000000	/* MaxArraySize is at most 4000001, slurm.conf(5) */
#define NAMED_MOST (4 * INDEX_MOST)	/* bounds the work that a list of overlapping ranges can make */

struct range {
	int64_t first, last, step;
};

static int bad(const char *array, const char *at, struct fault *why, const char *what)
{
	return fault_errno(why, EINVAL, "--array=%.200s: %s at character %td", array, what, at - array + 1);
}

static int read_index(const char *array, const char **p, int64_t *n, struct fault *why)
{
	const char *start = *p;

	if (number_read(p, n) < 0 && errno != EOVERFLOW)
		return bad(array, start, why, "a number is missing");
	if (*p == start || *n > INDEX_MOST)
		return fault_errno(why, EOVERFLOW, "--array=%.200s: a number above %d at character %td",
			array, INDEX_MOST, start - array + 1);
	return 0;
}

/* "7", "0-3" or "1-10:3". */
static int read_range(const char *array, const char **p, struct range *r, struct fault *why)
{
	const char *start = *p;

	if (read_index(array, p, &r->first, why) < 0)
		return -1;
	r->last = r->first;
	r->step = 1;
	if (**p != '-')
		return 0;
	(*p)++;
	if (read_index(array, p, &r->last, why) < 0)
		return -1;
	if (r->last < r->first)
		return bad(array, start, why, "a range that ends before it begins");
	if (**p != ':')
		return 0;
	start = ++(*p);
	if (read_index(array, p, &r->step, why) < 0)
		return -1;
	return r->step > 0 ? 0 : bad(array, start, why, "a step of 0");
}

/* The next range of the list; 1, 0 at the end of the list (*p stays there), -1. */
static int next_range(const char *array, const char **p, bool first, struct range *r, struct fault *why)
{
	if (!first && **p != ',')
		return 0;
	if (!first)
		(*p)++;
	return read_range(array, p, r, why) < 0 ? -1 : 1;
}

/* Count what is named at least once; the list has been read before and is sound. */
static int count_distinct(const char *array, const char *list, int64_t *tasks, struct fault *why)
{
	unsigned char *seen = calloc(INDEX_MOST / 8 + 1, 1);
	const char *p = list;
	struct range r;
	int64_t n = 0;

	if (!seen)
		return fault_errno(why, ENOMEM, "--array=%.200s: out of memory", array);
	for (bool first = true; next_range(array, &p, first, &r, why) > 0; first = false)
		for (int64_t i = r.first; i <= r.last; i += r.step)
			if (!(seen[i / 8] & 1u << i % 8)) {
				seen[i / 8] |= (unsigned char)(1u << i % 8);
				n++;
			}
	free(seen);
	*tasks = n;
	return 0;
}

static int read_list(const char *array, const char **p, int64_t *tasks, struct fault *why)
{
	const char *list = *p;
	int64_t n = 0, highest = -1;
	bool rising = true, first = true;
	struct range r;
	int rc;

	for (; (rc = next_range(array, p, first, &r, why)) > 0; first = false) {
		rising = rising && r.first > highest;
		highest = r.last;
		n += (r.last - r.first) / r.step + 1;
	}
	if (rc < 0)
		return -1;
	if (!rising && n > NAMED_MOST)
		return fault_errno(
			why, EOVERFLOW, "--array=%.200s: names more than %d tasks", array, NAMED_MOST);
	if (!rising)
		return count_distinct(array, list, tasks, why);
	*tasks = n;
	return 0;
}

/* "%2", or nothing, which is 0. */
static int read_throttle(const char *array, const char **p, int64_t *throttle, struct fault *why)
{
	if (**p != '%')
		return 0;
	(*p)++;
	return read_index(array, p, throttle, why);
}

/* Both "[0-9%2]" and "[0-9]%2" are written. */
int gpu_request_array_tasks(const char *array, int64_t *tasks, int64_t *throttle, struct fault *why)
{
	const char *p = array;
	bool open = *p == '[';
	int64_t n = 0, limit = 0;

	p += open;
	if (read_list(array, &p, &n, why) < 0 || read_throttle(array, &p, &limit, why) < 0)
		return -1;
	if (open && *p++ != ']')
		return bad(array, p - 1, why, "a closing bracket is missing");
	if (open && read_throttle(array, &p, &limit, why) < 0)
		return -1;
	if (*p)
		return bad(array, p, why, "something unexpected");
	*tasks = n;
	if (throttle)
		*throttle = limit;
	return 0;
}

#define RANGE_TEXT_MAX 80

/* "3-5" of the range, or fewer: at most `most` tasks. Their number. */
static int64_t range_text(const struct range *r, int64_t most, char buf[RANGE_TEXT_MAX])
{
	int64_t n = (r->last - r->first) / r->step + 1;
	int used;

	if (n > most)
		n = most;
	used = snprintf(buf, RANGE_TEXT_MAX, "%jd", (intmax_t)r->first);
	if (n > 1)
		used += snprintf(buf + used, RANGE_TEXT_MAX - (size_t)used, "-%jd",
			(intmax_t)(r->first + (n - 1) * r->step));
	if (n > 1 && r->step > 1)
		snprintf(buf + used, RANGE_TEXT_MAX - (size_t)used, ":%jd", (intmax_t)r->step);
	return n;
}

int64_t gpu_request_array_first(const char *array, int64_t most, char *buf, size_t size)
{
	const char *p = array + (*array == '[');
	char text[RANGE_TEXT_MAX];
	int64_t named = 0;
	struct range r;
	size_t used = 0;

	*buf = '\0';
	for (bool first = true; named < most && next_range(array, &p, first, &r, NULL) > 0; first = false) {
		int64_t n = range_text(&r, most - named, text);
		int wrote = snprintf(buf + used, size - used, "%s%s", first ? "" : ",", text);

		if (wrote < 0 || (size_t)wrote >= size - used) {
			buf[used] = '\0';
			break;
		}
		used += (size_t)wrote;
		named += n;
	}
	return named;
}

bool gpu_request_array_names(const char *array, int64_t task)
{
	const char *p = array + (*array == '[');
	struct range r;

	for (bool first = true; next_range(array, &p, first, &r, NULL) > 0; first = false)
		if (task >= r.first && task <= r.last && (task - r.first) % r.step == 0)
			return true;
	return false;
}
