/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_metric.c - the exporters, one row each
 *
 * nvidia: dcgm-exporter; hpc_job is there when it runs with --hpc-job-mapping-dir. amd:
 * device-metrics-exporter, which has job_id where Slurm's prolog tells it. intel: XPU Manager's exporter
 * (1.x), which knows no node but the scraped instance; it reports each tile for itself. Aggregation drops
 * labels that come and go without the GPU being another one. */
#include "lib/gpu_metric.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/number.h"

static const struct gpu_preset presets[EXPORTERS] = {
	[EXPORTER_NVIDIA] =
		{{"max by (Hostname, device, UUID, hpc_job) (max_over_time(DCGM_FI_DEV_GPU_UTIL[STEP]))",
			 "max by (Hostname, device, UUID, hpc_job) "
			 "(max_over_time(DCGM_FI_DEV_FB_USED[STEP]))",
			 ""},
			"node=Hostname index=device id=UUID job=hpc_job"},
	[EXPORTER_AMD] =
		{{"max by (hostname, gpu_id, gpu_uuid, job_id) (max_over_time(gpu_gfx_activity[STEP]))",
			 "max by (hostname, gpu_id, gpu_uuid, job_id) (max_over_time(gpu_used_vram[STEP]))",
			 ""},
			"node=hostname index=gpu_id id=gpu_uuid job=job_id"},
	[EXPORTER_INTEL] =
		{{"max by (instance, dev_file, uuid) (max_over_time(xpum_engine_ratio[STEP]))",
			 "sum by (instance, dev_file, uuid) (max_over_time(xpum_memory_used_bytes[STEP]))",
			 ""},
			"node=instance index=dev_file id=uuid"},
};

const struct gpu_preset *gpu_preset(enum gpu_exporter exporter)
{
	return &presets[exporter];
}

/* --- what a site writes ------------------------------------------------------------------------------ */

static const char *const label_names[LABELS] = {
	[LABEL_NODE] = "node", [LABEL_INDEX] = "index", [LABEL_ID] = "id", [LABEL_JOB] = "job"};

static int label_parse(const char *word, size_t length, struct gpu_labels *to, struct fault *why)
{
	size_t key = strcspn(word, "=");

	for (size_t i = 0; i < LABELS && key < length; i++) {
		size_t n = length - key - 1;

		if (strlen(label_names[i]) != key || strncmp(word, label_names[i], key) != 0)
			continue;
		if (n == 0 || n >= GPU_LABEL_MAX || to->name[i][0])
			break;
		memcpy(to->name[i], word + key + 1, n);
		return 0;
	}
	return fault_errno(why, EINVAL,
		"\"%.*s\" is not one of node=LABEL, index=LABEL, id=LABEL and job=LABEL, each once",
		(int)length, word);
}

int gpu_labels_parse(const char *text, struct gpu_labels *out, struct fault *why)
{
	struct gpu_labels labels = {0};

	for (text += strspn(text, " ,"); *text; text += strspn(text, " ,")) {
		size_t n = strcspn(text, " ,");

		if (label_parse(text, n, &labels, why) < 0)
			return -1;
		text += n;
	}
	if (!labels.name[LABEL_JOB][0] && !(labels.name[LABEL_NODE][0] && labels.name[LABEL_INDEX][0]))
		return fault_errno(why, EINVAL,
			"whose a GPU is can be told by job=LABEL, or by node=LABEL and index=LABEL");
	*out = labels;
	return 0;
}

int gpu_query_text(const char *query, int64_t step_s, char buf[static GPU_QUERY_MAX], struct fault *why)
{
	size_t used = 0;

	while (*query) {
		const char *step = strstr(query, "STEP");
		size_t n = step ? (size_t)(step - query) : strlen(query);
		int more = snprintf(buf + used, GPU_QUERY_MAX - used, "%.*s", (int)n, query);

		used += (size_t)more;
		if (step && used < GPU_QUERY_MAX)
			used += (size_t)snprintf(buf + used, GPU_QUERY_MAX - used, "%" PRId64 "s", step_s);
		if (used >= GPU_QUERY_MAX)
			return fault_errno(
				why, EMSGSIZE, "the query is longer than %d bytes", GPU_QUERY_MAX - 1);
		query += n + (step ? strlen("STEP") : 0);
	}
	return 0;
}

/* --- what an exporter writes ------------------------------------------------------------------------- */

int gpu_label_node(const char *value, char *buf, size_t size)
{
	size_t host = strcspn(value, ":"), n = strcspn(value, ".:");

	if (strspn(value, "0123456789.") >= host)
		n = host;
	if (n == 0 || n >= size)
		return -1;
	memcpy(buf, value, n);
	buf[n] = '\0';
	return 0;
}

#define RENDER_FIRST 128 /* the minor number of the first render node */

int64_t gpu_label_index(const char *value)
{
	size_t n = strlen(value), digits = 0;
	int64_t index;

	while (digits < n && isdigit((unsigned char)value[n - digits - 1]))
		digits++;
	if (number_parse(value + n - digits, INT32_MAX, &index) < 0)
		return -1;
	n -= digits;
	if (n >= 7 && !strncmp(value + n - 7, "renderD", 7))
		return index >= RENDER_FIRST ? index - RENDER_FIRST : -1;
	return index;
}

int64_t gpu_label_job(const char *value)
{
	int64_t job;

	return number_parse(value, UINT32_MAX, &job) == 0 ? job : 0;
}
