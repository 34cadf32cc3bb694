# SPDX-License-Identifier: GPL-2.0-or-later
# machine.bash - a machine with four NUMA nodes, GPUs and a real kernel, in QEMU without KVM (bats: `load machine`)
#
#   machine_up [WORD]...    boots it in $BATS_FILE_TMPDIR with the programs of $BUILD; narrow: gpu2's link is x1 of x16
#   machine_down
#   inside COMMAND          what it prints, and its exit status
#   monitor COMMAND         of QEMU's own, such as pcie_aer_inject_error
#
# node   CPUs  GPU                                      distances
# 0      0-1   0000:01:00.0 AMD, of which nobody tells  10 12 32 32
# 1      2-3   0000:41:00.0 AMD                         12 10 32 32
# 2      4-5   0000:61:00.0 virtio, which can err       32 32 10 12
# 3      6-7   0000:81:00.0 AMD                         32 32 12 10
# One thread of QEMU plays all CPUs: on a machine with few of its own that is as fast, and the emulated CPUs cannot race.
# Each is in a slot of its own, of 16 GT/s x16; a network card, 0000:82:00.0, is at node 3. 256 MiB of memory a node. The
# GPUs are QEMU's graphics cards: what a kernel sees of them is a class, a vendor, a place and a link.

VM=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

machine_need()
{
	local tool missing=

	for tool in qemu-system-x86_64 busybox cpio gzip setpriv; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[[ -z $missing ]] || { echo "tests/vm: not installed:$missing (see contrib/packages)" >&2; return 1; }
}

# The programs with their libraries, each at its own place.
initrd_make()
{
	local root=$MACHINE/root program

	mkdir -p "$root"/{bin,proc,sys,dev}
	cp "$(command -v busybox)" "$root/bin/busybox"
	cp "$VM/init" "$root/init"
	for program in gpu_check/gpu-check gpu_check/gpu-check-helper tests/vm/step tests/vm/memory; do
		cp "$BUILD/$program" "$root/bin/"
		ldd "$BUILD/$program" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root${library%/*}"
			cp -L "$library" "$root$library"
		done
	done
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$MACHINE/initrd.gz"
}

# slot NODE BUS: a root port at a node, and what is said next is a device in it.
slot_words()
{
	echo "-device pxb-pcie,id=host$1,bus_nr=$2,numa_node=$1,bus=pcie.0 -device pcie-root-port,id=slot$1,bus=host$1,chassis=$1,slot=$1,x-speed=16,x-width=16"
}

machine_words()
{
	local node link=x-disable-pcie=on	# without a link of its own a card leaves the slot what it can do

	[[ " $* " != *" narrow "* ]] || link=x-disable-pcie=off
	for node in 0 1 2 3; do
		echo "-object memory-backend-ram,id=memory$node,size=256M -numa node,nodeid=$node,cpus=$((2 * node))-$((2 * node + 1)),memdev=memory$node"
	done
	printf -- '-numa dist,src=%s,dst=%s,val=%s\n' 0 1 12 0 2 32 0 3 32 1 2 32 1 3 32 2 3 12
	echo "-device pcie-root-port,id=slot0,bus=pcie.0,chassis=4,slot=4,x-speed=16,x-width=16 -device ati-vga,id=gpu0,bus=slot0,romfile="
	echo "$(slot_words 1 64) -device ati-vga,id=gpu1,bus=slot1,romfile="
	echo "$(slot_words 2 96) -device virtio-gpu-pci,id=gpu2,bus=slot2,aer=on,$link"
	echo "$(slot_words 3 128) -device ati-vga,id=gpu3,bus=slot3,romfile="
	echo "-device pcie-root-port,id=slot4,bus=host3,chassis=5,slot=5 -device virtio-net-pci,bus=slot4,romfile="
}

machine_up()
{
	local kernel try

	machine_need && kernel=$("$VM/kernel") || return 1
	for try in 1 2 3; do
		MACHINE=$(mktemp -d "$BATS_FILE_TMPDIR/machine.XXXXXX") || return 1
		export MACHINE
		initrd_make && machine_boot "$kernel" "$@" || return 1
		! machine_answers || return 0
		machine_evidence "$try" >&2
		machine_down
	done
	return 1
}

machine_boot()
{
	cd "$MACHINE" && mkfifo agent.in agent.out monitor.in monitor.out || return 1
	# Whatever happens to the tests, it ends with them.
	setpriv --pdeathsig KILL qemu-system-x86_64 -machine q35 -accel tcg,thread=single -cpu max,la57=off -m 1G \
		-smp 8,sockets=4,cores=2,threads=1 $(machine_words "${@:2}") \
		-kernel "$1" -initrd initrd.gz \
		-append "console=ttyS0 earlyprintk=ttyS0 tsc=reliable no_timer_check random.trust_cpu=on panic=-1 mitigations=off" \
		-nodefaults -display none -no-reboot -serial file:console.log \
		-chardev pipe,id=agent,path=agent -serial chardev:agent -chardev pipe,id=monitor,path=monitor -mon chardev=monitor,mode=readline \
		</dev/null >qemu.log 2>&1 3>&- &
	echo $! >pid
}

# The first answer, for which a slow host may need minutes; no longer than QEMU itself is there.
machine_answers()
{
	local waited

	for ((waited = 0; waited < 120; waited += 2)); do
		answer_read 2 2>/dev/null && return
		kill -0 "$(cat "$MACHINE/pid")" 2>/dev/null || return 1
	done
	return 1
}

# Of a machine that did not come up: how far it was, and what its CPUs do.
machine_evidence()
{
	echo "tests/vm: boot $1 gave no answer; $(ps -o stat=,time=,args= -p "$(cat "$MACHINE/pid")" || echo "QEMU has ended")"
	monitor "info cpus"
	timeout 5 cat "$MACHINE/monitor.out"
	tail -n 20 "$MACHINE/qemu.log" "$MACHINE/console.log"
	uptime
}

machine_down()
{
	local pid

	pid=$(cat "$MACHINE/pid") || return 0
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	return 0
}

# Until "= STATUS", which is the result; 99 when nothing comes for so many seconds. Read to its end before anything is printed,
# so that one who does not listen leaves nothing for the next.
answer_read()
{
	local line text=

	while IFS= read -r -t "$1" -u 9 line; do
		[[ ! $line =~ ^=\ ([0-9]+)$ ]] || { printf %s "$text"; return "${BASH_REMATCH[1]}"; }
		text+=$line$'\n'
	done 9<>"$MACHINE/agent.out"
	echo "tests/vm: no answer after: $text" >&2
	return 99
}

inside()
{
	echo "$*" >"$MACHINE/agent.in"
	answer_read 120
}

monitor() { echo "$*" >"$MACHINE/monitor.in"; }
