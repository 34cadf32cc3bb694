/* SPDX-License-Identifier: GPL-2.0-or-later
 * nvlink.c - NVML's functions about links, called in a process apart (nvlink.h)
 *
 * Types and numbers are NVML's documented ABI. */
#include "gpu_check/nvlink.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "gpu_check/apart.h"
#include "gpu_check/library.h"

enum { SUCCESS = 0, ENABLED = 1, TYPE_GPU = 0, TYPE_SWITCH = 2 };
enum step { STEP_LOAD, STEP_INIT, STEP_ASK, STEP_DONE };

/* nvmlPciInfo_t since 2017; room for what may follow. */
struct pci_info {
	char short_bus_id[16];
	unsigned domain, bus, device;
	char rest[228];
};

struct nvml {
	int (*init)(void);
	int (*handle)(const char *bus_id, void **device);
	int (*state)(void *device, unsigned link, unsigned *active);
	int (*type)(void *device, unsigned link, unsigned *type);
	int (*remote)(void *device, unsigned link, struct pci_info *out);
};

static const struct symbol_row symbols[] = {
	{"nvmlInit_v2", "nvmlInit", offsetof(struct nvml, init), false},
	{"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId", offsetof(struct nvml, handle),
		false},
	{"nvmlDeviceGetNvLinkState", NULL, offsetof(struct nvml, state), false},
	{"nvmlDeviceGetNvLinkRemoteDeviceType", NULL, offsetof(struct nvml, type), true},
	{"nvmlDeviceGetNvLinkRemotePciInfo_v2", NULL, offsetof(struct nvml, remote), true},
};

struct shared {
	unsigned step;		/* enum step, up to which it came */
	int code;		/* of nvmlInit */
	char text[256];		/* why it did not come further than STEP_LOAD */
	struct nvlinks found;
};

struct question {
	const char *library;
	const struct gpu *const *gpu;
	int gpus;
};

/* --- in the child ------------------------------------------------------------------------------------- */

static bool load(const char *library, struct nvml *n, struct shared *sh)
{
	const char *const names[] = {library, NULL};
	const char *missing = NULL;
	struct library l = {NULL, ""};
	enum cause cause;

	if (library_open(&l, names, &cause, sh->text, sizeof(sh->text)) < 0)
		return false;
	if (library_symbols(&l, symbols, sizeof(symbols) / sizeof(symbols[0]), n, &missing) == 0)
		return true;
	snprintf(sh->text, sizeof(sh->text), "%s: %s is missing", library, missing);
	return false;
}

static int gpu_at(const struct question *q, const struct pci_info *at)
{
	for (int i = 0; i < q->gpus; i++) {
		const struct pci_address *a = &q->gpu[i]->address;

		if (a->domain == at->domain && a->bus == at->bus && a->device == at->device)
			return i;
	}
	return -1;
}

/* What is at the other end of an active link. */
static void take_end(const struct nvml *n, const struct question *q, void *device, unsigned link, int from,
	struct nvlinks *out)
{
	unsigned type = TYPE_GPU;
	struct pci_info at;
	int to;

	memset(&at, 0, sizeof(at));
	if (n->type && n->type(device, link, &type) != SUCCESS)
		type = TYPE_GPU;	/* its address will tell */
	if (type == TYPE_SWITCH)
		out->gpu[from].to_switch++;
	else if (n->remote && n->remote(device, link, &at) == SUCCESS && (to = gpu_at(q, &at)) >= 0)
		out->gpu[from].to[to]++;
}

/* A link that the GPU does not have is an error of the call. */
static void ask_gpu(const struct nvml *n, const struct question *q, int from, struct nvlinks *out)
{
	char text[PCI_TEXT_MAX];
	unsigned active;
	void *device;

	if (n->handle(pci_text(&q->gpu[from]->address, text), &device) != SUCCESS)
		return;
	for (unsigned link = 0; link < NVLINKS_MAX; link++) {
		active = 0;
		if (n->state(device, link, &active) != SUCCESS)
			continue;
		out->gpu[from].possible++;
		if (active != ENABLED)
			continue;
		out->gpu[from].active++;
		take_end(n, q, device, link, from, out);
	}
}

static void ask(void *shared, const void *question)
{
	const struct question *q = question;
	struct shared *sh = shared;
	struct nvml n = {0};

	if (!load(q->library, &n, sh))
		return;
	sh->step = STEP_INIT;
	sh->code = n.init();
	if (sh->code != SUCCESS)
		return;
	sh->step = STEP_ASK;
	for (int i = 0; i < q->gpus; i++)
		if (q->gpu[i]->vendor == PCI_NVIDIA)
			ask_gpu(&n, q, i, &sh->found);
	sh->step = STEP_DONE;
}

/* --- in the parent ------------------------------------------------------------------------------------ */

static bool is_possible(const struct nvlinks *n, int gpus)
{
	for (int i = 0; i < gpus; i++)
		if (n->gpu[i].possible > NVLINKS_MAX || n->gpu[i].active > n->gpu[i].possible ||
			n->gpu[i].to_switch > n->gpu[i].active)
			return false;
	return true;
}

static int judge(struct shared *sh, const struct question *q, const struct apart *end, struct fault *why)
{
	if (!end->ended)
		return fault_errno(why, ETIMEDOUT, "%s does not come back", q->library);
	if (WIFSIGNALED(end->status))
		return fault_errno(
			why, EIO, "%s ended with signal %d", q->library, WTERMSIG(end->status));
	if (sh->step == STEP_LOAD)
		return fault_errno(why, ENOENT, "%s", apart_text(sh->text, sizeof(sh->text)));
	if (sh->step == STEP_INIT)
		return fault_errno(why, EIO, "%s: nvmlInit gives error %d", q->library, sh->code);
	if (sh->step != STEP_DONE || !is_possible(&sh->found, q->gpus))
		return fault_errno(why, EIO, "%s ended before it had told all", q->library);
	return 0;
}

int nvlink_read(const char *library, int64_t deadline_ms, const struct gpu *const gpu[], int gpus,
	struct nvlinks *out, struct fault *why)
{
	struct question q = {library, gpu, gpus};
	struct shared *sh = apart_new(sizeof(*sh));
	struct apart end;
	int rv = -1;

	memset(out, 0, sizeof(*out));
	if (!sh || apart_run(ask, sh, &q, deadline_ms, &end) < 0)
		fault_set(why, "no process for %s: %s", library, strerror(errno));
	else
		rv = judge(sh, &q, &end, why);
	if (rv == 0)
		*out = sh->found;
	out->gpus = gpus;
	apart_free(sh, sizeof(*sh));
	return rv;
}

int nvlink_between(const struct nvlinks *n, int a, int b, bool *switched)
{
	int direct, over;

	*switched = false;
	if (a >= n->gpus || b >= n->gpus)
		return 0;
	direct = n->gpu[a].to[b];
	over = n->gpu[a].to_switch < n->gpu[b].to_switch ? n->gpu[a].to_switch : n->gpu[b].to_switch;
	*switched = direct == 0 && over > 0;
	return direct > 0 ? direct : over;
}
