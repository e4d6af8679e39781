"""Launches: when a new attempt begins, and what stays of the one before."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.causes import root_line
from bringup.core.events import Launch, Searching, Server, ServerFound, ServerGone, VersionSeen
from bringup.core.outdated import parted
from bringup.core.state import Attempt, State
from bringup.core.succession import SLACK, filled, kept, successor
from bringup.core.whose import has_arrived, is_earlier, without_later

_LAST_WORDS = 0.3
"""Seconds after its end was seen in which what a process said last is read."""
_FIRST_SECOND = 1.0


def launch(state: State, event: Launch) -> State:
    """Return the state after a server printed its arguments: a new attempt, unless they are known from elsewhere."""
    old = without_later(state)[0].attempt
    if event.echo and _is_echo(old):
        return replace(state, attempt=_filled_in(old, event))
    if _is_other_node(old, event):
        return replace(state, attempt=replace(old, nodes=_with(old.nodes, event.node_rank)))
    base = _base(old, event)
    attempt = replace(
        base,
        engine=event.engine or base.engine,
        model=event.model or base.model,
        draft_model=event.draft_model or None,
        algorithm=event.algorithm,
        tp=event.tp,
        pp=event.pp,
        dp=event.dp,
        ep=event.ep,
        dp_attention=event.dp_attention,
        nnodes=event.nnodes,
        node_rank=event.node_rank,
        headless=event.headless,
        nodes=(event.node_rank,) if event.nnodes > 1 else (),
        port=event.port if event.port is not None else base.port,
        loader_threads=event.loader_threads,
        load_format=event.load_format,
        dist_timeout=event.dist_timeout,
        watchdog_timeout=event.watchdog_timeout,
        servers=max(1, event.servers),
        version=event.version or base.version or state.installed,
        echoed=event.echo,
        began_at=base.began_at if base.began_at is not None else _began(state, event),
        launched=True,
        logged=True,
        launched_at=event.at,
        arrived=has_arrived(event),
        last_line_at=event.at,
    )
    return replace(state, attempt=attempt, earlier=state.earlier if base is old else kept(state.earlier, old))


def _base(old: Attempt, event: Launch) -> Attempt:
    """What a launch that was printed begins with."""
    if old.logged and old.engine == "router" and event.engine != "router":
        return Attempt(number=old.number)  # A script started a router first: the log is about the engine behind it.
    if old.logged:
        return successor(old)
    if old.faults or old.endings:
        return replace(Attempt(number=old.number), version=old.version, facts=old.facts, engine=old.engine)
    return old


def server_found(state: State, event: ServerFound) -> State:
    """Return the state after discovery chose a server; another process than the one watched is another attempt."""
    server, known = event.server, state.server
    instead = event.instead and state.gone_at is None
    same = known is not None and (instead or (known.pid, known.start) == (server.pid, server.start))
    if same and state.gone_at is None:
        told = state.attempt.logged or known == server
        attempt = state.attempt if told else filled(state.attempt, server)
        return replace(state, server=server, others=event.others, seeks="", logs=server.logs, attempt=attempt)
    old, base = (state.attempt, state.attempt) if same else _parted(state, server, event.at)
    attempt = base if base.logged else filled(base, server)
    began = server.started_at or event.at
    return replace(
        state,
        server=server,
        others=event.others,
        seeks="",
        logs=server.logs,
        gone_at=None,
        alive_at=None,
        orphans=(),
        closed=state.closed if same else (),
        elsewhere=state.elsewhere if same else None,
        http=state.http if same else None,
        http_ok_at=None,
        http_since=None,
        http_bad_since=None,
        port_pid=state.port_pid if same else None,
        port_title=state.port_title if same else "",
        port_seen_at=state.port_seen_at if same else None,
        port_since=state.port_since if same else None,
        arrived_at=state.arrived_at if same else None,
        checkpoints=state.checkpoints if same else (),
        installed=state.installed if same else None,
        log=state.log if same else replace(state.log, is_own=False, is_former=_writes_elsewhere(state, server)),
        attempt=replace(attempt, began_at=began if not same else attempt.began_at),
        earlier=state.earlier if base is state.attempt else kept(state.earlier, old),
    )


def _writes_elsewhere(state: State, server: Server) -> bool:
    return bool(state.log.path) and all(target.path != state.log.path for target in server.logs)


def server_gone(state: State, event: ServerGone) -> State:
    """Return the state after the launcher of the watched server has ended."""
    if state.server is not None and state.server.pid != event.pid:
        return state
    if state.gone_at is not None:
        return replace(state, orphans=event.orphans) if state.orphans != event.orphans else state
    return replace(state, gone_at=event.at, orphans=event.orphans)


def version_seen(state: State, event: VersionSeen) -> State:
    """Return the state with the version that is installed; what the server itself printed counts more."""
    attempt = state.attempt
    if attempt.version is None:
        attempt = replace(attempt, version=event.version)
    elif state.installed == event.version:
        return state
    return replace(state, installed=event.version, attempt=attempt)


def searching(state: State, event: Searching) -> State:
    """Return the state while no server is there; what is known of the last one stays until another is found."""
    return state if state.seeks == event.seeks else replace(state, seeks=event.seeks)


def _is_other_node(old: Attempt, event: Launch) -> bool:
    """A job's log holds the arguments of every node: the same launch, another node rank not seen yet."""
    return (
        old.logged
        and event.nnodes > 1
        and event.nnodes == old.nnodes
        and event.node_rank not in old.nodes
        and (old.tp, old.pp, old.dp) == (event.tp, event.pp, event.dp)
        and not old.faults
        and not old.endings
    )


def _is_echo(old: Attempt) -> bool:
    """A child of this launch speaks, not the first process of another: that one comes after an end."""
    return old.logged and not (old.echoed and (old.endings or root_line(old) is not None))


def _filled_in(old: Attempt, event: Launch) -> Attempt:
    """Return the attempt with what a child knows better: defaults are not among the arguments of the launcher."""
    return replace(
        old,
        model=old.model or event.model or None,
        draft_model=old.draft_model or event.draft_model or None,
        algorithm=old.algorithm or event.algorithm,
        tp=event.tp if old.tp == 1 else old.tp,
        pp=event.pp if old.pp == 1 else old.pp,
        dp=event.dp if old.dp == 1 else old.dp,
        version=event.version or old.version,
        echoed=True,
        last_line_at=event.at,
    )


def _is_older(state: State, server: Server, now: float) -> bool:
    """What is known of the attempt happened before this process was started."""
    old = state.attempt
    if old.launched_at is not None:
        return is_earlier(state, server, now)
    if old.last_line_at is None:
        return old.launched
    return bool(server.started_at) and old.last_line_at < server.started_at - SLACK


def _parted(state: State, server: Server, now: float) -> tuple[Attempt, Attempt]:
    """Return what was before another process, and with what that one begins: the same twice where nothing is older.

    Of an attempt that has not printed its arguments each line of trouble may be the old process's or the new one's.
    """
    old = state.attempt
    another = state.server is not None or state.gone_at is not None
    if (another or (old.logged and (old.faults or old.endings))) and _is_older(state, server, now):
        return without_later(state)[0].attempt, successor(old)
    past, own = (old, old) if old.logged else parted(old, _begin(state, server))
    if old.logged or not (past.faults or past.endings):
        return old, old
    last = old.last_line_at if own.faults or own.endings else None
    return past, replace(successor(old), faults=own.faults, endings=own.endings, last_line_at=last)


def _begin(state: State, server: Server) -> float:
    """Until when what was read is certainly not of this process.

    One that is started again at once begins within the slack. The last words of the process before it are read by the
    time it is found to be gone; the new one would have to fail in its first second to be meant by them.
    """
    began, gone = server.started_at, state.gone_at
    if state.server is None or gone is None:
        return began - SLACK
    return max(began - SLACK, min(gone + _LAST_WORDS, began + _FIRST_SECOND))


def _began(state: State, event: Launch) -> float | None:
    """The process's start where this launch can be that process, else the line itself."""
    server = state.server
    if server is not None and server.started_at and server.started_at - SLACK <= event.at and not state.attempt.logged:
        return server.started_at
    return event.at or None


def _with(nodes: tuple[int, ...], node: int) -> tuple[int, ...]:
    return tuple(sorted({*nodes, node}))
