"""The keys as data: no two of them clash, and what touches the server is marked."""

from __future__ import annotations

import pytest

from bringup.ui.keys import GROUPS, KEYS, Scope, bindings, shown
from bringup.ui.paint.help import paint_help
from bringup.ui.paint.row import plain, width_of


def test_ids_are_unique_and_groups_known() -> None:
    assert len({key.id for key in KEYS}) == len(KEYS)
    assert {key.group for key in KEYS} == set(GROUPS)


@pytest.mark.parametrize("scope", ["log", "ranks"])
def test_no_key_means_two_things_at_once(scope: Scope) -> None:
    taken = [name for key in KEYS if key.scope in (scope, "app", "watch") for name in key.keys.split(",")]
    assert sorted(taken) == sorted(set(taken))
    assert bindings(scope)


def test_what_touches_the_server_is_a_capital_and_gone_in_read_only_mode() -> None:
    destructive = [key for key in KEYS if key.destructive]
    assert [key.id for key in destructive] == ["restart", "kill"]
    assert all(key.keys.isupper() and key not in shown(read_only=True) for key in destructive)


def test_keys_of_later_work_are_not_bound() -> None:
    taken = {name for key in KEYS for name in key.keys.split(",")}
    assert not taken & {"ctrl+r"}


@pytest.mark.parametrize("width", [56, 78, 110])
def test_the_help_names_every_key_and_fits(width: int) -> None:
    rows = paint_help(width, read_only=False)
    text = "\n".join(plain(row) for row in rows)
    for key in KEYS:
        assert key.shown in text, key.id
    assert max(width_of(row) for row in rows) <= width
    assert "K " not in "\n".join(plain(row)[:6] for row in paint_help(width, read_only=True))
