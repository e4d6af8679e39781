"""The operator's own keys, held against the actions and keys that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bringup.config.check import Mistake, suggestion
from bringup.config.reading import MORE
from bringup.config.shapes import Config
from bringup.core.errors import UsageError
from bringup.ui.keys import KEYS


def own_keys(config: Config) -> dict[str, str]:
    """Return the operator's own keys by action; raises UsageError where one of them cannot be.

    A console with them could stop a server by a key that was meant for something else.
    """
    wrong = next(key_mistakes(config), None)
    if wrong is not None:
        raise UsageError(f"[keys] in the configuration: {wrong.what} {wrong.expected}", MORE)
    return config.keys


def key_mistakes(config: Config) -> Iterator[Mistake]:
    """Yield what is wrong with [keys]: an action or a key that there is not, or a key with two meanings."""
    taken = {key.id: _names(config.keys.get(key.id, key.keys)) for key in KEYS}
    scopes = {key.id: key.scope for key in KEYS}
    destructive = {key.id for key in KEYS if key.destructive}
    for action, keys in config.keys.items():
        path = ("keys", action)
        if action not in taken:
            yield Mistake(path, f"There is no action {action!r}.", suggestion(action, list(taken)))
            continue
        for name in _names(keys):
            if not _is_key(name):
                yield Mistake(
                    path, f"There is no key {name!r}.", 'Expected keys such as "x", "ctrl+x", "f5", "full_stop".'
                )
            elif action in destructive and not _is_deliberate(name):
                yield Mistake(path, f"{name!r} is pressed too easily for {action}.", 'Expected a capital: "X".')
            twice = [
                other for other in taken if other != action and name in taken[other] and _meet(scopes, action, other)
            ]
            if twice:
                yield Mistake(
                    path, f"{name!r} is the key of {twice[0]}, too.", "Expected a key of its own for each action."
                )


def _names(keys: str) -> list[str]:
    return [name.strip() for name in keys.split(",")]


def _meet(scopes: Mapping[str, str], one: str, other: str) -> bool:
    """The panels' own keys come before those of the whole screen; among the panels they do not meet."""
    inner = {scopes[one], scopes[other]} - {"app", "watch"}
    return not inner or scopes[one] == scopes[other]


def _is_deliberate(name: str) -> bool:
    """What cannot be undone is on a capital, which nobody presses by the way."""
    return name.isupper() and len(name) == 1


def _is_key(name: str) -> bool:
    from textual.keys import KEY_NAME_REPLACEMENTS, Keys

    *modifiers, last = name.split("+")
    if any(modifier not in ("ctrl", "shift", "alt") for modifier in modifiers):
        return False
    known = {key.value for key in Keys} | set(KEY_NAME_REPLACEMENTS) | set(KEY_NAME_REPLACEMENTS.values())
    return len(last) == 1 or name in known or last in known or _is_unicode_name(last)


def _is_unicode_name(name: str) -> bool:
    import unicodedata

    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True
