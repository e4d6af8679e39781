"""Which servers a read-only target protects: all on its hosts that are not known to be others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.config.guards import Guard, Subject, Way, guard_of
from bringup.config.shapes import Target

PORTS = st.sampled_from([8000, 8001])
LOGS = st.sampled_from(["/a.log", "/b.log"])
WAYS: st.SearchStrategy[Way] = st.sampled_from(
    [("docker", "llm"), ("docker", "other"), ("unit", "llm"), ("unit", "llm.service"), ("kube", "a/b"), ("slurm", "4")]
)
GUARDS = st.builds(
    Guard, st.just("kimi"), port=st.none() | PORTS, log=st.just("") | LOGS, way=st.none() | WAYS, own=st.booleans()
)
SUBJECTS = st.builds(
    Subject,
    port=st.none() | PORTS,
    log=st.just("") | LOGS,
    writes=st.frozensets(LOGS),
    ways=st.lists(WAYS, max_size=2).map(tuple),
)


@settings(deadline=None)
@given(GUARDS, SUBJECTS)
def test_what_is_not_known_to_be_another_server_is_protected(guard: Guard, subject: Subject) -> None:
    known = {
        "port": guard.port is not None and subject.port not in (None, guard.port),
        "same port": guard.port is not None and subject.port == guard.port,
        "log": bool(guard.log) and guard.log not in subject.writes and subject.log not in ("", guard.log),
        "way": guard.way is not None and any(names_another(guard.way, way) for way in subject.ways),
    }
    another = known["port"] or known["way"] or (known["log"] and not known["same port"])
    assert guard.covers(subject) == (guard.own or not another)


def names_another(one: Way, other: Way) -> bool:
    return one[0] == other[0] and one[1].removesuffix(".service") != other[1].removesuffix(".service")


@settings(deadline=None)
@given(GUARDS, SUBJECTS)
def test_nothing_that_is_named_less_is_protected_less(guard: Guard, subject: Subject) -> None:
    """What is not known can only protect."""
    less = [replace(subject, port=None, log=""), replace(subject, ways=()), Subject()]
    if guard.covers(subject):
        assert all(guard.covers(each) for each in less)
    assert guard.covers(Subject())


@settings(deadline=None)
@given(GUARDS, SUBJECTS, SUBJECTS)
def test_what_is_certain_stays_so_whatever_is_found_out(guard: Guard, subject: Subject, found: Subject) -> None:
    if guard.is_certain(subject):
        more = replace(
            subject,
            port=subject.port or found.port,
            log=subject.log or found.log,
            writes=subject.writes | found.writes,
        )
        assert guard.covers(more)


@settings(deadline=None)
@given(SUBJECTS)
def test_what_names_nothing_but_the_host_is_all_of_it(subject: Subject) -> None:
    assert Guard("kimi").covers(subject)
    assert Guard("kimi").is_certain(subject)


@pytest.mark.parametrize(
    ("mine", "theirs", "protects"),
    [
        (("docker", "llm"), ("docker", "llm"), True),
        (("docker", "llm"), ("docker", "other"), False),
        (("docker", "4f3c1a0b9d8e"), ("docker", "llm"), True),
        (("docker", "4f3c1a0b9d8e"), ("docker", "4f3c1a0b9d8e7f6a"), True),
        (("docker", "4f3c1a0b9d8e"), ("docker", "aaaaaaaaaaaa"), False),
        (("unit", "llm"), ("unit", "llm.service"), True),
        (("unit", "llm"), ("unit", "user/llm"), False),
        (("unit", "v1.2"), ("unit", "v1.2.service"), True),
        (("kube", "default/llm-0"), ("kube", "default/llm-0/engine"), True),
        (("kube", "default/llm-0"), ("kube", "default/llm-1"), False),
        (("slurm", "4711"), ("slurm", "4712"), False),
        (("slurm", "4711_3"), ("slurm", "4714"), True),
        (("slurm", "4711@n1"), ("slurm", "4711"), True),
        # A unit may run the container.
        (("docker", "llm"), ("unit", "other"), True),
    ],
)
def test_two_names_of_a_kind(mine: Way, theirs: Way, protects: bool) -> None:
    assert Guard("kimi", way=mine).covers(Subject(ways=(theirs,))) is protects
    assert Guard("kimi", way=theirs).covers(Subject(ways=(mine,))) is protects


def test_a_target_says_what_it_protects_and_how_that_is_turned_off() -> None:
    guard = guard_of("kimi", Target(host="gpu-a", port=8000, log="/a.log", read_only=True), "/c.toml, line 4")
    assert guard == Guard("kimi", "/c.toml, line 4", 8000, "/a.log")
    told = guard.sentence(Subject(port=8000))
    assert told == "The target kimi is read-only, and this is its server (port 8000): nothing is done to it."
    assert guard.hint(Subject(port=8000)) == "Take `read-only` away from [targets.kimi], /c.toml, line 4, to allow it."
    assert "this may be its server" in guard.sentence(Subject())
    assert guard.hint(Subject()).endswith("If it is another server, name that by its own port.")
    assert guard_of("pod", Target(kube="a/b")).hint(Subject()).endswith("give that target its port.")
    whole = guard_of("all", Target(host="gpu-a"))
    assert "it is all of this host" in whole.sentence(Subject(port=1))
    assert whole.hint(Subject(port=1)).endswith("With a port or a log of its own that target is of one server only.")
    own = replace(whole, own=True)
    assert own.sentence(Subject()).startswith("The configuration says that all is read-only")
    assert own.hint(Subject()) == "Take `read-only` away from [targets.all] to allow it."
