"""The last line: the keys that matter now, as many as fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bringup.ui.keys import Key, shown
from bringup.ui.own_keys import NO_OWN_KEYS, renamed
from bringup.ui.paint.row import Row, Span, spread, width_of

if TYPE_CHECKING:
    # The first frame of the program has a footer too, and must not load what a picture is made of.
    from bringup.ui.picture import Picture

_NEEDS_CAUSE, _NEEDS_RANKS, _NEEDS_SERVER = ("cause",), ("rank",), ("restart", "kill")
_UNCONNECTED = ("quit", "help", "retry")
_WIDE = 100
_NEAREST = 2
_GONE = ("waiting", "failed", "stopped", "unknown")


def paint_footer(picture: Picture | None, width: int, panel: str, own: Mapping[str, str] = NO_OWN_KEYS) -> Row:
    """Return the hints for the focused panel; what cannot be done now is not offered. `own` are the operator's keys."""
    right = _signs(picture, width) if picture is not None else ()
    row: list[Span] = [(" ", "text")]
    room = width - width_of(right) - 1
    hints = _hints(picture, panel, own)
    for key, does in hints:
        spans = [(key, "key"), (f" {does}  ", "quiet")]
        if width_of((*row, *spans)) > room + 1:
            break
        row += spans
    return spread(tuple(row), right, width)


def _signs(picture: Picture, width: int) -> Row:
    """Return what holds for all that is shown: whether it is recorded, and that no key touches the server."""
    recorded: dict[str, Row] = {
        "asked": (("● recording ", "broken"),),
        # Every start is: it is told, and asks for no attention.
        "by-itself": (("keeps a recording " if width >= _WIDE else "kept ", "quiet"),),
    }
    read_only: Row = (("read-only ", "quiet"),) if picture.read_only else ()
    return (*recorded.get(picture.recorded, ()), *read_only)


def _hints(picture: Picture | None, panel: str, own: Mapping[str, str]) -> list[tuple[str, str]]:
    if picture is None:
        keys = {key.id: key for key in renamed(shown(read_only=True), own)}
        return [(keys[name].shown.split()[0], keys[name].does) for name in _UNCONNECTED]
    known = renamed(shown(read_only=picture.read_only), own)
    fit = [key for key in known if key.footer and _useful(key.id, picture, panel)]
    return [(key.shown.split()[0], key.does) for key in sorted(fit, key=lambda key: _rank(key, picture))]


def _rank(key: Key, picture: Picture) -> int:
    """The rank of a key in the footer; while no server is there, what lives on of others is the nearest thing to do."""
    near = picture.state.server is None or _lives_on(picture)
    return _NEAREST if key.id == "servers" and near else key.footer


def _lives_on(picture: Picture) -> bool:
    """Say whether a stop was cut off, and a part of its server lives on."""
    left = picture.left
    return left is not None and bool(left.alive) and not left.busy and left.server not in left.alive


def _useful(key: str, picture: Picture, panel: str) -> bool:
    verdict = picture.verdict
    if key in _NEEDS_CAUSE:
        return verdict.cause is not None and bool(verdict.cause.line)
    if key in _NEEDS_RANKS:
        return panel == "ranks" and bool(verdict.ranks)
    if key in _NEEDS_SERVER:
        return picture.state.server is not None and picture.state.gone_at is None and not picture.is_busy
    if key == "unfinished":
        return picture.left is not None
    if key == "servers":
        state = picture.state
        near = state.server is None or _lives_on(picture)
        return near or bool(state.others or state.orphans or any(app.orphan for app in state.gpu.apps))
    return True
