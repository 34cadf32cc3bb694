/* SPDX-License-Identifier: GPL-2.0-or-later
 * ask.c - the fields of a typical sbatch, and the one word of the answer that matters here. */
#include "tests/bench/ask.h"
#include <errno.h>
#include <string.h>

struct json_object *ask_question(const char *account)
{
	static const struct {
		const char *key, *text;
	} texts[] = {
		{ "kind", "submit" }, { "partition", "batch" }, { "tres_per_job", "gres:gpu:1" },
		{ "name", "train-resnet50" }, { "min_runtime", "1h" },
	};
	static const struct {
		const char *key;
		int64_t n;
	} numbers[] = {
		{ "uid", 1001 }, { "submit_uid", 1001 }, { "num_tasks", 1 }, { "min_nodes", 1 }, { "time_limit_min", 480 },
	};
	struct json_object *q = json_object_new_object();
	int bad = !q || json_object_object_add(q, "account", json_object_new_string(account)) < 0;

	for (size_t i = 0; !bad && i < sizeof(texts) / sizeof(texts[0]); i++)
		bad = json_object_object_add(q, texts[i].key, json_object_new_string(texts[i].text)) < 0;
	for (size_t i = 0; !bad && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		bad = json_object_object_add(q, numbers[i].key, json_object_new_int64(numbers[i].n)) < 0;
	if (bad) {
		json_object_put(q);
		return NULL;
	}
	return q;
}

int ask(struct client *c, struct json_object *question, struct fault *why)
{
	struct json_object *reply, *tier;
	int status, funded;

	if (client_call(c, "POST", "/v1/verdicts", question, &status, &reply, why) < 0)
		return -1;
	if (status != 200) {
		fault_errno(why, EPROTO, "HTTP %d: %s", status, client_error(status, reply));
		json_object_put(reply);
		return -1;
	}
	funded = json_object_object_get_ex(reply, "tier", &tier) &&
		strcmp(json_object_get_string(tier), "funded") == 0;
	json_object_put(reply);
	return funded;
}
