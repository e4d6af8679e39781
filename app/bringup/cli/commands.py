"""The commands as one application, whose help and version are answers like any other."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from bringup.cli.output import answering

Console = Annotated[Any, Parameter(parse=False)]
"""Of rich; cyclopts looks types up when it runs, and nothing else here needs rich."""
Tokens = Annotated[Any, Parameter(show=False, negative="", allow_leading_hyphen=True)]


class Commands(App):
    """An application that tells where its help or version cannot be written."""

    def help_print(self, tokens: Tokens = None, *, console: Console = None) -> None:
        """Print the help of the command that `tokens` name; raises OutputRefused."""
        with answering():
            super().help_print(tokens, console=console)

    def version_print(self, console: Console = None) -> None:
        """Print the version; raises OutputRefused."""
        with answering():
            super().version_print(console)
