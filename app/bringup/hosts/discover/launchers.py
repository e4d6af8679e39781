"""How a server was launched, recognised by what stands around its launcher; the kinds are data (launchers.toml)."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from bringup.hosts.discover.roles import Roles, load_roles
from bringup.hosts.shipped import read_script


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to launch a server."""

    kind: str
    words: str
    cgroup: re.Pattern[str] | None = None
    ancestor: re.Pattern[str] | None = None
    environ: frozenset[str] = frozenset()
    joined: str = "{name}"
    excluded: re.Pattern[str] | None = None
    bare: re.Pattern[str] | None = None
    """Names for which no commands are offered."""
    prompt: re.Pattern[str] | None = None
    """A process between, for which none are offered either."""
    main: str = ""
    direct: bool = False
    ask: str = ""
    script: str = ""
    """What stands behind `ask`."""
    stop: str = ""
    start: str = ""
    says: str = ""
    lives: str = ""
    respawns: bool | None = False
    scope: str = ""
    sentence: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    bound: str = ""
    bound_when: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    needs: str = ""
    samples: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Above:
    """A process above the launcher."""

    pid: int
    title: str
    program: str
    """Its name without folder and arguments."""


@dataclass(frozen=True, slots=True)
class Around:
    """What discovery saw around a launcher."""

    pid: int
    cgroup: str = ""
    above: tuple[Above, ...] = ()
    """Nearest first."""
    environ: frozenset[str] | None = frozenset()
    """Which of the asked names its environment has; None where that is closed to the login."""


@dataclass(frozen=True, slots=True)
class Found:
    """A kind that fits, before the host was asked about it."""

    kind: Kind
    name: str
    around: Around
    ancestor: int = 0
    """PID of the process above that told it."""
    uid: str = ""
    """Whose manager it is, where there is one for each user."""

    @property
    def question(self) -> str:
        """The script that asks the host for more; "" where there is nothing to ask."""
        asked = fill(
            self.kind.ask,
            name=self.name,
            uid=self.uid,
            pid=str(self.around.pid),
            ancestor=str(self.ancestor),
            pids=" ".join(str(pid) for pid in (self.around.pid, *(each.pid for each in self.around.above))),
        )
        return f"{asked}\n{self.kind.script}" if asked else ""


@dataclass(frozen=True, slots=True)
class Kinds:
    """All known ways to launch a server."""

    kinds: tuple[Kind, ...]
    roles: Roles

    @property
    def names(self) -> tuple[str, ...]:
        """The names of variables that tell something."""
        return tuple(sorted({name for kind in self.kinds for name in kind.environ}))

    def recognise(self, around: Around) -> Found | None:
        """Return the first kind that fits; None for a plain process."""
        return next(self.fitting(around), None)

    def fitting(self, around: Around) -> Iterator[Found]:
        """Yield all kinds that fit; where the host contradicts the first one, the next one may be it."""
        for kind in self.kinds:
            if kind.environ and around.environ is not None and not kind.environ & around.environ:
                continue
            found = _match(kind, around)
            if found is not None:
                yield found

    def unit(self, found: Found, name: str) -> Found | None:
        """Return the systemd unit of this name that keeps what was found."""
        wanted = "systemd-user" if found.uid else "systemd"
        return next(
            (Found(kind, name, found.around, uid=found.uid) for kind in self.kinds if kind.kind == wanted), None
        )

    def owns(self, found: Found, answer: Mapping[str, str]) -> bool:
        """Say whether a unit's or container's main process is the launcher or stands above it in the same session."""
        if not found.kind.main:
            return True
        main = answer.get(found.kind.main, "")
        if main == str(found.around.pid):
            return True
        for above in found.around.above:
            # conmon runs one container and ends with it.
            if above.program in self.roles.sessions - self.roles.wrappers or (
                found.kind.direct and above.program not in self.roles.wrappers
            ):
                return False
            if main == str(above.pid):
                return True
        return False

    def between(self, found: Found) -> Iterator[Above]:
        """Yield what stands between a launcher and the session that it is in."""
        for above in found.around.above:
            if above.pid == found.ancestor or above.program in self.roles.sessions:
                return
            yield above


def load_kinds() -> Kinds:
    """Return the kinds that bringup knows."""
    table = tomllib.loads(resources.files(__package__).joinpath("launchers.toml").read_text("utf-8"))
    kinds = tuple(_kind(entry) for entry in table["launcher"])
    return Kinds(kinds, load_roles())


def fill(template: str, **given: str) -> str:
    """Put values into the places of a template, each quoted for a shell; other braces stay as they are."""
    return fill_plain(template, **{key: shlex.quote(value) for key, value in given.items()})


def fill_plain(template: str, **given: str) -> str:
    """Put values into the places of a template as they are."""
    return re.sub(r"\{(\w+)\}", lambda place: given.get(place[1], place[0]), template)


def _match(kind: Kind, around: Around) -> Found | None:
    places = [(kind.cgroup, around.cgroup, 0)] + [(kind.ancestor, above.title, above.pid) for above in around.above]
    for pattern, text, pid in places:
        match = pattern.search(text) if pattern is not None else None
        if match is None:
            continue
        name = fill_plain(kind.joined, **match.groupdict(default="")) if match.groupdict() else ""
        if kind.excluded is None or not kind.excluded.search(name):
            return Found(kind, name, around, pid, match.groupdict(default="").get("uid", ""))
    return None


def _kind(entry: Mapping[str, Any]) -> Kind:
    plain = (
        "kind",
        "words",
        "joined",
        "main",
        "ask",
        "stop",
        "start",
        "says",
        "lives",
        "scope",
        "sentence",
        "bound",
        "needs",
    )
    return Kind(
        **{key: entry[key] for key in plain if key in entry},
        script=read_script(f"discover/{entry['script']}") if "script" in entry else "",
        cgroup=_pattern(entry, "cgroup"),
        ancestor=_pattern(entry, "ancestor"),
        excluded=_pattern(entry, "not"),
        bare=_pattern(entry, "no_commands"),
        prompt=_pattern(entry, "prompt"),
        environ=frozenset(entry.get("environ", ())),
        direct=bool(entry.get("direct", False)),
        respawns=None if entry.get("respawns") == "unknown" else bool(entry.get("respawns", False)),
        tools=dict(entry.get("tools", {})),
        bound_when={key: re.compile(pattern) for key, pattern in entry.get("bound_when", {}).items()},
        samples=tuple(entry.get("samples", ())),
    )


def _pattern(entry: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(entry[key], re.MULTILINE) if key in entry else None
