"""What the command line got wrong, in words of the command line instead of Python's."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from cyclopts.exceptions import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from bringup.core.errors import UsageError

ONE_HOST = ("restart",)
TAKES: Mapping[object, str] = {int: "takes a whole number", float: "takes a number", bool: "takes no value"}


def explained(error: CycloptsError) -> UsageError:
    """Return the sentence for a command line that cannot be understood."""
    command = " ".join(error.command_chain or ())
    if command:
        return UsageError(_sentence(error), f"`bringup {command} --help` lists what it takes.")
    return UsageError(_sentence(error), "`bringup --help` lists the commands.")


def _sentence(error: CycloptsError) -> str:
    name = error.argument.name if error.argument is not None else ""
    match error:
        case CoercionError(token=token, target_type=kind) if token is not None and kind in TAKES:
            return f"{name} {TAKES[kind]}, and {token.value!r} was given."
        case UnusedCliTokensError() if error.command_chain and error.command_chain[0] in ONE_HOST:
            return f"A {error.command_chain[0]} is of one host: {shlex.join(error.unused_tokens or ())} is too much."
        case UnusedCliTokensError():
            return f"That is too much: {shlex.join(error.unused_tokens or ())}."
        case UnknownOptionError():
            return f"Unknown option: {error.token.keyword or error.token.value}."
        case MissingArgumentError():
            return f"{name} needs a value."
        case RepeatArgumentError():
            return f"{error.token.keyword or name} is given more than once."
        case _:
            return str(error).strip()
