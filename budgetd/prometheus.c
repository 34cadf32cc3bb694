/* SPDX-License-Identifier: GPL-2.0-or-later
 * prometheus.c - the HTTP API of Prometheus over libcurl. */
#include "budgetd/prometheus.h"
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (32u * 1024 * 1024)
#define ANSWER_DEPTH_MAX 16
#define FORM_BYTES_MAX   16384	/* a query of 4 KiB, each byte as %XX, and the times */

struct prometheus {
	CURL *curl;
	const atomic_bool *stop;
	char *data;			/* of the answer */
	size_t used, size;
	int err;			/* why we ended the transfer, or 0 */
};

static size_t answer_more(char *data, size_t one, size_t n, void *to)
{
	struct prometheus *p = to;
	size_t bytes = one * n, size = p->size ? p->size : 65536;
	char *grown;

	if (bytes >= ANSWER_BYTES_MAX - p->used) {
		p->err = EMSGSIZE;
		return 0;		/* a short count ends the transfer */
	}
	while (size <= p->used + bytes)	/* and a byte for the end */
		size *= 2;
	if (size != p->size) {
		grown = realloc(p->data, size);
		if (!grown) {
			p->err = ENOMEM;
			return 0;
		}
		p->data = grown;
		p->size = size;
	}
	memcpy(p->data + p->used, data, bytes);
	p->used += bytes;
	return bytes;
}

/* Called by libcurl about once a second, and oftener while data come. */
static int is_stopped(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct prometheus *p = arg;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(p->stop);
}

struct prometheus *prometheus_new(const atomic_bool *stop)
{
	struct prometheus *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->stop = stop;
	p->curl = curl_easy_init();
	if (!p->curl) {
		free(p);
		errno = ENOMEM;
		return NULL;
	}
	return p;
}

void prometheus_free(struct prometheus *p)
{
	if (!p)
		return;
	curl_easy_cleanup(p->curl);
	free(p->data);
	free(p);
}

/* The query is in the body: it may be longer than what a URL may be. */
static int form_write(struct prometheus *p, const struct prometheus_range *r, char form[FORM_BYTES_MAX])
{
	char *query = curl_easy_escape(p->curl, r->query, 0);
	int n = query ? snprintf(form, FORM_BYTES_MAX,
		"query=%s&start=%" PRId64 "&end=%" PRId64 "&step=%" PRId64, query, r->from, r->to,
				r->step_s) : -1;

	curl_free(query);
	return n > 0 && n < FORM_BYTES_MAX ? 0 : -1;
}

static CURLcode request_set(struct prometheus *p, const struct prometheus_range *r, const char *url,
	const char *form)
{
	CURL *curl = p->curl;
	CURLcode rc = CURLE_OK;

	curl_easy_reset(curl);		/* keeps the connection */
#define SET(option, value) do { if (rc == CURLE_OK) rc = curl_easy_setopt(curl, option, value); } while (0)
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_URL, url);
	SET(CURLOPT_POSTFIELDS, form);
	SET(CURLOPT_TIMEOUT_MS, (long)r->deadline_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)r->deadline_ms);
	SET(CURLOPT_PROXY, "");		/* empty, not unset: unset means $http_proxy */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_WRITEFUNCTION, answer_more);
	SET(CURLOPT_WRITEDATA, p);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, is_stopped);
	SET(CURLOPT_XFERINFODATA, p);
	if (*r->ca)
		SET(CURLOPT_CAINFO, r->ca);
#undef SET
	return rc;
}

static int transfer_fault(const struct prometheus *p, const struct prometheus_range *r, CURLcode rc,
	struct fault *why)
{
	switch (rc) {
	case CURLE_OPERATION_TIMEDOUT:
		return fault_errno(why, ETIMEDOUT, "%s did not answer within %" PRId64 " ms", r->url,
			r->deadline_ms);
	case CURLE_COULDNT_CONNECT:
		return fault_errno(why, ECONNREFUSED, "nobody listens at %s", r->url);
	case CURLE_ABORTED_BY_CALLBACK:
		return fault_errno(why, ECANCELED, "%s was being asked when budgetd was told to stop",
			r->url);
	case CURLE_WRITE_ERROR:
		if (p->err == EMSGSIZE)
			return fault_errno(why, EMSGSIZE,
				"the answer of %s is over %u MiB: set a longer prometheus_step", r->url,
				ANSWER_BYTES_MAX >> 20);
		return fault_errno(why, p->err ? p->err : EPROTO, "%s: %s", r->url,
			strerror(p->err ? p->err : EPROTO));
	default:
		return fault_errno(why, EPROTO, "%s: %s", r->url, curl_easy_strerror(rc));
	}
}

/* The whole answer as JSON, or NULL. */
static struct json_object *answer_parse(const struct prometheus *p)
{
	struct json_tokener *tok = p->used ? json_tokener_new_ex(ANSWER_DEPTH_MAX) : NULL;
	struct json_object *o = tok ? json_tokener_parse_ex(tok, p->data, (int)p->used) : NULL;

	if (tok && json_tokener_get_error(tok) != json_tokener_success) {
		json_object_put(o);
		o = NULL;
	}
	if (tok)
		json_tokener_free(tok);
	return o;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) &&
		json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static int answer_read(struct prometheus *p, const struct prometheus_range *r, struct json_object **series,
	struct fault *why)
{
	struct json_object *answer = answer_parse(p), *data = NULL, *result = NULL;
	const char *status = answer ? text_of(answer, "status") : NULL, *error, *kind;
	long code = 0;
	int rc = -1;

	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &code);
	if (!status || (code != 200 && strcmp(status, "error"))) {
		fault_errno(why, EPROTO, "what answers at %s is no Prometheus: HTTP %ld with %zu bytes",
			r->url, code, p->used);
	} else if (strcmp(status, "success")) {
		error = text_of(answer, "error");
		fault_errno(why, EINVAL, "%s refuses \"%.300s\": %.300s", r->url, r->query,
			error ? error : "it does not say why");
	} else {
		json_object_object_get_ex(answer, "data", &data);
		kind = text_of(data, "resultType");
		if (kind && !strcmp(kind, "matrix") && json_object_object_get_ex(data, "result", &result) &&
			json_object_is_type(result, json_type_array)) {
			*series = json_object_get(result);
			rc = 0;
		} else {
			fault_errno(why, EPROTO, "%s answers \"%.300s\" with %s, not with series", r->url,
				r->query, kind ? kind : "nothing");
		}
	}
	json_object_put(answer);
	return rc;
}

int prometheus_range(struct prometheus *p, const struct prometheus_range *r, struct json_object **series,
	struct fault *why)
{
	size_t n = strlen(r->url);
	char form[FORM_BYTES_MAX], *url = NULL;
	CURLcode rc;

	p->used = 0;
	p->err = 0;
	if (asprintf(&url, "%.*s/api/v1/query_range", (int)(n && r->url[n - 1] == '/' ? n - 1 : n),
		r->url) < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	if (form_write(p, r, form) < 0 || request_set(p, r, url, form) != CURLE_OK) {
		free(url);
		return fault_errno(why, EINVAL, "%s: not a question that libcurl can ask: \"%.300s\"", r->url,
			r->query);
	}
	rc = curl_easy_perform(p->curl);
	free(url);
	if (rc != CURLE_OK)
		return transfer_fault(p, r, rc, why);
	return answer_read(p, r, series, why);
}
