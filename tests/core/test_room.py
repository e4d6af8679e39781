"""A disk that is full: told in the evidence and as a warning while it is, and taken back when there is room."""

from timeline import loading

from bringup.core.events import LogOpened, LogRoom
from bringup.core.reduce import reduce


def test_a_full_disk_is_evidence_and_a_warning_until_there_is_room():
    line = loading(2).spawn(2).bar(3, 24)
    line.add(LogRoom(at=line.now, full="/var/log", free=0))
    verdict = line.verdict(2)
    assert "log: it cannot grow, the disk of /var/log is full" in verdict.evidence
    assert [(one.kind, one.detail) for one in verdict.warnings if one.kind == "log-gap"] == [
        ("log-gap", "The disk of the log (/var/log) is full: what the server writes is lost")
    ]
    assert verdict.state == "starting", "the server need not know"
    line.add(LogRoom(at=line.now, full="", free=1 << 30))
    verdict = line.verdict(2)
    assert not any("full" in told for told in verdict.evidence)
    assert not any(one.kind == "log-gap" for one in verdict.warnings)


def test_nothing_changes_while_there_is_room():
    state = loading(2).state
    assert reduce(state, LogRoom(at=1.0, full="", free=5 << 30)) is state


def test_another_log_is_on_another_disk():
    line = loading(2)
    line.add(LogRoom(at=line.now, full="/var/log"), LogOpened(at=line.now, path="/data/other.log", kind="file"))
    assert line.state.log.full == ""
