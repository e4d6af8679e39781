"""An edited command line: masked secrets get their values back, and what changed can be shown."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.errors import UsageError
from bringup.core.redact import STAND_IN, mask_argv


def unmask(argv: Sequence[str], edited: Sequence[str]) -> tuple[str, ...]:
    """Return an edited command line in which each masked word is the one that it stands for in `argv`.

    Where several masked words look alike, the word before decides, and how many of them follow it. Raises UsageError
    for one that stands for nothing.
    """
    shown = mask_argv(argv)
    masked = [at for at, word in enumerate(shown) if STAND_IN in word and word != argv[at]]
    plain = {word for word, seen in zip(argv, shown, strict=True) if word == seen}
    words: list[str] = []
    for at, word in enumerate(edited):
        if STAND_IN not in word or word in plain:
            words.append(word)
            continue
        before = _before(edited, at)
        alike = [place for place in masked if shown[place] == word]
        named = [place for place in alike if _before(shown, place) == before]
        meant = named or (alike if len(alike) == 1 else [])
        if not meant:
            raise UsageError(
                f"{before[0]} {word}".strip() + " does not tell which secret is meant.",
                "Type the value itself, or leave the word where it was.",
            )
        words.append(argv[meant[0]])
    return tuple(words)


def _before(words: Sequence[str], at: int) -> tuple[str, int]:
    """Return the word before a masked one, and how many masked ones are between them: a flag may take many secrets."""
    far = 1
    while far < at and words[at - far] == STAND_IN:
        far += 1
    return (words[at - far] if at else ""), far
