#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# exporter.perl PORT FOLDER - answers GET /metrics with what is in the files of FOLDER, one after the other
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $folder) = @ARGV;
my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8, ReuseAddr => 1)
	or die "port $port: $!\n";
while (my $peer = $listen->accept) {
	my $body = '';

	while (defined(my $line = <$peer>)) {
		last if $line =~ /^\r?\n$/;
	}
	for my $file (sort grep { !/\.new$/ } glob "$folder/*") {
		open my $in, '<', $file or next;	# taken away meanwhile
		local $/;
		$body .= <$in> // '';
	}
	print $peer "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: ", length $body,
		"\r\nConnection: close\r\n\r\n", $body;
	close $peer;
}
