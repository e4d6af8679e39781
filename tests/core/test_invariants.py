"""Whatever happens in whatever order: the judgement holds what it promises."""

from dataclasses import replace
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from timeline import Timeline, tp

from bringup.core.events import Bar, Decoded, Ending, Event, Fault, HttpAnswered, PhaseBegan, PhaseEnded, Reached
from bringup.core.verdict import StateName

RANKS = 3
FILES = 9
PHASES = ("distributed", "weights", "kv-cache", "graphs")
ENGINE_PARTS = {"graphs": ("verify", "decode"), "weights": ("",), "distributed": ("",), "kv-cache": ("",)}


def _line(kind: type[Event], at: float, draw: Any) -> Event:
    phase = draw(st.sampled_from(PHASES))
    labels = tp(draw(st.integers(0, RANKS - 1)))
    if kind in (PhaseBegan, PhaseEnded):
        part = draw(st.sampled_from(ENGINE_PARTS[phase]))
        role = draw(st.sampled_from(("target", "draft"))) if phase == "graphs" else None
        return kind(at=at, labels=labels, phase=phase, part=part, role=role)  # type: ignore[call-arg]
    if kind is Bar:
        done, provisional = draw(st.integers(0, FILES)), draw(st.booleans())
        return Bar(at=at, kind="shards", done=done, total=FILES, provisional=provisional)
    if kind is Fault:
        return Fault(at=at, labels=labels, kind="oom", text="no memory", secondary=draw(st.booleans()))
    if kind is Ending:
        return Ending(at=at, how=draw(st.sampled_from(("sigterm", "child-failed", "tree-killed"))))
    if kind is Reached:
        return Reached(at=at, milestone=draw(st.sampled_from(("scheduler-up", "http-up", "ready"))))
    if kind is Decoded:
        return Decoded(at=at, accept_len=draw(st.floats(1, 4)), running=1)
    return HttpAnswered(at=at, path="/health", status=draw(st.sampled_from((200, 503, None))))


@st.composite
def happenings(draw: Any) -> list[tuple[str, Any]]:
    kinds = [PhaseBegan] * 5 + [PhaseEnded] * 5 + [Bar] * 4 + [Reached, Fault, Ending, Decoded, HttpAnswered]
    steps: list[tuple[str, Any]] = []
    for _ in range(draw(st.integers(1, 40))):
        what = draw(st.sampled_from(("line", "line", "line", "map", "sample", "kill", "wait")))
        if what == "line":
            steps.append(("line", _line(draw(st.sampled_from(kinds)), 0.0, draw)))
        elif what == "map":
            steps.append(("map", (draw(st.integers(0, RANKS - 1)), draw(st.sets(st.integers(1, FILES), max_size=4)))))
        else:
            steps.append((what, draw(st.integers(0, RANKS - 1))))
    return steps


def play(line: Timeline, what: str, value: Any) -> None:
    if what == "line":
        line.add(replace(value, at=line.now)).bytes()
    elif what == "map" and 101 + value[0] in line.tree:
        line.map(value[0], *value[1], of=FILES).sample()
    elif what == "kill" and 101 + value in line.tree and len(line.tree) > 3:
        line.kill(value).sample()
    elif what == "sample":
        line.sample()
    line.wait(7.0 * value if what == "wait" else 0.5)


@given(happenings())
@settings(max_examples=120, deadline=None)
def test_no_order_of_events_breaks_a_promise(steps: list[tuple[str, Any]]) -> None:
    line = Timeline().launch(tp=RANKS, algorithm="EAGLE").spawn(RANKS)
    shown: dict[tuple[int, Any, Any], float] = {}
    for what, value in steps:
        play(line, what, value)
        verdict = line.verdict()
        assert verdict.state in get_args(StateName)
        assert verdict.summary.endswith(".")
        assert (verdict.cause is not None) or verdict.state not in ("failed", "stopped")
        assert len(verdict.ranks) == RANKS
        for view in verdict.ranks:
            _holds(line, view, shown)


def _holds(line: Timeline, view: Any, shown: dict[tuple[int, Any, Any], float]) -> None:
    rank = next((known for known in line.state.attempt.ranks if known.rank == view.rank), None)
    ended = {(edge.phase, edge.role) for edge in rank.edges if edge.ended is not None} if rank else set()
    if view.progress is None:
        return
    assert 0.0 <= view.progress <= 1.0
    if view.phase != "serving" and view.progress == 1.0:
        assert any(phase == view.phase for phase, _ in ended), "full without the rank's own word"
    if view.opened is not None:
        assert view.opened >= view.progress
    if view.phase == "weights":
        key = (view.rank, view.phase, view.role)
        assert view.progress >= shown.get(key, 0.0), "ran backwards"
        shown[key] = view.progress
