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


def test_keys_of_a_replay_are_shown_there_only() -> None:
    live, played = (frozenset(shown(read_only=True, replay=replay)) for replay in (False, True))
    assert {key.scope for key in live} & {"replay"} == set()
    assert {key for key in KEYS if key.scope == "replay"} < played
    assert {"record", "kill", "restart", "diagnose"} & {key.id for key in played} == set()


def test_no_key_means_two_things_in_a_replay() -> None:
    # What moves the recording is heard before the log is: `space`, the arrows, `home` and `end` mean that only.
    taken = [name for key in KEYS if key.scope == "replay" for name in key.keys.split(",")]
    others = [name for key in KEYS if key.scope in ("app", "watch") for name in key.keys.split(",")]
    assert sorted(taken) == sorted(set(taken))
    assert set(taken) & set(others) == {"end"}


@pytest.mark.parametrize("width", [56, 78, 110])
def test_the_help_names_every_key_and_fits(width: int) -> None:
    for replay in (False, True):
        rows = paint_help(width, read_only="A recording." if replay else "", replay=replay)
        text = "\n".join(plain(row) for row in rows)
        for key in shown(read_only=False, replay=replay):
            assert key.shown in text, key.id
        assert max(width_of(row) for row in rows) <= width
    assert "K " not in "\n".join(plain(row)[:6] for row in paint_help(width, read_only="Read-only."))
