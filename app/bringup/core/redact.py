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
_VALUE = r"""(?:'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s,;&)\]}'"]+)"""
_EMPTY = r"""(?!(?:None|null|True|False|''|"")(?:[\s,;&)\]}]|$))"""

_PATTERNS = (
    # --api-key X, --api-key=X, --token X
    rf"(?i:(?<![\w-])(--?(?:{_NAME}|token)(?:=|\s+)))(?!-){_EMPTY}{_VALUE}",
    # api_key='X', 'api_key': 'X', "api_key": "X", HF_TOKEN=X
    rf"""(?i:(\b{_NAME}['"]?\s*[=:]\s*)){_EMPTY}{_VALUE}""",
    rf"""((?<![a-z])\b{_TOKEN_NAME}['"]?\s*[=:]\s*){_EMPTY}{_VALUE}""",
    r"""(['"]token['"]\s*[:=]\s*)['"][^'"]+['"]?""",
    # Authorization: Bearer X, X-Api-Key: X
    r"""(?i:(\b(?:proxy-)?authorization['"]?\s*[:=]\s*['"]?(?:bearer|basic|token)\s+))[^\s'",]+""",
    r"(?i:(\bbearer\s+))[A-Za-z0-9._~+/=-]{8,}",
    # https://user:pass@host, https://token@host
    r"(://)[^\s/@'\"]+(?=@)",
    # values that are secrets by their shape
    r"()\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[opsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|nvapi-[\w-]{16,}|AKIA[0-9A-Z]{12,}|xox[abprs]-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
)
_TEXT = tuple(re.compile(pattern) for pattern in _PATTERNS)
_BYTES = tuple(re.compile(pattern.encode()) for pattern in _PATTERNS)

_SIGNS = (
    "key", "KEY", "Key", "assw", "ASSW", "assphrase", "ASSPHRASE", "ecret", "ECRET", "redential", "REDENTIAL",
    "TOKEN", "_token", "--", "'token", '"token', "earer", "EARER", "uthorization", "UTHORIZATION", "://",
    "hf_", "sk-", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_", "glpat-", "nvapi-", "AKIA", "xox", "eyJ",
)  # fmt: skip
"""A text without any of these holds nothing that would be masked; looking for them costs almost nothing."""
_SIGNS_BYTES = tuple(sign.encode() for sign in _SIGNS)
_BEGUN = tuple({sign[:size] for sign in _SIGNS_BYTES for size in range(1, len(sign))})
"""Beginnings of signs: at the end of an unfinished text they may grow into one."""
_FLAG = re.compile(rf"(?i)--?(?:{_NAME}|token)")


def mask(text: AnyStr) -> AnyStr:
    """Return the text with every secret replaced by asterisks; the very same object where there is none."""
    if isinstance(text, bytes):
        if any(sign in text for sign in _SIGNS_BYTES):
            for pattern in _BYTES:
                text = pattern.sub(rb"\1***", text)
    elif any(sign in text for sign in _SIGNS):
        for plain in _TEXT:
            text = plain.sub(r"\1***", text)
    return text


def holds_sign(text: bytes) -> bool:
    """Say whether something in a text may be a secret, or the beginning of one that is cut off."""
    return any(sign in text for sign in _SIGNS_BYTES) or text.endswith(_BEGUN)


def mask_lines(lines: list[bytes]) -> list[bytes]:
    """Mask many lines at once; cheap while none of them looks like a secret."""
    whole = b"\n".join(lines)
    if not any(sign in whole for sign in _SIGNS_BYTES):
        return lines
    return [mask(line) for line in lines]


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
