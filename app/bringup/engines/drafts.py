"""The draft classes of the engines, read from drafts.toml."""

from __future__ import annotations

import tomllib
from importlib import resources

from bringup.core.drafts import DraftClass, parse_drafts

_FILE = "drafts.toml"


def load_drafts() -> tuple[DraftClass, ...]:
    """Return the draft classes that ship with bringup."""
    text = resources.files("bringup.engines").joinpath(_FILE).read_text("utf-8")
    return parse_drafts(tomllib.loads(text), _FILE)
