"""Ways to a server by a command on a host (a container, a pod, a job, a unit): data in ways.toml, read here."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.sanitize import clean_text


@dataclass(frozen=True, slots=True)
class Way:
    """One way, for one name: every command is ready to be run by a POSIX shell on the host."""

    kind: str
    """As ways.toml and the options of the command line call it."""
    words: str
    """What is watched, in words: "the docker container llm"."""
    run: str = ""
    """What a shell is run with; "" where commands run on the host itself."""
    log: str = ""
    """Prints and follows the log, with {since} in it; "" where the runtime keeps none."""
    since: str = ""
    """The option that begins the log at {stamp} or {epoch}."""
    pid: str = ""
    """Prints the PID of the main process; "" where the server is searched for."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What its name consists of."""

    def log_since(self, stamp: str, epoch: int) -> str:
        """Return the command that prints the log from a moment on; from its beginning where there is no stamp."""
        since = self.since.format(stamp=shlex.quote(stamp), epoch=epoch) if stamp else ""
        return self.log.replace("{since}", since)


def make_way(kind: str, name: str) -> Way:
    """Return the way of a kind to what has this name; raises UsageError where it cannot be a name."""
    told = _load()[kind]
    found = re.fullmatch(told["name"], name)
    if found is None:
        shown = clean_text(name)[:100]
        raise UsageError(f"{shown!r} cannot be what --{kind} names.", f"Write {told['form']}.")
    given = {group: value or "" for group, value in found.groupdict().items()}
    quoted = {group: shlex.quote(value) if value else "" for group, value in given.items()}
    for group, text in told.get("optional", {}).items():
        quoted[group] = text.format(**{group: quoted[group]}) if given.get(group) else ""
    commands = {key: told[key].format(**quoted, since="{since}") for key in ("run", "log", "pid") if key in told}
    return Way(kind, told["words"].format(**given), since=told.get("since", ""), parts=given, **commands)


def _load() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("ways.toml").read_text("utf-8"))
