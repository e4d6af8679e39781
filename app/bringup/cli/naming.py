"""What the shell can complete on a command line beside its words: targets, files, themes, scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

_MOST_FILES = 1000


def target_names(_: CompletionContext) -> Mapping[str, str]:
    """Return the targets of the configuration, each with its host; none where the configuration is broken."""
    from bringup.cli.targets import configuration
    from bringup.core.errors import BringupError
    from bringup.report.commands import THIS_MACHINE

    try:
        config = configuration()
    except BringupError:
        return {}
    targets = config.targets if config is not None else {}
    return {name: ", ".join(target.hosts or [target.host or THIS_MACHINE]) for name, target in targets.items()}


def file_names(context: CompletionContext) -> Iterator[str]:
    """Yield the files that begin with what was typed; a folder that is the only one is looked into."""
    typed = context.incomplete
    found = _beginning_with(typed)
    while len(found) == 1 and found[0].endswith("/"):
        found = _beginning_with(found[0])
    yield from found


def targets_and_files(context: CompletionContext) -> Iterator[tuple[str, str]]:
    """Yield the targets of the configuration, each with its host, and the files."""
    yield from target_names(context).items()
    for name in file_names(context):
        yield name, ""


def theme_names(_: CompletionContext) -> tuple[str, ...]:
    """Return the themes as a configuration names them."""
    from bringup.ui.terminal import OWN_THEME
    from bringup.ui.theme import NAMES

    return tuple(sorted(name.removeprefix(OWN_THEME) for name in NAMES))


def scenario_names(_: CompletionContext) -> Mapping[str, str]:
    """Return the scenarios of the demo, each with its title."""
    from bringup.demo import scenarios

    titles = {name: scenarios.load(name).title for name in scenarios.names()}
    return {**titles, "list": "Say what there is."}


def _beginning_with(typed: str) -> list[str]:
    folder, _, begin = typed.rpartition("/")
    where = Path(f"{folder}/" if "/" in typed else ".").expanduser()
    try:
        entries = sorted(where.iterdir())
    except (OSError, RuntimeError):
        return []
    shown = [entry for entry in entries if entry.name.startswith(begin) and (begin or not entry.name.startswith("."))]
    before = f"{folder}/" if "/" in typed else ""
    return [f"{before}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown[:_MOST_FILES]]


Host = Annotated[str | None, Parameter(completer=target_names)]
Hosts = Annotated[str, Parameter(completer=target_names)]
"""One of several of them."""
Theme = Annotated[str | None, Parameter(completer=theme_names)]
