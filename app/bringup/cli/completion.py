"""`bringup completion SHELL`: the script that completes commands, options and target names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cyclopts import App

Shell = Literal["bash", "zsh", "fish"]


def make_completion(build: Callable[[], App]) -> Callable[[Shell], int]:
    """Return the command for the commands that `build` assembles."""

    def completion(shell: Shell, /) -> int:
        """Print the script that lets a shell complete commands, options and target names.

        bash: bringup completion bash > ~/.local/share/bash-completion/completions/bringup

        zsh: bringup completion zsh > ~/.zfunc/_bringup, with ~/.zfunc in fpath before compinit

        fish: bringup completion fish > ~/.config/fish/completions/bringup.fish

        Parameters
        ----------
        shell
            bash, zsh or fish.
        """
        from bringup.cli.output import emit

        emit(build().generate_completion(prog_name="bringup", shell=shell))
        return 0

    return completion
