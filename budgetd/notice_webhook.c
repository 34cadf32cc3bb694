/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_webhook.c - a notice as JSON to a URL, over libcurl (notice_tell.h). */
#include "budgetd/notice_tell.h"
#include "budgetd/secret_file.h"
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notice_webhook {
	CURL *curl;
};

struct notice_webhook *notice_webhook_new(void)
{
	struct notice_webhook *w = calloc(1, sizeof(*w));

	if (w && (w->curl = curl_easy_init()))
		return w;
	free(w);
	errno = ENOMEM;
	return NULL;
}

void notice_webhook_free(struct notice_webhook *w)
{
	if (!w)
		return;
	curl_easy_cleanup(w->curl);
	free(w);
}

int notice_url_read(const char *path, char **url, char place[static NOTICE_PLACE_MAX], struct fault *why)
{
	static const struct secret_file file = { "notice_url_file", "a webhook's URL has its secret in it" };
	struct fault detail = { "" };
	char *text;

	if (secret_file_read(&file, path, &text, why) < 0)
		return -1;
	if (notice_url_place(text, place, &detail) == 0) {
		*url = text;
		return 0;
	}
	free(text);
	return fault_errno(why, EINVAL, "notice_url_file: the first line of %s is no URL: %s", path, detail.text);
}

/* --- what is posted ---------------------------------------------------------------------------------- */

static bool add(struct json_object *o, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(o, key, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

static struct json_object *names_of(const char *list)
{
	struct json_object *names = json_object_new_array();

	for (size_t n; names && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n)
			json_object_array_add(names, json_object_new_string_len(list, (int)n));
	}
	return names;
}

/* null where there is none */
static bool add_name(struct json_object *o, const char *key, const char *name)
{
	return *name ? add(o, key, json_object_new_string(name)) : json_object_object_add(o, key, NULL) == 0;
}

char *notice_json(const struct notice *n)
{
	struct json_object *o = json_object_new_object();
	char *text = NULL;
	bool whole = o && add(o, "id", json_object_new_string(n->key)) && add(o, "at", json_object_new_int64(n->at)) &&
		add(o, "kind", json_object_new_string(notice_kinds[n->kind].name)) &&
		add(o, "severity", json_object_new_string(notice_severity_name(n->severity))) &&
		add_name(o, "project", n->project) && add_name(o, "job", n->job) && add(o, "to", names_of(n->to)) &&
		add(o, "subject", json_object_new_string(n->subject)) && add(o, "text", json_object_new_string(n->text));
	const char *printed = whole ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE) : NULL;

	if (printed)
		text = strdup(printed);
	json_object_put(o);
	if (!text)
		errno = ENOMEM;
	return text;
}

/* --- posting it -------------------------------------------------------------------------------------- */

/* Nobody reads what is answered, and it may be long. */
static size_t drop(char *data, size_t one, size_t n, void *arg)
{
	(void)data, (void)arg;
	return one * n;
}

/* Called by libcurl about once a second. */
static int is_stopped(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct notice_patience *p = arg;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(p->stop);
}

static CURLcode request_set(CURL *curl, const char *url, const char *ca, const char *json,
	struct curl_slist *headers, const struct notice_patience *p)
{
	CURLcode rc = CURLE_OK;

	curl_easy_reset(curl);
#define SET(option, value) do { if (rc == CURLE_OK) rc = curl_easy_setopt(curl, option, value); } while (0)
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_URL, url);
	SET(CURLOPT_POSTFIELDS, json);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_TIMEOUT_MS, (long)p->deadline_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)p->deadline_ms);
	SET(CURLOPT_PROXY, "");		/* empty, not unset: unset means $http_proxy */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_WRITEFUNCTION, drop);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, is_stopped);
	SET(CURLOPT_XFERINFODATA, (void *)(uintptr_t)p);
	if (*ca)
		SET(CURLOPT_CAINFO, ca);
#undef SET
	return rc;
}

static int judge(CURL *curl, CURLcode rc, const char *place, const struct notice_patience *p, struct fault *why)
{
	long code = 0;

	switch (rc) {
	case CURLE_OK:
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
		return code / 100 == 2 ? 0 : fault_errno(why, EPROTO, "%s answered HTTP %ld", place, code);
	case CURLE_OPERATION_TIMEDOUT:
		return fault_errno(why, ETIMEDOUT, "%s did not answer within %" PRId64 " ms", place,
			p->deadline_ms);
	case CURLE_COULDNT_CONNECT:
		return fault_errno(why, ECONNREFUSED, "nobody listens at %s", place);
	case CURLE_ABORTED_BY_CALLBACK:
		return fault_errno(why, ECANCELED, "budgetd was told to stop");
	default:
		return fault_errno(why, EPROTO, "%s: %s", place, curl_easy_strerror(rc));
	}
}

static struct curl_slist *headers_make(const struct notice *n)
{
	char key[NOTICE_KEY_MAX + 32];
	struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json"), *longer;

	snprintf(key, sizeof(key), "Idempotency-Key: %s", n->key);
	longer = list ? curl_slist_append(list, key) : NULL;
	if (!longer)
		curl_slist_free_all(list);
	return longer;
}

int notice_webhook_post(struct notice_webhook *w, const char *url_file, const char *ca, const struct notice *n,
	const struct notice_patience *p, struct fault *why)
{
	char place[NOTICE_PLACE_MAX], *url, *json;
	struct curl_slist *headers;
	CURLcode rc;

	if (notice_url_read(url_file, &url, place, why) < 0)
		return -1;
	json = notice_json(n);
	headers = headers_make(n);
	rc = json && headers ? request_set(w->curl, url, ca, json, headers, p) : CURLE_OUT_OF_MEMORY;
	if (rc == CURLE_OK)
		rc = curl_easy_perform(w->curl);
	curl_slist_free_all(headers);
	free(json);
	free(url);
	return judge(w->curl, rc, place, p, why);
}
