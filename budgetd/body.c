/* SPDX-License-Identifier: GPL-2.0-or-later
 * body.c - the text of a body as an object whose keys are known. */
#include "budgetd/body.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define JSON_DEPTH_MAX 8	/* our deepest body has 3 */

static int parse(const char *text, size_t bytes, struct json_object **out, struct fault *why)
{
	struct json_tokener *t = json_tokener_new_ex(JSON_DEPTH_MAX);
	struct json_object *o;
	int rv = -1;

	if (!t)
		return fault_errno(why, ENOMEM, "out of memory");
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, text, (int)bytes);
	if (json_tokener_get_error(t) != json_tokener_success) {
		fault_errno(why, EINVAL, "the body is not JSON: %s at byte %zu",
			json_tokener_error_desc(json_tokener_get_error(t)), json_tokener_get_parse_end(t));
	} else if (!json_object_is_type(o, json_type_object)) {
		fault_errno(why, EINVAL, "the body must be a JSON object");
	} else {
		*out = json_object_get(o);
		rv = 0;
	}
	json_object_put(o);
	json_tokener_free(t);
	return rv;
}

static bool is_word_of(const char *words, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = words; n && (at = strstr(at, key)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* Colons of the outermost object. The text is known to be JSON, so that outside strings each is behind a
 * key. */
static size_t count_members(const char *text, size_t bytes)
{
	size_t members = 0;
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			depth++;
		else if (!quoted && (text[i] == '}' || text[i] == ']'))
			depth--;
		else if (!quoted && text[i] == ':' && depth == 1)
			members++;
	}
	return members;
}

/* A mistyped key would be a wish that nobody hears, and of a key that stands twice json-c keeps the last
 * alone. */
static int check_keys(const struct route *r, const char *text, size_t bytes, struct json_object *body,
	struct fault *why)
{
	if (count_members(text, bytes) != (size_t)json_object_object_length(body))
		return fault_errno(why, EINVAL, "the body has one key twice");
	json_object_object_foreach(body, key, value) {
		(void)value;
		if (r->keys && !is_word_of(r->keys, key))
			return fault_errno(why, EINVAL, "\"%.40s\" is not known here; there is: %s", key,
				r->keys);
	}
	return 0;
}

int body_read(const struct route *r, const char *text, size_t bytes, struct json_object **out, struct fault *why)
{
	struct json_object *o = NULL;

	if (parse(text, bytes, &o, why) < 0)
		return -1;
	if (check_keys(r, text, bytes, o, why) < 0) {
		json_object_put(o);
		return -1;
	}
	*out = o;
	return 0;
}
