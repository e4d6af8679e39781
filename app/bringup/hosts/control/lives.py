"""Whether what a launcher started lives: its own tool is asked, and tells why not in its own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from bringup.core.errors import ChannelRefused
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.shipped import read_script

State = Literal["", "runs", "waits", "ended"]
_TIMEOUT = 5.0
"""Seconds for the tool to answer: what cannot be told is waited for as if nobody had asked."""
_LONGEST = 300
_BECAME = {"runs": "runs", "waits": "does not run yet", "ended": "has ended"}


@dataclass(frozen=True, slots=True)
class Life:
    """What has become of what was started."""

    state: State = ""
    """"waits" does not run, and comes up by itself or is being started; "" where nobody can tell."""
    words: str = ""
    """The launcher's own, without a full stop: "exited, exit status 137, OOMKilled"."""

    @property
    def became(self) -> str:
        """What has become of it, to follow its name: "has ended (exited, exit status 1)"; "" where nobody can tell."""
        return f"{_BECAME[self.state]} ({self.words})" if self.state else ""


async def life(host: Host, command: str) -> Life:
    """Ask by one of the commands of lives.sh; an empty one asks nobody."""
    if not command:
        return Life()
    try:
        done = await host.run(f"{read_script('control/lives.sh')}\n{command}", timeout=_TIMEOUT, limit=1 << 14)
    except ChannelRefused:
        return Life()
    state, _, words = done.stdout.decode("utf-8", "replace").strip().partition(" ")
    if state not in get_args(State):
        return Life()
    told = " ".join(clean_text(words).split())[:_LONGEST].rstrip(".")
    return Life(cast(State, state), told)
