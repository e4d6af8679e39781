"""What only the operator can answer, and how a connection asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MEMORABLE = frozenset({"password", "passphrase"})
"""Kinds whose answer may serve again after a reconnect; a one-time code and a host key never do."""
WRONG = "That was not it."
"""Said with a question that comes again."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something only the operator can answer: "host-key" (yes or no), "password", "passphrase", "code"."""

    kind: str
    text: str
    detail: str = ""


Ask = Callable[[Question], Awaitable[str | None]]
"""Put a question to the operator; None means that they declined."""


class Remembering:
    """An `Ask` that answers by itself what was answered before, so that a reconnect asks nothing again.

    The same question twice within one attempt, whatever is said with it, means that the first answer did not help: then
    the operator is asked.
    Answers live in memory only.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._answers: dict[tuple[str, str], str] = {}
        self._used: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """Start another attempt to connect."""
        self._used.clear()

    async def __call__(self, question: Question) -> str | None:
        """Answer from memory once an attempt, else ask the operator."""
        key = question.kind, question.text
        if key in self._answers and key not in self._used:
            self._used.add(key)
            return self._answers[key]
        answer = await self._ask(question)
        if question.kind in MEMORABLE:
            self._used.add(key)
            if answer is not None:
                self._answers[key] = answer
        return answer
