"""Secrets in command lines, arguments, environments and addresses, replaced before anybody sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import AnyStr

STAND_IN = "***"

_NAME = (
    r"[\w.-]*(?:api[-_]?keys?|access[-_]?key(?:[-_]?id)?|private[-_]?key|secret[-_]?key|secret|passw(?:or)?d|passphrase"
    r"|keyfile[-_]password|credentials?|(?:auth|access|hf|hub|hub_access|bearer|api|session|refresh|secret)[-_]?token)"
)
_TOKEN_NAME = r"(?:[A-Z][A-Z0-9_]*_)?TOKEN"
_VALUE = r"""(?:'(?:[^'\\\r\n]|\\[^\r\n])*'?|"(?:[^"\\\r\n]|\\[^\r\n])*"?|[^\s,;&)\]}'"]+)"""
_EMPTY = r"""(?!(?:None|null|True|False|''|"")(?:[\s,;&)\]}]|$))"""

_PATTERNS = (
    # --api-key X, --api-key=X, --token X
    rf"(?i:(?<![\w-])(--?(?:{_NAME}|(?:(?<=--)|(?<= -))token)(?:=|[ \t]+)))(?!-){_EMPTY}{_VALUE}",
    # api_key='X', 'api_key': 'X', "api_key": "X", HF_TOKEN=X
    rf"""(?i:(\b{_NAME}['"]?[ \t]*[=:][ \t]*)){_EMPTY}{_VALUE}""",
    rf"""((?<![a-z])\b{_TOKEN_NAME}['"]?[ \t]*[=:][ \t]*){_EMPTY}{_VALUE}""",
    r"""(['"]token['"][ \t]*[:=][ \t]*)['"][^'"\r\n]+['"]?""",
    # Authorization: Bearer X, X-Api-Key: X
    r"""(?i:(\b(?:proxy-)?authorization['"]?[ \t]*[:=][ \t]*['"]?(?:bearer|basic|token)[ \t]+))[^\s'",]+""",
    r"(?i:(\bbearer[ \t]+))[A-Za-z0-9._~+/=-]{8,}",
    # https://user:pass@host, https://token@host
    r"(://)[^\s/@'\"]+(?=@)",
    # values that are secrets by their shape
    r"()\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[opsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|nvapi-[\w-]{16,}|AKIA[0-9A-Z]{12,}|xox[abprs]-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
)
_TEXT = tuple(re.compile(pattern) for pattern in _PATTERNS)
_BYTES = tuple(re.compile(pattern.encode()) for pattern in _PATTERNS)

_SIGNS = (
    "key", "assw", "assphrase", "ecret", "redential", " -token", "--", "'token", '"token', "earer",
    "uthorization", "://", "hf_", "sk-", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "nvapi-", "akia",
    "xox", "eyj",
    *(f"{last}{dash}token" for last in "hsfbrint" for dash in ("", "-", "_")),  # auth-token, not #new-token
)  # fmt: skip
"""A text without any of these, in small or capital letters, holds nothing that would be masked.

Looking for them costs almost nothing.
"""
_CAPITAL = "TOKEN"
"""A sign only as it stands: an engine's log is full of tokens."""
_SIGNS_BYTES = tuple(sign.encode() for sign in _SIGNS)
_BEGUN = tuple({sign[:size] for sign in (*_SIGNS_BYTES, b"token") for size in range(1, len(sign))})
"""Beginnings of signs: at the end of an unfinished text they may grow into one."""
_DIGITS = b"0123456789"
_FLAG = re.compile(rf"(?i)--?(?:{_NAME}|token)")


def mask(text: AnyStr) -> AnyStr:
    """Return the text with every secret replaced by asterisks; the very same object where there is none."""
    if isinstance(text, bytes):
        if _has_sign(text):
            for pattern in _BYTES:
                text = pattern.sub(rb"\1***", text)
    elif _CAPITAL in text or any(map(text.lower().__contains__, _SIGNS)):
        for plain in _TEXT:
            text = plain.sub(r"\1***", text)
    return text


def plain_until(text: bytes) -> int:
    """Return how many bytes of an unfinished text hold no secret, whatever comes after it.

    What is masked begins with a sign or after it; at the end of the text one may have begun.
    """
    small = text.lower()
    found = [small.find(sign) for sign in _SIGNS_BYTES]
    found.append(text.find(b"TOKEN"))
    begun = max((len(part) for part in _BEGUN if small.endswith(part)), default=0)
    return min((at for at in found if at >= 0), default=len(text) - begun)


def mask_lines(lines: list[bytes]) -> list[bytes]:
    """Mask many lines at once; cheap while none of them looks like a secret."""
    if not has_sign_in_lines(b"\n".join(lines)):
        return lines
    return [mask(line) for line in lines]


def has_sign_in_lines(text: bytes) -> bool:
    """Tell whether some lines may hold a secret; the fewer kinds of them there are, the faster.

    The lines of a busy log differ by their numbers only, and no sign holds a digit: without digits, most of them are
    the same line. A date without its digits is two dashes: those are looked for in the text as it is.
    """
    if b"--" in text:
        return True
    kinds = b"\n".join(set(text.translate(None, _DIGITS).split(b"\n"))).replace(b"--", b"-")
    return _has_sign(kinds)


def _has_sign(text: bytes) -> bool:
    return b"TOKEN" in text or any(map(text.lower().__contains__, _SIGNS_BYTES))


def mask_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command line with its secrets replaced, argument by argument."""
    shown: list[str] = []
    hide = False
    for argument in argv:
        if hide and not argument.startswith("-"):
            shown.append(STAND_IN)
            hide = False
            continue
        hide = _FLAG.fullmatch(argument) is not None
        shown.append(mask(argument))
    return tuple(shown)
