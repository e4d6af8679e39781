"""The rules in use as a list: engines, wrappers, and a user's own files with what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bringup.core.sanitize import clean_text
from bringup.core.words import count
from bringup.report.own_rules import OwnFile, Rules

_SHIPPED = "built in"


def listing(rules: Rules) -> RenderableType:
    """Return the list for a person."""
    known = Table.grid(padding=(0, 3))
    for name, number, source in _known(rules):
        known.add_row(Text(clean_text(name), "bold"), Text(number), Text(clean_text(source), "dim"))
    own = Text.assemble(("own files  ", "dim"), clean_text(str(rules.folder)))
    if not rules.files:
        own.append("  none there" if rules.folder.is_dir() else "  there is no such folder", "dim")
    return Group(known, Text(), own, *(_file(file) for file in rules.files))


def to_json(rules: Rules) -> str:
    """Return the list for a program."""
    content = {
        "engines": [
            {
                "name": engine.name,
                "title": engine.title,
                "rules": len(engine.rules),
                "from": _sources(rules, engine.name),
            }
            for engine in rules.engines
        ],
        "wrappers": len(rules.wrappers.wrappers),
        "folder": str(rules.folder),
        "files": [
            {"path": str(file.path), "adds": file.adds, "problem": file.problem, "line": file.line}
            for file in rules.files
        ],
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _known(rules: Rules) -> Iterator[tuple[str, str, str]]:
    for engine in rules.engines:
        yield (
            engine.title,
            f"{count(len(engine.rules), 'rule')}, {count(len(engine.headers), 'header')}",
            ", ".join(_sources(rules, engine.name)),
        )
    wrappers = rules.wrappers
    own = [file.path.name for file in rules.files if file.extends is None and not file.problem]
    told = f"{count(len(wrappers.wrappers), 'kind')}, {count(len(wrappers.rules), 'rule')}"
    yield "Wrappers", told, ", ".join([*own, _SHIPPED])


def _sources(rules: Rules, engine: str) -> list[str]:
    """Return where the rules of an engine come from, in the order in which they are tried."""
    own = [file.path.name for file in rules.files if file.extends == engine and not file.problem]
    return [*own, _SHIPPED] if engine in rules.shipped else own


def _file(file: OwnFile) -> Text:
    name = clean_text(file.path.name)
    if not file.problem:
        return Text.assemble(("  ✓ ", "green"), (name, "bold"), f"  {clean_text(file.adds)}")
    where = f", line {file.line}" if file.line is not None else ""
    return Text.assemble(("  ✕ ", "bold red"), (f"{name}{where}", "bold"), f"  left out: {clean_text(file.problem)}")
