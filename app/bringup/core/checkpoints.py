"""What the models' files say before the engine does: shards that are missing, a draft that cannot fit, slow storage."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.bars import bar_of
from bringup.core.drafts import Fit, classes_for, fit
from bringup.core.events import Checkpoint, Role
from bringup.core.policy import Policy
from bringup.core.state import Attempt, State
from bringup.core.words import duration, names

FEW = 0.05
"""Share of unknown names up to which a draft may still work: a buffer more than its class wants."""
ACCEPTED = 1.5
"""Accept length from which on the draft evidently has its weights, whatever its names look like."""
SLOW = 200e6
"""Bytes a second below which a remote file system is called slow: a local disk gives ten times as much."""
LONG = 60.0
"""Seconds of loading before anything is said of the speed."""
_SHOWN = 2


def checkpoint_warnings(state: State, now: float, policy: Policy) -> tuple[tuple[str, str], ...]:
    """Return (kind, sentence) for everything in the models' files that will hurt, or makes the load slow."""
    attempt = state.attempt
    return tuple(
        warning
        for checkpoint in state.checkpoints
        if _is_of(attempt, checkpoint)
        for warning in (
            *_missing(attempt, checkpoint),
            *_mismatch(attempt, checkpoint, policy),
            *_slow(attempt, checkpoint, now),
        )
    )


def draft_fit(state: State, policy: Policy) -> Fit | None:
    """Return how the weight names of the draft fit its class, where both are known."""
    draft = next((known for known in state.checkpoints if known.role == "draft"), None)
    if draft is None or not _is_of(state.attempt, draft):
        return None
    return _fit(state.attempt, draft, policy)


def _is_of(attempt: Attempt, checkpoint: Checkpoint) -> bool:
    """The files are those of this launch, not of one with other models."""
    given = attempt.draft_model if checkpoint.role == "draft" else attempt.model
    return not given or not checkpoint.model or given == checkpoint.model


def _missing(attempt: Attempt, checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """Files that are not there, or no weights; not while a repository of the hub may still be downloaded."""
    role, folder = checkpoint.role, checkpoint.folder
    complete = _complete_at(attempt, role)
    if "/snapshots/" in folder and (complete is None or complete > checkpoint.seen_at):
        return
    if checkpoint.broken:
        few = names(checkpoint.broken, _SHOWN + 1)
        yield (
            "missing-shards",
            f"Files of the {role} in {folder} hold no weights (empty, or pointers of git-lfs): {few}",
        )
    gone = sorted(set(checkpoint.expected) - set(checkpoint.present) - set(checkpoint.broken))
    if gone:
        basis = "its index" if checkpoint.basis == "index" else "the numbers in their names"
        yield (
            "missing-shards",
            f"{len(gone)} of {len(checkpoint.expected)} weight files of the {role} {'is' if len(gone) == 1 else 'are'} "
            f"not in {folder}, "
            f"by {basis}: {names(gone, _SHOWN + 1)}",
        )


def files_are_complete(attempt: Attempt, role: Role) -> bool:
    """Tell whether the engine has all files of a model that it will ever take: it reads them, or has read them."""
    return _complete_at(attempt, role) is not None


def load_began(attempt: Attempt, role: Role) -> bool:
    """Tell whether a rank has begun to load a model; it may download it first."""
    return bool(_load(attempt, role))


def _complete_at(attempt: Attempt, role: Role) -> float | None:
    """When the bar of the shards was first drawn, or a rank had loaded them."""
    bar = bar_of(attempt, "weights", role)
    starts = [bar.steps[0][0] if bar.steps else bar.drawn_at] if bar is not None and bar.kind == "shards" else []
    ends = [end for _, end in _load(attempt, role) if end is not None]
    return min([*starts, *ends], default=None)


def _mismatch(attempt: Attempt, checkpoint: Checkpoint, policy: Policy) -> Iterator[tuple[str, str]]:
    lens = attempt.accept_lens[-policy.accept_lines :]
    if checkpoint.role != "draft" or (len(lens) >= policy.accept_lines and min(lens) >= ACCEPTED):
        return
    found = _fit(attempt, checkpoint, policy)
    if found is None or not (found.lacking or len(found.unknown) > FEW * found.total):
        return
    yield "draft-mismatch", _misfit(found)


def _misfit(found: Fit) -> str:
    """Return in words what does not fit."""
    lacking = f"finds nothing for {names(found.lacking)}" if found.lacking else ""
    if not found.unknown:
        return f"{found.model_class} {lacking} among the {found.total} weight names of the draft"
    word = "leaves out without a word" if found.silent else "does not know"
    examples = " and ".join(found.unknown[:_SHOWN])
    return (
        f"{found.model_class} {word} {len(found.unknown)} of the {found.total} weight names of the draft, "
        f"such as {examples}{f', and {lacking}' if lacking else ''}"
    )


def _fit(attempt: Attempt, checkpoint: Checkpoint, policy: Policy) -> Fit | None:
    known = classes_for(policy.drafts, attempt.engine, attempt.version, checkpoint.architectures, attempt.algorithm)
    return fit(checkpoint.names, known)


def _slow(attempt: Attempt, checkpoint: Checkpoint, now: float) -> Iterator[tuple[str, str]]:
    """Weights that come slowly from a remote file system; a remote one that is fast is no reason to warn."""
    loads = _load(attempt, checkpoint.role)
    bar = bar_of(attempt, "weights", checkpoint.role)
    if not checkpoint.remote or not checkpoint.size or not loads:
        return
    began, ends = min(begin for begin, _ in loads), [end for _, end in loads]
    share, until = 1.0, max((end for end in ends if end is not None), default=now)
    if any(end is None for end in ends):
        if bar is None or bar.done < 2 or not bar.total or bar.done >= bar.total:
            return
        share, until = bar.done / bar.total, now
    took, amount = until - began, share * checkpoint.size
    if took < LONG or amount >= SLOW * took:
        return
    yield (
        "slow-storage",
        f"The {checkpoint.role}'s files lie on a network file system ({checkpoint.filesystem}, {checkpoint.folder}): "
        f"{amount / 1e9:.0f} of {checkpoint.size / 1e9:.0f} GB in {duration(took)}, {amount / took / 1e6:.0f} MB/s",
    )


def _load(attempt: Attempt, role: Role) -> list[tuple[float, float | None]]:
    """Return when each rank began and ended the load of a model."""
    edges = [edge for rank in attempt.ranks for edge in rank.edges if edge.phase == "weights" and edge.role == role]
    return [(edge.began, edge.ended) for edge in edges if edge.began is not None]
