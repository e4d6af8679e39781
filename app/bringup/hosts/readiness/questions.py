"""When to ask a server whether it is ready, and what: routes are data, the decision is a pure function."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bringup.core.agreement import has_log, owner
from bringup.core.errors import UsageError
from bringup.core.state import State
from bringup.core.verdict import StateName
from bringup.core.versions import is_within

DATA = "readiness.toml"
WELL: tuple[StateName, ...] = ("ready", "standby", "degraded")
ENDED: tuple[StateName, ...] = ("waiting", "failed", "stopped")
LOOPBACK = "127.0.0.1"
EVERYWHERE = ("", "0.0.0.0", "::", "localhost")


@dataclass(frozen=True, slots=True)
class Route:
    """A path that tells readiness, and the seconds between questions to it."""

    engine: str
    path: str
    timeout: float
    starting: float
    serving: float
    troubled: float
    since: str = ""
    until: str = ""
    blind: bool = False
    """Only where no log tells of the ready line."""
    samples: tuple[str, ...] = ()
    """Versions for which this route is the one."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask next: from `at` (epoch seconds) on, not before."""

    at: float
    port: int
    path: str
    timeout: float
    address: str = LOOPBACK


def load_routes() -> tuple[Route, ...]:
    """Return the shipped routes."""
    text = resources.files(__package__).joinpath(DATA).read_text("utf-8")
    return parse_routes(tomllib.loads(text), DATA)


def parse_routes(table: dict[str, Any], source: str) -> tuple[Route, ...]:
    """Return the routes of a file; raises UsageError where a field is wrong or a sample finds another route."""
    try:
        routes = tuple(Route(**{**row, "samples": tuple(row.get("samples", ()))}) for row in table["paths"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"{source}: a path has a field missing or one too many: {error}.") from error
    for route in routes:
        for version in route.samples:
            if route_for(route.engine, version, routes, blind=route.blind) is not route:
                raise UsageError(f"{source}: {route.engine} '{version}' is not asked for {route.path} as it should be.")
    return routes


def route_for(engine: str | None, version: str | None, routes: Sequence[Route], *, blind: bool = False) -> Route | None:
    """Return the route of an engine's version; an unknown version has only what every version has.

    `blind` says that no log tells of the ready line.
    """
    for route in routes:
        if route.engine != engine or (route.blind and not blind):
            continue
        if not (route.since or route.until) or (version and is_within(version, route.since, route.until)):
            return route
    return None


def next_question(state: State, verdict: StateName, now: float, routes: Sequence[Route]) -> Question | None:
    """Return what to ask next, or None while there is nothing to ask.

    Nothing is asked before the port listens, which the socket table tells: a refused connection tells nothing more, and
    a question that is answered can cost a token. Where the table cannot be read, the port itself is tried.
    """
    attempt, server = state.attempt, state.server
    # What another process answers says nothing of this server, and costs that one a token.
    if owner(state) == "foreign":
        return None
    port = attempt.port or (server.port if server else None)
    engine = attempt.engine or (server.engine if server else None)
    route = route_for(engine, attempt.version, routes, blind=not has_log(state))
    if port is None or route is None or verdict in ENDED or not _listens(state, port):
        return None
    last = state.http.at if state.http is not None else None
    at = now if last is None else max(now, last + _interval(route, state, verdict))
    return Question(at, port, route.path, route.timeout, _address(server.argv if server else ()))


def _address(argv: Sequence[str]) -> str:
    """Return where the server can be spoken to: a server that was bound to one address has no other."""
    bound = ""
    for word, following in zip(argv, (*argv[1:], ""), strict=False):
        name, equals, value = word.partition("=")
        if name == "--host":
            bound = value if equals else following
    return bound if bound not in EVERYWHERE else LOOPBACK


def _listens(state: State, port: int) -> bool:
    if state.port_seen_at is not None:
        return state.port_pid is not None
    return any(channel == "processes" for channel, _ in state.closed)


def _interval(route: Route, state: State, verdict: StateName) -> float:
    if verdict in WELL and state.http is not None and state.http.status == 200:
        return route.serving
    return route.troubled if state.http_ok_at is not None else route.starting
