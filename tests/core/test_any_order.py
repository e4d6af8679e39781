"""Whatever comes in whatever order, at whatever times: it is judged without an exception, and told as JSON."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core import events as ev
from bringup.core.assess import assess
from bringup.core.events import Event, Gpu, GpuApp, KernelLine, Process, Server
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.core.verdict import StateName
from bringup.engines.patience import load_policy
from bringup.report.contract import to_json

POLICY = load_policy()
START = 1_000_000.0
small = st.integers(0, 9)
number = st.one_of(small, st.integers(0, 1 << 40))
text = st.one_of(
    st.sampled_from(["", "boom", "/models/a", "\x1b[31m", "é" * 300]), st.text(string.printable, max_size=9)
)
phase = st.sampled_from(ev.PHASES)
role = st.sampled_from(get_args(ev.Role))
perhaps_role = st.one_of(st.none(), role)
label = st.tuples(st.sampled_from(["tp", "pp", "dp", "ep", "rank", "enginecore"]), small)
labels = st.lists(label, max_size=3, unique_by=lambda pair: pair[0]).map(lambda pairs: tuple(sorted(pairs)))
title = st.sampled_from(
    ["python -m sglang.launch_server", "sglang::scheduler_TP0", "sglang::scheduler_DP1_TP1", "VLLM::Worker_TP1", "nvcc"]
)
names = st.sampled_from(["a-00001-of-00003.safetensors", "a-00002-of-00003.safetensors", "odd.safetensors", "x.bin"])
shards = st.one_of(st.none(), st.lists(names.map(lambda name: f"/models/a/{name}"), max_size=3).map(tuple))
process = st.builds(
    Process,
    pid=st.integers(100, 104),
    ppid=st.sampled_from([1, 100]),
    start=st.integers(1, 2),
    title=title,
    comm=st.sampled_from(["python3", "nvcc", "sglang::schedul"]),
    state=st.sampled_from("RSDTZ?"),
    cpu_s=st.floats(0, 1e6),
    minflt=number,
    majflt=number,
    rchar=number,
    read_bytes=number,
    shards=shards,
)
server = st.builds(
    Server,
    pid=st.integers(100, 101),
    start=st.integers(1, 2),
    engine=st.sampled_from(["sglang", "vllm", "router", "other"]),
    argv=st.just(("python",)),
    tp=st.integers(0, 4),
    pp=st.integers(0, 2),
    dp=st.integers(0, 2),
    nnodes=st.integers(0, 3),
    node_rank=small,
    port=st.one_of(st.none(), st.just(30000)),
    started_at=st.sampled_from([0.0, START, START + 50]),
)
gpu = st.builds(
    Gpu,
    index=small,
    used=st.one_of(st.none(), number),
    total=st.one_of(st.none(), st.integers(0, 200_000)),
    utilization=st.one_of(st.none(), st.integers(0, 100)),
    power=st.one_of(st.none(), st.floats(0, 900)),
    power_limit=st.one_of(st.none(), st.floats(0, 900)),
)
app = st.builds(GpuApp, pid=st.integers(99, 104), gpu=small, used=st.one_of(st.none(), number), orphan=st.booleans())
kernel = st.builds(
    KernelLine,
    at=st.floats(0, 2e6),
    kind=st.sampled_from(["oom", "gpu-fault", "fault"]),
    text=text,
    pid=st.one_of(st.none(), st.integers(99, 104)),
)

line = {"line": small, "labels": labels, "stamp": st.one_of(st.none(), st.floats(0, 2e6))}
KINDS: tuple[Callable[..., st.SearchStrategy[Event]], ...] = (
    lambda at: st.builds(
        ev.Launch,
        at=at,
        engine=st.sampled_from(["sglang", "vllm"]),
        model=text,
        algorithm=st.sampled_from(["", "EAGLE"]),
        tp=st.integers(0, 4),
        pp=st.integers(0, 2),
        dp=st.integers(0, 2),
        dp_attention=st.booleans(),
        nnodes=st.integers(0, 3),
        node_rank=small,
        servers=st.integers(0, 2),
        echo=st.booleans(),
        **line,
    ),
    lambda at: st.builds(ev.PhaseBegan, at=at, phase=phase, role=perhaps_role, everyone=st.booleans(), **line),
    lambda at: st.builds(
        ev.PhaseEnded,
        at=at,
        phase=phase,
        role=perhaps_role,
        again=st.booleans(),
        everyone=st.booleans(),
        model_class=st.sampled_from(["", "LlamaForCausalLM", "LlamaForCausalLMEagle3"]),
        **line,
    ),
    lambda at: st.builds(
        ev.Bar,
        at=at,
        kind=st.sampled_from(["shards", "graphs", "compile", "download", "autotune"]),
        done=small,
        total=st.integers(1, 9),
        provisional=st.booleans(),
        **line,
    ),
    lambda at: st.builds(ev.Fact, at=at, name=st.sampled_from(["version", "suspect", "x"]), value=text, **line),
    lambda at: st.builds(
        ev.Reached,
        at=at,
        everyone=st.booleans(),
        milestone=st.sampled_from(["scheduler-up", "http-up", "warmup-sent", "ready", "node-up"]),
        **line,
    ),
    lambda at: st.builds(ev.Compiling, at=at, what=text, ended=st.booleans(), **line),
    lambda at: st.builds(ev.Decoded, at=at, accept_len=st.one_of(st.none(), st.floats(1, 8)), running=small, **line),
    lambda at: st.builds(
        ev.Fault,
        at=at,
        kind=st.sampled_from(["oom", "peer-lost", "killed", "unknown", "port-in-use", "comm-init"]),
        text=text,
        secondary=st.booleans(),
        vetoes_ready=st.booleans(),
        **line,
    ),
    lambda at: st.builds(
        ev.Ending,
        at=at,
        remaining=st.one_of(st.none(), small),
        how=st.sampled_from(["sigterm", "sigint", "child-failed", "draining", "tree-killed", "shutdown"]),
        **line,
    ),
    lambda at: st.builds(ev.Warned, at=at, kind=st.sampled_from(["graphs-disabled", "watchdog"]), detail=text, **line),
    lambda at: st.builds(ev.LinesRead, at=at, size=number, lines=small, unknown=small),
    lambda at: st.builds(ev.LogOpened, at=at, path=text, kind=st.sampled_from(["file", "null", "denied"])),
    lambda at: st.builds(ev.LogMoved, at=at, how=st.sampled_from(["rotated", "truncated", "replaced", "gone", "back"])),
    lambda at: st.builds(
        ev.ProcessesSeen,
        at=at,
        root=st.just(100),
        processes=st.lists(process, max_size=5, unique_by=lambda one: one.pid).map(tuple),
    ),
    lambda at: st.builds(
        ev.GpusSeen, at=at, gpus=st.lists(gpu, max_size=2).map(tuple), apps=st.lists(app, max_size=2).map(tuple)
    ),
    lambda at: st.builds(ev.ChannelClosed, at=at, channel=st.sampled_from(["gpus", "log", "maps", "http"]), why=text),
    lambda at: st.builds(ev.ChannelOpened, at=at, channel=st.sampled_from(["gpus", "log", "maps", "http"])),
    lambda at: st.builds(
        ev.HttpAnswered,
        at=at,
        path=st.just("/health"),
        status=st.sampled_from([None, 200, 503]),
        error=st.sampled_from(["", "refused", "timeout"]),
    ),
    lambda at: st.builds(
        ev.PortSeen, at=at, port=st.just(30000), pid=st.sampled_from([None, 0, 100, 4711]), title=text
    ),
    lambda at: st.builds(ev.ServerFound, at=at, server=server),
    lambda at: st.builds(ev.ServerGone, at=at, pid=st.sampled_from([100, 101])),
    lambda at: st.builds(ev.Searching, at=at, seeks=text),
    lambda at: st.builds(ev.LinkChanged, at=at, status=st.sampled_from(["connecting", "up", "lost", "refused"])),
    lambda at: st.builds(
        ev.ActionStep, at=at, action=st.sampled_from(["stop", "restart", "launch"]), step=text, ended=st.booleans()
    ),
    lambda at: st.builds(ev.KernelSaid, at=at, lines=st.lists(kernel, max_size=2).map(tuple)),
)


@st.composite
def happenings(draw: Any) -> list[Event]:
    """Events at times that mostly go forward, some of them back, some of them unknown (0)."""
    found, t = [], 0.0
    for _ in range(draw(st.integers(1, 40))):
        t += draw(st.sampled_from([0.0, 0.5, 1.0, 30.0, 4000.0, -20.0]))
        at = draw(st.sampled_from([START + t] * 9 + [0.0]))
        found.append(draw(draw(st.sampled_from(KINDS))(st.just(at))))
    return found


@given(happenings(), st.sampled_from([0.0, 1.0, 100_000.0, -500.0]))
@settings(max_examples=150, deadline=None)
def test_it_is_judged_and_told(happened: list[Event], later: float) -> None:
    state = State(node="gpu-a")
    for event in happened:
        state = reduce(state, event)
        verdict = assess(state, max(event.at, START) + later, POLICY)
        assert verdict.state in get_args(StateName)
        assert verdict.summary
    told = json.loads(to_json(verdict))
    assert told["state"] == verdict.state
    assert len(told["ranks"]) == len(verdict.ranks)
