"""A log that prints no times, and a connection that was lost: what came meanwhile is not as old as the epoch."""

from __future__ import annotations

from bringup.core.assess import assess
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.engines.patience import load_policy
from bringup.session.knowledge import Knowledge
from bringup.session.reading import LogReader

BEGUN = 1_795_980_000.0
FIRST = b"INFO:     Started server process [100]\nINFO:     Waiting for application startup.\n"
MEANWHILE = b"INFO:     Application startup complete.\nThe server is fired up and ready to roll!\n"


def test_what_was_written_during_a_cut_began_after_it(knowledge: Knowledge) -> None:
    reader, state = LogReader(knowledge, 0.0), State()
    for data, at in ((FIRST, BEGUN), (MEANWHILE, None)):
        for event in reader.feed(data, at):
            state = reduce(state, event)
    verdict = assess(state, BEGUN + 60, load_policy())
    served = [view for view in verdict.phases if view.phase == "serving"]
    assert served
    assert all(view.seconds <= 60 for view in verdict.phases)
    assert all(view.started >= BEGUN for view in verdict.phases)
