"""What nvidia-smi answers, row by row: GPUs, the processes that hold their memory, and what else it has to say.

nvidia-smi (drivers 535 to 580) prints `[N/A]`, `[Not Supported]` or `[Unknown Error]` for a value that it cannot give,
`[Not Found]` or `[No data]` for a process that it cannot name, and troubles as plain sentences among the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from bringup.core.events import Gpu, GpuApp
from bringup.core.sanitize import clean_text

MOST_GPUS = 64
MOST_APPS = 1024
_GPU_FIELDS = 9
_APP_FIELDS = 4
_INIT = "1"


@dataclass(slots=True)
class Answer:
    """One round of questions, while its rows come in."""

    asked: float
    """Uptime of the host when it was asked."""
    gpus: list[Gpu] = field(default_factory=list)
    apps: list[tuple[str, str, list[str]]] = field(default_factory=list)
    titles: dict[int, str] = field(default_factory=dict)
    """Command lines of processes that no sample holds."""
    said: str = ""
    """The first line that is no row: an error, or "No devices were found"."""

    def take_gpu(self, line: str) -> None:
        """Take a line of the answer about GPUs."""
        parts = [part.strip() for part in line.split(",", _GPU_FIELDS - 1)]
        index = _number(parts[0])
        if len(parts) < _GPU_FIELDS or index is None:
            self._hear(line)
        elif len(self.gpus) < MOST_GPUS:
            self.gpus.append(_gpu(int(index), parts))

    def take_app(self, parent: str, user: str, line: str) -> None:
        """Take a line of the answer about processes, with what the host says of that process."""
        parts = [part.strip() for part in line.split(",", _APP_FIELDS - 1)]
        if len(parts) < _APP_FIELDS or not (parts[0].isascii() and parts[0].isdigit()):
            if not self.apps:
                self._hear(line)
        elif len(self.apps) < MOST_APPS:
            self.apps.append((parent, user, parts))

    def resolve(
        self,
        tree: Collection[int],
        root: int | None,
        title: Callable[[int], str],
        started: Callable[[int], float] = lambda ticks: 0.0,
    ) -> tuple[GpuApp, ...]:
        """Return the processes on GPUs.

        `tree` are those of the watched server, `title` knows their command lines, `started` turns clock ticks since
        boot into epoch seconds.
        """
        index = {gpu.uuid: gpu.index for gpu in self.gpus}
        found = []
        for parent, user, (pid_text, uuid, used, name) in self.apps:
            gpu = index.get(uuid, self.gpus[0].index if len(self.gpus) == 1 else None)
            if gpu is None:
                continue
            pid = int(pid_text)
            shown = title(pid) or self.titles.get(pid) or ("" if name.startswith("[N") else clean_text(name))
            orphan = pid not in tree and root != 1 and _is_left_over(pid_text, parent)
            since = (
                started(int(ticks)) if (ticks := parent.split("/")[-1]).isdigit() and parent.count("/") == 2 else 0.0
            )
            found.append(GpuApp(pid, gpu, _whole(used), shown, clean_text(user), orphan, since))
        return tuple(found)

    def _hear(self, line: str) -> None:
        if line.strip() and not self.said:
            self.said = clean_text(line.strip())[:300]


def _gpu(index: int, parts: list[str]) -> Gpu:
    _, uuid, used, total, busy, power, limit, heat, name = parts
    return Gpu(
        index=index,
        uuid=clean_text(uuid),
        name=clean_text(name),
        used=_whole(used),
        total=_whole(total),
        utilization=_whole(busy),
        power=_number(power),
        power_limit=_number(limit),
        temperature=_whole(heat),
    )


def _is_left_over(pid: str, parent: str) -> bool:
    """A child of init that leads no session of its own: what a service manager starts does."""
    ppid, session, *_ = [*parent.split("/"), ""]
    return ppid == _INIT and session != pid


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e12 else None


def _whole(text: str) -> int | None:
    value = _number(text)
    return None if value is None else round(value)
