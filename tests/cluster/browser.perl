#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# browser.perl - a headless Chromium over its debugging pipe: what a page asks for, says on the console and does with keys
#
#   browser.perl FOLDER HEADER... -- COMMAND...
#
# HEADER is "Name: value", sent with every request. Commands, one after the other:
#   size WIDTHxHEIGHT       of the window
#   open URL                waits until it is loaded
#   shot FILE               a picture (PNG) of the whole page, as far as 6000 pixels down
#   key NAME                Tab, Enter or a single letter
#   follow                  the key Enter, and waits until what it opens is loaded
#   eval EXPRESSION         prints what it comes to
#   requests                prints each address that was asked for since the start, a line each
#   console                 prints what was said on the console, errors of the policy and of the network too
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use MIME::Base64;
use POSIX ();

my ($folder, @arguments) = @ARGV;
my (@headers, @said, @asked, $width, $height);
my $loads = 0;
push @headers, shift @arguments while @arguments && $arguments[0] ne '--';
shift @arguments;

# Chromium reads commands from 3 and writes answers to 4, each with a NUL behind it.
pipe my $from_us, my $to_browser or die "pipe: $!";
pipe my $from_browser, my $to_us or die "pipe: $!";
my $pid = fork // die "fork: $!";
if (!$pid) {
	POSIX::setpgid(0, 0);
	# by way of 30 and 31, since one of them may be 3 or 4
	POSIX::dup2(fileno $from_us, 30);
	POSIX::dup2(fileno $to_us, 31);
	POSIX::dup2(30, 3);
	POSIX::dup2(31, 4);
	open STDOUT, '>', "$folder/chromium.log";
	open STDERR, '>&', \*STDOUT;
	$ENV{TMPDIR} = $folder;		# it leaves folders behind
	exec 'chromium', '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
		'--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-proxy-server', '--hide-scrollbars',
		"--user-data-dir=$folder/profile", 'about:blank' or POSIX::_exit(127);
}
close $from_us;
close $to_us;
$to_browser->autoflush(1);
my $json = JSON::PP->new->canonical->utf8;
my ($buffer, $number, $session, $deadline) = ('', 0, undef, 120);

sub leave
{
	kill 'KILL', -$pid, $pid;
	waitpid $pid, 0;
	print STDERR "browser: $_[0]\n" if $_[0];
	exit($_[0] ? 1 : 0);
}
$SIG{TERM} = $SIG{INT} = sub { leave('ended from outside') };

# The next message, whatever it is.
sub message
{
	my $until = time + $deadline;

	while ((my $end = index $buffer, "\0") < 0) {
		IO::Select->new($from_browser)->can_read($until - time) or leave("no answer for $deadline s");
		sysread $from_browser, $buffer, 65536, length $buffer or leave('it has ended, see chromium.log');
	}
	$buffer =~ s/\A([^\0]*)\0//;
	my $m = $json->decode($1);
	note($m) if $m->{method};
	return $m;
}

sub note
{
	my ($what, $p) = @{$_[0]}{qw(method params)};

	$loads++ if $what eq 'Page.loadEventFired';
	push @asked, $p->{request}{url} if $what eq 'Network.requestWillBeSent';
	push @said, join ' ', map { $_->{value} // $_->{description} // '' } @{$p->{args}} if $what eq 'Runtime.consoleAPICalled';
	push @said, $p->{exceptionDetails}{text} if $what eq 'Runtime.exceptionThrown';
	push @said, "$p->{entry}{level}: $p->{entry}{text}" if $what eq 'Log.entryAdded';
}

sub ask
{
	my ($method, $params) = @_;
	my $m = { id => ++$number, method => $method, params => $params // {} };

	$m->{sessionId} = $session if $session;
	print $to_browser $json->encode($m), "\0";
	do { $m = message() } until ($m->{id} // 0) == $number;
	leave("$method: $m->{error}{message}") if $m->{error};
	return $m->{result};
}

sub evaluate
{
	my $r = ask('Runtime.evaluate', { expression => $_[0], returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true });

	leave("$_[0]: $r->{exceptionDetails}{text}") if $r->{exceptionDetails};
	return $r->{result}{value};
}

sub key
{
	my %codes = (Tab => [9, ''], Enter => [13, "\r"]);
	my ($code, $text) = @{$codes{$_[0]} // [ord uc $_[0], $_[0]]};
	my %k = (key => $_[0], code => $_[0], windowsVirtualKeyCode => $code);

	ask('Input.dispatchKeyEvent', { %k, type => length $text ? 'keyDown' : 'rawKeyDown', length $text ? (text => $text) : () });
	ask('Input.dispatchKeyEvent', { %k, type => 'keyUp' });
}

sub size
{
	($width, $height) = $_[0] =~ /^(\d+)x(\d+)$/ or leave("no size: $_[0]");
	ask('Emulation.setDeviceMetricsOverride', { width => 0 + $width, height => 0 + $height, deviceScaleFactor => 1,
		mobile => $width < 600 ? JSON::PP::true : JSON::PP::false });
}

# What begins it may have been answered after it was over.
sub loaded { message() until $loads > $_[0] }

sub shot
{
	my $tall = evaluate('document.documentElement.scrollHeight');
	my $r = ask('Page.captureScreenshot', { format => 'png', captureBeyondViewport => JSON::PP::true,
		clip => { x => 0, y => 0, width => 0 + $width, height => $tall > 6000 ? 6000 : 0 + $tall, scale => 1 } });

	open my $to, '>:raw', $_[0] or leave("$_[0]: $!");
	print $to decode_base64($r->{data});
	close $to;
}

my $target = ask('Target.createTarget', { url => 'about:blank' })->{targetId};
$session = ask('Target.attachToTarget', { targetId => $target, flatten => JSON::PP::true })->{sessionId};
ask("$_.enable") for qw(Page Network Runtime Log);
ask('Network.setExtraHTTPHeaders', { headers => { map { split /: /, $_, 2 } @headers } }) if @headers;
size('1280x900');
binmode STDOUT, ':utf8';
while (@arguments) {
	my $command = shift @arguments;

	if ($command eq 'size') { size(shift @arguments) }
	elsif ($command eq 'open') { my $n = $loads; ask('Page.navigate', { url => shift @arguments }); loaded($n) }
	elsif ($command eq 'shot') { shot(shift @arguments) }
	elsif ($command eq 'key') { key(shift @arguments) }
	elsif ($command eq 'follow') { my $n = $loads; key('Enter'); loaded($n) }
	elsif ($command eq 'eval') { my $v = evaluate(shift @arguments); print ref $v ? $json->encode($v) : $v // '', "\n" }
	elsif ($command eq 'requests') { print "$_\n" for @asked }
	elsif ($command eq 'console') { print "$_\n" for @said }
	else { leave("no such command: $command") }
}
leave();
