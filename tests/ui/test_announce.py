"""The bell and the notification: once, only for news, harmless, and exactly these bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import opened

from bringup.core.events import ChannelOpened, Reached
from bringup.core.reduce import reduce
from bringup.ui.announce import Announcer, sequences
from bringup.ui.voice import MUTE, Voice, voice_for

LOUD = Voice()
TOLD = "\x1b]9;bringup root@gpu-a: {} {}\x1b\\\x07"


async def heard(
    first: str, then: list[str], voice: Voice = LOUD, *, after: float = 60.0
) -> tuple[list[str], FakeConsole]:
    """Show one scene, then others; return what the terminal was sent beside the frames."""
    console = SCENES[first]()
    sent: list[str] = []
    async with opened(console, voice=voice) as (app, _, pilot):
        app.watch_screen.announcer._send = sent.append
        for name in then:
            scene = SCENES[name]()
            console.change(replace(scene.state, attempt=replace(scene.state.attempt, reached=late(scene, console))))
            console.moment = max(scene.moment, console.moment) + after
            for _ in range(3):
                app.watch_screen.paint()
            await pilot.pause()
    return sent, console


def late(scene: FakeConsole, console: FakeConsole) -> tuple[tuple[str, float], ...]:
    """The milestones of a scene, as reached after the console was opened."""
    return tuple((name, max(at, console.moment + 1)) for name, at in scene.state.attempt.reached)


@pytest.mark.parametrize("state", ["ready", "stalled"])
async def test_what_is_decided_is_told_once(state: str) -> None:
    sent, console = await heard("weights", [state])
    assert sent == [TOLD.format(f"{state.upper()}.", console.verdict().summary)]


async def test_a_failure_that_happens_now_is_told() -> None:
    console = SCENES["graphs"]()
    sent: list[str] = []
    async with opened(console, voice=LOUD) as (app, _, _pilot):
        app.watch_screen.announcer._send = sent.append
        scene = SCENES["failed"]()
        moment = console.moment + 1
        faults = tuple(replace(line, at=moment) for line in scene.state.attempt.faults)
        console.change(replace(scene.state, attempt=replace(scene.state.attempt, faults=faults)))
        console.moment = moment + 1
        app.watch_screen.paint()
    assert sent == [TOLD.format("FAILED.", console.verdict().summary)]


async def test_degraded_is_news_after_ready_only() -> None:
    sent, _ = await heard("warmup", ["degraded"])
    assert sent == []
    sent, _ = await heard("warmup", ["ready", "degraded", "ready"])
    assert [text.split()[2] for text in sent] == ["READY.", "DEGRADED.", "READY."]


@pytest.mark.parametrize("scene", ["ready", "failed", "stalled", "degraded"])
async def test_what_is_found_at_the_connection_is_no_news(scene: str) -> None:
    sent, _ = await heard(scene, [scene, scene])
    assert sent == []


async def test_a_log_that_is_read_after_the_connection_tells_what_was() -> None:
    """The console comes up before the log is read: the ready line in it is hours old."""
    console = SCENES["searching"]()
    sent: list[str] = []
    async with opened(console, voice=LOUD) as (app, _, _pilot):
        app.watch_screen.announcer._send = sent.append
        console.moment += 100_000
        app.watch_screen.announcer.begin(console.moment)
        app.watch_screen.paint()
        console.change(SCENES["ready"]().state)
        console.moment += 60
        app.watch_screen.paint()
        assert console.verdict().state == "ready"
    assert sent == []


async def test_what_has_no_time_of_its_own_is_news_only_after_a_while() -> None:
    console = SCENES["stalled"]()
    sent: list[str] = []
    announcer = Announcer(LOUD, "box", sent.append)
    for waited in (4.0, 6.0):
        announcer.begin(console.moment - waited)
        announcer.hear(console.state, replace(console.verdict(), state="slow"))
        announcer.hear(console.state, console.verdict())
    assert len(sent) == 1


async def test_each_can_be_turned_off() -> None:
    assert (await heard("warmup", ["ready"], MUTE))[0] == []
    assert (await heard("warmup", ["ready"], Voice(notify=False)))[0] == ["\x07"]
    (told,), _ = await heard("warmup", ["ready"], Voice(bell=False))
    assert told.startswith("\x1b]9;bringup root@gpu-a: READY.")
    assert told.endswith("\x1b\\")
    assert "\x07" not in told


def test_tmux_is_asked_to_hand_it_on() -> None:
    assert sequences(Voice(tmux=True), "box: READY.") == "\x1bPtmux;\x1b\x1b]9;bringup box: READY.\x1b\x1b\\\x1b\\\x07"
    assert sequences(Voice(tmux=True, notify=False), "x") == "\x07"


def test_what_a_host_says_commands_no_terminal() -> None:
    told = sequences(LOUD, "box\x1b]52;c;aGk=\x07\x9c: FAILED.\n\x1b\\\x07evil\u202e " + "x" * 500)
    body = told.removeprefix("\x1b]9;").removesuffix("\x1b\\\x07")
    assert body.isprintable()
    assert "\u202e" not in body
    assert len(body) <= 210


def test_the_voice_of_an_environment() -> None:
    assert voice_for({}) == Voice(bell=True, notify=True, tmux=False)
    assert voice_for({"TMUX": "/tmp/tmux-0/default,1,0"}, bell=False) == Voice(bell=False, notify=True, tmux=True)


async def test_it_goes_through_the_driver_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    console = SCENES["warmup"]()
    written: list[str] = []
    async with opened(console, voice=LOUD) as (app, _, _pilot):
        assert app._driver is not None
        monkeypatch.setattr(app._driver, "write", written.append)
        moment = console.moment + 10
        state = console.state
        for event in (
            Reached(at=moment, milestone="warmup-answered"),
            Reached(at=moment, milestone="ready"),
            ChannelOpened(at=moment, channel="http"),
        ):
            state = reduce(state, event)
        console.change(replace(SCENES["ready"]().state, attempt=state.attempt))
        console.moment = moment + 30
        app.watch_screen.paint()
    assert written.count(TOLD.format("READY.", console.verdict().summary)) == 1
