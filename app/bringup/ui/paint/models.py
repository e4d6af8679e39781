"""The models on the host's disk: where they lie, on what kind of disk, and whether all of their files are there."""

from __future__ import annotations

from bringup.core.events import Checkpoint
from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.ui.paint.measures import count, size
from bringup.ui.paint.row import Row, joined, shorten_front
from bringup.ui.picture import Picture

_MEMORY_DISKS = ("tmpfs", "ramfs")
_LABEL = 9


def disk(checkpoint: Checkpoint) -> str:
    """Return what kind of disk a model lies on: "network disk (nfs4)", "local disk (ext4)", "memory (tmpfs)"."""
    kind = clean_text(checkpoint.filesystem)
    if not kind:
        return ""
    if kind in _MEMORY_DISKS:
        return f"memory ({kind})"
    return f"{'network' if checkpoint.remote else 'local'} disk ({kind})"


def paint_models(picture: Picture, width: int) -> list[Row]:
    """Return two rows a model, and more where files are missing or broken; none while nobody has looked."""
    rows: list[Row] = []
    for checkpoint in picture.state.checkpoints:
        rows += _model(checkpoint, width)
    return rows


def _model(checkpoint: Checkpoint, width: int) -> list[Row]:
    folder = shorten_front(clean_text(checkpoint.folder), max(10, width - _LABEL - 2))
    gone = [name for name in checkpoint.expected if name not in set(checkpoint.present)]
    asked = bool(checkpoint.expected and gone)
    files = (
        f"{len(checkpoint.present):,} of {count(len(checkpoint.expected), 'file')}"
        if asked
        else count(len(checkpoint.present), "file")
    )
    told = joined(
        [
            (disk(checkpoint) or "an unknown disk", "slow" if checkpoint.remote else "text"),
            (files, "slow" if gone else "text"),
            (size(checkpoint.size) if checkpoint.size else "", "text"),
            (clean_text(", ".join(checkpoint.architectures)), "quiet"),
        ]
    )
    rows: list[Row] = [((f"  {checkpoint.role.ljust(_LABEL)}", "quiet"), (folder, "text")), (_indent(), *told)]
    if gone:
        rows.append((_indent(), (f"missing: {clean_text(names(gone))}", "bad")))
    if checkpoint.broken:
        rows.append((_indent(), (f"not weights: {clean_text(names(checkpoint.broken))}", "bad")))
    return rows


def _indent() -> tuple[str, str]:
    return " " * (_LABEL + 2), "text"
