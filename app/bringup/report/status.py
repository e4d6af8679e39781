"""The page of `status` and `wait`: the verdict about a living start, and what it rests on. One gutter, no boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from bringup.core.events import Gpu
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.core.words import count, duration
from bringup.report.commands import command_line, ends_first
from bringup.report.contract import Left
from bringup.report.crew import crew
from bringup.report.explanation import Explanation, Reading
from bringup.report.failure import cause_rows, earlier_rows
from bringup.report.harmless import harmless
from bringup.report.page import GUTTER, Row, flow, headline, labelled, section, sentence, shorten, size, warning_rows
from bringup.report.signs import SIGNS
from bringup.report.timeline import timeline

_MOST_SERVERS = 4
_LITTLE_MIB = 64
"""Memory in use that the driver alone takes."""


Node = tuple[str, State, Verdict]
"""One of several hosts: its name, its state, and the verdict about it alone."""


def status_page(
    verdict: Verdict, state: State, name: str, width: int, nodes: Sequence[Node] = (), left: Left = ()
) -> RenderableType:
    """Return the page about the host `name` for a terminal or a pipe of `width` columns.

    `nodes` are the hosts of one start that has several; `state` is then of the one that decides. `left` is what was
    left in the middle there.
    """
    room = width - GUTTER
    seen = _as_explained(verdict, state)
    sections: list[list[Row]] = [
        [(headline(verdict), sentence(verdict, room))],
        [*_places(verdict, state, name, room)] if not nodes else [*_nodes(nodes, room)],
        [*labelled("unfinished", [*_left_over(left)])],
        [*cause_rows(seen, room)],
        [*labelled("phases", timeline(seen, room))],
        [*labelled("ranks", crew(verdict, state.attempt))],
        [*labelled("GPUs", [*_gpus(state, room)])] if not nodes else [],
        [*warning_rows(verdict)],
        [*labelled("evidence", [Text(harmless(line), "dim") for line in _evidence(verdict)])],
        [*earlier_rows(state)],
    ]
    shown = [section(rows) for rows in sections if rows]
    return Group(*[part for shown_section in shown for part in (shown_section, Text())][:-1])


def _places(verdict: Verdict, state: State, name: str, room: int) -> Iterator[Row]:
    yield from labelled("host", _host(verdict, state, name, room))
    yield from labelled("log", _log(verdict, state, room))


def _left_over(left: Left) -> Iterator[Text]:
    """What was left in the middle, and what goes on with it or forgets it."""
    for name, each in left:
        yield Text(harmless(f"{each.sentence} {each.takeover}".strip()), "yellow")
        port = each.port
        if "launch" in each.can:
            yield Text(f"{harmless(command_line('restart', name, port=port))} launches it{each.again}.", "dim")
        ends = ends_first(each, name)
        if ends:
            yield Text(harmless(ends), "dim")
        if "discard" in each.can:
            yield Text(f"{harmless(command_line('restart', name, '--discard', port=port))} forgets it.", "dim")


def _nodes(nodes: Sequence[Node], room: int) -> Iterator[Row]:
    """Each node with its own state, where its log is, and what its GPUs hold."""
    for name, state, verdict in nodes:
        rows = [Text(f"{SIGNS[verdict.state][0]} {verdict.state}"), *_host(verdict, state, name, room)]
        yield from labelled("node", [*rows, *_log(verdict, state, room), *_gpus(state, room)])


def _as_explained(verdict: Verdict, state: State) -> Explanation:
    """The same parts as those of an explained log."""
    log = state.log
    reading = Reading(log.path, log.size, log.lines, log.unknown, None, None)
    return Explanation(verdict, state, reading, 0.0, (), ())


def _host(verdict: Verdict, state: State, name: str, room: int) -> list[Text]:
    facts = [harmless(name)]
    if state.node and state.node != name:
        facts.append(harmless(state.node))
    server = state.server
    if server is not None:
        gone = ", which has ended" if state.gone_at is not None else ""
        facts.append(f"PID {server.pid}{f' of {harmless(server.user)}' if server.user else ''}{gone}")
        if server.started_at and state.gone_at is None:
            facts.append(f"started {duration(verdict.now - server.started_at)} ago")
    rows = [Text(line) for line in flow(facts, room)]
    if verdict.stale_s is not None:
        rows.append(Text(f"No sign of the host for {duration(verdict.stale_s)}.", "yellow"))
    others = [f"PID {other.pid} on port {other.port or '?'}" for other in state.others]
    if others:
        more = f" and {len(others) - _MOST_SERVERS} more" if len(others) > _MOST_SERVERS else ""
        told = f"Other servers: {', '.join(others[:_MOST_SERVERS])}{more}; --port or --pid chooses one."
        rows.append(Text(told, "dim"))
    return rows


def _log(verdict: Verdict, state: State, room: int) -> list[Text]:
    log = state.log
    if not log.path and not log.kind:
        return []
    facts = [shorten(harmless(log.path)) or harmless(log.note) or log.kind, size(log.size), count(log.lines, "line")]
    if log.grew_at is not None:
        facts.append(f"last byte {duration(verdict.now - log.grew_at)} ago")
    return [Text(line) for line in flow(facts, room)]


def _gpus(state: State, room: int) -> Iterator[Text]:
    """Memory in use, GPUs that are alike in one item."""
    gpus = [gpu for gpu in state.gpu.gpus if gpu.used is not None]
    if not gpus:
        return
    alike: list[list[Gpu]] = []
    for gpu in gpus:
        if alike and _used(alike[-1][0]) == _used(gpu):
            alike[-1].append(gpu)
        else:
            alike.append([gpu])
    items = [f"{_indices(group)}: {_used(group[0])}" for group in alike]
    for line in flow(items, room):
        yield Text(line)


def _indices(group: list[Gpu]) -> str:
    first, last = group[0].index, group[-1].index
    return f"{first}" if first == last else f"{first}-{last}"


def _used(gpu: Gpu) -> str:
    used = gpu.used or 0
    if used < _LITTLE_MIB:
        return "empty"
    of = f" of {gpu.total / 1024:.0f}" if gpu.total else ""
    return f"{used / 1024:.1f}{of} GiB"


def _evidence(verdict: Verdict) -> list[str]:
    """What stands elsewhere on the page is left out."""
    return [line for line in verdict.evidence if not line.startswith(("log line ", "not available: "))]
