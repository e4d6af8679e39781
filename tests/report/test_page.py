from __future__ import annotations

from dataclasses import replace

import pytest
from report.pages import GOLDEN, PAGES, WIDTHS, caused, failed, ready, state, text, view

from bringup.report.crew import ranges
from bringup.report.excerpts import Quoted
from bringup.report.page import flow

SECRET = "sk-demo-redact-me"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_golden_one(name: str, width: int) -> None:
    assert text(PAGES[name](), width) == (GOLDEN / f"{name}-{width}.txt").read_text("utf-8")


@pytest.mark.parametrize("width", [40, 41, 57, 80, 99, 120])
@pytest.mark.parametrize("name", PAGES)
def test_no_row_is_wider_than_the_page(name: str, width: int) -> None:
    assert max(map(len, text(PAGES[name](), width).splitlines())) <= width


def test_colours_add_nothing_to_the_words() -> None:
    import re

    coloured = text(failed(), 100, force_terminal=True, color_system="truecolor", no_color=False)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == text(failed(), 100).splitlines()


def test_what_a_log_brings_reaches_the_page_without_secrets_and_escapes() -> None:
    hostile = f"\x1b]0;owned\x07\x9b31m\u202e --api-key={SECRET} https://me:{SECRET}@host/m"
    base = failed()
    verdict = replace(
        base.verdict,
        summary=hostile,
        model=hostile,
        version=hostile,
        cause=caused("unknown", hostile, 1087, 2, hostile),
        evidence=(hostile,),
    )
    reading = replace(base.reading, name=hostile, trouble=hostile)
    explanation = replace(base, verdict=verdict, reading=reading, excerpt=())
    shown = text(explanation, 120)
    assert SECRET not in shown.replace("\n", "").replace(" ", "")
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)
    assert "***" in shown


def test_a_long_line_of_the_cause_is_cut_and_those_around_it_take_one_row() -> None:
    base = failed()
    excerpt = (Quoted(1086, "before " * 200), Quoted(1087, "word " * 400), Quoted(1088, "x" * 900))
    shown = text(replace(base, excerpt=excerpt), 80)
    assert shown.count("before") < 15
    assert shown.count("│") == 6
    assert shown.count("…") == 3


def test_wide_letters_are_not_cut_in_two() -> None:
    base = failed()
    shown = text(replace(base, excerpt=(Quoted(1087, "模型" * 300),)), 81)
    rows = [line for line in shown.splitlines() if "模" in line]
    assert len(rows) == 4
    assert all(len(row) < 60 for row in rows)


def test_warnings_of_one_kind_share_a_row() -> None:
    shown = text(ready(), 120)
    assert shown.count("unmatched-weights") == 1
    assert "and 2 more" in shown


def test_thousands_of_ranks_take_few_rows() -> None:
    base = ready()
    many = tuple(view(rank, phase="serving", progress=1.0) for rank in range(4096))
    shown = text(replace(base, verdict=replace(base.verdict, ranks=many, ranks_expected=4096), state=state(4096)), 100)
    assert "TP0 to TP4095" in shown
    assert len(shown.splitlines()) < 40


def test_ranks_are_told_as_ranges() -> None:
    attempt = state(9).attempt
    assert ranges(attempt, [0, 1, 2, 5, 7, 8]) == "TP0 to TP2, TP5, TP7, TP8"


def test_an_item_is_kept_in_one_row() -> None:
    assert flow(["aaa", "bbb", "cc"], 9) == ["aaa · bbb", "cc"]
