"""What each channel says to "does this server serve": yes, no, or that it cannot be had; in words for the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.events import HttpAnswered, Process
from bringup.core.phases import time_of
from bringup.core.state import State
from bringup.core.words import duration

Answer = Literal["yes", "no", "unknown"]
Owner = Literal["own", "foreign", "free", "unknown"]
NO_LOG = ("null", "missing", "denied", "terminal")
"""Kinds of logs that cannot be read."""
SETTLED = 2.0
"""Seconds after the ready line for which a question counts as asked before it: stamps of lines are whole seconds."""
_TITLE = 120
_DEAD = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Channel:
    """The answer of one channel, and what it rests on."""

    name: str
    """"process", "port", "http", "log"."""
    answer: Answer
    says: str
    """With numbers; of a channel that cannot be had, why."""


def agreement(state: State, now: float) -> tuple[Channel, ...]:
    """Return what the process, the port, HTTP and the log say, in this order."""
    return (_process(state), _port(state), _http(state), _log(state, now))


def owner(state: State) -> Owner:
    """Return whose process listens on the server's port; what is not of the newest look counts as unknown."""
    if state.port_seen_at is None or state.port_number not in (None, _number(state)) or _on_a_socket(state):
        return "unknown"
    if state.port_pid is None:
        return "free"
    if state.port_pid == 0 or state.sampled_at is None:
        return "unknown"
    tree = {process.pid for process in state.processes}
    if state.server is not None:
        tree.add(state.server.pid)
    return "own" if state.port_pid in tree else "foreign"


def awaits_answer(state: State) -> bool:
    """Say whether the port may still say what it says to the ready line: HTTP, or that nobody listens there."""
    ready, answer = time_of(state.attempt, "ready"), state.http
    if _on_a_socket(state) or any(name == "http" for name, _ in state.closed):
        return False
    if answer is None:
        looked = state.port_seen_at or 0.0
        return owner(state) != "free" or looked < (ready or 0.0) + SETTLED
    return ready is not None and not is_good(answer) and asked_before(answer, ready)


def has_log(state: State) -> bool:
    """Tell whether there is a log in which a ready line would be seen.

    One that shows nothing of a launch may have been turned down to warnings, or was cut off at its beginning.
    """
    if state.log.kind in NO_LOG or any(channel == "log" for channel, _ in state.closed):
        return False
    return state.server is None or not _is_mute(state)


def is_worker(state: State) -> bool:
    """Tell whether another node has the HTTP server; what answers here is a dummy (SGLang on node rank 1 and above)."""
    attempt = state.attempt
    return attempt.headless or (attempt.node_rank != 0 and 0 not in attempt.nodes)


def stranger(state: State) -> str:
    """Return a sentence about the listener on the server's port where it is not of the server, else ""."""
    if owner(state) != "foreign":
        return ""
    title = f" ({state.port_title[:_TITLE]})" if state.port_title else ""
    return f"Port {_number(state) or '?'} belongs to another process: PID {state.port_pid}{title}{_since(state)}"


def _since(state: State) -> str:
    """Since when the stranger is there: by its own start where discovery knows it, else by when it was first seen."""
    known = next((other for other in state.others if other.pid == state.port_pid and other.started_at), None)
    seen = state.sampled_at or state.port_seen_at
    if known is not None and seen is not None:
        return f", an older {known.engine} server, started {duration(seen - known.started_at)} ago"
    began, since = state.attempt.began_at, state.port_since
    if since is None or seen is None:
        return ""
    if began is not None and since <= began + 1:
        return ", there before this server was started"
    return f", seen there for {duration(seen - since)}"


def _number(state: State) -> int | None:
    if state.attempt.port is not None:
        return state.attempt.port
    return state.server.port if state.server is not None else None


def _on_a_socket(state: State) -> bool:
    """It was told to listen on a Unix socket, so its port says nothing."""
    return state.server is not None and any(word.partition("=")[0] == "--uds" for word in state.server.argv)


def _is_mute(state: State) -> bool:
    attempt = state.attempt
    return not (attempt.logged or attempt.reached or attempt.main or any(rank.edges for rank in attempt.ranks))


def _why_closed(state: State, channel: str, otherwise: str) -> str:
    return next((why for name, why in state.closed if name == channel), otherwise)


def _process(state: State) -> Channel:
    if state.gone_at is not None:
        return Channel("process", "no", "the launcher has ended")
    if state.server is None or state.sampled_at is None:
        return Channel("process", "unknown", _why_closed(state, "processes", "no look at the processes yet"))
    root = _find(state.processes, state.server.pid)
    if root is None:
        return Channel("process", "unknown", "the newest look at the processes was of another server")
    if root.state in _DEAD:
        return Channel("process", "no", f"the launcher, PID {root.pid}, is a zombie")
    return Channel("process", "yes", f"the launcher, PID {root.pid}, is alive")


def _port(state: State) -> Channel:
    number = _number(state) or "?"
    match owner(state):
        case "own":
            return Channel("port", "yes", f"{number} is held by this server, PID {state.port_pid}")
        case "foreign":
            return Channel("port", "no", stranger(state))
        case "free" if (time_of(state.attempt, "ready") or 0.0) > (state.port_seen_at or 0.0):
            return Channel("port", "unknown", f"{number} was not looked at since the ready line")
        case "free":
            return Channel("port", "no", f"nobody listens on {number}")
        case _:
            why = "it was told to listen on a Unix socket" if _on_a_socket(state) else "the owner cannot be told"
            return Channel("port", "unknown", _why_closed(state, "processes", why))


def _http(state: State) -> Channel:
    answer = state.http
    why = next((why for name, why in state.closed if name == "http"), "")
    if answer is None or why:
        return Channel("http", "unknown", why or "not asked yet")
    said = in_words(answer)
    if is_good(answer):
        return Channel("http", "yes", f"{answer.path} answers {said}")
    nobody = answer.error == "refused" and owner(state) != "own" and time_of(state.attempt, "ready") is not None
    if not (fails(answer) or nobody):
        return Channel("http", "unknown", f"{answer.path} answers {said}")
    if asked_before(answer, time_of(state.attempt, "ready")):
        return Channel("http", "unknown", f"{answer.path} answers {said}, asked before the ready line had settled")
    return Channel("http", "no", f"{answer.path} answers {said}")


def in_words(answer: HttpAnswered) -> str:
    """Return what was answered: the status, or what came instead of one."""
    return f"HTTP {answer.status}" if answer.status is not None else answer.error or "no answer"


def is_good(answer: HttpAnswered) -> bool:
    """Tell whether an answer says that the server is well."""
    return answer.status is not None and 200 <= answer.status < 300


def asked_before(answer: HttpAnswered, ready: float | None) -> bool:
    """Tell whether a question was put before the ready line, or so shortly after that it proves nothing against it."""
    return ready is not None and answer.at - answer.took < ready + SETTLED


def fails(answer: HttpAnswered) -> bool:
    """Tell whether an answer says that the server is not well; no way to it, or a question of login, says nothing."""
    return answer.error in ("timeout", "reset") if answer.status is None else answer.status >= 500


def _log(state: State, now: float) -> Channel:
    if any(line.vetoes_ready for line in state.attempt.faults):
        return Channel("log", "no", "a bind error: another server answers on the port")
    ready = time_of(state.attempt, "ready")
    if ready is not None:
        return Channel("log", "yes", f"ready line {duration(now - ready)} ago" if ready > 0 else "ready line seen")
    if has_log(state):
        return Channel("log", "no", "no ready line yet")
    kind = f"its kind is {state.log.kind}" if state.log.kind in NO_LOG else "it shows nothing of a launch"
    return Channel("log", "unknown", _why_closed(state, "log", kind))


def _find(processes: tuple[Process, ...], pid: int) -> Process | None:
    return next((process for process in processes if process.pid == pid), None)
