"""Which server a command is about, and how it is reached: the options that every command on a host has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.hosts.ways import Way


@Parameter(name="*", negative="", show_default=False)
@dataclass(frozen=True, kw_only=True)
class Which:
    """The options, as the command line gives them."""

    log: Annotated[str | None, Parameter(help="Read this log instead of the one the server was found to write.")] = None
    port: Annotated[int | None, Parameter(help="The server on this port.")] = None
    pid: Annotated[int | None, Parameter(help="The server with this process ID.")] = None
    docker: Annotated[
        str | None,
        Parameter(help="The server in this container of docker: its log by `docker logs`, the rest by `docker exec`."),
    ] = None
    kube: Annotated[
        str | None,
        Parameter(help="The server in this pod, NAMESPACE/POD or NAMESPACE/POD/CONTAINER, by kubectl on the host."),
    ] = None
    slurm: Annotated[
        str | None,
        Parameter(help="All nodes of this job, by scontrol and srun on the host; JOBID@NODE is one of them."),
    ] = None
    unit: Annotated[
        str | None,
        Parameter(help="The server of this systemd unit, its log by journalctl; user/NAME for a unit of your own."),
    ] = None

    @property
    def given(self) -> tuple[str, ...]:
        """The options that were given, as they are written."""
        names = ("log", "port", "pid", "docker", "kube", "slurm", "unit")
        return tuple(f"--{name}" for name in names if getattr(self, name) is not None)

    @property
    def way(self) -> Way | None:
        """The way to the server that was given; raises UsageError for several."""
        from bringup.cli.targets import way_of

        return way_of({"docker": self.docker, "kube": self.kube, "slurm": self.slurm, "unit": self.unit})

    def chosen(self, hosts: Sequence[str | None], *, read_only: bool = False) -> Chosen:
        """Return what is meant on these hosts, with the operator's configuration; raises UsageError."""
        from bringup.cli.targets import choose_all, configuration

        return choose_all(
            [host for host in hosts if host is not None],
            log=self.log,
            port=self.port,
            pid=self.pid,
            read_only=read_only,
            config=configuration(),
            way=self.way,
        )


ANY = Which()
"""Nothing is said: the server that is found."""
