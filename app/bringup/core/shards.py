"""What a rank's maps show of its load: which checkpoint files it has opened, and which it has put away again.

The single-thread loader maps the file it reads, the multi-thread loader (SGLang 0.5.10 and later) up to threads + 1 at
a time; a file is read when it is no longer mapped. A file can come and go between two samples; where the names are
numbered and came up in order, the higher number proves it. So it is with what was read before the first look: several
files that follow on each other show the order at once; of a single one nothing is known before others have followed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from bringup.core.bars import bar_of
from bringup.core.events import Role
from bringup.core.shard_list import NUMBERED, split, total_of
from bringup.core.state import Attempt, Rank, Shards, State
from bringup.core.words import count

_ORDER_PROVEN = 2
_WIDEST_STEP = 17
"""Files that may be opened between two samples without making the order doubtful: 16 loader threads and one."""
_WINDOW = 3
"""Files that, mapped at once and without a gap in their numbers, show that they are read in this order."""
_MOST_FILES = 8192


def look(state: State, rank: Rank, files: tuple[str, ...], at: float) -> tuple[Shards, ...]:
    """Return the rank's shards after its maps were read; unchanged where they show the same files."""
    if rank.process is not None and rank.process.shards == files and (rank.shards or not files):
        return rank.shards
    roles = _by_model(state, rank, files[:_MOST_FILES])
    after = {known.role: _see(known, roles.pop(known.role, {}), at) for known in rank.shards}
    watched = rank.process is not None and rank.process.shards is not None
    for role, mapped in roles.items():
        late = not watched and 1 not in mapped.values()
        after[role] = _see(Shards(role, read=_passed(state.attempt, rank, role), late=late), mapped, at)
    same = len(after) == len(rank.shards) and all(after[known.role] is known for known in rank.shards)
    return rank.shards if same else tuple(after.values())


def _by_model(state: State, rank: Rank, files: tuple[str, ...]) -> dict[Role, dict[str, int]]:
    """The mapped weight files by model; one that was mapped before is still the same model's, whatever has begun."""
    mapped = frozenset(files)
    roles = {known.role: dict.fromkeys(known.open & mapped, 0) for known in rank.shards}
    before = frozenset[str]().union(*roles.values())
    for role, new in split(state, rank, tuple(file for file in files if file not in before)).items():
        roles.setdefault(role, {}).update(new)
    return roles


def sort_again(state: State) -> State:
    """Return the state with the files that were seen put to their models anew, after a list of files became known."""
    if not any(rank.shards for rank in state.attempt.ranks):
        return state
    ranks = tuple(
        replace(rank, shards=_sorted_again(state, rank)) if rank.shards else rank for rank in state.attempt.ranks
    )
    return replace(state, attempt=replace(state.attempt, ranks=ranks))


def shards_of(rank: Rank, role: Role) -> Shards | None:
    """Return what a rank's maps have shown of one model, or None where they have shown nothing of it."""
    return next((known for known in rank.shards if known.role == role and known.seen), None)


def whole(state: State, shards: Shards) -> int | None:
    """Return how many files the load has: by the model's list, else by their own numbers, else by the first bar."""
    listed = total_of(state, shards.role) or shards.total
    if listed:
        return listed
    bar = bar_of(state.attempt, "weights", shards.role)
    return bar.total if bar is not None and bar.files and not bar.provisional else None


def opened(shards: Shards) -> int:
    """Return how many files were opened so far: counted, or by the highest number where they come in order."""
    return max(len(shards.seen), shards.top if shards.rises >= _ORDER_PROVEN else 0)


def is_unknown(shards: Shards) -> bool:
    """Say whether nobody can tell how many files were opened before the first look."""
    return shards.late and shards.rises < _ORDER_PROVEN


def mapped_words(shards: Shards, total: int | None) -> str:
    """Return which files are mapped, of a load of which no more is known than that: "maps shards 28-36 of 64"."""
    of = f" of {total}" if total else ""
    first, last = shards.span
    if first and last - first == len(shards.open) - 1:
        return f"maps shard {first}{of}" if first == last else f"maps shards {first}-{last}{of}"
    return f"maps {count(len(shards.open), 'shard')}{of}"


def _passed(attempt: Attempt, rank: Rank, role: Role) -> int:
    """What the bar had shown of this load before the first look at the maps: from here on only they count."""
    bar = bar_of(attempt, "weights", role, owner=rank.rank)
    return round(max(bar.floor * bar.total, bar.done)) if bar is not None and bar.files else 0


def _see(old: Shards, mapped: Mapping[str, int], at: float) -> Shards:
    now = frozenset(mapped)
    if now == old.open:
        return old
    new = now - old.seen
    numbers = sorted(mapped[file] for file in new if mapped[file])
    seen = old.seen | now
    step = replace(
        old,
        total=_numbered_total(new, old.total),
        seen=seen if len(seen) <= _MOST_FILES else old.seen,
        open=now,
        moved_at=at,
        span=_span(mapped.values()),
        top=max([old.top, *numbers]),
        rises=_rises(old, numbers),
    )
    return replace(step, read=max(old.read, opened(step) - len(now)))


def _numbered_total(files: frozenset[str], known: int | None) -> int | None:
    """How many files there are by the names themselves."""
    return next((int(found[2]) for file in sorted(files) if (found := NUMBERED.search(file))), known)


def _rises(old: Shards, numbers: list[int]) -> int:
    """Count proofs of order: newly opened files that follow closely on those opened before."""
    if not numbers or old.rises < 0:
        return old.rises
    if old.top == 0:
        return _ORDER_PROVEN if old.late and _is_window(numbers) else 0
    if numbers[0] < old.top:
        late = old.top - numbers[0] < _WIDEST_STEP and len(old.open) > 0
        return old.rises if late else -1
    return old.rises + 1 if numbers[-1] - old.top <= _WIDEST_STEP else old.rises


def _span(numbers: Collection[int]) -> tuple[int, int]:
    return (min(numbers), max(numbers)) if numbers else (0, 0)


def _is_window(numbers: list[int]) -> bool:
    return _WINDOW <= len(numbers) <= _WIDEST_STEP and numbers[-1] - numbers[0] == len(numbers) - 1


def _sorted_again(state: State, rank: Rank) -> tuple[Shards, ...]:
    before = {known.role: known for known in rank.shards}
    seen = split(state, rank, tuple(sorted(frozenset().union(*(known.seen for known in rank.shards)))))
    mapped = frozenset().union(*(known.open for known in rank.shards))
    return tuple(_resorted(before.get(role, Shards(role)), files, mapped) for role, files in seen.items())


def _resorted(old: Shards, files: Mapping[str, int], mapped: frozenset[str]) -> Shards:
    """The same model with other files: what was counted of strangers is counted no more."""
    seen = frozenset(files)
    now = seen & mapped
    span = _span([files[file] for file in now])
    late = old.late and 1 not in files.values()
    if seen == old.seen:
        return replace(old, top=max(files.values(), default=0) or old.top, span=span, late=late)
    numbers = sorted(files[file] for file in now if files[file])
    step = replace(
        old,
        total=_numbered_total(seen, None),
        seen=seen,
        open=now,
        span=span,
        late=late,
        top=max(files.values(), default=0),
        rises=_ORDER_PROVEN if late and _is_window(numbers) else 0,
        moved_at=old.moved_at,
    )
    return replace(step, read=min(old.read, opened(step) - len(now)) if old.seen else opened(step) - len(now))
