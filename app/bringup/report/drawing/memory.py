"""GPU memory in use: a line a GPU over time, or bars of what is used now where there is no time to speak of."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.events import Gpu
from bringup.report.account import Account
from bringup.report.drawing.axis import Axis, clock
from bringup.report.drawing.chart import LEFT, RIGHT, WIDTH, Chart, fitting, rect, words
from bringup.report.drawing.palette import GPUS
from bringup.report.markup import Node, element

_TOP, _HEIGHT = 12.0, 190.0
_SHORTEST = 10.0
"""Seconds of samples from which lines can be drawn."""
_MIB = 1024
_STEPS = (1, 2, 5, 10, 20, 25, 40, 50, 100, 200)
_APART = 13.0

Line = tuple[int, list[tuple[float, int]]]
"""The index of a GPU, and (moment, MiB in use)."""


def memory_chart(account: Account, axis: Axis | None) -> Chart | None:
    """Return the drawing; None where nothing is known of the GPUs."""
    if axis is not None:
        lines = _lines(account, axis)
        times = [at for _, line in lines for at, _ in line]
        if times and max(times) - min(times) >= _SHORTEST:
            return _over_time(account, axis, lines)
    gpus = [gpu for gpu in account.state.gpu.gpus if gpu.used is not None]
    return _now(account, gpus) if gpus else None


def _lines(account: Account, axis: Axis) -> list[Line]:
    found: dict[int, list[tuple[float, int]]] = {}
    for point in account.points:
        if axis.holds(point.at):
            for index, used in point.gpus:
                found.setdefault(index, []).append((point.at, used))
    return sorted(found.items())


def _over_time(account: Account, axis: Axis, lines: Sequence[Line]) -> Chart:
    totals = {gpu.index: gpu.total for gpu in account.state.gpu.gpus}
    known = [total for index, _ in lines if (total := totals.get(index))]
    top = max([*known, *(used for _, line in lines for _, used in line), _MIB]) / _MIB
    bottom = _TOP + _HEIGHT

    def level(mib: float) -> float:
        return bottom - mib / _MIB / (top * 1.04) * _HEIGHT

    parts = [*_levels(top, level), *axis.drawn(_TOP, bottom)]
    if known and len(set(known)) == 1:
        y = level(known[0])
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="limit"))
        parts.append(words(RIGHT + 12, y + 4, f"{known[0] / _MIB:.0f} GiB each", "soft"))
    ends = []
    for index, line in lines:
        path = "".join(f"{'L' if n else 'M'}{axis.x(at):.1f} {level(used):.1f}" for n, (at, used) in enumerate(line))
        says = element("title", f"GPU {index}: {line[-1][1] / _MIB:.1f} GiB at the end")
        parts.append(element("path", says, d=path, class_=f"line g{index % len(GPUS)}"))
        ends.append((level(line[-1][1]), index, line[-1][1]))
    parts += _labels(ends, level(known[0]) if known and len(set(known)) == 1 else None)
    told = "; ".join(_line_told(line, axis) for line in lines)
    return Chart(f"memory{account.mark}", f"GPU memory in use{account.of} over time", told, bottom + 22, tuple(parts))


def _levels(top: float, level: object) -> list[Node]:
    assert callable(level)
    step = next((step for step in _STEPS if top / step <= 6), 500)
    parts = []
    for gib in range(0, int(top) + 1, step):
        y = level(gib * _MIB)
        parts.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(words(LEFT - 8, y + 4, f"{gib} GiB", "soft num", "end"))
    return parts


def _labels(ends: Sequence[tuple[float, int, int]], taken: float | None) -> list[Node]:
    """Name the lines at their ends, those that end at the same height together."""
    groups: list[tuple[float, list[int], int]] = []
    for y, index, used in sorted(ends):
        if groups and y - groups[-1][0] < _APART / 2:
            groups[-1][1].append(index)
        else:
            groups.append((y, [index], used))
    parts = []
    free = taken + _APART if taken is not None else 0.0
    for y, indices, used in groups:
        at = max(y + 4, free)
        free = at + _APART
        text = f"{gpus_named(sorted(indices))}: {used / _MIB:.1f} GiB"
        parts.append(words(RIGHT + 12, at, fitting(text, WIDTH - RIGHT - 14), "num"))
    return parts


def gpus_named(indices: Sequence[int]) -> str:
    """Return some GPUs by their numbers: "GPU 3", "GPU 0-7", "GPU 0, 2"."""
    if len(indices) > 2 and indices[-1] - indices[0] == len(indices) - 1:
        return f"GPU {indices[0]}-{indices[-1]}"
    return f"GPU {', '.join(str(index) for index in indices)}"


def _line_told(line: Line, axis: Axis) -> str:
    index, samples = line
    most_at, most = max(samples, key=lambda sample: sample[1])
    return (
        f"GPU {index}: {samples[0][1] / _MIB:.1f} GiB first, at most {most / _MIB:.1f} GiB at "
        f"{clock(most_at - axis.begin)}, {samples[-1][1] / _MIB:.1f} GiB last"
    )


def _now(account: Account, gpus: Sequence[Gpu]) -> Chart:
    parts: list[Node] = []
    top = max(gpu.total or gpu.used or 1 for gpu in gpus)
    y, row = 6.0, 24.0 if len(gpus) <= 16 else 16.0
    told = []
    for gpu in gpus:
        used, total = gpu.used or 0, gpu.total
        room = RIGHT - LEFT
        says = f"{used / _MIB:.1f}{f' of {total / _MIB:.0f}' if total else ''} GiB"
        parts.append(words(8, y + row / 2 + 2, f"GPU {gpu.index}", "strong"))
        parts.append(rect(LEFT, y, room * (total or top) / top, row - 6, "lane", 2))
        parts.append(rect(LEFT, y, room * used / top, row - 6, f"b{gpu.index % len(GPUS)}", 2, says=says))
        parts.append(words(RIGHT + 12, y + row / 2 + 2, says, "num"))
        told.append(f"GPU {gpu.index}: {says}")
        y += row
    title = f"GPU memory in use{account.of} at the end"
    return Chart(f"memory{account.mark}", title, "; ".join(told), y + 4, tuple(parts))
