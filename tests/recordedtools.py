"""Tools on a PATH of their own that write their command lines down: what a test finds there, others could read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

TOOLS = (
    *("cat", "chmod", "cmp", "cut", "date", "env", "find", "getconf", "grep", "head", "id", "ln", "ls", "mkdir"),
    *("mktemp", "mv", "nice", "od", "prlimit", "readlink", "rm", "sed", "setsid", "sh", "sleep", "stat", "tail"),
    *("taskset", "touch", "tr", "true", "wc", "printf", "perl", "python3"),
)
"""All that a launch calls, and perl and python3."""


SHELL = """#!/bin/sh
printf '%s\\n' {name} "$@" >>{record}
exec {real} "$@"
"""
# A shell would not hand on IFS and PWD as they are.
PERL = """#!/usr/bin/perl
open(my $file, '>>', '{record}') or die;
print $file join("\\n", '{name}', @ARGV, '');
close($file);
exec(split(/ /, '{real}'), @ARGV);
"""


def record_tools(folder: Path, *, shell: str = "/bin/sh", without: Collection[str] = ()) -> Path:
    """Make the tools in a folder; return the file in which the words of every call are written down."""
    for name in TOOLS:
        real = sys.executable if name == "python3" else shell if name == "sh" else shutil.which(name)
        if real is not None and name not in without:
            _make(folder, name, real)
    return _record(folder)


def busybox_tools(folder: Path) -> Path:
    """The same, of busybox alone."""
    program = shutil.which("busybox") or pytest.skip("busybox is not installed")
    for name in TOOLS:
        if name not in ("perl", "python3", "prlimit"):
            _make(folder, name, program, name)
    return _record(folder)


def _record(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.calls"


def _make(folder: Path, name: str, *real: str) -> None:
    folder.mkdir(exist_ok=True)
    text = PERL if name == "env" else SHELL
    (folder / name).write_text(text.format(name=name, record=_record(folder), real=" ".join(real)))
    (folder / name).chmod(0o755)


def never_told(record: Path, secrets: Sequence[bytes]) -> None:
    """Fail where a secret is in a command line that was written down."""
    told = record.read_bytes()
    assert told.count(b"\n") > 20, "nothing was written down"
    for secret in secrets:
        assert secret not in told
