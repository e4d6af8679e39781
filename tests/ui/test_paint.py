"""The painters: no row is too wide, no bar is full without proof, no number is rounded into a lie."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ui.scenes import HISTORY, SCENES
from ui.situations import SITUATIONS

from bringup.core.state import LogChannel
from bringup.core.verdict import RankView
from bringup.ui.division import Needs, divide
from bringup.ui.paint.bars import cells, rank_bar, solid, sparkline, stacked
from bringup.ui.paint.evidence import paint_evidence
from bringup.ui.paint.footer import paint_footer
from bringup.ui.paint.gpus import paint_gpus
from bringup.ui.paint.identity import model_name, paint_identity
from bringup.ui.paint.log import LogLook, paint_log_heading, why_no_log
from bringup.ui.paint.measures import clock, count, gib, short_duration, size
from bringup.ui.paint.notices import paint_notices
from bringup.ui.paint.phases import extent, lanes, paint_phases
from bringup.ui.paint.ranks import RanksLook, columns_for, first_shown, paint_ranks
from bringup.ui.paint.row import Row, fill, plain, shorten, shorten_front, spread, width_of, wrap, wrapped
from bringup.ui.paint.verdict import paint_verdict
from bringup.ui.picture import Picture
from bringup.ui.sizes import SMALLEST

WIDTHS = (60, 80, 120, 200)


ALL = {**SCENES, **SITUATIONS}


def picture_of(scene: str) -> Picture:
    console = ALL[scene]()
    if scene == "graphs":
        console.remember(HISTORY)
    return Picture(console.state, console.verdict(), "root@gpu-a")


@pytest.mark.parametrize("scene", ALL)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_row_of_every_scene_fits(scene: str, width: int) -> None:
    picture = picture_of(scene)
    rows: list[Row] = [paint_identity(picture, width), paint_footer(picture, width, "ranks")]
    rows += paint_notices(picture, width)
    rows += paint_verdict(picture, width, 7)
    if picture.verdict.phases:
        rows += paint_phases(picture, width, 5, focused=False)
    for columns in (1, 2):
        look = RanksLook(rows=8, columns=columns, focused=True, chosen=1, with_memory=True)
        rows += paint_ranks(picture, width, look)
    rows += paint_gpus(picture, width, 9, focused=False)
    for look_at in (LogLook(), LogLook(following=False, unseen=1234, search="x" * 50, filter="TP5", shown=7)):
        rows.append(paint_log_heading(picture, width, look_at))
    rows += paint_evidence(picture, width)
    for row in rows:
        assert width_of(row) <= width, plain(row)


@given(share=st.floats(0, 1, exclude_max=True), width=st.integers(1, 60))
def test_no_bar_is_full_before_the_end(share: float, width: int) -> None:
    bar = plain(solid(share, width, "proven"))
    assert len(bar) == width
    assert bar != "█" * width
    assert cells(share, width) < width or width == 1
    assert plain(solid(1.0, width, "proven")) == "█" * width


def view(**more: object) -> RankView:
    values = {
        "rank": 0, "node": "a", "labels": (), "pid": 1, "gpu": 0, "phase": "weights", "role": "target",
        "progress": None, "source": "none", "quiet_s": None, **more,
    }  # fmt: skip
    return RankView(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "bar"),
    [
        (view(), "·" * 16),
        (view(progress=0.5, source="log"), "█" * 8 + "─" * 8),
        (view(progress=0.99, source="log"), "█" * 15 + "▊"),
        (view(progress=1.0, source="log"), "▆" * 16),
        (view(progress=0.5, source="maps", opened=0.75), "▓" * 8 + "░" * 4 + "─" * 4),
        (view(progress=0.99, source="maps", opened=0.99), "▓" * 15 + "─"),
        (view(progress=0.5, source="memory"), "■" * 8 + "─" * 8),
        (view(progress=0.99, source="memory"), "■" * 15 + "─"),
        (view(progress=0.5, source="peers"), "╱" * 8 + "─" * 8),
        (view(progress=0.01, source="maps", opened=0.01), "▓" + "─" * 15),
    ],
)
def test_the_texture_tells_where_a_number_came_from(seen: RankView, bar: str) -> None:
    assert plain(rank_bar(seen, 16)) == bar


def test_strangers_are_never_rounded_away() -> None:
    bar = plain(stacked([(70_000, "a", "x"), (300, "b", "x"), (2_000, "c", "x")], 140_000, 20))
    assert bar == "a" * 10 + "c" + "─" * 9, "a third of a percent is not seen, more than one percent is"


def test_sparkline_keeps_peaks() -> None:
    assert sparkline([0, 0, 80, 0, 0, 0, 0, 0], 80, 4) == "▁█▁▁"
    assert sparkline([], 80, 3) == "   "


def test_who_is_late_or_in_trouble_is_told_in_words() -> None:
    rows = [plain(row) for row in paint_ranks(picture_of("weights"), 80, RanksLook(rows=8))]
    assert [row for row in rows if "▲ TP5" in row and "41/64" in row and "behind" in row]
    assert sum("waits for TP5" in row for row in rows) == 7
    stopped = [plain(row) for row in paint_ranks(picture_of("stalled"), 80, RanksLook(rows=8))]
    assert [row for row in stopped if "✕ TP3" in row and "stopped" in row]
    compact = [plain(row) for row in paint_ranks(picture_of("sixteen"), 80, RanksLook(rows=8, columns=2))]
    assert [row for row in compact if "▲ TP11" in row and "12/64 behind" in row]


def test_lanes_tell_target_and_draft_apart() -> None:
    both = dict(lanes(picture_of("draft_weights")))
    assert [stretch.name for stretch in both["target"]] == ["launch", "distributed", "weights"]
    assert [stretch.name for stretch in both["draft"]] == ["weights"]
    assert both["draft"][0].begin >= both["target"][-1].end
    assert list(dict(lanes(picture_of("single")))) == ["start"]


def test_ghosts_share_the_axis() -> None:
    picture = picture_of("graphs")
    assert extent(picture.verdict) >= sum(took[-1] for took in HISTORY.values())
    rows = [plain(row) for row in paint_phases(picture, 120, 5, focused=False)]
    assert [row for row in rows if row.startswith(" last") and "weights" in row]


def test_gpus_name_the_owners_of_memory() -> None:
    rows = [plain(row) for row in paint_gpus(picture_of("strangers"), 80, 9, focused=False)]
    assert "orphan 59.6" in rows[3]
    assert "other 7.8" in rows[7]
    assert "answered 9 s ago" in rows[0]
    assert "no nvidia-smi on this host" in " ".join(
        plain(row) for row in paint_gpus(picture_of("no_gpus"), 80, 9, focused=False)
    )
    assert "held by an orphan, PID 4242 (sglang::scheduler_TP2)" in " ".join(
        plain(row) for row in paint_verdict(picture_of("strangers"), 80, 5)
    )


@pytest.mark.parametrize("width", [60, 80, 100, 116, 120, 200])
@pytest.mark.parametrize("height", [15, 24, 30, 40, 60])
@pytest.mark.parametrize("ranks", [0, 1, 8, 16, 64])
@pytest.mark.parametrize("panel", ["log", "gpus", "phases"])
def test_the_log_always_has_room(width: int, height: int, ranks: int, panel: str) -> None:
    gpus = min(8, ranks)
    made = divide(
        width, height, Needs(notices=1, verdict=9, phases=5 if ranks else 0, ranks=ranks, gpus=gpus, panel=panel)
    )
    stacked_rows = max(made.ranks, made.gpus) if made.gpu_width else made.ranks + made.gpus
    used = 2 + made.notices + made.verdict + made.phases + stacked_rows + made.gaps
    assert height - used >= 2, made
    assert (width, height) >= SMALLEST
    if ranks and panel != "gpus":
        assert made.ranks >= 2
        assert panel == "phases" or ranks > 8 or (made.ranks - 1) * made.rank_columns >= ranks, (
            "eight ranks are always seen, all of them"
        )


def test_a_late_rank_out_of_sight_is_counted() -> None:
    rows = [plain(row) for row in paint_ranks(picture_of("sixteen"), 80, RanksLook(rows=8))]
    assert rows[-1] == " … 9 more ranks below, 1 of them behind or in trouble"


def test_many_ranks_take_columns_and_scroll() -> None:
    assert columns_for(8, 80, 8) == 1
    assert columns_for(16, 80, 8) == 2
    assert columns_for(16, 130, 20) == 2
    assert first_shown(64, RanksLook(rows=8, columns=3, chosen=0)) == 0
    assert first_shown(64, RanksLook(rows=8, columns=3, chosen=63)) == 63 - 24 + 4


@given(text=st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cf")), max_size=80), width=st.integers(1, 40))
def test_cutting_and_wrapping_keep_to_the_width(text: str, width: int) -> None:
    for cut in (shorten(text, width), shorten_front(text, width)):
        assert width_of(((cut, "text"),)) <= width
    assert all(width_of(((line, "text"),)) <= max(2, width) for line in wrap(text, width))
    assert len(wrapped(text, width, 2)) <= 2
    assert width_of(fill(((text, "text"),), width)) == width


def test_the_right_end_of_a_row_stays() -> None:
    assert plain(spread((("a" * 50, "text"),), (("14:00", "quiet"),), 20)) == "a" * 13 + "… 14:00"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/models/Kimi-K2.5-INT4/", "Kimi-K2.5-INT4"),
        ("moonshotai/Kimi-K2.5", "Kimi-K2.5"),
        ("/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/9c3b1f/", "Qwen3-8B"),
    ],
)
def test_a_model_is_called_as_a_person_would(path: str, name: str) -> None:
    assert model_name(path) == name


def test_measures() -> None:
    assert (size(0), size(1023), size(1536), size(3 << 30)) == ("0 B", "1023 B", "1.5 KiB", "3.0 GiB")
    assert (short_duration(9), short_duration(252), short_duration(7500)) == ("9 s", "4:12", "2:05:00")
    assert (gib(143_771), count(1, "line"), count(1234, "line")) == ("140.4", "1 line", "1,234 lines")
    assert clock(0, 3600) == "01:00:00"


@pytest.mark.parametrize("scene", ALL)
def test_no_hint_of_the_footer_is_cut(scene: str) -> None:
    picture = picture_of(scene)
    for width in range(60, 140):
        assert "…" not in plain(paint_footer(picture, width, "log"))


def test_a_rank_that_failed_says_so_once() -> None:
    picture = picture_of("failed")
    rows = [plain(row) for row in paint_ranks(picture, 100, RanksLook(rows=8))]
    assert any(row.count("error line") == 1 for row in rows)
    assert not any(row.count("error line") > 1 or "in step with" in row for row in rows)


@pytest.mark.parametrize(
    ("gone", "words"), [(None, "No log was found yet."), (5.0, "it had ended when it was looked for")]
)
def test_of_a_server_that_has_ended_no_log_is_awaited(gone: float | None, words: str) -> None:
    picture = picture_of("graphs")
    state = replace(picture.state, log=LogChannel(), gone_at=gone, closed=())
    assert words in why_no_log(replace(picture, state=state))
