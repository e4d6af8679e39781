from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest
from report.pages import PAGES, START, WAITING, caused, failed, slow, untimed

from bringup.core.verdict import Advisory, Countdown
from bringup.report.contract import Contract, contract, moment, to_json

FIELDS = [
    *("schema", "state", "phase", "role", "summary", "engine", "version", "attempt", "model", "draft_model", "port"),
    *("now", "stale_s", "ranks_expected", "ranks_done", "ranks", "bar", "phases", "eta_s", "failed_ranks", "cause"),
    *("warnings", "evidence", "accept_len"),
]
NEVER_NULL = {"schema", "state", "summary", "attempt", "now"}
LISTS = {"ranks_done", "ranks", "phases", "failed_ranks", "warnings", "evidence"}
RANK = ["rank", "node", "labels", "pid", "gpu", "phase", "role", "progress", "source", "quiet_s", "part"]


@pytest.mark.parametrize("name", PAGES)
def test_the_json_is_what_the_types_say(name: str) -> None:
    written = to_json(PAGES[name]().verdict)
    assert msgspec.json.decode(written, type=Contract, strict=True) == contract(PAGES[name]().verdict)
    assert list(json.loads(written)) == FIELDS


def test_the_parts_keep_their_names() -> None:
    told = json.loads(to_json(failed().verdict))
    assert list(told["ranks"][0]) == RANK
    assert list(told["phases"][0]) == ["phase", "role", "started", "seconds", "ended"]
    assert list(told["cause"]) == ["kind", "line", "line_number", "rank", "secondary", "advice"]
    assert told["ranks"][3]["labels"] == {"tp": 3}
    assert told["schema"] == 1


def test_what_is_not_known_is_null() -> None:
    told = json.loads(to_json(WAITING))
    empty = {name for name, value in told.items() if value is None}
    assert empty == set(FIELDS) - NEVER_NULL - LISTS
    bare = json.loads(to_json(replace(WAITING, now=0.0, model="")))
    assert bare["now"] is None
    assert bare["model"] is None


def test_a_log_without_times_has_phases_without_times() -> None:
    (phase,) = json.loads(to_json(untimed().verdict))["phases"]
    assert phase == {"phase": "launch", "role": None, "started": None, "seconds": None, "ended": False}


def test_times_carry_the_zone_where_it_is_known() -> None:
    assert moment(START, None) == "2026-03-02T09:14:14"
    assert moment(START + 0.25, None) == "2026-03-02T09:14:14.250"
    assert moment(START, 7200.0) == "2026-03-02T11:14:14.000+02:00"
    assert moment(None, None) is None


def test_no_date_and_no_year_is_made_up() -> None:
    assert moment(78_830.0, None) == "21:53:50"
    assert moment(957_086_054.0, None) == "--04-30T09:14:14"


def test_the_time_left_is_a_range() -> None:
    assert json.loads(to_json(slow().verdict))["eta_s"] == [60.0, 140.0]


def test_no_secret_and_no_escape_leaves_in_the_json() -> None:
    secret = "sk-demo-redact-me"
    hostile = f"\x1b[2J\x9b1m api_key='{secret}' HF_TOKEN={secret} http://u:{secret}@h/"
    cause = caused("unknown", hostile, 1, 0, hostile)
    verdict = replace(
        failed().verdict,
        summary=hostile,
        version=hostile,
        model=hostile,
        draft_model=hostile,
        cause=cause,
        warnings=(Advisory("memory-tight", hostile),),
        evidence=(hostile,),
        ranks=tuple(replace(view, node=hostile) for view in failed().verdict.ranks),
    )
    told = to_json(verdict)
    assert secret not in told
    assert "\\u001b" not in told
    assert not {"\x1b", "\x9b"} & set(told)


def test_a_hang_and_a_time_limit_are_told_where_there_are_any() -> None:
    limit = Countdown("the load barrier", 41.26, 480.0, (3,), "300 s before SGLang 0.5.6")
    written = to_json(replace(WAITING, state="stalled", hang="waits-for-one", countdown=limit))
    told = json.loads(written)
    assert list(told) == [*FIELDS, "hang", "countdown"]
    assert told["hang"] == "waits-for-one"
    assert told["countdown"] == {"name": "the load barrier", "left_s": 41.3, "limit_s": 480.0, "waits_for": [3]}
    assert msgspec.json.decode(written, type=Contract, strict=True).countdown is not None
