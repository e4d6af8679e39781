"""Which files of a rank's maps are weights, of which model, and how many of them there are.

The checkpoint's own list decides where the host was looked at: its index names the files that a loader reads, also
those without a number, and its folder tells the draft's from the target's. Without a list a file must look like
weights. Tokenizer tables, adapters and the libraries' own data are mapped too, and are no progress.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bringup.core.edges import open_edge
from bringup.core.events import Checkpoint, Role
from bringup.core.ranks import draft_possible
from bringup.core.state import Rank, State

NUMBERED = re.compile(r"-(\d{1,6})-of-(\d{1,6})\.[A-Za-z0-9.]+$")
_ANY_WEIGHTS = re.compile(r"\.(?:safetensors|gguf)$|/blobs/[0-9a-f]{40,}$")
_PICKLED = re.compile(r"^(?:pytorch_model|model|consolidated)\b[^/]*\.(?:bin|pt|pth)$")
_NEVER = re.compile(r"^(?:adapter_|tokenizer|optimizer|scheduler|rng_state|training_args)")
_LIBRARIES = re.compile(r"/(?:site|dist)-packages/")


@dataclass(frozen=True, slots=True)
class ShardList:
    """The files that a loader reads of one model, by their place in its order."""

    role: Role
    folder: str
    order: Mapping[str, int]
    """Name → its place, counted from 1; loaders read in the order of the names (SGLang 0.5.10 and later)."""

    def name_of(self, file: str) -> str:
        """Return a mapped file by the name that the list has for it."""
        inside = self.folder + "/"
        return file[len(inside) :] if file.startswith(inside) else file.rpartition("/")[2]


def list_of(state: State, role: Role) -> ShardList | None:
    """Return the list of a model, or None where the host was not looked at or told nothing.

    A loader reads the files that are there: one that the index names and the disk lacks is passed over in silence
    (SGLang), so it is no step of the load.
    """
    checkpoint = checkpoint_of(state, role)
    if checkpoint is None:
        return None
    names = _read_by_a_loader(checkpoint)
    if not names:
        return None
    return ShardList(role, checkpoint.folder.rstrip("/"), {name: place for place, name in enumerate(sorted(names), 1)})


def checkpoint_of(state: State, role: Role) -> Checkpoint | None:
    """Return what the host said of a model's files, unless that is of another model than the one that is loaded."""
    asked = state.attempt.draft_model if role == "draft" else state.attempt.model
    for known in state.checkpoints:
        if known.role == role and (not known.model or not asked or known.model == asked):
            return known
    return None


def total_of(state: State, role: Role) -> int | None:
    """Return how many files a loader reads of a model, by its list."""
    known = list_of(state, role)
    return len(known.order) if known is not None else None


def split(state: State, rank: Rank, files: tuple[str, ...]) -> dict[Role, dict[str, int]]:
    """Return the weight files among those mapped, by model, each with its number; 0 where it has none."""
    lists = [known for role in ("target", "draft") if (known := list_of(state, role)) is not None]
    found: dict[Role, dict[str, int]] = {}
    for file in files:
        fitting = _listed(lists, file)
        if fitting:
            chosen = fitting[0] if len(fitting) == 1 else _of_open_load(rank, fitting)
            found.setdefault(chosen.role, {})[file] = chosen.order[chosen.name_of(file)]
        elif not _is_complete(state, lists) and looks_like_weights(file):
            number = NUMBERED.search(file)
            found.setdefault(_guessed_role(state, rank, file), {})[file] = int(number[1]) if number else 0
    return found


def looks_like_weights(file: str) -> bool:
    """Say whether a file is one of a model's weights by its name alone."""
    name = file.rpartition("/")[2]
    if _NEVER.search(name) or _LIBRARIES.search(file):
        return False
    if _ANY_WEIGHTS.search(file) is not None or _PICKLED.search(name) is not None:
        return True
    return NUMBERED.search(name) is not None and name.endswith((".bin", ".pt", ".pth"))


def _read_by_a_loader(checkpoint: Checkpoint) -> frozenset[str]:
    present, expected = frozenset(checkpoint.present), frozenset(checkpoint.expected)
    return (present & expected) or expected or present


def _listed(lists: list[ShardList], file: str) -> list[ShardList]:
    """The lists that a file stands in: by its folder, else (a path seen from another namespace) by its name alone."""
    named = [known for known in lists if known.name_of(file) in known.order]
    inside = [known for known in named if file.startswith(known.folder + "/")]
    if not inside:
        return named
    longest = max(len(known.folder) for known in inside)
    return [known for known in inside if len(known.folder) == longest]


def _of_open_load(rank: Rank, fitting: list[ShardList]) -> ShardList:
    edge = open_edge(rank.edges, "weights")
    role = edge.role if edge is not None else "target"
    return next((known for known in fitting if known.role == role), fitting[0])


def _is_complete(state: State, lists: list[ShardList]) -> bool:
    """The lists of all models of this launch are known: what stands in none of them is no weight file."""
    roles = {known.role for known in lists}
    return "target" in roles and ("draft" in roles or not draft_possible(state.attempt))


def _guessed_role(state: State, rank: Rank, file: str) -> Role:
    """The model that a file belongs to: by its folder, else by the load that the rank has open."""
    attempt = state.attempt
    if attempt.draft_model and attempt.draft_model != attempt.model:
        draft, target = _fit(attempt.draft_model, file), _fit(attempt.model or "", file)
        if draft or target:
            return "draft" if draft > target else "target"
    edge = open_edge(rank.edges, "weights")
    return edge.role if edge is not None else "target"


def _fit(model: str, file: str) -> int:
    """How much of the path a model explains: its folder, or its folder in the Hugging Face cache."""
    folder = model.rstrip("/")
    if not folder:
        return 0
    if file.startswith(folder + "/"):
        return len(folder)
    cached = "/models--" + folder.replace("/", "--") + "/"
    return len(cached) if cached in file else 0
