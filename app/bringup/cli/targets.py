"""What a command is pointed at: a target of the configuration, else whatever `ssh HOST` takes, else this machine."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.config.shapes import Config
    from bringup.config.shapes import Target as Configured
    from bringup.core.policy import Policy
    from bringup.hosts.control import LaunchCommand
    from bringup.session.knowledge import Knowledge
    from bringup.session.target import Target

THIS_MACHINE = "this machine"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A host, and how far it and the server on it are known beforehand."""

    host: str
    """As ssh takes it; empty for this machine."""
    target: Target
    config: Config | None = None
    """The operator's configuration; None where there is none."""
    configured: Configured | None = None
    """The target of the configuration that was named."""

    def policy(self) -> Policy:
        """Return the thresholds, the operator's own over those that ship with bringup."""
        from bringup.engines.patience import load_policy

        if self.config is None:
            return load_policy()
        from bringup.config.overlay import thresholds

        return load_policy(thresholds(self.config))

    def over(self, knowledge: Knowledge) -> Knowledge:
        """Return what is known beforehand, with the operator's thresholds."""
        from dataclasses import replace

        return replace(knowledge, policy=self.policy())


def choose(
    name: str | None,
    *,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    config: Config | None = None,
) -> Chosen:
    """Return what a command line means; what it says itself counts more than what the target says.

    Raises UsageError for a name, port, process or log that cannot be.
    """
    from bringup.hosts.naming import plain_target
    from bringup.session.target import Target

    _check(log, port, pid)
    configured = config.targets.get(name) if config is not None and name is not None else None
    if configured is None:
        # An empty name is most likely a variable that is not set, and not this machine.
        shown = plain_target(name) if name is not None else THIS_MACHINE
        return Chosen(name or "", Target(shown, log, port, pid, read_only=read_only), config)
    named = str(name)
    host = _only_host(named, configured)
    if host:
        plain_target(host)
    target = Target(
        name=named,
        log=log or configured.log,
        # A process that is named on the command line is not narrowed down by the target's port.
        port=port if port is not None or pid is not None else configured.port,
        pid=pid if pid is not None or port is not None else configured.pid,
        read_only=read_only or configured.read_only,
        stop_command=_stop_command(configured),
        launch=_launch(configured),
    )
    return Chosen(host, target, config, configured)


def configuration() -> Config | None:
    """Return the operator's configuration, None where there is none; raises UsageError with what is wrong in it."""
    from bringup.config.folder import config_file

    file = config_file(os.environ)
    if not file.exists():
        return None
    from bringup.config.reading import load_config

    return load_config(file)


def _only_host(name: str, configured: Configured) -> str:
    hosts = configured.hosts or []
    if len(hosts) > 1:
        what = f"The target {name} has {len(hosts)} hosts, and several hosts cannot be watched as one start yet."
        raise UsageError(what, f"Name one of them: {', '.join(hosts)}.")
    return hosts[0] if hosts else configured.host or ""


def _stop_command(configured: Configured) -> str:
    if configured.stop is None:
        return ""
    return f"cd -- {shlex.quote(configured.cwd)} && {configured.stop}" if configured.cwd else configured.stop


def _launch(configured: Configured) -> LaunchCommand | None:
    if configured.launch is None:
        return None
    from bringup.hosts.control import LaunchCommand

    return LaunchCommand(configured.launch, configured.cwd or "", configured.env, configured.log or "")


def _check(log: str | None, port: int | None, pid: int | None) -> None:
    if log == "":
        raise UsageError("The name of the log is empty.", "Give --log the path of a file on the host.")
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"There is no port {port}.", "Give --port a number from 1 to 65535.")
    if pid is not None and pid < 1:
        raise UsageError(f"There is no process {pid}.", "Give --pid the number of the server's launcher.")
