# Prints strings of a JSON text as rows KIND TAB TEXT, the text still escaped as JSON has it. Variables: want, most.
#   want=header   keys of the outermost object (weight names of a safetensors header), but __metadata__: N
#   want=index    values of "weight_map", each once: I; its keys: N, at most `most`
#   want=config   strings of the outermost "architectures": A
# A record ends at a quote, so records are in turn outside and inside of strings; what follows a string tells a key.
function escapes(text,   n) {
    while (substr(text, length(text) - n, 1) == "\\") n++
    return n
}

function tell(kind, word) {
    gsub(/[\t\r\n]/, "?", word)
    if (length(word) <= 1024) print kind "\t" word
}

function take_key(word) {
    if (want == "header" ? depth == 1 && word != "__metadata__" : want == "index" && depth == 2 && key[1] == "weight_map")
        if (told++ < most) tell("N", word)
}

function take_value(word) {
    if (want == "index" && depth == 2 && key[1] == "weight_map" && !(word in seen)) { seen[word]; tell("I", word) }
    if (want == "config" && depth == 2 && key[1] == "architectures") tell("A", word)
}

function take_outside(text,   i, c) {
    gsub(/[^][{}]/, "", text)
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "{" || c == "[") key[++depth] = ""
        else depth--
    }
}

BEGIN { RS = "\"" }
inside {
    word = word $0
    if (escapes($0) % 2) { word = word "\""; next }
    inside = 0
    ended = 1
    next
}
{
    if (ended && $0 ~ /^[ \t\r\n]*:/) { key[depth] = word; take_key(word) }
    else if (ended) take_value(word)
    take_outside($0)
    inside = 1
    word = ""
}
