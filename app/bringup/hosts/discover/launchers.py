"""How a server was launched, recognised by what stands around its launcher; the kinds are data (launchers.toml)."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bringup.core.events import Launcher
from bringup.core.sanitize import clean_text

_NAME = re.compile(r"[\w./][\w.@:+ /-]{0,199}")
"""What a unit, container, pane or folder may be called here; anything else is not put into a command."""
_LONG = re.compile(r"^([0-9a-f]{12})[0-9a-f]{52}$")
POLICIES: Mapping[str, bool] = {
    "": False,
    "no": False,
    "always": True,
    "unless-stopped": True,
    "on-failure": True,
    "on-success": True,
    "on-abnormal": True,
    "on-abort": True,
    "on-watchdog": True,
}
"""Restart policies of docker, podman and systemd.service(5): whether a kill can be answered by a restart."""


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
    main: str = ""
    direct: bool = False
    ask: str = ""
    stop: str = ""
    start: str = ""
    says: str = ""
    respawns: bool | None = False
    scope: str = ""
    sentence: str = ""
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
    environ: frozenset[str] = frozenset()
    """Which of the asked names its environment has."""


@dataclass(frozen=True, slots=True)
class Found:
    """A kind that fits, before the host was asked about it."""

    kind: Kind
    name: str
    around: Around
    ancestor: int = 0
    """PID of the process above that told it."""

    @property
    def question(self) -> str:
        """The script that asks the host for more; "" where there is nothing to ask."""
        return fill(
            self.kind.ask,
            name=self.name,
            pid=str(self.around.pid),
            ancestor=str(self.ancestor),
            pids=" ".join(str(pid) for pid in (self.around.pid, *(each.pid for each in self.around.above))),
        )


@dataclass(frozen=True, slots=True)
class Kinds:
    """All known ways to launch a server."""

    kinds: tuple[Kind, ...]
    sessions: frozenset[str]
    respawners: frozenset[str]
    wrappers: frozenset[str]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of variables that tell something."""
        return tuple(sorted({name for kind in self.kinds for name in kind.environ}))

    def recognise(self, around: Around) -> Found | None:
        """Return the first kind that fits; None for a plain process."""
        for kind in self.kinds:
            if kind.environ and not kind.environ & around.environ:
                continue
            found = _match(kind, around)
            if found is not None:
                return found
        return None

    def owns(self, found: Found, answer: Mapping[str, str]) -> bool:
        """Say whether a unit's or container's main process is the launcher or stands above it in the same session."""
        if not found.kind.main:
            return True
        main = answer.get(found.kind.main, "")
        if main == str(found.around.pid):
            return True
        for above in found.around.above:
            if above.program in self.sessions or (found.kind.direct and above.program not in self.wrappers):
                return False
            if main == str(above.pid):
                return True
        return False


def load_kinds() -> Kinds:
    """Return the kinds that bringup knows."""
    table = tomllib.loads(resources.files(__package__).joinpath("launchers.toml").read_text("utf-8"))
    kinds = tuple(_kind(entry) for entry in table["launcher"])
    return Kinds(kinds, *(frozenset(table[key]) for key in ("sessions", "respawners", "wrappers")))


def read_answer(text: str) -> dict[str, str]:
    """Read KEY=VALUE lines, the first of each key; what else a program says is passed over."""
    answer: dict[str, str] = {}
    for line in text.splitlines()[:64]:
        key, equals, value = line.partition("=")
        if equals and key.isidentifier():
            answer.setdefault(key, clean_text(value).strip()[:200])
    return answer


def describe(kinds: Kinds, found: Found, answer: Mapping[str, str]) -> Launcher | None:
    """Return the launcher, with its commands where it is proven to be the server's and its name is a plain one.

    Returns None where the host says that another process is what it launched.
    """
    kind = found.kind
    if answer.get(kind.main) and not kinds.owns(found, answer):
        return None
    name = answer.get("name") or _LONG.sub(r"\1", found.name)
    place, socket = answer.get("place", ""), answer.get("socket", "")
    given = {"name": name, "socket": socket, "place": place}
    commands = {"stop": kind.stop, "start": kind.start, "says": kind.says}
    why = ""
    if not kinds.owns(found, answer):
        why = f"{kind.kind} did not say which process is its own, so its commands are not used."
    elif kind.bare is not None and kind.bare.search(name):
        why = "It is the job's own script, so its stop command would end more than the server: it is not used."
    needed = {key for template in commands.values() for key in given if f"{{{key}}}" in template}
    if why or any(not _NAME.fullmatch(given[key]) for key in needed):
        commands = dict.fromkeys(commands, "")
    policy = answer.get("policy", answer.get("Restart"))
    respawns = kind.respawns if policy is None else POLICIES.get(policy)
    return Launcher(
        kind=kind.kind,
        name=name,
        words=fill_plain(kind.words, name=name or "of unknown name"),
        detail=" ".join(part for part in (_compose(answer), _policy(policy), why) if part),
        respawns=respawns,
        scope=kind.scope,
        sentence=kind.sentence,
        stop=fill(commands["stop"], **given),
        start=fill(commands["start"], **given),
        says=fill(commands["says"], **given),
    )


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
            return Found(kind, name, around, pid)
    return None


def _compose(answer: Mapping[str, str]) -> str:
    project, service = answer.get("project", ""), answer.get("service", "")
    plain = project and project != "<no value>"
    return f"It is the service {service} of the compose project {project}." if plain else ""


def _policy(policy: str | None) -> str:
    if not policy or policy == "no":
        return ""
    return f"Its restart policy is {policy}."


def _kind(entry: Mapping[str, Any]) -> Kind:
    plain = ("kind", "words", "joined", "main", "ask", "stop", "start", "says", "scope", "sentence")
    return Kind(
        **{key: entry[key] for key in plain if key in entry},
        cgroup=_pattern(entry, "cgroup"),
        ancestor=_pattern(entry, "ancestor"),
        excluded=_pattern(entry, "not"),
        bare=_pattern(entry, "no_commands"),
        environ=frozenset(entry.get("environ", ())),
        direct=bool(entry.get("direct", False)),
        respawns=None if entry.get("respawns") == "unknown" else bool(entry.get("respawns", False)),
        samples=tuple(entry.get("samples", ())),
    )


def _pattern(entry: Mapping[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(entry[key], re.MULTILINE) if key in entry else None
