"""What the fuzzing begins with: short examples of each format, whole and in the words that they are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping

from loggen import sglang_log
from vllmgen import vllm_log

_CUT = b"\x20\x60\xa0\xf0"
PROBE = (
    b"K\t1772443000.5\t812.25\nH\tLinux\t100\t4096\t+0100\troot\tgpu-a\nX\tmaps\tPermission denied\nC\t812.5\t100 101\n"
    b"B\t813.0\nP\t100 1 100 100 81000 S 10 20 300 0 0 1 4096\t1000\t4096\t0\t0\tpython\nU\t0\troot\nT\t100\tsglang\n"
    b"M\t100\t+\t/m/model-00001-of-00064.safetensors\nL\t7530\t100\tpython\nE\t1\nG\t814.0\n"
    b"g\t0, GPU-1, NVIDIA H200, 143771, 1200, 142571, 100, 120.5, 41, 0\n"
    b"t\t100\tpython\na\t1/100/9\troot\t0, 100, 900\n"
    b"Q\t814.2\nS\t100\nE\t1\n"
)
ANSWERS = (
    b"K\t1772443000\t812.5\t100\t\troot\nP\t41210\tS 1 41210 41210 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9000 0 0\n"
    b" 70 79 74 68 6f 6e 00 2d 6d\nU\t41210\troot\nprocess\t41210\ncwd\n 2f 72 6f 6f 74\nfd\t1\t0102001\n 2f 6c 6f 67\n"
    b"reader\t1\t7\t0\t0\n 74 65 65 00\nfile\t1\t7\t3\to\n 2f 6c\n"
)
RECORDING = b"\n".join(
    json.dumps(row).encode()
    for row in (
        {"recording": 2, "engine": "sglang", "host": "gpu-a", "began": 1772443000.0},
        {"t": 0.5, "e": "HostSeen", "d": {"at": 1772443000.5, "node": "gpu-a", "system": "Linux", "user": "root"}},
        {"t": 1.0, "log": "[2026-03-02 09:14:30 TP0] Load weight begin. avail mem=1.0 GB\n", "path": "/l", "at": None},
        {"t": 2.0, "e": "ServerGone", "d": {"at": 1772443002.0}},
    )
)
OLDER = b"\n".join(
    json.dumps(row).encode()
    for row in (
        {"recording": 1, "engine": "sglang", "version": "0.5.9", "hardware": "", "what": ""},
        {"t": 0.1, "event": {"ev": "start", "pid": 9, "cmd": ["python"], "wall": 1772443000.0}},
        {"t": 1.0, "log": "server_args=ServerArgs(tp_size=2)\n"},
        {"t": 2.0, "proc": {"pid": 9, "ppid": 1, "state": "R", "utime": 1, "maps": []}},
        {"t": 3.0, "gpu": {"gpus": ["0, 143771, 0, 900, 142871, 7, 0, 80.0, 40, P0"], "apps": ["9, python, 900"]}},
        {"t": 4.0, "http": {"path": "/health", "status": "200", "took": 0.1}},
    )
)
CONFIG = b"""theme = "dark"
[targets.big]
host = "root@gpu-a"
port = 30000
[thresholds.patience.weights]
silence = "10m"
[keys]
leave = "ctrl+x"
"""
RULES = b"""name = "own"
title = "Own"
[[rules]]
name = "begin"
event = "PhaseBegan"
match = "Load weight begin"
samples = ["Load weight begin"]
[[wrappers]]
name = "mine"
match = "(?P<origin>[a-z]+): "
samples = ["a: x"]
"""
WRAPPED = b"""engine-1  | [2026-03-02 09:14:30 TP0] Load weight begin.
{"log":"(EngineCore pid=3) INFO 03-02 09:14:29 [a.py:1] x\\n","stream":"stderr","time":"2026-03-02T09:14:30Z"}
2026-03-02T09:14:30.1Z stderr P half
2026-03-02T09:14:30.1Z stderr F other half
Mar 02 09:14:30 gpu-a vllm[12]: text [repeated 3x across cluster]
"""
_LOG = sglang_log("0.5.9", tp=2, shards=2, shapes=2)
SEEDS: Mapping[str, tuple[bytes, ...]] = {
    "framing": (_CUT + b"one\r\ntwo\rthree\n\n\rfour", _CUT + b"x" * 40),
    "rules": (_CUT + _LOG, _CUT + _LOG[-1500:], _CUT + vllm_log("0.12.0", failure="oom")[:6000], _CUT + WRAPPED),
    "wrapped": (WRAPPED, _LOG[:1500]),
    "probe": (_CUT + PROBE,),
    "answers": (ANSWERS, b"clock unix\n1772443000.5 gpu-a kernel: Out of memory: Killed process 41210 (python)\n"),
    "recordings": (RECORDING, OLDER),
    "masking": (_CUT + b"text --api-key sk-1234567890 \r--token 'a b'\nAuthorization: Bearer abcdefghijk\n",),
    "sanitized": ("\x1b]0;t\x07\x1b[31mred\u202e\u200b\xa0\x9b31m\x00".encode(), b"\xff\xc3\x1bP1$r\x1b\\\t\r\n"),
    "configuration": (CONFIG, RULES),
    "history": (b"gpu-a\x1fsglang\x1f/m/Kimi\x1f/m/draft\x1fdecode\x1fbig", b"\xff\x1f\x1b[31m\x1fhf_abcdefghi"),
}
"""By the name of the target."""
