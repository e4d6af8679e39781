"""What a launcher that was recognised means for a stop and a restart, after the host was asked about it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bringup.core.events import Launcher
from bringup.core.sanitize import clean_text
from bringup.hosts.discover.launchers import Found, Kinds, fill, fill_plain

_NAME = re.compile(r"[\w./][\w.@:+ /\\-]{0,199}")
"""What a unit, container, pane or folder may be called here; anything else is not put into a command."""
_LONG = re.compile(r"^([0-9a-f]{12})[0-9a-f]{52}$")
_LINES = 64
_LONGEST = 200
_PATHS = ("out", "err")
"""Keys of an answer that are paths of files."""
_LONGEST_PATH = 4100
_ASKED = ("socket", "place", "owner", "login")
"""Keys of an answer that commands and sentences can name."""
_AGAIN = {True: "after a plain kill it is started again", None: "after a plain kill it may be started again"}
_UNASKED = "The processes are signalled; whether a plain kill is answered by a restart is not known."
POLICIES: Mapping[str, bool | None] = {
    "": False,
    "no": False,
    "always": True,
    "unless-stopped": True,
    "on-failure": None,
    "on-success": None,
    "on-abnormal": None,
    "on-abort": None,
    "on-watchdog": None,
}
"""Restart policies of docker, podman and systemd.service(5): whether a kill is answered by a restart; None where that
depends on the exit status with which the server ends."""


def read_answer(text: str) -> dict[str, str]:
    """Read KEY=VALUE lines, the first of each key; what else a program says is passed over."""
    answer: dict[str, str] = {}
    for line in text.splitlines()[:_LINES]:
        key, equals, value = line.partition("=")
        if equals and key.isidentifier():
            # A path that is not plain text is not the one that it looks like.
            told = clean_text(value).strip()[: _LONGEST_PATH if key in _PATHS else _LONGEST]
            answer.setdefault(key, told if key not in _PATHS or told == value else "")
    return answer


def describe(kinds: Kinds, found: Found, answer: Mapping[str, str], said: str = "") -> Launcher | None:
    """Return the launcher, with its commands where it is proven to be the server's and its name is a plain one.

    `said` is what its tool complained about. Returns None where the host says that another process is what it launched.
    """
    kind = found.kind
    if answer.get(kind.main) and not kinds.owns(found, answer):
        return None
    name = answer.get("name") or _LONG.sub(r"\1", found.name)
    given = {"name": name, "uid": found.uid, **{key: answer.get(key, "") for key in _ASKED}}
    tool = kind.tools.get(answer.get("tool", ""), next(iter(kind.tools.values()), ""))
    commands = {key: text.replace("{tool}", tool) for key, text in _commands(found).items()}
    bound = _bound(found, answer, name)
    why = _why_not(kinds, found, answer, given, commands, said)
    policy = answer.get("policy", answer.get("Restart"))
    # A tool that does not answer leaves open what it does after a kill, and its commands are not used.
    unasked = kind.respawns is False and bool(kind.main) and not answer.get(kind.main)
    respawns = (None if unasked else kind.respawns) if policy is None else POLICIES.get(policy)
    own = why or (fill_plain(kind.needs, **given) if given["login"] else "")
    return Launcher(
        kind=kind.kind,
        name=name,
        words=fill_plain(kind.words, name=name or "of unknown name"),
        detail=" ".join(part for part in (_compose(answer), _policy(policy, respawns), own) if part),
        own=own,
        respawns=respawns,
        scope=kind.scope,
        sentence=_UNASKED if unasked else kind.sentence,
        stop="" if why else fill(commands["stop"], **given),
        start="" if why or bound else fill(commands["start"], **given),
        says="" if why else fill(commands["says"], **given),
        lives="" if why else fill(commands["lives"], **given),
        bound=fill_plain(bound.replace("{tool}", tool), **given),
    )


def _commands(found: Found) -> dict[str, str]:
    kind = found.kind
    return {"stop": kind.stop, "start": kind.start, "says": kind.says, "lives": kind.lives}


def _bound(found: Found, answer: Mapping[str, str], name: str) -> str:
    """Return why there can be no second launch here; "" where there can."""
    told = {**answer, "name": name}
    fits = all(pattern.fullmatch(told.get(key, "")) for key, pattern in found.kind.bound_when.items())
    return found.kind.bound if fits else ""


def _why_not(
    kinds: Kinds,
    found: Found,
    answer: Mapping[str, str],
    given: Mapping[str, str],
    commands: Mapping[str, str],
    said: str,
) -> str:
    """Return in a sentence why the commands are not used; "" where they are."""
    kind = found.kind
    if not kinds.owns(found, answer):
        what = f" ({said})" if said else ""
        return f"{kind.kind} did not say which process is its own{what}, so its commands are not used."
    if kind.bare is not None and kind.bare.search(given["name"]):
        return "It is the job's own script, so its stop command would end more than the server: it is not used."
    if kind.prompt is not None and any(kind.prompt.search(above.title) for above in kinds.between(found)):
        return "It was typed into a shell, which its stop command would end, too: it is not used."
    needed = {key for template in commands.values() for key in given if f"{{{key}}}" in template}
    odd = [given[key] for key in sorted(needed) if not _NAME.fullmatch(given[key])]
    if odd:
        return f"It is called {odd[0]!r}, which is put into no command." if odd[0] else "Its commands are not known."
    return ""


def _compose(answer: Mapping[str, str]) -> str:
    project, service = answer.get("project", ""), answer.get("service", "")
    plain = project and project != "<no value>"
    return f"It is the service {service} of the compose project {project}." if plain else ""


def _policy(policy: str | None, respawns: bool | None) -> str:
    if not policy or policy == "no":
        return ""
    then = f": {_AGAIN[respawns]}" if respawns is not False else ""
    return f"Its restart policy is {policy}{then}."
