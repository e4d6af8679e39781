"""How a host is named on the command line; looked at before anything that could connect to it is loaded."""

from __future__ import annotations

from bringup.core.errors import UsageError


def plain_target(target: str) -> str:
    """Check what the operator wrote and return what ssh takes: a name, user@name or an ssh:// address.

    "ssh:NAME" means the ssh alias NAME even where the configuration of bringup has a target of that name.
    """
    name = target if target.startswith("ssh://") else target.removeprefix("ssh:")
    if not name.strip() or name.startswith("-") or not name.isprintable() or " " in name:
        raise UsageError(f"{target!r} is not the name of a host.", "Write it as for ssh: NAME, USER@NAME or ssh://…")
    head, colon, tail = name.partition(":")
    if colon and tail.isdigit() and "://" not in name:
        raise UsageError(f"{target!r} is not how ssh takes a port.", f"Write ssh://{head}:{tail}")
    return name
