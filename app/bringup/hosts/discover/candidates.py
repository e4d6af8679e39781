"""The processes that discovery listed: which are launchers, which belong to one, and what stands above."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

from bringup.core.events import Labels
from bringup.core.titles import WORKERS
from bringup.hosts.discover.roles import SHELLS, Roles

_DEEPEST = 64
_NOT_LAUNCHERS = SHELLS | {
    *("ssh", "grep", "egrep", "rg", "tail", "less", "vi", "vim", "nano", "cat", "tee", "watch", "pgrep", "pkill", "ps"),
    *("tmux", "screen", "timeout", "nohup", "setsid", "sudo", "su", "script", "docker", "podman", "kubectl", "srun"),
}
"""Programs that can name a launcher in their arguments without being one."""
_EMBEDDED = frozenset({"scheduler", "controller"})
"""Parts that a program of its own starts where it runs an engine."""
_TERMINALS = frozenset({"tmux", "screen"})
OWN_LAUNCH = ": 'bringup launches a server'\n"
"""How the script begins that launches a server for us: it stands above that for seconds, and supervises nothing."""
_PANE = re.compile(r"/bringup-[^/ ]+/\d+-\d+/pane /")
"""A restart's own script in a terminal (control/pane.sh): it becomes a prompt."""
_LOOPS = ("while ", "until ", "for ")
_TAKE_A_WORD = frozenset({"--rcfile", "--init-file", "-o", "-O", "+o", "+O", "-C", "--init-command"})
"""Options of shells whose next word is no script."""


class Engine(Protocol):
    """What discovery asks of an engine (`core.rules.Engine`)."""

    @property
    def name(self) -> str:
        """Its name in the data."""
        ...

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    @property
    def package(self) -> str:
        """Its Python package."""
        ...

    @property
    def titles(self) -> Classifier:
        """What its processes look like."""
        ...

    def read_command(self, argv: Sequence[str]) -> dict[str, Any]:
        """Return what a command line sets."""
        ...


class Classifier(Protocol):
    """What the titles of an engine's processes say."""

    @property
    def launches(self) -> bool:
        """There is a launcher to be found."""
        ...

    def classify(self, title: str) -> tuple[Any, Labels] | None:
        """Return the part that a process plays and the rank it runs, or None for a stranger."""
        ...


@dataclass(slots=True)
class Candidate:
    """A process as discovery listed it."""

    pid: int
    ppid: int
    start: int
    state: str
    argv: tuple[str, ...]
    user: str = ""
    pgid: int = 0
    sid: int = 0
    tpgid: int = 0
    """The group in the foreground of its terminal."""

    @property
    def is_shell(self) -> bool:
        """It runs a shell or a script of one."""
        return self.program in SHELLS

    @property
    def title(self) -> str:
        """The arguments joined by blanks."""
        return " ".join(self.argv).strip()

    @property
    def program(self) -> str:
        """Name of the program: the first argument without folder, login dash and what a title adds to it."""
        words = self.argv[0].split() if self.argv else []
        return PurePosixPath(words[0].rstrip(":")).name.lstrip("-") if words else ""

    @property
    def tool(self) -> str:
        """Name of the program, or of the script that Python runs: conda and poetry are such."""
        runs = self.argv[1] if self.program.startswith("python") and len(self.argv) > 1 else "-"
        return self.program if runs.startswith("-") else PurePosixPath(runs).name


class Family:
    """All listed processes, and who is above whom."""

    def __init__(self, processes: Mapping[int, Candidate], engines: Sequence[Engine], roles: Roles) -> None:
        self._processes = processes
        self._roles = roles
        self._engines = engines
        self._parts = {pid: self._classify(process) for pid, process in processes.items()}
        self._left = self._left_forks()

    def launchers(self) -> list[tuple[Candidate, str]]:
        """Return the launchers and the names of their engines; of a wrapper and what it started, only the latter."""
        found = {pid for pid, (part, _) in self._parts.items() if part == "launcher"} - self._left
        for pid in sorted(found, reverse=True):
            above = next((other for other in self.above(pid) if other.pid in found), None)
            if above is not None:
                # The same command line twice is a fork that has not got its own title yet.
                found.discard(pid if above.argv == self._processes[pid].argv else above.pid)
        chosen = [(self._processes[pid], self._parts[pid][1]) for pid in found]
        return chosen + [(host, engine) for host, engine in self._embedding(found) if host.pid not in found]

    def orphans(self, launchers: Sequence[Candidate]) -> list[tuple[Candidate, str]]:
        """Return the processes of engines that belong to none of the launchers."""
        known = {launcher.pid for launcher in launchers}
        return [
            (self._processes[pid], engine)
            for pid, (part, engine) in self._parts.items()
            if (part in WORKERS or pid in self._left) and not any(above.pid in known for above in self.above(pid))
        ]

    def engine_in(self, pid: int) -> str:
        """Return the engine that a program of its own runs, by the workers that it has started; empty for none.

        Of PID 1 nobody can tell whether it has started them or has only taken them over: what `launchers` leaves out is
        told of here, for where it was named.
        """
        process = self._processes[pid]
        if self._roles.begins(process.program) or process.program in SHELLS or self._is_passive(process):
            return ""
        below = (pair for other, pair in self._parts.items() if self._processes[other].ppid == pid)
        return next((engine for part, engine in below if part in _EMBEDDED), "")

    def above(self, pid: int) -> Iterator[Candidate]:
        """Yield the ancestors of a process, nearest first."""
        for _ in range(_DEEPEST):
            process = self._processes.get(pid)
            parent = self._processes.get(process.ppid) if process is not None else None
            if parent is None:
                return
            yield parent
            pid = parent.pid

    def is_within(self, pid: int, root: int | None) -> bool:
        """Say whether a process is `root` or descends from it; everything does where it is None."""
        return root is None or pid == root or any(process.pid == root for process in self.above(pid))

    def supervisor(self, pid: int, within: int | None = None) -> Candidate | None:
        """Return what stands above a launcher, where that is more than a shell; not beyond `within`."""
        return next((process for process in self.starters(pid, within) if not self._is_passive(process)), None)

    def starters(self, pid: int, within: int | None = None) -> tuple[Candidate, ...]:
        """Return all above a launcher that may go on after its end, nearest first; not beyond a prompt or `within`.

        A prompt counts where the server is what it waits for: that may have been typed as a loop.
        """
        found: list[Candidate] = []
        below = self._processes[pid]
        for process in self.above(pid):
            # What PID 1 has adopted is in a session of its own: another one started it.
            adopted = process.pid == 1 and below.sid != process.sid
            if adopted or process.pid == within or self._roles.begins(process.program) or _launches_for_us(process):
                break
            if _is_prompt(process, below):
                found += [process] if below.pgid == below.tpgid else []
                break
            if not self._passes(process):
                found.append(process)
            below = process
        return tuple(found)

    def bounds(self, pid: int, within: int | None = None) -> tuple[Candidate, ...]:
        """Return what binds a launcher as long as both run, such as timeout(1), nearest first; not beyond `within`."""
        passed = itertools.takewhile(lambda each: each.pid != within and self._is_passive(each), self.above(pid))
        return tuple(each for each in passed if each.program in self._roles.bounds)

    def terminal_program(self, pid: int) -> str:
        """Return "tmux" or "screen" where a process runs in one, else ""."""
        programs = (process.program.lower() for process in self.above(pid))
        return next((program for program in programs if program in _TERMINALS), "")

    def _classify(self, process: Candidate) -> tuple[str, str]:
        if process.state in ("Z", "X") or not process.title:
            return "", ""
        for engine in self._engines:
            known = engine.titles.classify(process.title)
            if known is not None and not (known[0] == "launcher" and process.program in _NOT_LAUNCHERS):
                return str(known[0]), engine.name
        return "", ""

    def _left_forks(self) -> set[int]:
        """Return what a launcher that has ended has forked and that had got no title of its own yet.

        It has the launcher's command line. Two servers cannot have the same one, with its port; a single process that
        its session has outlived is more likely a server that was started in the background and whose shell has ended.
        """
        alike: dict[tuple[int, tuple[str, ...]], set[int]] = {}
        for pid, (part, _) in self._parts.items():
            process = self._processes[pid]
            leads = pid in (process.pgid, process.sid)
            if part == "launcher" and not leads and not any(self._parts[above.pid][0] for above in self.above(pid)):
                alike.setdefault((process.pgid, process.argv), set()).add(pid)
        return {
            pid for (group, _), pids in alike.items() if len(pids) > 1 and group not in self._processes for pid in pids
        }

    def _embedding(self, launchers: set[int]) -> Iterator[tuple[Candidate, str]]:
        """Programs with a command line of their own that run an engine: the parent of schedulers without a launcher."""
        seen = set()
        for pid, (part, engine) in self._parts.items():
            if part not in _EMBEDDED or any(above.pid in launchers for above in self.above(pid)):
                continue
            host = next((above for above in self.above(pid) if not self._parts[above.pid][0]), None)
            if (
                host is None
                or host.pid in seen
                or host.pid == 1
                or self._roles.begins(host.program)
                or self._is_passive(host)
            ):
                continue
            seen.add(host.pid)
            yield host, engine

    def _passes(self, process: Candidate) -> bool:
        return self._roles.passes(process.tool) or _PANE.search(process.title) is not None

    def _is_passive(self, process: Candidate) -> bool:
        """Say whether a shell or a wrapper does nothing about the end of what it started."""
        if self._passes(process):
            return True
        if process.program not in SHELLS:
            return False
        words = _words(process)
        if any(word.startswith("-") and "c" in word for word in process.argv[1:2]):
            return not any(loop in " ".join(words) for loop in _LOOPS)
        return not words


def _launches_for_us(process: Candidate) -> bool:
    return process.program in SHELLS and "".join(process.argv[2:3]).startswith(OWN_LAUNCH)


def _is_prompt(process: Candidate, below: Candidate) -> bool:
    """A shell with nothing to run but what is typed: with job control, so that what it starts has its own group."""
    return process.program in SHELLS and not _words(process) and below.pgid != process.pgid


def _words(process: Candidate) -> list[str]:
    """Return what a shell is given besides options: a script, or what follows -c."""
    words = zip(process.argv, process.argv[1:], strict=False)
    return [word for before, word in words if not word.startswith(("-", "+")) and before not in _TAKE_A_WORD]
