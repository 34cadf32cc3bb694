/* SPDX-License-Identifier: GPL-2.0-or-later
 * request.c - paths and bodies of requests (request.h) */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/request.h"

/* What RFC 3986 calls unreserved stands for itself. */
static void encoded_print(FILE *to, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if ((*p < 0x80 && isalnum(*p)) || strchr("-._~", *p))
			putc(*p, to);
		else
			fprintf(to, "%%%02X", *p);
	}
}

/* The text of a memory stream that is complete; NULL and ENOMEM. */
static char *stream_text(FILE *stream, char **text)
{
	if (fclose(stream) == 0)
		return *text;
	free(*text);
	errno = ENOMEM;
	return NULL;
}

char *request_query(const char *base, ...)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	char mark = strchr(base, '?') ? '&' : '?';
	const char *key;
	va_list ap;

	if (!to)
		return NULL;
	fputs(base, to);
	va_start(ap, base);
	while ((key = va_arg(ap, const char *))) {
		const char *value = va_arg(ap, const char *);

		if (!value)
			continue;
		fprintf(to, "%c%s=", mark, key);
		encoded_print(to, value);
		mark = '&';
	}
	va_end(ap);
	return stream_text(to, &text);
}

char *request_path(const char *base, const char *segment)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs(base, to);
	encoded_print(to, segment);
	return stream_text(to, &text);
}

static int value_set(struct json_object *body, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(body, key, value) == 0)
		return 0;
	json_object_put(value);
	errno = ENOMEM;
	return -1;
}

int request_text(struct json_object *body, const char *key, const char *text)
{
	return text ? value_set(body, key, json_object_new_string(text)) : 0;
}

int request_number(struct json_object *body, const char *key, int64_t value)
{
	return value_set(body, key, json_object_new_int64(value));
}

int request_list(struct json_object *body, const char *key, const char *names)
{
	struct json_object *list = json_object_new_array();
	size_t length;

	if (!list)
		return -1;
	for (const char *p = names + strspn(names, ", "); *p; p += length, p += strspn(p, ", ")) {
		struct json_object *name;

		length = strcspn(p, ", ");
		name = json_object_new_string_len(p, (int)length);
		if (!name || json_object_array_add(list, name) < 0) {
			json_object_put(name);
			json_object_put(list);
			errno = ENOMEM;
			return -1;
		}
	}
	return value_set(body, key, list);
}
