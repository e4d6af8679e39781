# Argument: FOLDER. Becomes the program whose command line (argv) and environment (environ) lie in FOLDER, each word ended
# by NUL; both are removed first.
use strict;
my ($folder) = @ARGV;
sub words {
    my ($name) = @_;
    open(my $file, '<:raw', "$folder/$name") or die "$folder/$name: $!\n";
    local $/;
    my @words = split /\0/, <$file> // '', -1;
    pop @words;
    return @words;
}
my @argv = words('argv');
my @pairs = grep { /^[^=]+=/ } words('environ');
unlink "$folder/environ", "$folder/argv";
unless (@argv and length $argv[0]) {
    print STDERR "This command line cannot be launched: it is empty.\n";
    exit 126;
}
%ENV = ();
for my $pair (@pairs) {
    my ($name, $value) = split /=/, $pair, 2;
    $ENV{$name} = $value;
}
# A shell makes what it starts in the background deaf for them.
$SIG{INT} = $SIG{QUIT} = 'DEFAULT';
{ no warnings; exec { $argv[0] } @argv; }
my $status = $!{ENOENT} ? 127 : 126;
print STDERR "$argv[0]: $!\n";
exit $status;
