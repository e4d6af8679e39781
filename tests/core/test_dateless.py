"""A log whose lines have no date, read after it was written: nobody knows how long ago its lines came."""

from __future__ import annotations

from timeline import Timeline

from bringup.core.assess import assess
from bringup.core.events import Launch, Reached


def test_no_age_is_made_up() -> None:
    line = Timeline().found().add(Launch(at=0.0, engine="sglang", model="m", port=30000)).bytes()
    line.add(Reached(at=0.0, milestone="ready")).wait(60)
    verdict = assess(line.state, line.now, line.policy)
    told = " ".join((verdict.summary, *verdict.evidence))
    assert "log: ready line seen" in told
    assert [(view.phase, view.seconds) for view in verdict.phases if view.phase == "serving"] == [("serving", 0.0)]
    assert max((view.seconds for view in verdict.phases), default=0.0) <= 60.0
