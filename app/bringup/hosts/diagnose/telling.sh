# Sections begin with a record separator (036) and their name; what could fake one is taken out by plain. within runs a
# program that may take $limit seconds, and says how it ended where that was not well.
LC_ALL=C
export LC_ALL

plain() { tr -d '\036\000'; }
section() { printf '\036%s\n' "$1"; }
within() {
    {
        if command -v timeout >/dev/null; then timeout -k 2 "$limit" "$@"; else "$@"; fi 2>&1
        ended=$?
        case $ended in
            0) ;;
            124 | 137) echo "${1##*/} did not answer within $limit s, and was ended." ;;
            *) echo "${1##*/} ended with status $ended." ;;
        esac
    } | plain
}
