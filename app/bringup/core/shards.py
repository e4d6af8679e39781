"""What a rank's maps show of its load: which checkpoint files it has opened, and which it has put away again.

The single-thread loader maps the file it reads, the multi-thread loader (SGLang 0.5.10 and later) up to threads + 1 at
a time; a file is read when it is no longer mapped. A file can come and go between two samples; where the names are
numbered and came up in order, the higher number proves it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bringup.core.bars import bar_of
from bringup.core.events import Role
from bringup.core.state import Attempt, Edge, Rank, Shards

_NUMBERED = re.compile(r"-(\d{1,6})-of-(\d{1,6})\.[A-Za-z0-9.]+$")
_ORDER_PROVEN = 2
_WIDEST_STEP = 17
"""Files that may be opened between two samples without making the order doubtful: 16 loader threads and one."""
_MOST_FILES = 8192


def look(attempt: Attempt, rank: Rank, files: tuple[str, ...], at: float) -> tuple[Shards, ...]:
    """Return the rank's shards after its maps were read; unchanged where they show the same files."""
    roles: dict[Role, set[str]] = {}
    for file in files[:_MOST_FILES]:
        roles.setdefault(_role_of(attempt, rank.edges, file), set()).add(file)
    after = {known.role: _see(known, roles.pop(known.role, set()), at) for known in rank.shards}
    for role, mapped in roles.items():
        after[role] = _see(Shards(role, read=_passed(attempt, rank, role)), mapped, at)
    same = len(after) == len(rank.shards) and all(after[known.role] is known for known in rank.shards)
    return rank.shards if same else tuple(after.values())


def opened(shards: Shards) -> int:
    """Return how many files were opened so far: counted, or by the highest number where they come in order."""
    return max(len(shards.seen), shards.top if shards.rises >= _ORDER_PROVEN else 0)


def _passed(attempt: Attempt, rank: Rank, role: Role) -> int:
    """What the bar had shown of this load before the first look at the maps: from here on only they count."""
    bar = bar_of(attempt, "weights", role) if rank.rank == 0 else None
    return round(max(bar.floor * bar.total, bar.done)) if bar is not None else 0


def _see(old: Shards, mapped: set[str], at: float) -> Shards:
    now = frozenset(mapped)
    if now == old.open:
        return old
    new = now - old.seen
    numbers = sorted(int(found[1]) for file in new if (found := _NUMBERED.search(file)))
    total = next((int(found[2]) for file in sorted(new) if (found := _NUMBERED.search(file))), old.total)
    seen = old.seen | now
    step = replace(
        old,
        total=total,
        seen=seen if len(seen) <= _MOST_FILES else old.seen,
        open=now,
        moved_at=at,
        top=max([old.top, *numbers]),
        rises=_rises(old, numbers),
    )
    return replace(step, read=max(old.read, opened(step) - len(now)))


def _rises(old: Shards, numbers: list[int]) -> int:
    """Count proofs of order: newly opened files that follow closely on those opened before."""
    if not numbers or old.rises < 0:
        return old.rises
    if old.top == 0:
        return 0
    if numbers[0] < old.top:
        late = old.top - numbers[0] < _WIDEST_STEP and len(old.open) > 0
        return old.rises if late else -1
    return old.rises + 1 if numbers[-1] - old.top <= _WIDEST_STEP else old.rises


def _role_of(attempt: Attempt, edges: tuple[Edge, ...], file: str) -> Role:
    """The model that a file belongs to: by its folder, else by the load that the rank has open."""
    if attempt.draft_model and attempt.draft_model != attempt.model:
        draft, target = _fit(attempt.draft_model, file), _fit(attempt.model or "", file)
        return "draft" if draft > target else "target"
    loads = [edge for edge in edges if edge.phase == "weights" and edge.ended is None]
    return loads[-1].role if loads else "target"


def _fit(model: str, file: str) -> int:
    """How much of the path a model explains: its folder, or its folder in the Hugging Face cache."""
    folder = model.rstrip("/")
    if not folder:
        return 0
    if file.startswith(folder + "/"):
        return len(folder)
    cached = "/models--" + folder.replace("/", "--") + "/"
    return len(cached) if cached in file else 0
