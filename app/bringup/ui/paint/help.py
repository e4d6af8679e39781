"""The help: every key with a sentence, made from the keys themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.ui.keys import Key, shown
from bringup.ui.own_keys import NO_OWN_KEYS, renamed
from bringup.ui.paint.bars import GROWN, INFERRED, OPENED, READ, SOLID, UNKNOWN
from bringup.ui.paint.row import Row, width_of, wrapped
from bringup.ui.paint.verdict import SIGNS

_KEY = 10
_UNCONNECTED = (
    "There is no connection yet: no key touches a server. Later those that do ask first, unless --read-only or a "
    "read-only target has turned them off."
)
_STATES = {
    "waiting": "no launch was seen yet",
    "starting": "progress as expected",
    "slow": "it works, but a rank is behind or the rate fell",
    "stalled": "nothing moves on any channel, for far longer than this phase explains",
    "failed": "an error ended it, or a rank is gone",
    "stopped": "it was ended from outside",
    "ready": "it serves, and every channel agrees",
    "degraded": "it serves, but something is wrong",
    "standby": "a worker node is up; the head node decides",
    "unknown": "no channel answers",
}
_TEXTURES = (
    (SOLID, "proven", "proven by the rank's own log line"),
    (READ, "observed", "read, as the rank's memory maps show"),
    (OPENED, "opened", "opened, perhaps not read yet"),
    (GROWN, "grown", "as the memory of the rank's GPU grew: some loaders take it all at once"),
    (INFERRED, "inferred", "only inferred from other ranks"),
    (UNKNOWN, "track", "how far it is cannot be told"),
)


def paint_help(
    width: int,
    *,
    read_only: str,
    replay: bool = False,
    several: bool = False,
    own: Mapping[str, str] = NO_OWN_KEYS,
    connected: bool = True,
) -> list[Row]:
    """Return the help as rows of at most `width` cells; `own` are the operator's keys.

    `read_only` says why no key touches a server; "" where some do, which is not known before it is `connected`.
    """
    keys = renamed(shown(read_only=bool(read_only), replay=replay, several=several), own)
    first = read_only or (_touching(keys) if connected else _UNCONNECTED)
    rows: list[Row] = [*(((line, "text"),) for line in wrapped(clean_text(first), width, 6)), ()]
    for group in dict.fromkeys(key.group for key in keys):
        rows.append(((group, "title"),))
        for key in (key for key in keys if key.group == group):
            rows += _entry(key.shown, "key", key.tooltip, width)
        rows.append(())
    rows.append((("Bars", "title"),))
    for texture, ink, meaning in _TEXTURES:
        rows += _entry(texture * 6, ink, meaning, width)
    rows += [(), (("States", "title"),)]
    for state, meaning in _STATES.items():
        sign, ink = SIGNS[state]
        rows += _entry(f"{sign} {state}", ink, meaning, width)
    return rows


def _touching(keys: Sequence[Key]) -> str:
    """Which keys lead to something that is done to a process."""
    touch = names([key.shown.split()[0] for key in keys if key.destructive])
    leads = {key.id: key.shown.split()[0] for key in keys}
    lists = f"{leads['unfinished']} can launch what was cut off, {leads['servers']} can end orphans"
    return f"{touch} touch the server; {lists}. Each of them asks first; nothing else touches a process."


def _entry(left: str, ink: str, text: str, width: int) -> list[Row]:
    lines = wrapped(text, max(10, width - _KEY - 4), 3)
    if width_of(((left, ink),)) > _KEY:
        rows: list[Row] = [((f"  {row}", ink),) for row in wrapped(left, max(10, width - 2), 3)]
        return [*rows, *(((" " * (_KEY + 4), "text"), (line, "text")) for line in lines)]
    first: Row = ((f"  {left.ljust(_KEY)}  ", ink), (lines[0], "text"))
    return [first, *(((" " * (_KEY + 4), "text"), (line, "text")) for line in lines[1:])]
