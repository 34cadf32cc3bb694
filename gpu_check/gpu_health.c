/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_health.c - files of three drivers (gpu_health.h) */
#include "gpu_check/gpu_health.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "locality/sysfs.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define DEVICE   "sys/bus/pci/devices/%s/"

/* gpu_metrics v1.3 of the kernel's kgd_pp_interface.h: a header of 2 bytes size, 1 format, 1 content; the 64
 * bits of indep_throttle_status at 112. Bits 32 to 45 are temperatures and hot regulators, 46 and 47 PROCHOT.
 */
enum { METRICS_MAX = 512, METRICS_V1_3 = 120, THROTTLE_AT = 112 };
#define HEAT_BITS    0x00003fff00000000u
#define PROCHOT_BITS 0x0000c00000000000u

enum throttle amd_throttle(const unsigned char *metrics, int size)
{
	enum throttle t = 0;
	uint64_t bits = 0;

	if (size < METRICS_V1_3 || metrics[2] != 1 || metrics[3] != 3)
		return 0;
	for (int i = 7; i >= 0; i--)
		bits = bits << 8 | metrics[THROTTLE_AT + i];
	if (bits == UINT64_MAX) /* the firmware does not tell */
		return 0;
	if (bits & HEAT_BITS)
		t |= THROTTLE_HEAT;
	if (bits & PROCHOT_BITS)
		t |= THROTTLE_BRAKE;
	return t;
}

/* "ue: 0" of the blocks that have memory. */
static void amd_memory(int root, const char *device, struct node_health *h)
{
	static const char *const blocks[] = {"umc", "gfx", "sdma", "mmhub", "xgmi_wafl"};
	char text[256], value[32];
	int64_t n;

	for (size_t b = 0; b < COUNT(blocks); b++) {
		if (sysfs_read(root, text, sizeof(text), DEVICE "ras/%s_err_count", device, blocks[b]) <= 0 ||
			sysfs_field(text, "ue", ':', value, sizeof(value)) < 0 ||
			sscanf(value, "%" SCNd64, &n) != 1)
			continue;
		h->uncorrected += n;
		h->memory_told = true;
	}
}

enum { CARDS_MAX = 256 };

/* i915's folder below the device has the number of the card. 0 and *out; or -1. */
static int card_number(int root, int64_t *out, const char *device, const char *file)
{
	for (int card = 0; card < CARDS_MAX; card++)
		if (sysfs_number(root, out, DEVICE "drm/card%d/%s", device, card, file) == 0)
			return 0;
	return -1;
}

/* The first is xe's, the second i915's; a GPU with several tiles is judged by its first. */
static enum throttle intel_throttle(int root, const char *device)
{
	char file[64];
	static const struct {
		const char *name;
		enum throttle throttle;
	} reasons[] = {
		{"thermal", THROTTLE_HEAT}, {"vr_thermalert", THROTTLE_HEAT}, {"prochot", THROTTLE_BRAKE}};
	enum throttle t = 0;

	for (size_t i = 0; i < COUNT(reasons); i++) {
		int64_t on = 0;

		snprintf(file, sizeof(file), "gt/gt0/throttle_reason_%s", reasons[i].name);
		if (sysfs_number(root, &on, DEVICE "tile0/gt0/freq0/throttle/reason_%s", device,
			    reasons[i].name) < 0)
			card_number(root, &on, device, file);
		if (on)
			t |= reasons[i].throttle;
	}
	return t;
}

void gpu_health_look(int root, struct node_state *s)
{
	char device[PCI_TEXT_MAX], metrics[METRICS_MAX];

	for (int i = 0; i < s->gpus; i++) {
		struct node_health *h = &s->gpu[i].health;
		int size;

		pci_text(&s->gpu[i].at, device);
		if (s->gpu[i].vendor == PCI_AMD) {
			h->uncorrected = 0;
			amd_memory(root, device, h);
			size = sysfs_read(root, metrics, sizeof(metrics), DEVICE "gpu_metrics", device);
			h->slowed = amd_throttle((const unsigned char *)metrics, size);
		} else if (s->gpu[i].vendor == PCI_INTEL) {
			h->slowed = intel_throttle(root, device);
		}
	}
}

static void intel_clock(int root, const char *device, struct node_health *h)
{
	int64_t may, could;

	if ((sysfs_number(root, &may, DEVICE "tile0/gt0/freq0/max_freq", device) < 0 ||
		    sysfs_number(root, &could, DEVICE "tile0/gt0/freq0/rp0_freq", device) < 0) &&
		(card_number(root, &may, device, "gt_max_freq_mhz") < 0 ||
			card_number(root, &could, device, "gt_RP0_freq_mhz") < 0))
		return;
	h->clock_mhz = (int)may;
	h->clock_possible_mhz = (int)could;
}

static void clocks_read(int root, struct node_state *s)
{
	char device[PCI_TEXT_MAX];

	for (int i = 0; i < s->gpus; i++) {
		struct node_health *h = &s->gpu[i].health;

		pci_text(&s->gpu[i].at, device);
		if (s->gpu[i].vendor == PCI_AMD)
			sysfs_read(root, h->clock_level, sizeof(h->clock_level),
				DEVICE "power_dpm_force_performance_level", device);
		else if (s->gpu[i].vendor == PCI_INTEL)
			intel_clock(root, device, h);
	}
}

void gpu_health_read(int root, struct node_state *s)
{
	enum throttle held[NODE_GPUS_MAX];

	memset(held, 0xff, sizeof(held));
	for (int look = 0; look < THROTTLE_LOOKS; look++) {
		bool any = false;

		gpu_health_look(root, s);
		for (int i = 0; i < s->gpus; i++) {
			held[i] &= s->gpu[i].health.slowed;
			any = any || held[i];
		}
		if (!any)
			break;
		nanosleep(&(struct timespec){.tv_nsec = THROTTLE_WAIT_MS * 1000000L}, NULL);
	}
	for (int i = 0; i < s->gpus; i++)
		s->gpu[i].health.slowed = held[i];
	clocks_read(root, s);
}

static void judge_health(const struct node_views *v, const struct node_card *g, struct findings *out)
{
	const struct node_card *before = state_gpu(mark_counts(v) ? v->mark : v->baseline, &g->at);
	int64_t had = before && before->health.memory_told ? before->health.uncorrected : 0,
		now = g->health.uncorrected;
	char at[PCI_TEXT_MAX];

	pci_text(&g->at, at);
	if (g->health.memory_told && now != 0 && now != had)
		findings_add(out, EVIDENCE_GPU_MEMORY, POLICY_DRAIN, at,
			"%" PRId64 " uncorrected errors of its memory%s", now > had ? now - had : now,
			had && now > had ? " since the mark" : "");
	if (g->health.slowed)
		findings_add(out, EVIDENCE_THROTTLE, POLICY_DRAIN, at,
			"slowed down by%s%s%s, in each of %d looks",
			g->health.slowed & THROTTLE_HEAT ? " heat" : "",
			g->health.slowed & THROTTLE_BRAKE ? " the power brake" : "",
			g->health.slowed & THROTTLE_BOARD ? " the board" : "", THROTTLE_LOOKS);
}

static void judge_clock(const struct node_card *g, struct findings *out)
{
	static const char *const low[] = {"low", "profile_min_sclk", "profile_min_mclk"};
	const struct node_health *h = &g->health;
	char at[PCI_TEXT_MAX];

	pci_text(&g->at, at);
	if (h->clock_mhz > 0 && h->clock_mhz < h->clock_possible_mhz)
		findings_add(out, EVIDENCE_CLOCK, POLICY_DRAIN, at,
			"it may run at %d MHz at most, %d MHz are possible", h->clock_mhz,
			h->clock_possible_mhz);
	for (size_t i = 0; i < COUNT(low); i++)
		if (!strcmp(h->clock_level, low[i]))
			findings_add(
				out, EVIDENCE_CLOCK, POLICY_DRAIN, at, "its performance level is %s", low[i]);
}

void rule_health(const struct node_views *v, struct findings *out)
{
	for (int i = 0; i < v->now->gpus; i++) {
		judge_health(v, &v->now->gpu[i], out);
		judge_clock(&v->now->gpu[i], out);
	}
}
