"""Secrets in command lines, arguments, environments and addresses, replaced before anybody sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import AnyStr

from bringup.core.key_blocks import KeyBlock, hide_keys
from bringup.core.secret_shapes import CAPITAL_KIND, CAPITAL_SIGNS, FLAG, KINDS, MANY_FLAG, OPTION

STAND_IN = "***"

_TEXT = tuple((signs, re.compile(pattern)) for signs, pattern in KINDS)
_BYTES = tuple((tuple(map(str.encode, signs)), re.compile(pattern.encode())) for signs, pattern in KINDS)
_CAPITAL_TEXT = re.compile(CAPITAL_KIND)
_CAPITAL_BYTES = re.compile(CAPITAL_KIND.encode())

_ALL_SIGNS = frozenset(sign for signs, _ in KINDS for sign in signs)
_SIGNS = tuple(sign for sign in _ALL_SIGNS if not any(other in sign for other in _ALL_SIGNS - {sign}))
"""A text without any of these, in small or capital letters, and without a sign in capitals is left as it is."""
_TOKEN_SIGNS = tuple(sign for sign in _SIGNS if "token" in sign)
_OTHER_SIGNS = tuple(sign for sign in _SIGNS if "token" not in sign)
_SIGNS_BYTES = tuple(sign.encode() for sign in _SIGNS)
_TOKEN_SIGNS_BYTES = tuple(sign.encode() for sign in _TOKEN_SIGNS)
_OTHER_SIGNS_BYTES = tuple(sign.encode() for sign in _OTHER_SIGNS)
_CAPITALS_BYTES = tuple(sign.encode() for sign in CAPITAL_SIGNS)
_BEGUN = tuple(
    {sign[:size] for sign in (*_SIGNS_BYTES, *map(bytes.lower, _CAPITALS_BYTES)) for size in range(1, len(sign))}
)
"""Beginnings of signs: at the end of an unfinished text they may grow into one."""
_DIGITS = b"0123456789"
_FLAG = re.compile(FLAG)
_MANY = re.compile(rf"{MANY_FLAG}(?:=.*)?", re.DOTALL)
_OPTION = re.compile(OPTION)
_LOGINS = {"curl": ("-u", "-U", "--user", "--proxy-user"), "sshpass": ("-p",)}
"""Programs whose options with a secret are other programs' harmless ones."""
_KEY_MARK = "PRIVATE KEY"
_KEY_MARK_BYTES = b"PRIVATE KEY"
_LINE_END = re.compile(rb"([\r\n]+)")


def mask(text: AnyStr) -> AnyStr:
    """Return the text with every secret replaced by asterisks; the very same object where there is none."""
    return _mask_bytes(text) if isinstance(text, bytes) else _mask_text(text)


def _mask_text(text: str) -> str:
    small = text.lower()
    capital = any(map(text.__contains__, CAPITAL_SIGNS))
    if not capital and not _is_signed(small):
        return text
    if _KEY_MARK in text:
        text = _without_keys(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    for signs, pattern in _TEXT:
        if any(map(small.__contains__, signs)):
            text = pattern.sub(r"\1***", text)
    return _CAPITAL_TEXT.sub(r"\1***", text) if capital else text


def _mask_bytes(text: bytes) -> bytes:
    small = text.lower()
    capital = any(map(text.__contains__, _CAPITALS_BYTES))
    if not capital and not _is_signed_bytes(small):
        return text
    if _KEY_MARK_BYTES in text:
        text = _without_keys(text)
    for signs, pattern in _BYTES:
        if any(map(small.__contains__, signs)):
            text = pattern.sub(rb"\1***", text)
    return _CAPITAL_BYTES.sub(rb"\1***", text) if capital else text


def _without_keys(text: bytes) -> bytes:
    """Return a text of some lines without the private keys in it."""
    pieces = _LINE_END.split(text)
    pieces[::2] = hide_keys(pieces[::2])
    return b"".join(pieces)


def plain_until(text: bytes) -> int:
    """Return how many bytes of an unfinished text hold no secret, whatever comes after it.

    What is masked begins with a sign or after it; at the end of the text one may have begun.
    """
    small = text.lower()
    found = [small.find(sign) for sign in _SIGNS_BYTES]
    found += [text.find(sign) for sign in _CAPITALS_BYTES]
    begun = max((len(part) for part in _BEGUN if small.endswith(part)), default=0)
    return min((at for at in found if at >= 0), default=len(text) - begun)


class LineMasker:
    """Masks the lines of one log as they come; cheap while none of them looks like a secret.

    It remembers that a private key has begun: its lines have no other sign.
    """

    def __init__(self) -> None:
        self._block = KeyBlock()

    @property
    def is_within_key(self) -> bool:
        """A private key has begun and not ended."""
        return self._block.is_open

    def lines(self, lines: list[bytes]) -> list[bytes]:
        """Return the next lines, masked."""
        if not self._block.is_open and not has_sign_in_lines(b"\n".join(lines)):
            return lines
        return [mask(self._block.hide(line)) for line in lines]

    def peek(self, line: bytes) -> bytes:
        """Return the unfinished line behind them, masked."""
        return mask(self._block.peek(line))


def mask_lines(lines: list[bytes]) -> list[bytes]:
    """Mask many lines at once, of which the first stands at the begin of a log or of a record."""
    return LineMasker().lines(lines)


def mask_excerpt(lines: list[bytes]) -> list[bytes]:
    """Mask lines from the middle of a log: a private key may have begun before them."""
    return mask_lines(hide_keys(lines))


def has_sign_in_lines(text: bytes) -> bool:
    """Tell whether some lines may hold a secret; the fewer kinds of them there are, the faster.

    The lines of a busy log differ by their numbers only, and no sign holds a digit: without digits, most of them are
    the same line.
    """
    return _has_sign(b"\n".join(set(text.translate(None, _DIGITS).split(b"\n"))))


def _has_sign(text: bytes) -> bool:
    return any(map(text.__contains__, _CAPITALS_BYTES)) or _is_signed_bytes(text.lower())


def _is_signed(small: str) -> bool:
    if any(map(small.__contains__, _OTHER_SIGNS)):
        return True
    return "token" in small and any(map(small.__contains__, _TOKEN_SIGNS))


def _is_signed_bytes(small: bytes) -> bool:
    if any(map(small.__contains__, _OTHER_SIGNS_BYTES)):
        return True
    return b"token" in small and any(map(small.__contains__, _TOKEN_SIGNS_BYTES))


def mask_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command line with its secrets replaced, argument by argument."""
    shown: list[str] = []
    logins: tuple[str, ...] = ()
    hide = many = False
    for argument in argv:
        if hide and not _OPTION.match(argument):
            shown.append(STAND_IN)
            hide = many
            continue
        many = _MANY.fullmatch(argument) is not None
        hide = many or _FLAG.fullmatch(argument) is not None or argument in logins
        logins = _LOGINS.get(argument.rpartition("/")[2], logins)
        shown.append(mask(argument))
    return tuple(shown)
