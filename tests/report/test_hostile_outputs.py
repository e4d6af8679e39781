"""Whatever a host says, every output but the screen holds text and nothing else, and no secret."""

from __future__ import annotations

import html
import io
import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace

import msgspec
import paststarts
import pytest
from rich.console import Console, RenderableType
from ui.scenes import EVIL, OTHER, hostile

from bringup.cli import complain
from bringup.cli.crash import told
from bringup.core.defects import failure_of
from bringup.core.errors import BringupError
from bringup.core.events import Process, ProcessesSeen, ServerFound
from bringup.core.verdict import Advisory, Cause
from bringup.hosts.diagnose import Section
from bringup.hosts.recording import Header, Recording
from bringup.recordings.rows import to_row
from bringup.report import replaying
from bringup.report.accounts import of_host
from bringup.report.contract import to_json
from bringup.report.diagnosis import diagnosis
from bringup.report.drawing.picture import picture
from bringup.report.excerpts import Quoted, shown
from bringup.report.explanation import Explanation, Reading
from bringup.report.history import comparison, files, listing, side_by_side
from bringup.report.html.page import page as html_page
from bringup.report.markdown import markdown
from bringup.report.page import page
from bringup.report.plan import plan_page
from bringup.report.progress import line, rewritten
from bringup.report.status import status_page
from bringup.session.console import Findings, StopPlan
from bringup.ui.announce import sequences
from bringup.ui.voice import Voice

RAW = EVIL.replace("\n", " ").encode("utf-8", "surrogateescape")
CONSOLE = hostile()
STATE = CONSOLE.state
VERDICT = replace(
    CONSOLE.verdict(),
    summary=EVIL,
    evidence=(EVIL,),
    model=EVIL,
    draft_model=EVIL,
    version=EVIL,
    engine=EVIL,
    cause=Cause("unknown", EVIL, 3, 1, secondary=False, advice=EVIL),
    warnings=(Advisory("channel-missing", EVIL, EVIL),),
    eta_basis=EVIL,
)
KEY = replace(paststarts.KEY, host=EVIL, engine=EVIL, model=EVIL, draft=EVIL)
START = paststarts.start(1, key=KEY, target=EVIL, version=EVIL, cause=EVIL)
START = replace(START, phases=tuple(replace(row, part=EVIL) for row in START.phases)).harmless()
PROCESS = Process(pid=9, ppid=1, start=1, title=EVIL, comm=EVIL, user=EVIL)
SERVER = replace(OTHER, model=EVIL, engine=EVIL, user=EVIL, argv=("python", EVIL), cwd=EVIL)
PLAN = StopPlan(
    node=EVIL, server=SERVER, command=EVIL, members=(PROCESS,), bystanders=(PROCESS,), log=EVIL, swept=(PROCESS,),
    stop_command=EVIL, start_command=EVIL, log_fate=EVIL, launched_by=EVIL, unused=EVIL,
)  # fmt: skip
READING = Reading(EVIL, 1, 1, 1, None, None, EVIL)
EXPLANATION = Explanation(VERDICT, STATE, READING, 0.0, (EVIL,), (Quoted(3, shown(RAW)),))
MOMENT = replaying.Moment(1.0, VERDICT, STATE)
RECORDING = Recording(Header("", "", "", "", EVIL), (), 0.0)
ACCOUNT = of_host(EVIL, STATE, VERDICT, (), (RAW, RAW))
FINDINGS = Findings((Section(EVIL, EVIL),), (RAW,))


def raised() -> BaseException:
    try:
        raise RuntimeError(EVIL)
    except RuntimeError as error:
        return error


def drawn(what: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=120, markup=False, emoji=False, highlight=False, no_color=True)
    console.print(what)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


OUTPUTS: dict[str, Callable[[], str]] = {
    "status": lambda: drawn(status_page(VERDICT, STATE, EVIL, 120)),
    "explain": lambda: drawn(page(EXPLANATION, 120)),
    "status --json": lambda: to_json(VERDICT),
    "replay": lambda: replaying.to_text(MOMENT),
    "replay --json": lambda: replaying.to_json(MOMENT, RECORDING),
    "wait": lambda: line(VERDICT, STATE),
    "wait, once connected": lambda: line(VERDICT, replace(STATE, link=replace(STATE.link, status="up"))),
    "wait on a terminal": lambda: rewritten(VERDICT, STATE, 300),
    "stop": lambda: drawn(plan_page(PLAN, 120, restart=False)),
    "restart": lambda: drawn(plan_page(PLAN, 120, restart=True)),
    "history": lambda: drawn(listing.page([START], {START.key: [START]}, 120)),
    "history --compare": lambda: drawn(side_by_side.page(comparison.compare(START, START, [START]), 120)),
    "history --json": lambda: files.to_json([START]),
    "history --csv": lambda: files.to_csv([START]),
    "diagnosis": lambda: diagnosis(EVIL, VERDICT, FINDINGS),
    "report as HTML": lambda: html_page(ACCOUNT),
    "report as Markdown": lambda: markdown(ACCOUNT),
    "report as SVG": lambda: picture(ACCOUNT),
    "notification": lambda: sequences(Voice(bell=False), EVIL)[len("\x1b]9;") : -len("\x1b\\")],
    "crash report": lambda: "\n".join(told(failure_of(raised()))),
    "sentence": lambda: str(failure_of(raised())),
}


def letters(text: str) -> list[str]:
    """The letters that are no text; lines and blanks are the output's own."""
    bad = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return sorted({each for each in text if unicodedata.category(each) in bad and each not in "\n\r\u00ad"})


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_holds_text_and_no_secret(name: str) -> None:
    text = OUTPUTS[name]()
    assert text.strip()
    texts = [text]
    if "json" in name:
        texts.append("\n".join(words(json.loads(text))))
    if name == "report as HTML":
        assert "<script" not in text
        texts.append(html.unescape(text))
    for each in texts:
        each.encode()
        assert not letters(each)
        assert "hunter2" not in each
        assert "aGk=" not in each


def words(value: object) -> list[str]:
    """Every text in a value made of JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in words(item)]
    return [text for item in value for text in words(item)] if isinstance(value, list) else []


def test_errors_on_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_TRACEBACK", "1")
    assert complain(BringupError(EVIL, EVIL)) == 1
    assert complain(failure_of(raised())) == 1
    said = capsys.readouterr().err
    assert "RuntimeError" in said
    assert not letters(said)
    assert "hunter2" not in said


def test_a_recording_holds_no_secret_and_only_json() -> None:
    seen, found = ProcessesSeen(at=1.0, root=9, processes=(PROCESS,)), ServerFound(at=1.0, server=SERVER)
    for event in (seen, found):
        row = to_row(1.0, event)
        assert b"hunter2" not in row
        assert not letters(row.decode())
        assert msgspec.json.decode(row.replace(rb"\udcff", b"?"))
