"""The keys as data: the bindings, the footer, the help, the palette and the README's table are all made from this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

Scope = Literal["app", "watch", "log", "ranks", "replay"]


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that a key does."""

    id: str
    keys: str
    """Textual's names, separated by commas."""
    shown: str
    """As an operator reads them."""
    action: str
    does: str
    """Two or three words, for the footer and the palette."""
    tooltip: str
    """A sentence, for the help."""
    group: str
    scope: Scope = "watch"
    footer: int = 0
    """Rank in the footer, 1 first; 0 keeps it out."""
    destructive: bool = False
    """It touches the server: a capital, confirmed, and gone in read-only mode."""
    palette: bool = True
    several: bool = False
    """It is of use, and shown, only where a start has several hosts."""


LEAVING = ("q", "ctrl+q", "ctrl+c", "ctrl+z")
"""Keys that are heard before anything else can be done."""
GROUPS = ("Program", "Panels", "Log", "Server", "Replay")
NOT_IN_REPLAY = ("unfinished", "place", "retry", "record", "left", "right", "page-down", "top", "servers", "diagnose")
"""There is nothing there to ask, or the key moves the recording."""

KEYS: tuple[Key, ...] = (
    Key("quit", "q,ctrl+q,ctrl+c", "q", "leave", "quit",
        "Leave the console; the server is never touched.", "Program", "app", 1),
    Key("help", "question_mark,h,f1", "? h F1", "help", "help", "Show all keys.", "Program", footer=2),
    Key("palette", "ctrl+p,colon", "ctrl+p :", "command_palette", "commands",
        "Find an action or a theme by its name.", "Program", "app", palette=False),
    Key("suspend", "ctrl+z", "ctrl+z", "suspend_process", "suspend",
        "Go to the background; fg comes back.", "Program", "app", palette=False),
    Key("record", "ctrl+r", "ctrl+r", "record", "record",
        "Record what is seen, from the beginning of this start, and end it again; says where.", "Program", "app"),
    Key("retry", "r", "r", "retry", "connect again",
        "Try to connect again, at once; after a login that was refused nothing else does.", "Program", palette=False),
    Key("verdict", "1", "1", "panel('verdict')", "verdict", "Go to the verdict.", "Panels"),
    Key("phases", "2", "2", "panel('phases')", "phases", "Go to the phases.", "Panels"),
    Key("ranks", "3", "3", "panel('ranks')", "ranks", "Go to the ranks; ↑ and ↓ choose one.", "Panels"),
    Key("gpus", "4", "4", "panel('gpus')", "GPUs",
        "Go to the GPUs; on a small screen they take the place of the ranks.", "Panels"),
    Key("node", "a", "a", "node", "another node",
        "Where a start has several hosts: show the log and the GPUs of the next one.", "Panels", several=True),
    Key("log", "5,l", "5 l", "panel('log')", "log", "Go to the log.", "Panels"),
    Key("evidence", "v", "v", "evidence", "evidence",
        "Show all that the verdict rests on, and how old each channel is.", "Panels", footer=8),
    Key("back", "escape", "esc", "back", "back",
        "Leave a dialog or the full screen, end a search, show the lines of all ranks, put a failure aside.", "Panels",
        palette=False),
    Key("search", "slash", "/", "search", "search",
        "Search the log; a capital letter makes it mind the case.", "Log", footer=3),
    Key("next", "n", "n", "next_match(1)", "next match", "Go to the next match.", "Log"),
    Key("previous", "N", "N", "next_match(-1)", "previous match", "Go to the match before.", "Log"),
    Key("error", "e", "e", "next_error(1)", "next error", "Go to the next error line.", "Log", footer=10),
    Key("error-back", "E", "E", "next_error(-1)", "previous error", "Go to the error line before.", "Log"),
    Key("cause", "full_stop", ".", "cause", "the cause",
        "Go to the log line that caused the failure.", "Log", footer=4),
    Key("rank", "enter", "enter", "filter_rank", "only this rank",
        "On a rank: show its log lines only; esc shows all again.", "Log", "ranks", 5, palette=False),
    Key("full", "f", "f", "full_screen", "full screen",
        "Give the log the whole screen, and take it back.", "Log", footer=9),
    Key("follow", "s", "s", "autoscroll", "autoscroll",
        "Follow the end, or stop following; scrolling up stops it too.", "Log", footer=13),
    Key("resume", "G,end", "G", "resume", "to the end", "Go to the newest line and follow.", "Log"),
    Key("wrap", "w", "w", "wrap", "wrap", "Break long lines, or cut them at the edge.", "Log", footer=14),
    Key("copy", "c", "c", "copy", "copy",
        "Copy what the focused panel shows, through the terminal (OSC 52).", "Log", footer=15),
    Key("up", "k,up", "↑ k", "move(-1)", "up", "One line up.", "Log", "log", palette=False),
    Key("down", "j,down", "↓ j", "move(1)", "down", "One line down.", "Log", "log", palette=False),
    Key("page-up", "pageup,ctrl+b", "PgUp", "page(-1)", "page up", "One page up.", "Log", "log", palette=False),
    Key("page-down", "pagedown,space", "PgDn", "page(1)", "page down", "One page down.", "Log", "log", palette=False),
    Key("half-up", "ctrl+u", "ctrl+u", "half(-1)", "half up", "Half a page up.", "Log", "log", palette=False),
    Key("half-down", "ctrl+d", "ctrl+d", "half(1)", "half down", "Half a page down.", "Log", "log", palette=False),
    Key("top", "g,home", "g", "top", "to the beginning",
        "Go to the oldest line that is held; once more, to the beginning of the log.", "Log", "log", palette=False),
    Key("place", "p,percent_sign", "p", "place", "go to a place",
        "Read the whole log on its host from a place on: 42%, 4.1 GB, 14:03, or a byte.", "Log"),
    Key("left", "left", "←", "aside(-1)", "left", "Back along lines that are cut.", "Log", "log", palette=False),
    Key("right", "right", "→", "aside(1)", "right", "On along lines that are cut.", "Log", "log", palette=False),
    Key("servers", "o", "o", "servers", "servers",
        "Show the servers and orphans of the host: watch another server, clear orphans; asks first.", "Server",
        footer=12),
    Key("diagnose", "d", "d", "diagnose", "diagnose",
        "Ask the host for stacks, wait channels, memory and the kernel log, and keep the answers in a file.", "Server",
        footer=11),
    Key("report", "ctrl+s", "ctrl+s", "report", "report",
        "Write all that is known of this start as one page for a ticket, and say where it is.", "Server"),
    Key("restart", "R", "R", "restart", "restart",
        "Stop the server and launch it again as it was, or with an edited command; asks first.", "Server",
        footer=7, destructive=True),
    Key("kill", "K", "K", "kill", "stop",
        "Stop the server by its launcher's own command or a signal; asks first.", "Server", footer=6, destructive=True),
    Key("unfinished", "u", "u", "left_over", "unfinished",
        "Show a stop or restart that was cut off or failed, and what can be done about it.", "Server", footer=2),
    Key("play", "space", "space", "replay_toggle", "play, pause",
        "In a replay: stop, go on, and at the end begin anew.", "Replay", "replay", 1),
    Key("mark", "m", "m", "replay_step(1)", "next change",
        "In a replay: go to the next change of the verdict or the phase.", "Replay", "replay", 2),
    Key("mark-back", "M", "M", "replay_step(-1)", "change before",
        "In a replay: go to the change before.", "Replay", "replay", 3),
    Key("back-10", "left", "←", "replay_seek(-10)", "10 s back",
        "In a replay: 10 seconds back.", "Replay", "replay", 4),
    Key("on-10", "right", "→", "replay_seek(10)", "10 s on", "In a replay: 10 seconds on.", "Replay", "replay", 5),
    Key("back-60", "left_square_bracket,shift+left", "[", "replay_seek(-60)", "a minute back",
        "In a replay: a minute back.", "Replay", "replay", 8),
    Key("on-60", "right_square_bracket,shift+right", "]", "replay_seek(60)", "a minute on",
        "In a replay: a minute on.", "Replay", "replay", 9),
    Key("faster", "plus", "+", "replay_speed(1)", "faster", "In a replay: play faster.", "Replay", "replay", 6),
    Key("slower", "minus", "-", "replay_speed(-1)", "slower", "In a replay: play slower.", "Replay", "replay", 7),
    Key("begin", "home", "home", "replay_edge(0)", "begin", "In a replay: go to its begin.", "Replay", "replay", 10),
    Key("finish", "end", "end", "replay_edge(1)", "end", "In a replay: go to its end.", "Replay", "replay", 11),
)  # fmt: skip
"""All keys, in the order of the help."""


def bindings(scope: Scope) -> list[Binding]:
    """Return the bindings of an application, screen or widget."""
    return [
        Binding(key.keys, key.action, key.does, show=False, tooltip=key.tooltip, id=key.id, priority=scope == "replay")
        for key in KEYS
        if key.scope == scope
    ]


def shown(*, read_only: bool, replay: bool = False, several: bool = False) -> tuple[Key, ...]:
    """Return the keys that an operator may see, of a live session (of several hosts) or of a recording."""
    keys = tuple(key for key in KEYS if several or not key.several)
    if replay:
        return tuple(key for key in keys if not key.destructive and key.id not in NOT_IN_REPLAY)
    return tuple(key for key in keys if not (read_only and key.destructive) and key.scope != "replay")
