"""`bringup history [TARGET]`: earlier starts, phase by phase."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import target_names
from bringup.cli.output import emit, emit_page, tell
from bringup.cli.own_files import complain
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.history.records import StartRow
    from bringup.history.store import Store

_MOST = 100_000
_YES = frozenset({"y", "yes"})


def history(
    target: Annotated[str, Parameter(show_default=False, completer=target_names)] = "",
    /,
    *,
    limit: int = 20,
    actions: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    compare: Annotated[tuple[int, int] | None, Parameter(negative="", show_default=False)] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
    csv: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    clear: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    yes: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """List the starts that were watched, phase by phase, with how they ended and what they took; or what was done.

    Parameters
    ----------
    target
        Only starts on this host, by the name you watch it by or its own. Nothing for all.
    limit
        List so many, the newest.
    actions
        List what was done to servers instead: each stop, restart, launch and clearing, by whom, and what came of it.
    compare
        Two numbers of the list: what the second start took longer or shorter for than the first. "Usual" is the median
        of the starts of its command that became ready, where there are three.
    as_json
        Print them as JSON, schema version 1.
    csv
        Print them as CSV, one row a phase.
    clear
        Forget them, after a question.
    yes
        Forget them without one.
    """
    _refuse(limit, compare, as_json=as_json, csv=csv, clear=clear, yes=yes)
    if actions:
        if compare is not None or csv or clear:
            raise UsageError("--actions lists what was done to servers.", "Use it with a host, --limit and --json.")
        return _list_actions(target, limit, as_json=as_json)
    from bringup.cli.memory import history_of
    from bringup.cli.targets import configuration

    store = history_of(configuration(), os.environ)
    try:
        if clear:
            return _clear(store, target, yes=yes)
        if compare is not None:
            return _compare(store, target, *compare, as_json=as_json)
        return _list(store, target, limit, as_json=as_json, csv=csv)
    finally:
        if store.notice:
            complain(store.notice)


def _refuse(limit: int, compare: tuple[int, int] | None, *, as_json: bool, csv: bool, clear: bool, yes: bool) -> None:
    """Raise UsageError for what does not go together."""
    if not 1 <= limit <= _MOST:
        raise UsageError(f"{limit} starts cannot be listed.", f"Give --limit a number from 1 to {_MOST}.")
    if as_json and csv:
        raise UsageError("--json and --csv exclude each other.", "Choose one of them.")
    if csv and compare is not None:
        raise UsageError("A comparison is no CSV.", "Use --json, or --csv without --compare.")
    if clear and (compare is not None or as_json or csv):
        raise UsageError("--clear forgets starts, it does not show them.", "Use it with nothing but a host and --yes.")
    if yes and not clear:
        raise UsageError("--yes goes with --clear only.", "Nothing else asks anything.")


def _list(store: Store, target: str, limit: int, *, as_json: bool, csv: bool) -> int:
    starts = store.starts(target, limit)
    if as_json or csv:
        from bringup.report.history.files import to_csv, to_json

        emit(to_json(starts) if as_json else to_csv(starts))
        return 0
    if not starts:
        emit(f"{_nothing(store, target)}\n")
        return 0
    from bringup.report.history.listing import page

    kept = {start.key: store.alike(start) for start in starts}
    hidden = max(0, store.count(target) - len(starts))
    emit_page(lambda width: page(starts, kept, width, hidden=hidden))
    return 0


def _list_actions(target: str, limit: int, *, as_json: bool) -> int:
    from bringup.cli.memory import actions_of
    from bringup.report.history.actions import page, to_json

    try:
        rows = actions_of(os.environ).read(target, limit)
    except OSError as error:
        what = f"The log of actions cannot be read: {error.strerror or error}."
        raise BringupError(what, "BRINGUP_DATA_DIR names another folder.") from error
    if as_json:
        emit(to_json(rows))
    elif rows:
        emit_page(lambda width: page(rows, width))
    else:
        emit(f"Nothing was done to a server{f' on {target}' if target else ''} from this machine.\n")
    return 0


def _nothing(store: Store, target: str) -> str:
    of = f" of {target}" if target else ""
    others = (
        f" There are {store.count()} of other hosts; `bringup history` lists them." if target and store.count() else ""
    )
    return f"No start{of} has been watched to its end yet.{others} A start is kept when `bringup` sees it end."


def _compare(store: Store, target: str, first: int, second: int, *, as_json: bool) -> int:
    from bringup.report.history.comparison import compare

    one, two = _numbered(store, target, first), _numbered(store, target, second)
    found = compare(one, two, store.alike(two))
    if as_json:
        from bringup.report.history.files import comparison_to_json

        emit(comparison_to_json(found))
    else:
        from bringup.report.history.side_by_side import page

        emit_page(lambda width: page(found, width))
    return 0


def _numbered(store: Store, target: str, number: int) -> StartRow:
    start = store.start(number)
    if start is None:
        raise UsageError(f"There is no start {number}.", "`bringup history` lists them with their numbers.")
    if target and target not in (start.target, start.key.host):
        what = f"Start {number} is of {start.target or start.key.host}, not of {target}."
        raise UsageError(what, "Leave the host out to compare starts of different hosts.")
    return start


def _clear(store: Store, target: str, *, yes: bool) -> int:
    count = store.count(target)
    of = f" of {target}" if target else ""
    if not count:
        emit(f"There is no start{of} to forget.\n")
        return 0
    if not yes and not _agrees(f"Forget {count} start{'s' if count > 1 else ''}{of}? [y/N] "):
        raise BringupError("Nothing was forgotten.", "Answer y, or give --yes.")
    forgotten = store.clear(target)
    emit(f"{forgotten} start{'s are' if forgotten != 1 else ' is'} forgotten.\n")
    return 0


def _agrees(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("There is nobody to ask whether the starts are to be forgotten.", "Give --yes.")
    tell(question)
    return sys.stdin.readline().strip().lower() in _YES
