"""A log judged as a whole: the decoder, the reduction and the judgement, on the log's own clock."""

from __future__ import annotations

from bringup.core.assess import assess
from bringup.core.decode import Decoder
from bringup.core.events import Event
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy

ENGINES, WRAPPERS, POLICY = load_engines(), load_wrappers(), load_policy()


def explained(data: bytes | list[bytes], silent: float = 0.0) -> Verdict:
    """Return the verdict about a log, whole or in chunks, `silent` seconds after its last time."""
    decoder, state, last = Decoder(ENGINES, WRAPPERS), State(), 0.0
    chunks = data if isinstance(data, list) else [data]
    found: list[Event] = []
    for chunk in chunks:
        found.extend(decoder.feed(chunk, None))
    found.extend(decoder.close(None))
    for event in found:
        state = reduce(state, event)
        last = max(last, event.at)
    return assess(state, last + silent, POLICY)


def essence(verdict: Verdict) -> dict[str, object]:
    """Return what a verdict says, without times and line numbers."""
    cause = verdict.cause
    return {
        "state": verdict.state,
        "phase": verdict.phase,
        "role": verdict.role,
        "engine": verdict.engine,
        "version": verdict.version,
        "model": verdict.model,
        "attempt": verdict.attempt,
        "ranks_expected": verdict.ranks_expected,
        "ranks_done": dict(verdict.ranks_done),
        "bar": verdict.bar,
        "failed_ranks": verdict.failed_ranks,
        "cause": (cause.kind, cause.line, cause.secondary) if cause else None,
        "warnings": sorted((warning.kind, warning.detail) for warning in verdict.warnings),
        "accept_len": verdict.accept_len,
    }
