"""The channels of evidence as a table: what each says, how old that is, when it last showed work, what would open it.

A channel that is closed is named all the same: an operator who knows what is missing knows what the verdict cannot see.
"""

from __future__ import annotations

from bringup.core.sanitize import clean_text
from bringup.core.verdict import ChannelView
from bringup.core.words import duration
from bringup.ui.paint.measures import age, short_duration
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.picture import Picture

_NAME, _AGE = 12, 8
_OLD = 30.0
"""Seconds without an answer from which a channel is marked: each of them is asked, or writes, more often."""
_OPENS = {
    "log": "Let the server write to a file, or name the file with --log.",
    "maps": "Log in as the user of the server or as root, or let this login use sudo.",
    "processes": "Processes can be watched on Linux, by their user or root.",
    "gpus": "Install nvidia-smi, or put it on the PATH of this login.",
    "memory": "Install nvidia-smi, or put it on the PATH of this login.",
    "http": "Allow port forwarding (AllowTcpForwarding), or install curl on the host.",
    "kernel": "Read it as root or as a member of adm: dmesg, or journalctl -k.",
    "search": "Allow more sessions for one connection (MaxSessions).",
}
_QUIET_LOG = ("log", "bar", "kernel")
"""Channels whose silence is no fault: they speak when there is something to say."""


def paint_channels(picture: Picture, width: int) -> list[Row]:
    """Return the table as rows of at most `width` cells; what is said may take several."""
    head = f"  {'channel'.ljust(_NAME)}{'heard'.rjust(_AGE)}{'work'.rjust(_AGE)}   says"
    rows: list[Row] = [((head, "quiet"),), *_connection(picture, width)]
    waiting = picture.verdict.state == "waiting"
    for view in picture.verdict.channels:
        if waiting and view.open and view.heard_s is None:
            continue  # there is nothing yet that it could tell of
        rows += _channel(view, width) if view.open else _closed(view, width)
    for at, how in picture.state.log.moves[-3:]:
        rows.append(_line("", "", "", f"the log was {clean_text(how)} {duration(picture.now - at)} ago", "log-warn"))
    return rows


def _connection(picture: Picture, width: int) -> list[Row]:
    link = picture.state.link
    text = f"{link.status}{f', {clean_text(link.why)}' if link.why else ''}"
    since = short_duration(picture.now - link.since) if link.since else ""
    says = f"{text} for {since}" if since and link.status == "up" else text
    return _wrapped("connection", "", "", says, "text" if link.status == "up" else "bad", width)


def _channel(view: ChannelView, width: int) -> list[Row]:
    late = view.heard_s is not None and view.heard_s > _OLD and view.channel not in _QUIET_LOG
    return _wrapped(
        clean_text(view.channel),
        _age(view.heard_s),
        _age(view.moved_s),
        clean_text(view.says),
        "log-warn" if late else "text",
        width,
    )


def _closed(view: ChannelView, width: int) -> list[Row]:
    why = clean_text(view.says).rstrip(".")
    rows = _wrapped(clean_text(view.channel), "closed", "", f"{why}.", "log-warn", width)
    opens = _OPENS.get(view.channel, "")
    if opens and opens.split()[0] not in why and "MaxSessions" not in why:
        room = max(10, width - _NAME - 2 * _AGE - 7)
        lead = " " * (_NAME + 2 * _AGE + 5)
        for number, line in enumerate(wrapped(opens, room, 3)):
            rows.append(((lead, "text"), ("→ " if number == 0 else "  ", "key"), (line, "text")))
    return rows


def _age(seconds: float | None) -> str:
    return "-" if seconds is None else age(max(0.0, seconds))


def _wrapped(name: str, heard: str, work: str, says: str, ink: str, width: int) -> list[Row]:
    lines = wrapped(says, max(10, width - _NAME - 2 * _AGE - 5), 4)
    return [_line(name, heard, work, lines[0], ink), *(_line("", "", "", line, ink) for line in lines[1:])]


def _line(name: str, heard: str, work: str, says: str, ink: str) -> Row:
    return (
        (f"  {name.ljust(_NAME)}", "text" if ink == "text" else ink),
        (heard.rjust(_AGE), "quiet" if ink == "text" else ink),
        (work.rjust(_AGE), "quiet"),
        ("   ", "text"),
        (says, ink),
    )
