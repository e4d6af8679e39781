"""The command of a restart in the middle can be edited by a console that did not begin it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place, make_docker
from leftopen import unfinished
from placedhost import Placed

from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.control import LaunchCommand, LaunchFailed, Unfinished, claim, kept_command, restart, resume, survey
from bringup.hosts.control.editing import unmask
from bringup.session.acting import make_kept


class Heard(Placed):
    """A host that keeps all that it has told."""

    told = b""

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        done = await super().run(script, stdin=stdin, timeout=timeout, limit=limit)
        self.told += done.stdout + done.stderr
        return done


async def failed(host: Placed, server: Server, place: Place, **more: object) -> Unfinished:
    """Return what another console's restart leaves that fails to launch."""
    (place.folder / "die").touch()
    claimed = await claim(host, server, "restart", token="theirs")
    with pytest.raises(LaunchFailed):
        await restart(host, await survey(host, server), claimed, report=lambda _: None, watch=60, **more)  # type: ignore[arg-type]
    (place.folder / "die").unlink()
    left = await unfinished(host, token="ours")
    assert left is not None
    return left


async def test_what_failed_is_edited_by_another_console(host: Placed, place: Place) -> None:
    place.environ["HF_TOKEN"] = "hf_of_the_environment"
    place.start(*place.command("--api-key", "the old secret"))
    server = await place.see(host, await place.one())
    edited = (*server.argv[:-1], "a new secret", "--seed", "7 8")
    left = await failed(host, server, place, argv=edited)
    heard = Heard(host.inner, {name: value for name, value in place.environ.items() if name != "HF_TOKEN"})
    command = await kept_command(heard, left)
    assert command is not None
    assert (command.ran, command.kept) == (server.argv, edited)
    assert heard.told
    assert b"hf_of_the_environment" not in heard.told
    assert b"hf_of_the_environment".hex().encode() not in heard.told

    kept = make_kept("box", left, command)
    shown = " ".join((*kept.argv, *kept.plan.argv, kept.plan.command))
    assert "secret" not in shown
    assert kept.argv[-3:] == ("***", "--seed", "7 8")
    words = unmask(kept.plan.server.argv, (*kept.argv[:-2], "--tp", "2"))
    started = await resume(host, left, report=lambda _: None, argv=words, watch=1, token="ours")
    assert await place.one() == started.pid
    line = Path(f"/proc/{started.pid}/cmdline").read_bytes()
    assert line.endswith(b"--api-key\0a new secret\0--tp\0002\0"), "the secret of the command that failed is kept"
    assert b"HF_TOKEN=hf_of_the_environment" in Path(f"/proc/{started.pid}/environ").read_bytes().split(b"\0")


async def test_a_configured_command_is_edited_in_the_configuration(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    command = LaunchCommand(f"exec {place.line()}", str(place.folder), place.environ, str(place.log), "kimi")
    left = await failed(local, server, place, command=command)
    assert left.kept
    assert await kept_command(local, left) is None


async def test_what_nothing_of_ours_launches_is_not_edited_here(local: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(local, await place.one(), within=None)
    (place.folder / "docker.broken").touch()
    left = await failed(local, server, place)
    assert left.own
    before = len(local.scripts)
    assert await kept_command(local, left) is None
    assert await kept_command(local, replace(left, kept=True, prepared=True, respawns=True)) is None
    assert len(local.scripts) == before, "nobody is asked"


async def test_what_is_not_kept_any_more_is_not_edited(local: Placed, place: Place) -> None:
    place.start(*place.command())
    left = await failed(local, await place.see(local, await place.one()), place)
    assert await kept_command(local, left) is not None
    (argv,) = [path for path in place.secrets() if path.name == "argv"]
    argv.unlink()
    assert await kept_command(local, left) is None
