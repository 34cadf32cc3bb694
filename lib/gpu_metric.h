/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_metric.h - how exporters of GPU metrics name things, and what Prometheus is asked for
 *
 * A query is PromQL in which STEP stands for the time from one sample to the next: "max_over_time(x[STEP])"
 * is the largest value since the sample before, so that no sample of the exporter is overlooked. Labels are
 * said as "node=Hostname index=device id=UUID job=hpc_job".
 *
 * Threads  pure functions: any thread */
#ifndef LIB_GPU_METRIC_H
#define LIB_GPU_METRIC_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"

enum gpu_exporter { EXPORTER_NVIDIA, EXPORTER_AMD, EXPORTER_INTEL, EXPORTERS };

/* What is asked for. Only the first is needed. */
enum gpu_query { QUERY_UTILIZATION, QUERY_MEMORY, QUERY_PROCESSES, QUERIES };

/* Which label of a series has what. Only a job, or a node and an index, tell whose a GPU is. */
enum gpu_label { LABEL_NODE, LABEL_INDEX, LABEL_ID, LABEL_JOB, LABELS };

struct gpu_preset {
	const char *query[QUERIES]; /* "" = nothing is asked */
	const char *labels;
};
const struct gpu_preset *gpu_preset(enum gpu_exporter exporter);

#define GPU_LABEL_MAX 64
struct gpu_labels {
	char name[LABELS][GPU_LABEL_MAX]; /* "" = there is none */
};
/* 0; or -1, EINVAL and a text. */
int gpu_labels_parse(const char *text, struct gpu_labels *out, struct fault *why);

/* The query with STEP replaced. 0; or -1 and EMSGSIZE. */
#define GPU_QUERY_MAX 4096
int gpu_query_text(const char *query, int64_t step_s, char buf[static GPU_QUERY_MAX], struct fault *why);

/* "g1.example.org", "g1:9400" -> "g1"; "10.0.0.7:9400" -> "10.0.0.7". 0; or -1 when it is too long or
 * empty. */
int gpu_label_node(const char *value, char *buf, size_t size);

/* The number of a device in the order of gres.conf: "3", "nvidia3", "/dev/nvidia3", "card3", "renderD131" ->
 * 3.
 * -1: there is none. */
int64_t gpu_label_index(const char *value);

/* The id of a job: "17"; 0: none ("", "0", no number). */
int64_t gpu_label_job(const char *value);

#endif
