"""Progress as one line: what it says, when a new one is due, and that it fits."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.cells import cell_len
from timeline import Timeline

from bringup.cli.progress import Progress
from bringup.core.events import HostSeen, LinkChanged
from bringup.report.progress import change, line, rewritten
from bringup.session.headless import Look


def loading() -> Timeline:
    timeline = Timeline().add(LinkChanged(at=0, status="up")).found().launch(tp=2, draft_model="/models/draft")
    return timeline.spawn(2).begin("weights", (0, 1), role="target")


def look(timeline: Timeline, settled: bool = True) -> Look:
    return Look(timeline.verdict(), timeline.state, settled, 1.0, 1.0)


def test_a_line_has_the_time_the_place_and_the_sentence() -> None:
    timeline = loading()
    assert (
        line(timeline.verdict(), timeline.state) == f"13:46:40 starting, weights (target): {timeline.verdict().summary}"
    )


def test_the_time_is_that_of_the_host() -> None:
    timeline = loading()
    timeline.add(HostSeen(at=timeline.now, node="a", system="Linux", user="x", utc_offset=-7200.0))
    assert line(timeline.verdict(), timeline.state).startswith("11:46:40 ")


def test_a_lost_connection_is_said_instead() -> None:
    timeline = loading().add(LinkChanged(at=0, status="lost", why="The cable is out."))
    assert line(timeline.verdict(), timeline.state) == "13:46:40 no connection: The cable is out."


@pytest.mark.parametrize("columns", [1, 2, 10, 40, 300])
def test_a_rewritten_line_leaves_the_last_column_free(columns: int) -> None:
    timeline = loading()
    assert cell_len(rewritten(timeline.verdict(), timeline.state, columns)) <= max(1, columns - 1)


def test_a_new_line_is_due_where_something_else_is_done() -> None:
    timeline = loading()
    before = change(timeline.verdict(), timeline.state)
    timeline.wait(5).fault_in(0).sample()
    assert change(timeline.verdict(), timeline.state) == before
    timeline.end("weights", (0, 1), role="target").begin("weights", (0, 1), role="draft")
    assert change(timeline.verdict(), timeline.state) != before


def test_a_pipe_gets_a_line_a_change_and_nothing_before_it_is_known() -> None:
    stream, timeline = StringIO(), loading()
    progress = Progress(stream, {"TERM": "xterm"})
    progress.tell(look(timeline, settled=False))
    assert stream.getvalue() == ""
    progress.tell(look(timeline))
    progress.tell(look(timeline.wait(1)))
    timeline.end("weights", (0, 1), role="target").begin("kv-cache", (0, 1), role="target")
    progress.tell(look(timeline))
    progress.end()
    assert [told.split(":")[2].split(" ", 1)[1] for told in stream.getvalue().splitlines()] == [
        "starting, weights (target)",
        "starting, kv-cache (target)",
    ]


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_dumb_terminal_is_a_pipe() -> None:
    stream = Screen()
    Progress(stream, {"TERM": "dumb"}).tell(look(loading()))
    assert stream.getvalue().endswith("\n")


def test_a_reader_that_has_gone_does_not_end_the_wait() -> None:
    class Gone(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    progress = Progress(Gone(), {})
    progress.tell(look(loading()))
    progress.end()
