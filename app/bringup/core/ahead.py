"""Which phases an engine still has before it, in words: what a time for the current phase alone does not cover."""

from __future__ import annotations

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
    if not any(phase == "graphs" for phase, _ in begun) and "graphs-disabled" not in dict(attempt.warnings):
        found.append("the graphs")
    if where.phase != "warmup":
        found.append("the warm-up")
    return tuple(found)
