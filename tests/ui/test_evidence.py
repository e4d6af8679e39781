"""The account behind the verdict, limits and shapes of hangs, holders of GPU memory, ghosts of what is to come."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ui.scenes import HISTORY, SCENES
from ui.screen import NARROW, opened, text_of, until
from ui.situations import CHANNELS, SITUATIONS

from bringup.core.events import GpuApp, GpusSeen
from bringup.core.reduce import reduce
from bringup.core.verdict import Countdown
from bringup.ui.paint.channels import paint_channels
from bringup.ui.paint.evidence import paint_evidence
from bringup.ui.paint.gpus import paint_gpus
from bringup.ui.paint.holders import paint_held, short_title
from bringup.ui.paint.identity import paint_identity
from bringup.ui.paint.limits import countdown_row, hang_row
from bringup.ui.paint.phases import lanes, to_come
from bringup.ui.paint.ranks import RanksLook, paint_ranks
from bringup.ui.paint.row import Row, plain
from bringup.ui.paint.verdict import paint_verdict
from bringup.ui.picture import Picture


def picture_of(scene: str, **judged: object) -> Picture:
    console = {**SCENES, **SITUATIONS}[scene]().judge(**judged)
    return Picture(console.state, console.verdict(), "root@gpu-a")


def text(rows: list[Row]) -> str:
    return "\n".join(plain(row).rstrip() for row in rows)


def test_the_account_has_its_parts_in_order() -> None:
    account = text(paint_evidence(picture_of("countdown"), 100))
    parts = ["SLOW", "time left", "limit", "What it rests on", "Warnings", "Channels", "Models on the disk", "Phases"]
    places = [account.index(part) for part in parts]
    assert places == sorted(places)
    assert "about 2-5 min, last three starts: 4-11 min" in account
    assert "3 min 20 s until the load barrier gives up, it waits for TP5" in account
    assert "of 8 min; 300 s before SGLang 0.5.6" in account
    assert "→ Download it again." in account


def test_every_channel_has_its_ages_and_a_closed_one_what_would_open_it() -> None:
    rows = [plain(row).rstrip() for row in paint_channels(picture_of("countdown"), 100)]
    assert any(row.split()[:5] == ["bar", "1", "min", "1", "min"] for row in rows)
    assert any(row.split()[:4] == ["gpus", "2", "s", "-"] for row in rows)
    closed = next(number for number, row in enumerate(rows) if row.startswith("  http"))
    assert rows[closed].split()[1] == "closed"
    assert "(open failed: administratively" in rows[closed]
    assert rows[closed + 1].strip() == "prohibited)."
    assert "→ Allow port forwarding" in rows[closed + 2]
    assert len([row for row in rows if row.split()[0] in {view.channel for view in CHANNELS}]) == len(CHANNELS)


def test_what_would_open_a_channel_is_not_said_where_the_sessions_are_too_few() -> None:
    why = "box refused to start another command: open failed. Set MaxSessions to 4 or more."
    view = replace(CHANNELS[0], channel="processes", open=False, says=why)
    assert "→" not in text(paint_channels(picture_of("countdown", channels=(view,)), 100))
    other = replace(view, says="The probe ended with status 1.")
    assert "→ Processes can be watched" in text(paint_channels(picture_of("countdown", channels=(other,)), 100))


def test_a_channel_that_has_not_answered_for_long_is_marked() -> None:
    late = replace(CHANNELS[2], heard_s=31.0)
    for view, ink in ((CHANNELS[2], "text"), (late, "log-warn"), (replace(CHANNELS[0], heard_s=900.0), "text")):
        row = paint_channels(picture_of("countdown", channels=(view,)), 100)[-1]
        assert row[0][1] == ink


def test_what_cannot_tell_yet_is_left_out_while_waiting() -> None:
    account = text(paint_evidence(picture_of("holders", channels=(CHANNELS[0],)), 100))
    assert "57.4 KiB" in account
    silent = replace(CHANNELS[0], heard_s=None)
    assert "57.4 KiB" not in text(paint_evidence(picture_of("holders", channels=(silent,)), 100))
    assert "57.4 KiB" in text(paint_evidence(picture_of("weights", channels=(silent,)), 100))


def test_models_tell_their_disk_and_what_is_missing() -> None:
    account = text(paint_evidence(picture_of("countdown"), 100))
    assert "network disk (nfs4) · 63 of 64 files · 594.0 GiB · KimiK25ForConditionalGeneration" in account
    assert "missing: model-00064-of-00064.safetensors" in account
    assert "local disk (ext4) · 1 file" in account
    assert "network disk (nfs4)" in plain(paint_identity(picture_of("early"), 160))
    assert "network disk (nfs4)" not in plain(paint_identity(picture_of("early"), 80))


@pytest.mark.parametrize(
    ("left", "said", "ink"),
    [
        (400.0, "6 min 40 s until the load barrier gives up", "strong"),
        (200.0, "3 min 20 s until the load barrier gives up", "slow"),
        (20.0, "20 s until the load barrier gives up", "bad"),
        (-12.0, "the load barrier ran out 12 s ago, after 8 min", "bad"),
    ],
)
def test_a_limit_is_marked_when_it_ends_before_the_start_may(left: float, said: str, ink: str) -> None:
    countdown = Countdown("the load barrier", left, 480.0, (5,))
    row = countdown_row(picture_of("countdown", eta_s=(150.0, 260.0), countdown=countdown), countdown)
    assert plain(row) == f"limit {said}, it waits for TP5"
    assert row[1][1] == ink


def test_a_limit_that_ends_before_the_start_may_comes_first() -> None:
    short = picture_of("countdown", summary="Loading.", warnings=())
    rows = [plain(row) for row in paint_verdict(short, 80, 6)]
    assert [row.split()[1] for row in rows[1:3]] == ["limit", "time"]
    long = picture_of(
        "countdown", summary="Loading.", warnings=(), countdown=Countdown("the barrier", 400.0, 480.0, (5,))
    )
    (wide,) = [plain(row) for row in paint_verdict(long, 160, 6) if "until the barrier" in plain(row)]
    assert "last three starts: 4-11 min · limit 6 min 40 s until the barrier gives up, it waits for TP5" in wide
    said = picture_of("countdown", summary="Loading; the load barrier gives up in 3 min 20 s.", warnings=())
    assert "limit" not in text(paint_verdict(said, 80, 6))


@pytest.mark.parametrize(
    ("hang", "ranks", "said"),
    [
        ("waits-for-one", (5,), "all others wait for TP5"),
        ("stopped", (3,), "TP3 was stopped by a signal (T): SIGCONT lets it go on"),
        ("uninterruptible", (1, 2), "TP1 and TP2 are stuck in the kernel (D): storage or a driver does not answer"),
        ("gone", (3,), "TP3 went away without a word: the kernel log may know why"),
        ("zombie", (3,), "TP3 has ended, and nobody has noticed"),
    ],
)
def test_the_shape_of_a_hang_names_who_makes_it(hang: str, ranks: tuple[int, ...], said: str) -> None:
    assert plain(hang_row(picture_of("stalled", hang=hang, failed_ranks=ranks))) == f"shape {said}"


@pytest.mark.parametrize("hang", ["spinning", "silent"])
def test_the_shape_of_a_hang_that_nobody_makes(hang: str) -> None:
    assert "TP" not in plain(hang_row(picture_of("stalled", hang=hang)))


def test_the_straggler_stands_out_in_the_sentence() -> None:
    spans = [span for row in paint_verdict(picture_of("weights"), 120, 3) for span in row]
    assert ("TP5", "slow") in spans
    spans = [span for row in paint_verdict(picture_of("stalled"), 120, 3) for span in row]
    assert ("TP3", "bad") in spans
    assert not any("TP5" in text and ink == "strong" for text, ink in spans)


def test_memory_has_its_own_texture_and_legend() -> None:
    rows = paint_ranks(picture_of("memory"), 100, RanksLook(rows=8))
    assert ("■■ ", "grown") in rows[0]
    assert "memory" in plain(rows[0])
    assert all("■" in plain(row) for row in rows[1:])


def test_every_trouble_has_its_word() -> None:
    rows = text(paint_ranks(picture_of("trouble"), 120, RanksLook(rows=8)))
    for word in ("error line", "stuck in I/O", "stopped", "dead (zombie)", "gone"):
        assert f"{word}" in rows


def test_the_gpus_before_a_start_name_their_holders() -> None:
    rows = [plain(row).rstrip() for row in paint_gpus(picture_of("holders"), 120, 9, focused=False, row=paint_held)]
    assert "orphan PID 41210 · root · 3 h 10 min · sglang::scheduler_TP0" in rows[1]
    assert rows[5].endswith("free")
    assert "PID 5151 · ada · 1 min · python train.py --config base.yaml" in rows[7]
    assert rows[8].endswith("12.0 GiB without a process")


def test_several_holders_of_one_gpu_are_counted() -> None:
    console = SITUATIONS["holders"]()
    more = GpuApp(99, 0, 300, "python x.py", "bob")
    seen = GpusSeen(at=console.moment, gpus=console.state.gpu.gpus, apps=(*console.state.gpu.apps, more))
    console.change(reduce(console.state, seen))
    picture = Picture(console.state, console.verdict(), "box")
    assert "orphan PID 41210 · and 1 more · root" in plain(paint_held(picture, picture.state.gpu.gpus[0], 120))


def test_titles_are_cut_where_they_tell_least() -> None:
    assert short_title("sglang::scheduler_TP0", 14) == "…scheduler_TP0"
    assert short_title("python -m sglang.launch_server", 12) == "python -m s…"


def test_phases_to_come_are_ghosts_behind_those_that_were() -> None:
    picture = picture_of("to_come")
    assert [key for key, _ in to_come(picture.verdict)] == [
        "kv-cache/target", "graphs/target/decode", "graphs/draft/decode", "warmup",
    ]  # fmt: skip
    both = dict(lanes(picture))
    ahead = [stretch for stretch in both["target"] if stretch.ink == "ghost"]
    assert [stretch.name for stretch in ahead] == ["kv-cache", "graphs decode", "warmup"]
    assert [stretch.name for stretch in both["draft"] if stretch.ink == "ghost"] == ["", "graphs decode"]
    assert min(stretch.begin for stretch in ahead) >= HISTORY["weights/draft"][0]
    assert "to come" in text(paint_evidence(picture, 100))


@pytest.mark.parametrize("scene", ["ready", "failed", "stopped", "degraded"])
def test_nothing_is_to_come_after_the_end(scene: str) -> None:
    console = SCENES[scene]().remember(HISTORY)
    assert to_come(console.verdict()) == []


async def test_the_account_lives_while_it_is_read() -> None:
    async with opened("countdown", NARROW) as (app, console, pilot):
        await pilot.press("v")
        await pilot.pause()
        assert "3 min 20 s" in text_of(app)
        console.judge(countdown=Countdown("the load barrier", 150.0, 480.0, (5,)))
        console.wait(1)
        app.watch_screen.paint()
        app.screen.draw()  # type: ignore[attr-defined]
        await pilot.pause()
        assert "2 min 30 s" in text_of(app)


async def test_the_account_follows_the_size_of_the_terminal_down_to_the_smallest() -> None:
    async with opened("graphs", NARROW) as (app, console, pilot):
        console.judge(eta_s=None, eta_basis="no earlier start of this command is known")
        await pilot.press("v")
        for width in (60, 50, 40, 20):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: "cannot be told" in text_of(app))
