"""What well-known programs do for a server below them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "busybox"})


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of programs, by what they do."""

    sessions: frozenset[str]
    keepers: frozenset[str]
    respawners: frozenset[str]
    wrappers: frozenset[str]
    bounds: frozenset[str]

    def passes(self, program: str) -> bool:
        """It does nothing when what it runs ends, but end with it."""
        return program in self.wrappers and program not in SHELLS

    def begins(self, program: str) -> bool:
        """A session, a container or the machine begins with it, and it starts nothing again."""
        return program.lower() in (self.sessions | self.keepers) - self.respawners - self.wrappers


def load_roles() -> Roles:
    """Return the programs that bringup knows."""
    table = tomllib.loads(resources.files(__package__).joinpath("roles.toml").read_text("utf-8"))
    return Roles(*(frozenset(table[key]) for key in ("sessions", "keepers", "respawners", "wrappers", "bounds")))
