"""The last door before an output: nothing that a log brought leaves with a secret or an escape sequence in it."""

from __future__ import annotations

from bringup.core.redact import mask
from bringup.core.sanitize import clean_text


def harmless(text: str) -> str:
    """Return text that a terminal only prints, with secrets replaced by asterisks."""
    return mask(clean_text(text))
