"""`bringup watch [HOST]`: the console on a real host."""

from __future__ import annotations

from bringup.core.errors import UsageError

THIS_MACHINE = "this machine"


def watch(
    host: str | None = None,
    /,
    *,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    theme: str | None = None,
) -> int:
    """Open the console on a host and follow the server that starts there.

    Parameters
    ----------
    host
        Whatever `ssh HOST` takes: an alias, user@host, ssh://user@host:port. Nothing for this machine.
    log
        Follow this log instead of the one the server was found to write.
    port
        Watch the server on this port.
    pid
        Watch the server with this process ID.
    read_only
        Take away the keys that stop or restart the server.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    """
    # Textual costs 200 ms: nothing but the console pays for it.
    from bringup.cli.console import run_console
    from bringup.hosts.naming import plain_target
    from bringup.session.target import Target

    if host is not None:
        # Told before the screen opens. An empty name is most likely a variable that is not set, and not this machine.
        plain_target(host)
    if log == "":
        raise UsageError("The name of the log is empty.", "Give --log the path of a file on the host.")
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"There is no port {port}.", "Give --port a number from 1 to 65535.")
    if pid is not None and pid < 1:
        raise UsageError(f"There is no process {pid}.", "Give --pid the number of the server's launcher.")
    target = Target(name=host or THIS_MACHINE, log=log, port=port, pid=pid, read_only=read_only)
    return run_console(host or "", target, theme=theme or "")
