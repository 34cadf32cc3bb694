/* SPDX-License-Identifier: GPL-2.0-or-later
 * caller.c - MUNGE credentials read and judged. */
#include "budgetd/caller.h"
#include "lib/credential.h"
#include "lib/duration.h"
#include <errno.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* What munged makes of a credential, for the one who sent it. What is not here is no credential of this site.
 */
static const struct {
	munge_err_t code;
	int err;
	const char *text;
} refusals[] = {
	{EMUNGE_CRED_REPLAYED, EKEYREJECTED,
		"the MUNGE credential was used before: every request needs one of its own"},
	{EMUNGE_CRED_EXPIRED, EKEYREJECTED,
		"the MUNGE credential has expired: are the clocks of both hosts right?"},
	{EMUNGE_CRED_REWOUND, EKEYREJECTED,
		"the MUNGE credential is of the future: are the clocks of both hosts right?"},
	{EMUNGE_CRED_INVALID, EKEYREJECTED,
		"the MUNGE credential was made with another key: all hosts of a site have the same "
		"munge.key"},
	{EMUNGE_CRED_UNAUTHORIZED, EKEYREJECTED,
		"the MUNGE credential is not for budgetd to read: it was restricted to another user"},
	{EMUNGE_SOCKET, EAGAIN,
		"budgetd cannot tell who asks: munged of its host does not answer; try again, or tell an "
		"administrator"},
	{EMUNGE_TIMEOUT, EAGAIN,
		"budgetd cannot tell who asks: munged of its host does not answer in time; try again"},
	{EMUNGE_NO_MEMORY, ENOMEM, "out of memory"},
};

static int refuse(munge_err_t code, struct fault *why)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (refusals[i].code == code)
			return fault_errno(why, refusals[i].err, "%s", refusals[i].text);
	return fault_errno(why, EKEYREJECTED, "what follows MUNGE in Authorization is no credential: %s",
		munge_strerror(code));
}

/* munged keeps a credential out for good only after its own time to live, which is the sender's wish; ours
 * may be shorter. */
static int check_age(munge_ctx_t ctx, int64_t age_max_s, struct fault *why)
{
	char age_text[DURATION_TEXT_MAX], max_text[DURATION_TEXT_MAX];
	time_t made = 0, read = 0;
	int64_t age;

	munge_ctx_get(ctx, MUNGE_OPT_ENCODE_TIME, &made);
	munge_ctx_get(ctx, MUNGE_OPT_DECODE_TIME, &read);
	age = (int64_t)read - made;
	if (age > age_max_s)
		return fault_errno(why, EKEYREJECTED,
			"the MUNGE credential is %s old, at most %s (credential_age) are taken: are the "
			"clocks of both "
			"hosts right?",
			duration_text(age, age_text), duration_text(age_max_s, max_text));
	if (age < -age_max_s)
		return fault_errno(why, EKEYREJECTED,
			"the MUNGE credential is of the future, %s from now: are the clocks of both hosts "
			"right?",
			duration_text(-age, age_text));
	return 0;
}

static int decode(
	munge_ctx_t ctx, const char *credential, int64_t age_max_s, struct caller *out, struct fault *why)
{
	struct caller c = {0};
	void *payload = NULL;
	int bytes = 0, rv;
	gid_t gid;
	munge_err_t rc = munge_decode(credential, ctx, &payload, &bytes, &c.uid, &gid);

	rv = rc == EMUNGE_SUCCESS ? check_age(ctx, age_max_s, why) : refuse(rc, why);
	if (rv == 0) {
		c.payload = payload ? payload : strdup(""); /* of nothing: made for no request */
		c.bytes = payload ? (size_t)bytes : 0;
		rv = c.payload ? 0 : fault_errno(why, ENOMEM, "out of memory");
		payload = NULL;
	}
	if (rv == 0)
		*out = c;
	free(payload);
	return rv;
}

int caller_read(const char *authorization, const char *munge_socket, int64_t age_max_s, struct caller *out,
	struct fault *why)
{
	static const char scheme[] = CREDENTIAL_SCHEME " ";
	munge_ctx_t ctx;
	int rv;

	if (!authorization)
		return fault_errno(why, EKEYREJECTED,
			"say who you are: Authorization: MUNGE and a credential for this request "
			"(doc/api.md); budgetctl "
			"--server does");
	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return fault_errno(why, EKEYREJECTED,
			"Authorization is of another kind: only MUNGE credentials are taken");
	ctx = munge_ctx_create();
	if (!ctx || (*munge_socket && munge_ctx_set(ctx, MUNGE_OPT_SOCKET, munge_socket) != EMUNGE_SUCCESS))
		rv = fault_errno(why, ENOMEM, "out of memory");
	else
		rv = decode(ctx, authorization + sizeof(scheme) - 1, age_max_s, out, why);
	if (ctx)
		munge_ctx_destroy(ctx);
	return rv;
}

int caller_check(const struct caller *c, const char *method, const char *path, const char *body, size_t bytes,
	struct fault *why)
{
	char *wanted = credential_payload(method, path, body, bytes);
	bool same = wanted && c->bytes == strlen(wanted) && memcmp(c->payload, wanted, c->bytes) == 0;
	bool memory = wanted;

	free(wanted);
	if (!memory)
		return fault_errno(why, ENOMEM, "out of memory");
	return same ? 0
		    : fault_errno(why, EKEYREJECTED,
			      "the MUNGE credential is for another request than %s %.200s with this body",
			      method, path);
}

void caller_free(struct caller *c)
{
	free(c->payload);
	*c = (struct caller){0};
}
