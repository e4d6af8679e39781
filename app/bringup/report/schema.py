"""The JSON Schema of the verdict, made from the contract itself; `schema-1.json` beside it is the copy to read."""

from __future__ import annotations

from typing import Any

import msgspec

from bringup.core.verdict import SCHEMA
from bringup.report.contract import Contract

FILE = f"schema-{SCHEMA}.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of what `explain`, `status` and `wait` print with `--json`."""
    about = {"$schema": DIALECT, "title": f"The verdict of bringup, schema version {SCHEMA}"}
    return {**about, **msgspec.json.schema(Contract)}


def schema_text() -> str:
    """Return it as the file has it."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"
