"""Transports that put something before every line of a log, as tests wrap it."""

from __future__ import annotations

import json
from collections.abc import Callable

Wrap = Callable[[bytes], bytes]


def before(text: str) -> Wrap:
    """Return what puts text before a line."""
    return lambda line: text.encode() + line


def docker_json(line: bytes) -> bytes:
    """Return a line of docker's json-file driver."""
    text = line.decode("utf-8", "replace") + "\n"
    stamp = "2026-03-02T08:14:29.123456789Z"
    return json.dumps({"log": text, "stream": "stderr", "time": stamp}, separators=(",", ":")).encode()


def cri(line: bytes) -> bytes:
    """Return a line of a container runtime; a long one is cut, as at 16 KiB."""
    head = b"2026-03-02T08:14:29.123456789Z stderr "
    if len(line) < 90 or b"\r" in line:
        return head + b"F " + line
    return head + b"P " + line[:60] + b"\n" + head + b"F " + line[60:]


LOSSLESS: dict[str, Wrap] = {
    "compose": before("engine-1  | "),
    "compose in colour": before("\x1b[36mengine-1  |\x1b[0m "),
    "compose, named": before("engine  | "),
    "swarm": before("demo_engine.1.k2v9x0q3w1@gpu-a    | "),
    "kubectl": before("[pod/demo-0/engine] "),
    "kubectl, stamps": before("2026-03-02T08:14:29.123456789Z "),
    "stern": before("demo-0 engine "),
    "cri": cri,
    "srun": before("3: "),
    "mpirun": before("[1,3]<stderr>:"),
    "host": before("[gpu-a] "),
    "pdsh": before("gpu-a: "),
    "supervisord": before("engine stderr | "),
    "pm2": before("0|engine  | "),
    "foreman": before("09:14:29 engine.1  | "),
    "journald": before("Mar  2 09:14:29 gpu-c engine[35219]: "),
    "journald, iso": before("2026-03-02T09:14:29+0100 gpu-c engine[35219]: "),
    "syslog": before("Mar 02 09:14:29 "),
    "logging": before("2026-03-02 09:14:29,120 - launcher - INFO - "),
    "logging, root": before("INFO:root:"),
    "logging, brackets": before("[2026-03-02 09:14:29,120] [INFO] [runner.py:55] "),
    "loguru": before("2026-03-02 09:14:29.120 | INFO     | launcher.run:start:41 - "),
    "torchserve": before("2026-03-02T09:14:29,120 [INFO ] W-9000-demo_1.0-stderr MODEL_LOG - "),
    "ray": before("\x1b[36m(EngineActor pid=801, ip=10.0.0.82)\x1b[0m "),
    "notebook": before("    "),
    "mail": before("> "),
}
OUTERMOST: dict[str, Wrap] = {"docker": docker_json}
"""Those that nothing else can stand before."""


def wrapped(data: bytes, *wraps: Wrap) -> bytes:
    """Return a log with each of its lines wrapped, the first wrap innermost."""
    ended = data.endswith(b"\n")
    lines = data.removesuffix(b"\n").split(b"\n")
    for wrap in wraps:
        lines = [part for line in lines for part in wrap(line).split(b"\n")]
    return b"\n".join(lines) + (b"\n" if ended else b"")
