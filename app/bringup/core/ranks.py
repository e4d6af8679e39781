"""Which rank is meant: from parallel labels and process titles to one global number.

Global rank 0 alone draws the shard bar, so the number decides whom a bar belongs to (SGLang 0.4.3 to 0.5.23,
distributed.get_rank(): tp_size * pp_rank + tp_rank within one world).
"""

from __future__ import annotations

import re

from bringup.core.events import Labels
from bringup.core.state import Attempt, Rank

MOST_RANKS = 4096
"""More ranks than any launch has: a log is untrusted, and must not make the state grow without bound."""

_GROUPS = "DP|PP|PCP|DCP|ATTN_CP|MOE_DP|TP|EP"
ENGINE = "enginecore"
"""Label of a vLLM engine core: with one rank an engine it is that rank itself, else it speaks for its workers."""
_TITLE = re.compile(rf"::(?P<who>scheduler|Worker|EngineCore)(?P<groups>(?:_(?:{_GROUPS})\d{{1,6}})*)\s*$")
_GROUP = re.compile(rf"_({_GROUPS})(\d+)")
_UP = ("scheduler-up", "http-up", "ready")
_NO_DRAFT_MODEL = ("", "NGRAM", "NGRAM_GPU", "SUFFIX")
_DRAFT_CLASS = re.compile(r"Eagle|NextN|MTP")


def labels_of_title(title: str) -> Labels | None:
    """Return the labels in the title of a rank's process (`sglang::scheduler_DP0_TP3`), or None for other processes.

    An engine core of vLLM runs the model itself where there is one rank an engine, and never has a TP label then.
    """
    found = _TITLE.search(title)
    if found is None:
        return None
    labels = tuple(sorted((name.lower(), int(number)) for name, number in _GROUP.findall(found["groups"])))
    if found["who"] == "EngineCore" and "tp" not in dict(labels):
        return ((ENGINE, dict(labels).get("dp", 0)),)
    return labels


def replica_of_title(title: str) -> int | None:
    """Return the data-parallel replica that the title of an engine core names (`VLLM::EngineCore_DP1`), or None."""
    found = _TITLE.search(title)
    if found is None or found["who"] != "EngineCore":
        return None
    return next((int(number) for name, number in _GROUP.findall(found["groups"]) if name == "DP"), None)


def has_replicas(attempt: Attempt) -> bool:
    """Say whether ordinary data parallelism runs several worlds, each of which loads the whole model by itself."""
    return attempt.dp > 1 and not attempt.dp_attention


def worlds(attempt: Attempt) -> int:
    """Return how many worlds (torch.distributed) the launch has; the first rank of each draws a bar of its own.

    SGLang's plain DP runs one a replica. vLLM's replicas share one with expert parallelism, and up to 0.16 always;
    later a dense model's do not, and then its workers' names lack the replica too.
    """
    if not has_replicas(attempt) or attempt.world == world_size(attempt):
        return 1
    return 1 if attempt.engine == "vllm" and attempt.world is None and not attempt.workers else attempt.dp


def group_leader(attempt: Attempt, rank: int) -> int:
    """Return the first rank of a rank's tensor-parallel group: those that meet in every collective."""
    return rank - rank % max(1, attempt.tp)


def world_size(attempt: Attempt) -> int:
    """Return how many ranks the whole launch has; with data-parallel attention the TP size already counts them all."""
    return max(1, attempt.tp * attempt.pp * (1 if attempt.dp_attention else attempt.dp))


def rank_of(attempt: Attempt, labels: Labels) -> int | None:
    """Return the global rank that prints `labels`, or None where they name no rank.

    Without labels it is rank 0 of a launch of one rank, and nobody in a larger one: there the main process and the
    detokenizer print none. While the arguments are not known, TP is taken for global, as it is with
    data-parallel attention.
    """
    given = dict(labels)
    if "rank" in given:
        rank = given["rank"]
    elif ENGINE in given:
        rank = given[ENGINE] if _is_rank_itself(attempt) else -1
    elif "tp" in given and not attempt.launched and "pp" not in given:
        rank = given["tp"]
    elif {"tp", "pp", "dp"} & given.keys():
        rank = given.get("pp", 0) * attempt.tp + given.get("tp", 0)
        if not attempt.dp_attention:
            rank += given.get("dp", 0) * attempt.tp * attempt.pp
        elif "tp" not in given:
            rank = given.get("dp", 0)
    elif world_size(attempt) == 1 and all(r.rank == 0 for r in attempt.ranks):
        rank = 0
    else:
        return None
    return rank if 0 <= rank < MOST_RANKS else None


def _is_rank_itself(attempt: Attempt) -> bool:
    """Say whether an engine core runs the model in its own process: it has one rank, and no workers were seen."""
    workers = any(name in ("tp", "pp") for rank in attempt.ranks for name, _ in rank.labels)
    return attempt.tp * attempt.pp == 1 and not workers


def expected_ranks(attempt: Attempt) -> tuple[int, ...] | None:
    """Return the ranks whose lines this log should hold: all of the launch, or those of the nodes seen in it.

    None while the arguments of the launch are not known; once it is up, those that spoke are all there are.
    """
    if not attempt.launched:
        if attempt.told_ranks and attempt.ranks:
            return attempt.told_ranks
        numbers = tuple(rank.rank for rank in attempt.ranks)
        is_up = any(name in _UP for name, _ in attempt.reached)
        return numbers if is_up and numbers and numbers == tuple(range(len(numbers))) else None
    if world_size(attempt) > MOST_RANKS:
        return None
    total = world_size(attempt)
    if attempt.nnodes <= 1 or total % attempt.nnodes:
        return tuple(range(total))
    per_node = total // attempt.nnodes
    nodes = set(attempt.nodes) or {attempt.node_rank}
    nodes |= {rank.rank // per_node for rank in attempt.ranks}
    return tuple(rank for rank in range(total) if rank // per_node in nodes)


def first_local_rank(attempt: Attempt) -> int:
    """Return the first rank of this node: the engine counts its own child processes from zero on every node."""
    total = world_size(attempt)
    if attempt.nnodes <= 1 or total % attempt.nnodes:
        return 0
    return attempt.node_rank * (total // attempt.nnodes)


def draft_possible(attempt: Attempt) -> bool:
    """Say whether a second load can be a draft model: not when the arguments are known and name none."""
    return has_draft(attempt) or not attempt.launched


def has_draft(attempt: Attempt) -> bool:
    """Say whether the arguments name a draft model or an algorithm that needs one (NGRAM guesses without a model)."""
    return bool(attempt.draft_model) or attempt.algorithm.upper() not in _NO_DRAFT_MODEL


def is_draft_class(model_class: str) -> bool:
    """Say whether the class of a loaded model is a draft's (LlamaForCausalLMEagle3, DeepseekV3ForCausalLMNextN …)."""
    return _DRAFT_CLASS.search(model_class) is not None


def rank_name(rank: Rank) -> str:
    """Return what the engine calls the rank: "TP3", "DP1 TP0", or "rank 0" where it prints no label."""
    labels = [("dp" if name == ENGINE and rank.rank else name, number) for name, number in rank.labels]
    shown = [f"{name.upper()}{number}" for name, number in labels if name in ("dp", "pp", "tp")]
    return " ".join(shown) if shown else f"rank {rank.rank}"


def name_of(attempt: Attempt, rank: int) -> str:
    """Return the name of a rank by its number, also of one that never printed anything."""
    known = find(attempt, rank)
    if known is not None and any(name in ("dp", "pp", "tp") for name, _ in known.labels):
        return rank_name(known)
    return rank_name(Rank(rank, labels_of_rank(attempt, rank)))


def labels_of_rank(attempt: Attempt, rank: int) -> Labels:
    """Return the labels that the engine gives to a rank by the layout; none where it would print none.

    Of data-parallel attention only the TP label is certain: which DP label goes with it depends on the version.
    """
    if not attempt.launched or world_size(attempt) == 1 or not 0 <= rank < world_size(attempt):
        return ()
    place = {
        "tp": (rank % attempt.tp, attempt.tp),
        "pp": (rank // attempt.tp % attempt.pp, attempt.pp),
        "dp": (rank // (attempt.tp * attempt.pp), attempt.dp if has_replicas(attempt) else 1),
    }
    return tuple(sorted((name, number) for name, (number, size) in place.items() if size > 1))


def find(attempt: Attempt, rank: int) -> Rank | None:
    """Return a known rank."""
    return next((known for known in attempt.ranks if known.rank == rank), None)


def put(ranks: tuple[Rank, ...], new: Rank) -> tuple[Rank, ...]:
    """Return the ranks with one added or replaced, in order of their numbers."""
    for index, rank in enumerate(ranks):
        if rank.rank == new.rank:
            return (*ranks[:index], new, *ranks[index + 1 :])
    return tuple(sorted([*ranks, new], key=lambda rank: rank.rank))
