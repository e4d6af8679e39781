"""One line: which host, which model, which engine, how long since the launch, and the host's time of day."""

from __future__ import annotations

import re

from bringup.core.events import Launcher
from bringup.core.sanitize import clean_text
from bringup.core.state import Attempt
from bringup.core.words import duration
from bringup.ui.paint.measures import clock
from bringup.ui.paint.models import disk
from bringup.ui.paint.row import Row, joined, shorten, spread, width_of
from bringup.ui.picture import Picture

_SNAPSHOT = re.compile(r"models--(?:[^/]+--)?([^/]+)/snapshots/")
_LONGEST_MODEL = 40
_LONGEST_LAUNCHER = 32
PLAIN_LAUNCHERS = ("process", "session", "nohup")
"""Kinds of launchers that mean nothing for a stop or a restart beyond what holds for every server."""
_GOING = ("starting", "slow", "stalled")


def model_name(path: str) -> str:
    """Return the short name of a model: of a hub cache or a path, the part that a person would say."""
    found = _SNAPSHOT.search(path)
    return clean_text(found[1] if found else path.rstrip("/").rpartition("/")[2] or path)


def layout(attempt: Attempt) -> str:
    """Return the parallel sizes: "TP8", "TP8 DP2", "TP16 over 2 nodes, this is node 1"."""
    sizes = [("TP", attempt.tp), ("PP", attempt.pp), ("DP", attempt.dp), ("EP", attempt.ep)]
    words = " ".join(f"{name}{number}" for name, number in sizes if number > 1 or name == "TP")
    if attempt.nnodes > 1:
        words += f" over {attempt.nnodes} nodes, this is node {attempt.node_rank}"
    return words


def paint_identity(picture: Picture, width: int) -> Row:
    """Return the line of identity; what matters least goes first where there is little room."""
    right = _times(picture, long=width >= 100)
    room = width - width_of(right) - 2
    for detail in (6, 5, 4, 3, 2, 1, 0):
        left = _left(picture, detail)
        if width_of(left) <= room:
            break
    return spread(left, right, width)


def _left(picture: Picture, detail: int) -> Row:
    verdict, attempt = picture.verdict, picture.state.attempt
    most = _LONGEST_MODEL if detail else 18
    model = shorten(model_name(verdict.model), most) if verdict.model else ""
    if model and verdict.draft_model:
        model += f" + {shorten(model_name(verdict.draft_model), most) if detail > 1 else 'draft'}"
    engine = clean_text(" ".join(filter(None, (verdict.engine, verdict.version))))
    port = f"port {verdict.port}" if verdict.port is not None and detail > 2 else ""
    number = f"launch {verdict.attempt} in this log" if verdict.attempt > 1 and detail > 1 else ""
    pieces = joined(
        [
            (clean_text(picture.title), "strong"),
            (model, "text"),
            (engine, "text"),
            (layout(attempt) if attempt.launched else "", "text"),
            (port, "quiet"),
            (number, "quiet"),
            (_disk(picture) if detail > 4 else "", "quiet"),
            (_launcher(picture) if detail > 5 else "", "quiet"),
        ]
    )
    return ((" ", "text"), *((("bringup ", "quiet"),) if detail > 3 else ()), *pieces)


def _launcher(picture: Picture) -> str:
    """What launched the server, where that is more than a shell: a unit, a container, a pane, a script."""
    launcher = picture.state.server.launcher if picture.state.server is not None else Launcher()
    if launcher.kind in ("", *PLAIN_LAUNCHERS):
        return ""
    return shorten(f"{launcher.kind} {launcher.name}".strip(), _LONGEST_LAUNCHER)


def _disk(picture: Picture) -> str:
    """What the target lies on, while that matters: until it is loaded."""
    going = picture.verdict.state in _GOING and picture.verdict.phase in (None, "launch", "distributed", "weights")
    kinds = [disk(known) for known in picture.state.checkpoints if known.role == "target"]
    return kinds[0] if going and kinds else ""


def _times(picture: Picture, *, long: bool) -> Row:
    verdict, offset = picture.verdict, picture.state.utc_offset
    now = (clock(picture.now, offset) + " ", "quiet")
    if verdict.since is None:
        return (now,)
    if verdict.state in _GOING:
        words = duration(picture.now - verdict.since) + (" since launch" if long else "")
        return ((words, "strong"), ("  ", "text"), now)
    return ((f"launched {clock(verdict.since, offset)}", "quiet"), ("  ", "text"), now) if long else (now,)
