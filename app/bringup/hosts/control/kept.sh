# Argument: FOLDER. Tells command lines (hexadecimal): that of the old server (was), and the one that the next launch has
# (argv). Nothing where no edited one would be launched: there is nothing kept, or a command of the configuration. The
# environment stays where it is.
[ -f "$1/ticket" ] && [ ! -L "$1/last" ] || exit 0
hidden=$(hidden "$1")
for name in was argv; do [ -s "$hidden/$name" ] && [ "$(wc -c <"$hidden/$name")" -le 131072 ] || exit 0; done
for name in was argv; do printf '%s ' "$name" && od -An -v -tx1 <"$hidden/$name" | tr -d ' \n' && echo; done
