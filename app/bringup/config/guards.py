"""Which servers a read-only target of the configuration protects, whatever name leads to them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bringup.config.shapes import Target

Way = tuple[str, str]
"""A kind of way to a server, and its name there: ("docker", "llm")."""
_ID = re.compile(r"[0-9a-f]{12,64}")
_UNIT_TYPES = re.compile(r"\.(?:service|scope|slice)$")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be touched on a host, as far as it is known."""

    port: int | None = None
    log: str = ""
    """The log by which it was named; one that was only found may be the same file by another name."""
    writes: frozenset[str] = frozenset()
    """The logs that it was found to write."""
    ways: tuple[Way, ...] = ()
    """What it runs in."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A read-only target on a host: what it names of a server there; one that names nothing is of all of the host."""

    target: str
    place: str = ""
    """Where the configuration says so: its file and line."""
    port: int | None = None
    log: str = ""
    way: Way | None = None
    own: bool = False
    """It is what the operator named: nothing that is said or found beside that makes another server of it."""

    def covers(self, subject: Subject) -> bool:
        """Say whether it protects what is to be touched: it does unless that is known to be another server.

        A port tells more than a log: a log may have several names, and a command line can name any.
        """
        if self.own:
            return True
        if self._differs(subject):
            return False
        if self.port is not None and subject.port is not None:
            return self.port == subject.port
        return not self.log or self.log in subject.writes or subject.log in ("", self.log)

    def is_certain(self, subject: Subject) -> bool:
        """Say whether it protects it whatever else is found out: all that it names is known to be the same."""
        if self.own or not self.covers(subject):
            return self.own
        if self.way is not None and _plain(self.way) not in map(_plain, subject.ways):
            return False
        if self.port is not None:
            return subject.port is not None
        return not self.log or self.log in (subject.log, *subject.writes)

    def sentence(self, subject: Subject) -> str:
        """Return why nothing is done to it."""
        if self.own:
            return f"The configuration says that {self.target} is read-only: nothing is done to a server there."
        if not self.names:
            return (
                f"The target {self.target} is read-only, and it is all of this host: nothing is done to a server here."
            )
        isnt = "is" if self.is_certain(subject) else "may be"
        return (
            f"The target {self.target} is read-only, and this {isnt} its server ({self.names}): nothing is done to it."
        )

    def hint(self, subject: Subject) -> str:
        """Return how it is turned off, and how another server is told from it."""
        where = f", {self.place}," if self.place else ""
        off = f"Take `read-only` away from [targets.{self.target}]{where} to allow it."
        if not self.own and not self.names:
            return f"{off} With a port or a log of its own that target is of one server only."
        if self.is_certain(subject):
            return off
        if self.port is None and not self.log:
            return f"{off} If it is another server, give that target its port."
        return f"{off} If it is another server, name that by its own {'port' if self.port is not None else 'log'}."

    @property
    def names(self) -> str:
        """What the target names of its server; "" where that is nothing."""
        port = (f"port {self.port}",) if self.port is not None else ()
        log = (f"log {self.log}",) if self.log and not port else ()
        return ", ".join((*port, *log, *((" ".join(self.way),) if self.way is not None else ())))

    def _differs(self, subject: Subject) -> bool:
        mine = self.way
        return mine is not None and any(
            kind == mine[0] and _are_two(kind, mine[1], name) for kind, name in subject.ways
        )


def guard_of(name: str, target: Target, place: str = "") -> Guard:
    """Return what a target of the configuration protects where it is read-only."""
    ways = {"docker": target.docker, "kube": target.kube, "slurm": target.slurm, "unit": target.unit}
    way = next(((kind, told) for kind, told in ways.items() if told is not None), None)
    return Guard(name, place, target.port, target.log or "", way)


def _are_two(kind: str, one: str, other: str) -> bool:
    """Say whether two names of one kind are surely not of the same."""
    if kind == "docker" and (_ID.fullmatch(one) or _ID.fullmatch(other)):
        both = _ID.fullmatch(one) and _ID.fullmatch(other)
        return bool(both) and not (one.startswith(other) or other.startswith(one))
    if kind == "slurm":
        # A task of an array, or a component, has a number of its own, too.
        jobs = [name.partition("@")[0] for name in (one, other)]
        return jobs[0] != jobs[1] and all(job.isdigit() for job in jobs)
    if kind == "unit":
        return _plain((kind, one)) != _plain((kind, other))
    # A pod that is named without its container is all of them.
    return any(mine != theirs for mine, theirs in zip(one.split("/"), other.split("/"), strict=False))


def _plain(way: Way) -> Way:
    """Return a way whose unit has its whole name."""
    kind, name = way
    return (kind, f"{name}.service") if kind == "unit" and not _UNIT_TYPES.search(name) else way
