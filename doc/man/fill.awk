# SPDX-License-Identifier: GPL-2.0-or-later
# fill.awk - a manual page from its source: lists from the programs, and where things are from configure
#
#   awk -v "budgetctl=PROGRAM" -v "budgetd=PROGRAM" -v "gpu_check=PROGRAM" -v "version=..." -v "confdir=..." ... -f fill.awk PAGE.in >PAGE
#
# A line "@budgetctl commands@" is what `budgetctl --manual commands` prints. @confdir@ anywhere is the variable's value.

function program_of(name) { return name == "budgetd" ? budgetd : name == "gpu-check" ? gpu_check : budgetctl }

/^@(budgetctl|budgetd|gpu-check) [a-z-]+@$/ {
	command = program_of(substr($1, 2)) " --manual " substr($2, 1, length($2) - 1)
	lines = 0
	while ((command | getline line) > 0) {
		print line
		lines++
	}
	if (close(command) != 0 || lines == 0) {
		print FILENAME ": " command " failed" >"/dev/stderr"
		exit 1
	}
	next
}

{
	gsub(/@version@/, version)
	gsub(/@confdir@/, confdir)
	gsub(/@rundir@/, rundir)
	gsub(/@statedir@/, statedir)
	gsub(/@slurmplugindir@/, slurmplugindir)
	gsub(/@pkglibexecdir@/, pkglibexecdir)
	print
}
