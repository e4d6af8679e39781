"""Everything that comes from a watched host, made harmless for a terminal.

A log line can carry escape sequences (titles, clipboard writes, cursor moves), C1 controls, text that runs backwards
and letters of no width; a terminal obeys them wherever they are printed. Nothing remote is shown without passing here.
"""

from __future__ import annotations

import re
from unicodedata import category

_ESCAPES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC with their payload
    r"|[ -/]+[0-~]"  # character sets
    r"|[0-Z\\^-~]"  # two-byte sequences
    r")"
)
_COLOURS = re.compile(
    rb"\x1b(?:"
    rb"\[[0-?]*[ -/]*[@-~]"
    rb"|\][^\x07\x1b]*(?:\x07|\x1b\\|$)"
    rb"|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # as above: a payload that is not ended stays
    rb"|[@-Z\\^_]"
    rb")"
)
_HOSTILE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_MARK = "\ufffd"
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef\ufdd0-\ufdef\ufffe\uffff]"
)
"""Letters and marks that show nothing (Unicode's Default_Ignorable_Code_Point), and what is no letter at all."""
_TAB = 8


def without_colours(data: bytes) -> bytes:
    """Return a record of a log without escape sequences, so that what they surround can be read."""
    return _COLOURS.sub(b"", data) if b"\x1b" in data else data


def clean(data: bytes) -> str:
    """Return one line of bytes as text that a terminal only prints; what cannot be shown becomes U+FFFD."""
    return clean_text(data.decode("utf-8", "replace"))


def clean_text(text: str) -> str:
    """Return text that a terminal only prints: no escape, no control, nothing of zero width or reversed direction.

    Tabs become blanks up to the next multiple of eight, line ends become blanks.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _UNSEEN.sub(_MARK, _ESCAPES.sub("", text))
    text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").expandtabs(_TAB)
    if text.isprintable():
        return text
    return "".join([letter if letter.isprintable() or _harmless(letter) else _MARK for letter in text])


def _harmless(letter: str) -> bool:
    """Tell whether a letter that Python calls unprintable only takes room, as a no-break space does."""
    return category(letter) not in _HOSTILE
