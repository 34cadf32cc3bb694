/* SPDX-License-Identifier: GPL-2.0-or-later
 * cause.c - the table of cause.h: the texts that people read when a task was not started */
#include "gpu_check/cause.h"
#include <string.h>

const struct cause_row cause_table[CAUSES] = {
	[CAUSE_NONE] = { "none", "the backend works", "nothing has to be done" },
	[CAUSE_NO_LIBRARY] = { "no-library",
		"the library of the driver is not where this process looks for it",
		"look for it with `ldconfig -p`; in a container, let the runtime mount the driver's "
		"libraries" },
	[CAUSE_BAD_LIBRARY] = { "bad-library",
		"the library is there and cannot be loaded; an empty file is what a container is given on "
		"a node without the driver",
		"look at the file that is named, and at LD_LIBRARY_PATH" },
	[CAUSE_SYMBOL] = { "missing-symbol",
		"the library lacks functions that every driver of this kind has: it is an emulation, or "
		"much too old",
		"look at which file was loaded, and at LD_LIBRARY_PATH and LD_PRELOAD" },
	[CAUSE_STUB_LIBRARY] = { "stub-library",
		"this is the library to link against, not that of the driver",
		"take the toolkit's folder named stubs out of LD_LIBRARY_PATH" },
	[CAUSE_NO_DEVICE] = { "no-device",
		"the driver has no device for this process",
		"look at the variables that choose devices, at ConstrainDevices, and in a container at its "
		"devices" },
	[CAUSE_NO_DRIVER] = { "no-driver",
		"the kernel part of the driver is not there or does not let this process in",
		"look at `lsmod` and at the device files; users may need to be in a group such as render" },
	[CAUSE_NO_ICD] = { "no-icd",
		"the loader of OpenCL knows no driver of any vendor",
		"install the vendor's driver for OpenCL, and look at /etc/OpenCL/vendors and "
		"OCL_ICD_VENDORS" },
	[CAUSE_MISMATCH] = { "driver-mismatch",
		"the library and the driver in the kernel are of different versions",
		"after an upgrade reboot the node; in a container take the node's library, not its own" },
	[CAUSE_FABRIC] = { "fabric-manager",
		"the system is not ready: the fabric manager of the NVSwitches does not run, or failed",
		"administrators: `systemctl status nvidia-fabricmanager`, of the same version as the "
		"driver" },
	[CAUSE_MPS] = { "mps",
		"the MPS server cannot be reached, or refuses",
		"administrators: look at nvidia-cuda-mps-control; users: unset CUDA_MPS_PIPE_DIRECTORY if "
		"it is not yours" },
	[CAUSE_BUSY] = { "busy",
		"the device takes one process at a time, and another one has it",
		"look who has it (`nvidia-smi`): it may be left over from an earlier job; compute mode "
		"Default lets several in" },
	[CAUSE_NO_MEMORY] = { "no-memory",
		"there was no memory, on the device or in the address space of the process",
		"look who uses the device, and take `ulimit -v` away: drivers reserve far more than they "
		"use" },
	[CAUSE_FORBIDDEN] = { "forbidden",
		"the system forbids it",
		"look at the rights of the device files, at cgroups and at what the container may do" },
	[CAUSE_LOST] = { "lost",
		"the device or its driver failed",
		"administrators: look at `dmesg` for Xid, AER or reset messages and whether all modules of "
		"the driver are loaded (nvidia-uvm), and drain the node" },
	[CAUSE_COMPILER] = { "compiler",
		"the part of the driver that compiles kernels failed or is missing; the device itself was "
		"not judged",
		"install the driver completely (for NVIDIA libnvidia-ptxjitcompiler), and look at folders "
		"that it cannot write" },
	[CAUSE_KERNEL_UNSUITED] = { "kernel-unsuited",
		"the driver takes no kernel in the form that is shipped here; the device itself was not "
		"judged",
		"use level copy, and report the device and the version of its driver" },
	[CAUSE_API] = { "refused",
		"the driver refused a call that works on a sound node",
		"administrators: look at `dmesg` and try the vendor's own tools on the node" },
	[CAUSE_WRONG_FILL] = { "wrong-fill",
		"it said that memory was filled and it was not: nothing was executed, or memory is broken",
		"look at which library was loaded; if it is the vendor's, drain the node" },
	[CAUSE_WRONG_COPY] = { "wrong-copy",
		"data came back changed, and no error was told",
		"look at which library was loaded; if it is the vendor's, drain the node" },
	[CAUSE_WRONG_KERNEL] = { "wrong-kernel",
		"it said that a kernel ran, and its result is not there: an emulation, or a device that "
		"computes wrongly",
		"look at which library was loaded; if it is the vendor's, drain the node" },
	[CAUSE_NO_KERNEL] = { "no-kernel",
		"there is nothing here to make a kernel with, so memory was filled by the device and that "
		"was read back",
		"where the proof shall be a kernel, install the compiler of the driver (for AMD hiprtc)" },
	[CAUSE_HANG] = { "hang",
		"the driver did not come back",
		"administrators: look at `dmesg` and at who uses the devices; a longer --deadline helps "
		"where the driver is only slow (persistence mode off)" },
	[CAUSE_HANG_KERNEL] = { "hang-in-kernel",
		"the process waited inside the kernel, where a broken device or driver holds it for ever",
		"administrators: look at `dmesg`; where such a process stays behind only a reset of the "
		"device or a reboot helps" },
	[CAUSE_CRASH] = { "crash",
		"the library of the driver ended the process",
		"look at which library was loaded; if it is the vendor's, at `dmesg` and at its version" },
	[CAUSE_SILENT] = { "silent",
		"the helper ended before it had a result: the library ended the process, or something that "
		"is preloaded did",
		"look at which library was loaded, and at LD_PRELOAD" },
	[CAUSE_GARBAGE] = { "garbage",
		"what the helper said is no report: something else writes into its pipe, or it is another "
		"version",
		"look at LD_PRELOAD, and whether gpu-check and its helper are of one installation" },
	[CAUSE_NO_HELPER] = { "no-helper",
		"the helper cannot be started",
		"install it, or name it: to gpu-check with --helper, to Slurm's plugin with "
		"gpu_check_helper= in plugstack.conf; in a container it has to be there too, and its C "
		"library no older" },
	[CAUSE_SITE_CHECK] = { "site-check",
		"a program by which this site checks did not succeed in the environment of the task",
		"run it in that environment (module, container, virtual environment) and read all that it "
		"prints" },
	[CAUSE_CPU] = { "cpu",
		"a GPU was asked for and what answers is a processor: programs would run on it, silently "
		"and slowly",
		"install the vendor's own driver; if the processor is what you want, say "
		"--backend=opencl-cpu" },
	[CAUSE_FEWER] = { "fewer",
		"the backend has fewer devices than there should be",
		"look at the variables that choose devices: a wrong entry ends the list; else a device has "
		"failed, see `dmesg`" },
	[CAUSE_MORE] = { "more",
		"the process can use devices that are not the job's",
		"administrators: ConstrainDevices=yes in cgroup.conf; users: do not unset the variables "
		"that choose devices" },
	[CAUSE_NARROWED] = { "narrowed",
		"a variable chooses fewer devices than the job was given",
		"if that was not meant, do not set it in the job; the rest is paid for and idle" },
	[CAUSE_HIDDEN] = { "hidden",
		"a variable hides all devices from this process",
		"nothing, if that is what you want" },
	[CAUSE_NOT_ON_BUS] = { "not-on-bus",
		"the backend names a device that the node does not have: an emulation",
		"look at which library was loaded, and at LD_LIBRARY_PATH and LD_PRELOAD" },
	[CAUSE_OTHER_GPU] = { "other-gpu",
		"the backend has other devices than the ones that belong to this task",
		"look at the variables that choose devices, and at CUDA_DEVICE_ORDER" },
	[CAUSE_UNKNOWN_KIND] = { "unknown-kind",
		"no GPU of a known vendor is on this node's bus, so there was nothing to be proven",
		"name the backend with --backend if there is one" },
};

int cause_of(const char *name)
{
	for (int i = 0; i < CAUSES; i++)
		if (!strcmp(name, cause_table[i].name))
			return i;
	return -1;
}
