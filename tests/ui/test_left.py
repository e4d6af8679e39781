"""After a connection that was cut: what happened is said, with what can be done about it."""

from __future__ import annotations

import pytest
from textual.widgets import Button, TextArea
from timeline import Timeline
from ui.acts import cut
from ui.dialogs import ask, begin_stop, body, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.core.events import LinkChanged, Server
from bringup.session.console import Kept, StopPlan
from bringup.ui import left_over
from bringup.ui.app import BringupApp
from bringup.ui.screens.editor import EditScreen
from bringup.ui.screens.left import LeftDialog


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 0.1)


def flat(app: BringupApp) -> str:
    """All that is drawn, as running text."""
    return " ".join(text_of(app).split())


def told(app: BringupApp) -> str:
    """All that was said for a while."""
    return " ".join(each.message for each in app._notifications)


def tell_link(console: FakeConsole, status: str) -> None:
    line = Timeline(state=console.state)
    line.add(LinkChanged(at=console.moment, status=status, why="no answer"))  # type: ignore[arg-type]
    console.change(line.state)


async def test_after_a_reconnection_the_launch_can_be_gone_on_with() -> None:
    async with opened("stopped", NARROW) as (app, console, pilot):
        tell_link(console, "lost")
        await until(pilot, lambda: "NO CONNECTION" in text_of(app))
        assert app.screen is app.watch_screen
        console.left = cut()
        tell_link(console, "up")
        dialog = await heard(app, pilot)
        assert isinstance(dialog, LeftDialog)
        for words in ("A restart was cut off", "2 min 20 s ago", "no server runs", "begun by ada@laptop"):
            assert words in body(dialog), words
        assert dialog.focused is not None
        assert dialog.focused.id == "no"
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (100, 1))])


async def test_it_can_be_forgotten() -> None:
    console = SCENES["stopped"]()
    console.left = cut()
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("f")
        await until(pilot, lambda: console.calls == [("discard", (100, 1))])


async def test_where_the_old_server_lives_nothing_is_launched() -> None:
    console = SCENES["ready"]()
    console.left = cut(step="claimed", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "the old server still runs (PID 100)" in body(dialog)
        assert not dialog.query("#yes")
        await pilot.press("y", "escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_of_another_server_than_the_watched_one_it_is_said_once_and_a_key_shows_it() -> None:
    console = SCENES["ready"]()
    console.left = cut(server=(77, 5))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "Another server is watched here; u shows what can be done." in told(app))
        assert app.screen is app.watch_screen
        await pilot.press("u")
        dialog = await heard(app, pilot)
        assert "Another server runs here now: PID 100 on port 30000." in body(dialog)
        assert not dialog.query("#yes")
        await pilot.press("f")
        await until(pilot, lambda: console.calls == [("discard", (77, 5))])
        await until(pilot, lambda: "is given up" in text_of(app))


@pytest.mark.usefixtures("words_that_stay")
async def test_a_server_that_came_up_while_it_was_asked_stays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 60)
    console = SCENES["stopped"]()
    console.left = cut(server=(77, 5))
    plain = LeftDialog.action_accept

    def accept(dialog: LeftDialog) -> None:
        # Before the screen can show it: else the dialog would say so, and not ask any more.
        console.change(SCENES["ready"]().state)
        plain(dialog)

    monkeypatch.setattr(LeftDialog, "action_accept", accept)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: "nothing was launched." in text_of(app))
        assert console.calls == []


async def test_read_only_says_it_and_offers_nothing() -> None:
    console = SCENES["stopped"]()
    console.left, console.read_only = cut(), True
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert not dialog.query("#yes, #other")
        await pilot.press("y", "f", "escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_what_another_console_does_is_said_without_a_question() -> None:
    console = SCENES["ready"]()
    console.left = cut(busy=True, step="stopping")
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "A restart of the sglang server" in text_of(app))
        assert app.screen is app.watch_screen


async def test_the_open_dialog_follows_the_host_and_offers_the_launch_once_it_can_be() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, NARROW) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "the old server still runs (PID 100)" in body(dialog)
        assert not dialog.query("#yes")
        console.left = cut(step="stopping")
        await until(pilot, lambda: "no server runs" in body(dialog) and bool(dialog.query("#yes")))
        assert app.screen is dialog
        assert dialog.focused is not None
        assert dialog.focused.id == "no", "what was typed for the old offer is no answer to the new one"
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (100, 1))])


async def test_a_new_server_that_runs_closes_the_dialog_and_says_so() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        console.left = cut(step="launching", new=(200, 9), new_alive=True)
        await until(pilot, lambda: ("discard", (100, 1)) in console.calls)
        console.left = None
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "is done: the new server runs as PID 200." in told(app))
        assert console.calls == [("discard", (100, 1))]


async def test_read_only_a_new_server_is_told_and_nothing_is_removed() -> None:
    console = SCENES["stopped"]()
    console.read_only, console.left = True, cut(step="launching", new=(200, 9), new_alive=True)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "is done: the new server runs as PID 200." in told(app))
        assert console.calls == []


async def test_after_esc_the_banner_says_how_it_is_and_a_key_leads_back() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "the old server still runs (PID 100)" in flat(app))
        assert "u unfinished" in text_of(app).splitlines()[-1]
        assert [each.title for each in app.get_system_commands(app.screen) if "unfinished" in each.title]
        console.left = cut(step="stopping")
        await until(pilot, lambda: "no server runs" in flat(app))
        assert app.screen is app.watch_screen, "it was put aside"
        await pilot.press("u")
        dialog = await heard(app, pilot)
        assert dialog.query("#yes")
        console.left = None
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "u unfinished" not in text_of(app))
        await pilot.press("u")
        await until(pilot, lambda: "Nothing was left in the middle" in text_of(app))


async def test_it_waits_for_another_dialog_to_close() -> None:
    console = SCENES["ready"]()
    async with opened(console, MIDDLE) as (app, _, pilot):
        stop = await ask(app, pilot, "K")
        console.left = cut(step="claimed", alive=((100, 1),))
        tell_link(console, "lost")
        tell_link(console, "up")
        app.watch_screen.orders.left_over.begin(console)
        await until(pilot, lambda: app.watch_screen.orders.left_over.left is not None)
        await pilot.pause(0.1)
        assert app.screen is stop
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))


async def test_a_launch_that_failed_is_not_called_cut_off() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="failed", new=(200, 9), status="2", said="no such flag: --enable-x")
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert body(dialog).startswith("A restart failed ")
        assert "exit status 2 (no such flag: --enable-x)" in body(dialog)
        assert "cut off" not in body(dialog)


async def test_q_leaves_from_the_dialog() -> None:
    console = SCENES["stopped"]()
    console.left = cut()
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("q")
        await until(pilot, lambda: app._exit)
    assert console.calls == []


async def test_it_does_not_take_the_place_of_an_order_that_is_under_way() -> None:
    console = SCENES["ready"]()
    async with opened(console, MIDDLE) as (app, _, pilot):
        ended = await begin_stop(app, console, pilot)
        app.watch_screen.orders.discard(console, cut())
        app.watch_screen.orders.resume(console, cut(), None, None)
        await until(pilot, lambda: "is under way already" in told(app))
        assert console.calls == [("stop", "TERM")]
        ended.set()


def test_what_waits_for_a_decision_is_no_failure_and_is_asked_once() -> None:
    waits = cut(step="undecided", starters=((90, 5),))
    why = "The server on gpu-a was stopped; PID 90 (bash serve.sh), which had started it, still runs."
    shown = body(LeftDialog("gpu-a", waits, why=why), 72)
    assert shown.startswith("A restart waits for your decision")
    assert "failed" not in shown
    assert shown.count("no server runs") == 0, "the question says it"
    assert "y launches it all the same, with what was kept on the host" in shown
    later = body(LeftDialog("gpu-a", cut(step="undecided", alive=((100, 1),)), why=why), 72)
    assert "The old server still runs (PID 100)" in later


def test_of_a_stop_it_is_not_said_that_nothing_was_launched() -> None:
    left = cut(action="stop", step="stopping", alive=((100, 1), (101, 2)))
    assert left.outlook == "the old server still runs (PID 100 and 101)"


async def test_a_console_that_did_not_begin_it_edits_the_command_that_the_host_has_kept() -> None:
    console = SCENES["stopped"]()
    failed = cut(step="failed", new=(200, 9), status="2", said="no such flag: --enable-x")
    ran, kept = ("python3", "-m", "x", "--tp", "8"), ("python3", "-m", "x", "--tp", "8", "--enable-x")
    server = Server(pid=100, start=1, engine="", argv=kept)
    console.left, console.keeps = failed, Kept(StopPlan("gpu-a", server, "", (), argv=ran), kept)
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "The command that failed, against the command that ran: + --enable-x" in body(dialog)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.focused is not None)
        text = app.screen.query_one(TextArea)
        text.text = text.text.replace("--enable-x", "--enable-y")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is dialog)
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (*ran, "--enable-y"))])


async def test_a_command_that_is_still_at_work_is_waited_for() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="failed", command="docker start llm", kept=False, at_work=(300, 5))
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "docker start llm (PID 300) is still at work" in body(dialog)
        assert "y waits for what was begun: it is not run a second time" in body(dialog)
        assert str(dialog.query_one("#yes", Button).label) == "Wait for it (y)"
