"""Find the stylesheets, in a wheel and in a checkout.

A repository keeps them in `styles/`, beside `app/`; a wheel carries the same files as `bringup/styles/`. A checkout is
read in place, so that a change is seen without building anything.
"""

from __future__ import annotations

from pathlib import Path, PurePath

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_WHEEL, _IN_CHECKOUT = _PACKAGE / "styles", _PACKAGE.parents[1] / "styles"


def css(*names: str) -> list[str | PurePath]:
    """Return the paths of the named stylesheets, in cascade order."""
    home = _IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT
    return [home / f"{name}.tcss" for name in names]
