"""The checked-in JSON Schema is the contract's own, and verdicts are valid by it; `BRINGUP_SCHEMA=write` writes it."""

from __future__ import annotations

import json
import os
from importlib import resources
from typing import Any

import jsonschema
import pytest
from explaining import explained
from loggen import sglang_log

from bringup.report.contract import to_json
from bringup.report.schema import FILE, schema_text


def schema() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(resources.files("bringup.report").joinpath(FILE).read_text("utf-8"))
    return told


def test_the_schema_is_current() -> None:
    file = resources.files("bringup.report").joinpath(FILE)
    if os.environ.get("BRINGUP_SCHEMA") == "write":
        with resources.as_file(file) as path:
            path.write_text(schema_text(), "utf-8")
    assert file.read_text("utf-8") == schema_text()


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("until", ["distributed", "weights", "kv-cache", "serving"])
def test_verdicts_are_valid(until: str) -> None:
    verdict = explained(sglang_log("0.5.15", until=until, draft=True))
    jsonschema.validate(json.loads(to_json(verdict, 3600.0)), schema())


@pytest.mark.parametrize("change", [{"state": "fine"}, {"extra": 1}, {"port": "x"}, {"ranks": [{"rank": 1}]}])
def test_what_is_not_of_the_contract_is_not(change: dict[str, Any]) -> None:
    told = json.loads(to_json(explained(sglang_log("0.5.15", until="weights"))))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, **change}, schema())


def test_a_missing_key_is_not() -> None:
    told = json.loads(to_json(explained(sglang_log("0.5.15", until="weights"))))
    del told["summary"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told, schema())
