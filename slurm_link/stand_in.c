/* SPDX-License-Identifier: GPL-2.0-or-later
 * stand_in.c - what Slurm's plugin for slurmdbd calls and libslurm does not have
 *
 * accounting_storage_slurmdbd.so names messages and RPCs in its error lines by functions that are in Slurm's
 * own daemons and commands only (seen in 22.05.8). A program with libslurm alone is ended by the dynamic
 * linker as the first such line is due: when slurmdbd goes away. So they are here, exported to plugins by the
 * linker options of the programs. Their names are Slurm's. */
#include <stdint.h>

char *slurmdbd_msg_type_2_str(int type, int get_enum);
char *rpc_num2string(uint16_t type);

char *slurmdbd_msg_type_2_str(int type, int get_enum)
{
	static const char text[] = "a message to slurmdbd";

	(void)type;
	(void)get_enum;
	return (char *)text;	/* it is only printed */
}

char *rpc_num2string(uint16_t type)
{
	static const char text[] = "an RPC";

	(void)type;
	return (char *)text;	/* it is only printed */
}
