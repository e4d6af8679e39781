# Arguments: FOLDER TOKEN. Whoever acted here does nothing more: what is written down stays, and others may go on at once.
holds "$1" "$2" || exit 0
# What has failed, or waits for a decision, is nobody's by that.
grep -qx -e failed -e undecided "$1/step" 2>/dev/null || echo 'left yes' >>"$1/claim"
{ ! read -r mark <"$1/mark" || rm -f -- "$mark"; } 2>/dev/null
