"""The HOST of a command line, which the shell can complete from the targets of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext


def target_names(_: CompletionContext) -> Mapping[str, str]:
    """Return the targets of the configuration, each with its host; none where the configuration is broken."""
    from bringup.cli.targets import configuration
    from bringup.core.errors import BringupError

    try:
        config = configuration()
    except BringupError:
        return {}
    targets = config.targets if config is not None else {}
    return {name: ", ".join(target.hosts or [target.host or "this machine"]) for name, target in targets.items()}


Host = Annotated[str | None, Parameter(completer=target_names)]
Hosts = Annotated[str, Parameter(completer=target_names)]
"""One of several of them."""
