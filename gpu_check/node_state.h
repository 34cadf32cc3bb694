/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_state.h - what root reads of a node: the PCIe links on the way to its cards, the kernel's counters of
 * errors on them, and the versions of what runs there
 *
 * Read now (node_read.h), or kept in a file (state_file.h): as the baseline of a node that is as it should
 * be, or as the mark from which on errors count. Rules hold one against the other (node_rules.h).
 *
 * Links     On the way root port, (switch: upper port, lower port)..., card each second pair is a link: the
 *           other pairs are inside a switch. A link is named by its lower end.
 * Cards     GPUs but those of management boards, and the network cards of the fabric
 * Counters  aer_dev_*: since the boot, of each device on the ways
 * Threads   pure functions: any thread */
#ifndef GPU_CHECK_NODE_STATE_H
#define GPU_CHECK_NODE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "locality/link.h"
#include "locality/pci.h"

#define NODE_HOPS_MAX  512
#define NODE_GPUS_MAX  64
#define NODE_FACTS_MAX 192
#define FACT_NAME_MAX  48
#define FACT_VALUE_MAX 80

/* What slows a GPU down, as bits. */
enum throttle { THROTTLE_HEAT = 1, THROTTLE_BRAKE = 2, THROTTLE_BOARD = 4 };

struct node_health {
	bool memory_told;		/* the driver counts errors of its memory */
	int64_t uncorrected;		/* since the boot, or since the driver began */
	enum throttle slowed;		/* not kept in a file, nor is what follows */
	int clock_mhz, clock_possible_mhz;	/* the highest it may take, and could; 0: not told */
	char clock_level[24];		/* AMD's word for how clocks are chosen; "": not told */
};

struct node_card {
	struct pci_address at;
	unsigned vendor, device;
	struct node_health health;
};

struct node_link {
	struct pci_address at, above, of; /* lower end, upper end, the card on whose way it is */
	struct link_width now, possible;  /* possible: both ends */
	bool idles;                       /* a GPU turns it down when it has nothing to do */
	bool works;                       /* that GPU is known to work at this moment */
};

enum aer { AER_CORRECTED, AER_NONFATAL, AER_FATAL, AERS };

struct node_errors {
	struct pci_address at;
	bool told[AERS]; /* the kernel has the counter, and it can be read */
	int64_t count[AERS];
	char kinds[AERS][64]; /* which, with their numbers: "RxErr 3 BadTLP 1"; not kept in a file */
};

struct node_fact {
	char name[FACT_NAME_MAX]; /* "kernel", "library libcuda.so.1" */
	char value[FACT_VALUE_MAX];
};

struct node_state {
	char boot[40]; /* the kernel's boot_id; "": not told */
	int64_t at_us; /* since the boot */
	int gpus, links, errors, facts;
	struct node_card gpu[NODE_GPUS_MAX];
	struct node_link link[NODE_HOPS_MAX];
	struct node_errors error[NODE_HOPS_MAX];
	struct node_fact fact[NODE_FACTS_MAX];
};

extern const char *const aer_name[AERS]; /* "corrected", "nonfatal", "fatal" */

/* NULL: there is none. `s` may be NULL. */
const struct node_card *state_gpu(const struct node_state *s, const struct pci_address *at);
const struct node_link *state_link(const struct node_state *s, const struct pci_address *at);
const struct node_errors *state_errors(const struct node_state *s, const struct pci_address *at);
const char *state_fact(const struct node_state *s, const char *name);

/* One more version; an empty value and one too many are left out. */
void state_add_fact(struct node_state *s, const char *name, const char *value);

#endif
