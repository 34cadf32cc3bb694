#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# receiver.perl PORT FOLDER - takes POSTs: FOLDER/answer has the statuses to give, one a line, then 200. Bodies that were taken
# are lines of FOLDER/taken, those that were refused of FOLDER/refused.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $folder) = @ARGV;
my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8, ReuseAddr => 1)
	or die "port $port: $!\n";

sub next_status
{
	open my $in, '<', "$folder/answer" or return 200;
	my @lines = <$in>;
	close $in;
	return 200 unless @lines;
	my $status = shift @lines;
	open my $out, '>', "$folder/answer" or die "answer: $!\n";
	print $out @lines;
	close $out;
	return 0 + $status;
}

while (my $peer = $listen->accept) {
	my ($length, $body) = (0, '');

	while (defined(my $line = <$peer>)) {
		$length = $1 if $line =~ /^Content-Length: (\d+)/i;
		last if $line =~ /^\r?\n$/;
	}
	read $peer, $body, $length if $length;
	my $status = next_status();
	open my $to, '>>', "$folder/" . ($status == 200 ? 'taken' : 'refused') or die "$folder: $!\n";
	print $to "$body\n";
	close $to;
	print $peer "HTTP/1.1 $status x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	close $peer;
}
