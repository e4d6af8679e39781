"""What secrets look like in text: the names that they are given, the places where they stand, their own shapes.

Each kind has signs, in small letters, of which a text holds one if the pattern fits it: to look for them costs almost
nothing. Each pattern keeps its first group; what it matches besides is the secret, and that ends with its line.
"""

from __future__ import annotations


def _after(words: str, last: str, dashes: str = "") -> str:
    """Return the pattern that looks back: `last` was read, and one of these words is before it."""
    return "|".join(f"(?<={word}{dash}{last})" for word in words.split() for dash in dict.fromkeys((dashes, "[-_]")))


# Each begins with a few letters that are fast to find, and looks back from there.
_KEYS = (
    rf"(?:[kK](?i:ey)(?i:(?<=api key)|{_after('api access private secret', 'key')})"
    r"(?i:s?(?: provided)|s|[-_]?(?:id|base))?)"
)
_PASS = _after("db ssh smtp mail mysql redis pg http proxy user login admin root", "pass", "[-_]")
_WORDS = (
    r"(?:[sScCpP](?i:(?<=s)ecret|(?<=c)redentials?|(?<=p)assw(?:or)?d|(?<=p)assphrase"
    rf"|(?<=p)ass(?:(?<=sshpass)|{_PASS})))"
)
_TOKEN = (
    r"(?:[tT](?i:oken)(?i:"
    + _after("auth access hf hub bearer api session refresh secret private security vault", "token")
    + "|"
    + _after("github gitlab slack bot deploy registry jwt csrf", "token")
    + "))"
)
_NAME = rf"[\w.-]*(?:{_KEYS}|{_WORDS}|{_TOKEN})"
_CAPITAL_NAME = r"(?:(?:[A-Z][A-Z0-9_]*_)?TOKEN|[A-Z][A-Z0-9_]*_(?:PASS|PWD|PW|PAT))"
"""Names that are common words in small letters."""
_QUOTE = r"""\\?["']"""
_QUOTED = r"""(?:'(?:[^'\\\r\n]|\\[^\r\n])*'?|"(?:[^"\\\r\n]|\\[^\r\n])*"?)"""
_VALUE = (
    r"(?:"
    r"""\\["'][^"'\\\r\n]*(?:\\["'])?"""  # JSON within JSON
    rf"|[bBrRuU]{{0,2}}{_QUOTED}"
    rf"|\[(?:{_QUOTED}|[^\]'\"\r\n])*\]?"
    rf"|\{{(?:{_QUOTED}|[^}}'\"\r\n])*\}}?"
    rf"|[\w.]*\((?:{_QUOTED}|[^)'\"\r\n])*\)?"  # SecretStr('X')
    r"""|[^\s,;&)\]}'"]+)"""
)
_END = r"(?:[\s,;&)\]}]|$)"
_EMPTY = rf"""(?!(?:None|null|True|False|''|""|\[\]|\[None\]|\(\)|\{{\}}){_END})"""
_BARE = r"(?<![\w#.<|-])(?i:token)"
"""A token that is no count of tokens and no word of a vocabulary."""
OPTION = r"(?:--|-O|-[A-Za-z]{1,4}(?:[\s=]|$))"
"""How the next option begins: a key may begin with a dash, too."""
_NEGATED = r"(?!--?no[-_](?!reply)"
"""Up to the end of what it looks ahead at: a flag that turns something off takes no value, as --no-ask-password."""
FLAG = rf"(?i:{_NEGATED})--?(?:{_NAME}|token))"
MANY_FLAG = r"--api-keys?"
"""The flag after which vLLM takes any number of keys (vllm/entrypoints/openai/cli_args.py: nargs="*")."""

_TOKENS = tuple(f"{last}{dash}token" for last in "hsfbrinteky" for dash in ("", "-", "_"))
"""The ends of auth-token and its like, but not of #new-token."""
_NAMED = (
    (("key",), _KEYS),
    (("assw", "assphrase", "ecret", "redential", "sshpass", "_pass", "-pass"), _WORDS),
    (_TOKENS, _TOKEN),
)
_SHAPES = (
    *("hf_", "sk-", "gsk_", "sk_live_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "nvapi-"),
    *("xai-", "akia", "asia", "aiza", "xox", "eyj"),
)
_AUTHORIZATION = r"""(?i:(\b(?:proxy-)?authorization['"]?[ \t]*[:=][ \t]*['"]?"""
_SCHEME = r"(?:bearer|basic|token|apikey|negotiate)[ \t]"

KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        # --api-key X Y; a text that was masked before goes on behind its asterisks
        ("--api-key",),
        rf"((?<![\w-]){MANY_FLAG}(?:=|[ \t]+))(?!{OPTION}|\*\*\*){_EMPTY}{_VALUE}"
        rf"(?:[ \t]+(?!{OPTION})(?:{_QUOTED}|[\w.~+/-]+(?=[\s'\"]|$)))*",
    ),
    # --admin-api-key=X
    *(
        (
            signs,
            rf"(?i:(?<![\w.-]){_NEGATED}[\w.-]*[ \t])(--?[\w.-]*{name}(?:=|[ \t]+)))(?!{OPTION}){_EMPTY}{_VALUE}",
        )
        for signs, name in _NAMED
    ),
    # --token X
    (("--token", " -token"), rf"(?i:(?<![\w.-])((?:--|(?<= )-)token(?:=|[ \t]+)))(?!{OPTION}){_EMPTY}{_VALUE}"),
    # api_key='X', 'api_key': ['X', 'Y'], "api_key": "X"
    *((signs, rf"(?i:({name}(?:{_QUOTE})?[ \t]*[=:][ \t]*)){_EMPTY}{_VALUE}") for signs, name in _NAMED),
    (
        # the password is 'X'; a flag of that name was looked at above
        ("assw", "assphrase"),
        r"""(?i:((?<![\w.-])(?:[\w.][\w.-]*)?(?:passw(?:or)?d|passphrase)(?: is)? +))(?:'[^'\r\n]+'|"[^"\r\n]+")""",
    ),
    (("'token", '"token'), r"""(['"]token['"][ \t]*[:=][ \t]*)['"][^'"\r\n]+['"]?"""),
    (
        ("token=",),
        rf"""({_BARE}=)(?!\d+(?:[.,]\d+)?{_END}){_EMPTY}(?:['"][\w.~+/%=-]{{6,}}['"]?|[\w.~+/%=-]{{4,}}(?![\w(\[]))""",
    ),
    ((" token:",), rf"({_BARE}: ?)(?![\d.]+[a-z/]*{_END})(?=[\w.~+/=-]*\d)[\w.~+/=-]{{8,}}"),
    # Authorization: Bearer X
    (("uthorization",), rf"""{_AUTHORIZATION}{_SCHEME}+))[^\s'",]+"""),
    (
        # Authorization: X, Authorization: Digest username="me", response="X"
        ("uthorization",),
        rf"{_AUTHORIZATION})(?!{_SCHEME})){_EMPTY}"
        r"""[^\s'",]+(?:[ \t]+[^\s'",=]+(?![^\s'",]))?(?:,?[ \t]*[\w-]+=(?:"[^"\r\n]*"|[^\s'",]+))*""",
    ),
    (("bearer",), r"(?i:(\bbearer[ \t]+))[A-Za-z0-9._~+/=-]{8,}"),
    (
        # Set-Cookie: a=X; b=Y
        ("cookie",),
        r"""(?i:(\b(?:set-)?cookie['"]?[ \t]*:[ \t]*))"""
        r"""(?:['"][^'"\r\n]*['"]?|(?!\*\*\*|\d+(?:[\s,]|$))[^\s'"][^'"\r\n]*)""",
    ),
    (
        # ?sig=X, &X-Amz-Signature=X
        ("sig=", "ignature=", "token=", "key=", "redential="),
        r"(?i:((?:[?&](?:sig|signature|token|key)|\bx-(?:amz|goog)-(?:signature|credential|security-token))=))"
        r"""[^\s&'"<>)]+""",
    ),
    (("ignature=",), r"(?i:(\bsignature=))(?:[0-9a-fA-F]{32,}|[A-Za-z0-9+/%_-]{40,}=*)"),
    (
        # https://user:p@ss/word@host; what follows a port is a path
        ("://",),
        r"""(://)[^\s/@:'"\[]*:(?!\d{1,5}(?:[/?#:,\s]|$))(?:(?!://)[^\s'"<>])*(?=@[\w.\[-]+(?:[\]:/?#\s'",)]|$))""",
    ),
    # https://user:pass@host, https://token@host
    (("://",), r"(://)[^\s/@'\"]+(?=@)"),
    (
        # curl -u user:X
        ("curl",),
        r"""(\bcurl\b[^\r\n|;]{0,400}?[ \t](?:-[A-Za-z]{0,9}[uU]|--user|--proxy-user)[ \t=]*['"]?[^\s:'"]+:)[^\s'"]+""",
    ),
    (("sshpass",), rf"(\bsshpass[ \t]+-p[ \t]*){_VALUE}"),
    (
        # values that are secrets by their shape
        _SHAPES,
        r"()\b(?:hf_[A-Za-z0-9]{8,}|(?:sk-|gsk_|sk_live_)[A-Za-z0-9_-]{8,}|gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}"
        r"|glpat-[\w-]{12,}|nvapi-[\w-]{16,}|xai-[A-Za-z0-9]{16,}|A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{16,}"
        r"|xox[abprs]-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
    ),
    # a key on one line
    (("private key",), r"(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)(?:(?!-----END)[^\r\n])+"),
    (
        # {"name": "API_KEY", "value": "X"}, either way round
        ('value"', "value'", "value\\"),
        rf"({_QUOTE}name{_QUOTE}[ \t]*:[ \t]*{_QUOTE}(?:(?i:{_NAME})|{_CAPITAL_NAME}){_QUOTE}[ \t]*,[ \t]*"
        rf"{_QUOTE}value{_QUOTE}[ \t]*:[ \t]*){_EMPTY}{_VALUE}",
    ),
    (
        ('value"', "value'", "value\\"),
        rf"({_QUOTE}value{_QUOTE}[ \t]*:[ \t]*){_VALUE}"
        rf"(?=[ \t]*,[ \t]*{_QUOTE}name{_QUOTE}[ \t]*:[ \t]*{_QUOTE}(?:(?i:{_NAME})|{_CAPITAL_NAME}){_QUOTE})",
    ),
)
CAPITAL_SIGNS = ("TOKEN", "_PAT", "_PASS", "_PW")
"""Signs as they stand of the last kind: HF_TOKEN=X. An engine's log is full of tokens and paths."""
CAPITAL_KIND = rf"((?<![a-z])\b{_CAPITAL_NAME}(?:{_QUOTE})?[ \t]*[=:][ \t]*){_EMPTY}{_VALUE}"
