#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# liar.perl REAL FAKE FROM TO - listens at the socket FAKE and hands on what is said to REAL and back; in answers the first
# match of the pattern FROM becomes TO, cut or filled with blanks to its length, because the length was told before. For tests
# of what is made of an answer that budgetd does not give by itself. It writes "ready" and serves until it is ended.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($real, $fake, $from, $to) = @ARGV;
my $listener = IO::Socket::UNIX->new(Local => $fake, Listen => 8) or die "$fake: $!";
$| = 1;
$SIG{PIPE} = 'IGNORE';
print "ready\n";
while (my $asker = $listener->accept) {
	my $teller = IO::Socket::UNIX->new(Peer => $real) or next;
	while (sysread($asker, my $question, 65536)) {
		syswrite($teller, $question);
		my $answer = '';
		while ($answer !~ /\r\n\r\n/ && sysread($teller, my $more, 65536)) { $answer .= $more; }
		my ($length) = $answer =~ /content-length: (\d+)/i;
		my $whole = index($answer, "\r\n\r\n") + 4 + ($length // 0);
		while (length($answer) < $whole && sysread($teller, my $more, 65536)) { $answer .= $more; }
		$answer =~ s/$from/substr($to . ' ' x length($&), 0, length($&))/e;
		syswrite($asker, $answer);
	}
}
