"""Restarting: what is shown before, the edited command, and what is said when the new server does not start."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.widgets import TextArea
from ui.acts import cut, in_pane, in_unit
from ui.dialogs import ask, body, heard
from ui.screen import MIDDLE, NARROW, SIZES, opened, text_of, until

from bringup.core.errors import BringupError
from bringup.hosts.control import LaunchFailed
from bringup.ui.editing import to_text
from bringup.ui.screens.confirm import RestartDialog
from bringup.ui.screens.editor import EditScreen
from bringup.ui.screens.left import LeftDialog


async def test_it_shows_the_command_the_launcher_and_what_becomes_of_the_log() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        shown = body(await ask(app, pilot, "R"))
        for words in (
            "The tmux pane llm:0.1.",
            "--api-key ***",
            "tee kimi.log",
            "The same command is launched in the same folder, with the same environment.",
            "It goes on in /var/log/sglang/kimi.log, as it did before.",
        ):
            assert words in shown, words
        assert "verysecret" not in text_of(app)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("restart", 100)])


async def test_a_launcher_with_its_own_commands_shows_them_and_offers_no_editor() -> None:
    async with opened(in_unit(), MIDDLE) as (app, _, pilot):
        dialog = await ask(app, pilot, "R")
        shown = body(dialog)
        assert "It is stopped with systemctl stop sglang.service" in shown
        assert "It is started with systemctl start sglang.service" in shown
        assert not dialog.query("#other")
        await pilot.press("e")
        await pilot.pause()
        assert app.screen is dialog


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_an_edited_command_is_shown_as_a_difference_and_launched(size: tuple[int, int]) -> None:
    async with opened(in_pane(), size) as (app, console, pilot):
        dialog = await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        text = editor.query_one(TextArea)
        assert "--api-key ***" in text.text
        assert "verysecret" not in text.text
        text.text = text.text.replace("0.88", "0.80") + "\n--enable-metrics"
        await until(pilot, lambda: "+ --enable-metrics" in text_of(app))
        assert "- --mem-fraction-static 0.88" in text_of(app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is dialog)
        await heard(app, pilot)
        assert isinstance(dialog, RestartDialog)
        assert "The command was edited: - --mem-fraction-static 0.88 + --mem-fraction-static 0.80" in body(dialog)
        assert "The edited command is launched" in body(dialog)
        assert dialog.focused is not None
        assert dialog.focused.id == "no"
        await pilot.press("y")
        await until(pilot, lambda: len(console.calls) == 1)
        name, argv = console.calls[0]
        assert name == "restart"
        assert isinstance(argv, tuple)
        assert argv[-1] == "--enable-metrics"
        assert "0.80" in argv
        assert argv[argv.index("--api-key") + 1] == "***", "it is kept on the host, unless it is typed anew"


async def test_an_edit_that_is_left_changes_nothing() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        editor.query_one(TextArea).text = "vllm serve"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog)
        await heard(app, pilot)
        assert "was edited" not in body(dialog)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("restart", 100)])


@pytest.mark.parametrize(
    ("text", "words"),
    [("vllm 'serve", "never closed"), ("", "is empty"), ("vllm https://***@hub", "does not tell which")],
)
async def test_what_cannot_be_launched_is_not_accepted(text: str, words: str) -> None:
    async with opened(in_pane(), MIDDLE) as (app, _, pilot):
        await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        editor.query_one(TextArea).text = text
        await until(pilot, lambda: words in text_of(app))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is editor


async def test_typed_keys_go_into_the_text() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        await pilot.press("ctrl+end", "enter", *"--n", "y", "tab", "enter")
        await until(pilot, lambda: isinstance(app.screen, RestartDialog))
        assert editor is not app.screen
        assert console.calls == []


async def test_editing_back_to_what_runs_is_no_edit() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        assert isinstance(dialog, RestartDialog)
        editor.query_one(TextArea).text = to_text(dialog.plan.argv).replace("\n", "  ")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is dialog)
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("restart", 100)])


async def test_a_start_that_fails_says_so_in_the_shells_own_words_and_offers_what_can_be_done() -> None:
    async with opened(in_pane(), NARROW) as (app, console, pilot):
        console.failing = LaunchFailed(
            "The new server on gpu-a ended at once with exit status 2: error: unrecognized arguments: --enable-x."
        )
        console.left = cut(step="failed", age=0)
        await ask(app, pilot, "R")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))
        dialog = await heard(app, pilot)
        assert "The restart failed" in body(dialog)
        assert "unrecognized arguments: --enable-x" in body(dialog)
        assert "was cut off" not in body(dialog)
        console.failing, console.left = None, None
        await pilot.press("f")
        await until(pilot, lambda: console.calls[-1] == ("discard", (100, 1)))


async def test_after_a_failed_start_the_command_can_be_edited_again() -> None:
    async with opened(in_pane(), NARROW) as (app, console, pilot):
        console.failing, console.left = LaunchFailed("It ended at once: no such flag."), cut(step="failed")
        dialog = await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        editor.query_one(TextArea).text += "\n--enable-x"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is dialog)
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))
        failed = await heard(app, pilot)
        editor = await edit(app, pilot)
        text = editor.query_one(TextArea)
        assert text.text.endswith("--enable-x"), "the command that failed"
        text.text = text.text.replace("--enable-x", "--enable-metrics")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is failed)
        await heard(app, pilot)
        assert "+ --enable-metrics" in body(failed)
        console.failing = None
        await pilot.press("y")
        await until(pilot, lambda: console.calls[-1][0] == "resume")
        argv = console.calls[-1][1]
        assert isinstance(argv, tuple)
        assert argv[-1] == "--enable-metrics"
        assert "***" in argv


async def test_of_an_edited_command_that_failed_the_difference_is_shown_and_its_last_words_once() -> None:
    async with opened(in_pane(), NARROW) as (app, console, pilot):
        said = "error: unrecognized arguments: --enable-x"
        console.failing = LaunchFailed(f"The new server on gpu-a ended at once with exit status 2: {said}.")
        console.left = cut(step="failed", age=0, new=(200, 9), status="2", said=said)
        await ask(app, pilot, "R")
        (await edit(app, pilot)).query_one(TextArea).text += "\n--enable-x"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, RestartDialog))
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))
        shown = body(await heard(app, pilot))
        assert shown.count("unrecognized arguments") == 1
        assert "has ended with exit status 2, and so has the old one: no server runs" in shown
        assert "The command that failed, against the command that ran: + --enable-x" in shown
        assert "y launches the edited command, with what was kept on the host" in shown


async def test_the_editor_begins_at_the_end_of_the_command_and_finds_both_ends() -> None:
    async with opened(in_pane(), MIDDLE) as (app, _, pilot):
        await ask(app, pilot, "R")
        editor = await edit(app, pilot)
        text = editor.query_one(TextArea)
        await pilot.press("enter", *"--n")
        assert text.text.endswith("\n--n")
        await pilot.press("ctrl+home", *"X=1 ")
        assert text.text.startswith("X=1 ")
        await pilot.press("ctrl+end", *"ew")
        assert text.text.endswith("\n--new")


async def test_a_failure_with_nothing_left_can_only_be_closed() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        console.failing = BringupError("PID 100 is not the server any more.", "Look again.")
        await ask(app, pilot, "R")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))
        dialog = await heard(app, pilot)
        assert not dialog.query("#yes, #other")
        await pilot.press("y", "f", "escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == [("restart", 100)]


async def edit(app, pilot) -> EditScreen:  # type: ignore[no-untyped-def]
    """Open the editor from the dialog."""
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.focused is not None)
    return app.screen  # type: ignore[no-any-return]


async def test_an_edited_port_that_is_taken_is_said_in_the_dialog_and_not_launched() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        taken = "Port 22822, which the edited command takes, is held on gpu-a by sshd (PID 812, root)."

        async def refuses(argv: Sequence[str]) -> str:
            return taken if "22822" in argv else ""

        console.planned["refuses"] = refuses
        dialog = await ask(app, pilot, "R")
        for port, said in (("22822", True), ("22823", False)):
            editor = await edit(app, pilot)
            text = editor.query_one(TextArea)
            text.text = text.text.partition("\n--port ")[0] + f"\n--port {port}"
            await until(pilot, lambda: f"+ --port {port}" in text_of(app))  # noqa: B023 - it is waited for here
            await pilot.press("ctrl+s")
            await until(pilot, lambda: app.screen is dialog)
            await until(pilot, lambda: (taken in body(dialog)) == said)  # noqa: B023 - it is waited for here
            await heard(app, pilot)
            assert dialog.query_one("#yes").display is not said
            await pilot.press("y")
        await until(pilot, lambda: len(console.calls) == 1)
        argv = console.calls[0][1]
        assert isinstance(argv, tuple)
        assert argv[-2:] == ("--port", "22823")
