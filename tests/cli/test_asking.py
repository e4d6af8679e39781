"""Questions at the terminal, as they are written there."""

from __future__ import annotations

import getpass

import pytest

from bringup.cli import asking
from bringup.hosts.ask import Question


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Password of me on box", "Password of me on box: "),
        ("box asks: Password:", "box asks: Password: "),
        ("box asks: Which one?", "box asks: Which one? "),
    ],
)
async def test_a_prompt_ends_with_one_sign(text: str, prompt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(asking, "is_terminal", lambda: True)
    monkeypatch.setattr(getpass, "getpass", lambda prompt, stream: seen.append(prompt) or "x")
    assert await asking.TerminalAsk("box")(Question("password", text)) == "x"
    assert seen == [prompt]
