/* SPDX-License-Identifier: GPL-2.0-or-later
 * said.c - was this write said before (said.h). */
#include "budgetd/said.h"
#include "budgetd/ledger_said.h"
#include "budgetd/routes.h"
#include <errno.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>

#define KEY_MAX 40
#define HEX_MAX (BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1)

/* With the NUL, so that no two texts in a row are like two others. */
static void hash_text(struct sha256_ctx *sha, const char *text)
{
	sha256_update(sha, strlen(text) + 1, (const uint8_t *)text);
}

/* Why it is written, under which id, whether at all, and what is taken on the caller's word: none of it is
 * what is written. */
static bool is_content(const char *key)
{
	static const char *const beside[] = { "reason", "request_id", "dry_run", "force" };

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (strcmp(key, beside[i]) == 0)
			return false;
	return true;
}

/* In the order of the route's keys, whatever the order in the body. */
static void hash_body(struct sha256_ctx *sha, const struct request *rq)
{
	const char *keys = rq->route->keys ? rq->route->keys : "";
	struct json_object *value;
	char key[KEY_MAX];

	for (size_t n; *keys; keys += n) {
		keys += strspn(keys, " ");
		n = strcspn(keys, " ");
		if (n == 0 || n >= sizeof(key))
			continue;
		memcpy(key, keys, n);
		key[n] = '\0';
		if (!is_content(key) || !json_object_object_get_ex(rq->body, key, &value))
			continue;
		hash_text(sha, key);
		hash_text(sha, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
	}
}

static void write_hash(const struct request *rq, char hex[static HEX_MAX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;

	sha256_init(&sha);
	hash_text(&sha, rq->route->method);
	hash_text(&sha, rq->route->path);
	hash_text(&sha, rq->name);
	hash_body(&sha, rq);
	sha256_digest(&sha, sizeof(digest), digest);
	base16_encode_update(hex, sizeof(digest), digest);
	hex[HEX_MAX - 1] = '\0';
}

int request_said(struct request *rq, struct fault *why)
{
	const char *id = NULL;
	char write[HEX_MAX];
	int rc = body_text(rq, "request_id", &id, why);

	rq->said = false;
	if (rc != 1 || !*id)
		return rc < 0 ? -1 : 0;
	if (request_id_check(rq, id, why) < 0)
		return -1;
	write_hash(rq, write);
	rc = said_note(rq->b->ledger, id, write, rq->now, why);
	rq->said = rc == 1;
	return rc < 0 ? -1 : 0;
}

/* Who may say an id with such a beginning: a call, or none. */
static const struct {
	const char *prefix, *path;
} kept_prefixes[] = {
	{ OWN_ID_PREFIX, NULL }, { CHECK_ID_PREFIX, "/v1/corrections" },
};

int request_id_check(const struct request *rq, const char *request_id, struct fault *why)
{
	if (strlen(request_id) > 64)
		return fault_errno(why, EINVAL, "\"request_id\" has at most 64 bytes");
	for (size_t i = 0; i < sizeof(kept_prefixes) / sizeof(kept_prefixes[0]); i++) {
		const char *path = kept_prefixes[i].path;

		if (strncmp(request_id, kept_prefixes[i].prefix, strlen(kept_prefixes[i].prefix)) == 0 &&
			(!path || strcmp(path, rq->route->path) != 0))
			return fault_errno(why, EINVAL,
				"\"request_id\": those that begin with %s are kept for writes that %s makes itself",
				kept_prefixes[i].prefix, path ? "budgetctl check" : "budgetd");
	}
	return 0;
}
