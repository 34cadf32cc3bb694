# SPDX-License-Identifier: GPL-2.0-or-later
# strike.perl PID DATABASE DELAY INSIDE - kill -9 of a budgetd DELAY seconds from now, and what it was doing
#
# The process is stopped first, all of its threads, so that it can be told what is struck: "CHANGES INSIDE", the transactions that
# the WAL has seen since the process started, and 1 when one was open (SQLite's write lock, byte 120 of the -shm file, is
# held). With INSIDE=1 it is let go on and stopped again until one is.
use strict;
use warnings;
use Time::HiRes qw(sleep time);

my ($pid, $database, $delay, $inside) = @ARGV;
my $shm = "$database-shm";
my $give_up = time + $delay + 60;

sub stopped
{
	for my $file (glob "/proc/$pid/task/*/stat") {
		open my $stat, '<', $file or next;
		return 0 if <$stat> !~ /\) [tTZX] /;
	}
	return 1;
}

sub in_transaction
{
	my $inode = (stat $shm)[1] or return 0;
	open my $locks, '<', '/proc/locks' or die "/proc/locks: $!";
	return scalar grep { /POSIX +ADVISORY +WRITE $pid \w+:\w+:$inode 120 120$/ } <$locks>;
}

# The third number of the header of the WAL's index: one more with each transaction.
sub changes
{
	open my $index, '<:raw', $shm or return 0;
	read $index, my $header, 12 or return 0;
	return (unpack 'L3', $header)[2] // 0;
}

sleep $delay;
my $found;
while (1) {
	kill 'STOP', $pid or die "no process $pid\n";
	sleep 0.0005 until stopped();
	$found = in_transaction();
	last if $found || !$inside || time > $give_up;
	kill 'CONT', $pid;
	sleep 0.003;
}
my $seen = changes();
kill 'KILL', $pid or die "no process $pid\n";
print "$seen $found\n";
