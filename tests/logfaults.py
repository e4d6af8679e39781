"""What can happen to a log: each function does it to the file that a running watch follows.

Where more is to be read in the end than one start, the fault says so in `run.expected`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

from faultwatch import PIECES, TEXT, Run
from waiting import eventually


def text(run: Run, upto: int | None = None) -> bytes:
    """What has been written so far."""
    return b"".join(PIECES[: run.writer.written if upto is None else upto])


async def renamed_and_created(run: Run) -> None:
    """logrotate with `create`, and the server opens the path anew."""
    run.writer.step_to_line_end()
    run.writer.path.rename(f"{run.writer.path}.1")
    run.writer.open()


async def late_write_to_the_renamed(run: Run) -> None:
    """The server goes on in the renamed file for a while before it opens the path anew."""
    run.writer.path.rename(f"{run.writer.path}.1")
    run.writer.path.touch()
    run.writer.step()
    run.writer.step_to_line_end()
    run.writer.open()


async def truncated_and_regrown(run: Run) -> None:
    """A server is started anew onto the same file, and its log is at once as long as the old one was."""
    run.writer.step_to_line_end()
    before = run.writer.path.read_bytes()
    await run.level(len(before))
    os.truncate(run.writer.path, 0)
    run.writer.pieces = PIECES
    run.writer.write(text(run))
    run.expected = before + TEXT


async def copied_and_truncated(run: Run) -> None:
    """logrotate with `copytruncate`: the server goes on in the same file."""
    run.writer.step_to_line_end()
    await run.level(len(text(run)))
    shutil.copy(run.writer.path, f"{run.writer.path}.1")
    os.truncate(run.writer.path, 0)


async def copied_and_truncated_unseen(run: Run) -> None:
    """The same, at once after lines that nobody has looked at yet: they are in the copy."""
    await run.level(len(text(run)))
    for _ in range(3):
        run.writer.step()
    run.writer.step_to_line_end()
    shutil.copy(run.writer.path, f"{run.writer.path}.1")
    os.truncate(run.writer.path, 0)


async def renamed_twice_while_cut_off(run: Run) -> None:
    """The log is rotated twice while there is no connection: one file came and went in between."""
    run.server.cut()
    newer, older = Path(f"{run.writer.path}.1"), Path(f"{run.writer.path}.2")
    for _ in range(2):
        run.writer.step()
        run.writer.step_to_line_end()
        if newer.exists():
            newer.rename(older)
        run.writer.path.rename(newer)
        run.writer.open()
    run.writer.step()


async def padded_with_nuls(run: Run) -> None:
    """Truncated under a writer that does not append: it goes on at its old offset, and the file has a hole."""
    run.writer.step_to_line_end()
    await run.level(len(text(run)))
    hole = os.lseek(run.writer.handle, 0, os.SEEK_CUR)
    os.truncate(run.writer.path, 0)
    so_far = text(run)
    run.expected = so_far + bytes(hole) + TEXT[len(so_far) :]


async def deleted(run: Run) -> None:
    """The file is deleted, and the server goes on writing to it."""
    run.writer.path.unlink()


async def deleted_and_created(run: Run) -> None:
    """The file is deleted, and the server creates another one a little later."""
    run.writer.step_to_line_end()
    run.writer.path.unlink()
    run.later(0.3, run.writer.open)
    await run.level(len(text(run)))
    await eventually(lambda: run.writer.path.exists())


async def moved_away_and_back(run: Run) -> None:
    """The file is renamed and gets its old name again."""
    aside = run.writer.path.rename(f"{run.writer.path}.aside")
    run.later(0.4, lambda: aside.rename(run.writer.path))


async def renamed_while_cut_off(run: Run) -> None:
    """The log is rotated while there is no connection, after more was written to it."""
    run.server.cut()
    for _ in range(3):
        run.writer.step()
    run.writer.step_to_line_end()
    run.writer.path.rename(f"{run.writer.path}.1")
    run.writer.open()
    run.writer.step()


async def file_service_hangs(run: Run) -> None:
    """The network file system under the log hangs: whoever reads from it does, and nobody else."""
    pids = file_services(run)
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    run.later(0.9, lambda: [os.kill(pid, signal.SIGCONT) for pid in pids])


async def stale_copy(run: Run) -> None:
    """A network file system shows another file of the same content under the path (a new file handle)."""
    copy = Path(f"{run.writer.path}.copy")
    shutil.copy(run.writer.path, copy)
    copy.rename(run.writer.path)
    run.writer.open()


def file_services(run: Run) -> list[int]:
    """Processes of the file service below this run's ssh server."""
    found = []
    for pid in run.server.descendants():
        # What has ended since is none.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/comm").read_text().startswith("sftp-server"):
                found.append(pid)
    return found


LOGS: dict[str, tuple[Callable[[Run], Awaitable[None]], str]] = {
    "renamed, created": (renamed_and_created, "rotated"),
    "late write to the renamed": (late_write_to_the_renamed, "rotated"),
    "truncated, regrown at once": (truncated_and_regrown, "replaced"),
    "copied, truncated": (copied_and_truncated, "truncated replaced"),
    "copied, truncated unseen": (copied_and_truncated_unseen, "truncated replaced"),
    "truncated, hole of NULs": (padded_with_nuls, "replaced truncated"),
    "deleted, written on": (deleted, "gone"),
    "deleted, created": (deleted_and_created, "gone back rotated"),
    "moved away and back": (moved_away_and_back, "gone back ?"),
    "rotated while cut off": (renamed_while_cut_off, "rotated"),
    "rotated twice while cut off": (renamed_twice_while_cut_off, "rotated"),
    "network file system hangs": (file_service_hangs, ""),
    "same bytes, other file": (stale_copy, ""),
}
"""By name: the fault, and the moves that the log may tell of; "?" where it may have been too short to be seen."""
