"""Which phases an engine still has before it, in words: what a time for the current phase alone does not cover."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.phases import Position
from bringup.core.ranks import has_draft
from bringup.core.state import Attempt


def ahead(attempt: Attempt, where: Position) -> tuple[str, ...]:
    """Return what is still to come after the current phase, as far as every start of this kind has it.

    SGLang 0.4.3 to 0.5.23 and vLLM 0.8.5 to 0.32 load the target first, then the draft, then capture graphs (some
    releases capture the target's before the draft is loaded), and answer a request of their own last.
    """
    begun = {(step.phase, step.role) for step in where.steps}
    found = []
    if has_draft(attempt) and attempt.draft_model and ("weights", "draft") not in begun:
        found.append("the draft's weights")
    if "graphs-disabled" not in dict(attempt.warnings):
        found.extend(_graphs(attempt, where))
    if where.phase != "warmup":
        found.append("the warm-up")
    return tuple(found)


def _graphs(attempt: Attempt, where: Position) -> Iterator[str]:
    """The captures that are still to come.

    SGLang captures for the prefill first where it does at all (0.5.14 and later), then for the decode (the verify, with
    a draft), and the draft's by itself, in up to three parts; which of these there are depends on the attention backend
    and the number of draft steps (speculative/eagle_worker.py, init_cuda_graphs). vLLM captures all in one.
    """
    captured = [step for step in where.steps if step.phase == "graphs"]
    target = {step.part for step in captured if step.role == "target"}
    draft = {step.part for step in captured if step.role == "draft"}
    if not captured:
        yield "the graphs"
        return
    if attempt.engine != "sglang":
        return
    if target == {"prefill"}:
        yield "the verify graphs" if has_draft(attempt) else "the decode graphs"
    if not has_draft(attempt):
        return
    if not draft:
        yield "the draft's graphs"
    elif "extend" not in draft and where.phase != "warmup":
        yield "any further graphs of the draft"
