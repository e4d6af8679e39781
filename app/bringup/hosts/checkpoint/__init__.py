"""The files of a model on the watched host: which are there, which should be, and the weight names of a draft.

One command, a few file reads, no weights: what it costs is a listing of one folder, the index and the configuration
beside the weights, and for a draft the headers of its files. It is asked for once or twice a launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.errors import ChannelRefused
from bringup.core.events import Checkpoint, Role, Server
from bringup.hosts.base import Host
from bringup.hosts.checkpoint.rows import MOST_NAMES, checkpoint, read_rows
from bringup.hosts.shipped import read_script, with_arguments

PATIENCE = 20.0
"""Seconds for one look: a healthy network file system lists some hundred files in one."""
_LIMIT = 4 << 20
_REVISIONS = {"target": "--revision", "draft": "--speculative-draft-model-revision"}
_CACHE = "--download-dir"
_FORMAT = "--load-format"


def script(server: Server, role: Role, model: str) -> str:
    """Return the script that looks at one model of a server; to be run with `Host.run`."""
    return with_arguments(
        "checkpoint/look.sh",
        read_script("checkpoint/names.awk"),
        str(server.pid),
        model,
        _option(server.argv, _REVISIONS[role]) or "main",
        _option(server.argv, _CACHE),
        str(MOST_NAMES if role == "draft" else 0),
    )


async def look(host: Host, server: Server, role: Role, model: str, at: float) -> Checkpoint | None:
    """Look at the files of one model of a server; None where they lie nowhere on the host, or are not needed.

    Raises ChannelRefused where the look does not end in time (a hung file system) or is cut short, and ConnectionLost.
    """
    if not model or _option(server.argv, _FORMAT) == "dummy":
        return None
    try:
        done = await host.run(script(server, role, model), timeout=PATIENCE, limit=_LIMIT)
    except ChannelRefused as refused:
        if refused.reason != "timeout":
            raise
        raise ChannelRefused(
            f"A look at the files of the {role} model ({model}) did not end within {PATIENCE:.0f} s.",
            "The file system that they lie on may hang: try `ls` there.",
            reason="timeout",
        ) from refused
    rows = read_rows(done.stdout)
    if not rows.folder:
        return None
    if not rows.whole:
        raise ChannelRefused(f"A look at the files of the {role} model in {rows.folder} was cut short.")
    return checkpoint(rows, role, model, at)


def _option(argv: Sequence[str], name: str) -> str:
    """Return the value of an option; the last one counts."""
    value = ""
    for word, following in zip(argv, (*argv[1:], ""), strict=False):
        given, equals, rest = word.partition("=")
        if given == name:
            value = rest if equals else following
    return value
