/* SPDX-License-Identifier: GPL-2.0-or-later
 * evidence.c - the table of evidence.h: names, what is done unless the site says otherwise, and the texts
 * that people read */
#include "gpu_check/evidence.h"
#include <string.h>

const char *const policy_name[POLICIES] = { "off", "warn", "fail", "drain" };

#define AFTERWARDS "; then `gpu-check node --acknowledge`"

const struct evidence_row evidence_table[EVIDENCES] = {
	[EVIDENCE_GPU_MISSING] = { "gpu-missing", POLICY_DRAIN,
		"a GPU that was learned is not on the bus",
		"the card is not seen by the bus any more: it fell off, has no power, or was taken out",
		"power the node off and on, reseat the card; where it was taken out on purpose, learn anew" },
	[EVIDENCE_LINK_WIDTH] = { "link-width", POLICY_DRAIN,
		"a PCIe link on the way to a GPU or a network card of the fabric has fewer lanes than were "
		"learned (without a baseline at most warn, and against what both ends can do)",
		"the link was trained down: card, riser, cable or slot",
		"power the node off and on, reseat the card and its riser; a link that is meant to be "
		"narrow is "
		"accepted by `gpu-check --learn`" },
	[EVIDENCE_LINK_SPEED] = { "link-speed", POLICY_WARN,
		"the same for the speed. The link of a GPU is judged while it works only: an idle one "
		"turns it "
		"down",
		"the link was trained down, or the card sits in another slot than it was learned in",
		"look at the slot's setting in the firmware, reseat the card and its riser" },
	[EVIDENCE_AER_FATAL] = { "aer-fatal", POLICY_DRAIN,
		"a fatal error of the bus, by the kernel's counter or its log",
		"the link to the device failed",
		"reset or power the node off and on, look for more of it" AFTERWARDS },
	[EVIDENCE_AER_NONFATAL] = { "aer-nonfatal", POLICY_FAIL,
		"an uncorrected error of the bus after which the link went on",
		"a request on the bus was lost or damaged",
		"look at `dmesg` for the register that names it, reseat the card if it comes again"
		AFTERWARDS },
	[EVIDENCE_AER_CORRECTED] = { "aer-corrected", POLICY_WARN,
		"more corrected errors of the bus in an hour than corrected-per-hour",
		"the signal is bad: nothing is lost yet, but each is sent again",
		"reseat the card and its riser before it gets worse" AFTERWARDS },
	[EVIDENCE_GPU_LOST] = { "gpu-lost", POLICY_DRAIN,
		"the driver lost a GPU (Xid 79, fallen off the bus)",
		"the GPU does not answer on the bus any more",
		"power the node off and on; if it comes again have the card, its power and its slot looked "
		"at" },
	[EVIDENCE_GPU_RESET] = { "gpu-reset", POLICY_DRAIN,
		"an error after which the GPU has to be reset: Xids by their numbers, a reset that failed, a "
		"device that the driver gave up",
		"the GPU works again only after a reset",
		"when the node is empty reset the GPU or restart the node" AFTERWARDS },
	[EVIDENCE_GPU_MEMORY] = { "gpu-memory", POLICY_DRAIN,
		"memory errors that could not be corrected, rows that could not be remapped",
		"the GPU's memory gave wrong values",
		"when the node is empty reset the GPU, run `gpu-check --all --soak 30`" AFTERWARDS },
	[EVIDENCE_GPU_ERROR] = { "gpu-error", POLICY_WARN,
		"other errors that a driver logged; programs can cause many of them",
		"the driver reported an error; a program can be the cause",
		"see whether it comes again with another job; `gpu-check --all` proves the GPU" },
	[EVIDENCE_THROTTLE] = { "throttle", POLICY_WARN,
		"a GPU that is slowed down by heat or by its power supply, in each of several looks",
		"the GPU runs slower than it could",
		"look at fans, air and power supplies of the node" },
	[EVIDENCE_CLOCK] = { "clock", POLICY_WARN,
		"a GPU whose highest clock somebody set lower than it could be: NVIDIA's application "
		"clocks below "
		"their default, amdgpu's performance level low or profile_min_*, the maximum of xe and i915",
		"the clock was turned down by hand or by a job that was allowed to, and was left so",
		"set it back (`nvidia-smi -rac`, power_dpm_force_performance_level, max_freq); where it is "
		"meant: "
		"`clock off` in gpu-node.conf" },
	[EVIDENCE_IMAGE] = { "image", POLICY_WARN,
		"kernel, driver, firmware or a library is another version than was learned, or a GPU is new",
		"the node is not as the golden one was",
		"bring the node to the image, or learn anew: `gpu-check --learn`" },
	[EVIDENCE_UNREAD] = { "unread", POLICY_FAIL,
		"something that should tell cannot be read, or answers with an error",
		"what cannot be asked cannot be trusted",
		"look at the message; as root, `dmesg` and `nvidia-smi -q`" },
};

int evidence_of(const char *name)
{
	for (int i = 0; i < EVIDENCES; i++)
		if (!strcmp(evidence_table[i].name, name))
			return i;
	return -1;
}

int policy_of(const char *name)
{
	for (int i = 0; i < POLICIES; i++)
		if (!strcmp(policy_name[i], name))
			return i;
	return -1;
}
