/* SPDX-License-Identifier: GPL-2.0-or-later
 * lines.c - writer and reader of the protocol of lines.h */
#include "gpu_check/lines.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION    "1"
#define FIELDS_MAX 6
#define NONE       "-"

/* --- writer --------------------------------------------------------------------------------------- */

#define ESCAPED_MAX (3 * REPORT_TEXT_MAX)

static const char *escape(const char *text, char buf[ESCAPED_MAX])
{
	char *to = buf;

	if (!*text)
		return NONE;
	for (size_t i = 0; i < REPORT_TEXT_MAX - 1 && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		to += isgraph(c) && c != '%' && !(i == 0 && c == '-') ? sprintf(to, "%c", c)
			: sprintf(to, "%%%02X", c);
	}
	return buf;
}

static const char *number_text(int n, char buf[16])
{
	if (n == REPORT_NONE)
		return NONE;
	snprintf(buf, 16, "%d", n);
	return buf;
}

__attribute__((format(printf, 2, 3))) static void say(int fd, const char *fmt, ...)
{
	char line[LINE_LENGTH_MAX];
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	n = strlen(line);
	line[n++] = '\n';
	while (write(fd, line, n) < 0 && errno == EINTR)
		;
}

void line_hello(int fd, const char *backend)
{
	say(fd, "gpu-check " VERSION " %s", backend);
}

void line_library(int fd, const char *path)
{
	char e[ESCAPED_MAX];

	say(fd, "library %s", escape(path, e));
}

void line_version(int fd, const char *text)
{
	char e[ESCAPED_MAX];

	say(fd, "version %s", escape(text, e));
}

void line_count(int fd, int count)
{
	say(fd, "count %d", count);
}

void line_device(int fd, int device, const struct device_report *d)
{
	char bus[ESCAPED_MAX], uuid[ESCAPED_MAX], name[ESCAPED_MAX];

	say(fd, "device %d %s %s %s %s", device, device_kind_name[d->kind], escape(d->bus_id, bus),
		escape(d->uuid, uuid), escape(d->name, name));
}

void line_begin(int fd, enum stage stage, int device)
{
	char n[16];

	say(fd, "begin %s %s", stage_table[stage].name, number_text(device, n));
}

void line_end(int fd, enum stage stage, int device, int64_t us)
{
	char n[16];

	say(fd, "end %s %s %jd", stage_table[stage].name, number_text(device, n), (intmax_t)us);
}

void line_rate(int fd, int device, int64_t up_mb_s, int64_t down_mb_s)
{
	say(fd, "rate %d %jd %jd", device, (intmax_t)up_mb_s, (intmax_t)down_mb_s);
}

void line_no_kernel(int fd)
{
	say(fd, "no-kernel");
}

void line_fail(int fd, enum stage stage, int device, enum cause cause, const char *text)
{
	char e[ESCAPED_MAX];
	char n[16];

	say(fd, "fail %s %s %s %s", stage_table[stage].name, number_text(device, n), cause_table[cause].name,
		escape(text, e));
}

void line_done(int fd)
{
	say(fd, "done");
}

/* --- reader --------------------------------------------------------------------------------------- */

/* A text field as it was; what is not printable becomes '?'. -1: it is broken or too long. */
static int read_text(const char *field, char *buf, size_t size)
{
	size_t n = 0;

	if (!strcmp(field, NONE))
		field = "";
	for (; *field; field++) {
		unsigned char c = (unsigned char)*field;

		if (c == '%') {
			char hex[3] = { field[1], field[1] ? field[2] : '\0', '\0' };

			if (!isxdigit((unsigned char)hex[0]) || !isxdigit((unsigned char)hex[1]))
				return -1;
			c = (unsigned char)strtoul(hex, NULL, 16);
			field += 2;
		}
		if (n + 1 >= size)
			return -1;
		buf[n++] = c >= 0x20 && c < 0x7F ? (char)c : '?';
	}
	buf[n] = '\0';
	return 0;
}

static int read_number(const char *field, int64_t max, int64_t *out)
{
	char *end;
	long long n;

	if (!isdigit((unsigned char)*field))
		return -1;
	errno = 0;
	n = strtoll(field, &end, 10);
	if (*end || errno || n > max)
		return -1;
	*out = n;
	return 0;
}

static int read_device(const struct report *r, const char *field, int *device)
{
	int64_t n;

	*device = REPORT_NONE;
	if (!strcmp(field, NONE))
		return 0;
	if (read_number(field, REPORT_DEVICES_MAX - 1, &n) < 0 || n >= r->count)
		return -1;
	*device = (int)n;
	return 0;
}

/* "STAGE N": the two that begin, end and fail have alike. */
static int read_stage(const struct report *r, char **field, enum stage *stage, int *device)
{
	int s = stage_of(field[0]);

	if (s < 0 || read_device(r, field[1], device) < 0)
		return -1;
	*stage = (enum stage)s;
	return stage_table[s].per_device == (*device != REPORT_NONE) ? 0 : -1;
}

static int on_library(struct report *r, char **field)
{
	return read_text(field[0], r->library, sizeof(r->library));
}

static int on_version(struct report *r, char **field)
{
	return read_text(field[0], r->version, sizeof(r->version));
}

static int on_count(struct report *r, char **field)
{
	int64_t n;

	if (r->count >= 0 || read_number(field[0], 1 << 20, &n) < 0)
		return -1;
	r->count = (int)n;
	return 0;
}

static int on_device(struct report *r, char **field)
{
	struct device_report *d;
	struct pci_address at;
	char bus[64];
	int device, kind = 0;

	while (kind < DEVICE_KINDS && strcmp(field[1], device_kind_name[kind]))
		kind++;
	if (read_device(r, field[0], &device) < 0 || device != r->devices || kind == DEVICE_KINDS)
		return -1;
	d = &r->device[device];
	d->kind = (enum device_kind)kind;
	if (read_text(field[2], bus, sizeof(bus)) < 0 || (*bus && pci_parse(bus, &at) < 0) ||
		read_text(field[3], d->uuid, sizeof(d->uuid)) < 0 ||
		read_text(field[4], d->name, sizeof(d->name)) < 0)
		return -1;
	if (*bus)
		pci_text(&at, d->bus_id);
	r->devices++;
	return 0;
}

static int on_begin(struct report *r, char **field)
{
	if (r->within || read_stage(r, field, &r->within_stage, &r->within_device) < 0)
		return -1;
	r->within = true;
	return 0;
}

static int on_end(struct report *r, char **field)
{
	enum stage stage;
	int device;
	int64_t us;

	if (read_stage(r, field, &stage, &device) < 0 || !r->within || stage != r->within_stage ||
		device != r->within_device || read_number(field[2], INT64_MAX, &us) < 0)
		return -1;
	*(device == REPORT_NONE ? &r->us[stage] : &r->device[device].us[stage]) = us;
	r->within = false;
	return 0;
}

static int on_rate(struct report *r, char **field)
{
	struct device_report *d;
	int device;

	if (read_device(r, field[0], &device) < 0 || !(d = report_device(r, device)))
		return -1;
	return read_number(field[1], INT64_MAX, &d->up_mb_s) < 0 ||
		read_number(field[2], INT64_MAX, &d->down_mb_s) < 0 ? -1 : 0;
}

static int on_no_kernel(struct report *r, char **field)
{
	(void)field;
	r->no_kernel = true;
	return 0;
}

static int on_fail(struct report *r, char **field)
{
	int cause = cause_of(field[2]);

	if (r->cause != CAUSE_NONE || cause <= 0 ||
		read_stage(r, field, &r->failed_stage, &r->failed_device) < 0 ||
		read_text(field[3], r->text, sizeof(r->text)) < 0)
		return -1;
	r->cause = (enum cause)cause;
	r->within = false;
	return 0;
}

static int on_done(struct report *r, char **field)
{
	(void)field;
	r->done = true;
	return r->within ? -1 : 0;
}

static const struct {
	const char *word;
	int fields;
	int (*read)(struct report *r, char **field);
} line_table[] = {
	{ "library", 1, on_library },
	{ "version", 1, on_version },
	{ "count", 1, on_count },
	{ "device", 5, on_device },
	{ "begin", 2, on_begin },
	{ "end", 3, on_end },
	{ "rate", 3, on_rate },
	{ "no-kernel", 0, on_no_kernel },
	{ "fail", 4, on_fail },
	{ "done", 0, on_done },
};

/* The words of a line; how many, or -1: too many, or an empty one. */
static int split(char *line, char *field[FIELDS_MAX])
{
	int n = 0;

	for (char *at = line; at; n++) {
		if (n == FIELDS_MAX || !*at || *at == ' ')
			return -1;
		field[n] = at;
		at = strchr(at, ' ');
		if (at)
			*at++ = '\0';
	}
	return n;
}

static int read_words(struct report *r, int n, char **field)
{
	if (!r->backend[0]) {			/* nothing comes before the greeting */
		if (n != 3 || strcmp(field[0], "gpu-check") || strcmp(field[1], VERSION))
			return -1;
		return read_text(field[2], r->backend, sizeof(r->backend)) < 0 || !r->backend[0] ? -1 : 0;
	}
	if (r->done || (r->cause != CAUSE_NONE && strcmp(field[0], "done")))
		return -1;
	for (size_t i = 0; i < sizeof(line_table) / sizeof(line_table[0]); i++)
		if (!strcmp(field[0], line_table[i].word))
			return n == line_table[i].fields + 1 ? line_table[i].read(r, field + 1) : -1;
	return -1;
}

int line_read(struct report *r, char *line)
{
	char *field[FIELDS_MAX];
	int n = split(line, field);

	if (n < 1 || read_words(r, n, field) < 0) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}
