"""Whatever the channels do, a rank's bar never runs backwards within a phase, nor is it full before the rank is."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timeline import FOLDER, ROOT, Timeline, loading, tp

from bringup.core.events import (
    Bar,
    Checkpoint,
    CheckpointSeen,
    Event,
    Gpu,
    GpuApp,
    GpusSeen,
    PhaseBegan,
    PhaseEnded,
    Reached,
)
from bringup.core.phases import position
from bringup.core.progress import place_of
from bringup.core.ranks import find

RANKS = 3
NAMES = tuple(f"model-{n:05}-of-00008.safetensors" for n in range(1, 9))
STRANGERS = ("tokenizer.bin", "extra.safetensors", "part-a.safetensors", "other-00001-of-00002.safetensors")
CHANNELS = ("maps", "no maps", "bar", "memory", "list", "begin", "end", "sample", "milestone")


def mapped(files: list[str]) -> tuple[str, ...]:
    return tuple(sorted({f"{FOLDER}/{name}" for name in files}))


def event_of(draw: Any, what: str) -> dict[str, Any]:
    rank = draw(st.integers(0, RANKS - 1))
    match what:
        case "maps":
            return {"rank": rank, "shards": mapped(draw(st.lists(st.sampled_from((*NAMES, *STRANGERS)), max_size=6)))}
        case "no maps":
            return {"rank": rank, "shards": draw(st.sampled_from((None, ())))}
        case "bar":
            total = draw(st.sampled_from((1, 4, 8, 48)))
            kinds = st.sampled_from(("shards", "shards", "graphs"))
            return {
                "kind": draw(kinds),
                "done": draw(st.integers(0, total)),
                "total": total,
                "provisional": draw(st.booleans()),
                "everyone": draw(st.sampled_from((False, False, False, True))),
                "files": draw(st.sampled_from((True, True, False))),
            }
        case "memory":
            return {"used": draw(st.lists(st.integers(0, 40), min_size=RANKS, max_size=RANKS))}
        case "list":
            names = tuple(sorted(draw(st.sets(st.sampled_from((*NAMES, *STRANGERS)), max_size=8))))
            return {"names": names, "size": draw(st.integers(0, 60)) << 30, "role": draw(st.sampled_from(ROLES))}
        case _:
            return {"rank": rank, "phase": draw(st.sampled_from(("weights", "weights", "kv-cache", "graphs")))}


ROLES = ("target", "draft")


@st.composite
def stories(draw: Any) -> list[tuple[str, dict[str, Any]]]:
    kinds = draw(st.lists(st.sampled_from(CHANNELS), min_size=1, max_size=45))
    return [(what, event_of(draw, what)) for what in kinds]


def happen(line: Timeline, what: str, value: dict[str, Any]) -> None:
    line.wait(1.0)
    match what:
        case "maps" | "no maps":
            line.change(value["rank"], shards=value["shards"]).sample()
        case "bar":
            line.add(Bar(at=line.now, **value))
        case "memory":
            apps = tuple(GpuApp(ROOT + 1 + rank, rank, gib << 10) for rank, gib in enumerate(value["used"]))
            line.add(GpusSeen(at=line.now, gpus=tuple(Gpu(app.gpu, used=app.used) for app in apps), apps=apps))
        case "list":
            names, folder = value["names"], FOLDER if value["role"] == "target" else "/models/draft"
            checkpoint = Checkpoint(value["role"], folder, present=names, expected=names, size=value["size"])
            line.add(CheckpointSeen(at=line.now, checkpoint=checkpoint))
        case "begin" | "end":
            kind: type[Event] = PhaseBegan if what == "begin" else PhaseEnded
            more = {"role": "target", "part": "decode"} if value["phase"] == "graphs" else {}
            line.add(kind(at=line.now, labels=tp(value["rank"]), phase=value["phase"], **more))  # type: ignore[call-arg]
        case "milestone":
            line.add(Reached(at=line.now, milestone="scheduler-up"))
        case _:
            line.sample()


def check(line: Timeline, shown: dict[tuple[Any, ...], tuple[float, float]]) -> None:
    where = position(line.state)
    for view in line.verdict().ranks:
        rank = find(line.state.attempt, view.rank)
        step = place_of(rank, where)[2] if rank is not None else None
        if view.progress is None or step is None:
            continue
        edge = step.edge(view.rank)
        key = (view.rank, step.phase, step.role, step.part)
        if edge is not None and edge.ended is not None:
            assert view.progress == 1.0
            shown.pop(key, None)
            continue
        assert 0.0 <= view.progress < 1.0, "full without the rank's own word"
        opened = view.opened if view.opened is not None else view.progress
        assert opened >= view.progress
        before = shown.get(key, (0.0, 0.0))
        assert view.progress >= before[0], "ran backwards"
        assert opened >= before[1], "what was opened ran backwards"
        if view.done is not None:
            assert view.total is not None
            assert 0 <= view.done <= view.total
        shown[key] = (view.progress, opened)


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
@given(story=stories())
@settings(max_examples=80, deadline=None)
def test_no_order_of_channels_makes_a_bar_run_backwards(engine: str, story: list[tuple[str, dict[str, Any]]]) -> None:
    line = Timeline().launch(engine=engine, tp=RANKS, algorithm="EAGLE", draft_model="/models/draft")
    line.spawn(RANKS, title="sglang::scheduler_TP{}" if engine == "sglang" else "VLLM::Worker_TP{}")
    line.begin("weights", range(RANKS) if engine == "sglang" else [0])
    shown: dict[tuple[Any, ...], tuple[float, float]] = {}
    for what, value in story:
        happen(line, what, value)
        check(line, shown)


def test_what_the_bar_showed_stays_when_the_maps_come_and_know_less():
    line = loading(2).spawn(2).bar(6, 8)
    line.change(0, shards=mapped([NAMES[6]])).wait(1).sample()
    view = line.verdict().ranks[0]
    assert (view.progress, view.done, view.total) == (0.75, 6, 8)


def test_the_number_shown_keeps_the_channel_it_came_from():
    line = loading(2).spawn(2)
    for name in NAMES[:5]:
        line.wait(1).change(0, shards=mapped([name])).sample()
    line.wait(1).bar(2, 8)
    view = line.verdict().ranks[0]
    assert (view.progress, view.source, view.done) == (0.5, "maps", 4)
    line.wait(1).change(0, shards=mapped([NAMES[7]])).sample()
    assert (line.verdict().ranks[0].progress, line.verdict().ranks[0].done) == (0.875, 7)


def test_a_total_that_grows_takes_nothing_back():
    line = loading(1).bar(3, 4).bar(4, 48)
    assert line.verdict().ranks[0].progress == 0.75


def test_reading_all_files_a_second_time_takes_nothing_back():
    line = loading(2).spawn(2)
    for name in NAMES[:6]:
        line.wait(1).change(1, shards=mapped([name])).sample()
    before = line.verdict().ranks[1]
    for name in NAMES[:2]:
        line.wait(1).change(1, shards=mapped([name])).sample()
    assert line.verdict().ranks[1].progress == before.progress


def test_a_phase_that_is_over_keeps_nothing_in_the_state():
    line = loading(2).spawn(2).bar(6, 8)
    assert line.state.attempt.ranks[0].reaches
    assert not line.end("weights", [0]).state.attempt.ranks[0].reaches


def test_captures_that_begin_again_are_not_done_before_they_end_again():
    line = loading(1).end("weights").begin("graphs", role="draft", part="extend").bar(9, 10, kind="graphs")
    line.end("graphs", role="draft", part="extend").begin("graphs", role="draft", part="extend")
    assert (line.wait(1).bar(1, 10, kind="graphs").verdict().ranks[0].progress or 0) < 1.0
    line.end("graphs", role="draft", part="extend")
    assert line.verdict().ranks[0].progress == 1.0


def test_a_new_launch_starts_from_nothing():
    line = loading(2).bar(6, 8).fault("oom", rank=1).launch(tp=2).wait(1).begin("weights", [0, 1]).bar(0, 8)
    assert line.verdict().ranks[0].progress == 0.0
