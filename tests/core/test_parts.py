"""Captures come in parts: within one, a rank's progress never falls, and it is whole only once the rank said so."""

import msgspec
import pytest
from explaining import ENGINES, POLICY, WRAPPERS
from loggen import sglang_chunks

from bringup.core.assess import assess
from bringup.core.decode import Decoder
from bringup.core.fold import fold
from bringup.core.state import State
from bringup.report.contract import contract

START = 1_772_442_854.0
"""When the generated logs begin, by their own stamps."""
Key = tuple[object, ...]


def played(version: str, **plan: object) -> list[tuple[State, list[dict[str, object]]]]:
    """Return the state and the ranks of the JSON after every piece of a log."""
    decoder, state, found = Decoder(ENGINES, WRAPPERS), State(), []
    for second, data in sglang_chunks(version, draft=True, tp=2, shards=4, shapes=3, **plan):
        at = START + second
        state = fold(state, [*decoder.feed(data, at), *decoder.peek(at)])
        found.append((state, msgspec.to_builtins(contract(assess(state, at, POLICY)).ranks)))
    return found


def ended(state: State) -> set[Key]:
    """Return the parts that ranks have said they are through."""
    edges = [(rank.rank, edge) for rank in state.attempt.ranks for edge in rank.edges if edge.ended is not None]
    return {(rank, edge.phase, role, edge.part or None) for rank, edge in edges for role in (edge.role, None)}


@pytest.mark.parametrize("version", ["0.4.9", "0.5.9", "0.5.13", "0.5.14", "0.5.23"])
def test_progress_never_falls_within_a_part(version: str) -> None:
    shown: dict[Key, float] = {}
    for state, ranks in played(version, until="graphs"):
        for rank in ranks:
            key, progress = (rank["rank"], rank["phase"], rank["role"], rank["part"]), rank["progress"]
            if not isinstance(progress, float):
                continue
            assert progress >= shown.get(key, 0.0), key
            assert progress < 1.0 or key in ended(state), key
            shown[key] = progress
    assert {part for _, phase, role, part in shown if (phase, role) == ("graphs", "draft")} >= {"decode", "extend"}
    assert shown[0, "graphs", "draft", "decode"] == 1.0


def test_a_phase_without_parts_has_none() -> None:
    parts = {rank["part"] for _, ranks in played("0.5.14", until="kv-cache") for rank in ranks}
    assert parts == {None}
