"""Ways to a host: this machine, or SSH as `ssh HOST` would go, with the questions that only the operator can answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bringup.core.errors import HostKeyUnknown, LoginRefused, Unreachable
from bringup.hosts.ask import Ask, Question, Remembering
from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost, SshOptions, trust

YES = "yes"


def way_to(name: str, ask: Ask, options: SshOptions | None = None) -> Callable[[], Awaitable[Host]]:
    """Return a callable that connects to `name` (empty for this machine), each time anew.

    Answers given once serve again after a lost connection; a key that nobody has on record is put on record only when
    the operator says so. Where we are refused, the system's own ssh may still get in: it knows Kerberos, FIDO keys, and
    connections that stand already.
    """
    remembering = Remembering(ask)

    async def connect() -> Host:
        if not name:
            return LocalHost()
        remembering.begin()
        try:
            return await SshHost.login(name, ask=remembering, options=options)
        except LoginRefused as refused:
            return await _with_the_systems_ssh(name, options or SshOptions(), refused)
        except HostKeyUnknown as unknown:
            question = Question("host-key", unknown.what, f"{unknown.algorithm} {unknown.fingerprint}")
            if await ask(question) != YES:
                raise
            trust.accept(unknown)
            return await SshHost.login(name, ask=remembering, options=options)

    return connect


async def _with_the_systems_ssh(name: str, options: SshOptions, refused: LoginRefused) -> Host:
    """Try the way that `ssh NAME` takes; what we were told ourselves is what is said where that fails, too."""
    if options.host or not options.ssh_program:
        raise refused
    # asyncssh's half of it is loaded by now; for this machine as a host it is never needed.
    from bringup.hosts.openssh import OpensshHost

    words = ("-F", str(options.ssh_config)) if options.ssh_config else ()
    try:
        return await OpensshHost.login(name, program=options.ssh_program, options=words)
    except Unreachable as also:
        raise LoginRefused(refused.what, f"{refused.hint} {also.what}") from also
