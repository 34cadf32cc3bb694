/* SPDX-License-Identifier: GPL-2.0-or-later
 * nvml.c - NVIDIA's management library in a child process (nvml.h)
 *
 * What the child finds goes through shared memory; it says what it is about to call before it calls, so that
 * a hang and a crash have a name. Types and numbers are NVML's documented ABI; nothing of NVIDIA's is needed
 * to build. */
#include "gpu_check/nvml.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include "gpu_check/apart.h"
#include "gpu_check/library.h"

enum { SUCCESS = 0, NOT_SUPPORTED = 3, FUNCTION_NOT_FOUND = 13, GPU_IS_LOST = 15, RESET_REQUIRED = 16 };
enum { UNCORRECTED = 1, VOLATILE = 0, GRAPHICS = 0 };
enum { REASON_BOARD = 0x8, REASON_HEAT_SW = 0x20, REASON_HEAT_HW = 0x40, REASON_BRAKE = 0x80 };
enum { BUSY_PERCENT = 20, LOOKS = 4, LOOK_MS = 60 };

/* What the child does, by a number: a pointer would be the child's, whose memory a library may have broken.
 */
enum call { CALL_NONE, CALL_LOAD, CALL_INIT, CALL_HANDLE, CALL_ECC, CALL_ROWS, CALL_REASONS, CALL_USE,
	CALL_CLOCK, CALL_PRESET, CALLS };

static const char *const call_name[CALLS] = {
	[CALL_NONE] = "starting",
	[CALL_LOAD] = "loading the library",
	[CALL_INIT] = "nvmlInit",
	[CALL_HANDLE] = "nvmlDeviceGetHandleByPciBusId",
	[CALL_ECC] = "nvmlDeviceGetTotalEccErrors",
	[CALL_ROWS] = "nvmlDeviceGetRemappedRows",
	[CALL_REASONS] = "nvmlDeviceGetCurrentClocksEventReasons",
	[CALL_USE] = "nvmlDeviceGetUtilizationRates",
	[CALL_CLOCK] = "nvmlDeviceGetApplicationsClock",
	[CALL_PRESET] = "nvmlDeviceGetDefaultApplicationsClock",
};

/* One GPU's answers. `call` is the first that failed. */
struct answer {
	bool memory_told, rows_bad, rows_pending, works;
	int64_t uncorrected;
	unsigned may_mhz, preset_mhz; /* application clocks; 0: not told */
	unsigned long long held; /* reasons that held in each look */
	enum call call;
	int code;
};

struct shared {
	enum call now;  /* the one that is under way */
	enum call call; /* that failed for all GPUs */
	int code;
	bool no_library, no_symbol, done;
	char text[256]; /* why it cannot be loaded; the symbol that is missing */
	struct answer gpu[NODE_GPUS_MAX];
};

struct utilization {
	unsigned gpu, memory;
};

struct nvml {
	int (*init)(void);
	int (*handle)(const char *bus_id, void **device);
	int (*ecc)(void *device, int type, int counter, unsigned long long *count);
	int (*rows)(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
		unsigned *failed);
	int (*reasons)(void *device, unsigned long long *reasons);
	int (*use)(void *device, struct utilization *out);
	int (*clock)(void *device, int type, unsigned *mhz), (*preset)(void *device, int type, unsigned *mhz);
};

static const struct symbol_row symbols[] = {
	{"nvmlInit_v2", "nvmlInit", offsetof(struct nvml, init), false},
	{"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId", offsetof(struct nvml, handle),
		false},
	{"nvmlDeviceGetTotalEccErrors", NULL, offsetof(struct nvml, ecc), true},
	{"nvmlDeviceGetRemappedRows", NULL, offsetof(struct nvml, rows), true},
	{"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
		offsetof(struct nvml, reasons), true},
	{"nvmlDeviceGetUtilizationRates", NULL, offsetof(struct nvml, use), true},
	{"nvmlDeviceGetApplicationsClock", NULL, offsetof(struct nvml, clock), true},
	{"nvmlDeviceGetDefaultApplicationsClock", NULL, offsetof(struct nvml, preset), true},
};

struct question {
	const char *library;
	const struct node_state *node;
};

/* --- in the child ------------------------------------------------------------------------------------- */

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Did the call give an answer? What the GPU or the driver does not have is no error. */
static bool answered(struct answer *a, enum call call, int code)
{
	if (code == SUCCESS)
		return true;
	if (code != NOT_SUPPORTED && code != FUNCTION_NOT_FOUND && !a->call) {
		a->call = call;
		a->code = code;
	}
	return false;
}

static void ask_memory(const struct nvml *n, void *device, struct shared *sh, struct answer *a)
{
	unsigned corrected, uncorrected, pending = 0, failed = 0;
	unsigned long long count = 0;

	sh->now = CALL_ECC;
	if (n->ecc && answered(a, sh->now, n->ecc(device, UNCORRECTED, VOLATILE, &count))) {
		a->memory_told = true;
		a->uncorrected = (int64_t)count;
	}
	sh->now = CALL_ROWS;
	if (n->rows && answered(a, sh->now, n->rows(device, &corrected, &uncorrected, &pending, &failed))) {
		a->rows_pending = pending != 0;
		a->rows_bad = failed != 0;
	}
}

static void ask_pace(const struct nvml *n, void *device, struct shared *sh, struct answer *a)
{
	struct utilization use = {0, 0};

	sh->now = CALL_REASONS;
	a->held = n->reasons ? ~0ull : 0;
	for (int look = 0; look < LOOKS && a->held; look++) {
		unsigned long long reasons = 0;

		if (look)
			pause_ms(LOOK_MS);
		if (!answered(a, sh->now, n->reasons(device, &reasons)))
			reasons = 0;
		a->held &= reasons & (REASON_BOARD | REASON_HEAT_SW | REASON_HEAT_HW | REASON_BRAKE);
	}
	sh->now = CALL_USE;
	if (n->use && answered(a, sh->now, n->use(device, &use)))
		a->works = use.gpu >= BUSY_PERCENT;
}

/* An error here is no evidence: newer drivers call these functions deprecated. */
static void ask_clock(const struct nvml *n, void *device, struct shared *sh, struct answer *a)
{
	unsigned may = 0, preset = 0;

	sh->now = CALL_CLOCK;
	if (!n->clock || !n->preset || n->clock(device, GRAPHICS, &may) != SUCCESS)
		return;
	sh->now = CALL_PRESET;
	if (n->preset(device, GRAPHICS, &preset) != SUCCESS)
		return;
	a->may_mhz = may;
	a->preset_mhz = preset;
}

static bool load(const char *library, struct nvml *n, struct shared *sh)
{
	const char *const names[] = {library, NULL};
	const char *missing = NULL;
	struct library l = {NULL, ""};
	enum cause cause;

	sh->now = CALL_LOAD;
	sh->no_library = library_open(&l, names, &cause, sh->text, sizeof(sh->text)) < 0;
	if (sh->no_library)
		return false;
	sh->no_symbol = library_symbols(&l, symbols, sizeof(symbols) / sizeof(symbols[0]), n, &missing) < 0;
	if (sh->no_symbol)
		snprintf(sh->text, sizeof(sh->text), "%s", missing);
	return !sh->no_symbol;
}

static void ask_gpus(const struct nvml *n, const struct node_state *s, struct shared *sh)
{
	void *device;

	for (int i = 0; i < s->gpus; i++) {
		char at[PCI_TEXT_MAX];

		sh->now = CALL_HANDLE;
		if (s->gpu[i].vendor != PCI_NVIDIA ||
			!answered(&sh->gpu[i], sh->now, n->handle(pci_text(&s->gpu[i].at, at), &device)))
			continue;
		ask_memory(n, device, sh, &sh->gpu[i]);
		ask_pace(n, device, sh, &sh->gpu[i]);
		ask_clock(n, device, sh, &sh->gpu[i]);
	}
}

static void ask(void *shared, const void *question)
{
	const struct question *q = question;
	struct shared *sh = shared;
	struct nvml n = {0};

	if (load(q->library, &n, sh)) {
		sh->now = CALL_INIT;
		sh->code = n.init();
		if (sh->code == SUCCESS)
			ask_gpus(&n, q->node, sh);
		else
			sh->call = sh->now;
	}
	sh->done = true;
}

/* --- in the parent ------------------------------------------------------------------------------------ */

static const char *name_of(enum call call)
{
	return call_name[call > CALL_NONE && call < CALLS ? call : CALL_NONE];
}

static void take(const struct answer *a, struct node_state *s, int i, struct findings *out)
{
	struct node_card *g = &s->gpu[i];
	char at[PCI_TEXT_MAX];

	pci_text(&g->at, at);
	if (a->call)
		findings_add(out,
			a->code == GPU_IS_LOST      ? EVIDENCE_GPU_LOST
			: a->code == RESET_REQUIRED ? EVIDENCE_GPU_RESET
						    : EVIDENCE_UNREAD,
			POLICY_DRAIN, at, "%s: NVML error %d", name_of(a->call), a->code);
	if (a->rows_bad)
		findings_add(out, EVIDENCE_GPU_MEMORY, POLICY_DRAIN, at, "NVML: a row could not be remapped");
	if (a->rows_pending)
		findings_add(out, EVIDENCE_GPU_RESET, POLICY_DRAIN, at,
			"NVML: a row is remapped at the next reset");
	g->health.memory_told = a->memory_told;
	g->health.uncorrected = a->uncorrected;
	g->health.clock_mhz = (int)a->may_mhz;
	g->health.clock_possible_mhz = (int)a->preset_mhz;
	if (a->held & (REASON_HEAT_SW | REASON_HEAT_HW))
		g->health.slowed |= THROTTLE_HEAT;
	if (a->held & REASON_BRAKE)
		g->health.slowed |= THROTTLE_BRAKE;
	if (a->held & REASON_BOARD)
		g->health.slowed |= THROTTLE_BOARD;
	for (int l = 0; l < s->links && a->works; l++)
		if (s->link[l].idles && !pci_compare(&s->link[l].of, &g->at))
			s->link[l].works = true;
}

static void judge(struct shared *sh, const char *library, const struct apart *end, struct node_state *s,
	struct findings *out)
{
	bool by_signal = WIFSIGNALED(end->status);

	if (!end->ended)
		findings_add(out, EVIDENCE_UNREAD, POLICY_DRAIN, "NVML", "%s does not come back: %s", library,
			name_of(sh->now));
	else if (!sh->done)
		findings_add(out, EVIDENCE_UNREAD, POLICY_DRAIN, "NVML", "%s ended with %s %d in %s", library,
			by_signal ? "signal" : "status",
			by_signal ? WTERMSIG(end->status) : WEXITSTATUS(end->status), name_of(sh->now));
	else if (sh->no_library)
		findings_add(out, EVIDENCE_UNREAD, POLICY_WARN, "NVML", "%s",
			apart_text(sh->text, sizeof(sh->text)));
	else if (sh->no_symbol)
		findings_add(out, EVIDENCE_UNREAD, POLICY_DRAIN, "NVML", "%s: %s is missing", library,
			apart_text(sh->text, sizeof(sh->text)));
	else if (sh->call)
		findings_add(out, EVIDENCE_UNREAD, POLICY_DRAIN, "NVML", "%s: %s gives error %d", library,
			name_of(sh->call), sh->code);
	else
		for (int i = 0; i < s->gpus; i++)
			take(&sh->gpu[i], s, i, out);
}

void nvml_read(const char *library, int64_t deadline_ms, struct node_state *s, struct findings *out)
{
	struct question q = {library, s};
	struct shared *sh = apart_new(sizeof(*sh));
	struct apart end;

	if (!sh || apart_run(ask, sh, &q, deadline_ms, &end) < 0)
		findings_add(
			out, EVIDENCE_UNREAD, POLICY_DRAIN, "NVML", "no process for it: %s", strerror(errno));
	else
		judge(sh, library, &end, s, out);
	apart_free(sh, sizeof(*sh));
}
