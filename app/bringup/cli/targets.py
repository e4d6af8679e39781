"""What a command is pointed at: a target of the configuration, else whatever `ssh HOST` takes, else this machine."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bringup.core.errors import UsageError
from bringup.report.commands import THIS_MACHINE

if TYPE_CHECKING:
    from bringup.config.shapes import Config
    from bringup.config.shapes import Target as Configured
    from bringup.core.policy import Policy
    from bringup.hosts.control import LaunchCommand
    from bringup.hosts.ways import Way
    from bringup.session.knowledge import Knowledge
    from bringup.session.target import Drains, Target


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
    way: Way | None = None
    """How the server is reached on the host, where that takes more than a login."""
    ranks: tuple[int, ...] = ()
    """The ranks that it should have, where the configuration says how many there are."""
    nodes: tuple[Chosen, ...] = ()
    """The hosts of one start, the head node first; empty where it has one host, which is this."""

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
    way: Way | None = None,
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
        target = Target(shown, log, port, pid, read_only=read_only, drains=_drains(config))
        return Chosen(name or "", target, config, way=way)
    named = str(name)
    hosts = list(configured.hosts or [configured.host or ""])
    for host in filter(None, hosts):
        plain_target(host)
    own = _target(named, configured, config)
    target = replace(
        own,
        log=log or own.log,
        # A process that is named on the command line is not narrowed down by the target's port.
        port=port if port is not None or pid is not None else own.port,
        pid=pid if pid is not None or port is not None else own.pid,
        read_only=read_only or own.read_only,
        by_hand=_by_hand(configured, log, port, pid, way),
    )
    ranks = tuple(range(configured.ranks or 0))
    chosen = Chosen(hosts[0], target, config, configured, way or _way_of(configured), ranks)
    return chosen if len(hosts) == 1 else together(chosen, hosts)


def choose_all(
    names: Sequence[str],
    *,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    config: Config | None = None,
    way: Way | None = None,
) -> Chosen:
    """Return what one name means, or several hosts: they are the nodes of one start.

    Raises UsageError for a name, port, process or log that cannot be.
    """
    if len(names) < 2:
        name = names[0] if names else None
        return choose(name, log=log, port=port, pid=pid, read_only=read_only, config=config, way=way)
    if pid is not None:
        raise UsageError("A process is on one host, and several are named.", "Leave --pid out, or name its host.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{twice[0]} is named more than once.", "Name each node once.")
    nodes = [choose(name, log=log, port=port, read_only=read_only, config=config, way=way) for name in names]
    many = next((node for node in nodes if node.nodes), None)
    if many is not None:
        raise UsageError(f"The target {many.target.name} has several hosts of its own.", "Name it alone, or its hosts.")
    name = ", ".join(node.target.name for node in nodes)
    target = replace(nodes[0].target, name=name, read_only=any(node.target.read_only for node in nodes))
    return Chosen("", target, config, nodes=tuple(nodes))


def way_of(given: Mapping[str, str | None]) -> Way | None:
    """Return the one way that options name, None where they name none; raises UsageError for several."""
    named = [(kind, name) for kind, name in given.items() if name is not None]
    if not named:
        return None
    if len(named) > 1:
        options = " and ".join(f"--{kind}" for kind, _ in named)
        raise UsageError(f"{options} are two ways to a server.", "Give one of them.")
    from bringup.hosts.ways import make_way

    return make_way(*named[0])


def only_one(chosen: Chosen, deed: str) -> Chosen:
    """Return what has one host; raises UsageError where a deed would touch several."""
    if not chosen.nodes:
        return chosen
    hosts = ", ".join(node.target.name for node in chosen.nodes)
    raise UsageError(
        f"{chosen.target.name} has {len(chosen.nodes)} hosts, and a {deed} is of one.", f"Name it: {hosts}."
    )


def together(chosen: Chosen, hosts: list[str]) -> Chosen:
    """Return a target on several hosts: each node is launched with its place in the start."""
    nodes = []
    for number, host in enumerate(hosts):
        launch = chosen.target.launch
        if launch is not None:
            place = {"BRINGUP_NODE_RANK": str(number), "BRINGUP_NODES": str(len(hosts)), "BRINGUP_HEAD": hosts[0]}
            launch = replace(launch, env={**place, **launch.env})
        target = replace(chosen.target, name=host, launch=launch)
        nodes.append(replace(chosen, host=host, target=target, ranks=_share(chosen.ranks, number, len(hosts))))
    return replace(chosen, host="", nodes=tuple(nodes))


def _share(ranks: tuple[int, ...], number: int, nodes: int) -> tuple[int, ...]:
    """Return the ranks of one node of several, which all have as many; none where they cannot."""
    each = len(ranks) // nodes
    return () if len(ranks) % nodes else ranks[number * each : (number + 1) * each]


def configuration() -> Config | None:
    """Return the operator's configuration, None where there is none; raises UsageError with what is wrong in it."""
    from bringup.config.folder import config_file

    file = config_file(os.environ)
    if not file.exists():
        return None
    from bringup.config.reading import load_config

    return load_config(file)


def _way_of(configured: Configured) -> Way | None:
    kinds = {"docker": configured.docker, "kube": configured.kube, "slurm": configured.slurm, "unit": configured.unit}
    return way_of(kinds)


def _target(name: str, configured: Configured, config: Config | None) -> Target:
    """Return what the configuration says of a target."""
    from bringup.session.target import Target

    return Target(
        name=name,
        log=configured.log,
        port=configured.port,
        pid=configured.pid,
        read_only=configured.read_only,
        stop_command=_stop_command(configured),
        drains=_drains(config, configured),
        launch=_launch(name, configured),
        own=configured,
    )


def _by_hand(configured: Configured, *said: str | int | Way | None) -> bool:
    """Say whether what is `said` (log, port, PID, way) may mean another server than the target does."""
    own = (configured.log, configured.port, configured.pid, _way_of(configured))
    return any(word is not None and word != known for word, known in zip(said, own, strict=True))


def _stop_command(configured: Configured) -> str:
    if configured.stop is None:
        return ""
    cwd = configured.cwd
    if not cwd:
        return configured.stop
    where = '"$HOME"' + shlex.quote(cwd[1:]) if cwd == "~" or cwd.startswith("~/") else shlex.quote(cwd)
    return f"cd -- {where} && {configured.stop}"


def _drains(config: Config | None, configured: Configured | None = None) -> Drains:
    """Return how long a stop waits: what the target says counts more than what is said for all."""
    from bringup.session.target import Drains

    told = [table for table in (configured, config.stop if config is not None else None) if table is not None]
    drain, patient = (
        next((float(value) for table in told if (value := getattr(table, key)) is not None), None)
        for key in ("drain", "patient")
    )
    return Drains(drain, patient)


def _launch(name: str, configured: Configured) -> LaunchCommand | None:
    if configured.launch is None:
        return None
    from bringup.hosts.control import LaunchCommand

    return LaunchCommand(configured.launch, configured.cwd or "", configured.env, configured.log or "", name)


def _check(log: str | None, port: int | None, pid: int | None) -> None:
    if log == "":
        raise UsageError("The name of the log is empty.", "Give --log the path of a file on the host.")
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"There is no port {port}.", "Give --port a number from 1 to 65535.")
    if pid is not None and pid < 1:
        raise UsageError(f"There is no process {pid}.", "Give --pid the number of the server's launcher.")
