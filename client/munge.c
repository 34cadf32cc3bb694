/* SPDX-License-Identifier: GPL-2.0-or-later
 * munge.c - a MUNGE credential for one request. */
#include "client/munge.h"
#include "lib/credential.h"
#include <errno.h>
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *encode(munge_ctx_t ctx, const char *payload, struct fault *why)
{
	char *credential = NULL, *header = NULL;
	munge_err_t rc = munge_encode(&credential, ctx, payload, (int)strlen(payload));

	if (rc != EMUNGE_SUCCESS)
		fault_errno(why, ENOTCONN,
			"munged of this host gives no credential, and budgetd wants one of who asks over the "
			"network: %s. Is "
			"munged running?",
			munge_ctx_strerror(ctx) ? munge_ctx_strerror(ctx) : munge_strerror(rc));
	else if (asprintf(&header, CREDENTIAL_SCHEME " %s", credential) < 0)
		header = NULL, fault_errno(why, ENOMEM, "out of memory");
	free(credential);
	return header;
}

char *munge_authorization(const char *munge_socket, const char *method, const char *path, const void *body,
	size_t bytes, struct fault *why)
{
	char *payload = credential_payload(method, path, body, bytes), *header = NULL;
	munge_ctx_t ctx = munge_ctx_create();

	if (!payload || !ctx ||
		(*munge_socket && munge_ctx_set(ctx, MUNGE_OPT_SOCKET, munge_socket) != EMUNGE_SUCCESS))
		fault_errno(why, ENOMEM, "out of memory");
	else
		header = encode(ctx, payload, why);
	free(payload);
	if (ctx)
		munge_ctx_destroy(ctx);
	return header;
}
