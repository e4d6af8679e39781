"""The simulated GPUs: what each rank holds, and the tables that the demo's nvidia-smi prints.

A rank says what it holds in a file named by its PID; the driver (in the supervisor) turns those files into the tables
and frees the memory of a process some time after its end, as a real driver does.
"""

from __future__ import annotations

import os
from pathlib import Path

TOTAL_MIB = 143771
RESERVED_MIB = 615
OVERHEAD_MIB = 10
"""What a GPU shows beyond its processes' memory (H200, driver 580)."""
FREED_AFTER = 1.0
"""Seconds after the end of a process until its memory is free."""
REDRAW = 1.0
"""Seconds between two tables when nothing happens: power and temperature never stand still."""
IDLE_WATTS = 78.0
MIB_PER_GB = 1024


class Claim:
    """What this process holds of one GPU."""

    def __init__(self, state: Path, gpu: int) -> None:
        self._gpu = gpu
        self._path = state / "claims" / str(os.getpid())

    def hold(self, gigabytes: float, utilization: int, watts: float) -> None:
        """Say how much memory is held now, and how busy the GPU is."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(f"{self._gpu} {round(gigabytes * MIB_PER_GB)} {utilization} {watts:.1f}\n")
        fresh.replace(self._path)


class Driver:
    """Keeps the tables `gpus` and `apps` in the state folder true to the claims."""

    def __init__(self, state: Path, gpus: int, freed_after: float = FREED_AFTER) -> None:
        self._state = state
        self._gpus = gpus
        self._freed_after = freed_after
        self._gone: dict[int, float] = {}
        self._tables = ("", "")
        self._drawn = float("-inf")
        self._heat = [34.0] * gpus
        (state / "claims").mkdir(parents=True, exist_ok=True)

    def tick(self, now: float) -> None:
        """Look at the claims and write the tables when something changed, or when they are old."""
        held = self._held(now)
        apps = "".join(f"{gpu}|{pid}|{name}|{used}\n" for pid, (gpu, used, _, _, name) in sorted(held.items()))
        stale = now - self._drawn >= REDRAW
        if apps == self._tables[1] and not stale:
            return
        self._drawn = now
        self._tables = ("".join(self._row(gpu, held, now) for gpu in range(self._gpus)), apps)
        for name, text in zip(("gpus", "apps"), self._tables, strict=True):
            fresh = self._state / f"{name}.new"
            fresh.write_text(text)
            fresh.replace(self._state / name)

    def _held(self, now: float) -> dict[int, tuple[int, int, int, float, str]]:
        held: dict[int, tuple[int, int, int, float, str]] = {}
        for path in (self._state / "claims").iterdir():
            if not path.name.isdigit():
                continue
            pid = int(path.name)
            gpu, used, utilization, watts = path.read_text().split()
            name = _title(pid)
            if name is not None:
                held[pid] = (int(gpu), int(used), int(utilization), float(watts), name)
            elif now - self._gone.setdefault(pid, now) < self._freed_after:
                held[pid] = (int(gpu), int(used), 0, IDLE_WATTS, "[No data]")
            else:
                path.unlink()
                self._gone.pop(pid)
        return held

    def _row(self, gpu: int, held: dict[int, tuple[int, int, int, float, str]], now: float) -> str:
        here = [claim for claim in held.values() if claim[0] == gpu]
        used = sum(claim[1] for claim in here) + (OVERHEAD_MIB if here else 0)
        busy = max((claim[2] for claim in here), default=0)
        wobble = (now * 7.3 + gpu * 2.9) % 3.0
        watts = max((claim[3] for claim in here), default=IDLE_WATTS) + wobble
        self._heat[gpu] += (30.0 + watts / 12.0 - self._heat[gpu]) * 0.2
        uuid = f"GPU-5a17{gpu:04x}-de30-4b0a-9c{gpu:02x}-0b7196e2d{gpu:03x}"
        return (
            f"{gpu}|{uuid}|00000000:{0x19 + gpu * 0x11:02X}:00.0|{used}|{busy}|{busy // 3}|"
            f"{round(self._heat[gpu])}|{watts:.2f}\n"
        )


def _title(pid: int) -> str | None:
    """Return the title of a living process; None for one that has ended, reaped or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        title = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else title
